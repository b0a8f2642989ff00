#!/usr/bin/env python3
"""Compares JPEG reading and writing with Pillow, and what is carried beside the pixels with exiftool.

    compare_jpeg.py IMGPIPE

IMGPIPE is the command. Without Pillow and NumPy: one line with SKIP, and exit status 77. Where Pillow has the same libjpeg its
pixels must be the same; other libraries may differ by a few units.
"""
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image, ImageCms, features
except ImportError:
    print("SKIP  compare_jpeg: Pillow or NumPy is not installed")
    sys.exit(77)

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "samples")
checks = failures = 0


def check(right, *what):
    global checks, failures
    checks += 1
    if not right:
        failures += 1
        print("FAIL ", *what)


def run(*command, status=0, env=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})
    check(done.returncode == status, *command, "->", done.returncode, done.stderr.strip())
    return done.stderr


def greatest(a, b):
    return 256 if a.shape != b.shape else int(np.abs(a.astype(int) - b.astype(int)).max())


def same_library():
    """Pillow from PyPI brings a libjpeg of its own, whose version may treat chroma differently."""
    return features.check("libjpeg_turbo")


def files(folder):
    """(path, whether libjpeg's own rounding is not the only one)"""
    photo = Image.open(os.path.join(SAMPLES, "astronaut.png")).convert("RGB").crop((100, 0, 331, 219))
    for mode in ("L", "RGB", "CMYK"):
        for progressive in (False, True):
            for quality, subsampling in ((5, 2), (75, 2), (90, 1), (95, 0), (100, 0)):
                path = f"{folder}/{mode}-{progressive}-{quality}-{subsampling}.jpg"
                photo.convert(mode).save(path, quality=quality, subsampling=subsampling, progressive=progressive, optimize=quality == 90)
                yield path
    if shutil.which("convert"):
        for name, options in (("411", ["-sampling-factor", "4x1"]), ("440", ["-sampling-factor", "1x2"]),
                              ("410", ["-sampling-factor", "4x2"]), ("rgb", ["-colorspace", "RGB", "-define", "jpeg:colorspace=RGB"]),
                              ("planes", ["-interlace", "plane"]), ("magick-cmyk", ["-colorspace", "CMYK"])):
            path = f"{folder}/{name}.jpg"
            run("convert", f"{SAMPLES}/chelsea.png", "-resize", "203x", *options, path)
            yield path


def reading(program, folder):
    for path in files(folder):
        out, scalar = path[:-3] + "ppm", path[:-3] + "scalar.ppm"
        with Image.open(path) as image:
            theirs = np.asarray(image if image.mode == "L" else image.convert("RGB"))
        notes = run(program, path, "-o", out)
        with Image.open(out) as image:
            ours = np.asarray(image)
        check(greatest(ours, theirs) <= (0 if same_library() else 4), path, "differs from Pillow by", greatest(ours, theirs))
        check(("CMYK" in notes) == ("cmyk" in path.lower()), path, notes)
        # libjpeg-turbo without vector instructions.
        run(program, path, "-o", scalar, env={"JSIMD_FORCENONE": "1"})
        with open(out, "rb") as a, open(scalar, "rb") as b:
            check(a.read() == b.read(), path, "depends on the instruction set")
        with open(path, "rb") as file:
            piped = subprocess.run([program, "-", "--format", "ppm", "-o", "-"], stdin=file, capture_output=True, check=False).stdout
        with open(out, "rb") as file:
            check(piped == file.read(), path, "through a pipe")


