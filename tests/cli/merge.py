"""--merge-hist: the histogram of a run, and the sum of those of several."""
import json
import os
import re
import shutil

from folders import found, tree
from folders_break import noise, outputs, temporaries
from harness import check, expect, finish, png, read, run, start, wait_until, write


def histogram(name):
    return json.loads(read(name))


def sum_of(names):
    """What single runs find, added up by other means."""
    total = None
    for name in names:
        expect(0, name, "-f", "gray,hist=data=one.json", "--no-output")
        counts = histogram("one.json")["channels"][0]["counts"]
        total = counts if total is None else [a + b for a, b in zip(total, counts)]
    return total


def inputs():
    names = [f"in/{n}.png" for n in range(7)] + ["in/s/a.png", "in/s/b.png"]
    for number, name in enumerate(names):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        write(name, png(9 + number, 5, value=None if number % 2 else number * 20))
    return names


def test_merge_hist_of_a_run():
    names = inputs()
    want = sum_of(names)
    for more in ((), ("-j1",), ("-j4",)):
        expect(0, "-r", "in", "-f", "gray,hist=pass", *more, "--overwrite", "always", "--merge-hist", "all.json", "out/",
               says="all 9")
        whole = histogram("all.json")
        check(whole["channels"][0]["counts"] == want, "the sum is wrong with", more)
        check((whole["complete"], whole["images"], whole["failed"], whole["missing"]) == (True, 9, 0, 0), whole)
        shape = whole["type"], whole["bins"], whole["min"], whole["max"]
        check(whole["pixels"] == sum(want) and shape == ("u8", 256, 0, 255), whole)
    expect(0, "in/0.png", "-f", "gray", "want.png")
    check(read("out/0.png") == read("want.png"), "--merge-hist changes the image")
    expect(0, "-r", "in", "-f", "gray,hist", "--no-output", "--merge-hist", "all.json", says="all 9")
    check(histogram("all.json")["channels"][0]["counts"] == want, "the sum is wrong with --no-output")
    expect(0, "in/1.png", "-f", "blur,hist=bins=4:pass,invert", "--no-output", "--merge-hist", "one.json")
    one = histogram("one.json")
    check(one["images"] == 1 and one["bins"] == 4 and [c["name"] for c in one["channels"]] == ["red", "green", "blue"], one)
    check(not temporaries("."), "temporary files are left:", temporaries("."))


def start_merging(out):
    """A run over 60 images and one that nobody writes, so that it is not over before it can be stopped; some are done."""
    process = start("in", "endless.pgm", "-f", "median=15,hist=pass", "-j2", "--format", "png", out + "/", "--merge-hist", "all.json")
    check(wait_until(lambda: outputs(out), process), "it ended before it could be stopped")
    return process


def test_merge_hist_killed():
    noise("in", 60)
    os.mkfifo("endless.pgm")
    write("all.json", b"mine")
    process = start_merging("out")
    process.kill()
    process.communicate()
    check(read("all.json") == b"mine" and not temporaries(".")[2:], "after SIGKILL:", os.listdir("."))
    process = start_merging("out2")
    process.terminate()
    err = finish(process)
    part = histogram("all.json")
    check(process.returncode == 143 and 0 < part["images"] == len(found("out2")) < 61, process.returncode, part["images"], err)
    check(part["missing"] == 61 - part["images"] and not part["complete"], part["missing"], part["complete"])
    check(f"lacks {part['missing']} images that the run" in err, err)


def test_merge_hist_of_shards():
    want = sum_of(inputs())
    for part in range(1, 5):
        args = ("-r", "in", "-f", "gray,hist", "--no-output", "--shard", f"{part}/4", "--merge-hist", f"part{part}.json")
        expect(0, *args, says=f"part {part} of 4|0 of 0|0 images")
    parts = [f"part{part}.json" for part in range(1, 5)]
    check([histogram(name)["parts"] for name in parts] == [[1], [2], [3], [4]], "the files do not say which part they are of")
    check(not any(histogram(name)["complete"] for name in parts), "a part says that it is the whole")
    expect(0, "--merge-hist", "all.json", *parts)
    whole = histogram("all.json")
    check(whole["complete"] and whole["channels"][0]["counts"] == want and whole["images"] == 9 and "shards" not in whole, whole)
    expect(1, "--merge-hist", "half.json", parts[0], parts[3], says="not the whole; it lacks 2 of 4 parts, beginning with part 2")
    check(histogram("half.json")["parts"] == [1, 4], read("half.json"))
    expect(0, "--merge-hist", "all2.json", "half.json", parts[2], parts[1])
    check(histogram("all2.json") == whole, "the order of the parts matters")
    expect(1, "--merge-hist", "twice.json", "half.json", parts[3],
           says="part 4 of 4 is in it, and in those before as well; nothing was written")
    expect(0, "--merge-hist", "double.json", "all.json", "all2.json")
    check(histogram("double.json")["channels"][0]["counts"] == [2 * count for count in want], "two wholes do not add up")
    expect(0, "-r", "in", "-f", "gray,hist=data='data/{relpath}.json'", "--no-output", says="all 9")
    expect(0, "--merge-hist", "each.json", *(f"data/{name}" for name in found("data")))
    check(histogram("each.json") == whole, "the files of single images do not add up to the whole")
    check(json.loads(run("--merge-hist", "-", *parts).out) == whole, "standard output")


