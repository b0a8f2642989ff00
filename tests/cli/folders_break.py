"""Runs over many images: what goes wrong with one, and with all."""
import ctypes
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time

from folders import found, holds, tree
from harness import (PROGRAM, Tally, check, environment, expect, finish, freeze, is_png, png, read, run, start, wait_for_handler,
                     wait_until, write)


def temporaries(folder):
    return [name for place, _, files in os.walk(folder) for name in files
            if name.startswith(".imgpipe-") and os.path.basename(place) != ".imgpipe"]


def noise(folder, count, side=150):
    """Images that take some time."""
    os.makedirs(folder, exist_ok=True)
    for number in range(count):
        write(f"{folder}/{number:04}.pgm", b"P5\n%d %d\n255\n" % (side, side) + random.Random(number).randbytes(side * side))


def outputs(folder):
    """The outputs so far: temporary files are none."""
    return [name for name in found(folder) if not os.path.basename(name).startswith(".imgpipe-")]


def test_failures_stop_nothing():
    tree(*(f"in/{n}.png" for n in range(6)))
    write("in/2.png", png(60, 60)[:-20])
    write("in/4.png", b"no image")
    result = expect(1, "in", "-f", "gray", "out/", says="4 of 6 images done, 2 failed")
    check(all(f"failed: 'in/{n}.png'" in result.err for n in (2, 4)), "the summary does not name the failures:", result)
    holds("out", "0.png", "1.png", "3.png", "5.png")
    result = expect(1, "in", "-f", "gray", "-j1", "--fail-fast", "out2/", says="not done")
    check("1 failed" in result.err and len(found("out2")) < 4, "--fail-fast goes on:", result)
    result = expect(1, "-q", "in", "-f", "gray", "out3/", says="in/4.png")
    check("images done" not in result.err, "-q shows the summary:", result)


def test_misfit_of_a_chain():
    tree("in/a.png", "in/b.png")
    result = expect(2, "in", "-f", "levels=255:100%", "out/", says="the input range from 255 to 255 is empty")
    check(re.search("'in/[ab].png' failed", result.err) and "0 of 2 images done, 2 failed" in result.err, result)


def test_vanished_and_changed():
    noise("in", 40, side=300)
    os.symlink("nowhere.png", "in/gone.png")
    expect(1, "in", "-f", "gray", "out/", says="40 of 41 images done, 1 failed")
    # Of files of one size the first is done first: it comes through a pipe, so that the others change between their listing and their
    # turn.
    os.mkdir("turn")
    os.mkfifo("turn/0000.pgm")
    write("turn/0001.pgm", b"")
    write("turn/0002.pgm", b"")
    process = start(*(f"turn/{n:04}.pgm" for n in range(3)), "-j1", "-f", "median=101", "--format", "png", "out2/")
    with open("turn/0000.pgm", "wb") as pipe:  # waits for its reader
        os.remove("turn/0001.pgm")
        write("turn/0002.pgm", b"P5\n2 3\n255\nabcabc")
        pipe.write(b"P5\n3 2\n255\nabcabc")
    err = finish(process)
    check(process.returncode == 1 and "2 of 3 images done, 1 failed" in err, process.returncode, err)
    check("cannot open 'turn/0001.pgm': No such file" in err, "what vanished is not told of:", err)
    expect(0, "turn/0002.pgm", "-f", "median=101", "want.png")
    check(read("out2/0002.png") == read("want.png"), "an image that changed before its turn")
    # A file that grows while it is read.
    write("grows.pgm", b"P5\n2000 2000\n255\n" + bytes(4000000))
    for _ in range(9):  # where this script has to wait for a processor it may come too late
        process = start("grows.pgm", "-f", "median=101", "-j1", "grown.png", "--overwrite", "always")
        begun = wait_until(lambda: temporaries("."), process)  # the output is begun when the input's size is known
        if begun and freeze(process) and temporaries("."):
            break
        process.kill()
        finish(process)
    with open("grows.pgm", "ab") as file:
        file.write(b"more")
    process.send_signal(signal.SIGCONT)
    err = finish(process)
    check(process.returncode == 1 and "changed while it was read" in err and not os.path.exists("grown.png"), process.returncode, err)


