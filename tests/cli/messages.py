"""What a run over many images says, and how often: once what is true of all of them, and before any work what no image is needed for."""
import os
import re
import shutil
import signal
import subprocess
import time

from harness import PROGRAM, check, expect, finish, left, png, run, start, wait_for_handler, wait_until, write


def pictures(count, folder="many"):
    os.mkdir(folder)
    for i in range(count):
        write(f"{folder}/p{i:02}.png", png(9, 7))


def test_wrong_value_is_told_once():
    """No image is needed to find that a value is wrong, so nothing is made for it, and it is said once, with the place."""
    pictures(5)
    for chain, place in (("conv=foo", "foo"), ("gray,threshold", "threshold"), ("conv=1 2;3 4", "1 2"), ("levels=5:5", "5:5"),
                         ("conv=@none.txt", "@none.txt"), ("conv", "conv")):
        for args in (("-r", "many", "-f", chain, "new/"), ("in.png", "-f", chain, "new/"), ("many", "-f", chain, "--no-output")):
            result = expect(2, *args, says=r"\^")
            check(len(result.err.splitlines()) == 3 and place.split(":")[0] in result.err, "not a message with its mark:", result)
    left("in.png", "many")
    expect(0, "-q", "many", "-f", "levels=0:100%,threshold=300", "good/")


def test_pipe_as_mask():
    """What can be read once only is left to the run."""
    reader, writer = os.pipe()
    os.write(writer, b"0 1 0")
    os.close(writer)
    os.dup2(reader, 9)
    os.set_inheritable(9, True)
    process = subprocess.run([PROGRAM, "in.png", "-f", "conv=@/dev/fd/9", "out.png"], close_fds=False, stderr=subprocess.PIPE)
    check(process.returncode == 0, "a mask from a pipe:", process)
    os.close(reader)
    os.close(9)


def test_depth_of_all():
    pictures(5)
    result = expect(2, "many", "-f", "gray", "--depth", "16", "--name", "{stem}.jpg", "new/", says="--depth 16: jpeg cannot hold samples of depth 16")
    check(len(result.err.splitlines()) == 1, "more than one line:", result)
    expect(2, "in.png", "--depth", "f32", "new/", says="--depth f32: png cannot hold")
    expect(2, "in.png", "--depth", "f32", "new.png", says="--depth f32: png cannot hold")
    left("in.png", "many")


def test_failures_alike_are_counted():
    """The same failure is shown three times and then counted; the summary knows all, and is the last line."""
    pictures(3)
    for i in range(6):
        write(f"many/x{i}.png", b"")
    result = expect(1, "many", "-f", "gray", "new/", says="3 more times: ")
    lines = result.err.splitlines()
    check(sum("empty" in line for line in lines) == 4, "not three and a number:", result)
    check(lines[-1].startswith("imgpipe: 3 of 9 images done, 6 failed"), "the summary:", result)
    check(sum(line.startswith("imgpipe: failed: 'many/x") for line in lines) == 6, "the names:", result)
    # What one kind of image alone makes wrong has its place shown once.
    os.mkdir("mixed")
    for i in range(5):
        write(f"mixed/g{i}.png", png(9, 7, color=0))
        write(f"mixed/f{i}.pfm", b"Pf\n2 2\n-1.0\n" + bytes(16))
    result = expect(2, "mixed", "-f", "levels=255:100%", "new/", says="4 more times: levels in_high")
    check(result.err.count("^") == 1, "not one mark:", result)


def test_dry_run_opens():
    """A dry run promises nothing that a run could not open."""
    pictures(2)
    os.symlink("nowhere", "many/broken.png")
    os.mkdir("dir.png")
    for args, says in ((("missing.png", "many/p00.png"), "cannot open 'missing.png': No such file"),
                       (("{a,b}.png", "in.png"), "cannot open '{a,b}.png': No such file"),
                       (("many",), "cannot open 'many/broken.png': it is a symlink to 'nowhere', which is not there")):
        result = run(*args, "-f", "gray", "new/", "--dry-run")
        real = run(*args, "-f", "gray", "new/")
        check(result.status == real.status == 1 and says in result.err and says in real.err, "not what a run says:", result, real)
        check("1 failed" in result.err and b"new/p0" in result.out + b"new/p0" * (args[0] == "{a,b}.png"), "the summary:", result)
        shutil.rmtree("new")
    for name, says in (("missing.png", "No such file"), ("dir.png/x.png", "No such file"), ("many/broken.png", "symlink to 'nowhere'"),
                       ("in.png/x.png", "Not a directory")):
        expect(1, name, "-f", "gray", "new.png", "--dry-run", says=says)
    if os.geteuid():
        os.chmod("many/p00.png", 0)
        check("ask for the right" in run("many", "-f", "gray", "new/", "--dry-run").err, "a file without the right to read it")
    left("in.png", "many", "dir.png")


