"""The checks of the columns 'written', 'by rows', 'kept' and 'lost' of tools/format_table.py."""
import json
import os
import re
import subprocess

from format_checks import (EXACT, MAGICK, READERS, Tally, attempt, check, convert, covers, magick_write, name_for, need, ours, picture,
                           refused, rgba, same, seen, source)
from format_programs import PROGRAMS, Image, THERE, difference, np, output, pillow

WRITTEN = ("png", "pnm", "pam", "pfm", "jpeg", "tiff", "webp", "bmp", "tga", "hdr")
LOSS = {"jpeg": (0.25, 0.02), "webp": (0.25, 0.03), "hdr": (1 / 127, 1 / 255)}  # greatest and mean difference


def written(kind, pixels, *options):
    """Writes the pixels, and has other programs look at them."""
    convert(source(pixels), name_for(kind), *options)
    lossy = kind in LOSS and "100" not in options
    most, mean = LOSS[kind] if lossy else (EXACT, None)
    readers = READERS[kind] + (("Pillow",) if kind in ("png", "bmp", "tiff") and pixels.dtype == np.uint8 else ())
    seen(kind, name_for(kind), pixels, most, mean, readers)


@covers("written", "gray, RGB", "png", "pnm", "pam", "pfm", "jpeg", "tiff", "tga")
@covers("written", "RGB", "webp", "bmp", "hdr")
def write_colors(kind):
    for channels in (1, 3):
        written(kind, picture(channels, np.float32 if kind in ("pfm", "hdr") else np.uint8))


@covers("written", "alpha", "png", "pam", "tiff", "webp", "bmp", "tga")
def write_alpha(kind):
    if kind in ("bmp", "tga"):  # ImageMagick 6 takes their alpha for nothing, or the rows for turned
        convert(source(picture(4)), name_for(kind))
        seen(kind, name_for(kind), picture(4), readers=("ImageMagick",))
    else:
        written(kind, picture(4), "--quality", "100")
    if kind in ("png", "pam", "tiff"):
        written(kind, picture(2))
        written(kind, picture(4, np.uint16))


@covers("written", "data channels", "pam", "tiff")
def write_data(kind):
    pixels = picture(4)
    convert(source(pixels), name_for(kind), "--alpha", "no")
    seen(kind, name_for(kind), pixels, readers=("netpbm",) if kind == "pam" else ("vips",))
    if kind == "tiff" and THERE["exiftool"]:
        check(tags(name_for(kind)).get("IFD0:ExtraSamples") == 0, "the channel is not said to be data")


@covers("written", "8 and 16 bits", "png", "pnm", "pam", "tiff")
@covers("written", "8 bits", "jpeg", "webp", "bmp", "tga")
@covers("written", "float", "pfm", "tiff", "hdr")
def write_types(kind):
    types = {"png": "u8 u16", "pnm": "u8 u16", "pam": "u8 u16", "tiff": "u8 u16 f32", "pfm": "f32", "hdr": "f32"}.get(kind, "u8")
    listed = {f["name"]: f["types"] for f in json.loads(attempt("--list-formats", "--json").stdout)}
    check(listed[kind] == types, "--list-formats says", listed[kind])
    for name in types.split():
        written(kind, picture(3, {"u8": np.uint8, "u16": np.uint16, "f32": np.float32}[name]))


@covers("written", "several images", "pnm", "pam", "pfm")
def write_several(kind):
    pixels = [picture(c, np.float32 if kind == "pfm" else np.uint8) for c in (3, 1)]
    data = b"".join(open(source(p), "rb").read() for p in pixels)
    with open("all.pam", "wb") as file:
        file.write(data)
    convert("all.pam", name_for(kind), "-f", "blur=0")
    for i, want in enumerate(pixels):
        Tally.compared += 1
        same(PROGRAMS["ImageMagick"](f"{name_for(kind)}[{i}]"), rgba(want), f"image {i + 1} in ImageMagick", MAGICK)


@covers("written", "nothing", "gif", "psd")
def write_nothing(kind):
    need("Pillow")
    result = attempt(source(picture(3)), "-o", name_for(kind))
    check(result.returncode == 2 and "not written" in result.stderr and not os.path.exists(name_for(kind)), result.stderr)
    # A folder gets a PNG instead.
    path = magick_write(picture(3), name_for(kind, "only"))
    result = attempt(path, "-o", "folder/")
    check(result.returncode == 0 and os.path.exists("folder/only.png"), result.stderr)
    Tally.compared += 1
    same(pillow("folder/only.png"), PROGRAMS["ImageMagick"](path), "what became PNG")


# --------------------------------------------------------------------------------------------------- by rows

TALL = (1000, 5000)  # 14.3 MiB as RGB
BUDGET, RESIDENT = "6M", 14 << 20


