#!/usr/bin/env python3
"""Compares reading and writing TIFF with independent programs: files of Pillow, OpenCV, and of every layout that tiffcp makes, are
converted by the command and must hold the same pixels; what the command writes must be read alike by Pillow, OpenCV and vips.

usage: compare_tiff.py IMGPIPE        exit status 0, 1, or 77 where numpy, Pillow, OpenCV or tiffcp is missing"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import cv2
    import numpy as np
    from PIL import Image
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if not shutil.which("tiffcp"):
    print("skipped: tiffcp is missing")
    sys.exit(77)

HEIGHT, WIDTH = 67, 91
failed = 0
done = 0
imgpipe = ""
folder = ""


def check(ok, text):
    global failed, done
    done += 1
    if not ok:
        failed += 1
        print(f"FAILED: {text}")


def run(*arguments):
    return subprocess.run([imgpipe, *map(str, arguments)], capture_output=True, text=True)


def convert(source, target, *options):
    result = run(source, "-o", target, *options)
    if result.returncode:
        raise RuntimeError(f"exit status {result.returncode}: {result.stderr.strip()}")
    return result.stderr


def read_netpbm(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"P7":
        head, pixels = data.split(b"ENDHDR\n", 1)
        fields = dict(line.split(b" ", 1) for line in head.split(b"\n")[1:] if line)
        width, height, channels = int(fields[b"WIDTH"]), int(fields[b"HEIGHT"]), int(fields[b"DEPTH"])
        return np.frombuffer(pixels, "u1" if int(fields[b"MAXVAL"]) < 256 else ">u2").reshape(height, width, channels)
    magic, size, _, pixels = data.split(b"\n", 3)
    width, height = map(int, size.split())
    return np.frombuffer(pixels, "<f4").reshape(height, width, 3 if magic == b"PF" else 1)[::-1]


def compare(name, path, want, *options, tolerance=0):
    """The command's pixels of a file, against `want`."""
    target = f"{folder}/read.{'pfm' if want.dtype == np.float32 else 'pam'}"
    try:
        convert(path, target, *options)
    except RuntimeError as error:
        check(False, f"{name}: {error}")
        return
    got = read_netpbm(target)
    want = want.reshape(want.shape[0], want.shape[1], -1)
    same = got.shape == want.shape and np.abs(got.astype(np.float64) - want.astype(np.float64)).max() <= tolerance
    check(same, f"{name}: pixels differ: {got.shape} and {want.shape}")


def tiff(path, tags, data, big_endian=False):
    """A TIFF file, its directory in front. `tags`: tag -> (type, values); 273 and 279 are filled in. `data`: a strip, or several."""
    strips = data if isinstance(data, list) else [data]
    order, sizes = ">" if big_endian else "<", {1: "B", 2: "B", 3: "H", 4: "I", 5: "I", 7: "B", 12: "d", 13: "I"}
    tags = dict(tags)
    tags[273], tags[279] = (4, [0] * len(strips)), (4, [len(strip) for strip in strips])
    at = 8 + 2 + 12 * len(tags) + 4
    blocks = {}
    for tag, (kind, values) in tags.items():
        blocks[tag] = struct.pack(f"{order}{len(values)}{sizes[kind]}", *values)
        at += len(blocks[tag]) + len(blocks[tag]) % 2 if len(blocks[tag]) > 4 else 0
    blocks[273] = struct.pack(f"{order}{len(strips)}I", *(at + sum(map(len, strips[:i])) for i in range(len(strips))))
    head, values_at, table, tail = b"MM\0*" if big_endian else b"II*\0", 8 + 2 + 12 * len(tags) + 4, b"", b""
    for tag in sorted(tags):
        kind, values = tags[tag]
        block = blocks[tag]
        count = len(values) // 2 if kind == 5 else len(values)
        table += struct.pack(order + "HHI", tag, kind, count)
        if len(block) <= 4:
            table += block.ljust(4, b"\0")
        else:
            table += struct.pack(order + "I", values_at + len(tail))
            tail += block + b"\0" * (len(block) % 2)
    with open(path, "wb") as file:
        file.write(head + struct.pack(order + "IH", 8, len(tags)) + table + b"\0\0\0\0" + tail + b"".join(strips))
    return path


