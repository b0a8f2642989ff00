"""Files that are damaged, or made to do damage: empty and with a wrong name, of sizes that cannot be, compressed a thousandfold,
without an end. Each must be refused in one line, soon, and without taking memory for what it claims; or be read right."""
import json
import os
import random
import re
import struct
import subprocess
import time
import zlib

from harness import PROGRAM, check, environment, expect, left, png, read, run, write
from makers import GIF_FRAME, bmp, chunk, gif, gray_tiff, hdr, pam, png_of, psd, riff, tags, tga, tiff, webp

SECONDS = 20     # far more than any of these needs
MEGABYTES = 160  # beyond what the file itself takes
SANITIZED = os.environ.get("IMGPIPE_SANITIZED")


def listed():
    return {kind["name"]: kind for kind in json.loads(expect(0, "--list-formats", "--json").out)}


def measured(*args, data=None):
    """Status, what is said, seconds and resident memory of one run."""
    begin = time.monotonic()
    process = subprocess.Popen([PROGRAM, *args], stdin=subprocess.DEVNULL if data is None else subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment())
    if data is not None:
        try:
            process.stdin.write(data)
            process.stdin.close()
        except BrokenPipeError:
            pass
    err = process.stderr.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    return process.returncode, err, time.monotonic() - begin, usage.ru_maxrss / 1024


def harmless(what, data, *options, status=1, says=None, chain="gray"):
    """As a file and through a pipe. Returns what was said."""
    write("claim", data)
    for args, piped in ((("claim",), None), (("-",), data)):
        got, err, seconds, megabytes = measured(*args, "-q", "-f", chain, "-o", "out.png", *options, data=piped)
        check(got == status, f"{what}: status {got}:", err[:300])
        check(status or not err, f"{what}: is not silent:", err[:300])
        check(not status or (len(err.splitlines()) == 1 and err.startswith("imgpipe: ")), f"{what}: not one line:", err[:300])
        check(not says or re.search(says, err), f"{what}: it lacks {says!r}:", err[:300])
        check(seconds < SECONDS or SANITIZED, f"{what}: it took", seconds, "s")
        check(megabytes < MEGABYTES + 3 * len(data) / 1e6 or SANITIZED, f"{what}: it took", megabytes, "MB")
        check(os.path.exists("out.png") == (status == 0), f"{what}: an output, or none")
        if os.path.exists("out.png"):
            os.remove("out.png")
    os.remove("claim")


def test_empty_and_zero():
    """Nothing, and nothing but zeros, under every name."""
    for extension in ("png", "jpg", "tif", "webp", "pnm", "pam", "pfm", "bmp", "tga", "hdr", "gif", "psd", "dat"):
        for size in (0, 1, 2, 17, 18, 64, 4096, 1 << 20):
            name = f"zeros.{extension}"
            write(name, bytes(size))
            result = expect(1, name, "-f", "gray", "out.png", says=name)
            check(len(result.err.splitlines()) == 1, "not one line:", result)
            check(size or "empty" in result.err or "no image" in result.err, "of an empty file:", result)
            os.remove(name)
    expect(1, "-", "-f", "gray", "out.png", says="standard input", data=b"")
    expect(1, "-", "-f", "gray", "out.png", says="standard input", data=bytes(1 << 20))
    left("in.png")


def test_wrong_extensions():
    """The kind of a file is its content, whatever its name says: all pairs."""
    kinds = [kind for kind in listed().values() if kind["writes"]]
    check(len(kinds) >= 8, "only", len(kinds), "kinds")
    for kind in kinds:
        right = f"right.{kind['extensions'].split()[0]}"
        check(run("in.png", "-q", "-f", "blur=1", right).status == 0, right)
        run(right, "-q", "-f", "invert", "want.ppm", "--overwrite", "always")
        for other in [word for k in listed().values() for word in k["extensions"].split()] + ["txt", "cr2", "PNG"]:
            wrong = f"wrong.{other}"
            write(wrong, read(right))
            check(run(wrong, "-q", "-f", "invert", "got.ppm", "--overwrite", "always").status == 0, right, "as", wrong)
            check(read("got.ppm") == read("want.ppm"), right, "as", wrong, "has other pixels")
            os.remove(wrong)


# ------------------------------------------------------------------------------------------------------- sizes

BOMB = 787402  # 787402 x 787402 pixels are 620 thousand million


