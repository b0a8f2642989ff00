"""Attempts to break the command that once succeeded: waits that a signal did not end, files lost, reasons left out."""
import json
import os
import pty
import random
import re
import resource
import signal
import subprocess
import time

from harness import (PROGRAM, check, environment, expect, finish, is_png, left, png, read, run, start, wait_for_handler,
                     write)


def stopped(args, wait=0.3, stdin=subprocess.DEVNULL):
    """Starts a run that would never end, stops it some time after it can be, and returns its status and what it said."""
    process = start(*args, stdin=stdin)
    wait_for_handler(process)
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    err = finish(process)
    return process.returncode, err


def test_signals_end_every_wait():
    os.mkfifo("fifo")
    os.mkfifo("fifo.csv")
    os.mkfifo("full.csv")
    reader = os.open("full.csv", os.O_RDONLY | os.O_NONBLOCK)
    plug = os.open("full.csv", os.O_WRONLY | os.O_NONBLOCK)
    while True:
        try:
            os.write(plug, bytes(4096))
        except BlockingIOError:
            break
    for args in (("fifo", "-f", "gray", "out.png"), ("in.png", "-f", "@fifo", "-o", "out.png"),
                 ("in.png", "-f", "conv=@fifo", "-o", "out.png"), ("in.png", "-f", "gray", "-o", "fifo", "--format", "png"),
                 ("in.png", "-f", "hist=data=fifo.csv", "-o", "out.png"), ("in.png", "-f", "hist=data=full.csv", "-o", "out.png")):
        for wait in (0, 0, 0.3):  # before it begins to wait, and then
            status, err = stopped(args, wait)
            check(status == 130, "after SIGINT the status is", status, "of", args, err)
            left("in.png", "fifo", "fifo.csv", "full.csv")
    os.close(reader)
    os.close(plug)


def test_signals_end_endless_input():
    for begin in (b"P7\n", b"P5 #", b"P5 "):
        zeros = subprocess.Popen(["sh", "-c", "cat; while cat zeros; do :; done"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        write("zeros", b" " * (1 << 20))
        zeros.stdin.write(begin)
        zeros.stdin.close()
        status, err = stopped(("-", "-f", "gray", "out.png"), stdin=zeros.stdout)
        zeros.stdout.close()
        zeros.kill()
        zeros.wait()
        check(status == 130, "after SIGINT the status is", status, "for an endless", begin, err)
    left("in.png", "zeros")


def test_signals_end_long_work():
    write("large.pgm", b"P5\n5000 5000\n255\n" + random.Random(1).randbytes(25000000))
    for chain in (",".join(["median=255"] * 24), "blur=1000", "conv=" + ";".join(["1.5 " * 63] * 63)):
        status, err = stopped(("large.pgm", "-f", chain, "-j1", "-o", "out.png"))
        check(status == 130, "after SIGINT the status is", status, "of", chain[:10], err)
        left("in.png", "large.pgm")


def test_terminals_by_name():
    leader, follower = pty.openpty()
    name = os.ttyname(follower)
    expect(2, "in.png", "-f", "gray", "-o", name, "--format", "png", says="terminal")
    expect(2, "in.png", "-f", "gray", "-o", "/dev/stdout", "--format", "png", stdout=follower, says="terminal")
    expect(1, name, "-f", "gray", "out.png", says="terminal")
    os.symlink(name, "data.csv")
    expect(4, "in.png", "-f", "hist=data=data.csv", "-o", "out.png", says="terminal")
    os.set_blocking(leader, False)
    try:
        check(False, "this reached a terminal:", os.read(leader, 100))
    except BlockingIOError:
        pass
    os.close(leader)
    os.close(follower)
    left("in.png", "data.csv")


def test_names_like_temporary_files():
    write(".imgpipe-in.png", read("in.png"))
    expect(0, ".imgpipe-in.png", "-f", "gray", ".imgpipe-out.png")
    expect(0, "in.png", "-f", "gray", "out.png")
    check(read(".imgpipe-in.png") == read("in.png"), "an input was removed as if it were a temporary file")
    check(read(".imgpipe-out.png") == read("out.png"), "an output")
    write(".imgpipe-0123456789abcdef", b"left by a run that was killed")
    expect(0, "in.png", "-f", "gray", "out.png")
    left("in.png", "out.png", ".imgpipe-in.png", ".imgpipe-out.png")


def test_data_replaces_nothing():
    write("image.csv", png(9, 9))
    os.symlink("image.csv", "link.csv")
    for data in ("image.csv", "./image.csv", f"{os.getcwd()}/link.csv"):
        result = expect(2, "image.csv", "-f", f"hist=data={data}", "-o", "out.png", says="is the input")
        check(result.err.splitlines()[-1].strip(" ") == "^" + "~" * (len(data) - 1), "the mark:", result)
    expect(2, "in.png", "-f", "hist=data=new.csv", "-o", "./new.csv", "--format", "png", says="where the image goes")
    expect(2, "in.png", "-f", "hist=data=a.csv:pass,gray,hist=data=./a.csv", "-o", "out.png", says="the data of a stage before")
    expect(2, "in.png", "-f", "hist=data=-:pass,hist=data=-", "-o", "out.png", says="standard output")
    expect(2, "in.png", "-f", "hist=data=-", "-o", "-", "--format", "png", says="standard output")
    expect(2, "in.png", "-f", "hist=data=-", "-o", "/dev/stdout", "--format", "png", says="standard output")
    left("in.png", "image.csv", "link.csv")
    check(is_png(read("image.csv")), "the input was replaced")
    expect(0, "in.png", "-f", "hist=data=a.csv:pass,gray,hist=data=b.csv", "-o", "out.png")
    left("in.png", "image.csv", "link.csv", "a.csv", "b.csv", "out.png")


def test_data_into_a_closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    result = expect(4, "in.png", "-f", "hist=data=-", "-o", "out.png", stdout=writer)
    os.close(writer)
    check(result.err == "", "a closed pipe is not quiet:", result)
    left("in.png")


def test_reasons_of_failed_writes():
    kinds = [kind["name"] for kind in json.loads(run("--list-formats", "--json").out) if kind["writes"]]
    check(len(kinds) >= 8, kinds)
    write("large.png", png(400, 400))
    for kind in kinds:
        result = expect(4, "-q", "large.png", "-f", "invert", "/dev/full", "--format", kind, says="No space left")
        check(len(result.err.splitlines()) == 1, "not one line:", result)


def test_file_size_limit():
    write("large.png", png(300, 300))
    for kind in ("png", "ppm", "pfm", "bmp"):
        process = subprocess.run([PROGRAM, "-q", "--level", "0", "large.png", "-f", "invert", f"out.{kind}"], stderr=subprocess.PIPE,
                                 env=environment(),
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        check(process.returncode == 4 and b"ulimit -f" in process.stderr, "with `ulimit -f`:", process)
        left("in.png", "large.png")


def test_long_names():
    long = "/".join(["ä" * 120] * 8)
    for args, status in ((("in.png", "-f", "gray", f"{long}/out.png"), 4), ((f"{long}.png", "-f", "gray", "out.png"), 1)):
        result = expect(status, *args, says="(does not exist|No such file)")
        check("�" not in result.err and re.search("ä…ä", result.err), "a character was cut:", result)
    expect(2, "in.png", "-f", f"@{long}", "-o", "out.png", says="No such file")
    left("in.png")
