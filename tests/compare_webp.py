#!/usr/bin/env python3
"""Compares WebP with what Pillow, cwebp, dwebp and webpmux (Debian's package webp) make of the same files.

usage: compare_webp.py IMGPIPE        exit status 0, 1, or 77 where numpy, Pillow with WebP or the package webp is missing"""
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image, ImageCms, features
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

failed = 0
done = 0
# Orientation 6, the resolution 72/1 and nothing else, as a little-endian TIFF stream.
EXIF = b"II*\0" + struct.pack("<IHHHIIHHIII", 8, 2, 0x112, 3, 1, 6, 0x11A, 5, 1, 38, 0) + struct.pack("<II", 72, 1)
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF/></x:xmpmeta>'


def check(right, *what):
    global failed, done
    done += 1
    if not right:
        failed += 1
        print("FAILED:", *what)


def run(*command, status=0, data=None):
    result = subprocess.run(command, capture_output=True, input=data)
    text = result.stderr.decode("utf-8", "replace")
    check(result.returncode == status, *command, "gives", result.returncode, text.strip()[:300])
    return result.stdout, text


def picture(channels, seed=0, width=67, height=41):
    """Smooth with noise; where there is alpha it has every kind of value, and colours where it is 0."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    planes = [np.clip(128 + 100 * np.sin(x / (9.0 + c)) * np.cos(y / 7.0) + rng.normal(0, 3, x.shape), 0, 255) for c in range(channels)]
    image = np.stack(planes, axis=-1).astype(np.uint8)
    if channels == 4:
        image[:, :, 3] = np.where(x < 10, 0, np.where(x < 20, 255, image[:, :, 3]))
    return image


def read_pam(data):
    head, pixels = data.split(b"ENDHDR\n", 1)
    fields = dict(line.split(b" ", 1) for line in head.split(b"\n")[1:] if line)
    return np.frombuffer(pixels, "u1").reshape(int(fields[b"HEIGHT"]), int(fields[b"WIDTH"]), int(fields[b"DEPTH"]))


def same(name, got, want):
    check(got.shape == want.shape and np.array_equal(got, want), name, got.shape, want.shape,
          "" if got.shape != want.shape else f"greatest difference {np.abs(got.astype(int) - want).max()}")


def test_reading(imgpipe):
    """Files that Pillow and cwebp wrote, against dwebp: every pixel alike."""
    for channels in (3, 4):
        pixels = picture(channels)
        Image.fromarray(pixels).save("in.png")
        for name, options in (("lossy", {"quality": 60}), ("low", {"quality": 1}), ("lossless", {"lossless": True, "exact": True})):
            Image.fromarray(pixels).save("in.webp", **options)
            got = read_pam(run(imgpipe, "in.webp", "--format", "pam", "-o", "-")[0])
            run("dwebp", "in.webp", "-pam", "-o", "want.pam")
            want = read_pam(open("want.pam", "rb").read())
            # dwebp always writes four channels.
            same(f"read Pillow {name} {channels}", got, want[:, :, :channels])
            if name == "lossless":
                same(f"read {name} {channels}", got, pixels)
        for options in (["-q", "75", "-sharp_yuv"], ["-lossless", "-z", "9", "-exact"], ["-near_lossless", "40"], ["-q", "30", "-alpha_q", "10"],
                        ["-segments", "4", "-sns", "100", "-f", "80", "-strong"]):
            run("cwebp", "-quiet", *options, "in.png", "-o", "in.webp")
            got = read_pam(run(imgpipe, "in.webp", "--format", "pam", "-o", "-")[0])
            run("dwebp", "in.webp", "-pam", "-o", "want.pam")
            same(f"read cwebp {options} {channels}", got, read_pam(open("want.pam", "rb").read())[:, :, :channels])


def test_writing(imgpipe):
    """Lossless is exact, also under alpha 0; lossy is as near as cwebp's with the same settings, and identical to it."""
    for channels in (1, 3, 4):
        pixels = picture(channels, seed=channels)
        Image.fromarray(pixels if channels > 1 else pixels[:, :, 0]).save("in.png")
        want = pixels if channels > 1 else np.repeat(pixels, 3, axis=2)
        run(imgpipe, "in.png", "--quality", "100", "-o", "out.webp")
        same(f"lossless {channels}", np.asarray(Image.open("out.webp")), want)
        run("dwebp", "out.webp", "-pam", "-o", "out.pam")
        same(f"lossless {channels} by dwebp", read_pam(open("out.pam", "rb").read())[:, :, :want.shape[2]], want)
        for quality in (None, 50, 99):
            run(imgpipe, "in.png", "-o", "out.webp", *(["--quality", str(quality)] if quality else []))
            run("cwebp", "-quiet", "-q", str(quality or 90), "-m", "4", "-exact", "-metadata", "none", "in.png", "-o", "want.webp")
            check(open("out.webp", "rb").read() == open("want.webp", "rb").read(), f"lossy {channels} {quality} is not what cwebp writes")
            difference = np.abs(np.asarray(Image.open("out.webp").convert("RGBA" if channels == 4 else "RGB")).astype(float) - want)
            if channels == 4:
                difference = difference[want[:, :, 3] > 0]
            check(difference.mean() < (6 if quality == 50 else 4), f"lossy {channels} {quality}: mean difference {difference.mean():.3g}")
    for n in (1, 2, 4):
        out = run(imgpipe, "in.png", "-j", str(n), "--format", "webp", "-o", "-")[0]
        check(out == run(imgpipe, "in.png", "--strip-rows", "7", "--format", "webp", "-o", "-")[0], "threads or strips change the file")
    rows = np.zeros((1, 16384, 3), np.uint8)
    Image.fromarray(rows).save("wide.png")
    text = run(imgpipe, "wide.png", "-o", "wide.webp", status=1)[1]
    check("16384 x 1" in text and not os.path.exists("wide.webp"), "too wide:", text)
    Image.fromarray(rows[:, :16383]).save("wide.png")
    run(imgpipe, "wide.png", "-o", "wide.webp", "--quality", "100")
    same("widest", np.asarray(Image.open("wide.webp")), rows[:, :16383])


