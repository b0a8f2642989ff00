#!/usr/bin/env python3
"""Compares what PNG files carry beside their pixels with other programs' reading of them.

    compare_metadata.py IMGPIPE

exiftool reads the metadata of inputs and outputs, Pillow makes the inputs and turns pixels by the orientation, and vipsheader,
where it is installed, must find profile, EXIF and XMP. Without Pillow or exiftool: one line with SKIP, and exit status 77.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    from PIL import Image, ImageCms, ImageOps, PngImagePlugin
except ImportError:
    print("SKIP  compare_metadata: Pillow is not installed")
    sys.exit(77)
if not shutil.which("exiftool"):
    print("SKIP  compare_metadata: exiftool is not installed")
    sys.exit(77)

XMP = ('<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
       '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
       'xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/" tiff:Orientation="%d">'
       '<dc:source>scan</dc:source></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>')
# What says something of the file or of how the pixels are packed, not of the image.
IGNORED = {"SourceFile", "File", "ExifTool", "System", "Composite"}
PNG_IGNORED = {"Compression", "Filter", "Interlace", "BitDepth", "ColorType", "ProfileName", "ImageWidth", "ImageHeight",
               "SignificantBits", "BackgroundColor", "ModifyDate"}


class Tally:
    checks = failures = 0


def check(right, *what):
    Tally.checks += 1
    if not right:
        Tally.failures += 1
        print("FAIL ", *(str(part)[:300] for part in what))


def run(program, *arguments, status=0, says=None):
    """The last argument is the output."""
    result = subprocess.run([program, *arguments[:-1], "-o", arguments[-1]], capture_output=True, text=True, check=False)
    check(result.returncode == status, arguments, "exit status", result.returncode, result.stderr)
    check((says or "") in result.stderr if says else result.stderr == "", arguments, "says", repr(result.stderr))


def tags(path):
    """All that exiftool finds, as {"Group:Tag": value}."""
    out = subprocess.run(["exiftool", "-json", "-G1", "-a", "-struct", "-n", "-b", path], capture_output=True, check=True).stdout
    found = {}
    for name, value in json.loads(out)[0].items():
        group, _, tag = name.rpartition(":")
        if group in IGNORED or name in IGNORED or (group.startswith("PNG") and tag in PNG_IGNORED):
            continue
        found[name] = value
    return found


def without(found, *prefixes):
    return {name: value for name, value in found.items() if not name.startswith(prefixes)}


def make_picture(mode="RGB", size=(31, 19)):
    """No symmetry: every orientation gives other pixels."""
    colours = Image.new("RGB", size)
    colours.putdata([(x * 8 % 256, y * 13 % 256, (x * y) % 256) for y in range(size[1]) for x in range(size[0])])
    return colours.convert(mode)


def make_rich(path, orientation=None, mode="RGB", interlace=False, profile="sRGB"):
    picture = make_picture(mode)
    exif = picture.getexif()
    exif[0x10F], exif[0x11A], exif[0x11B], exif[0x128] = "Maker", 300.0, 200.0, 2
    if orientation:
        exif[0x112] = orientation
    info = PngImagePlugin.PngInfo()
    info.add_text("Title", "gr\u00fc\u00dfe")
    info.add_text("Long", "words and " * 500, zip=True)
    info.add_itxt("Description", "\u65e5\u672c\u8a9e", "ja")
    info.add_itxt("Packed", "\u65e5\u672c\u8a9e" * 500, zip=True)
    info.add_itxt("XML:com.adobe.xmp", XMP % (orientation or 1))
    more = {"icc_profile": ImageCms.ImageCmsProfile(ImageCms.createProfile(profile)).tobytes()} if profile else {}
    picture.save(path, pnginfo=info, exif=exif, dpi=(300, 200), **more)


def insert(path, *chunks, before=b"IDAT"):
    """Adds chunks of (kind, data) to a PNG file."""
    with open(path, "rb") as file:
        png = file.read()
    at = png.index(before) - 4
    added = b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    with open(path, "wb") as file:
        file.write(png[:at] + added + png[at:])


def pixels(path):
    with Image.open(path) as image:
        return image.size, image.mode, image.tobytes()


def test_carried(program):
    make_rich("rich.png", 6)
    want = tags("rich.png")
    check(len(want) > 30 and any(name.startswith("ICC") for name in want), "the input is poor:", sorted(want))
    for chain in ("", "blur=1", "median=3,invert"):
        run(program, "rich.png", "-f", chain, "out.png")
        check(tags("out.png") == want, repr(chain), "differs:", set(map(str, tags("out.png").items())) ^ set(map(str, want.items())))
    check(pixels("rich.png")[0] == pixels("out.png")[0], "a carried orientation turned pixels")
    run(program, "rich.png", "same.png")
    check(pixels("same.png") == pixels("rich.png"), "carried metadata changed the pixels")
    run(program, "same.png", "again.png")
    with open("same.png", "rb") as a, open("again.png", "rb") as b:
        check(a.read() == b.read(), "a second copy differs")
    run(program, "rich.png", "--depth", "16", "deep.png")
    check(tags("deep.png") == want, "16 bit")
    make_rich("gray.png", 3, "L", profile=None)
    run(program, "gray.png", "-f", "blur", "out.png")
    check(tags("out.png") == tags("gray.png"), "gray")


def test_behind(program):
    """exiftool adds texts and XMP behind the pixels."""
    make_picture().save("plain.png")
    subprocess.run(["exiftool", "-q", "-overwrite_original", "-Comment=late", "-EXIF:Artist=who", "-EXIF:Orientation#=8",
                    "-XMP-dc:Source=where", "plain.png"], check=True)
    want = tags("plain.png")
    run(program, "plain.png", "-f", "blur", "out.png")
    # A resolution that only EXIF knew is told by pHYs too.
    check(without(tags("out.png"), "PNG-pHYs") == want and "IFD0:Artist" in want, "behind the pixels:", tags("out.png"), want)


def test_colours(program):
    make_picture().save("colours.png")
    insert("colours.png", (b"gAMA", struct.pack(">I", 50000)), (b"cHRM", struct.pack(">8I", *range(30000, 38000, 1000))),
           (b"sRGB", b"\2"), (b"sBIT", b"\5\6\5"), (b"pHYs", struct.pack(">IIB", 3, 2, 0)), (b"tIME", b"\7\xd0\1\2\3\4\5"),
           (b"bKGD", bytes(6)))
    want = tags("colours.png")
    run(program, "colours.png", "out.png")
    check(tags("out.png") == want and want.get("PNG:Gamma") == 2, "gAMA, cHRM, sRGB, pHYs:", tags("out.png"), want)
    check(pixels("colours.png") == pixels("out.png"), "gamma changed the pixels")
    with open("out.png", "rb") as file:
        png = file.read()
    for kind in (b"sBIT", b"tIME", b"bKGD"):
        check(kind not in png, kind, "was carried over")


def test_dropped(program):
    make_rich("rich.png", 1)
    want = tags("rich.png")
    run(program, "rich.png", "-f", "gray", "out.png", says="the RGB profile does not fit a gray image and was dropped")
    check(tags("out.png") == without(want, "ICC"), "gray:", tags("out.png"))
    run(program, "rich.png", "-f", "hist", "out.png")
    check(tags("out.png") == {}, "a chart carries", tags("out.png"))
    run(program, "rich.png", "-f", "hist=pass", "out.png")
    check(tags("out.png") == want, "hist=pass")
    run(program, "rich.png", "--strip", "out.png")
    check(tags("out.png") == {n: v for n, v in want.items() if n.startswith("ICC")} != {}, "--strip:", tags("out.png"))
    run(program, "rich.png", "--strip=all", "out.png")
    check(tags("out.png") == {}, "--strip=all:", tags("out.png"))
    run(program, "rich.png", "out.ppm", says="ICC profile, EXIF, XMP")
    run(program, "rich.png", "--strip", "out.ppm", says="ICC profile")
    run(program, "rich.png", "--strip=all", "out.ppm")


def test_animated(program):
    frames = [make_picture(), ImageOps.mirror(make_picture())]
    frames[0].save("animated.png", save_all=True, append_images=frames[1:])
    run(program, "animated.png", "out.png", says="animated")
    check(pixels("out.png") == (frames[0].size, "RGB", frames[0].tobytes()), "not the default image of an animation")
    run(program, "animated.png", "--page", "2", "out.png", status=1, says="page 2")


def test_orientation(program):
    for orientation in range(1, 9):
        make_rich("turn.png", orientation)
        with Image.open("turn.png") as image:
            upright = ImageOps.exif_transpose(image)
        run(program, "turn.png", "--strip=all", "out.ppm")
        check(pixels("out.ppm") == (upright.size, "RGB", upright.tobytes()), orientation, "PPM is not upright")
        run(program, "turn.png", "--auto-orient", "out.png")
        check(pixels("out.png") == (upright.size, "RGB", upright.tobytes()), orientation, "--auto-orient is not upright")
        found, before = tags("out.png"), tags("turn.png")
        check(found["IFD0:Orientation"] == 1 and found["XMP-tiff:Orientation"] == 1, orientation, "the tag is", found)
        across, up = ("IFD0:YResolution", "IFD0:XResolution") if orientation >= 5 else ("IFD0:XResolution", "IFD0:YResolution")
        check((found["IFD0:XResolution"], found["IFD0:YResolution"]) == (before[across], before[up]), orientation, "resolution")
        run(program, "turn.png", "--strip", "out.png")
        check(pixels("out.png")[2] == upright.tobytes(), orientation, "--strip takes the tag and leaves the pixels turned")
        run(program, "turn.png", "-f", "hist", "--auto-orient", "chart.png")
        check(pixels("chart.png")[0] == (640, 400), orientation, "a chart was turned")
        run(program, "turn.png", "-j1", "--strip-rows", "1", "--auto-orient", "-f", "gray,blur=3", "a.png", says="profile")
        run(program, "turn.png", "--auto-orient", "-f", "gray,blur=3", "b.png", says="profile")
        run(program, "turn.png", "-f", "gray,blur=3", "c.png", says="profile")
        with Image.open("c.png") as image:
            check(pixels("a.png") == pixels("b.png") and pixels("b.png")[2] == ImageOps.exif_transpose(image).tobytes(), orientation,
                  "turning does not come last")


def test_libvips(program):
    if not shutil.which("vipsheader"):
        print("vipsheader is not installed; not compared with it")
        return
    make_rich("rich.png", 6)
    run(program, "rich.png", "-f", "blur=1", "out.png")
    for name in ("icc-profile-data", "exif-data", "xmp-data"):
        read = [subprocess.run(["vipsheader", "-f", name, path], capture_output=True, check=False).stdout for path in ("rich.png", "out.png")]
        check(read[0] == read[1] and len(read[0]) > 10, "libvips:", name, "differs")
    for name in ("xres", "yres", "orientation"):
        read = [subprocess.run(["vipsheader", "-f", name, path], capture_output=True, check=False).stdout for path in ("rich.png", "out.png")]
        check(read[0] == read[1] != b"", "libvips:", name, read)


def test_alpha(program):
    make_picture("RGBA").save("alpha.png")
    run(program, "alpha.png", "--alpha", "no", "out.pam", says="data")
    with open("out.pam", "rb") as file:
        pam = file.read()
    check(b"DEPTH 4" in pam and b"ALPHA" not in pam, "--alpha no", pam[:80])
    run(program, "out.pam", "--alpha", "yes", "out.png", says="taken as alpha")
    check(pixels("out.png") == pixels("alpha.png"), "--alpha yes")
    run(program, "alpha.png", "--alpha", "no", "out.png", status=1, says="png cannot hold")
    run(program, "alpha.png", "--alpha", "yes", "out.png")


def test_truncated(program):
    for interlaced in (False, True):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pngsuite")
        with open(os.path.join(folder, ("ibasn6a16" if interlaced else "basn6a16") + ".png"), "rb") as file:
            png = file.read()
        with open("cut.png", "wb") as file:
            file.write(png[: len(png) * 6 // 10])
        run(program, "cut.png", "out.png", status=1, says="truncated")
        run(program, "cut.png", "--allow-truncated", "out.png", says="truncated")
        with open("whole.png", "wb") as file:
            file.write(png)
        ours, whole = pixels("out.png")[2], pixels("whole.png")[2]
        check(0 < sum(a == b for a, b in zip(ours, whole)) and all(a in (0, b) for a, b in zip(ours, whole)), "what is there differs")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program, home = os.path.abspath(sys.argv[1]), os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test(program)
        os.chdir(home)
    print(f"{Tally.checks} checks, {Tally.failures} failures")
    return 1 if Tally.failures or not Tally.checks else 0


if __name__ == "__main__":
    sys.exit(main())
