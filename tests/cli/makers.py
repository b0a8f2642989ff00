"""Files of the kinds of images, made byte by byte: whole ones, and headers that claim what is not there."""
import struct
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width, height, data, depth=8, color=0, before=b"", interlaced=0):
    """A PNG with this content of its IDAT chunk."""
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + before + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def pam(width, height, channels, maxval, data=b""):
    return f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {maxval}\nENDHDR\n".encode() + data


TYPES = {1: "B", 2: "B", 3: "H", 4: "I", 5: "II", 7: "B", 12: "d", 16: "Q"}


def tiff(*pages, big_endian=False, circle=False):
    """A page is (tags, strip): tags are {number: (type, values)}, and the strip's place and length are added to them. With `circle`
    the last page is followed by the first."""
    order = ">" if big_endian else "<"
    out = bytearray((b"MM" if big_endian else b"II") + struct.pack(order + "HI", 42, 0))
    link, first = 4, None
    for tags, strip in pages:
        tags = {**tags, 273: (4, [len(out)]), 279: (4, [len(strip)])}
        out += strip + bytes(len(strip) % 2)
        entries = b""
        for number, (kind, values) in sorted(tags.items()):
            data = struct.pack(f"{order}{len(values)}{TYPES[kind]}", *values)
            if len(data) > 4:
                place = len(out)
                out += data + bytes(len(data) % 2)
                data = struct.pack(order + "I", place)
            entries += struct.pack(order + "HHI", number, kind, len(values)) + data.ljust(4, b"\0")
        struct.pack_into(order + "I", out, link, len(out))
        first = first or len(out)
        link = len(out) + 2 + len(entries)
        out += struct.pack(order + "H", len(tags)) + entries + bytes(4)
    if circle:
        struct.pack_into(order + "I", out, link, first)
    return bytes(out)


def tags(width, height, bits=8, channels=1, photometric=1, **more):
    """Those of a page of one strip; more of them as t338=(3, [2])."""
    return {256: (4, [width]), 257: (4, [height]), 258: (3, [bits] * channels), 259: (3, [1]), 262: (3, [photometric]),
            277: (3, [channels]), 278: (4, [height]), **{int(name[1:]): value for name, value in more.items()}}


def gray_tiff(width, height, pixels, **more):
    return tiff((tags(width, height, **more), pixels))


# A frame of two by two pixels, of the colours 0 to 3 in turn.
GIF_FRAME = b",\0\0\0\0\2\0\2\0\0\2\3\x44\x02\x05\0"


def gif(frames, width=2, height=2):
    palette = bytes((0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255))
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x91\0\0" + palette + GIF_FRAME * frames + b";"


def bmp(width, height, pixels=b"", bits=24):
    head = struct.pack("<2sIHHI", b"BM", 54 + len(pixels), 0, 0, 54)
    return head + struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, 0, 0, 0, 0, 0) + pixels


def tga(width, height, pixels=b"", bits=24):
    return b"\0\0\2" + bytes(9) + struct.pack("<HHBB", width, height, bits, 0x20) + pixels


def psd(width, height, pixels=b"", depth=8):
    return b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 3, height, width, depth, 3) + bytes(12) + b"\0\0" + pixels


def hdr(width, height, pixels=b""):
    return f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n".encode() + pixels


def riff(*chunks):
    body = b"WEBP" + b"".join(name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2) for name, data in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def lossless(width, height, channels=4):
    """The chunk VP8L of one colour: five codes of one symbol each, which need no bits. Bits come from the lowest on."""
    bits = number = 0

    def put(value, count):
        nonlocal bits, number
        number |= value << bits
        bits += count

    put(0x2f, 8)
    put(width - 1, 14)
    put(height - 1, 14)
    put(channels == 4, 1)
    put(0, 3)  # version
    put(0, 1)  # no transform
    put(0, 1)  # no cache of colours
    put(0, 1)  # one group of codes
    for symbol in (77, 1, 2, 255):  # green, red, blue, alpha
        put(1 | 0 << 1 | 1 << 2, 3)  # simple, one symbol, of eight bits
        put(symbol, 8)
    put(1, 4)  # distances: simple, one symbol of one bit, which is 0
    return number.to_bytes((bits + 7) // 8 + 4, "little")


def webp(frames, width=4, height=4):
    """One image, or an animation of several."""
    data = lossless(width, height)
    if frames == 1:
        return riff((b"VP8L", data))

    def three(value):
        return struct.pack("<I", value)[:3]

    frame = three(0) + three(0) + three(width - 1) + three(height - 1) + three(50) + b"\0"
    frame += b"VP8L" + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)
    return riff((b"VP8X", b"\x12\0\0\0" + three(width - 1) + three(height - 1)), (b"ANIM", bytes(6)), *[(b"ANMF", frame)] * frames)
