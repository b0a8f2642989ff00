"""Checks of tools/format_table.py that are about TIFF alone: layouts, samples, tags. tiffcp and ImageMagick make the files."""
from format_checks import (HEIGHT, MAGICK, WIDTH, Tally, check, convert, covers, installed, magick_write, name_for, need, ours, picture,
                           reads, refused, rgba, same, seen)
from format_programs import PROGRAMS, Image, np, output, pillow
from format_reading import gray_and_rgb
from format_writing import tags as exiftool


def by_hand(path, width, height, bits, channels, data, **tags):
    """A TIFF file made of its tags. What makes it wants these programs when it is loaded."""
    need("tiffcp", "Pillow", "OpenCV")
    from tiff_files import basic, tiff
    return tiff(path, basic(width, height, bits, channels, 2 if channels > 2 else 1, **tags), data)


@covers("read", "8 and 16 bits", "tiff")
def read_8_16(kind):
    gray_and_rgb(kind, np.uint8, np.uint16)


@covers("read", "float", "tiff")
def read_float(kind):
    for channels in (1, 3):
        pixels = picture(channels, np.float32)
        path = by_hand(name_for(kind), WIDTH, HEIGHT, 32, channels, pixels.tobytes(), t339=(3, [3] * channels))
        same(ours(path, kind="pfm"), rgba(pixels), "float")
        for program in installed(("vips", "ImageMagick")):
            Tally.compared += 1
            same(ours(path, kind="pfm"), PROGRAMS[program](path), f"float in {program}", MAGICK)


@covers("read", "1, 2 and 4 bits", "tiff")
def read_tiff_bits(kind):
    for bits in (1, 2, 4):
        top = (1 << bits) - 1
        full = (picture(1).astype(int) * top // 255 * (255 // top)).astype(np.uint8)
        path = magick_write(full, name_for(kind), "-depth", str(bits), *(["-type", "Bilevel"] if bits == 1 else []))
        reads(kind, path, full, readers=("ImageMagick",))


def tiffcp(pixels, *options, path="layout.tif"):
    need("tiffcp")
    output("tiffcp", *options, magick_write(pixels, "plain.tif", "-compress", "None"), path)
    return path


@covers("read", "strips, tiles, planes", "tiff")
def read_layouts(kind):
    for options in (("-s", "-r", "5"), ("-s", "-r", "1000"), ("-t", "-w", "32", "-l", "16"), ("-p", "separate"),
                    ("-p", "separate", "-t", "-w", "16", "-l", "32")):
        # vips cannot read tiles of planes.
        reads(kind, tiffcp(picture(3), *options), picture(3), readers=("ImageMagick",) if options[0] == "-p" else None)


@covers("read", "both byte orders", "tiff", "pfm")
def read_orders(kind):
    if kind == "tiff":
        for option in ("-B", "-L"):
            reads(kind, tiffcp(picture(3, np.uint16), option), picture(3, np.uint16))
        return
    pixels = picture(3, np.float32)
    for scale, order in (("1.0", ">f4"), ("-1.0", "<f4")):
        with open("order.pfm", "wb") as file:
            file.write(f"PF\n{pixels.shape[1]} {pixels.shape[0]}\n{scale}\n".encode() + pixels[::-1].astype(order).tobytes())
        reads(kind, "order.pfm", pixels)


@covers("read", "BigTIFF", "tiff")
def read_big(kind):
    path = tiffcp(picture(3), "-8")
    with open(path, "rb") as file:
        check(file.read(4)[2] == 43, "tiffcp did not write BigTIFF")
    reads(kind, path, picture(3))


@covers("read", "LZW, deflate, PackBits, LZMA, Zstandard, JPEG, CCITT", "tiff")
def read_compressions(kind):
    for codec in ("none", "lzw:2", "zip:2", "packbits", "lzma", "zstd:2"):
        # ImageMagick and vips may be built without the last two, so that tiffcp unpacks for them.
        path = tiffcp(picture(3), "-c", codec)
        reads(kind, path, picture(3), readers=("vips", "ImageMagick") if codec[0] not in "lz" or codec == "lzw:2" else ("vips",))
    output("tiffcp", "-c", "jpeg:90", "-r", "16", "plain.tif", "jpeg.tif")
    reads(kind, "jpeg.tif", readers=("Pillow",), tolerance=1.01 / 255)
    bits = np.where(picture(1) > 128, 255, 0).astype(np.uint8)
    for codec in ("Fax", "Group4", "RLE"):
        reads(kind, magick_write(bits, "fax.tif", "-type", "Bilevel", "-compress", codec), bits, readers=("ImageMagick",))


@covers("read", "one of several pages", "tiff")
def read_pages(kind):
    need("Pillow")
    images = [Image.fromarray(picture(c)[:, :, 0] if c == 1 else picture(c)) for c in (3, 1, 4)]
    images[0].save("pages.tif", save_all=True, append_images=images[1:])
    refused("pages.tif", "no.png", "3 pages")
    for page in (1, 2, 3):
        same(ours("pages.tif", "--page", page), pillow("pages.tif", page - 1), f"page {page}")
        Tally.compared += 1


@covers("kept", "GeoTIFF tags", "tiff")
def keep_geo(kind):
    by_hand("geo.tif", 30, 20, 8, 1, bytes(600), t33550=(12, [0.5, 0.25, 0.0]), t33922=(12, [0.0, 0.0, 0.0, 10.5, 47.25, 0.0]),
            t34735=(3, [1, 1, 0, 1, 1024, 0, 1, 2]), t42113=(2, list(b"-9999\0")))
    convert("geo.tif", name_for(kind), "-f", "invert")
    names = ("IFD0:PixelScale", "IFD0:ModelTiePoint", "GeoTiff:GTModelType", "IFD0:GDALNoData")
    before, after = exiftool("geo.tif"), exiftool(name_for(kind))
    check(all(name in before and before[name] == after.get(name) for name in names), [(before.get(n), after.get(n)) for n in names])
    Tally.compared += 1


@covers("kept", "tiles, planes, byte order, lossless compression", "tiff")
def keep_layout(kind):
    need("tiffcp")
    magick_write(picture(3), "plain.tif", "-compress", "None")
    for options, marks in ((("-t", "-w", "32", "-l", "16", "-c", "lzw:2"), ("Tile Width: 32 Tile Length: 16", "LZW")),
                           (("-p", "separate", "-c", "packbits"), ("separate image planes", "PackBits")),
                           (("-B", "-c", "zip"), ("AdobeDeflate",))):
        output("tiffcp", *options, "plain.tif", "layout.tif")
        convert("layout.tif", name_for(kind), "-f", "invert")
        info = output("tiffinfo", name_for(kind)).decode()
        with open(name_for(kind), "rb") as file:
            check((file.read(2) == b"MM") == ("-B" in options), "the byte order is another")
        check(all(mark in info for mark in marks), info)
        seen(kind, name_for(kind), 255 - picture(3), readers=("ImageMagick",))