def test_dimension_bombs():
    """1.2 MB that claim 787,402 x 787,402 pixels, of each kind whose header can say so; with and without the limit."""
    filler = zlib.compress(random.Random(1).randbytes(1 << 20))[:-4] + bytes(150000)
    for depth, color in ((1, 0), (8, 0), (8, 2), (16, 6)):
        for interlaced in (0, 1):
            data = png_of(BOMB, BOMB, filler, depth, color, interlaced=interlaced)
            harmless(f"PNG of {depth} bits", data, says="--max-pixels")
            harmless(f"PNG of {depth} bits without a limit", data, "--max-pixels", "0")
    for name, data in (("PBM", b"P4 %d %d\n" % (BOMB, BOMB)), ("PGM", b"P5 %d %d 255\n" % (BOMB, BOMB)),
                       ("plain PPM", b"P3 %d %d 9\n" % (BOMB, BOMB)), ("PAM", pam(BOMB, BOMB, 4, 65535)),
                       ("PFM", b"PF %d %d -1\n" % (BOMB, BOMB)), ("BMP", bmp(BOMB, BOMB)), ("HDR", hdr(BOMB, BOMB)),
                       ("PSD", psd(BOMB, BOMB))):
        data += bytes(1200000)
        harmless(name, data, says="--max-pixels|version|not supported|truncated or broken")
        harmless(f"{name} without a limit", data, "--max-pixels", "0")
    if listed()["tiff"]["reads"]:
        for channels, bits, more in ((1, 1, {}), (3, 8, {}), (4, 16, {}), (3, 8, {"t259": (3, [8])})):
            data = tiff((tags(BOMB, BOMB, bits, channels, 2 if channels > 2 else 1, **more), bytes(1200000)))
            harmless(f"TIFF of {channels} x {bits} bits", data, says="--max-pixels")
            harmless(f"TIFF of {channels} x {bits} bits without a limit", data, "--max-pixels", "0")
    # Kinds that count to 65535 or 16384: all that they can say.
    more = bytes(1200000)
    for name, data in (("GIF", gif(1, 65535, 65535)), ("TGA", tga(65535, 65535, more)), ("BMP", bmp(65535, 65535, more)),
                       ("PSD", psd(30000, 30000, more)), ("HDR", hdr(65535, 65535, more)),
                       ("WebP", webp(2, 16384, 16384) if listed()["webp"]["reads"] else None)):
        if data:
            harmless(f"the largest {name}", data, "--memory", "256M")
            harmless(f"the largest {name} of a limit", data, "--max-pixels", "1000000", says="--max-pixels|truncated")


def test_overflows():
    """Width x height x channels x bytes beyond 31, 32 and 63 bits, and sides beyond 31, 32 and 64."""
    top, word = 2 ** 31 - 1, 2 ** 32
    products = ((46341, 46341), (65536, 32768), (65536, 65536), (65537, 65537), (32768, 65536), (top, 1), (1, top), (2 ** 30, 4),
                (4, 2 ** 30), (top, top), (top, 2), (3037000500, 3037000500), (2 ** 31, 1), (1, 2 ** 31), (word, 1), (word + 1, 1),
                (1, word + 1), (word - 1, word - 1), (2 ** 63, 2), (2 ** 64 + 1, 1), (2 ** 64, 2 ** 64))
    for width, height in products:
        kinds = [("PGM", b"P5 %d %d 255\n" % (width, height)), ("PPM", b"P6 %d %d 65535\n" % (width, height)),
                 ("PFM", b"PF %d %d -1\n" % (width, height)), ("PAM", pam(width, height, 4, 65535)), ("HDR", hdr(width, height))]
        if max(width, height) < 2 ** 32:
            kinds += [("PNG", png_of(width, height, zlib.compress(bytes(100)), 16, 6)), ("PSD", psd(width, height, bytes(64))),
                      ("interlaced PNG", png_of(width, height, zlib.compress(bytes(100)), 16, 6, interlaced=1))]
            if listed()["tiff"]["reads"]:
                kinds += [("TIFF", tiff((tags(width, height, 16, 4, 2), bytes(64)))),
                          ("tiles", tiff((tags(width, height, 8, 3, 2, t322=(4, [top - 15]), t323=(4, [top - 15])), bytes(64))))]
        if max(width, height) < 2 ** 31:
            kinds += [("BMP", bmp(width, height, bytes(64))), ("BMP of 8 bits", bmp(width, height, bytes(64), 8)),
                      ("BMP from the top", bmp(width, -height, bytes(64), 32))]
        for name, data in kinds:
            harmless(f"{name} of {width} x {height}", data, "--max-pixels", "0", "--memory", "256M", chain="invert")
    harmless("a BMP of the least height", bmp(1, -2 ** 31, bytes(64)), "--max-pixels", "0", "--memory", "256M")


# --------------------------------------------------------------------------------------------------------- bombs

def zeros(count, level=9):
    """What `count` zero bytes compress to, without having them all at once."""
    packer, out = zlib.compressobj(level), []
    for at in range(0, count, 1 << 20):
        out.append(packer.compress(bytes(min(1 << 20, count - at))))
    return b"".join(out) + packer.flush()


