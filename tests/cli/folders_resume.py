"""Runs into folders that earlier runs wrote into: what is the same although it is written differently, what is never filtered twice."""
import os
import shutil

from folders import tree
from folders_run import redone, report
from harness import check, expect, png, read, run, write


def test_resume_however_written():
    """The folder, the chain and the options may be written in another way, and the folder moved: nothing is filtered twice."""
    tree("ib/a.png", "ib/s/b.png")
    os.symlink("ib", "alias")
    args = ("-r", "-f", "blur", "--in-place")
    expect(0, *args, "ib", "-o", "ib", says="all 2")
    done = [read("ib/a.png"), read("ib/s/b.png")]
    home = os.path.basename(os.getcwd())
    for one, other in (("ib", "ib"), ("./ib", "ib"), ("ib", "./ib"), ("ib//", "ib/."), (f"../{home}/ib", "ib/s/.."), ("alias", "ib/"),
                       (os.path.abspath("ib"), "ib"), ("/" + os.path.abspath("ib") + "/.", "alias/")):
        expect(0, *args, "--resume", one, "-o", other, says="all 2 images done, 2 by earlier runs")
    os.chdir("ib")
    expect(0, *args, "--resume", ".", "-o", ".", says="2 by earlier runs")
    expect(0, *args, "--resume", "./a.png", "s/../s/b.png", "-o", "../ib", "--name", "{dir}/{stem}.png", "--exclude", "b.png",
           says="1 image done, 1 by earlier runs")
    os.chdir("..")
    os.rename("ib", "ic")
    for chain in ("blur", "blur=2", "blur=sigma=2", "blur=2.0", " blur ", "blur=2:border=clamp"):
        expect(0, "-r", "ic", "-f", chain, "--in-place", "--resume", "ic", says="2 by earlier runs")
    for more in (("--quality", "90"), ("--level=4",), ("--background", "#ffffff"), ("--format", "png")):
        expect(0, *args, *more, "--resume", "ic", "-o", "ic", says="2 by earlier runs")
    check(done == [read("ic/a.png"), read("ic/s/b.png")], "an image was filtered twice")
    # Where the input lies elsewhere it is the same one as well.
    expect(0, "-r", "ic", "-f", "gray", "out/", says="all 2")
    redone(("-r", "./ic//", "-f", "gray=601", "out/."), [])


def test_resume_keeps_what_is_filtered():
    """--in-place --resume: what another chain or other options made in place of its input is not filtered on top without a word."""
    tree("ib/a.png", "ib/b.png")
    expect(0, "ib", "-f", "blur", "--in-place", "ib/", says="all 2")
    write("ib/b.png", png(7, 7))
    before = read("ib/a.png")
    for args in (("-f", "blur=3"), ("-f", "blur", "--depth", "16"), ("-f", "blur=2,gray")):
        result = run("ib", *args, "--in-place", "--resume", "--dry-run", "ib/")
        check(result.status == 1 and result.out == b"ib/b.png\tib/b.png\n" and "1 of 2 images to do, 1 kept" in result.err, result)
        check("kept: 'ib/a.png'" in result.err and "1 of these was filtered already, in place, by an earlier run" in result.err, result)
    expect(1, "ib", "-f", "gray", "--in-place", "--resume", "ib/", "--report", "r", says="1 of 2 images done, 1 kept")
    check({line["input"]: line["status"] for line in report("r")[1:-1]} == {"ib/a.png": "kept", "ib/b.png": "ok"}, report("r"))
    check(read("ib/a.png") == before, "an image was filtered on top of what an earlier run did")
    # A record of how things were written before: the chain as it was typed, and the input by a path with dots.
    log = os.listdir("ib/.imgpipe")[0]
    shutil.rmtree("ib/.imgpipe")
    os.mkdir("ib/.imgpipe")
    st = os.stat("ib/a.png")
    stamp = f"{st.st_size} {st.st_mtime_ns // 10**9}.{st.st_mtime_ns % 10**9:09}"
    write("ib/.imgpipe/" + log, f"# settings 0123456789abcdef: blur\n0123456789abcdef {stamp} {stamp} a.png\t/x/./ib/a.png\n".encode())
    expect(1, "ib", "-f", "blur", "--in-place", "--resume", "ib/", "--include", "a.png", says="1 kept")
    check(read("ib/a.png") == before, "an older record is not understood")
    expect(0, "ib", "-f", "gray", "--in-place", "--resume", "--overwrite", "always", "ib/", says="all 2 images done")
    check(read("ib/a.png") != before, "--overwrite always does not filter it once more")
    expect(0, "ib", "-f", "gray", "--in-place", "--resume", "ib/", says="2 by earlier runs")
    # Without --resume nothing is asked about, and what a run into another folder made was never filtered in place.
    expect(0, "ib", "-f", "invert", "--in-place", "ib/", says="all 2")
    expect(0, "ib", "-f", "gray", "out/", says="all 2")
    expect(0, "out", "-f", "invert", "--in-place", "--resume", "out/", says="all 2 images done;")


