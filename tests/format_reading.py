"""The checks of the column 'read' of tools/format_table.py: ImageMagick, Pillow, OpenCV and tiffcp make the files."""
import struct

from format_checks import (EXACT, HEIGHT, MAGICK, WIDTH, Tally, check, convert, covers, magick_write, name_for, need, ours, picture,
                           reads, refused, rgba, same)
from format_programs import PROGRAMS, Image, np, output, pillow

BLEND = 1.5 / 255  # what two ways to turn CMYK into RGB may differ by


def write_tga(pixels, path, **options):
    """Pillow's, since ImageMagick turns the rows round and does not say so."""
    need("Pillow")
    Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(path, **options)
    return path


def gray_and_rgb(kind, *dtypes, tolerance=EXACT, mean=None, options=()):
    for dtype in dtypes or (np.uint8,):
        for channels in (1, 3):
            pixels = picture(channels, dtype)
            path = write_tga(pixels, name_for(kind)) if kind == "tga" else magick_write(pixels, name_for(kind), *options)
            reads(kind, path, pixels, tolerance=tolerance, mean=mean)


@covers("read", "gray, RGB", "pam", "pfm", "jpeg", "tiff", "tga")
def read_gray_rgb(kind):
    if kind == "jpeg":
        for channels in (1, 3):
            reads(kind, magick_write(picture(channels), name_for(kind), "-quality", "90"))
    else:
        gray_and_rgb(kind, np.float32 if kind == "pfm" else np.uint8)


@covers("read", "RGB", "hdr")
def read_rgb(kind):
    reads(kind, magick_write(picture(3, np.float32), name_for(kind)), tolerance=1 / 128)


@covers("read", "PBM, PGM, PPM", "pnm")
def read_portable(kind):
    bits = np.where(picture(1) > 128, 255, 0).astype(np.uint8)
    reads(kind, magick_write(bits, "bits.pbm"), bits)
    gray_and_rgb(kind, np.uint8, np.uint16)
    reads(kind, magick_write(picture(1), "gray.pgm"), picture(1))


@covers("read", "plain and binary", "pnm")
def read_plain(kind):
    bits = np.where(picture(1) > 128, 255, 0).astype(np.uint8)
    for compress in ("None", "Zip"):
        reads(kind, magick_write(bits, "bits.pbm", "-compress", compress), bits)
        reads(kind, magick_write(picture(3), "plain.ppm", "-compress", compress), picture(3))
        with open("plain.ppm", "rb") as file:
            check(file.read(2) == (b"P3" if compress == "None" else b"P6"), "not the kind that it should be")