def test_compressed_bombs():
    """A thousandfold compressed: refused by --max-pixels from the header alone; without it read in little memory, or refused."""
    side = 6000
    data = png_of(side, side, zeros(side * (side + 1)))
    check(len(data) < 60000, "the bomb has", len(data), "bytes")
    harmless("PNG", data, "--max-pixels", str(side * side - 1), says=f"{side} [x×] {side}.*--max-pixels")
    harmless("PNG", data, "--max-pixels", str(side * side), "--memory", "32M", status=0)
    harmless("interlaced PNG", png_of(side, side, zeros(1000), interlaced=1), "--memory", "32M", says="--memory")
    if listed()["tiff"]["reads"]:
        data = gray_tiff(side, side, zeros(side * side), t259=(3, [8]))
        harmless("TIFF", data, "--max-pixels", "1000000", says="--max-pixels")
        harmless("TIFF of one strip, which is read by rows", data, "--memory", "8M", status=0)
        tile = {"t322": (4, [side]), "t323": (4, [side]), "t324": (4, [8]), "t325": (4, [40000])}
        data = gray_tiff(side, side, zeros(side * side), t259=(3, [8]), **tile)
        harmless("TIFF of one tile", data, "--memory", "8M", says="--memory")
        # A strip that holds a thousand times what it should.
        harmless("TIFF with too much", gray_tiff(10, 10, zeros(100 << 20), t259=(3, [8])), status=0)
    if listed()["webp"]["reads"]:
        harmless("WebP", webp(1, 16384, 16384), "--max-pixels", "1000000", says="--max-pixels")
        harmless("WebP beyond memory", webp(1, 16384, 16384), "--memory", "32M", says="--memory")
        harmless("an animation", webp(500, 1000, 1000), "--max-pixels", "1000000", "--page", "500", says="--max-pixels")
    # A run of a PSD or a TGA makes 128 pixels of two to five bytes.
    packed = tga(65535, 65535, b"\xff\0\0\0" * 300000).replace(b"\0\0\2", b"\0\0\x0a", 1)
    harmless("TGA", packed, "--memory", "64M", says="--memory")
    # What would be gone through pixel by pixel although it is not there.
    for name, data in (("TGA", tga(20000, 20000)), ("packed TGA", tga(20000, 20000).replace(b"\0\0\2", b"\0\0\x0a", 1)),
                       ("BMP", bmp(20000, 20000)), ("BMP of 8 bits", bmp(20000, 20000, bytes(1024), 8)),
                       ("HDR", hdr(10000, 10000))):
        harmless(f"an empty {name}", data, "--memory", "8G", says="truncated")
    harmless("an animated GIF", gif(300, 1000, 1000), "--max-pixels", "1000000", "--page", "300", says="--max-pixels")


def test_bombs_beside_the_pixels():
    """Texts and profiles that inflate a thousandfold are left out, with a warning."""
    bomb = b"profile\0\0" + zeros(200 << 20)
    for kind, data in ((b"iCCP", bomb), (b"zTXt", bomb), (b"iTXt", b"key\0\1\0\0\0" + zeros(200 << 20))):
        write("bomb.png", png_of(4, 4, zlib.compress(bytes(20)), before=chunk(kind, data)))
        status, err, seconds, megabytes = measured("bomb.png", "-f", "gray", "-o", "out.png")
        check(status == 0 and "imgpipe: " in err, kind, "is not refused with a warning:", status, err)
        check(SANITIZED or (seconds < SECONDS and megabytes < MEGABYTES), kind, "took", seconds, "s and", megabytes, "MB")
        check(os.path.getsize("out.png") < 2000, kind, "is in the output")


# ------------------------------------------------------------------------------------------------- without an end