def test_one_image_into_its_own_folder():
    """What is refused for two images is refused for one: no advice makes its only copy go."""
    tree("d/a.png")
    before = read("d/a.png")
    os.symlink("d", "alias")
    os.mkdir("links")
    os.symlink("../d/a.png", "links/a.png")
    for args in (("d/a.png", "-f", "blur", "d"), ("d/a.png", "-f", "blur", "d/"), ("d/a.png", "-f", "blur", "alias"), ("-o", "d/", "d/a.png"),
                 ("d/a.png", "d"), ("d/a.png", "-f", "blur", "links/")):
        for more in ((), ("--dry-run",), ("--overwrite", "always"), ("--overwrite=always", "--dry-run"), ("--overwrite=older",)):
            result = expect(2, *args, *more, says="'d/a.png' would be replaced by its own output; name another OUT, or add --in-place")
            check("--overwrite" not in result.err, "the advice would destroy the input:", result)
    result = expect(2, "d/a.png", "./d/a.png", "-f", "blur", says="'d/a.png' is both input and output.*; add --in-place")
    check("--overwrite" not in result.err, result)
    result = expect(1, "d/a.png", "-f", "blur", "d/a.png", "--overwrite", "never", says="is the input itself and is kept")
    check("always" not in result.err, result)
    job = b'{"id":1,"in":"d/a.png","out":"d/","chain":"blur"}\n'
    check(b"would be replaced by its own output" in run("--batch", "-", data=job).out, "a job of --batch replaces its input")
    check(read("d/a.png") == before, "an input was replaced")
    os.link("d/a.png", "other.png")
    expect(0, "other.png", "-f", "blur", "d/")
    expect(0, "d/a.png", "-f", "blur", "--in-place", "d/", says="1 image done")
    check(read("d/a.png") != before, "--in-place replaced nothing")
    expect(0, "d/a.png", "-f", "blur", "d/a.png")
    expect(0, "d/a.png", "d/a.png", "-f", "blur", "--in-place")
    expect(0, "in.png", "-f", "gray", "d/")
    expect(1, "in.png", "-f", "blur", "d/", says="'d/in.png' exists and is kept; add --overwrite always")