def basic(width, height, bits, samples, photometric, **more):
    tags = {256: (4, [width]), 257: (4, [height]), 258: (3, [bits] * samples), 259: (3, [1]), 262: (3, [photometric]),
            277: (3, [samples]), 278: (4, [height])}
    tags.update({int(tag[1:]): value for tag, value in more.items()})
    return tags


def noise(channels, dtype):
    rng = np.random.default_rng(channels)
    shape = (HEIGHT, WIDTH, channels) if channels > 1 else (HEIGHT, WIDTH)
    image = rng.random(shape, dtype=np.float32) * 3 - 1 if dtype == np.float32 else rng.integers(0, np.iinfo(dtype).max + 1, shape, dtype=dtype)
    image[20:40, 10:70] = image[0, 0]
    return image


def swapped(image):
    """OpenCV's order of channels."""
    if image.ndim == 2:
        return image
    return image[:, :, {3: [2, 1, 0], 4: [2, 1, 0, 3]}[image.shape[2]]]


def sources():
    """(name, path, pixels)"""
    for channels, mode in ((1, "L"), (3, "RGB"), (4, "RGBA"), (2, "LA")):
        path, pixels = f"{folder}/source_{mode}.tif", noise(channels, np.uint8)
        Image.fromarray(pixels, mode).save(path)
        yield mode, path, pixels
    for channels in (1, 3, 4):
        path, pixels = f"{folder}/source_16_{channels}.tif", noise(channels, np.uint16)
        cv2.imwrite(path, swapped(pixels))
        yield f"16 bit {channels}", path, pixels
    for channels in (1, 3):  # PFM, which is read here, holds no more
        path, pixels = f"{folder}/source_32_{channels}.tif", noise(channels, np.float32)
        tags = basic(WIDTH, HEIGHT, 32, channels, 2 if channels > 2 else 1, t339=(3, [3] * channels))
        yield f"float {channels}", tiff(path, tags, pixels.tobytes()), pixels


def predicted(image):
    """Adobe's predictor for floating point: bytes by significance, then differences."""
    out = b""
    for row in image:
        row = np.frombuffer(row.astype(">f4").tobytes(), np.uint8).reshape(-1, 4).T.flatten()
        out += np.diff(row, prepend=np.uint8(0)).astype(np.uint8).tobytes()
    return out


def test_planes():
    """Layouts that tiffcp cannot make: planes of 16 and 32 bits, one strip or several each, and floats predicted in both orders."""
    for dtype, code, bits in ((np.uint16, "u2", 16), (np.float32, "f4", 32)):
        pixels = noise(3, dtype)
        for big in (False, True):
            planes = [pixels[:, :, c].astype((">" if big else "<") + code) for c in range(3)]
            for rows in (HEIGHT, 10):
                strips = [plane[y:y + rows].tobytes() for plane in planes for y in range(0, HEIGHT, rows)]
                for compression in (1, 8):
                    tags = basic(WIDTH, HEIGHT, bits, 3, 2, t284=(3, [2]), t339=(3, [3 if bits == 32 else 1] * 3))
                    tags[278], tags[259] = (4, [rows]), (3, [compression])
                    path = tiff(f"{folder}/planes.tif", tags, [zlib.compress(s) for s in strips] if compression == 8 else strips, big)
                    compare(f"planes of {bits} bits, {rows} rows, big-endian {big}, compression {compression}", path, pixels)
                    compare("the same from a small budget", path, pixels, "--memory", "64M")
    pixels = noise(1, np.float32)
    for big in (False, True):
        tags = {**basic(WIDTH, HEIGHT, 32, 1, 1, t339=(3, [3]), t317=(3, [3])), 259: (3, [8])}
        path = tiff(f"{folder}/predicted.tif", tags, zlib.compress(predicted(pixels)), big)
        compare(f"predicted floats, big-endian {big}", path, pixels)
        convert(path, f"{folder}/predicted2.tif")
        compare(f"predicted floats, big-endian {big}, written", f"{folder}/predicted2.tif", pixels)
        check((cv2.imread(f"{folder}/predicted2.tif", cv2.IMREAD_UNCHANGED) == pixels).all(), f"predicted floats, big-endian {big}, OpenCV")
        with Image.open(f"{folder}/predicted2.tif") as image:
            if image.tag_v2[317] == 3:
                data, tags = open(f"{folder}/predicted2.tif", "rb").read(), image.tag_v2
                raw = b"".join(zlib.decompress(data[at:at + n]) for at, n in zip(tags[273], tags[279]))
                check(raw == predicted(pixels), "predicted floats are written in another way than Adobe says")


