"""Runs over many images: what happens to the files that a run reads while it lasts, and what it must not write over."""
import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
import time

from folders import found, tree
from folders_break import noise
from harness import check, expect, finish, left, png, read, start, wait_for_handler, wait_until, write
from pipes import READ_ONLY


def test_mask_changed_during_a_run():
    """What --resume takes for proven was all made with one mask."""
    tree("in/a.png")
    write("mask", b"0 0 0\n0 1 0\n0 0 0\n")
    names = ("in/p.png", "in/q.png")
    for name in names:
        os.mkfifo(name)
    args = ("in/a.png", *names, "-f", "conv=@mask", "-j1", "out/")
    process = start(*args)
    with open("in/p.png", "wb") as pipe:  # it is open when it is being done; the next one is not even opened
        write("mask", b"0 0 0\n0 2 0\n0 0 0\n")
        pipe.write(png(5, 5))
    err = finish(process)
    check(process.returncode == 1 and "1 of 3 images done, 2 failed" in err and "has changed since the run began" in err, err)
    for name in names:
        os.remove(name)
        write(name, png(5, 5))
    write("mask", b"0 0 0\n0 1 0\n0 0 0\n")
    expect(0, *args, "--resume", says="all 3 images done, 1 by earlier runs")
    expect(0, "in/p.png", "-f", "conv=@mask", "want.png")
    check(read("out/p.png") == read("want.png"), "an image was made with another mask")


def test_nothing_replaces_what_is_read():
    """The list, the chain's file and the mask are no place for what the run writes."""
    tree("in/a.png", "in/b.png")
    texts = {"list.txt": b"in/a.png\nin/b.png\n", "chain.txt": b"gray,hist=pass\n", "mask.csv": b"0 0 0\n0 1 0\n0 0 0\n",
             "in/a.csv": b"0 1 0;0 1 0;0 1 0"}
    for name, text in texts.items():
        write(name, text)
    os.link("mask.csv", "link.txt")
    runs = [("--files-from", "list.txt", "-f", "hist=pass", "list.txt"), ("in", "-f", "@chain.txt", "./chain.txt"),
            ("in", "-f", "conv=@mask.csv,hist=pass", "mask.csv"), ("in", "-f", "conv=@mask.csv,hist=pass", "link.txt"),
            ("in", "-f", "hist=pass", "out/.imgpipe"), ("in", "-f", "hist=pass", "./out/.imgpipe/x"),
            ("in.png", "-f", "@chain.txt", "chain.txt")]
    for *args, victim in runs:
        for option in ("--report", "--merge-hist"):
            out = "one.png" if args[0] == "in.png" else "out/"
            expect(2, *args, out, option, victim, says=f"{option}: '{victim}' is (the |a |where)")
            check(not os.path.exists(out), "something was made:", args, option, victim)
    with open("in/b.png", "rb") as image:
        expect(2, "-", "-f", "gray", "-o", "one.png", "--report", "in/b.png", stdin=image, says="is an input")
    expect(2, "in.png", "-f", "conv=@mask.csv", "-o", "mask.csv", "--format", "png", says="a file that the chain reads")
    expect(2, "in.png", "-f", "conv=@mask.csv,hist=data=mask.csv", "-o", "one.png", says="a file that the chain reads")
    expect(2, "in", "-f", "conv=@in/a.csv,hist=data=in/{stem}.csv:pass", "out/", says="would replace .*a file that the chain reads")
    expect(2, "in", "-f", "conv=@mask.csv", "--name", "mask.csv", "--include", "a*", "--format", "png", "./",
           says="a file that the chain reads")
    check(all(read(name) == text for name, text in texts.items()), "a file that was read is another now")
    check(found("in") == ["a.csv", "a.png", "b.png"] and not os.path.exists("one.png"), found("in"))
    expect(0, "--files-from", "list.txt", "-f", "@chain.txt", "out/", "--report", "report", "--merge-hist", "sum.json", says="all 2")


def test_names_of_data_without_a_format():
    """Side data of no known kind are found before any work, however the names come about."""
    tree("in/a.png", "in/b.png")
    for name in ("{stem}.png", "{stem}.{ext}", "{relpath}", "x/{stem}"):
        for more in ("out/",), ("--no-output",), ("--dry-run", "out/"):
            expect(2, "in", "-f", f"gray,hist=data={name}:pass", *more, says="cannot tell the format")
            left("in", "in.png")


def test_a_pipe_among_the_records():
    """Nobody writes into it, so reading it would wait for ever."""
    tree("in/a.png")
    os.makedirs("out/.imgpipe")
    for number in range(20):  # so many that they are put together
        os.mkfifo(f"out/.imgpipe/done-{number:016x}.log")
    for says in ("1 image done;", "1 image done, 1 by earlier runs"):
        err = finish(process := start("in", "-f", "gray", "--resume", "out/"))
        check(process.returncode == 0 and says in err, process.returncode, err)
    check(len(os.listdir("out/.imgpipe")) >= 21, "a pipe was removed:", os.listdir("out/.imgpipe"))