def test_metadata(imgpipe):
    """ICC, EXIF and XMP survive from WebP to WebP and on to and from PNG, as webpmux finds them."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    names = {"icc": profile, "exif": EXIF, "xmp": XMP}
    for name, block in names.items():
        open(f"{name}.bin", "wb").write(block)
    Image.fromarray(picture(4)).save("plain.webp", lossless=True, exact=True)
    shutil.copy("plain.webp", "in.webp")
    for name in names:
        run("webpmux", "-set", name, f"{name}.bin", "in.webp", "-o", "next.webp")
        os.replace("next.webp", "in.webp")
    run(imgpipe, "in.webp", "-o", "out.webp", "--quality", "100")
    run(imgpipe, "in.webp", "-o", "out.png")
    run(imgpipe, "out.png", "-o", "back.webp", "--quality", "100")
    for path in ("out.webp", "back.webp"):
        for name, block in names.items():
            run("webpmux", "-get", name, path, "-o", "got.bin")
            check(open("got.bin", "rb").read() == block, f"{name} of {path} differs")
        same(f"pixels of {path}", np.asarray(Image.open(path)), picture(4))
        check(Image.open(path).getexif()[0x112] == 6, f"orientation of {path}")
    run(imgpipe, "in.webp", "-o", "out.webp", "--strip")
    check(Image.open("out.webp").info.get("icc_profile") == profile and not Image.open("out.webp").getexif(), "--strip")
    run(imgpipe, "in.webp", "-o", "out.webp", "--strip=all")
    info = Image.open("out.webp").info
    check("icc_profile" not in info and "exif" not in info and "xmp" not in info, "--strip=all", list(info))
    run(imgpipe, "in.webp", "--auto-orient", "-o", "out.webp", "--quality", "100")
    same("--auto-orient", np.asarray(Image.open("out.webp")), np.rot90(picture(4), -1))
    check(Image.open("out.webp").getexif().get(0x112, 1) == 1, "--auto-orient leaves the orientation")
    # EXIF with JPEG's prefix, as some programs write it.
    open("exif.bin", "wb").write(b"Exif\0\0" + EXIF)
    run("webpmux", "-set", "exif", "exif.bin", "plain.webp", "-o", "in.webp")
    run(imgpipe, "in.webp", "-o", "out.webp")
    run("webpmux", "-get", "exif", "out.webp", "-o", "got.bin")
    check(open("got.bin", "rb").read() == EXIF, "EXIF with a prefix")


def test_frames(imgpipe):
    """An animation: how many frames, and each of them as Pillow puts them together."""
    frames = [Image.fromarray(picture(4, seed)) for seed in range(3)]
    frames[0].save("anim.webp", save_all=True, append_images=frames[1:], lossless=True, exact=True, duration=20)
    text = run(imgpipe, "anim.webp", "-o", "all.png", status=1)[1]
    check("3 frames" in text and "--page" in text and not os.path.exists("all.png"), "an animation without --page:", text)
    text = run(imgpipe, "anim.webp", "--page", "4", "-o", "out.png", status=1)[1]
    check("3 images" in text, "page 4 of 3:", text)
    animation = Image.open("anim.webp")
    for page in (1, 2, 3):
        run(imgpipe, "anim.webp", "--page", str(page), "-o", "out.png")
        animation.seek(page - 1)
        same(f"frame {page}", np.asarray(Image.open("out.png")), np.asarray(animation.convert("RGBA")))
    for seed in range(2):
        Image.fromarray(picture(3, seed)).save(f"still{seed}.webp", lossless=True)
    run("webpmux", "-frame", "still0.webp", "+10", "-frame", "still1.webp", "+10", "-o", "anim.webp")
    run(imgpipe, "anim.webp", "--page", "2", "-o", "out.png")
    same("opaque frame", np.asarray(Image.open("out.png")), picture(3, 1))
    shutil.copy("still0.webp", "still.webp")
    run(imgpipe, "still.webp", "--page", "1", "-o", "out.png")
    check("no page 2" in run(imgpipe, "still.webp", "--page", "2", "-o", "other.png", status=1)[1], "page 2 of a still image")


def test_refusals(imgpipe):
    Image.fromarray(picture(3)).save("in.webp")
    data = open("in.webp", "rb").read()
    for name, damaged in (("truncated", data[:-20]), ("header", data[:15]), ("broken", data[:20] + bytes(len(data) - 20)),
                          ("no content", b"RIFF\0\0\0\0WEBP"), ("bomb", data[:26] + b"\xff\x3f\xff\x3f" + data[30:])):
        open("bad.webp", "wb").write(damaged)
        text = run(imgpipe, "bad.webp", "-o", "bad.png", "--memory", "64M", status=1)[1]
        check("bad.webp" in text and text.count("\n") == 1 and not os.path.exists("bad.png"), name, text)
    open("long.webp", "wb").write(data + b"more")
    check("ignored" in run(imgpipe, "long.webp", "-o", "long.png")[1], "something behind the image")
    wide = io.BytesIO()
    Image.fromarray(picture(3).astype(np.uint16)[:, :, 0] * 257).save(wide, "PNG")
    out, text = run(imgpipe, "-", "--format", "webp", "-o", "-", data=wide.getvalue())
    check("16" in text and out[:4] == b"RIFF", "16 bit to WebP without a notice:", text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    imgpipe = os.path.abspath(sys.argv[1])
    if b"webp" not in subprocess.run([imgpipe, "--list-formats"], capture_output=True).stdout:
        print("skipped: this build has no WebP")
        return 77
    if not features.check("webp_anim") or not all(map(shutil.which, ("cwebp", "dwebp", "webpmux"))):
        print("skipped: Pillow without WebP, or the package webp is missing")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test(imgpipe)
        os.chdir("/")
    print(f"{done} checks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
