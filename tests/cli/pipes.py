"""Standard input and output that cannot seek: every kind both ways, and streams of PNM images."""
import json
import os
import struct
import subprocess

from harness import LONGEST, PROGRAM, check, environment, expect, is_png, left, png, read, run, write

# The smallest files of the kinds that are read and not written.
READ_ONLY = {
    "gif": b"GIF89a\2\0\2\0\x91\0\0\0\0\0\xff\0\0\0\xff\0\0\0\xff,\0\0\0\0\2\0\2\0\0\2\3\x44\x02\x05\0;",
    "psd": b"8BPS\0\1" + bytes(6) + b"\0\3\0\0\0\1\0\0\0\2\0\x08\0\3" + bytes(12) + b"\0\0\1\2\3\4\5\6",
}


def kinds():
    return json.loads(run("--list-formats", "--json").out)


def pgm(width, height, seed=0, maxval=255, magic=b"P5"):
    samples = width * height * (3 if magic == b"P6" else 1)
    high = (maxval >> 8) - 1  # mask of the first byte of a 16-bit sample
    pixels = bytes((i * 37 + seed * 11) & (high if maxval > 255 and i % 2 == 0 else 255) for i in range(samples * (2 if maxval > 255 else 1)))
    return b"%s\n%d %d\n%d\n" % (magic, width, height, maxval) + pixels


def pfm(width, height):
    return b"Pf\n%d %d\n-1\n" % (width, height) + struct.pack(f"<{width * height}f", *(i / (width * height) for i in range(width * height)))


def sources():
    """Inputs of every type that a kind may hold."""
    return {"u8": png(40, 30), "alpha": png(23, 17, color=6), "gray": pgm(31, 22), "u16": pgm(33, 21, 1, 65535, b"P6"), "f32": pfm(19, 14)}