def test_decoders_that_would_hang():
    """Loops in files, and much work for few bytes: an answer comes soon."""
    if listed()["tiff"]["reads"]:
        page = (tags(2, 2), b"abcd")
        harmless("pages in a circle", tiff(page, page, page, circle=True), says="circle")
        harmless("pages in a circle, one wanted", tiff(page, page, circle=True), "--page", "7", says="circle")
        own = bytearray(tiff((tags(2, 2, t330=(4, [8])), b"abcd")))
        first = struct.unpack_from("<I", own, 4)[0]
        own = own.replace(struct.pack("<HHII", 330, 4, 1, 8), struct.pack("<HHII", 330, 4, 1, first))
        harmless("a directory below itself", bytes(own), status=0)
        # Nothing but strips, of one row and no bytes each.
        rows = 300000
        harmless("many empty strips", tiff(({**tags(1, rows), 278: (4, [1]), 273: (4, [8] * rows), 279: (4, [0] * rows)}, b"")))
    data = zlib.compress(bytes(20))
    head = png_of(4, 4, data).split(chunk(b"IDAT", data))
    for name, middle, status in (("empty IDAT chunks", chunk(b"IDAT", b"") * 200000 + chunk(b"IDAT", data), 0),
                                 ("empty texts", chunk(b"tEXt", b"k\0") * 200000 + chunk(b"IDAT", data), 0),
                                 ("no end", chunk(b"IDAT", data[:-5]) + chunk(b"IDAT", b"") * 200000, 1),
                                 ("empty blocks", chunk(b"IDAT", b"\x78\x01" + b"\0\0\0\xff\xff" * 400000), 1)):
        write("many.png", head[0] + middle + head[1])
        got, err, seconds, _ = measured("many.png", "-f", "gray", "-o", "out.png")
        check(got == status and (seconds < SECONDS or SANITIZED), f"PNG with {name}: status {got} after {seconds} s:", err[:200])
    harmless("a GIF of empty blocks", gif(1).replace(GIF_FRAME, b"!\xfe\0" * 1000000 + GIF_FRAME), status=0)
    clear = b",\0\0\0\0" + struct.pack("<HH", 900, 900) + b"\0\2" + (b"\xff" + b"\x24\x49\x92" * 85) * 10000
    harmless("a GIF of codes that clear the table", gif(1, 900, 900).replace(GIF_FRAME, clear), says="GIF")
    harmless("a GIF of many frames", gif(50000), says="frames")
    harmless("a GIF of many frames, the last", gif(50000), "--page", "50000", status=0)
    harmless("an HDR without an end of its header", b"#?RADIANCE\n" + b"A=b\n" * 1000000)
    harmless("an HDR of zeros", hdr(30000, 30000, bytes(1000000)), "--memory", "20G")
    harmless("a PNM of comments", b"P2\n" + b"# no number\n" * 500000)
    harmless("a PNM of blanks", b"P3 2 2 255\n" + b" " * 5000000)
    harmless("a PAM of empty lines", b"P7\n" + b"\n" * 3000000)
    harmless("digits without end", b"P5 " + b"0" * 3000000 + b"1 1 255\na", status=0)
    if listed()["webp"]["reads"]:
        harmless("a WebP of empty chunks", riff((b"VP8X", bytes(4) + b"\3\0\0\3\0\0"), *[(b"junk", b"")] * 300000))
        harmless("a WebP of many frames", webp(5000), says="5000 frames")
    run("in.png", "-q", "in.jpg")
    jpeg = read("in.jpg")
    harmless("a JPEG of fill bytes", jpeg[:2] + b"\xff" * 3000000 + jpeg[2:], status=0)
    harmless("a JPEG of comments", jpeg[:2] + b"\xff\xfe\0\2" * 500000 + jpeg[2:], status=0)


# ------------------------------------------------------------------------------------------------------ one line

def test_error_after_a_notice():
    """What was to be said of an output that never came is not said beside the error."""
    write("alpha.png", png(900, 700, color=6))
    expect(0, "alpha.png", "-o", "out.ppm", says="^imgpipe: pnm has no alpha.*\n$")
    write("cut.png", read("alpha.png")[:-3000])
    os.mkdir("in")
    for name in ("cut.png", "in/cut.png"):
        write(name, read("alpha.png")[:-3000])
    result = expect(1, "cut.png", "-f", "invert", "-o", "out2.ppm", says="cannot read 'cut.png'")
    check(result.err.count("\n") == 1, "there is more than the error:", result)
    result = expect(1, "in", "-f", "invert", "--format", "ppm", "out/", says="cannot read 'in/cut.png'")
    check("alpha" not in result.err, "there is more than the error:", result)
    check("alpha" in run("-v", "cut.png", "-f", "invert", "-o", "out2.ppm").err, "-v does not show all")


def test_plain_numbers_that_may_be_cut():
    """A number at the end of the file, behind which more digits may have stood; one that is complete needs no white space."""
    for maxval, last, status in ((255, "12", 1), (255, "1", 1), (255, "25", 1), (255, "26", 0), (255, "120", 0), (255, "0", 0),
                                 (9, "7", 0), (65535, "6554", 0), (65535, "6553", 1)):
        data = f"P2\n2 2\n{maxval}\n1 2 3 {last}".encode()
        write("end.pgm", data)
        expect(status, "end.pgm", "-o", "out.ppm", says="may be cut inside that number.*add a newline" if status else None)
        write("end.pgm", data + b"\n")
        expect(0, "end.pgm", "-o", "want.ppm")
        write("end.pgm", data)
        expect(0, "end.pgm", "-o", "out.ppm", "--allow-truncated", says="warning.*may be a part" if status else None)
        check(read("out.ppm") == read("want.ppm"), "the last sample is wrong with", maxval, last)