def tall(kind, *options):
    """A high picture, which is smooth, so that its file is small."""
    path = name_for(kind, "tall")
    if not os.path.exists("tall.ppm"):
        magick_write(picture(3, size=TALL, noise=0), "tall.ppm")
    if path != "tall.ppm":
        output("convert", "tall.ppm", *options, path)
    return path


def peak(*arguments):
    """What the command takes beside what any run takes."""
    def once(*all_arguments):
        with subprocess.Popen([Tally.imgpipe, *all_arguments], stderr=subprocess.PIPE) as process:
            text = process.stderr.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        check(process.returncode == 0, *all_arguments, text)
        return usage.ru_maxrss * 1024
    return once(*arguments) - once(source(picture(3)), "-o", "small.ppm")


def streamed(kind, path, target, *options):
    used = peak(path, "-o", target, "--memory", BUDGET, "-j", "2", *options)
    check(used < RESIDENT or os.environ.get("IMGPIPE_SANITIZED"), f"{used >> 20} MiB are resident")
    Tally.compared += 1
    reader = "Pillow" if kind in ("png", "pnm", "jpeg", "tiff") else "OpenCV"
    need(reader)
    most, mean = LOSS[kind] if kind in LOSS else (EXACT, None)
    same(PROGRAMS[reader](target), PROGRAMS["Pillow"](path) if path != "tall.pfm" else PROGRAMS["OpenCV"](path), f"{target} in {reader}",
         most, mean)


@covers("by rows", "in, unless interlaced", "png")
@covers("by rows", "in, unless progressive", "jpeg")
@covers("by rows", "in", "pnm", "pam", "pfm", "tiff")
def rows_in(kind):
    need("ImageMagick", "Pillow", "OpenCV")
    path, target = tall(kind), "out.ppm"
    if kind == "pam":
        used = peak(path, "-o", target, "--memory", BUDGET, "-j", "2")
        check(used < RESIDENT or os.environ.get("IMGPIPE_SANITIZED"), f"{used >> 20} MiB are resident")
        Tally.compared += 1
        same(pillow(target), pillow("tall.ppm"), "a PAM")
    else:
        streamed("pfm" if kind == "pfm" else "pnm", path, "out.pfm" if kind == "pfm" else target)
    if kind in ("png", "jpeg"):
        path = tall(kind, "-interlace", "PNG" if kind == "png" else "JPEG")
        refused(path, "never.ppm", "--memory", "--memory", BUDGET)


@covers("by rows", "out", "png", "pnm", "pam", "pfm", "jpeg", "tiff")
def rows_out(kind):
    need("ImageMagick", "Pillow", "OpenCV")
    streamed(kind, tall("pfm" if kind == "pfm" else "pnm"), name_for(kind, "out"))


@covers("by rows", "no", "webp", "bmp", "tga", "hdr", "gif", "psd")
def no_rows(kind):
    """Both ways need the whole image, and say so where the budget is too small for it."""
    need("ImageMagick")
    path = tall(kind)
    refused(path, "never.png", "--memory", "--memory", BUDGET)
    target, reader = ("whole.pfm", "OpenCV") if kind == "hdr" else ("whole.png", "Pillow")
    need(reader)
    convert(path, target, "--memory", "200M")
    other = "OpenCV" if kind == "hdr" else "Pillow" if kind in ("webp", "gif") else "ImageMagick"
    Tally.compared += 1
    same(PROGRAMS[reader](target), PROGRAMS[other](path), "the whole", *(LOSS["hdr"] if kind == "hdr" else (MAGICK, None)))
    if kind in WRITTEN:
        result = attempt(tall("pnm"), "-o", name_for(kind, "never"), "--memory", BUDGET)
        check(result.returncode == 1 and "written as a whole" in result.stderr and not os.path.exists(name_for(kind, "never")),
              result.stderr)


# ------------------------------------------------------------------------------------------- kept and lost

def tags(path):
    """What exiftool finds, as {"Group:Tag": value}."""
    need("exiftool")
    listed = subprocess.run(["exiftool", "-json", "-G1", "-n", path], stdout=subprocess.PIPE, check=False).stdout
    return json.loads(listed)[0]


def rich(path, exif=True):
    """A picture with an ICC profile, EXIF, XMP, IPTC (where the kind has it), a resolution and texts."""
    need("Pillow", "exiftool")
    from PIL import ImageCms, PngImagePlugin
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    options = {"icc_profile": profile, "dpi": (200, 200)}
    if path.endswith(".png"):
        info = PngImagePlugin.PngInfo()
        info.add_text("Description", TEXT)
        info.add_text("Comment", TEXT)
        options["pnginfo"] = info
    else:
        options["comment"] = TEXT.encode()
    Image.fromarray(picture(3)).save(path, **options)
    more = ["-EXIF:Artist=somebody"] if exif else []
    more += ["-IPTC:Keywords=a word"] if not path.endswith(".png") else []
    output("exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=a title", *more, path)
    if path.endswith(".png"):
        # Gamma goes in by hand: a profile goes before it for exiftool and for readers.
        with open(path, "rb") as file:
            data = file.read()
        import struct
        import zlib
        body = b"gAMA" + struct.pack(">I", 50000)
        with open(path, "wb") as file:
            file.write(data[:33] + struct.pack(">I", 4) + body + struct.pack(">I", zlib.crc32(body)) + data[33:])
    return path