def test_protected_inputs():
    """What may not be written is not replaced by its own output unless --overwrite always says so."""
    tree("d/a.png", "d/b.png")
    os.chmod("d/a.png", 0o444)
    before = read("d/a.png")
    result = expect(1, "d", "-f", "invert", "--in-place", "d", says="1 of 2 images done, 1 failed")
    check("'d/a.png' is write-protected" in result.err and "(chmod u+w)" in result.err, result)
    expect(1, "d", "-f", "invert", "--in-place", "--resume", "d", says="1 of 2 images done, 1 by earlier runs, 1 failed")
    expect(1, "d/a.png", "-f", "invert", "--in-place", "d/", "--dry-run", says="write-protected")
    for args in (("d/a.png", "-f", "invert", "d/a.png"), ("d/a.png", "-f", "invert", "--in-place", "d/a.png")):
        expect(1, *args, says="'d/a.png' is write-protected")
    check(read("d/a.png") == before, "a protected file was replaced")
    expect(0, "d", "-f", "invert", "--in-place", "--resume", "--overwrite", "always", "d", says="all 2 images done, 1 by earlier runs")
    check(read("d/a.png") != before and os.stat("d/a.png").st_mode & 0o777 == 0o444, "--overwrite always, or the mode")
    expect(0, "d", "-f", "invert", "--in-place", "--resume", "d", says="all 2 images done, 2 by earlier runs")
    expect(0, "d/a.png", "-f", "invert", "--in-place", "--overwrite=always", "d/a.png")


def test_outputs_are_no_inputs():
    """A walk leaves out what an earlier run wrote, proven by its records, and says so; a folder that is named is taken."""
    tree("w/a.png", "w/s/b.png", "w/s/odd\tname.png")
    os.chdir("w")
    result = expect(0, "-r", ".", "-f", "gray", "out/", says="all 3 images done;")
    check("left out" not in result.err, result)
    write("out/mine.png", png(3, 3))
    result = expect(0, "-r", ".", "-f", "blur", "out2/", says="3 images in './out' that an earlier run wrote there are left out; name the folder")
    check("all 4 images done" in result.err and sorted(os.listdir("out2/out")) == ["mine.png"], result, os.listdir("out2/out"))
    expect(0, "-r", ".", "-f", "blur", "--resume", "out2/", says="all 4 images done, 4 by earlier runs")
    expect(0, "-r", "..", "--include", "[ab].png", "-f", "gray", "--no-output", says="4 images in '../w/out2?' and 1 other folder that")
    expect(0, "-r", "out", "-f", "invert", "out3/", says="all 4 images done")
    expect(0, "-r", "s", "out", "-f", "invert", "--name", "{index}.png", "out4/", says="all 6 images done")
    os.utime("out/a.png", (5, 5))  # it is no more what that run wrote
    result = run("-r", ".", "-f", "blur", "--exclude", "out[234]", "--dry-run", "out5/")
    check(b"./out/a.png\t" in result.out and b"./out/s/" not in result.out and result.out.count(b"\n") == 5, result, result.out)
    os.chdir("..")
    os.mkdir("v")
    os.rename("w/out", "v/out")
    expect(1, "-r", "v", "--exclude", "mine.png", "--exclude", "a.png", "-f", "blur", "-q", "out5/", says="written by an earlier run; name")
    # A run in place makes nothing new, and takes all that there is.
    tree("p/a.png", "p/s/b.png")
    expect(0, "p/s", "-f", "blur", "--in-place", "p/s", says="1 image done")
    expect(0, "-r", "p", "-f", "gray", "q/", says="all 2 images done")
    expect(0, "-r", "p", "-f", "gray", "p/out/", says="all 2 images done")
    expect(0, "-r", "p", "-f", "invert", "--in-place", "p", says="all 4 images done")


def test_resume_with_numbers():
    """As the README says: an input more, and those behind it are done again under new numbers; nothing that is there is taken for it."""
    tree("in/a.png", "in/c.png")
    args = ("in", "-f", "gray", "--name", "{index}.{ext}", "out/")
    expect(0, *args, says="all 2")
    before = read("out/2.png")
    redone(args, [])
    write("in/b.png", png(7, 7))
    redone(args, ["2.png", "3.png"])
    check(read("out/3.png") == before != read("out/2.png"), "an image under a new number is another")
    os.remove("in/a.png")
    redone(args, ["1.png", "2.png"])
    check(read("out/3.png") == before, "what lies under an old number is gone")
