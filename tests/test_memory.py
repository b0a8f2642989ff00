#!/usr/bin/env python3
"""Memory does not grow with the height of an image.

usage: test_memory.py IMGPIPE [--long]      --long: 20,000 x 20,000 pixels stay under 300 MiB
"""
import os
import struct
import subprocess
import sys
import tempfile
import zlib

THREADS = "2"
CHAIN = "gray,blur,median=5"
MIB = 1 << 20


def write_png(path, width, height):
    """An RGB image, written row by row: what this process holds is counted with its children's."""
    noise = bytes((x * x * 2654435761 >> 13) & 31 for x in range(3 * width))
    waves = [bytes((n + (x // 3 + 40 * k) * 128 // width) & 255 for x, n in enumerate(noise)) for k in range(8)]
    deflate = zlib.compressobj(1)

    def chunk(kind, data):
        file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        for y in range(height):
            packed = deflate.compress(b"\0" + waves[y // 16 % 8])
            if packed:
                chunk(b"IDAT", packed)
        chunk(b"IDAT", deflate.flush())
        chunk(b"IEND", b"")


def peak(program, chain, source, target):
    """Runs the chain; its greatest resident memory in bytes."""
    # Meson has malloc() fill what it gives, and so touch what the program may never touch.
    process = subprocess.Popen(
        [program, "-j", THREADS, "--device", "cpu", source, "-f", chain, target], env={**os.environ, "MALLOC_PERTURB_": "0"}
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{program} -f {chain} {source}: exit status {process.returncode}")
    return usage.ru_maxrss * 1024


def png_size(path):
    with open(path, "rb") as file:
        return struct.unpack(">II", file.read(24)[16:])


def test_height(program, folder):
    """Four times the height, the same memory: the rows that come on top are 51 MiB."""
    failures = 0
    for chain in (CHAIN, "gray,blur,hist", "conv=sharpen", "hist=pass,box=9"):
        found = []
        for height in (4000, 16000):
            source, target = os.path.join(folder, f"{height}.png"), os.path.join(folder, "out.png")
            if not os.path.exists(source):
                write_png(source, 1500, height)
            found.append(peak(program, chain, source, target))
        growth = found[1] - found[0]
        right = growth < 6 * MIB and found[1] < 60 * MIB
        failures += not right
        print(f"{'ok  ' if right else 'FAIL'} {chain}: {found[0] / MIB:.1f} MiB at 4000 rows, {found[1] / MIB:.1f} MiB at 16000")
    return failures


def test_large(program, folder):
    source, target = os.path.join(folder, "large.png"), os.path.join(folder, "out.png")
    write_png(source, 20000, 20000)
    found = peak(program, CHAIN, source, target)
    size = png_size(target)
    right = found < 300 * MIB and size == (20000, 20000)
    print(f"{'ok  ' if right else 'FAIL'} {CHAIN}: {found / MIB:.1f} MiB for {size[0]} x {size[1]} pixels")
    return not right


def main(arguments):
    if not arguments or arguments[1:] not in ([], ["--long"]):
        sys.exit(__doc__)
    test = test_large if arguments[1:] else test_height
    with tempfile.TemporaryDirectory(prefix="imgpipe-memory-") as folder:
        return 1 if test(os.path.abspath(arguments[0]), folder) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