# What must be found in exiftool's list if the item has been kept.
MARKS = {"ICC": r"^ICC", "EXIF": r"^IFD0:Artist$", "XMP": r"^XMP-dc:Title$", "IPTC": r"^IPTC:Keywords$",
         "gamma": r"^PNG:Gamma$"}
TEXT = "a text beside the pixels"


def holds(found, item):
    if item == "texts":
        return any(TEXT in str(value) for value in found.values())
    return any(re.search(MARKS[item], name) for name in found)


def carried(kind, item):
    """exiftool's list for a file of this kind made from one that has all of it."""
    if kind == "gif":
        return from_gif()
    options = ("--quality", "100") if kind == "webp" else ()
    source_file = rich("rich.jpg" if item == "IPTC" and kind == "png" else "rich.png")
    if item == "IPTC" and kind != "png":
        output("exiftool", "-q", "-m", "-overwrite_original", "-IPTC:Keywords=a word", source_file)
        check(holds(tags(source_file), "IPTC"), "exiftool wrote no IPTC into a PNG")
    text = convert(source_file, name_for(kind), *options)
    Tally.compared += 1
    return tags(name_for(kind)), text


def from_gif():
    """A GIF with all that it may have, as a PNG."""
    rich("rich.png")
    output("convert", "rich.png", "-colors", "50", "-comment", TEXT, "rich.gif")
    output("exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=a title", "rich.gif")
    before = tags("rich.gif")
    check("XMP-dc:Title" in before and any(name.startswith("ICC") for name in before), "the GIF is poor:", sorted(before))
    text = convert("rich.gif", "gif.png")
    Tally.compared += 1
    return tags("gif.png"), text


def keeps(item):
    def kept(kind):
        found, text = carried(kind, item)
        check(holds(found, item), f"{item} is not there:", sorted(found))
        check(item not in text, "it is said to be dropped:", text)
    return kept


def loses(item):
    def lost(kind):
        found, text = carried(kind, item)
        check(not holds(found, item), f"{item} is there after all")
        check(item in text or item not in ("ICC", "EXIF", "XMP", "IPTC"), f"{item} is dropped without a word:", text)
    return lost


for what, having in (("ICC", "png jpeg tiff webp gif"), ("EXIF", "png jpeg tiff webp"), ("XMP", "png jpeg tiff webp gif"),
                     ("IPTC", "png jpeg tiff"), ("gamma", "png"), ("texts", "png jpeg tiff gif")):
    covers("kept", what, *having.split())(keeps(what))
for what, lacking in (("IPTC", "webp"), ("gamma", "jpeg tiff webp"), ("texts", "webp")):
    covers("lost", what, *lacking.split())(loses(what))


@covers("kept", "resolution", "png", "jpeg", "tiff")
@covers("lost", "resolution, if EXIF has none", "webp")
def keep_resolution(kind):
    """200 dots an inch."""
    convert(rich("plain.png", exif=False), name_for(kind))
    found = tags(name_for(kind))
    Tally.compared += 1
    number = {"png": found.get("PNG-pHYs:PixelsPerUnitX"), "jpeg": found.get("JFIF:XResolution"), "tiff": found.get("IFD0:XResolution"),
              "webp": found.get("IFD0:XResolution")}[kind]
    wanted = {"png": 7874, "webp": None}.get(kind, 200)
    check(number == wanted or (number and wanted and abs(number - wanted) < 0.01), "the resolution is", number)


@covers("kept", "nothing", "pnm", "pam", "pfm", "bmp", "tga", "hdr", "psd")
@covers("lost", "all beside the pixels", "pnm", "pam", "pfm", "bmp", "tga", "hdr", "psd")
def lose_all(kind):
    if kind == "psd":
        output("convert", rich("rich.png"), name_for(kind))
        before = tags(name_for(kind))
        check(holds(before, "ICC"), "the PSD is poor:", sorted(before))
        convert(name_for(kind), "psd.png")
        found = tags("psd.png")
    else:
        found, text = carried(kind, "EXIF")
        check("ICC profile, EXIF, XMP" in text, "nothing is said of what is dropped:", text)
    left = [item for item in [*MARKS, "texts"] if holds(found, item)]
    check(not left, "there is", left)
    # exiftool does not know all of these kinds.
    with open("psd.png" if kind == "psd" else name_for(kind), "rb") as file:
        data = file.read()
    for mark in (b"acsp", b"somebody", b"a title", TEXT.encode()):
        check(mark not in data, mark, "is in the file")
    Tally.compared += 1


