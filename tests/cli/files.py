"""Where OUT is, and what happens to files, pipes and terminals; failures; signals."""
import json
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import time

from harness import (PROGRAM, check, environment, expect, finish, is_png, left, on_terminal, png, read, run, start,
                     wait_for_handler, write)


def test_where_out_is():
    expect(0, "-f", "gray", "in.png", "out1.png")
    expect(0, "in.png", "out2.png", "-f", "gray")
    expect(0, "in.png", "-f", "gray", "out3.png")
    expect(0, "-o", "out4.png", "in.png", "-f", "gray")
    expect(0, "-f", "gray", "--output=out5.png", "--", "in.png")
    expect(0, "-fgray", "-oout6.png", "in.png")
    check(len({read(f"out{i}.png") for i in range(1, 7)}) == 1, "the results differ")
    write("-odd.png", png(3, 3))
    expect(0, "-f", "gray", "-o", "out7.png", "--", "-odd.png")
    expect(0, "in.png", "-f", "hist=data=hist.csv", "--no-output")
    check(b"bin,from,to" in read("hist.csv"), "hist.csv")
    left("in.png", "hist.csv", "-odd.png", *(f"out{i}.png" for i in range(1, 8)))


def test_overwrite():
    write("old.png", b"old")
    expect(2, "-f", "gray", "in.png", "old.png", says="old.png")
    expect(2, "in.png", "old.png", "-f", "gray", says="--overwrite always")
    expect(2, "in.png", "old.png", says="old.png")
    expect(2, "--overwrite", "never", "in.png", "old.png", says="old.png")
    check(read("old.png") == b"old", "old.png was replaced")
    expect(1, "in.png", "-f", "gray", "old.png", "--overwrite", "never", says="kept")
    expect(1, "in.png", "-o", "old.png", "--overwrite", "never", says="kept")
    check(read("old.png") == b"old", "old.png was replaced with --overwrite never")
    expect(0, "in.png", "-f", "gray", "old.png")
    check(is_png(read("old.png")), "a named OUT is not replaced")
    write("old.png", b"old")
    expect(0, "in.png", "-f", "gray", "-o", "old.png")
    check(is_png(read("old.png")), "-o does not replace")
    write("old.png", b"old")
    expect(0, "--overwrite=always", "in.png", "old.png")
    check(is_png(read("old.png")), "--overwrite always does not replace")
    left("in.png", "old.png")


def test_folder():
    expect(0, "in.png", "-f", "gray", "new/deep/")
    check(is_png(read("new/deep/in.png")), "new/deep/in.png")
    first = read("new/deep/in.png")
    expect(1, "in.png", "-f", "invert", "new/deep", says="kept")
    check(read("new/deep/in.png") == first, "an image in a folder was replaced")
    expect(0, "in.png", "-f", "invert", "new/deep", "--overwrite", "always")
    check(read("new/deep/in.png") != first, "--overwrite always in a folder")
    expect(0, "new/deep/in.png", "-f", "gray", "-o", ".", "--overwrite", "always", "--format", "pnm")
    check(os.path.exists("in.pnm"), "--format does not name the extension in a folder")
    expect(0, "in.png", "-f", "gray", "--format", "png", "other/")
    check(os.listdir("other") == ["in.png"], os.listdir("other"))
    shutil.copy("in.png", "noext")
    expect(2, "noext", "-f", "gray", "other/", says="--format")
    shutil.copy("in.png", "anim.gif")
    expect(0, "anim.gif", "-f", "gray", "other/")
    check(os.path.exists("other/anim.png"), "a kind that is not written does not become .png")
    expect(2, "-", "-f", "gray", "other/", says="standard input", data=read("in.png"))
    expect(4, "in.png", "-f", "gray", "noext/", says="noext")
    expect(1, "missing.png", "-f", "gray", "never/made/", says="missing.png")
    check(not os.path.exists("never"), "a folder was made for nothing")
    expect(2, "in.png", "-f", "blr", "never/made/")
    check(not os.path.exists("never"), "a folder was made before the chain was read")


def test_kinds():
    expect(2, "in.png", "-f", "gray", "out", says="extension")
    expect(2, "in.png", "-f", "gray", "out.xyz", says="xyz")
    expect(2, "in.png", "-f", "gray", "out.gif", says="not written")
    expect(2, "in.png", "-f", "gray", "--format", "png", "out.ppm", says="contradicts")
    expect(0, "in.png", "-f", "gray", "--format", "PNG", "out")
    check(is_png(read("out")), "--format does not name the kind of a file without extension")
    expect(0, "in.png", "-f", "gray", "OUT.PNG")
    check(is_png(read("OUT.PNG")), "an extension in capitals")
    shutil.copy("in.png", "really-png.jpg")
    expect(0, "really-png.jpg", "-f", "gray", "out2.png")
    check(read("out2.png") == read("OUT.PNG"), "the kind of an input is taken from its name")
    left("in.png", "out", "OUT.PNG", "really-png.jpg", "out2.png")