def test_output_folders():
    tree("in/a.png", "in/s/b.png")
    os.mkdir("out")
    write("out/s", b"a file where a folder should be")
    expect(1, "-r", "in", "-f", "gray", "out", says="1 of 2 images done, 1 failed")
    write("file", b"")
    expect(4, "-r", "in", "-f", "gray", "file/", says="'file/'")
    expect(4, "in", "-f", "gray", "file/new/", says="cannot make the folder 'file/new/': Not a directory")
    os.mkdir("log")
    write("log/.imgpipe", b"")
    expect(4, "in", "-f", "gray", "log", says="'log/.imgpipe' is no folder.*")
    check(found("log") == [".imgpipe"], "something was written where nothing can be noted")


def without_privilege():
    """Root may write anywhere, but not without CAP_DAC_OVERRIDE."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


def test_folder_that_cannot_be_written():
    """OUT, which no image can be written into, is found before any work: 4. A folder in it concerns its images: 1."""
    tree("in/a.png", "in/s/b.png")
    os.makedirs("half/s")
    os.mkdir("locked")
    os.chmod("half/s", 0o555)
    os.chmod("locked", 0o555)
    for status, out, says in ((4, "locked", "cannot write into the folder 'locked': Permission denied"),
                              (4, "locked/new/", "cannot make the folder 'locked/new/'"),
                              (1, "half", "'in/s/b.png': cannot write 'half/s/b.png'.*not writable")):
        process = subprocess.run([PROGRAM, "-r", "in", "-f", "gray", out], stderr=subprocess.PIPE, env=environment(), text=True,
                                 preexec_fn=without_privilege)
        check(process.returncode == status and re.search(says, process.stderr), status, out, process)
    holds("half", "a.png")


def test_full_disk():
    tree(*(f"in/{n}.png" for n in range(8)))
    os.mkdir("out")
    os.symlink("/dev/full", "out/3.png")
    result = expect(4, "in", "-f", "gray", "-j1", "--overwrite", "always", "out", says="No space left")
    check("not done" in result.err and not temporaries("out"), "a full disk does not end the run:", result)
    process = subprocess.run([PROGRAM, "in", "-f", "gray", "out2/"], stderr=subprocess.PIPE, env=environment(),
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)))
    check(process.returncode in (1, 4) and found("out2") == [] and not temporaries("out2"), "too small a limit of sizes:", process)


def test_disk_that_becomes_full():
    """A real one, where root may mount a small one."""
    os.mkdir("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", "disk"], stderr=subprocess.DEVNULL).returncode:
        return
    try:
        noise("in", 12)  # of 22 kB each
        result = expect(4, "in", "-f", "invert", "--format", "png", "-j2", "disk/out/", says="the disk is full")
        done = [name for name in found("disk/out") if is_png(read(f"disk/out/{name}"))]
        check(done and done == found("disk/out") and not temporaries("disk"), "a part of a file is left:", found("disk/out"))
        check(re.search(rf"{len(done)} of 12 images done, \d failed, \d not done", result.err), result)
        subprocess.run(["mount", "-o", "remount,size=4m", "disk"], check=True)
        expect(0, "in", "-f", "invert", "--format", "png", "disk/out/", "--resume",
               says=f"all 12 images done, {len(done)} by earlier runs")
    finally:
        subprocess.run(["umount", "-l", "disk"], check=True)


def test_signals_of_a_run():
    noise("in", 60)
    os.mkfifo("endless.pgm")  # nobody writes into it, so the run is not over before the signal comes
    for number, want in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        process = start("in", "endless.pgm", "-f", "median=31,median=31,median=31", "--format", "png", f"out{want}/")
        check(wait_until(lambda: outputs(f"out{want}"), process), "it ended before")
        process.send_signal(number)
        err = finish(process)
        done = found(f"out{want}")
        check(process.returncode == want, "after", number, "the status is", process.returncode, err)
        check(0 < len(done) <= 60 and "not done" in err, len(done), err)
        check("stopped by a signal; add --resume to the same command" in err, "what to do then is not said:", err)
        check(all(is_png(read(f"out{want}/{name}")) for name in done) and not temporaries(f"out{want}"), "a part of a file is left")
        expect(0, "in", "-f", "median=31,median=31,median=31", "--format", "png", f"out{want}/", "--resume",
               says=f"all 60 images done, {len(done)} by earlier runs")


def test_impatient_signals():
    """Three at once end what is at work, and leave no temporary files. Two of one kind would be one if the first still waits."""
    noise("in", 3, side=2000)
    chain = ",".join(["median=127"] * 5)
    for args, want in ((("in", "-f", chain, "--format", "png", "many/"), "many"),
                       (("in/0000.pgm", "-f", chain, "one/a.png"), "one")):
        os.mkdir(want)
        process = start(*args)
        check(wait_until(lambda: temporaries(want), process) and freeze(process), "it ended before")
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            process.send_signal(number)
        err = finish(process)
        check(process.returncode in (129, 130, 143) and not found(want), args, process.returncode, found(want), err)


def test_ignored_signals():
    """What nohup started, or a script in the background, goes on."""
    noise("in", 3, side=500)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        out = f"out{number}"
        process = subprocess.Popen([PROGRAM, "in", "-f", "median=31", "--format", "png", out + "/"], stderr=subprocess.PIPE,
                                   env=environment(), preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
        wait_until(lambda: os.path.isdir(out), process)
        for _ in range(3):
            process.send_signal(number)
        err = finish(process)
        check(process.returncode == 0 and "all 3" in err, number, "ends what ignores it:", process.returncode, err)


def test_what_cannot_be_looked_at():
    """Where a path is too long, as where the right to enter a folder is missing, nobody knows what is lost."""
    tree("in/a.png")
    home, deep = os.getcwd(), ["d" * 200] * 20
    os.chdir("in")
    for name in deep:
        os.mkdir(name)
        os.chdir(name)
    write("p" * 100, png(4, 4))
    os.mkdir("f" * 100)
    os.chdir(home)
    result = expect(1, "-r", "in", "-f", "gray", "out/", says="1 of 3 images done, 2 failed")
    check(result.err.count("cannot look at") == 2 and "File name too long" in result.err, result)
    expect(1, "-r", "in", "--include", "a.png", "-f", "gray", "out2/", says="cannot look at")
    expect(0, "-r", "in", "--exclude", "p*", "--exclude", "f*", "-f", "gray", "out3/", says="1 image done")
    os.symlink("nowhere", "in/link")
    expect(0, "in", "-f", "gray", "out4/", says="1 image done")
    if os.getuid():
        os.makedirs("other/sub/deeper")
        write("other/sub/picture", png(4, 4))
        os.chmod("other/sub", 0o644)
        expect(1, "-r", "other", "-f", "gray", "out5/", says="cannot look at 'other/sub/picture': Permission denied")
        os.chmod("other/sub", 0o755)


def test_signal_while_a_pipe_is_silent():
    os.mkfifo("pipe.png")
    tree("a.png")
    for wait in (0, 0.3):
        process = start("pipe.png", "a.png", "-f", "gray", "out/")
        wait_for_handler(process)
        time.sleep(wait)
        process.send_signal(signal.SIGTERM)
        err = finish(process)
        check(process.returncode == 143, "a silent pipe is waited for:", process.returncode, err)


def test_kill_and_resume():
    noise("in", 60, side=100)
    args = ("in", "-f", "median=9,blur=2", "--format", "png", "-j2")
    expect(0, *args, "want/", says="all 60")
    rounds, seed = (50, 1) if Tally.long else (5, random.randrange(1 << 30))
    dice = random.Random(seed)
    for _ in range(rounds):
        process = start(*args, "out/", "--resume")
        time.sleep(dice.uniform(0, 0.25))
        process.kill()
        process.communicate()
        wrong = [name for name in outputs("out") if read(f"out/{name}") != read(f"want/{name}")]
        check(not wrong, "seed", seed, "after SIGKILL these are not whole:", wrong)
    there = len(outputs("out"))
    result = expect(0, *args, "out/", "--resume", says="all 60 images done")
    proven = int((re.search(r"(\d+) by earlier runs", result.err) or [0, 0])[1])
    check(there - 3 * rounds <= proven <= there, "seed", seed, "of", there, "whole images", proven, "were taken for done")
    check(found("out") == found("want") and not temporaries("out"), "seed", seed, "the next run leaves", temporaries("out"))
    check(all(read(f"out/{name}") == read(f"want/{name}") for name in found("want")), "seed", seed, "the results differ")


KILLER = r"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
int renameat(int a, const char *from, int b, const char *to) {
    int (*real)(int, const char *, int, const char *) = (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
    int failed = real(a, from, b, to);
    raise(SIGKILL);
    return failed;
}
"""


