"""Kinds of files that a build has or lacks, pages and frames, what is refused by name, images of one row or column."""
import json
import os
import struct

from harness import check, expect, left, png, read, run, write
from makers import GIF_FRAME, bmp, gif, gray_tiff, hdr, psd, riff, tags, tga, tiff, webp

# Kinds that need a library, and the package that brings it; without libjpeg stb takes JPEG.
PACKAGES = {"tiff": "libtiff-dev", "webp": "libwebp-dev"}
BEGINS = {"tiff": (tiff((tags(2, 2), b"abcd")), tiff((tags(2, 2), b"abcd"), big_endian=True), b"II+\0\10\0\0\0" + bytes(20)),
          "webp": (webp(1), riff((b"VP8 ", bytes(30))))}
TWO = {"tiff": tiff((tags(2, 2), b"abcd"), (tags(2, 2), b"efgh")), "gif": gif(2), "webp": webp(2), "pnm": b"P5 1 1 255\na" * 2,
       "pam": b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nENDHDR\na" * 2, "pfm": b"Pf 1 1 -1\n\0\0\0\0" * 2}
ONE = {"tiff": gray_tiff(2, 2, b"abcd"), "gif": gif(1), "webp": webp(1), "png": png(4, 4), "psd": psd(2, 2, bytes(12)),
       "bmp": bmp(2, 2, bytes(16)), "tga": tga(2, 2, bytes(12)), "hdr": hdr(2, 1, b"\x80\x80\x80\x80" * 2),
       **{kind: TWO[kind][:len(TWO[kind]) // 2] for kind in ("pnm", "pam", "pfm")}}


def listed():
    return {kind["name"]: kind for kind in json.loads(expect(0, "--list-formats", "--json").out)}


def codecs():
    """The libraries that this build is said to have; None where nobody says it."""
    said = os.environ.get("IMGPIPE_CODECS")
    return None if said is None else set(PACKAGES) | {"jpeg"} if said == "all" else set(said.split())


def test_version_says_the_kinds():
    """--version, --list-formats and both in JSON tell the same, and it is what the build was configured for."""
    kinds, lines = listed(), expect(0, "--version").out.decode().splitlines()[1:]
    both = [name for name, kind in kinds.items() if kind["reads"] and kind["writes"]]
    only = [name for name, kind in kinds.items() if kind["reads"] and not kind["writes"]]
    lacks = [name for name, kind in kinds.items() if kind["package"]]
    want = [f"reads and writes {', '.join(both)}"] + ([f"reads {', '.join(only)}"] if only else [])
    want += ["built without " + ", ".join(f"{name} (the package {kinds[name]['package']})" for name in lacks)] if lacks else []
    check(lines == want, "--version:", lines, "and not", want)
    check(json.loads(expect(0, "--version", "--json").out)["formats"] == list(kinds.values()), "--version --json")
    if codecs() is not None:
        check(set(lacks) == set(PACKAGES) - codecs(), "left out are", lacks, "of", codecs())
        check(("jpeg" in codecs()) == kinds["jpeg"]["streams"], "JPEG through another library:", kinds["jpeg"])
    table = expect(0, "--list-formats").out.decode()
    for name in lacks:
        check(not any(kinds[name][what] for what in ("reads", "writes", "types")), "left out, and not:", kinds[name])
        check(kinds[name]["package"] == PACKAGES[name] and f"needs the package {PACKAGES[name]}" in table, table)


def test_kinds_left_out():
    """A kind that this build lacks is known by name, with the package that brings it, as an input and as an output."""
    for name, package in PACKAGES.items():
        if listed()[name]["reads"]:
            continue
        for data in BEGINS[name]:
            write("in.file", data)
            expect(1, "in.file", "-f", "gray", "out.png", says=f"{package} reads it")
            expect(1, "-", "-f", "gray", "out.png", says=f"{package} reads it", data=data)
        for out in (f"out.{name}", f"out.{name.upper()}"):
            expect(2, "in.png", "-f", "gray", out, says=f"does not write {name}; install the package {package}")
        expect(2, "in.png", "-f", "gray", "-", "--format", name, says=f"does not write {name}; install the package {package}")
        expect(2, "in.png", "-f", "gray", "folder/", "--format", name, says=package)
        os.mkdir("photos")
        write(f"photos/one.{name}", BEGINS[name][0])
        expect(1, "photos", "-f", "gray", "results/", says=package)
        os.remove(f"photos/one.{name}")
        os.rmdir("photos")
        os.remove("in.file")
        check(not os.path.exists("folder"), "a folder was made for nothing")
        check(not os.path.isdir("results") or os.listdir("results") in ([], [".imgpipe"]), "there is an output")


# ------------------------------------------------------------------------------------------------------------- pages

def test_pages_must_be_chosen():
    kinds, tried = listed(), 0
    for name, data in TWO.items():
        if not kinds[name]["reads"]:
            continue
        write("two", data)
        word = {"tiff": "2 pages", "gif": "2 frames", "webp": "2 frames"}.get(name, "2 images")
        result = expect(1, "two", "-f", "gray", "out.png", "-q", says=f"{word}.*--page N")
        check(len(result.err.splitlines()) == 1, "not one line:", result)
        for page in ("3", "2000000000"):
            expect(1, "two", "-f", "gray", "out.png", "--page", page, says="there is no page|and it has 2$")
        check(not os.path.exists("out.png"), name, "is written all the same")
        for page in ("1", "2"):
            check(run("two", "-f", "gray", "out.png", "--page", page, "-q").status == 0, name, "page", page)
        os.remove("out.png")
        tried += 1
    check(tried >= 4, "only", tried, "kinds")
    expect(2, "two", "-f", "gray", "out.png", "--page", "0", says="page")
    expect(2, "two", "-f", "gray", "out.png", "--page", "-1", says="page")


def test_one_page():
    """Page 1 is there in every file, and no other in these."""
    kinds = listed()
    for name, data in ONE.items():
        if not kinds[name]["reads"]:
            continue
        write("one", data)
        check(run("one", "-f", "gray", "out.png", "--page", "1", "-q").status == 0, name, "has no page 1")
        os.remove("out.png")
        result = expect(1, "one", "-f", "gray", "out.png", "--page", "2", says="no page 2|page 2 was asked for")
        check(len(result.err.splitlines()) == 1 and not os.path.exists("out.png"), "not one line, or an output:", result)
    check(run("in.png", "-o", "one.jpg", "-q").status == 0, "JPEG is not written")
    expect(1, "one.jpg", "-f", "gray", "out.png", "--page", "2", says="no page 2")


def test_reduced_copies():
    """Thumbnails and masks are no pages, wherever they stand; what is marked as reduced and alone is the image."""
    if not listed()["tiff"]["reads"]:
        return
    page, copy = (tags(2, 2), b"abcd"), (tags(1, 1, t254=(4, [1])), b"x")
    mask, old = (tags(2, 2, t254=(4, [4])), b"mask"), (tags(1, 1, t255=(3, [2])), b"y")
    for pages in ((page, copy), (copy, page), (page, mask), (old, copy, page, mask)):
        write("copies.tif", tiff(*pages))
        expect(0, "copies.tif", "out.pgm")
        check(read("out.pgm") == b"P5\n2 2\n255\nabcd", "not the image:", read("out.pgm"))
        expect(1, "copies.tif", "-f", "gray", "--page", "2", "other.pgm", says="page 2 was asked for, and it has 1")
        os.remove("out.pgm")
    write("copies.tif", tiff(copy, old))
    expect(0, "copies.tif", "out.pgm")
    check(read("out.pgm") == b"P5\n1 1\n255\nx", "not the first:", read("out.pgm"))
    write("copies.tif", tiff(page, copy, (tags(2, 2), b"efgh")))
    expect(1, "copies.tif", "-f", "gray", "other.pgm", says="2 pages")
    expect(0, "copies.tif", "-f", "median=1", "--page", "2", "second.pgm")
    check(read("second.pgm").endswith(b"efgh"), "not the second:", read("second.pgm"))
    left("in.png", "copies.tif", "out.pgm", "second.pgm")


# -------------------------------------------------------------------------------------------------- refused by name

RAW = {"CR2": (b"II*\0\x10\0\0\0CR\2\0" + bytes(100), "Canon CR2"), "CR3": (b"\0\0\0\x18ftypcrx " + bytes(40), "Canon CR3"),
       "RAF": (b"FUJIFILMCCD-RAW 0201" + bytes(100), "Fujifilm"), "RW2": (b"IIU\0\x18\0\0\0" + bytes(100), "Panasonic"),
       "ORF": (b"IIRO\x08\0\0\0" + bytes(100), "Olympus"), "ORF2": (b"IIRS\x08\0\0\0" + bytes(100), "Olympus"),
       "X3F": (b"FOVb" + bytes(100), "Sigma"), "MRW": (b"\0MRM" + bytes(100), "Minolta")}
# Raw files that are TIFF: what they show first is a small preview, which must not be taken.
PREVIEW = tags(2, 2, t254=(4, [1]))
RAW_TIFF = {"DNG": ([(tags(2, 2, t254=(4, [1]), t50706=(1, [1, 4, 0, 0])), b"abcd")], "DNG"),
            "NEF": ([(PREVIEW, b"abcd"), (tags(2, 2, t259=(3, [34713])), b"data")], "Nikon NEF"),
            "ARW": ([(PREVIEW, b"abcd"), (tags(2, 2, t259=(3, [32767])), b"data")], "Sony ARW"),
            "SRW": ([(PREVIEW, b"abcd"), (tags(2, 2, t259=(3, [32770])), b"data")], "Samsung SRW"),
            "PEF": ([(tags(2, 2, photometric=32803), b"abcd")], "colour filter array"),
            "DCR": ([(tags(2, 2, photometric=32803), b"abcd"), (PREVIEW, b"abcd")], "colour filter array")}


def refused_by_name(name, data, word):
    write(name, data)
    for args, how in (((name, "-f", "gray", "out.png"), {}), (("-", "-f", "gray", "out.png"), {"data": data}),
                      ((name, "-f", "gray", "--page", "1", "out.png"), {})):
        result = expect(1, *args, says=word, **how)
        check(len(result.err.splitlines()) == 1 and not os.path.exists("out.png"), "not one line, or an output:", result)
    os.remove(name)


def test_camera_raw():
    for name, (data, word) in RAW.items():
        refused_by_name(f"photo.{name}", data, word)
    for name, (pages, word) in RAW_TIFF.items() if listed()["tiff"]["reads"] else ():
        refused_by_name(f"photo.{name}", tiff(*pages), word)
        refused_by_name(f"photo.{name}", tiff(*pages, big_endian=True), word)


def test_sample_types():
    if not listed()["tiff"]["reads"]:
        return
    names = {1: "unsigned", 2: "signed", 3: "floating point", 5: "complex integer", 6: "complex floating point"}
    for bits, kind in ((8, 2), (16, 2), (32, 2), (10, 1), (12, 1), (14, 1), (32, 1), (64, 1), (16, 3), (24, 3), (64, 3), (32, 5),
                       (64, 6)):
        data = gray_tiff(2, 2, bytes(64), bits=bits, t339=(3, [kind]))
        refused_by_name("type.tif", data, f"samples of {bits} bits, {names[kind]}, in 1 channel")
    for photometric, channels, word in ((8, 3, r"CIE L\*a\*b\*"), (9, 3, r"ICC L\*a\*b\*"), (10, 3, r"ITU L\*a\*b\*"),
                                        (32844, 1, "LogL"), (32845, 3, "LogLuv"), (6, 3, "YCbCr"), (4, 1, "mask"),
                                        (77, 1, "unknown kind of colour")):
        refused_by_name("color.tif", tiff((tags(2, 2, 8, channels, photometric), bytes(64))), word)
    for compression, word in ((34712, "JPEG 2000"), (34661, "JBIG"), (32809, "ThunderScan"), (6, "old JPEG"),
                              (60000, "unknown compression")):
        refused_by_name("packed.tif", tiff((tags(2, 2, t259=(3, [compression])), bytes(64))), word)
    refused_by_name("many.tif", tiff((tags(2, 2, 8, 5, 2), bytes(64))), "5 channels")
    refused_by_name("volume.tif", tiff((tags(2, 2, t32997=(4, [3])), bytes(64))), "volumes")
    refused_by_name("inks.tif", tiff((tags(2, 2, 8, 5, 5), bytes(64))), "inks")


def test_other_kinds_by_name():
    for data, word in ((b"\0\0\0\x1cftypavif", "AVIF"), (b"\0\0\0\x18ftypheic", "HEIF"), (b"\xff\x0a", "JPEG XL"),
                       (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"), (b"v/1\1", "OpenEXR"), (b"%PDF-1.4\n", "PDF"),
                       (b"<?xml version='1.0'?><svg/>", "SVG"), (b"\x8aMNG\r\n\x1a\n", "MNG")):
        refused_by_name("other", data + bytes(60), word)
    refused_by_name("cmyk.psd", psd(2, 2, bytes(16)).replace(b"\0\x08\0\3", b"\0\x08\0\4"), "only RGB")
    refused_by_name("deep.psd", psd(2, 2, bytes(48), 32), "8 and 16 bits")
    refused_by_name("large.psb", b"8BPS\0\2" + bytes(40), "version")
    refused_by_name("runs.bmp", bmp(2, 2, bytes(16), 8).replace(b"\1\0\x08\0\0", b"\1\0\x08\0\1"), "run lengths")
    check(GIF_FRAME in gif(1), "a GIF without a frame")


def test_errors_are_one_line():
    """What would be said of an output is not said where there will be none."""
    data = b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE OTHER\nENDHDR\n" + bytes(8)
    write("data.pam", data)
    for out, more, status, says in (("out.png", (), 1, "png cannot hold"), ("none/out.pam", (), 4, "none/out.pam"),
                                    ("out.jpg", ("--depth", "16"), 2, "jpeg cannot hold"), ("out.bmp", (), 1, "bmp cannot hold")):
        result = expect(status, "data.pam", "-f", "blur=1", "-o", out, *more, says=says)
        check(len(result.err.splitlines()) == 1, "not one line:", result)
    expect(0, "data.pam", "-f", "blur=1", "-o", "out.pam", says="names no alpha")


# ------------------------------------------------------------------------------------------------------ pixels

NAMES = {1: "GRAYSCALE", 2: "GRAYSCALE_ALPHA", 3: "RGB", 4: "RGB_ALPHA"}


def pam(width, height, channels, maxval, pixels):
    head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {maxval}\nTUPLTYPE {NAMES[channels]}\nENDHDR\n"
    return head.encode() + pixels


def test_types_of_written_png():
    """The type of the samples alone decides: no palette for few colours, no gray for equal channels, no less for opaque alpha."""
    for channels, color in ((1, 0), (2, 4), (3, 2), (4, 6)):
        for depth in (8, 16):
            for level in ("0", "4", "9"):
                write("flat.pam", pam(40, 30, channels, (1 << depth) - 1, b"\xff" * (40 * 30 * channels * depth // 8)))
                expect(0, "flat.pam", "-o", "flat.png", "--level", level)
                data = read("flat.png")
                check(data[24:29] == bytes((depth, color, 0, 0, 0)), f"{depth} bits, {channels} channels became", data[24:29])
                check(b"PLTE" not in data and b"tRNS" not in data, "a palette or a transparent colour was written")


def test_depths():
    """Every value of 8 and 16 bits into every other type, and what floats become."""
    bytes8, words = bytes(range(256)), b"".join(v.to_bytes(2, "big") for v in range(65536))
    write("eight.pgm", b"P5\n256 1\n255\n" + bytes8)
    write("sixteen.pgm", b"P5\n256 256\n65535\n" + words)
    expect(0, "eight.pgm", "-o", "out.pgm", "--depth", "16")
    check(read("out.pgm") == b"P5\n256 1\n65535\n" + b"".join((257 * v).to_bytes(2, "big") for v in range(256)), "8 to 16 bits")
    expect(0, "sixteen.pgm", "-o", "out.pgm", "--depth", "8")
    check(read("out.pgm") == b"P5\n256 256\n255\n" + bytes((v + 128) // 257 for v in range(65536)), "16 to 8 bits")
    for name, top, width, height in (("eight", 255, 256, 1), ("sixteen", 65535, 256, 256)):
        expect(0, f"{name}.pgm", "-o", "out.pfm", "--depth", "f32")
        rows = [struct.pack("<256f", *(v / top for v in range(256 * y, 256 * y + 256))) for y in range(height)]
        check(read("out.pfm") == b"Pf\n%d %d\n-1.0\n" % (width, height) + b"".join(reversed(rows)), f"{top} to float")
        expect(0, "out.pfm", "-o", "back.pgm", "--depth", "8" if top == 255 else "16")
        check(read("back.pgm") == read(f"{name}.pgm"), f"{top} to float and back")
    values = [0.0, 1.0, 0.5, -0.0, 1.5 / 255, 2.4999 / 255, 254.5 / 255, -0.25, 1.75, float("nan"), float("inf"), float("-inf")]
    floats = struct.unpack("<12f", struct.pack("<12f", *values))
    want = [0 if v != v else int(min(max(v, 0), 1) * 255 + 0.5) for v in floats]
    write("in.pfm", b"Pf\n12 1\n-1\n" + struct.pack("<12f", *values))
    expect(0, "in.pfm", "-o", "out.pgm", "--depth", "8", says=r"outside 0\.\.\.1 \(-inf to inf\)|-0\.25 to 1\.75")
    check(list(read("out.pgm")[-12:]) == want, "floats:", list(read("out.pgm")[-12:]), want)
    write("all.pfm", b"Pf\n2 1\n-1\n" + struct.pack("<2f", 300, -2))
    message = r"every sample lies outside 0\.\.\.1 \(-2 to 300\).*levels=-2:300:0:1"
    expect(1, "all.pfm", "-o", "none.pgm", "--depth", "8", says=message)
    write("one.pfm", b"Pf\n2 1\n-1\n" + struct.pack("<2f", 300, 300))
    expect(1, "one.pfm", "-o", "none.pgm", "--depth", "8", says=r"every sample is 300, outside 0\.\.\.1", lacks="levels")
    write("nan.pfm", b"Pf\n2 1\n-1\n" + struct.pack("<2f", float("nan"), float("nan")))
    expect(1, "nan.pfm", "-o", "none.pgm", "--depth", "8", says="every sample is NaN")
    check(not os.path.exists("none.pgm"), "an image of which nothing is left was written")
    expect(2, "in.png", "-o", "out.jpg", "--depth", "16", says="jpeg cannot hold samples of depth 16")
    expect(2, "in.png", "-o", "out2.png", "--depth", "f32", says="png cannot hold samples of depth f32")


def test_no_fringe():
    """Half is opaque and red, half transparent and green: no green shows, however it is smoothed; no alpha, no colour."""
    for maxval, size in ((255, 1), (65535, 2)):
        full, none = maxval.to_bytes(size, "big"), bytes(size)
        red, green = full + none + none + full, none + full + none + none
        write("half.pam", pam(40, 20, 4, maxval, (red * 20 + green * 20) * 20))
        for chain in ("blur=3", "box=7", "blur=0.8,blur=5", "box=3,blur=2"):
            expect(0, "half.pam", "-f", chain, "-o", "out.pam")
            pixels = read("out.pam").split(b"ENDHDR\n")[1]
            pixels = [pixels[i:i + 4 * size] for i in range(0, len(pixels), 4 * size)]
            partly = sum(p[3 * size:] not in (full, none) for p in pixels)
            wrong = [p for p in pixels if p[:3 * size] != (red[:3 * size] if p[3 * size:] != none else bytes(3 * size))]
            check(partly >= 40 and not wrong, f"{chain} of {8 * size} bits:", partly, "soft,", len(wrong), "wrong:", wrong[:2])
            if not listed()["tiff"]["writes"]:
                continue
            # In float, of which nearly transparent pixels become transparent ones here.
            expect(0, "half.pam", "-f", chain, "-o", "float.tif", "--depth", "f32")
            expect(0, "-q", "float.tif", "-o", "out.pam", "--depth", str(8 * size))
            pixels = read("out.pam").split(b"ENDHDR\n")[1]
            wrong = sum(pixels[i:i + 2 * size] != bytes(2 * size) for i in range(size, len(pixels), 4 * size))
            check(not wrong and len(pixels) == 40 * 20 * 4 * size, f"{chain} of floats:", wrong, "pixels are not red")


# ------------------------------------------------------------------------------------------------- one row, one column

LONG = 1000001


def test_one_row_one_column():
    """Through a local filter, from each kind and into each: box=3 of a line is the mean of three samples, three times each."""
    line = bytes((x * x >> 5) & 255 for x in range(LONG))
    padded = line[:1] + line + line[-1:]
    want = bytes((3 * (padded[x] + padded[x + 1] + padded[x + 2]) + 4) // 9 for x in range(LONG))
    kinds = [kind for kind in ("png", "tif", "pgm", "pam") if kind != "tif" or listed()["tiff"]["writes"]]
    for width, height in ((LONG, 1), (1, LONG)):
        head = b"P5\n%d %d\n255\n" % (width, height)
        write("line.pgm", head + line)
        for kind in kinds:
            if kind != "pgm":
                expect(0, "line.pgm", "-o", f"line.{kind}")
            expect(0, f"line.{kind}", "-f", "box=3", "-o", f"out.{kind}")
            expect(0, f"out.{kind}", "-o", "back.pgm", "--memory", "64M")
            check(read("back.pgm") == head + want, f"{width} x {height} as {kind}: other samples")
        for out in ("out.jpg", "out.webp") if listed()["webp"]["writes"] else ("out.jpg",):
            result = expect(1, "line.pgm", "-f", "box=3", out, says=f"cannot hold an image of {width} x {height} pixels")
            check(not os.path.exists(out) and len(result.err.splitlines()) == 1, "not one line, or an output:", result)