def test_pipes():
    want_png = expect(0, "in.png", "-f", "gray", "-o", "-", "--format", "png").out
    expect(0, "in.png", "-f", "gray", "want.png")
    check(want_png == read("want.png"), "standard output differs from a file")
    check(expect(0, "-", "-f", "gray", "-", "--format", "png", data=read("in.png")).out == want_png, "a pipe in and out")
    with open("in.png", "rb") as file:
        expect(0, "-", "-f", "gray", "out.png", stdin=file)
    check(read("out.png") == want_png, "a redirected file")
    expect(2, "in.png", "-f", "gray", "-", says="--format")
    expect(1, "-", "-f", "gray", "out2.png", says="standard input")
    expect(1, "-", "-f", "gray", "out2.png", says="standard input", data=b"not an image at all")
    left("in.png", "want.png", "out.png")


def test_terminal():
    leader, follower = pty.openpty()
    expect(2, "in.png", "-f", "gray", "-", "--format", "png", stdout=follower, says="terminal")
    os.close(leader)
    os.close(follower)


def test_color():
    bad = ("in.png", "-f", "blr", "out.png")
    check(b"\x1b[" in on_terminal(*bad, TERM="xterm"), "no colour on a terminal")
    check(b"\x1b" not in on_terminal(*bad, TERM="dumb"), "colour on TERM=dumb")
    check(b"\x1b" not in on_terminal(*bad, TERM="xterm", NO_COLOR="1"), "colour with NO_COLOR")
    check(b"\x1b" not in on_terminal(*bad, "--color=never", TERM="xterm"), "colour with --color=never")
    check("\x1b[" in run(*bad, "--color", "always").err, "no colour with --color=always")
    check("\x1b" not in run(*bad, TERM="xterm").err, "colour into a pipe")


# --------------------------------------------------------------------------------------------- failing files


def test_input_failures():
    write("empty.png", b"")
    write("text.png", b"this is no image\n" * 20)
    write("short.png", png(60, 60)[:-40])
    bad = bytearray(png(60, 60))
    bad[60] ^= 255
    write("broken.png", bytes(bad))
    os.mkfifo("fifo")
    names = sorted(os.listdir("."))
    for name in ("missing.png", "empty.png", "text.png", "short.png", "broken.png"):
        result = expect(1, name, "-f", "gray", "out.png", says=re.escape(name))
        check(len(result.err.splitlines()) == 1, "not one line:", result)
    left(*names)
    write("out.png", b"old")
    expect(1, "short.png", "-f", "gray", "out.png", says="short.png")
    check(read("out.png") == b"old", "a failure replaced OUT")
    left("out.png", *names)


def test_output_failures():
    expect(4, "in.png", "-f", "gray", "none/out.png", says="none")
    with open("/dev/full", "wb") as full:
        expect(4, "in.png", "-f", "gray", "-", "--format", "png", stdout=full, says="[Nn]o space")
    expect(4, "in.png", "-f", "gray", "/dev/full", "--format", "png", says="[Nn]o space")
    check(stat.S_ISCHR(os.stat("/dev/full").st_mode), "/dev/full was replaced")
    reader, writer = os.pipe()
    os.close(reader)
    result = expect(4, "in.png", "-f", "gray", "-", "--format", "png", stdout=writer)
    os.close(writer)
    check(result.err == "", "a closed pipe is not quiet:", result)
    left("in.png")


def test_read_only_folder():
    os.mkdir("locked")
    os.chmod("locked", 0o555)
    if os.access("locked", os.W_OK):
        os.rmdir("locked")
        if os.geteuid() == 0 and os.path.isdir("/proc"):
            # For root no folder is read-only but one like this.
            expect(4, "in.png", "-f", "gray", "/proc/out.png", says="/proc/out.png")
        return
    expect(4, "in.png", "-f", "gray", "locked/out.png", says="locked")
    expect(4, "in.png", "-f", "gray", "locked/sub/", says="locked")
    os.chmod("locked", 0o755)
    check(os.listdir("locked") == [], os.listdir("locked"))


def test_same_file():
    expect(0, "in.png", "-f", "gray", "want.png")
    shutil.copy("in.png", "both.png")
    expect(0, "both.png", "-f", "gray", "both.png")
    check(read("both.png") == read("want.png"), "IN = OUT")
    write("both.png", png(60, 60)[:-40])
    before = read("both.png")
    expect(1, "both.png", "-f", "gray", "both.png", says="both.png")
    check(read("both.png") == before, "a failing IN = OUT damaged the input")
    left("in.png", "want.png", "both.png")


