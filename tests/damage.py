#!/usr/bin/env python3
"""Writes damaged variants of PNG files into a folder.

    damage.py FOLDER SOURCE.png... [--then COMMAND ARG...]

FOLDER `-` is a temporary one that is removed at the end. `--then` runs COMMAND with FOLDER as its last argument and exits with
its status. A file's name begins with what must happen to it: `refuse-…` must give an error, `accept-…` must be read without
a warning, `warn-…` with one, `either-…` must do any of these without a crash; what is read must equal what libpng makes of it.
"""
import os
import subprocess
import struct
import sys
import tempfile
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_TRUNCATIONS = 40


def chunk(kind, data=b"", crc=None):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data) if crc is None else crc)


def split(png):
    """The chunks of a PNG as (kind, data)."""
    at, chunks = len(SIGNATURE), []
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        chunks.append((png[at + 4 : at + 8], png[at + 8 : at + 8 + size]))
        at += 12 + size
    return chunks


def join(chunks):
    return SIGNATURE + b"".join(chunk(*c) for c in chunks)


def header(width, height, depth=8, color=0, compression=0, filtering=0, interlace=0):
    return (b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, compression, filtering, interlace))


def image_data(chunks):
    return b"".join(data for kind, data in chunks if kind == b"IDAT")


def with_data(chunks, data):
    """The chunks with one IDAT that holds `data`; with none where `data` is None."""
    at = next(i for i, c in enumerate(chunks) if c[0] == b"IDAT")
    rest = [c for c in chunks if c[0] != b"IDAT"]
    return rest[:at] + ([] if data is None else [(b"IDAT", data)]) + rest[at:]


