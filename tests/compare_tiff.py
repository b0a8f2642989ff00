#!/usr/bin/env python3
"""Compares reading and writing TIFF with independent programs: files of Pillow, OpenCV, and of every layout that tiffcp makes, are
converted by the command and must hold the same pixels; what the command writes must be read alike by Pillow, OpenCV and vips.

usage: compare_tiff.py IMGPIPE        exit status 0, 1, or 77 where numpy, Pillow, OpenCV or tiffcp is missing"""
import shutil
import subprocess
import sys
import zlib

import tiff_files
from tiff_files import HEIGHT, WIDTH, Image, basic, check, compare, convert, cv2, directory, noise, np, read_netpbm, tiff


def swapped(image):
    """OpenCV's order of channels."""
    if image.ndim == 2:
        return image
    return image[:, :, {3: [2, 1, 0], 4: [2, 1, 0, 3]}[image.shape[2]]]


def sources():
    """(name, path, pixels)"""
    for channels, mode in ((1, "L"), (3, "RGB"), (4, "RGBA"), (2, "LA")):
        path, pixels = f"source_{mode}.tif", noise(channels, np.uint8)
        Image.fromarray(pixels, mode).save(path)
        yield mode, path, pixels
    for channels in (1, 3, 4):
        path, pixels = f"source_16_{channels}.tif", noise(channels, np.uint16)
        cv2.imwrite(path, swapped(pixels))
        yield f"16 bit {channels}", path, pixels
    for channels in (1, 3):  # PFM, which is read here, holds no more
        path, pixels = f"source_32_{channels}.tif", noise(channels, np.float32)
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
                    path = tiff("planes.tif", tags, [zlib.compress(s) for s in strips] if compression == 8 else strips, big)
                    compare(f"planes of {bits} bits, {rows} rows, big-endian {big}, compression {compression}", path, pixels)
                    compare("the same from a small budget", path, pixels, "--memory", "64M")
    pixels = noise(1, np.float32)
    for big in (False, True):
        tags = {**basic(WIDTH, HEIGHT, 32, 1, 1, t339=(3, [3]), t317=(3, [3])), 259: (3, [8])}
        path = tiff("predicted.tif", tags, zlib.compress(predicted(pixels)), big)
        compare(f"predicted floats, big-endian {big}", path, pixels)
        convert(path, "predicted2.tif")
        compare(f"predicted floats, big-endian {big}, written", "predicted2.tif", pixels)
        check((cv2.imread("predicted2.tif", cv2.IMREAD_UNCHANGED) == pixels).all(), f"predicted floats, big-endian {big}, OpenCV")
        with Image.open("predicted2.tif") as image:
            if image.tag_v2[317] == 3:
                data, tags = open("predicted2.tif", "rb").read(), image.tag_v2
                raw = b"".join(zlib.decompress(data[at:at + n]) for at, n in zip(tags[273], tags[279]))
                check(raw == predicted(pixels), "predicted floats are written in another way than Adobe says")


LAYOUTS = ["-s -r 7 -c none", "-s -r 100000 -c none", "-s -r 1 -c packbits", "-s -r 16 -c lzw:2", "-s -r 9 -c lzw:1",
            "-s -r 100 -c zip:2", "-t -w 32 -l 48 -c none", "-t -w 16 -l 16 -c lzw:2", "-t -w 128 -l 128 -c zip:2",
            "-t -w 48 -l 32 -c packbits", "-B -c none", "-B -s -r 5 -c lzw:2", "-B -t -w 32 -l 16 -c zip:2", "-L -c none",
            "-8 -c none", "-8 -B -t -w 64 -l 32 -c lzw:2", "-p separate -s -r 6 -c none", "-p separate -s -r 100 -c lzw:2",
            "-p separate -B -t -w 32 -l 32 -c zip", "-p separate -8 -c packbits", "-c lzma", "-c zstd:2",
            "-f lsb2msb -c none -B", "-f lsb2msb -c lzw:2"]


