"""What the tests of TIFF share: running the command, reading what it writes, and TIFF files made by hand."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

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
    target = f"read.{'pfm' if want.dtype == np.float32 else 'pam'}"
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
    """A TIFF file, its directory in front. `tags`: tag -> (type, values); 273 and 279 are filled in.
    `data`: a strip, or a list of several."""
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
    if dtype == np.float32:
        image = rng.random(shape, dtype=np.float32) * 3 - 1
    else:
        image = rng.integers(0, np.iinfo(dtype).max + 1, shape, dtype=dtype)
    image[20:40, 10:70] = image[0, 0]
    return image


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


def main(tests, about):
    """Runs the tests in a folder of their own, and says how many checks failed."""
    global imgpipe
    if len(sys.argv) != 2:
        sys.exit(about)
    imgpipe = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in tests:
            try:
                test()
            except (RuntimeError, subprocess.CalledProcessError) as error:
                check(False, f"{test.__name__}: {error}")
        os.chdir("/")
    print(f"{done} checks, {failed} failed")
    return 1 if failed else 0