def flip(data, at, mask=0x55):
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def truncations(png):
    """Cut at many points. Where all pixels are there, the end is only missed."""
    end_of_data = png.index(b"IEND") - 4
    step = max(1, len(png) // MAX_TRUNCATIONS)
    for at in sorted(set(range(1, end_of_data, step)) | {7, 8, 12, 16, 32, 33, end_of_data - 1, end_of_data - 5}):
        yield f"refuse-truncated-{at:06}", png[:at]
    for at in range(end_of_data, len(png)):
        yield f"warn-truncated-in-end-{at:06}", png[:at]


def broken_crcs(chunks):
    for i, (kind, data) in enumerate(chunks):
        bad = [c if j != i else (kind, data, zlib.crc32(kind + data) ^ 1) for j, c in enumerate(chunks)]
        critical = not kind[0] & 0x20
        word = "warn" if kind == b"IEND" or not critical else "refuse"
        yield f"{word}-crc-{i}-{kind.decode()}", join(bad)


def flipped_bytes(png):
    step = max(1, len(png) // MAX_TRUNCATIONS)
    for at in range(0, len(png), step):
        yield f"either-flipped-{at:06}", flip(png, at)


def broken_data(chunks):
    """The zlib stream is wrong while the CRCs are right."""
    data = image_data(chunks)
    yield "refuse-adler", join(with_data(chunks, flip(data, len(data) - 1)))
    at = next(i for i, c in enumerate(chunks) if c[0] == b"IDAT")
    apart = [(b"IDAT", data[:-4]), (b"IDAT", flip(data[-4:], 1))]
    yield "refuse-adler-apart", join(chunks[:at] + apart + [c for c in chunks[at:] if c[0] != b"IDAT"])
    yield "refuse-no-adler", join(with_data(chunks, data[:-4]))
    yield "refuse-half-adler", join(with_data(chunks, data[:-2]))
    yield "refuse-half-data", join(with_data(chunks, data[: len(data) // 2]))
    yield "refuse-empty-data", join(with_data(chunks, b""))
    yield "refuse-no-data", join(with_data(chunks, None))
    yield "refuse-zlib-method", join(with_data(chunks, flip(data, 0, 0x07)))
    yield "refuse-zlib-check", join(with_data(chunks, flip(data, 1, 0x01)))
    yield "refuse-zlib-dictionary", join(with_data(chunks, data[:1] + bytes([0x20 + 31 - (data[0] * 256 + 0x20) % 31]) + data[2:]))
    yield "warn-data-after-stream", join(with_data(chunks, data + b"more"))
    yield "warn-too-many-rows", join(with_data(chunks, zlib.compress(zlib.decompress(data) + bytes(1000))))
    yield "refuse-too-few-rows", join(with_data(chunks, zlib.compress(zlib.decompress(data)[:-1])))
    raw = zlib.decompress(data)
    yield "refuse-filter-type", join(with_data(chunks, zlib.compress(b"\x07" + raw[1:])))
    many = [(b"IDAT", data[i : i + 1]) for i in range(len(data))]
    yield "accept-one-byte-chunks", join(chunks[:at] + many + [c for c in chunks[at:] if c[0] != b"IDAT"])
    for i in range(2, len(data), max(1, len(data) // 20)):
        yield f"either-data-{i:06}", join(with_data(chunks, flip(data, i)))


def broken_order(chunks):
    at = next(i for i, c in enumerate(chunks) if c[0] == b"IDAT")
    yield "refuse-header-last", join(chunks[1:-1] + [chunks[0], chunks[-1]])
    yield "refuse-header-twice", join(chunks[:1] + chunks)
    yield "refuse-no-header", join(chunks[1:])
    yield "refuse-end-first", join([chunks[0], chunks[-1]] + chunks[1:-1])
    yield "warn-no-end", join(chunks[:-1])
    yield "accept-chunks-after-end", join(chunks + [(b"tEXt", b"a\0b")])
    yield "accept-trailing-garbage", join(chunks) + b"garbage" * 1000
    palette = (b"PLTE", bytes(range(6)))
    yield "either-palette-after-data", join(chunks[:-1] + [palette, chunks[-1]])
    yield "refuse-critical-unknown", join(chunks[:at] + [(b"CrIt", b"x")] + chunks[at:])
    yield "accept-huge-ancillary", join(chunks[:at] + [(b"hUGe", bytes(20 << 20))] + chunks[at:])
    bomb = b"profile\0\0" + zlib.compress(bytes(50 << 20), 9)
    yield "warn-profile-bomb", join(chunks[:1] + [(b"iCCP", bomb)] + chunks[1:])
    yield "warn-text-bomb", join(chunks[:at] + [(b"zTXt", bomb)] * 3 + chunks[at:])
    yield "refuse-chunk-length", SIGNATURE + chunk(*chunks[0]) + b"\xff\xff\xff\xfftEXt" + join(chunks[1:])
    yield "accept-animation", join(chunks[:1] + [(b"acTL", struct.pack(">II", 2, 0))] + chunks[1:])
    yield "either-split-data", join(chunks[: at + 1] + [(b"tEXt", b"a\0b")] + [(b"IDAT", b"")] + chunks[at + 1 :])


def broken_headers(chunks):
    """The header lies about the image."""
    width, height, depth, color, *_ = struct.unpack(">IIBBBBB", chunks[0][1])

    def lying(*fields, **more):
        return join([header(*fields, **more)] + chunks[1:])

    for w, h in ((0, height), (width, 0), (0, 0), (787402, 787402), (0x7FFFFFFF, 0x7FFFFFFF), (0x80000000, 1), (0xFFFFFFFF, 0xFFFFFFFF),
                 (0x10000, 0x10000), (1, 0x7FFFFFFF), (0x7FFFFFFF, 1), (width + 1, height), (width, height + 1)):
        yield f"refuse-size-{w}x{h}", lying(w, h, depth, color)
        yield f"refuse-size-{w}x{h}-interlaced", lying(w, h, depth, color, interlace=1)
    for bad in (0, 3, 5, 7, 9, 17, 32, 255):
        yield f"refuse-depth-{bad}", lying(width, height, bad, color)
    for bad in (1, 5, 7, 8, 255):
        yield f"refuse-color-{bad}", lying(width, height, depth, bad)
    yield "refuse-compression", lying(width, height, depth, color, compression=1)
    yield "refuse-filtering", lying(width, height, depth, color, filtering=1)
    yield "refuse-interlace", lying(width, height, depth, color, interlace=2)
    yield "refuse-header-short", join([(b"IHDR", chunks[0][1][:12])] + chunks[1:])
    yield "refuse-header-long", join([(b"IHDR", chunks[0][1] + b"\0")] + chunks[1:])


def palettes():
    """Made from nothing: palettes that are missing, broken or too short, and transparency that does not fit."""
    raw = b"".join(b"\0" + bytes(range(16)) for _ in range(16))
    data, end = (b"IDAT", zlib.compress(raw)), (b"IEND", b"")
    head = header(16, 16, 8, 3)
    full = (b"PLTE", bytes(range(48)))
    yield "accept-palette", join([head, full, data, end])
    yield "accept-palette-index-range", join([head, (b"PLTE", bytes(range(9))), data, end])
    yield "refuse-palette-missing", join([head, data, end])
    yield "refuse-palette-length", join([head, (b"PLTE", bytes(10)), data, end])
    yield "refuse-palette-empty", join([head, (b"PLTE", b""), data, end])
    yield "refuse-palette-long", join([head, (b"PLTE", bytes(771)), data, end])
    yield "either-palette-twice", join([head, full, full, data, end])
    yield "either-transparency-long", join([head, full, (b"tRNS", bytes(17)), data, end])
    yield "either-transparency-empty", join([head, full, (b"tRNS", b""), data, end])
    yield "either-transparency-first", join([head, (b"tRNS", bytes(4)), full, data, end])
    yield "accept-transparency", join([head, full, (b"tRNS", bytes(4)), data, end])
    gray = header(16, 16, 8, 0)
    yield "either-gray-palette", join([gray, full, data, end])
    yield "either-gray-transparency-short", join([gray, (b"tRNS", b"\0"), data, end])
    yield "either-gray-transparency-range", join([gray, (b"tRNS", b"\xff\xff"), data, end])
    alpha = header(8, 16, 8, 4)
    yield "either-alpha-transparency", join([alpha, (b"tRNS", b"\0\1"), data, end])
    yield "refuse-nothing-but-signature", SIGNATURE
    yield "refuse-text-mode", b"\x89PNG\n\x1a\n" + join([gray, data, end])[8:]


def variants(png):
    chunks = split(png)
    yield "accept-whole", png
    yield from truncations(png)
    yield from broken_crcs(chunks)
    yield from flipped_bytes(png)
    yield from broken_data(chunks)
    yield from broken_order(chunks)
    yield from broken_headers(chunks)


def write_all(folder, sources):
    os.makedirs(folder, exist_ok=True)

    def put(name, data):
        with open(os.path.join(folder, name + ".png"), "wb") as out:
            out.write(data)

    for name, data in palettes():
        put(name, data)
    for source in sources:
        stem = os.path.splitext(os.path.basename(source))[0]
        with open(source, "rb") as file:
            png = file.read()
        for name, data in variants(png):
            put(f"{name}-{stem}", data)


def main(arguments):
    command = []
    if "--then" in arguments:
        at = arguments.index("--then")
        arguments, command = arguments[:at], arguments[at + 1 :]
    if len(arguments) < 2:
        sys.exit(__doc__)
    folder, *sources = arguments
    if folder != "-":
        write_all(folder, sources)
        return subprocess.call(command + [folder]) if command else 0
    with tempfile.TemporaryDirectory() as temporary:
        write_all(temporary, sources)
        return subprocess.call(command + [temporary]) if command else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