def test_layouts():
    path = "layout.tif"
    for name, source, pixels in sources():
        compare(name, source, pixels)
        for layout in LAYOUTS + (["-c zip:3", "-t -w 32 -l 32 -c lzw:3"] if pixels.dtype == np.float32 else []):
            made = subprocess.run(["tiffcp", *layout.split(), source, path], capture_output=True, text=True)
            if made.returncode and "separate" in layout and pixels.dtype != np.uint8:
                continue  # tiffcp takes only 8 bits apart
            check(made.returncode == 0, f"tiffcp {layout} of {name}: {made.stderr.strip()}")
            compare(f"{name}, tiffcp {layout}", path, pixels)
            piped = f"piped.{'pfm' if pixels.dtype == np.float32 else 'pam'}"
            with open(path, "rb") as file:
                result = subprocess.run([tiff_files.imgpipe, "-", "-o", piped], input=file.read(), capture_output=True)
            check(result.returncode == 0 and (read_netpbm(piped).reshape(pixels.shape) == pixels).all(), f"{name}, {layout}, piped")


def test_written():
    """Layouts are kept, and other programs read what is written."""
    layout, back, plain = "layout.tif", "back.tif", "plain.tif"
    for name, source, pixels in sources():
        for options, wanted in (("-t -w 32 -l 48 -c lzw:2",
                                 ["Tile Width: 32 Tile Length: 48", "Compression Scheme: LZW", "Predictor: horizontal"]),
                                ("-B -s -r 9 -c zip:1", ["AdobeDeflate", "big-endian"]), ("-c packbits", ["PackBits"]),
                                ("-c none", ["Scheme: None"]), ("-c zstd:2", ["ZSTD"]),
                                ("-p separate -c zip:2", ["separate image planes"] if pixels.ndim == 3 else []),
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
    raw = "vips.raw"
    result = subprocess.run(["vips", "rawsave", path, raw], capture_output=True, text=True)
    check(result.returncode == 0, f"{name}: vips: {result.stderr.strip()}")
    if result.returncode == 0:
        check(open(raw, "rb").read() == pixels.tobytes(), f"{name}: vips reads other pixels")


def test_default_output():
    for channels, dtype in ((1, np.uint8), (3, np.uint8), (4, np.uint8), (1, np.uint16), (3, np.uint16), (4, np.uint16)):
        pixels, source, target = noise(channels, dtype), "in.png", "out.tif"
        cv2.imwrite(source, swapped(pixels))
        for level in (0, 1, 9):
            convert(source, target, "--level", level)
            # OpenCV multiplies by an alpha of 8 bits.
            got = np.asarray(Image.open(target)) if dtype == np.uint8 else swapped(cv2.imread(target, cv2.IMREAD_UNCHANGED))
            check((got == pixels).all(), f"PNG to TIFF, {channels} {dtype.__name__}, level {level}")
            test_vips(f"PNG to TIFF, {channels} {dtype.__name__}", target, pixels)
        with open("piped.tif", "wb") as file:
            command = [tiff_files.imgpipe, source, "-o", "-", "--format", "tiff", "--level", "9"]
            result = subprocess.run(command, stdout=subprocess.PIPE)
            file.write(result.stdout)
        check(open("piped.tif", "rb").read() == open(target, "rb").read(), "a TIFF to a pipe is another")


def test_threads():
    """An image of many pieces, which are compressed side by side: the same bytes with any number of threads, and right."""
    rng = np.random.default_rng(7)
    pixels = np.repeat(rng.integers(0, 256, (2100, 250, 3), dtype=np.uint8), 4, axis=1)
    Image.fromarray(pixels).save("in.tif")
    for options in ("-c zip:2 -r 9", "-c lzw:2", "-B -c packbits", "-c zstd", "-p separate -c zip:2", "-t -w 64 -l 48 -c zip:2"):
        subprocess.run(["tiffcp", *options.split(), "in.tif", "many.tif"], check=True, capture_output=True)
        files = []
        for threads in (1, 2, 5):
            convert("many.tif", "many2.tif", "-f", "invert", "-j", threads)
            with open("many2.tif", "rb") as file:
                files.append(file.read())
        check(files[0] == files[1] == files[2], f"{options}: other bytes with other numbers of threads")
        compare(f"many pieces, {options}", "many2.tif", 255 - pixels)
        if "separate" not in options and "zstd" not in options:
            check((np.asarray(Image.open("many2.tif")) == 255 - pixels).all(), f"many pieces, {options}: Pillow reads other pixels")
            test_vips(f"many pieces, {options}", "many2.tif", 255 - pixels)


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
            compare(f"{bits} bit, width {width}", tiff("bits.tif", basic(width, 9, bits, 1, 1), rows), gray)
            compare(f"{bits} bit white, width {width}", tiff("bits.tif", basic(width, 9, bits, 1, 0), rows), 255 - gray)
            colors = rng.integers(0, 256, (3, 1 << bits))
            for factor, what in ((257, "full"), (256, "cut")):
                palette = [int(v) * factor for v in colors.flatten()]
                path = tiff("bits.tif", basic(width, 9, bits, 1, 3, t320=(3, palette)), rows)
                compare(f"{bits} bit palette, {what}", path,
                        np.stack([colors[c][values] for c in range(3)], axis=-1).astype(np.uint8))
    wide, narrow = noise(1, np.uint16), noise(1, np.uint8)
    compare("8 bit white", tiff("bits.tif", basic(WIDTH, HEIGHT, 8, 1, 0), narrow.tobytes()), 255 - narrow)
    compare("16 bit white", tiff("bits.tif", basic(WIDTH, HEIGHT, 16, 1, 0), wide.tobytes()), 65535 - wide)
    compare("16 bit white, big-endian",
            tiff("bits.tif", basic(WIDTH, HEIGHT, 16, 1, 0), wide.astype(">u2").tobytes(), True), 65535 - wide)
    image = Image.fromarray(noise(1, np.uint8)).convert("1")
    image.save("fax.tif")
    for codec in ("g3", "g4", "none", "lzw", "packbits"):
        subprocess.run(["tiffcp", "-c", codec, "fax.tif", "fax2.tif"], check=True, capture_output=True)
        compare(f"bilevel {codec}", "fax2.tif", np.asarray(image.convert("L")))
    image = Image.fromarray(noise(3, np.uint8)).quantize(200)
    image.save("palette.tif")
    compare("Pillow palette", "palette.tif", np.asarray(image.convert("RGB")))


def test_colors():
    ink = noise(4, np.uint8)
    Image.fromarray(ink, "CMYK").save("cmyk.tif")
    want = ((255 - ink[:, :, :3].astype(np.int64)) * (255 - ink[:, :, 3:].astype(np.int64)) + 127) // 255
    compare("CMYK", "cmyk.tif", want.astype(np.uint8))
    subprocess.run(["tiffcp", "-p", "separate", "cmyk.tif", "cmyk2.tif"], check=True, capture_output=True)
    compare("CMYK in planes", "cmyk2.tif", want.astype(np.uint8))
    smooth = cv2.GaussianBlur(noise(3, np.uint8), (0, 0), 3)
    Image.fromarray(smooth).save("smooth.tif")
    for options in ("-c jpeg:90 -r 16", "-c jpeg:r:90 -r 16", "-c jpeg:90 -t -w 32 -l 32", "-c jpeg:75 -r 1000"):
        subprocess.run(["tiffcp", *options.split(), "smooth.tif", "jpeg.tif"], check=True, capture_output=True)
        compare(f"JPEG in TIFF, {options}", "jpeg.tif", np.asarray(Image.open("jpeg.tif").convert("RGB")), tolerance=1)
    # Colours multiplied by alpha.
    for dtype, code in ((np.uint8, "B"), (np.uint16, "H")):
        top = np.iinfo(dtype).max
        pixels = noise(4, dtype).astype(np.int64)
        pixels[:, :, :3] = pixels[:, :, :3] * pixels[:, :, 3:] // top
        pixels[3, 3] = 0
        path = tiff("premultiplied.tif", basic(WIDTH, HEIGHT, np.dtype(dtype).itemsize * 8, 4, 2, t338=(3, [1])),
                    pixels.astype(dtype).tobytes())
        alpha = np.maximum(pixels[:, :, 3:], 1)
        want = np.minimum((pixels[:, :, :3] * top + alpha // 2) // alpha, top)
        compare(f"associated alpha {code}", path, np.concatenate([want, pixels[:, :, 3:]], axis=2).astype(dtype))
        compare(f"associated alpha as data {code}", path, pixels.astype(dtype), "--alpha", "no")
    data = noise(4, np.uint8)
    path = tiff("data.tif", basic(WIDTH, HEIGHT, 8, 4, 2, t338=(3, [0])), data.tobytes())
    compare("data channel", path, data)
    convert(path, "data2.tif")
    check("ExtraSamples" in open(path, "rb").read().decode("latin1") or "unspecified" in
          subprocess.run(["tiffinfo", "data2.tif"], capture_output=True, text=True).stdout, "a data channel became alpha")


if __name__ == "__main__":
    tests = (test_layouts, test_planes, test_written, test_default_output, test_threads, test_bits, test_colors)
    sys.exit(tiff_files.main(tests, __doc__))
