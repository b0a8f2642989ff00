#!/usr/bin/env python3
"""Large tiled and single-strip TIFF files through median=5: how much memory is resident, and that the pixels are right.

All tiles of the input are the same bytes of the file, so that a large image is a small file, quickly made.

usage: test_tiff_memory.py IMGPIPE [--long]        --long: 40,000 x 40,000 pixels; exit status 0 or 1"""
import os
import struct
import sys
import tempfile
import zlib

TILE = 256
# The quick image alone has 69 MiB.
QUICK, QUICK_LIMIT = 6000, 60 << 20
LONG, LONG_LIMIT = 40000, 400 << 20
# A pattern that repeats within a tile, with edges that a median of five columns changes.
ROW = [(x * 37 % 16) * 4001 for x in range(16)] * (TILE // 16)


def write(path, size, strip):
    """16-bit gray, deflate: tiles, or one strip."""
    row = struct.pack(f"<{TILE}H", *ROW)
    if strip:
        pack, whole = zlib.compressobj(6), (row * (size // TILE + 1))[:size * 2]
        data = b"".join(pack.compress(whole) for _ in range(size)) + pack.flush()
        chunks, layout = 1, {278: (4, [size])}
    else:
        data = zlib.compress(row * TILE)
        chunks, layout = ((size + TILE - 1) // TILE) ** 2, {322: (3, [TILE]), 323: (3, [TILE])}
    places, sizes = (273, 279) if strip else (324, 325)
    tags = {256: (4, [size]), 257: (4, [size]), 258: (3, [16]), 259: (3, [8]), 262: (3, [1]), 277: (3, [1]), **layout,
            places: (4, [8] * chunks), sizes: (4, [len(data)] * chunks)}
    table, tail = b"", b""
    at = 8 + len(data) + len(data) % 2
    end = at + 2 + 12 * len(tags) + 4
    for tag in sorted(tags):
        kind, values = tags[tag]
        block = struct.pack(f"<{len(values)}{'H' if kind == 3 else 'I'}", *values)
        table += struct.pack("<HHI", tag, kind, len(values))
        if len(block) > 4:
            table += struct.pack("<I", end + len(tail))
            tail += block
        else:
            table += block.ljust(4, b"\0")
    with open(path, "wb") as file:
        file.write(b"II*\0" + struct.pack("<I", at) + data + b"\0" * (len(data) % 2))
        file.write(struct.pack("<H", len(tags)) + table + b"\0\0\0\0" + tail)


def directory(data):
    """The tags of a little-endian file of either kind: tag -> list of numbers."""
    big = data[2] == 43
    at = struct.unpack_from("<Q" if big else "<I", data, 8 if big else 4)[0]
    count = struct.unpack_from("<Q" if big else "<H", data, at)[0]
    found = {}
    for i in range(count):
        entry = at + (8 + 20 * i if big else 2 + 12 * i)
        tag, kind, number = struct.unpack_from("<HHQ" if big else "<HHI", data, entry)
        code, size = {3: ("H", 2), 4: ("I", 4), 16: ("Q", 8)}.get(kind, ("B", 1))
        start = entry + (12 if big else 8)
        if size * number > (8 if big else 4):
            start = struct.unpack_from("<Q" if big else "<I", data, start)[0]
        found[tag] = struct.unpack_from(f"<{number}{code}", data, start)
    return found


def expected(size):
    """The row that every row becomes: medians of five columns, since all rows are alike."""
    row = (ROW * (size // TILE + 1))[:size]
    at = lambda x: row[min(max(x, 0), size - 1)]
    return [sorted(at(x + d) for d in range(-2, 3))[2] for x in range(size)]


def verify(path, size):
    """Every tile or strip of the output."""
    with open(path, "rb") as file:
        data = file.read()
    tags, row = directory(data), expected(size)
    packed = struct.pack(f"<{size}H", *row)
    if 324 in tags:
        across = (size + TILE - 1) // TILE
        for index, (at, count) in enumerate(zip(tags[324], tags[325])):
            x, y = index % across * TILE, index // across * TILE
            part = packed[2 * x:2 * (x + TILE)].ljust(2 * TILE, b"\0")
            rows = min(TILE, size - y)
            assert zlib.decompress(data[at:at + count]) == part * rows + b"\0" * (2 * TILE * (TILE - rows)), f"tile {index} differs"
        return
    assert tags.get(317, (1,))[0] == 1
    rows = 0
    for at, count in zip(tags[273], tags[279]):
        strip = zlib.decompress(data[at:at + count])
        assert strip == packed * (len(strip) // len(packed)), f"the strip of row {rows} differs"
        rows += len(strip) // len(packed)
    assert rows == size, f"{rows} rows instead of {size}"


def run(command):
    """Exit status and peak resident bytes."""
    child = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    imgpipe, failed = os.path.abspath(sys.argv[1]), 0
    size, limit = (LONG, LONG_LIMIT) if "--long" in sys.argv else (QUICK, QUICK_LIMIT)
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/in.tif", f"{folder}/out.tif"
        for strip in (False, True):
            write(source, size, strip)
            status, resident = run([imgpipe, source, "-f", "median=5", "-o", target, "-j", "2", "-q"])
            print(f"{size} x {size} in {'a strip' if strip else 'tiles'}: {resident >> 20} MiB resident, at most {limit >> 20}")
            if status or resident > limit:
                failed += 1
                print(f"FAILED: exit status {status}, {resident} bytes resident")
                continue
            try:
                verify(target, size)
            except AssertionError as error:
                failed += 1
                print(f"FAILED: {error}")
            # Neither the file nor the image fits this budget, and rows of tiles do.
            status, resident = run([imgpipe, source, "-f", "invert", "-o", target, "-j", "1", "-q", "--memory", "32M"])
            if status:
                failed += 1
                print(f"FAILED: exit status {status} with --memory 32M")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