@covers("kept", "4:2:0", "jpeg")
def keep_subsampling(kind):
    for factors, wanted in (("2x2", "2x2,1x1,1x1"), ("1x1", "1x1,1x1,1x1")):
        convert(magick_write(picture(3), "in.jpg", "-sampling-factor", factors), name_for(kind))
        Tally.compared += 1
        check(output("identify", "-format", "%[jpeg:sampling-factor]", name_for(kind)).decode() == wanted, factors, "became another")


@covers("lost", "alpha (blended)", "pnm", "pfm", "jpeg", "hdr")
def lose_alpha(kind):
    pixels = picture(4, np.uint8)
    text = convert(source(pixels), name_for(kind), "--background", "#ff8000")
    check("blended" in text, "without a notice:", text)
    v, ground = rgba(pixels), np.array([1, 128 / 255, 0], np.float32)
    want = v[:, :, :3] * v[:, :, 3:] + ground * (1 - v[:, :, 3:])
    most, mean = LOSS.get(kind, (0.51 / 255 + EXACT, None))
    seen(kind, name_for(kind), want, most, mean)


@covers("lost", "16 bits and float (become 8 bits)", "jpeg", "webp", "bmp", "tga")
def lose_bits(kind):
    pixels = picture(3, np.uint16)
    text = convert(source(pixels), name_for(kind), "--quality", "100")
    check("converted to 8-bit RGB" in text, "without a notice:", text)
    rounded = ((pixels.astype(int) + 128) // 257).astype(np.uint8)
    seen(kind, name_for(kind), rounded, *((0.1, 0.01) if kind == "jpeg" else (EXACT, None)))
    text = convert(source(picture(3, np.float32)), name_for(kind), "--quality", "100")
    check("converted to 8-bit RGB" in text, "float without a notice:", text)
    seen(kind, name_for(kind), picture(3), *((0.1, 0.01) if kind == "jpeg" else (EXACT, None)))


@covers("lost", "float (becomes 16 bits)", "png", "pnm", "pam")
def lose_float(kind):
    text = convert(source(picture(3, np.float32)), name_for(kind))
    check("converted to 16-bit RGB" in text, "without a notice:", text)
    exact = picture(3, np.float32).astype(np.float64)
    seen(kind, name_for(kind), np.floor(exact * 65535 + 0.5).astype(np.uint16))


@covers("lost", "some precision", "jpeg", "hdr")
@covers("lost", "some precision, unless --quality 100", "webp")
def lose_precision(kind):
    written(kind, picture(3, np.float32 if kind == "hdr" else np.uint8))
    program = READERS[kind][0]
    need(program)
    check(difference(PROGRAMS[program](name_for(kind)), rgba(picture(3)))[1] > 1e-4, "nothing is lost")
    if kind == "webp":
        written(kind, picture(3), "--quality", "100")


@covers("lost", "data channels (refused)", "png")
def lose_data(kind):
    refused(source(picture(4)), name_for(kind), "--alpha yes", "--alpha", "no")
    convert(source(picture(4)), name_for(kind), "--alpha", "yes")
    seen(kind, name_for(kind), picture(4))


@covers("lost", "the other pages", "tiff")
@covers("lost", "the other frames", "gif")
def lose_pages(kind):
    need("Pillow")
    images = [Image.fromarray(picture(3)).quantize(20 + i) for i in range(3)]
    images[0].save(name_for(kind, "several"), save_all=True, append_images=images[1:])
    target = "one.tif" if kind == "tiff" else "one.png"
    convert(name_for(kind, "several"), target, "--page", 2)
    with Image.open(target) as image:
        check(getattr(image, "n_frames", 1) == 1, "there is more than one page")
    same(pillow(target), pillow(name_for(kind, "several"), 1), "the second page")
    Tally.compared += 1


@covers("lost", "layers", "psd")
def lose_layers(kind):
    """The merged image comes, as ImageMagick has it first."""
    need("ImageMagick")
    magick_write(picture(3), "below.png")
    output("convert", "below.png", "(", "below.png", "-resize", "20x15!", "-negate", "-repage", "+7+3", ")", "(", "-clone", "0-1", "-flatten", ")",
           "-insert", "0", name_for(kind))
    count = len(output("identify", name_for(kind)).splitlines())
    check(count == 3, "ImageMagick wrote", count, "images")
    same(ours(name_for(kind)), PROGRAMS["ImageMagick"](f"{name_for(kind)}[0]"), "the merged image")
    Tally.compared += 1