def test_names_of_data():
    """Without outputs the fields of side data are those of the inputs; a conflict says where to change the name."""
    os.mkdir("col")
    write("col/photo.png", png(9, 7))
    write("col/photo.pgm", b"P5 2 2 255\n" + bytes(4))
    write("col/plain", png(9, 7))
    expect(0, "-q", "-r", "col", "-f", "hist=data={relpath}.csv", "--no-output")
    left("in.png", "col", "photo.png.csv", "photo.pgm.csv", "plain.csv")
    result = expect(2, "-r", "col", "-f", "hist=data={stem}.csv", "--no-output", says=r"both be written to 'photo.csv'.*\(hist=data=\)")
    check("--name" not in result.err, "the advice:", result)
    expect(2, "-r", "col", "-f", "hist=data={stem}.csv", "new/", says=r"\(hist=data=\)")
    # With outputs {relpath} is the output's, as {ext} is.
    os.remove("col/photo.pgm")
    expect(0, "-q", "-r", "col", "-f", "hist=data={relpath}.json:pass", "--format", "ppm", "new/")
    check(os.path.exists("photo.ppm.json") and os.path.exists("plain.ppm.json"), os.listdir("."))
    expect(2, "col", "-f", "hist=data=two/{stem}.ppm/x.csv:pass", "--format", "ppm", "two/", says=r"(--name, hist=data=)")


def test_pipe_in_a_pattern():
    """What a pattern finds and is no file is left alone; a pipe that is named is read, and a signal does not blame it."""
    pictures(2)
    os.mkfifo("many/pipe.png")
    expect(0, "many/p*.png", "-f", "gray", "new/", says="all 2 images done; 1 file that is no image ignored")
    expect(1, "many/pi*.png", "-f", "gray", "new/", says="no image was found")
    for more in ((), ("many/p00.png",)):
        process = start("many/pipe.png", *more, "-f", "gray", "other/")
        wait_for_handler(process)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        text = finish(process)
        check(process.returncode == 130 and "check the file" not in text and "stopped by a signal" in text, "the message:", text)
        shutil.rmtree("other", ignore_errors=True)


def test_nothing_is_written():
    """Without outputs and side data one notice says so; it is no error."""
    pictures(2)
    for args in (("in.png", "-f", "blur"), ("many", "-f", "gray,hist"), ("in.png",)):
        result = expect(0, *args, "--no-output", says="nothing is written: .*hist=data=FILE, --report FILE or --merge-hist FILE")
        check(result.err.count("nothing is written") == 1, "not once:", result)
        check("nothing" not in run("-q", *args, "--no-output").err, "a notice with -q")
    for more in (("hist=data=-",), ("hist", "--report", "r.json"), ("hist", "--merge-hist", "m.json"), ("hist", "--timings")):
        check("nothing is written" not in run("in.png", "--no-output", "-f", *more).err, "something is written, or shown", more)


def test_first_signal():
    """The first signal says what it lets be finished, and what the second does."""
    os.mkdir("large")
    for i in range(4):
        write(f"large/p{i}.ppm", b"P6 3000 2000 255\n" + os.urandom(18000000))
    for threads in ("1", "2"):
        process = start("large", "-f", ",".join(["median=255"] * 10), "-j", threads, "--device", "cpu", f"new{threads}/")
        # Whether OUT can be written into is tried with a file that is gone at once; that of an image stays.
        def begun(out=f"new{threads}"):
            def files():
                return {name for name in os.listdir(out) if name.startswith(".imgpipe-")} if os.path.isdir(out) else set()
            before = files()
            time.sleep(0.05)
            return before & files()
        at_work = wait_until(begun, process)
        check(at_work, "no image is begun")
        process.send_signal(signal.SIGINT)
        line = process.stderr.readline().decode()
        check(re.search(r"stopping: the images? at work (is|are) finished first; a second signal \(Ctrl-C\) ends (it|these) too", line),
              "the first signal says nothing:", line)
        process.send_signal(signal.SIGINT)
        text = finish(process)
        check(process.returncode == 130 and "stopping" not in text and "stopped by a signal" in text, "the end:", text)


def test_encodings_of_lists():
    pictures(2)
    names = "many/p00.png\nmany/p01.png\n"
    for encoding, more in (("utf-16", ()), ("utf-16-be", ()), ("utf-16-le", ()), ("utf-16", ("-0",)), ("utf-16-le", ("-0",))):
        write("list", names.encode(encoding))
        expect(2, "--files-from", "list", *more, "-f", "gray", "new/", says="'list': it.*UTF-16.*UTF-8")
    write("list", names.encode("utf-8-sig"))
    expect(0, "-q", "--files-from", "list", "-f", "gray", "new/")
    write("list", b"a.png\nmany/p\0x.png\n")
    expect(2, "--files-from", "list", "-f", "gray", "new/", says="zero byte; add -0")
    write("a", png(9, 7))
    write("b", png(9, 7))
    write("list", b"a\0b\0")
    expect(0, "-q", "--files-from", "list", "-0", "-f", "gray", "short/")
    job = b'{"id":1,"in":"in.png","out":"o.png"}\n'
    for lines in (b"\xef\xbb\xbf" + job, b"\xef\xbb\xbf\n" + job):
        result = run("--batch", "-", "-q", data=lines)
        check(result.status == 0 and b'"status":"ok"' in result.out, "a mark before the jobs:", result, result.out)
    check(b"UTF-16" in run("--batch", "-", "-q", data=job.decode().encode("utf-16")).out, "jobs in UTF-16")


