"""What a run over many images says, and how often: once what is true of all of them, and before any work what no image is needed for."""
import os

from harness import check, expect, left, png, write


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
    import subprocess
    from harness import PROGRAM
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
