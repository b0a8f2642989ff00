"""What a run over many images says, and how often: once what is true of all of them, and before any work what no image is needed for."""
import os
import shutil
import signal
import subprocess
import time

from harness import PROGRAM, check, expect, finish, left, png, run, start, wait_for_handler, write


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