def test_signal_while_an_output_is_a_pipe():
    """Nobody reads from it, and the first signal ends the wait."""
    tree("in/a.png", "in/b.png")
    os.mkdir("out")
    for name in ("out/a.png", "a.csv", "mask"):
        os.mkfifo(name)
    runs = [("in", "-f", "gray", "out/", "--overwrite", "always"), ("in", "-f", "gray,hist=data={stem}.csv:pass", "other/"),
            ("in", "-f", "conv=@mask", "third/")]
    for args in [(*run, jobs) for run, jobs in zip(runs, ("-j1", "-j3", "-j1"))]:
        process = start(*args)
        wait_for_handler(process)
        time.sleep(0.15)
        process.send_signal(signal.SIGINT)
        err = finish(process)
        check(process.returncode == 130 and "failed" not in err and "not done" in err, args, process.returncode, err)
    job = {"in": "in/a.png", "out": "out/a.png", "chain": "gray"}
    for more in ({}, {"out": "new.png", "chain": "hist=pass:data=a.csv"}, {"out": "new.png", "chain": "conv=@mask"}):
        process = start("--batch", "-", stdin=subprocess.PIPE)
        process.stdin.write(json.dumps({**job, **more}).encode() + b"\n")
        process.stdin.flush()
        wait_until(lambda: not struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)))[0], process)  # it is read
        time.sleep(0.15)
        process.send_signal(signal.SIGINT)
        err = finish(process)
        check(process.returncode == 130 and "0 of 1 job done" in err, more, process.returncode, err)


def test_changed_since_the_run_began():
    """--in-place: what another run has replaced meanwhile is not filtered once more."""
    os.makedirs("fifo")
    os.mkfifo("fifo/a.png")
    tree("in/c.png", "in/d.png")
    write("in/b.png", b"")
    process = start("fifo/a.png", "in", "-f", "invert", "-j1", "--in-place", "in/")
    wait_until(lambda: os.path.exists("in/.imgpipe"), process)
    with open("fifo/a.png", "wb") as pipe:  # the first of those that have no size; it is open when it is being done
        write("in/b.png", png(6, 5, value=3))
        pipe.write(png(6, 5))
    err = finish(process)
    check(process.returncode == 1 and "'in/b.png' has changed since the run began" in err and "3 of 4 images done" in err, err)
    check(read("in/b.png") == png(6, 5, value=3), "it was filtered")


def test_runs_at_once_in_place():
    """However many runs there are, each image is filtered once; so are two names of one file."""
    noise("in", 40, side=90)
    expect(0, "in", "-f", "invert", "want/", says="all 40")
    processes = [start("in", "-f", "invert", "-j2", "--in-place", "--resume", "in/") for _ in range(3)]
    errs = [finish(process) for process in processes]
    check(all(process.returncode in (0, 1) for process in processes), errs)
    check(all(read(f"in/{name}") == read(f"want/{name}") for name in found("want")), "an image was filtered twice", errs)
    expect(0, "in", "-f", "invert", "--in-place", "--resume", "in/", says="all 40 images done, 40 by earlier runs")
    tree("twins/a.png", size=(300, 300))
    os.link("twins/a.png", "twins/b.png")
    expect(0, "twins", "-f", "invert", "-j2", "--in-place", "twins/", says="all 2 images done")
    check(read("twins/a.png") == read("twins/b.png"), "of two names of one file one was filtered twice")


def test_in_place_under_another_name():
    """What cannot be written as it is (GIF, PSD) lies beside its result, which a second run must not take for one more input."""
    tree("gi/c.png")
    write("gi/g.gif", READ_ONLY["gif"])
    write("gi/p.psd", READ_ONLY["psd"])
    args = ("gi", "-f", "invert", "--in-place", "gi")
    expect(0, *args, "--resume", says="all 3 images done;")
    before = {name: read(f"gi/{name}") for name in found("gi")}
    check(sorted(before) == ["c.png", "g.gif", "g.png", "p.png", "p.psd"], found("gi"))
    for _ in range(2):
        expect(0, *args, "--resume", says="all 5 images done, 5 by earlier runs")
    tree("gi/new.png")
    expect(0, *args, "--resume", says="all 6 images done, 5 by earlier runs")
    check(all(read(f"gi/{name}") == data for name, data in before.items()), "an image was done again")
    # What the records do not prove is refused as ever.
    expect(2, *args, says="'gi/g.gif' would become 'gi/g.png', which is an input")
    write("gi/g.png", png(3, 3))
    expect(2, *args, "--resume", says="'gi/g.gif' would become 'gi/g.png', which is an input", lacks="p.psd")