def writing(program, folder):
    for mode in ("L", "RGB"):
        source = f"{folder}/in.{'pgm' if mode == 'L' else 'ppm'}"
        photo = Image.open(os.path.join(SAMPLES, "coffee.png")).convert(mode).crop((7, 3, 420, 380))
        photo.save(source)
        for quality in (1, 30, 90, 100):
            out, scalar = f"{folder}/out.jpg", f"{folder}/scalar.jpg"
            run(program, source, "-o", out, "--quality", str(quality))
            run(program, source, "-o", scalar, "--quality", str(quality), env={"JSIMD_FORCENONE": "1"})
            with open(out, "rb") as a, open(scalar, "rb") as b:
                check(a.read() == b.read(), "quality", quality, "depends on the instruction set")
            theirs = io.BytesIO()
            photo.save(theirs, "JPEG", quality=quality, subsampling=0)
            with Image.open(out) as a, Image.open(theirs) as b:
                check(a.mode == mode and a.quantization == b.quantization, mode, quality, "other tables than Pillow's")
                distance = greatest(np.asarray(a), np.asarray(b))
                check(distance <= (0 if same_library() else 4), mode, quality, "differs from Pillow's by", distance)
                error = np.abs(np.asarray(a).astype(int) - np.asarray(photo)).mean()
                check(error < 1 if quality == 100 else error < 20, mode, quality, "mean error", error)


def sampling(program, folder):
    """Sampling factors of the brightness in the output: 4:2:0 only if asked for, or if the input has it."""
    source, out = f"{folder}/sampled.jpg", f"{folder}/sampled-out.jpg"
    photo = Image.open(os.path.join(SAMPLES, "coffee.png")).convert("RGB").crop((0, 0, 64, 48))
    for stored, options, wanted in ((2, (), (2, 2)), (1, (), (1, 1)), (0, (), (1, 1)), (2, ("444",), (1, 1)), (0, ("422",), (2, 1)),
                                    (0, ("420",), (2, 2))):
        photo.save(source, subsampling=stored)
        run(program, source, "-o", out, *(("--subsampling",) + options if options else ()))
        with Image.open(out) as image:
            check([layer[1:3] for layer in image.layer] == [wanted, (1, 1), (1, 1)], stored, options, image.layer)


def tags_of(path):
    if not shutil.which("exiftool"):
        return {}
    shown = subprocess.run(["exiftool", "-j", "-G1", "-n", "-a", path], capture_output=True, text=True, check=True).stdout
    return json.loads(shown)[0]


def carrying(program, folder):
    source, out = f"{folder}/notes.jpg", f"{folder}/notes-out.jpg"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exif = Image.Exif()
    exif[0x010E], exif[0x0112], exif[0x8298] = "a picture", 6, "someone"
    photo = Image.open(os.path.join(SAMPLES, "chelsea.png")).convert("RGB").crop((0, 0, 80, 60))
    photo.save(source, quality=90, icc_profile=profile, exif=exif.tobytes(), dpi=(300, 300), comment=b"a comment")
    if tags_of(source):
        run("exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=a title", "-IPTC:Keywords=a word", "-Comment=a comment", source)
    before = tags_of(source)
    run(program, source, "-f", "blur", "-o", out)
    after = tags_of(out)
    with Image.open(source) as a, Image.open(out) as b:
        check(b.info.get("icc_profile") == profile, "the ICC profile changed")
        check(dict(a.getexif()) == dict(b.getexif()) and b.getexif()[0x8298] == "someone", "EXIF changed", dict(b.getexif()))
        check(b.info.get("dpi") == (300, 300), "resolution", b.info.get("dpi"))
    kept = ("IFD0:", "XMP-dc:", "IPTC:Keywords", "JFIF:XResolution", "JFIF:YResolution", "JFIF:ResolutionUnit", "File:Comment")
    for name, value in before.items():
        if name.startswith(kept):
            check(after.get(name) == value, name, "was", value, "and is", after.get(name))
    check(not before or {"XMP-dc:Title", "IPTC:Keywords", "File:Comment"} <= set(before), "exiftool's tags", sorted(before))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        reading(program, folder)
        writing(program, folder)
        sampling(program, folder)
        carrying(program, folder)
    print(f"{checks} checks, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