LAYOUTS = ["-s -r 7 -c none", "-s -r 100000 -c none", "-s -r 1 -c packbits", "-s -r 16 -c lzw:2", "-s -r 9 -c lzw:1", "-s -r 100 -c zip:2",
           "-t -w 32 -l 48 -c none", "-t -w 16 -l 16 -c lzw:2", "-t -w 128 -l 128 -c zip:2", "-t -w 48 -l 32 -c packbits", "-B -c none",
           "-B -s -r 5 -c lzw:2", "-B -t -w 32 -l 16 -c zip:2", "-L -c none", "-8 -c none", "-8 -B -t -w 64 -l 32 -c lzw:2",
           "-p separate -s -r 6 -c none", "-p separate -s -r 100 -c lzw:2", "-p separate -B -t -w 32 -l 32 -c zip", "-p separate -8 -c packbits",
           "-c lzma", "-c zstd:2", "-f lsb2msb -c none -B", "-f lsb2msb -c lzw:2"]


def test_layouts():
    path = f"{folder}/layout.tif"
    for name, source, pixels in sources():
        compare(name, source, pixels)
        for layout in LAYOUTS + (["-c zip:3", "-t -w 32 -l 32 -c lzw:3"] if pixels.dtype == np.float32 else []):
            made = subprocess.run(["tiffcp", *layout.split(), source, path], capture_output=True, text=True)
            if made.returncode and "separate" in layout and pixels.dtype != np.uint8:
                continue  # tiffcp takes only 8 bits apart
            check(made.returncode == 0, f"tiffcp {layout} of {name}: {made.stderr.strip()}")
            compare(f"{name}, tiffcp {layout}", path, pixels)
            piped = f"{folder}/piped.{'pfm' if pixels.dtype == np.float32 else 'pam'}"
            with open(path, "rb") as file:
                result = subprocess.run([imgpipe, "-", "-o", piped], input=file.read(), capture_output=True)
            check(result.returncode == 0 and (read_netpbm(piped).reshape(pixels.shape) == pixels).all(), f"{name}, {layout}, piped")


