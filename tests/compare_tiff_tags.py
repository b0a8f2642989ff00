#!/usr/bin/env python3
"""What of TIFF is refused, and by which words; pages; and metadata, which must come out as they went in.

usage: compare_tiff_tags.py IMGPIPE        exit status 0, 1, or 77 where numpy, Pillow, OpenCV or tiffcp is missing"""
import os
import struct
import subprocess
import sys

import tiff_files
from tiff_files import HEIGHT, WIDTH, Image, basic, check, compare, convert, directories, directory, noise, np, run, tiff


def test_refused():
    more = [Image.fromarray(noise(1, np.uint8)), Image.fromarray(noise(4, np.uint8))]
    Image.fromarray(noise(3, np.uint8)).save("pages.tif", save_all=True, append_images=more)
    one = b"\0" * 64
    for name, path, text in (
            ("pages", "pages.tif", "3 pages"),
            ("signed", tiff("r1.tif", basic(2, 2, 16, 1, 1, t339=(3, [2])), one), "signed"),
            ("double", tiff("r2.tif", basic(2, 2, 64, 1, 1, t339=(3, [3])), one), "64 bits, floating point"),
            ("half", tiff("r3.tif", basic(2, 2, 16, 1, 1, t339=(3, [3])), one), "16 bits, floating point"),
            ("complex", tiff("r4.tif", basic(2, 2, 64, 1, 1, t339=(3, [6])), one), "complex"),
            ("32 bit", tiff("r5.tif", basic(2, 2, 32, 1, 1), one), "32 bits, unsigned"),
            ("12 bit", tiff("r6.tif", basic(2, 2, 12, 1, 1), one), "12 bits"),
            ("Lab", tiff("r7.tif", basic(2, 2, 8, 3, 8), one), "L*a*b*"),
            ("YCbCr", tiff("r8.tif", basic(2, 2, 8, 3, 6, t530=(3, [1, 1])), one), "YCbCr"),
            ("five channels", tiff("r9.tif", basic(2, 2, 8, 5, 2, t338=(3, [0, 0])), one), "5 channels"),
            ("old JPEG", tiff("r10.tif", {**basic(2, 2, 8, 3, 6), 259: (3, [6])}, one), "old JPEG"),
            ("CFA", tiff("r11.tif", basic(4, 4, 16, 1, 32803), one), "camera raw"),
            ("DNG", tiff("r12.tif", basic(4, 4, 8, 1, 1, t50706=(1, [1, 4, 0, 0])), one), "camera raw file (DNG)"),
            ("CR2", tiff("r13.tif", basic(4, 4, 8, 1, 1), one), None),
            ("bomb", tiff("r14.tif", basic(787402, 787402, 8, 1, 1), one), "--max-pixels"),
            ("overflow", tiff("r15.tif", basic(0xffffffff, 0xffffffff, 8, 1, 1), one), "2147483647"),
            ("no pixels", tiff("r16.tif", basic(0, 4, 8, 1, 1), one), "no pixels"),
            ("short", tiff("r17.tif", basic(9, 9, 8, 1, 1), one), "truncated")):
        if name == "CR2":
            with open(path, "rb") as file:
                data = file.read()
            with open(path, "wb") as file:
                file.write(data[:8] + b"CR\2\0" + data[12:])
            text = "Canon CR2"
        result = run(path, "-o", "refused.png")
        check(result.returncode == 1 and text in result.stderr and not os.path.exists("refused.png"),
              f"{name}: exit status {result.returncode}, {result.stderr.strip()}")
        check(result.stderr.count("\n") == 1, f"{name}: not one line: {result.stderr}")
    # A raw file's first directory is its preview; the sensor's data are below it.
    sub = tiff("sub.tif", basic(4, 4, 16, 1, 32803), one)
    with open(sub, "rb") as file:
        below = file.read()
    preview = tiff("nef.tif", basic(2, 2, 8, 1, 1, t254=(4, [1]), t330=(4, [0])), one)
    data = bytearray(open(preview, "rb").read())
    for at in range(10, 10 + 12 * 11, 12):
        if struct.unpack_from("<H", data, at)[0] == 330:
            struct.pack_into("<I", data, at + 8, len(data) + 8)
    with open(preview, "wb") as file:
        file.write(bytes(data) + below)
    result = run(preview, "-o", "refused.png")
    check(result.returncode == 1 and "camera raw" in result.stderr, f"NEF: {result.stderr.strip()}")
    for page, want in ((1, noise(3, np.uint8)), (2, noise(1, np.uint8)), (3, noise(4, np.uint8))):
        compare(f"page {page}", "pages.tif", want, "--page", page)
    result = run("pages.tif", "-o", "refused.png", "--page", 4)
    check(result.returncode == 1 and "has 3" in result.stderr, f"page 4: {result.stderr.strip()}")