def filtered(data, *args):
    """`cat | imgpipe - … | cat`: both ends are pipes."""
    process = subprocess.Popen([PROGRAM, "-", *args, "-o", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment())
    out, err = process.communicate(data, timeout=LONGEST)
    return process.returncode, out, err.decode("utf-8", "replace")


def test_every_kind_both_ways():
    tried = 0
    for kind in kinds():
        name = kind["name"]
        for source, data in sources().items():
            if not kind["writes"]:
                continue
            write("source", data)
            file = f"file.{kind['extensions'][0]}"
            named = run("source", "-f", "median=3,invert", "--format", name, "-o", file, "--overwrite", "always", "-q")
            check(named.status == 0, name, source, named)
            status, out, err = filtered(data, "-f", "median=3,invert", "--format", name, "-q")
            check(status == 0 and out == read(file), f"{source} to {name}: a pipe and a file differ:", status, err, len(out), len(read(file)))
            if kind["reads"]:
                run(file, "-f", "blur=1", "--format", "png", "-o", "back.png", "--overwrite", "always", "-q")
                status, out, err = filtered(read(file), "-f", "blur=1", "--format", "png", "-q")
                check(status == 0 and out == read("back.png"), f"{source} from {name}: a pipe and a file differ:", status, err)
            os.remove(file)
            tried += 1
        if name in READ_ONLY:
            write("source", READ_ONLY[name])
            run("source", "-f", "blur=1", "-o", "back.png", "--overwrite", "always")
            status, out, err = filtered(READ_ONLY[name], "-f", "blur=1", "--format", "png")
            check(status == 0 and out == read("back.png"), f"from {name}: a pipe and a file differ:", status, err)
            tried += 1
    check(tried >= 37, "only", tried, "kinds and types were tried")


STREAM = [pgm(20, 10), pgm(7, 31, 2, magic=b"P6"), b"P2 3 2 15\n1 2 3 4 5 15\n", pgm(9, 8, 3, 4000), b"P4\n9 2\n\xaa\x80\x55\x00",
          b"P7\nWIDTH 3\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" + bytes(range(24))]


def one_by_one(images, kind, chain):
    out = b""
    for i, image in enumerate(images):
        write("one", image)
        run("one", "-f", chain, "--format", kind, "-o", "out", "--overwrite", "always", "-q")
        out += read("out")
    return out


def test_stream():
    for kind, chain in (("pnm", "blur=1"), ("pam", "median=3,gray"), ("pfm", "box=3"), ("pam", "hist=64:64")):
        want = one_by_one(STREAM, kind, chain)
        status, out, err = filtered(b"".join(STREAM), "-f", chain, "--format", kind, "-q")
        check(status == 0 and out == want, f"a stream to {kind}:", status, err, len(out), len(want))
        write("stream", b"".join(STREAM))
        expect(0, "stream", "-f", chain, "--format", kind, "-o", "all.out", "-q", "--overwrite", "always")
        check(read("all.out") == want, f"a file of several images to a {kind} file")
        check(filtered(want, "--format", kind, "-q")[1] == want, f"a stream of {kind} is not copied as it is")
    many = b"".join(pgm(16, 9, i) for i in range(300))
    check(filtered(many, "-f", "invert,invert", "--format", "pnm") == (0, many, ""), "300 images")


def test_stream_refused():
    write("stream", b"".join(STREAM[:3]))
    expect(1, "stream", "-o", "out.png", says="3 images.*--page")
    expect(1, "stream", "-f", "hist=pass:data=hist.csv", "-o", "out.pnm", says="3 images.*side data")
    expect(1, "-", "-o", "out.png", says="several images.*--page", data=read("stream"))
    expect(1, "stream", "-f", "hist=data=hist.csv", "--no-output", says="3 images")
    left("in.png", "stream")


def test_stream_pages():
    write("stream", b"".join(STREAM))
    for page, image in enumerate(STREAM, 1):
        write("one", image)
        expect(0, "one", "--format", "png", "-o", "want.png", "-q")
        expect(0, "stream", "--page", str(page), "-o", "got.png", "-q")
        check(read("got.png") == read("want.png"), "page", page)
        status, out, err = filtered(b"".join(STREAM), "--page", str(page), "--format", "png", "-q")
        check(status == 0 and out == read("want.png"), "page", page, "of a pipe:", err)
    expect(1, "stream", "--page", "7", "-o", "other.png", says="holds 6 images, there is no page 7")
    expect(1, "-", "--page", "7", "-o", "other.png", says="holds 6 images, there is no page 7", data=read("stream"))
    check(not os.path.exists("other.png"), "other.png was written")


def test_stream_broken():
    """A later image is broken: a named file does not appear, and a pipe has had the images before."""
    for tail, says in ((pgm(20, 10)[:-1], "truncated"), (b"P5\n0 3\n255\n", "no pixels"), (b"P5\n3 x\n", "not a number")):
        write("stream", STREAM[0] + STREAM[1] + tail)
        expect(1, "stream", "-f", "invert", "-o", "out.pnm", says=says)
        expect(1, "-", "-f", "invert", "-o", "out.pnm", says=says, data=read("stream"))
        check(not os.path.exists("out.pnm"), "a file with a part of the images appeared")
        status, out, err = filtered(read("stream"), "-f", "invert", "--format", "pnm")
        want = one_by_one(STREAM[:2], "pnm", "invert")
        check(status == 1 and out.startswith(want) and says in err, "a pipe lacks the images before the broken one:", status, len(out), err)
    expect(0, "-", "-f", "invert", "-o", "cut.pnm", "--allow-truncated", says="the rest is 0", data=STREAM[0] + STREAM[1][:-5])
    check(len(read("cut.pnm")) == len(STREAM[0] + STREAM[1]), "--allow-truncated in a stream")
    result = expect(0, "-", "--format", "pnm", "-o", "-", says="follows the image and is ignored", data=STREAM[0] + b"garbage")
    check(result.out == STREAM[0], "garbage behind an image")


def test_closed_pipe():
    """Who reads has gone: exit status 4, and no word about it."""
    write("big", pgm(3000, 3000) * 2)
    process = subprocess.Popen(f"cat big | '{PROGRAM}' - --format pnm -o - 2>err; echo $? >status", shell=True, stdout=subprocess.PIPE,
                               env=environment(), executable="/bin/bash")
    process.stdout.read(10)
    process.stdout.close()
    process.wait(timeout=LONGEST)
    check(read("status").strip() == b"4" and not read("err"), "a closed pipe:", read("status"), read("err"))
    check(is_png(filtered(read("in.png"), "--format", "png")[1]), "PNG through pipes")