def test_help_of_all():
    check(b"IN... -f CHAIN OUT/" in expect(0, "--help").out, "--help shows no run over a folder")
    for name in ("resume", "--help=--resume", "threads"):
        result = expect(0, *((name,) if name[0] == "-" else ("--help", name)))
        check(b"--" in result.out and len(result.out.splitlines()) <= 3, result.out)
    expect(2, "--help", "resum", says="is no filter")
    check(b"not from OUT" in expect(0, "--help", "hist").out.replace(b"\n              ", b" "), "where side data go")


def test_patterns_of_folders():
    """A slash at the end of a pattern means the folder and all in it."""
    for name in ("in/2024/x/a.png", "in/2024/b.png", "in/2023/c.png", "in/2023/2024/d.png", "in/e.png"):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        write(name, png(9, 7))

    def found(*more):
        return sorted(line.split(b"\t")[0].decode()[3:] for line in run("-r", "in", "-f", "gray", "--dry-run", "new/", *more).out.splitlines())
    check(found("--exclude", "2024/") == ["2023/c.png", "e.png"], found("--exclude", "2024/"))
    check(found("--exclude", "2023/2024/") == ["2023/c.png", "2024/b.png", "2024/x/a.png", "e.png"], found("--exclude", "2023/2024/"))
    check(found("--exclude", "*.png/") == found(), "a file taken for a folder")
    check(found("--include", "2024/") == ["2023/2024/d.png", "2024/b.png", "2024/x/a.png"], found("--include", "2024/"))
    write("list", b"in/2024/b.png\nin/e.png\n")
    check(run("--files-from", "list", "-f", "gray", "--dry-run", "new/", "--exclude", "2024/").out == b"in/e.png\tnew/in/e.png\n", "a list")


def test_words():
    pictures(3)
    os.mkdir("many/sub")
    write("many/notes.txt", b"no image")
    result = expect(0, "many", "-f", "gray", "new/", says="1 folder in the input was not entered; -r enters it\n")
    check("; 1 file that is no image ignored (-v names it)" in result.err, result)
    check("ignored, since it is no image: 'many/notes.txt'" in run("many", "-v", "-f", "gray", "more/").err, "-v names nothing")
    for shard in ("1/2", "2/2"):
        check("; 1 image in all parts" in run("in.png", "-f", "gray", "one/", "--shard", shard).err, "the number of one", shard)
    result = run("many", "-f", "gray", "two/", "-j2", "--timings", "--report", "r.json", "--device", "cpu")
    check("cpu, 2 threads with an image each" in result.err, "the device:", result)
    with open("r.json", encoding="utf-8") as report:
        check("cpu, 2 threads with an image each" in report.readline(), "the device of the report")
    check("cpu, 1 thread," in run("many", "-f", "gray", "three/", "-j1", "--timings", "--device", "cpu").err, "one thread")


def test_long_names():
    """A long name is cut between two characters, and shows that it is."""
    for shift in range(2):
        name = "x" * shift + "é" * 120
        for args in ((name, "-f", "gray", "new/"), ("in.png", "-f", "gray", "-o", name), ("in.png", "--format", name, "o.png"),
                     ("in.png", "--name", "{" + name + "}", "new/"), (f"--{name}",),
                     ("in.png", "--level", name, "o.png"), ("in.png", "-f", f"conv={name}", "o.png"), ("in.png", "-f", name, "o.png"),
                     ("in.png", "-f", f"conv=1{name} 1 1", "o.png"), ("--help", name), ("in.png", "in.png", "-f", "gray", name),
                     ("in.png", "--shard", name, "new/"), ("in.png", name, "-f", "gray", "o.png")):
            result = run(*args)
            first = result.err.splitlines()[0]
            check(result.status in (1, 2) and "\\x" not in first and "\ufffd" not in first, "a character is cut:", result)
            check("…" in first or name in first, "nothing shows that the name is cut:", result)
    long = "/".join(["é" * 100] * 19) + "/a.png"
    result = run(long, "in.png", "-f", "gray", "new/")
    check(result.status == 1 and "\\x" not in result.err and "\ufffd" not in result.err, "a very long name:", result)