def test_metadata():
    geo = {33550: (12, [0.5, 0.25, 0.0]), 33922: (12, [0.0, 0.0, 0.0, 10.5, 47.25, 0.0]), 34735: (3, [1, 1, 0, 1, 1024, 0, 1, 2]),
           34736: (12, [6378137.0, 298.257223563]), 34737: (2, b"WGS 84|\0"), 42112: (2, b"<GDALMetadata></GDALMetadata>\0"),
           42113: (2, b"-9999\0")}
    text = {270: (2, b"a description\0"), 315: (2, "J\u00f6rg\0".encode()), 33432: (2, b"2024\0"), 305: (2, b"a program\0"),
            306: (2, b"2024:01:02 03:04:05\0"), 271: (2, b"Maker\0"), 272: (2, b"Model 1\0"), 274: (3, [6]), 282: (5, [300, 1]),
            283: (5, [600, 1]), 296: (3, [2]), 700: (1, b"<x:xmpmeta/>"), 33723: (7, b"\x1c\x02\x05\x00\x05title")}
    pixels = noise(1, np.uint8)
    for big in (False, True):
        source, target = "meta.tif", "meta2.tif"
        tags = basic(WIDTH, HEIGHT, 8, 1, 1)
        tags.update({tag: (kind, list(values)) for tag, (kind, values) in {**geo, **text}.items()})
        tiff(source, tags, pixels.tobytes(), big)
        warnings = convert(source, target, "-f", "invert")
        before, after = directory(source), directory(target)
        for tag in [*geo, *text]:
            if tag == 33723:
                raw = directories(target)[tag][1]
                check(raw.rstrip(b"\0") == bytes(text[tag][1]), f"IPTC: {raw!r}")
                continue
            check(before.get(tag) == after.get(tag) and tag in after,
                  f"tag {tag}, big-endian {big}: {before.get(tag)!r} became {after.get(tag)!r}")
        check("damaged" not in warnings, warnings)
        convert(source, target, "-f", "hist")
        left = directory(target)
        check(not any(tag in left for tag in [*geo, *text]), f"the chart carries {sorted(set(left) & set([*geo, *text]))}")
        convert(source, "meta.png")
        convert("meta.png", target)
        after = directory(target)
        for tag in (270, 315, 33432, 305, 271, 272, 274):
            check(before.get(tag) == after.get(tag), f"through PNG, tag {tag}: {before.get(tag)!r} became {after.get(tag)!r}")
    ome = b'<?xml version="1.0"?><OME xmlns="x"><Image/></OME>\0'
    tiff("ome.tif", basic(WIDTH, HEIGHT, 8, 1, 1, t270=(2, list(ome))), pixels.tobytes())
    convert("ome.tif", "ome2.tif", "-f", "blur=1")
    check(directory("ome2.tif").get(270) == ome[:-1].decode(), "OME is lost")


def with_exif(path, big):
    """A TIFF file with EXIF and GPS directories behind its pixels."""
    exif = {33434: (5, [1, 250]), 36867: (2, list(b"2024:01:02 03:04:05\0")),
            37380: (10, [-1, 3]), 37500: (7, list(range(41))), 40961: (3, [1])}
    gps = {1: (2, list(b"N\0")), 2: (5, [47, 1, 30, 1, 1234, 100])}
    order, sizes = ">" if big else "<", {1: "B", 2: "B", 3: "H", 4: "I", 5: "I", 7: "B", 10: "i"}
    tags = {**basic(WIDTH, HEIGHT, 8, 3, 2), 271: (2, list(b"Maker\0")), 34665: (4, [0]), 34853: (4, [0])}
    data = bytearray(open(tiff(path, tags, noise(3, np.uint8).tobytes(), big), "rb").read())
    for pointer, content in ((34665, exif), (34853, gps)):
        data += b"\0" * (len(data) % 2)
        at = len(data)
        table, tail = struct.pack(order + "H", len(content)), b""
        for tag, (kind, values) in content.items():
            block = struct.pack(f"{order}{len(values)}{sizes[kind]}", *values)
            table += struct.pack(order + "HHI", tag, kind, len(values) // 2 if kind in (5, 10) else len(values))
            if len(block) > 4:
                table += struct.pack(order + "I", at + 2 + 12 * len(content) + 4 + len(tail))
                tail += block + b"\0" * (len(block) % 2)
            else:
                table += block.ljust(4, b"\0")
        data += table + b"\0\0\0\0" + tail
        for entry in range(10, 10 + 12 * (len(tags) + 2), 12):
            if struct.unpack_from(order + "H", data, entry)[0] == pointer:
                struct.pack_into(order + "I", data, entry + 8, at)
    with open(path, "wb") as file:
        file.write(data)


def test_exif():
    """A camera's EXIF and GPS directories: every value the same, in both byte orders, also by way of a PNG."""
    for big in (False, True):
        source, target = "exif.tif", "exif2.tif"
        with_exif(source, big)
        before = directories(source)
        convert(source, target, "-f", "invert")
        after = directories(target)
        convert(source, "exif.png")
        convert("exif.png", "exif3.tif")
        again = directories("exif3.tif")
        for which in (34665, 34853, 271):
            check(before[which] == after.get(which), f"big-endian {big}, {which}: {before[which]} became {after.get(which)}")
            check(before[which] == again.get(which),
                  f"big-endian {big}, through PNG, {which}: {before[which]} became {again.get(which)}")
        with Image.open("exif.png") as image:
            check(image.getexif().get(271) == "Maker", "Pillow does not find the EXIF in the PNG")
        info = subprocess.run(["tiffinfo", target], capture_output=True, text=True)
        check(info.returncode == 0 and "EXIFIFDOffset" in info.stdout, f"tiffinfo: {info.stdout}{info.stderr}")


if __name__ == "__main__":
    sys.exit(tiff_files.main((test_refused, test_metadata, test_exif), __doc__))