def test_modes_and_links():
    before = os.umask(0o027)
    expect(0, "in.png", "-f", "gray", "new.png")
    os.umask(before)
    check(stat.S_IMODE(os.stat("new.png").st_mode) == 0o640, "mode of a new file:", oct(os.stat("new.png").st_mode))
    os.chmod("new.png", 0o604)
    expect(0, "in.png", "-f", "invert", "new.png")
    check(stat.S_IMODE(os.stat("new.png").st_mode) == 0o604, "mode of a replaced file:", oct(os.stat("new.png").st_mode))
    os.mkdir("there")
    write("there/target.png", b"old")
    os.symlink("there/target.png", "link.png")
    expect(0, "in.png", "-f", "gray", "link.png")
    check(os.path.islink("link.png") and is_png(read("there/target.png")), "a symlink was not followed")
    check(os.listdir("there") == ["target.png"], os.listdir("there"))
    before = (read("in.png"), os.stat("in.png").st_mtime_ns)
    os.symlink("in.png", "alias.png")
    expect(0, "alias.png", "-f", "gray", "x.png")
    check(before == (read("in.png"), os.stat("in.png").st_mtime_ns), "the input was touched")
    left("in.png", "new.png", "there", "link.png", "alias.png", "x.png")


def test_named_pipes():
    os.mkfifo("fifo")
    process = subprocess.Popen([PROGRAM, "in.png", "-f", "gray", "fifo", "--format", "png"], env=environment(),
                               stderr=subprocess.PIPE)
    data = read("fifo")
    finish(process)
    check(process.returncode == 0 and is_png(data), "writing into a named pipe:", process.returncode)
    check(stat.S_ISFIFO(os.stat("fifo").st_mode), "the pipe was replaced")


# ------------------------------------------------------------------------------------------ verbosity, signals


def test_verbosity():
    result = expect(0, "-v", "in.png", "-f", "gray", "out.png", says="cpu")
    check(len(result.err.splitlines()) >= 1, result)
    result = expect(0, "--timings", "in.png", "-f", "gray", "out.png", says="total")
    for step in "read decode upload compute download encode write total".split():
        check(re.search(rf"^{step} +\d+\.\d+ s", result.err, re.M), "no time of", step, result)
    result = expect(0, "--timings", "--json", "in.png", "-f", "gray", "out.png", says="total")
    report = json.loads(result.err)
    check(report["width"] == 40 and report["height"] == 30 and report["channels"] == 3 and report["type"] == "u8", report)
    check(report["bytes_in"] == os.path.getsize("in.png") and report["bytes_out"] == os.path.getsize("out.png"), report)
    steps = set("read decode upload compute download encode write total".split())
    check(report["status"] == "ok" and set(report["seconds"]) == steps, report)
    write("alpha.png", png(5, 5, color=6))
    expect(0, "alpha.png", "-f", "blur", "out.ppm", says="alpha")
    result = expect(0, "-q", "alpha.png", "-f", "blur", "out.ppm")
    check(result.err == "", "-q shows a notice:", result)
    expect(1, "-q", "missing.png", "-f", "gray", "out.png", says="missing.png")


def test_device():
    devices = json.loads(run("--list-devices", "--json").out)["devices"]
    expect(3, "in.png", "--device", "cuda:99", "-f", "gray", "out.png", says="imgpipe: .")
    os.link("in.png", "more.png")
    result = expect(3, "in.png", "more.png", "--device", "cuda:99", "-f", "gray", "out/")
    check(result.err.count("cuda:99") == 1 and "0 of 2 images done" in result.err, "many images and no device:", result)
    os.remove("more.png"), shutil.rmtree("out", ignore_errors=True)
    if len(devices) == 1:
        one = expect(3, "in.png", "--device", "cuda", "-f", "gray", "out.png", says="imgpipe: device cuda(:0)?: ")
        every = expect(3, "in.png", "--device", "cuda:all", "-f", "gray", "out.png", says="device cuda:all: .*--device cpu")
        check(one.err.split(": ", 2)[2] == every.err.split(": ", 2)[2], "the same fault is told differently:", one, every)
    else:
        expect(0, "in.png", "-f", "blur", "one.png", "--device", "cpu")
        expect(0, "in.png", "-f", "blur", "all.png", "--device", "cuda:all")
        check(open("one.png", "rb").read() == open("all.png", "rb").read(), "cuda:all gives other bytes than the CPU")
        os.remove("one.png"), os.remove("all.png")
    left("in.png")


def interrupted(number, args, feed, wait):
    """Starts a run that waits for the rest of its standard input, sends the signal, and returns its status."""
    reader, writer = os.pipe()
    process = start(*args, stdin=reader)
    os.close(reader)
    os.write(writer, feed)
    wait_for_handler(process)
    time.sleep(wait)
    process.send_signal(number)
    err = finish(process)
    os.close(writer)
    return process.returncode, err


def test_signals():
    data = png(400, 400)
    for feed, wait in ((b"", 0), (b"", 0.2), (data[:len(data) // 2], 0.2)):
        for number, want in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            status, err = interrupted(number, ["-", "-f", "gray", "out.png"], feed, wait)
            check(status == want, f"after {number!r} with {len(feed)} bytes read the status is {status}, not {want}: {err!r}")
            left("in.png")


def test_second_signal():
    reader, writer = os.pipe()
    process = start("-", "-f", "gray", "out.png", stdin=reader)
    os.close(reader)
    wait_for_handler(process)
    for _ in range(20):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.02)
    finish(process)
    os.close(writer)
    check(process.returncode in (-signal.SIGTERM, 143), "status", process.returncode)
