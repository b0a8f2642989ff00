#!/usr/bin/env python3
"""Compares PNG reading and writing with Pillow.

    compare_png.py IMGPIPE [FOLDER]

IMGPIPE is the command; FOLDER holds PNG files (pngsuite/ beside this script). Without Pillow: one line with SKIP, and exit
status 77.
"""
import glob
import os
import subprocess
import sys
import tempfile

try:
    from PIL import Image
except ImportError:
    print("SKIP  compare_png: Pillow is not installed")
    sys.exit(77)


def read_pam(path):
    """Width, height, channels, and the samples as a list of integers below maxval + 1."""
    with open(path, "rb") as file:
        data = file.read()
    head, samples = data.split(b"ENDHDR\n", 1)
    fields = dict(line.split(None, 1) for line in head.decode().splitlines()[1:])
    wide = int(fields["MAXVAL"]) == 65535
    if wide:
        samples = [samples[i] << 8 | samples[i + 1] for i in range(0, len(samples), 2)]
    return int(fields["WIDTH"]), int(fields["HEIGHT"]), int(fields["DEPTH"]), wide, list(samples)


def to_rgba(channels, wide, samples):
    """Pixels as RGBA with 8 bits: Pillow keeps 16 bits only for gray, and takes the high byte of others."""
    if wide:
        samples = [v >> 8 for v in samples]
    pixels = []
    for i in range(0, len(samples), channels):
        p = samples[i : i + channels]
        gray, alpha = channels < 3, channels % 2 == 0
        pixels.append(tuple((p[:1] * 3 if gray else p[:3]) + [p[-1] if alpha else 255]))
    return pixels


def pixels_of(image):
    data = image.tobytes()
    return [tuple(data[i : i + 4]) for i in range(0, len(data), 4)]


def scale_transparency(source, image):
    """Pillow scales gray of 2 and 4 bits to 8, and leaves the transparent gray as it is in the file."""
    with open(source, "rb") as file:
        depth, color = file.read(26)[24:26]
    if color == 0 and depth in (2, 4) and "transparency" in image.info:
        image.info["transparency"] *= 255 // (2**depth - 1)


def differs(source, pam):
    """What is wrong, or None."""
    width, height, channels, wide, samples = read_pam(pam)
    with Image.open(source) as image:
        image.load()
        if image.size != (width, height):
            return f"size {width} x {height}, Pillow {image.size}"
        if image.mode.startswith("I"):
            theirs = list(image.get_flattened_data() if hasattr(image, "get_flattened_data") else image.getdata())
            return None if theirs == samples[::channels] else "16-bit gray differs"
        scale_transparency(source, image)
        theirs = pixels_of(image.convert("RGBA"))
    ours = to_rgba(channels, wide, samples)
    if wide and channels == 4 and theirs != ours:
        # A transparent colour of 16 bits is compared with 8 bits there; its colours must still be right.
        ours, theirs = [p[:3] for p in ours], [p[:3] for p in theirs]
    return None if ours == theirs else "pixels differ"


def compare(program, source, folder):
    pam, png = os.path.join(folder, "out.pam"), os.path.join(folder, "out.png")
    faults = []
    for target, level in [(pam, 4)] + [(png, level) for level in (0, 4, 9)]:
        run = subprocess.run([program, source, "-o", target, "--level", str(level)], capture_output=True, text=True, check=False)
        if run.returncode:
            return [run.stderr.strip()]
        if target == png:
            # What was written is judged by Pillow's reading of it.
            fault = differs(png, pam)
            faults += [f"level {level}: {fault}"] if fault else []
        else:
            fault = differs(source, pam)
            faults += [fault] if fault else []
    return faults


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    images = sys.argv[2] if len(sys.argv) == 3 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "pngsuite")
    sources = sorted(glob.glob(os.path.join(glob.escape(images), "*.png")))
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            for fault in compare(sys.argv[1], source, folder):
                failures += 1
                print(f"FAIL  {source}: {fault}")
    print(f"{len(sources)} files compared with Pillow, {failures} failures")
    return 1 if failures or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
