#!/usr/bin/env python3
"""Every sample, written in every kind of file, opens in three other programs with the same pixels (close ones where the kind is
lossy).

usage: compare_samples.py IMGPIPE        exit status 0, 1, or 77 where no other program is installed"""
import glob
import json
import os
import subprocess
import sys
import tempfile

from format_programs import PROGRAMS, difference, missing, pillow

# Extension, programs, options, and how far the mean and a single sample may be off. vips turns PFM and TGA upside down.
KINDS = (("png", ("Pillow", "OpenCV", "vips"), (), 0, 0), ("png", ("ImageMagick", "OpenCV", "Pillow"), ("--depth", "8", "--level", "9"), 0, 0),
         ("ppm", ("Pillow", "OpenCV", "vips", "ImageMagick"), (), 0, 0), ("pam", ("OpenCV", "ImageMagick", "netpbm"), (), 0, 0),
         ("pfm", ("OpenCV", "ImageMagick", "netpbm"), (), 0, 0), ("jpg", ("Pillow", "OpenCV", "vips", "ImageMagick"), (), 0.01, 0.4),
         ("tif", ("Pillow", "OpenCV", "vips", "ImageMagick"), (), 0, 0),
         ("webp", ("Pillow", "OpenCV", "vips", "ImageMagick"), (), 0.015, 0.5),
         ("webp", ("Pillow", "OpenCV", "vips", "ImageMagick"), ("--quality", "100"), 0, 0),
         ("bmp", ("Pillow", "OpenCV", "ImageMagick"), (), 0, 0), ("tga", ("Pillow", "ImageMagick", "netpbm"), (), 0, 0),
         ("hdr", ("OpenCV", "vips", "ImageMagick"), (), 0.005, 1 / 127))
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "samples")
checks = failures = skipped = 0


def check(right, *what):
    global checks, failures
    checks += 1
    if not right:
        failures += 1
        print("FAILED:", *what)


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    check(result.returncode == 0, *command, result.stderr.strip())
    return result.returncode == 0


def written_kinds(imgpipe):
    listed = subprocess.run([imgpipe, "--list-formats", "--json"], capture_output=True, check=True).stdout
    return {word for kind in json.loads(listed) if kind["writes"] for word in kind["extensions"].split()}


def main():
    global skipped
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    imgpipe = os.path.abspath(sys.argv[1])
    known = written_kinds(imgpipe)
    if missing(["Pillow"]):
        print("skipped: Pillow, which reads the samples, is missing")
        return 77
    samples = sorted(glob.glob(os.path.join(SAMPLES, "*.png")))
    check(len(samples) >= 4, "only", len(samples), "samples")
    # A kind that is written and has no line above would go untested.
    untested = {kind for kind in known - {k[0] for k in KINDS}} - {"pnm", "pgm", "jpeg", "tiff"}
    check(not untested, "no program is named for", untested)
    for kind, programs, *_ in KINDS:
        check(len(set(programs)) >= 3, f"only {programs} read {kind}")
    with tempfile.TemporaryDirectory() as folder:
        for sample in samples:
            want = pillow(sample)
            for kind, programs, options, mean, most in KINDS:
                if kind not in known:
                    skipped += 1
                    continue
                path = os.path.join(folder, f"out.{kind}")
                if not run(imgpipe, sample, "-o", path, *options):
                    continue
                for program in programs:
                    if missing([program]):
                        print(f"skipped: {program} is missing ({kind})")
                        skipped += 1
                        continue
                    far = difference(PROGRAMS[program](path), want)
                    check(far[0] <= mean and far[1] <= most, f"{os.path.basename(sample)} as {kind} {options} in {program}: off by", *far)
    print(f"{checks} checks, {failures} failed, {skipped} skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