def test_kill_when_an_input_was_replaced():
    """--in-place: what has replaced its input is not filtered once more, however little later the process was killed."""
    write("killer.c", KILLER.encode())
    made = subprocess.run(["cc", "-shared", "-fPIC", "killer.c", "-o", "killer.so"], stderr=subprocess.DEVNULL) if shutil.which("cc") else None
    if not made or made.returncode or os.environ.get("IMGPIPE_SANITIZED"):
        return
    tree("in/a.png", "in/b.png")
    expect(0, "in", "-f", "invert", "want/", says="all 2")
    args = ("in", "-f", "invert", "--in-place", "--resume", "-j1", "in/")
    for killed in (1, 2):
        result = run(*args, LD_PRELOAD=os.path.abspath("killer.so"))
        check(result.status == -signal.SIGKILL and not temporaries("in"), "the process was not killed:", result)
        same = [name for name in found("want") if read(f"in/{name}") == read(f"want/{name}")]
        check(len(same) == killed, "after", killed, "kills these are done:", same)
    expect(0, *args, says="all 2 images done, 2 by earlier runs")
    check(all(read(f"in/{name}") == read(f"want/{name}") for name in found("want")), "an image was filtered twice")
    before = set(os.listdir("in/.imgpipe"))
    expect(0, *args[:3], "--in-place", "in/", says="all 2 images done;")
    news = set(os.listdir("in/.imgpipe")) - before
    check([len(read("in/.imgpipe/" + name).splitlines()) for name in news] == [3], "an image was noted twice")