def test_written():
    """Layouts are kept, and other programs read what is written."""
    layout, back, plain = f"{folder}/layout.tif", f"{folder}/back.tif", f"{folder}/plain.tif"
    for name, source, pixels in sources():
        for options, wanted in (("-t -w 32 -l 48 -c lzw:2", ["Tile Width: 32 Tile Length: 48", "Compression Scheme: LZW", "Predictor: horizontal"]),
                                ("-B -s -r 9 -c zip:1", ["AdobeDeflate", "big-endian"]), ("-c packbits", ["PackBits"]), ("-c none", ["Scheme: None"]),
                                ("-p separate -c zip:2", ["separate image planes"] if pixels.ndim == 3 else []), ("-c zstd:2", ["ZSTD"]),
                                ("-B -p separate -t -w 16 -l 32 -c lzw:2", ["Tile Width: 16 Tile Length: 32", "big-endian"])):
            if "separate" in options and pixels.dtype != np.uint8:
                continue
            subprocess.run(["tiffcp", *options.split(), source, layout], check=True, capture_output=True)
            convert(layout, back)
            info = subprocess.run(["tiffinfo", back], capture_output=True, text=True).stdout
            with open(back, "rb") as file:
                info += "big-endian" if file.read(2) == b"MM" else "little-endian"
            for text in wanted:
                check(text in info, f"{name}, {options}: no '{text}' in what was written: {info}")
            compare(f"{name}, {options}, written and read", back, pixels)
            # Of planes tiffcp makes one strip each; Pillow and vips do not read all kinds of them.
            joined = "separate" not in options
            if pixels.dtype == np.uint8:
                layout_options = ["-p", "contig"] if joined else ["-p", "separate", "-s", "-r", str(HEIGHT)]
                made = subprocess.run(["tiffcp", "-L", *layout_options, "-c", "none", back, plain], capture_output=True, text=True)
                check(made.returncode == 0, f"{name}, {options}: tiffcp: {made.stderr.strip()}")
                got = np.asarray(Image.open(plain)) if joined else read_planes(plain, pixels.shape)
                check((got == pixels).all(), f"{name}, {options}: tiffcp reads other pixels")
            if "zstd" not in options:
                got = cv2.imread(back, cv2.IMREAD_UNCHANGED) if pixels.dtype != np.uint8 and "separate" not in options else None
                check(got is None or (swapped(got) == pixels).all(), f"{name}, {options}: OpenCV reads other pixels")
            if joined:
                test_vips(f"{name}, {options}", back, pixels)
            first = open(back, "rb").read()
            convert(layout, back, "-j", 1)
            check(open(back, "rb").read() == first, f"{name}, {options}: other bytes with -j 1")


def read_planes(path, shape):
    """A file with a strip for each plane, or for all, not compressed."""
    data, tags = open(path, "rb").read(), directory(path)
    planes = [np.frombuffer(data[at:at + size], np.uint8).reshape(shape[:2]) for at, size in zip(tags[273], tags[279])]
    return np.stack(planes, axis=-1).reshape(shape)


def test_vips(name, path, pixels):
    if not shutil.which("vips"):
        return
    raw = f"{folder}/vips.raw"
    result = subprocess.run(["vips", "rawsave", path, raw], capture_output=True, text=True)
    check(result.returncode == 0, f"{name}: vips: {result.stderr.strip()}")
    if result.returncode == 0:
        check(open(raw, "rb").read() == pixels.tobytes(), f"{name}: vips reads other pixels")


def test_default_output():
    for channels, dtype in ((1, np.uint8), (3, np.uint8), (4, np.uint8), (1, np.uint16), (3, np.uint16), (4, np.uint16)):
        pixels, source, target = noise(channels, dtype), f"{folder}/in.png", f"{folder}/out.tif"
        cv2.imwrite(source, swapped(pixels))
        for level in (0, 1, 9):
            convert(source, target, "--level", level)
            # OpenCV multiplies by an alpha of 8 bits.
            got = np.asarray(Image.open(target)) if dtype == np.uint8 else swapped(cv2.imread(target, cv2.IMREAD_UNCHANGED))
            check((got == pixels).all(), f"PNG to TIFF, {channels} {dtype.__name__}, level {level}")
            test_vips(f"PNG to TIFF, {channels} {dtype.__name__}", target, pixels)
        with open(f"{folder}/piped.tif", "wb") as file:
            result = subprocess.run([imgpipe, source, "-o", "-", "--format", "tiff", "--level", "9"], stdout=subprocess.PIPE)
            file.write(result.stdout)
        check(open(f"{folder}/piped.tif", "rb").read() == open(target, "rb").read(), "a TIFF to a pipe is another")


