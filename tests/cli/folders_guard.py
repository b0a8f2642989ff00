"""Runs over many images: what happens to the files that a run reads while it lasts, and what it must not write over."""
import os

from folders import found, tree
from harness import check, expect, finish, png, read, start, wait_until, write


def test_mask_changed_during_a_run():
    """What --resume takes for proven was all made with one mask."""
    tree("in/a.png")
    write("mask", b"0 0 0\n0 1 0\n0 0 0\n")
    names = ("in/p.png", "in/q.png")
    for name in names:
        os.mkfifo(name)
    args = ("in/a.png", *names, "-f", "conv=@mask", "-j1", "out/")
    process = start(*args)
    wait_until(lambda: os.path.exists("out/a.png"), process)
    write("mask", b"0 0 0\n0 2 0\n0 0 0\n")
    write("in/p.png", png(5, 5))  # the next one is not even opened
    err = finish(process)
    check(process.returncode == 1 and "1 of 3 images done, 2 failed" in err and "has changed since the run began" in err, err)
    for name in names:
        os.remove(name)
        write(name, png(5, 5))
    write("mask", b"0 0 0\n0 1 0\n0 0 0\n")
    expect(0, *args, "--resume", says="all 3 images done, 1 by earlier runs")
    expect(0, "in/p.png", "-f", "conv=@mask", "want.png")
    check(read("out/p.png") == read("want.png"), "an image was made with another mask")
