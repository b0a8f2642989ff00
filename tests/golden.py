#!/usr/bin/python3
"""Compares the pixels of a list of chains with the checksums in golden.txt, so that no change of results goes unseen.

usage: golden.py IMGPIPE [--update]

Checksums are of the decoded pixels, never of files, so that compression may change. The command writes PNM, PAM or PFM, which are
parsed here; no other library is needed. --update writes golden.txt anew from what the command makes now: do that only after a
change of results that was meant, and let `check` and compare_references.py pass first.
"""
import hashlib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "golden.txt")
SAMPLES = os.path.join("..", "samples")
PHOTOS = [os.path.join(SAMPLES, name + ".png") for name in ("astronaut", "chelsea", "coffee")]
# Chains that every photograph goes through, and pairs of image and chain.
COMMON = ["", "gray", "blur", "gray,blur,hist"]
JOBS = [
    (0, "gray=709"), (1, "gray=average"), (2, "gray=0.5 0.25 0.25"),
    (0, "blur=0.8"), (1, "blur=10"), (2, "blur=sigma_x=6:sigma_y=0.5"), (0, "blur=3:border=wrap"), (1, "blur=40:border=mirror"),
    (0, "box=9"), (1, "box=width=31:height=3:border=reflect"), (2, "box=5:border=constant:value=50%"),
    (0, "conv=sharpen"), (1, "conv=sobel_x:abs"), (2, "conv=1 2 1;2 4 2;1 2 1:border=mirror"),
    (0, "conv=0.1 0.25 0.3 0.25 0.1:div=1.5:bias=12"),
    (1, "conv=-2 -1 0;-1 1 1;0 1 2:bias=128:flip"),
    (0, "median"), (1, "median=7:border=wrap"), (2, "median=35"),
    (0, "invert"), (1, "threshold=40%"), (2, "levels=30:220:0:255"), (0, "gray,levels=20%:80%,invert,threshold=128"),
    (0, "hist"), (1, "hist=scale=log:width=500:height=300"), (2, "gray,hist"),
    (1, "gray,blur=1.5,conv=sobel_x:abs,median=3,threshold=15%"), (2, "box=3,box=3,box=3,blur=2,invert"),
]
# Every colour type and depth; the depth option makes float images of some.
PNGSUITE = [("basn0g01", ""), ("basn0g16", "blur=1"), ("basn2c16", "gray,blur"), ("basn3p04", "median=5"), ("basn4a08", "box=5"),
            ("basn4a16", "blur=2"), ("basn6a08", "blur=2"), ("basn6a16", "box=7:border=wrap"), ("ibasn2c08", "conv=sharpen"),
            ("ftbrn2c08", ""), ("ftp1n3p08", "blur=1")]
FLOAT = [(0, "blur=2"), (1, "gray,box=5"), (2, "conv=0.1 0.2 0.4 0.2 0.1,levels=10%:90%"), (1, "median=5")]


def jobs():
    for photo in PHOTOS:
        for chain in COMMON:
            yield photo, chain, []
    for photo, chain in JOBS:
        yield PHOTOS[photo], chain, []
    for name, chain in PNGSUITE:
        yield os.path.join("pngsuite", name + ".png"), chain, []
    for photo, chain in FLOAT:
        yield PHOTOS[photo], chain, ["--depth", "f32"]


def parse(raw):
    """Size and kind of a PNM, PAM or PFM file as text, and its samples: the header's words up to the pixels."""
    if raw[:2] == b"P7":
        end = raw.index(b"ENDHDR\n") + 7
        fields = dict(line.split(b" ", 1) for line in raw[3:end - 8].split(b"\n") if b" " in line)
        words = [fields[key] for key in (b"WIDTH", b"HEIGHT", b"DEPTH", b"MAXVAL")]
    else:
        end, words = 0, []
        while len(words) < 4:
            start = end
            while raw[end:end + 1] not in (b" ", b"\n"):
                end += 1
            words.append(raw[start:end])
            end += 1
        magic, words = words[0], words[1:3] + [words[3]]
        words.insert(2, b"3" if magic in (b"P6", b"PF") else b"1")
    return " ".join(word.decode() for word in words), raw[end:]


def checksum(binary, folder, image, chain, options):
    out = os.path.join(folder, "out." + ("pfm" if options else "pam"))
    command = binary + ["-q", os.path.join(HERE, image), "-f", chain, "-o", out] + options
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return f"failed: {done.stderr.strip()}"
    with open(out, "rb") as file:
        shape, pixels = parse(file.read())
    return f"{shape} {hashlib.sha256(pixels).hexdigest()}"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    if not arguments:
        sys.exit("usage: golden.py IMGPIPE [OPTIONS OF IMGPIPE, such as --device cuda] [--update]")
    found = {}
    with tempfile.TemporaryDirectory(prefix="imgpipe-golden-") as folder:
        for image, chain, options in jobs():
            label = f"{os.path.basename(image)} | {chain} | {' '.join(options)}"
            found[label] = checksum(arguments, folder, image, chain, options)
    broken = [label for label, line in found.items() if line.startswith("failed")]
    for label in broken:
        print(f"FAIL {label}: {found[label]}")
    if "--update" in sys.argv:
        if broken:
            sys.exit("golden.txt is left as it is, as some chains failed")
        with open(GOLDEN, "w", encoding="utf-8") as file:
            file.write("# image | chain | options | width height channels maxval sha256 of the samples. Written by golden.py --update.\n")
            file.writelines(f"{label} | {line}\n" for label, line in found.items())
        print(f"{len(found)} checksums written")
        return
    with open(GOLDEN, encoding="utf-8") as file:
        wanted = dict(line.rstrip("\n").rsplit(" | ", 1) for line in file if not line.startswith("#"))
    differing = [label for label in found if label not in broken and wanted.get(label) != found[label]]
    gone = [label for label in wanted if label not in found]
    for label in differing:
        print(f"FAIL {label}: {found[label]}, wanted {wanted.get(label, 'a checksum in golden.txt')}")
    for label in gone:
        print(f"FAIL {label}: in golden.txt, and no longer tried")
    print(f"{len(broken) + len(differing) + len(gone)} of {len(found)} checksums differ")
    sys.exit(1 if broken or differing or gone else 0)


if __name__ == "__main__":
    main()