def test_two_runs_at_once():
    noise("in", 60, side=100)
    for more in ((), ("--resume",), ("--overwrite", "always")):
        folder = "both" + "".join(more)
        first, second = (start("in", "-f", "median=9", "--format", "png", f"{folder}/", *more) for _ in range(2))
        errs = [finish(process) for process in (first, second)]
        check(all(process.returncode in ((0,) if more else (0, 1)) for process in (first, second)), more, errs)
        check(len(found(folder)) == 60 and all(is_png(read(f"{folder}/{name}")) for name in found(folder)), more, errs)
        check(not temporaries(folder), "temporary files are left:", temporaries(folder))
        check(not any("failed" in err for err in errs), more, errs)
        expect(0, "in", "-f", "median=9", "--format", "png", f"{folder}/", "--resume", says="all 60")


def test_a_slow_input_holds_up_nobody():
    """Images are read, filtered and written beside each other."""
    os.mkfifo("slow.png")
    noise("in", 10, side=20)
    process = start("slow.png", "in", "-j2", "-f", "gray", "--format", "png", "out/")
    wait_until(lambda: len(outputs("out")) == 10, process)
    check(process.poll() is None and len(found("out")) == 10 and "slow.png" not in found("out"), found("out"))
    write("slow.png", png(5, 5))
    err = finish(process)
    check(process.returncode == 0 and "all 11 images done" in err, err)


def test_few_open_files():
    noise("in", 40, side=20)
    process = subprocess.run([PROGRAM, "in", "-f", "gray", "-j4", "--format", "png", "out/"], stderr=subprocess.PIPE, env=environment(),
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
    check(process.returncode == 0 and len(found("out")) == 40, "with 40 open files:", process)


def test_more_memory_than_a_lane_has():
    """A TGA is read as a whole: this one, a small file of one colour, needs more than a fourth of the budget, so it waits until it can
    have all of it."""
    noise("in", 6, side=30)
    expect(0, "in", "-f", "gray", "-j4", "--memory", "8M", "--format", "png", "out/", says="all 6")
    write("large.png", png(1200, 1000, value=9))
    expect(0, "large.png", "-o", "in/large.tga")
    expect(1, "in/large.tga", "-f", "gray", "-j1", "--memory", "2M", "alone.png", says="--memory")
    expect(0, "in", "-f", "gray", "-j4", "--memory", "8M", "--format", "png", "out2/", says="all 7")


def peak(args):
    process = subprocess.Popen([PROGRAM, *args], stderr=subprocess.DEVNULL, env=environment())
    status, usage = os.wait4(process.pid, 0)[1:]
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss


def test_memory_is_flat():
    if os.environ.get("IMGPIPE_SANITIZED"):
        return
    many = 10000 if Tally.long else 600
    noise("few", 50, side=60)
    noise("many", many, side=60)
    (one, small), (two, large) = peak(("few", "-f", "blur", "--format", "png", "a/")), peak(("many", "-f", "blur", "--format", "png", "b/"))
    check(one == 0 and two == 0 and large < small + 4000 + many, "memory grows with the number of images:", small, large, "KiB")