def test_merge_hist_that_is_not_the_whole():
    inputs()
    write("in/3.png", png(60, 60)[:-20])
    expect(1, "-r", "in", "-f", "gray,hist=pass", "--merge-hist", "all.json", "out/",
           says="'all.json' is not the whole; it lacks 1 image that failed")
    part = histogram("all.json")
    check((part["complete"], part["images"], part["failed"], part["missing"]) == (False, 8, 1, 0), part)
    expect(1, "-r", "in", "-f", "gray,hist=pass", "--merge-hist", "kept.json", "out/",
           says="lacks 1 image that failed, 8 images that the run")
    check((histogram("kept.json")["images"], histogram("kept.json")["channels"]) == (0, []), read("kept.json"))
    expect(1, "--merge-hist", "both.json", "kept.json", "all.json", says="lacks 2 images that failed, 8 images")
    check(histogram("both.json")["channels"] == part["channels"], "nothing and something are not something")


def test_merge_hist_that_does_not_fit():
    tree("in/a.png")
    write("in/b.png", png(6, 5, color=0))
    result = expect(1, "in", "-f", "hist=pass", "--merge-hist", "all.json", "out/", says="all 2")
    check(re.search("'in/[ab].png' cannot be added, and 'all.json' is not written: it is u8 (gray|red green blue), but 'in/[ab].png' is "
                    "u8 (gray|red green blue); put the stage gray before hist", result.err), result)
    expect(0, "in", "-f", "gray,hist", "--no-output", "--merge-hist", "all.json", says="all 2")
    os.remove("all.json")
    check(not os.path.exists("all.json") and len(found("out")) == 2, "what does not fit was written")
    write("all.json", b"mine")
    expect(1, "-q", "in", "-f", "hist=pass", "--overwrite", "always", "--merge-hist", "all.json", "out/", says="cannot be added")
    check(read("all.json") == b"mine", "what was there is gone")
    for chain, path in (("gray,hist", "g.json"), ("gray,hist=bins=8", "b.json"), ("gray,hist=max=99", "m.json")):
        expect(0, "in/a.png", "-f", chain, "--no-output", "--merge-hist", path)
    for other, bins in (("b.json", "8 bins from 0 to 255"), ("m.json", "100 bins from 0 to 99")):
        expect(1, "--merge-hist", "no.json", "g.json", other, says=f"cannot add '{other}': it is u8 gray in {bins}, but 'g.json' is "
               "u8 gray in 256 bins from 0 to 255; use the same bins")
    check(not os.path.exists("no.json"), "something was written")


def test_advice_of_merge_hist():
    """What the message says to do makes images alike."""
    for kind in ("in16", "in32", "alpha"):
        os.mkdir(kind)
        write(f"{kind}/a.png", png(6, 5, color=0))
    expect(0, "in.png", "-f", "gray", "--depth", "16", "in16/b.png")
    expect(0, "in.png", "-f", "gray", "--depth", "f32", "in32/b.pfm")
    write("alpha/b.png", png(6, 5, color=6))
    for kind, says, chain, more in (("in16", "; add --depth 16", "hist", ("--depth", "16")),
                                    ("in32", "; add --depth f32, and say hist=min", "hist=min=0:max=1", ("--depth", "f32")),
                                    ("alpha", "alpha in a run of their own", "hist", ("--exclude", "b.png"))):
        expect(1, kind, "-f", "hist", "--no-output", "--merge-hist", "h.json", says=says)
        expect(0, kind, "-f", chain, *more, "--no-output", "--merge-hist", "h.json", says="done")


def test_merge_hist_usage():
    tree("in/a.png", "in/b.png")
    for chain, says in (("gray", "the chain has no hist"), ("hist=pass,blur,hist", "several hist stages")):
        expect(2, "in", "-f", chain, "--merge-hist", "all.json", "out/", says=says)
    expect(2, "in", "-f", "hist", "--resume", "--merge-hist", "all.json", "out/", says="--resume skips.*hist=data=")
    expect(2, "in", "-f", "hist", "--merge-hist", "in/a.png", "out/", says="is an input")
    expect(2, "in", "-f", "hist", "--merge-hist", "out/a.png", "out/", says="is an output")
    expect(2, "in", "-f", "hist", "--merge-hist", "-", "out/", says="name a file")
    expect(2, "in", "-f", "hist", "--merge-hist", "x", "--report", "./x", "out/", says="the file of --report")
    expect(2, "--merge-hist", "all.json", says="nothing to add up")
    expect(4, "in", "-f", "hist", "--merge-hist", "no/where.json", "out/", says="cannot write 'no/where.json'")
    check(not os.path.exists("out"), "a refused run made its folder")
    expect(4, "in", "-f", "hist", "--merge-hist", "/dev/full", "out/", says="No space")
    expect(0, "in", "-f", "hist", "--no-output", "--merge-hist", "a.json", says="all 2")
    shutil.copy("a.json", "b.json")
    expect(2, "--merge-hist", "a.json", "b.json", says="'a.json' exists.*--overwrite always")
    expect(0, "--merge-hist", "a.json", "b.json", "--overwrite", "always")
    expect(1, "--merge-hist", "c.json", "gone.json", says="cannot add 'gone.json': No such file")
    write("bad.json", read("a.json")[:-40])
    expect(1, "--merge-hist", "c.json", "a.json", "bad.json", says="cannot add 'bad.json': it is no JSON: .* at byte")
    for was, now in ((b'"pixels":60', b'"pixels":61'), (b'"bins":256', b'"bins":255'), (b'"images":2', b'"images":-2'),
                     (b'"type":"u8"', b'"type":"u9"'), (b'"channels"', b'"canals"')):
        write("bad.json", read("a.json").replace(was, now, 1))
        check(read("bad.json") != read("a.json"), was, "is not in the file")
        expect(1, "--merge-hist", "c.json", "bad.json", says="no whole histogram")
    write("bad.json", b'{"a":' * 100)
    expect(1, "--merge-hist", "c.json", "bad.json", says="too deep")
    check(not os.path.exists("c.json"), "something was written")