def test_bits():
    rng = np.random.default_rng(5)
    for bits in (1, 2, 4):
        for width in (1, 7, 8, 13, 65):
            values = rng.integers(0, 1 << bits, (9, width), dtype=np.uint8)
            rows = b""
            for row in values:
                text = "".join(format(v, f"0{bits}b") for v in row)
                text += "0" * (-len(text) % 8)
                rows += int(text, 2).to_bytes(len(text) // 8, "big")
            gray = (values * (255 // ((1 << bits) - 1))).astype(np.uint8)
            compare(f"{bits} bit, width {width}", tiff(f"{folder}/bits.tif", basic(width, 9, bits, 1, 1), rows), gray)
            compare(f"{bits} bit white, width {width}", tiff(f"{folder}/bits.tif", basic(width, 9, bits, 1, 0), rows), 255 - gray)
            colors = rng.integers(0, 256, (3, 1 << bits))
            for factor, what in ((257, "full"), (256, "cut")):
                palette = [int(v) * factor for v in colors.flatten()]
                compare(f"{bits} bit palette, {what}", tiff(f"{folder}/bits.tif", basic(width, 9, bits, 1, 3, t320=(3, palette)), rows),
                        np.stack([colors[c][values] for c in range(3)], axis=-1).astype(np.uint8))
    wide, narrow = noise(1, np.uint16), noise(1, np.uint8)
    compare("8 bit white", tiff(f"{folder}/bits.tif", basic(WIDTH, HEIGHT, 8, 1, 0), narrow.tobytes()), 255 - narrow)
    compare("16 bit white", tiff(f"{folder}/bits.tif", basic(WIDTH, HEIGHT, 16, 1, 0), wide.tobytes()), 65535 - wide)
    compare("16 bit white, big-endian", tiff(f"{folder}/bits.tif", basic(WIDTH, HEIGHT, 16, 1, 0), wide.astype(">u2").tobytes(), True), 65535 - wide)
    image = Image.fromarray(noise(1, np.uint8)).convert("1")
    image.save(f"{folder}/fax.tif")
    for codec in ("g3", "g4", "none", "lzw", "packbits"):
        subprocess.run(["tiffcp", "-c", codec, f"{folder}/fax.tif", f"{folder}/fax2.tif"], check=True, capture_output=True)
        compare(f"bilevel {codec}", f"{folder}/fax2.tif", np.asarray(image.convert("L")))
    image = Image.fromarray(noise(3, np.uint8)).quantize(200)
    image.save(f"{folder}/palette.tif")
    compare("Pillow palette", f"{folder}/palette.tif", np.asarray(image.convert("RGB")))


def test_colors():
    ink = noise(4, np.uint8)
    Image.fromarray(ink, "CMYK").save(f"{folder}/cmyk.tif")
    want = ((255 - ink[:, :, :3].astype(np.int64)) * (255 - ink[:, :, 3:].astype(np.int64)) + 127) // 255
    compare("CMYK", f"{folder}/cmyk.tif", want.astype(np.uint8))
    subprocess.run(["tiffcp", "-p", "separate", f"{folder}/cmyk.tif", f"{folder}/cmyk2.tif"], check=True, capture_output=True)
    compare("CMYK in planes", f"{folder}/cmyk2.tif", want.astype(np.uint8))
    smooth = cv2.GaussianBlur(noise(3, np.uint8), (0, 0), 3)
    Image.fromarray(smooth).save(f"{folder}/smooth.tif")
    for options in ("-c jpeg:90 -r 16", "-c jpeg:r:90 -r 16", "-c jpeg:90 -t -w 32 -l 32", "-c jpeg:75 -r 1000"):
        subprocess.run(["tiffcp", *options.split(), f"{folder}/smooth.tif", f"{folder}/jpeg.tif"], check=True, capture_output=True)
        compare(f"JPEG in TIFF, {options}", f"{folder}/jpeg.tif", np.asarray(Image.open(f"{folder}/jpeg.tif").convert("RGB")), tolerance=1)
    # Colours multiplied by alpha.
    for dtype, code in ((np.uint8, "B"), (np.uint16, "H")):
        top = np.iinfo(dtype).max
        pixels = noise(4, dtype).astype(np.int64)
        pixels[:, :, :3] = pixels[:, :, :3] * pixels[:, :, 3:] // top
        pixels[3, 3] = 0
        path = tiff(f"{folder}/premultiplied.tif", basic(WIDTH, HEIGHT, np.dtype(dtype).itemsize * 8, 4, 2, t338=(3, [1])),
                    pixels.astype(dtype).tobytes())
        alpha = np.maximum(pixels[:, :, 3:], 1)
        want = np.minimum((pixels[:, :, :3] * top + alpha // 2) // alpha, top)
        compare(f"associated alpha {code}", path, np.concatenate([want, pixels[:, :, 3:]], axis=2).astype(dtype))
        compare(f"associated alpha as data {code}", path, pixels.astype(dtype), "--alpha", "no")
    data = noise(4, np.uint8)
    path = tiff(f"{folder}/data.tif", basic(WIDTH, HEIGHT, 8, 4, 2, t338=(3, [0])), data.tobytes())
    compare("data channel", path, data)
    convert(path, f"{folder}/data2.tif")
    check("ExtraSamples" in open(path, "rb").read().decode("latin1") or "unspecified" in
          subprocess.run(["tiffinfo", f"{folder}/data2.tif"], capture_output=True, text=True).stdout, "a data channel became alpha")


def test_refused():
    Image.fromarray(noise(3, np.uint8)).convert("RGB").save(f"{folder}/pages.tif", save_all=True,
                                                            append_images=[Image.fromarray(noise(1, np.uint8)), Image.fromarray(noise(4, np.uint8))])
    one = b"\0" * 64
    for name, path, text in (
            ("pages", f"{folder}/pages.tif", "3 pages"),
            ("signed", tiff(f"{folder}/r1.tif", basic(2, 2, 16, 1, 1, t339=(3, [2])), one), "signed"),
            ("double", tiff(f"{folder}/r2.tif", basic(2, 2, 64, 1, 1, t339=(3, [3])), one), "64 bits, floating point"),
            ("half", tiff(f"{folder}/r3.tif", basic(2, 2, 16, 1, 1, t339=(3, [3])), one), "16 bits, floating point"),
            ("complex", tiff(f"{folder}/r4.tif", basic(2, 2, 64, 1, 1, t339=(3, [6])), one), "complex"),
            ("32 bit", tiff(f"{folder}/r5.tif", basic(2, 2, 32, 1, 1), one), "32 bits, unsigned"),
            ("12 bit", tiff(f"{folder}/r6.tif", basic(2, 2, 12, 1, 1), one), "12 bits"),
            ("Lab", tiff(f"{folder}/r7.tif", basic(2, 2, 8, 3, 8), one), "L*a*b*"),
            ("YCbCr", tiff(f"{folder}/r8.tif", basic(2, 2, 8, 3, 6, t530=(3, [1, 1])), one), "YCbCr"),
            ("five channels", tiff(f"{folder}/r9.tif", basic(2, 2, 8, 5, 2, t338=(3, [0, 0])), one), "5 channels"),
            ("old JPEG", tiff(f"{folder}/r10.tif", {**basic(2, 2, 8, 3, 6), 259: (3, [6])}, one), "old JPEG"),
            ("CFA", tiff(f"{folder}/r11.tif", basic(4, 4, 16, 1, 32803), one), "camera raw"),
            ("DNG", tiff(f"{folder}/r12.tif", basic(4, 4, 8, 1, 1, t50706=(1, [1, 4, 0, 0])), one), "camera raw file (DNG)"),
            ("CR2", tiff(f"{folder}/r13.tif", basic(4, 4, 8, 1, 1), one), None),
            ("bomb", tiff(f"{folder}/r14.tif", basic(787402, 787402, 8, 1, 1), one), "--max-pixels"),
            ("overflow", tiff(f"{folder}/r15.tif", basic(0xffffffff, 0xffffffff, 8, 1, 1), one), "2147483647"),
            ("no pixels", tiff(f"{folder}/r16.tif", basic(0, 4, 8, 1, 1), one), "no pixels"),
            ("short", tiff(f"{folder}/r17.tif", basic(9, 9, 8, 1, 1), one), "truncated")):
        if name == "CR2":
            with open(path, "rb") as file:
                data = file.read()
            with open(path, "wb") as file:
                file.write(data[:8] + b"CR\2\0" + data[12:])
            text = "Canon CR2"
        result = run(path, "-o", f"{folder}/refused.png")
        check(result.returncode == 1 and text in result.stderr and not os.path.exists(f"{folder}/refused.png"),
              f"{name}: exit status {result.returncode}, {result.stderr.strip()}")
        check(result.stderr.count("\n") == 1, f"{name}: not one line: {result.stderr}")
    # A raw file's first directory is its preview; the sensor's data are below it.
    sub = tiff(f"{folder}/sub.tif", basic(4, 4, 16, 1, 32803), one)
    with open(sub, "rb") as file:
        below = file.read()
    preview = tiff(f"{folder}/nef.tif", basic(2, 2, 8, 1, 1, t254=(4, [1]), t330=(4, [0])), one)
    data = bytearray(open(preview, "rb").read())
    for at in range(10, 10 + 12 * 11, 12):
        if struct.unpack_from("<H", data, at)[0] == 330:
            struct.pack_into("<I", data, at + 8, len(data) + 8)
    with open(preview, "wb") as file:
        file.write(bytes(data) + below)
    result = run(preview, "-o", f"{folder}/refused.png")
    check(result.returncode == 1 and "camera raw" in result.stderr, f"NEF: {result.stderr.strip()}")
    for page, want in ((1, noise(3, np.uint8)), (2, noise(1, np.uint8)), (3, noise(4, np.uint8))):
        compare(f"page {page}", f"{folder}/pages.tif", want, "--page", page)
    result = run(f"{folder}/pages.tif", "-o", f"{folder}/refused.png", "--page", 4)
    check(result.returncode == 1 and "has 3" in result.stderr, f"page 4: {result.stderr.strip()}")


def directories(path):
    """The first directory of a classic file, and those of EXIF and GPS: tag -> (type, bytes of the values, little-endian)."""
    data = open(path, "rb").read()
    order = ">" if data[:2] == b"MM" else "<"
    sizes = {1: (1, 1), 2: (1, 1), 3: (2, 2), 4: (4, 4), 5: (8, 4), 7: (1, 1), 10: (8, 4), 12: (8, 8), 13: (4, 4)}

    def one(at):
        found = {}
        for i in range(struct.unpack_from(order + "H", data, at)[0]):
            entry = at + 2 + 12 * i
            tag, kind, count = struct.unpack_from(order + "HHI", data, entry)
            size, unit = sizes[kind]
            start = entry + 8 if size * count <= 4 else struct.unpack_from(order + "I", data, entry + 8)[0]
            values = data[start:start + size * count]
            if order == ">" and tag != 33723:
                values = b"".join(values[k:k + unit][::-1] for k in range(0, len(values), unit))
            found[tag] = (4 if kind == 13 else kind, one(int.from_bytes(values, "little")) if tag in (34665, 34853) else values)
        return found

    return one(struct.unpack_from(order + "I", data, 4)[0])


def directory(path):
    """The first directory of a file, as Pillow sees it."""
    with Image.open(path) as image:
        return dict(image.tag_v2)


def test_metadata():
    geo = {33550: (12, [0.5, 0.25, 0.0]), 33922: (12, [0.0, 0.0, 0.0, 10.5, 47.25, 0.0]), 34735: (3, [1, 1, 0, 1, 1024, 0, 1, 2]),
           34736: (12, [6378137.0, 298.257223563]), 34737: (2, b"WGS 84|\0"), 42112: (2, b"<GDALMetadata></GDALMetadata>\0"),
           42113: (2, b"-9999\0")}
    text = {270: (2, b"a description\0"), 315: (2, "J\u00f6rg\0".encode()), 33432: (2, b"2024\0"), 305: (2, b"a program\0"),
            306: (2, b"2024:01:02 03:04:05\0"), 271: (2, b"Maker\0"), 272: (2, b"Model 1\0"), 274: (3, [6]), 282: (5, [300, 1]),
            283: (5, [600, 1]), 296: (3, [2]), 700: (1, b"<x:xmpmeta/>"), 33723: (7, b"\x1c\x02\x05\x00\x05title")}
    pixels = noise(1, np.uint8)
    for big in (False, True):
        source, target = f"{folder}/meta.tif", f"{folder}/meta2.tif"
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
            check(before.get(tag) == after.get(tag) and tag in after, f"tag {tag}, big-endian {big}: {before.get(tag)!r} became {after.get(tag)!r}")
        check("damaged" not in warnings, warnings)
        convert(source, target, "-f", "hist")
        left = directory(target)
        check(not any(tag in left for tag in [*geo, *text]), f"the chart carries {sorted(set(left) & set([*geo, *text]))}")
        convert(source, f"{folder}/meta.png")
        convert(f"{folder}/meta.png", target)
        after = directory(target)
        for tag in (270, 315, 33432, 305, 271, 272, 274):
            check(before.get(tag) == after.get(tag), f"through PNG, tag {tag}: {before.get(tag)!r} became {after.get(tag)!r}")
    ome = b'<?xml version="1.0"?><OME xmlns="x"><Image/></OME>\0'
    tiff(f"{folder}/ome.tif", basic(WIDTH, HEIGHT, 8, 1, 1, t270=(2, list(ome))), pixels.tobytes())
    convert(f"{folder}/ome.tif", f"{folder}/ome2.tif", "-f", "blur=1")
    check(directory(f"{folder}/ome2.tif").get(270) == ome[:-1].decode(), "OME is lost")


def with_exif(path, big):
    """A TIFF file with EXIF and GPS directories behind its pixels."""
    exif = {33434: (5, [1, 250]), 36867: (2, list(b"2024:01:02 03:04:05\0")), 37380: (10, [-1, 3]), 37500: (7, list(range(41))), 40961: (3, [1])}
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
        source, target = f"{folder}/exif.tif", f"{folder}/exif2.tif"
        with_exif(source, big)
        before = directories(source)
        convert(source, target, "-f", "invert")
        after = directories(target)
        convert(source, f"{folder}/exif.png")
        convert(f"{folder}/exif.png", f"{folder}/exif3.tif")
        again = directories(f"{folder}/exif3.tif")
        for which in (34665, 34853, 271):
            check(before[which] == after.get(which), f"big-endian {big}, {which}: {before[which]} became {after.get(which)}")
            check(before[which] == again.get(which), f"big-endian {big}, through PNG, {which}: {before[which]} became {again.get(which)}")
        with Image.open(f"{folder}/exif.png") as image:
            check(image.getexif().get(271) == "Maker", "Pillow does not find the EXIF in the PNG")
        info = subprocess.run(["tiffinfo", target], capture_output=True, text=True)
        check(info.returncode == 0 and "EXIFIFDOffset" in info.stdout, f"tiffinfo: {info.stdout}{info.stderr}")


def main():
    global imgpipe, folder
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    imgpipe = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for test in (test_layouts, test_planes, test_written, test_default_output, test_bits, test_colors, test_refused, test_metadata, test_exif):
            try:
                test()
            except (RuntimeError, subprocess.CalledProcessError) as error:
                check(False, f"{test.__name__}: {error}")
    print(f"{done} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
