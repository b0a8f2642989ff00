#!/usr/bin/env python3
"""Plug-ins in the command: where they are found and where they are not, what is said of those that are broken, and that their
stages run like any other.

usage: test_plugins.py IMGPIPE INSTALLED FOLDER
INSTALLED is the command with FOLDER/loud as the folder of its installation. FOLDER holds the folders of plug-ins.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

checks = failures = 0
PROGRAM = INSTALLED = FOLDER = None
LOADED = "loud is loaded"


def check(right, what):
    global checks, failures
    checks += 1
    if not right:
        failures += 1
        print("FAIL", what)


def call(*arguments, program=None, cwd=None, data=b"", variable=""):
    result = subprocess.run([program or PROGRAM, *arguments], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                            env={**os.environ, "IMGPIPE_PLUGINS": variable})
    return result.returncode, result.stdout, result.stderr.decode()


def expect(status, *arguments, says=None, silent=(), **more):
    got, out, error = call(*arguments, **more)
    right = got == status and (says is None or says in error) and not any(word in error for word in silent)
    check(right, f"{arguments} {more.get('variable', '')}: exit status {got}, not {status}, or not '{says}': {error}")
    return out, error


def plugin(kind, name):
    return os.path.join(FOLDER, kind, name + ".so")


def pgm(width, height, pixels):
    return b"P5\n%d %d\n255\n" % (width, height) + bytes(pixels)


def maximum(width, height, pixels, radius):
    def at(x, y):
        return pixels[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]
    around = range(-radius, radius + 1)
    return [max(at(x + i, y + k) for i in around for k in around) for y in range(height) for x in range(width)]


def test_option():
    dilate = plugin("good", "dilate")
    pixels = [(i * 7919) % 251 for i in range(13 * 9)]
    out, _ = expect(0, "--plugin", dilate, "-", "-f", "dilate=5", "--format", "pgm", "-o", "-", data=pgm(13, 9, pixels))
    check(out == pgm(13, 9, maximum(13, 9, pixels, 2)), "dilate=5 is the maximum of 5 x 5")
    out, _ = expect(0, "--list", "--plugin", dilate, "--json")
    listed = {f["name"]: f for f in json.loads(out)}
    check(listed["dilate"]["plugin"] == {"name": "dilate", "version": "1.0", "file": dilate} and listed["blur"]["plugin"] is None,
          "--list --json says where a filter comes from")
    out, _ = expect(0, "--help", "dilate", "--plugin", dilate)
    out = out.decode()
    check(f"From the plug-in dilate 1.0, {dilate}" in out and "width and height of the window" in out, "--help dilate")
    check(b"dilate" in expect(0, "--help", "--plugin", dilate)[0], "--help lists it")
    expect(2, "--plugin", dilate, "in.png", "-f", "dilate=4", "out.png", says="a radius of 4 is size 9")
    expect(2, "--plugin", dilate, "in.png", "-f", "dilatte=5", "out.png", says="did you mean dilate?")
    expect(2, "in.png", "-f", "dilate=5", "out.png", says="'dilate' is no filter")
    expect(2, "--help", "dilate", says="'dilate' is no filter")
    out, _ = expect(0, "--plugin", plugin("shapes", "shapes"), "-", "-f", "halve,transpose", "--format", "pgm", "-o", "-",
                    data=pgm(5, 4, range(20)))
    check(out == pgm(2, 3, [6, 16, 8, 18, 9, 19]), "stages may change the size")
    # Twice the same is nothing new; two may be named.
    expect(0, "--plugin", dilate, "--plugin", dilate, "--plugin", plugin("good", "crisp"), "-", "-f", "dilate,crisp", "--format",
           "pgm", "-o", "-", data=pgm(13, 9, pixels))


def test_refused():
    for name in ("no_symbol", "other_abi", "other_size", "no_filters", "taken_name", "undefined_symbol"):
        file = plugin("broken", name)
        expect(2, "--plugin", file, "--list", says=f"imgpipe: {file}: ")
        expect(2, "--plugin", file, "-", "-f", "gray", "--format", "pgm", "-o", "-", data=pgm(1, 1, [1]), says=file)
        _, error = expect(0, "--list", variable=file, says=f"warning: {file}: ")
        check(len(error.splitlines()) == 1, f"one warning, not {error}")
    expect(2, "--plugin", FOLDER, "--list", says=f"{FOLDER}: it is a folder")
    expect(2, "--plugin=", "--list", says="imgpipe: --plugin: its value is empty")
    # Where warnings are not shown, the error says that there would be some.
    expect(2, "-q", "-", "-f", "dilate", "--format", "pgm", "-o", "-", variable="/nowhere", silent=["warning: "],
           says="'dilate' is no filter")
    expect(2, "-q", "-", "-f", "dilate", "--format", "pgm", "-o", "-", variable="/nowhere",
           says="(1 plug-in could not be loaded; without -q a warning says why)")
    expect(2, "--plugin", "/nowhere/x.so", "--list", says="/nowhere/x.so: there is no plug-in")
    expect(0, "--list", variable="/nowhere", says="/nowhere: there is no plug-in")
    out, error = expect(0, "--list", variable=os.path.join(FOLDER, "broken") + ":" + os.path.join(FOLDER, "good"))
    check(b"dilate" in out and error.count("warning: ") == 8, f"the others of a folder, and of others, are there: {error}")
    # A file may not take a name that another has.
    out, _ = expect(0, "--list", "--plugin", plugin("loud", "loud"), variable=os.path.join(FOLDER, "louder"),
                    says=f"loud: a filter of that name is there already, from {plugin('loud', 'loud')}")
    check(out.count(b"loud") == 1, "it is there once")


def test_cut_short(folder):
    """However much of a file is there, the command ends with a message, and not by a signal."""
    with open(plugin("good", "dilate"), "rb") as whole:
        data = whole.read()
    here = os.path.join(folder, "cut")
    os.mkdir(here)
    file = os.path.join(here, "cut.so")
    for length in (0, 3, 10, 63, 64, 100, 700, 3000, 4096, 5000, 8192, 9000, 12288):
        with open(file, "wb") as cut:
            cut.write(data[:length])
        expect(2, "--plugin", file, "--list", says="the file is cut short" if length > 3 else "it is no shared object")
    _, error = expect(0, "--list", variable=here, says=f"warning: {file}: the file is cut short")
    check(len(error.splitlines()) == 1, f"one warning, not {error}")
    program_headers = int.from_bytes(data[32:40], "little")
    for at in (32, program_headers + 8, program_headers + 32):  # e_phoff, and the first segment's p_offset and p_filesz
        with open(file, "wb") as damaged:
            damaged.write(data[:at] + b"\xff" * 8 + data[at + 8:])
        expect(2, "--plugin", file, "--list", says=f"imgpipe: {file}: ")


def test_never_from_here():
    here = os.path.join(FOLDER, "loud")
    for variable in ("", ":", "::", ".", "./", "loud.so", "./loud.so", "../loud", "/nowhere:"):
        out, error = call("--list", cwd=here, variable=variable)[1:]
        check(b"loud" not in out and LOADED not in error, f"IMGPIPE_PLUGINS={variable} loads nothing from here: {error}")
    expect(2, "--plugin", "loud.so", "--list", cwd=here, says="write ./loud.so for one in the current folder", silent=[LOADED])
    expect(0, "--plugin", "./loud.so", "--list", cwd=here, says=LOADED)
    expect(0, "--list", cwd="/", variable="." + ":" + here, says="'.' is left out")


def test_when_loaded():
    """Plug-ins that are merely found are loaded only where one may be asked for."""
    here, data = os.path.join(FOLDER, "loud"), pgm(2, 1, [1, 2])
    to_pgm = ("--format", "pgm", "-o", "-")
    for program, variable in ((PROGRAM, here), (PROGRAM, plugin("loud", "loud")), (INSTALLED, "")):
        more = {"program": program, "variable": variable}
        for arguments in (["--version"], ["--list-formats"], ["--list-devices"], ["--help", "blur"],
                          ["-", "-f", "gray,blur", *to_pgm], ["-", *to_pgm], ["--version", "--plugin", plugin("loud", "loud")]):
            expect(0, *arguments, data=data, silent=[LOADED], **more)
        expect(0, "--list", says=LOADED, **more)
        expect(0, "--help", says=LOADED, **more)
        expect(0, "--help", "loud", says=LOADED, **more)
        out, error = expect(0, "-", "-f", "loud,loud", *to_pgm, data=data, says=LOADED, **more)
        check(out == pgm(2, 1, [3, 4]) and error.count(LOADED) == 1, "a stage of it runs")
    folder = json.loads(call("--help", "--json", program=INSTALLED)[1])["plugins_folder"]
    check(folder == here, f"--help --json names the folder {folder}")


WRONG = {
    "reads_column": "its result changes with memory that need() did not ask for",
    "reads_row": ": rows() used in[",
    "writes_input": "rows() writes into its input rows",
    "writes_column": "bytes around the output rows were overwritten",
    "keeps_state": " is not ",
    "position": "only the region from column ",
    "isa": " is not ",
    "crashes": "it crashed (SIGSEGV)",
    "need_shrinks": "does not hold what it needs of row ",
    "writes_scratch": "rows() writes beyond its scratch of ",
    "writes_state": "rows() writes beyond its state of ",
    "need_changes": "need() of ",
    "merge_order": "merge() is not commutative",
    "merge_groups": "merge() is not associative",
    "loses_rows": " is not ",
}


def test_check_filter():
    """What is right is proved; what is not is found out, with the case that shows it."""
    good = os.path.join(FOLDER, "good")
    for name in ("dilate", "dilate=5:border=wrap", "crisp", "exposure", "extremes"):
        out, _ = expect(0, "--check-filter", name, variable=good)
        check(b": proved in " in out and out.count(b"\n") == 1, f"--check-filter {name}: {out}")
    expect(0, "--check-filter", "wrong", "--plugin", plugin("wrong", "none"))
    out, _ = expect(0, "--check-filter", "wrong", "--plugin", plugin("wrong", "needs_value"))
    check(out == b"wrong: proved in 200 cases on cpu\n", f"a parameter without a default is given where it must be: {out}")
    with tempfile.TemporaryDirectory(prefix="imgpipe-plugins-") as folder:
        out, _ = expect(0, "--check-filter", "hist=data=h.csv", cwd=folder)
        check(not os.listdir(folder), "a proof writes no side data")
        right = re.fullmatch(rb"hist: proved in \d+ cases on cpu; \d+ were refused, the last one, hist=.*, as hist .*\n", out)
        check(right, f"the last one that was refused, and why: {out}")
        out, _ = expect(0, "--check-filter", "hist=data=-", cwd=folder)
        check(out.count(b"\n") == 1, "nor to standard output")
    for name in ("halve", "transpose"):
        expect(0, "--check-filter", name, "--plugin", plugin("shapes", "shapes"))
    for name, why in WRONG.items():
        arguments = ("--plugin", plugin("wrong", name), "--check-filter", "wrong")
        if os.environ.get("IMGPIPE_SANITIZED"):  # a sanitizer may be the first to tell
            check(call(*arguments)[0] != 0, f"{name} is found out")
            continue
        _, error = expect(1, *arguments, says=why)
        check(len(error.splitlines()) == 1 and error.startswith("imgpipe: not proved: wrong on "), error)
        if name != "keeps_state":  # which depends on how threads meet
            check(("did not ask for" in error) == (name == "reads_column"), f"{name}: {error}")
    expect(0, "--check-filter", "threshold=50%", "-q")
    expect(2, "--check-filter", "nothing", says="'nothing' is no filter")
    expect(2, "--check-filter", "blur,invert", says="is not one filter")
    expect(2, "--check-filter", "", says="is not one filter")
    expect(2, "--check-filter", "dilate=4", variable=good, says="dilate size: 4 is even")
    expect(2, "in.png", "--check-filter", "blur", says="leave out the others")
    expect(2, "--check-filter", "blur", "-f", "gray", says="leave out the others")
    expect(3, "--check-filter", "blur", "--device", "cuda:99")


def start_hanging():
    """Two proofs of a filter that never returns."""
    command = [PROGRAM, "--plugin", plugin("wrong", "hangs"), "--check-filter", "wrong"]
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "IMGPIPE_PLUGINS": ""})
               for _ in range(2)]
    for process in started:
        process.stderr.readline()  # it hangs
    return started


def test_hanging():
    """The first signal ends it; without one, the time does, which is made to pass here."""
    stopped, waited = start_hanging()
    stopped.terminate()
    waited.send_signal(signal.SIGALRM)
    error = stopped.communicate(timeout=240)[1].decode()
    check(stopped.returncode == 143 and "imgpipe: stopped by a signal, at wrong on " in error, f"one signal: {error}")
    error = waited.communicate(timeout=240)[1].decode()
    check(waited.returncode == 1 and "it was not done after 30 seconds" in error, f"the time: {error}")


def test_many(folder):
    """A folder of images, continued: what was made with another version of a plug-in, or another file, is made anew."""
    images, out, here = (os.path.join(folder, name) for name in ("in", "out", "plugins"))
    os.mkdir(images)
    os.mkdir(here)
    file = os.path.join(here, "loud.so")
    for i in range(5):
        with open(os.path.join(images, f"{i}.pgm"), "wb") as to:
            to.write(pgm(2, 1, [i, 9]))

    def again():
        return expect(0, "--resume", "--plugin", file, images, "-f", "invert,loud", out + "/")[1]
    shutil.copy(plugin("loud", "loud"), file)
    first = again()
    second = again()
    check("by earlier runs" in second and "by earlier runs" not in first, f"it skips them: {second}")
    os.remove(file)
    shutil.copy(plugin("louder", "loud"), file)
    third = again()
    check("by earlier runs" not in third, f"another version makes them anew: {third}")
    os.remove(file)
    shutil.copy(plugin("louder", "loud"), file)
    with open(file, "ab") as to:
        to.write(b"\0")
    check("by earlier runs" not in again(), "another file of the same version makes them anew")
    check("by earlier runs" in again(), "and then there is nothing to do")
    with open(os.path.join(out, "3.pgm"), "rb") as made:
        check(made.read() == pgm(2, 1, [253, 247]), "the images are right")


def test_batch(folder):
    job = {"id": 1, "in": os.path.join(folder, "in", "2.pgm"), "out": os.path.join(folder, "2.pgm"), "chain": "loud"}
    jobs = [json.dumps({**job, "id": i, "out": os.path.join(folder, f"b{i}.pgm")}) for i in range(20)]
    out, error = expect(0, "--batch", "-", "-j", "3", data="\n".join(jobs).encode(), variable=os.path.join(FOLDER, "loud"))
    answers = [json.loads(line) for line in out.splitlines()]
    check(len(answers) == 20 and all(a["status"] == "ok" for a in answers) and error.count(LOADED) == 1, f"jobs: {error}")
    with open(os.path.join(folder, "b7.pgm"), "rb") as made:
        check(made.read() == pgm(2, 1, [3, 10]), "and it runs")


def main(program, installed, folder):
    global PROGRAM, INSTALLED, FOLDER
    PROGRAM, INSTALLED, FOLDER = (os.path.abspath(a) for a in (program, installed, folder))
    test_option()
    test_refused()
    test_never_from_here()
    test_when_loaded()
    test_check_filter()
    with tempfile.TemporaryDirectory(prefix="imgpipe-plugins-") as place:
        test_cut_short(place)
        test_many(place)
        test_batch(place)
    test_hanging()
    print(f"{checks} checks, {failures} failed")
    return failures > 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