@covers("read", "any maxval", "pnm", "pam")
def read_maxval(kind):
    need("ImageMagick")
    rng = np.random.default_rng(1)
    for top in (1, 3, 100, 255, 1000, 65534):
        values = rng.integers(0, top + 1, (7, 9, 3))
        wide = values.astype(">u2" if top > 255 else "u1").tobytes()
        with open(name_for(kind), "wb") as file:
            file.write((f"P6\n9 7\n{top}\n" if kind == "pnm" else f"P7\nWIDTH 9\nHEIGHT 7\nDEPTH 3\nMAXVAL {top}\nTUPLTYPE RGB\nENDHDR\n")
                       .encode() + wide)
        full = 65535 if top > 255 else 255
        scaled = ((values * full + top // 2) // top).astype(np.uint16 if top > 255 else np.uint8)
        same(ours(name_for(kind)), rgba(scaled), f"maxval {top}")
        reads(kind, name_for(kind), readers=("ImageMagick",), tolerance=1.01 / full)


@covers("read", "several images", "pnm", "pam", "pfm")
def read_several(kind):
    first, second = (picture(c, np.float32 if kind == "pfm" else np.uint8) for c in (3, 1))
    data = b""
    for pixels in (first, second):
        with open(magick_write(pixels, name_for(kind, "one")), "rb") as file:
            data += file.read()
    with open(name_for(kind), "wb") as file:
        file.write(data)
    refused(name_for(kind), "no.png", "2 images")
    for page, pixels in ((1, first), (2, second)):
        got = ours(name_for(kind), "--page", page, kind="pfm" if kind == "pfm" else "pam")
        same(got, rgba(pixels), f"image {page}", MAGICK)
        same(got, PROGRAMS["ImageMagick"](f"{name_for(kind)}[{page - 1}]"), f"image {page} in ImageMagick", MAGICK)
        Tally.compared += 1


@covers("read", "alpha", "psd")
def read_psd_alpha(kind):
    """Colours stand there blended over white, and ImageMagick takes the white out of them, too."""
    pixels = picture(4)
    pixels[:, :, 3] |= 128
    alpha = pixels[:, :, 3:] / 255.0
    blended = np.floor(pixels[:, :, :3] * alpha + 255 * (1 - alpha) + 0.5).astype(np.uint8)
    stored = np.concatenate([blended, pixels[:, :, 3:]], axis=2)
    reads(kind, magick_write(stored, name_for(kind)), pixels, tolerance=2 / 255)


@covers("read", "alpha", "png", "pam", "tiff", "webp", "bmp", "tga")
def read_alpha(kind):
    pixels = picture(4)
    path = name_for(kind)
    if kind == "webp":
        need("Pillow")
        Image.fromarray(pixels).save(path, lossless=True, exact=True)
    elif kind == "tga":
        need("Pillow")
        Image.fromarray(pixels).save(path)
    else:
        magick_write(pixels, path)
    reads(kind, path, pixels)
    if kind in ("png", "pam", "tiff"):
        reads(kind, magick_write(picture(2), path), picture(2))
        reads(kind, magick_write(picture(4, np.uint16), path), picture(4, np.uint16))


@covers("read", "data channels", "pam", "tiff")
def read_data(kind):
    pixels = picture(4)
    if kind == "tiff":
        need("Pillow", "tiffcp")
        Image.fromarray(pixels).save("alpha.tif")
        output("tiffset", "-s", "338", "1", "0", "alpha.tif")
        path = "alpha.tif"
    else:
        with open("data.pam", "wb") as file:
            height, width, _ = pixels.shape
            file.write(f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE OTHER\nENDHDR\n".encode() + pixels.tobytes())
        path = "data.pam"
    # If it were alpha this would be blended, and a transparent pixel would lose its colour.
    convert(path, "blurred.pam", "-f", "box=1")
    with open("blurred.pam", "rb") as file:
        data = file.read()
    check(b"_ALPHA" not in data and data.endswith(pixels.tobytes()), "a data channel has become something else")
    refused(path, "no.png", "--alpha yes")
    reads(kind, path, pixels, readers=("netpbm",) if kind == "pam" else ("vips",))


@covers("read", "gray and RGB of 1 to 16 bits", "png")
def read_png_bits(kind):
    gray_and_rgb(kind, np.uint8, np.uint16)
    for bits in (1, 2, 4):
        top = (1 << bits) - 1
        values = (picture(1).astype(int) * top // 255)
        full = (values * (255 // top)).astype(np.uint8)
        path = magick_write(full, name_for(kind), "-define", f"png:bit-depth={bits}", "-define", "png:color-type=0")
        with open(path, "rb") as file:
            check(file.read(26)[24:] == bytes([bits, 0]), f"ImageMagick did not write {bits} bits")
        reads(kind, path, full)


def palette(path, colors, *options):
    magick_write(picture(3), "many.png")
    output("convert", "many.png", "+dither", "-colors", str(colors), "-type", "Palette", *options, path)
    return path


@covers("read", "palettes", "png", "tiff", "tga")
def read_palettes(kind):
    for colors in (2, 16, 200):
        if kind == "tga":
            need("Pillow", "ImageMagick")
            Image.fromarray(picture(3)).quantize(colors).save(name_for(kind))
            reads(kind, name_for(kind))
        else:
            path = palette(f"PNG8:{name_for(kind)}" if kind == "png" else name_for(kind), colors).split(":")[-1]
            # A TIFF's palette has 16 bits; what is read of it, also elsewhere, are 8.
            reads(kind, path, readers=("vips", "Pillow") if kind == "tiff" else None)


@covers("read", "palettes of 1, 4 and 8 bits", "bmp")
def read_bmp_palettes(kind):
    for colors, bits in ((2, 1), (16, 4), (200, 8)):
        path = palette(f"BMP3:{name_for(kind)}", colors, "-compress", "None").split(":")[1]
        with open(path, "rb") as file:
            check(file.read(30)[28] == bits, f"ImageMagick did not write {bits} bits")
        reads(kind, path)


@covers("read", "RGB of 16 and 24 bits", "bmp")
def read_bmp_rgb(kind):
    pixels = picture(3)
    reads(kind, magick_write(pixels, name_for(kind)), pixels)
    five = (pixels >> 3).astype("<u2")
    rows = five[::-1, :, 0] << 10 | five[::-1, :, 1] << 5 | five[::-1, :, 2]
    rows = np.pad(rows, ((0, 0), (0, rows.shape[1] % 2)))
    head = struct.pack("<2sIHHI", b"BM", 54 + rows.nbytes, 0, 0, 54)
    head += struct.pack("<IiiHHIIiiII", 40, WIDTH, HEIGHT, 1, 16, 0, rows.nbytes, 0, 0, 0, 0)
    with open(name_for(kind), "wb") as file:
        file.write(head + rows.tobytes())
    # Five bits become eight by repetition here and by scaling there.
    reads(kind, name_for(kind), readers=("ImageMagick", "Pillow"), tolerance=1.01 / 255)


@covers("read", "a transparent colour", "png", "gif")
def read_transparent(kind):
    need("Pillow", "ImageMagick")
    image = Image.fromarray(picture(3)).quantize(7)
    image.save(name_for(kind), transparency=3)
    reads(kind, name_for(kind))
    check((ours(name_for(kind))[:, :, 3] == 0).any(), "nothing is transparent")
    if kind == "png":
        pixels = picture(3)
        Image.fromarray(pixels).save(name_for(kind), transparency=tuple(int(v) for v in pixels[5, 5]))
        reads(kind, name_for(kind))


@covers("read", "interlaced", "png", "gif")
def read_interlaced(kind):
    if kind == "png":
        reads(kind, magick_write(picture(3), name_for(kind), "-interlace", "PNG"), picture(3))
        with open(name_for(kind), "rb") as file:
            check(file.read(29)[28] == 1, "ImageMagick did not interlace")
        return
    for height in (1, 2, 3, 4, 5, 8, 9, 17):
        magick_write(picture(3, size=(31, height)), "many.png")
        output("convert", "many.png", "-colors", "60", "-interlace", "GIF", name_for(kind))
        reads(kind, name_for(kind))


def frames(count, path, **options):
    """Frames of which each covers a part of the one before."""
    need("Pillow", "ImageMagick")
    images = []
    for i in range(count):
        pixels = picture(4, size=(40, 30))
        pixels[:, :, 3] = 255
        if i:
            pixels[5 + i:20, 4 * i:30] = 255 - pixels[5 + i:20, 4 * i:30]
        images.append(Image.fromarray(pixels))
    images[0].save(path, save_all=True, append_images=images[1:], duration=50, **options)


@covers("read", "one frame of an animation", "gif", "webp")
def read_frames(kind):
    frames(4, name_for(kind), **({"lossless": True} if kind == "webp" else {"disposal": 2}))
    refused(name_for(kind), "no.png", "4 frames")
    refused(name_for(kind), "no.png", "no page 5", "--page", 5)
    for page in range(1, 5):
        got = ours(name_for(kind), "--page", page)
        same(got, pillow(name_for(kind), page - 1), f"frame {page} in Pillow")
        Tally.compared += 1
    if kind == "gif":
        disposed(kind)


def disposed(kind):
    """All ways to go on from a frame, with frames smaller than the image: as ImageMagick puts them together."""
    rng = np.random.default_rng(3)
    command = ["convert"]
    for i, dispose in enumerate(("none", "background", "previous", "undefined", "previous", "none")):
        pixels = rng.integers(0, 256, (9, 13, 4), dtype=np.uint8)
        pixels[:, :, 3] = np.where(pixels[:, :, 3] < 90, 0, 255)
        Image.fromarray(pixels).save(f"part{i}.png")
        command += ["(", f"part{i}.png", "-repage", f"20x15+{i}+{5 - i}", "-set", "dispose", dispose, ")"]
    output(*command, name_for(kind))
    output("convert", name_for(kind), "-coalesce", "whole%d.png")
    for page in range(1, 7):
        same(ours(name_for(kind), "--page", page), pillow(f"whole{page - 1}.png"), f"frame {page} as ImageMagick disposes of it")
        Tally.compared += 1


@covers("read", "still images", "gif")
def read_gif(kind):
    for colors in (2, 3, 100, 256):
        magick_write(picture(3), "many.png")
        output("convert", "many.png", "-colors", str(colors), name_for(kind))
        reads(kind, name_for(kind), readers=("ImageMagick", "Pillow"))
        reads(kind, name_for(kind), options=("--page", 1))


@covers("read", "the default image of an animation", "png")
def read_apng(kind):
    frames(3, name_for(kind))
    check("animat" in convert(name_for(kind), "one.png"), "without a notice")
    same(ours(name_for(kind)), pillow(name_for(kind)), "the default image")
    Tally.compared += 1
    refused(name_for(kind), "no.png", "page 2", "--page", 2)


@covers("read", "CMYK (becomes RGB)", "jpeg", "tiff")
def read_cmyk(kind):
    need("Pillow")
    image = Image.fromarray(picture(3)).convert("CMYK")
    path = name_for(kind)
    image.save(path, **({"quality": 95} if kind == "jpeg" else {}))
    check("CMYK" in convert(path, "cmyk.png"), "without a notice")
    reads(kind, path, readers=("Pillow",), tolerance=BLEND)


@covers("read", "any subsampling", "jpeg")
def read_subsampling(kind):
    for factors in ("1x1", "2x1", "2x2", "1x2", "4x1", "4x2"):
        reads(kind, magick_write(picture(3), name_for(kind), "-sampling-factor", factors))


@covers("read", "progressive", "jpeg")
def read_progressive(kind):
    for channels in (1, 3):
        path = magick_write(picture(channels), name_for(kind), "-interlace", "JPEG")
        with open(path, "rb") as file:
            check(b"\xff\xc2" in file.read(), "ImageMagick did not write a progressive file")
        reads(kind, path)


@covers("read", "lossy, lossless", "webp")
def read_webp(kind):
    need("Pillow")
    for options in ({"lossless": True}, {"quality": 80}):
        Image.fromarray(picture(3)).save(name_for(kind), **options)
        reads(kind, name_for(kind), picture(3) if "lossless" in options else None)


@covers("read", "run lengths", "tga", "psd")
def read_runs(kind):
    pixels = picture(3)
    pixels[10:20] = pixels[0, 0]
    for packed in (False, True):
        if kind == "tga":
            path = write_tga(pixels, name_for(kind), **({"compression": "tga_rle"} if packed else {}))
        else:
            path = magick_write(pixels, name_for(kind), "-compress", "RLE" if packed else "None")
        reads(kind, path, pixels)


@covers("read", "RGB of 8 and 16 bits", "psd")
def read_psd(kind):
    for dtype in (np.uint8, np.uint16):
        reads(kind, magick_write(picture(3, dtype), name_for(kind)), picture(3, dtype))
