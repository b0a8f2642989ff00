#!/usr/bin/env python3
"""Compares the codecs with independent ones: files that Pillow and OpenCV wrote are converted by the command and must hold
the same pixels, and files that the command wrote must be read alike by them.

usage: compare_codecs.py IMGPIPE        exit status 0, 1, or 77 where numpy, Pillow or OpenCV is missing"""
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
    from PIL import Image
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

WIDTH, HEIGHT = 67, 41
failed = 0
done = 0


def convert(imgpipe, source, target):
    result = subprocess.run([imgpipe, source, "-o", target], capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"exit status {result.returncode}: {result.stderr.strip()}")


def picture(channels, dtype):
    """A smooth picture with a little noise, so that lossy kinds can hold it, and with runs in its last rows."""
    rng = np.random.default_rng(channels)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [0.5 + 0.4 * np.sin(x / (9.0 + c)) * np.cos(y / (7.0 + c)) + rng.normal(0, 0.004, x.shape) for c in range(channels)]
    image = np.clip(np.stack(planes, axis=-1), 0, 1)
    image[-6:, 10:50] = image[0, 0]
    if dtype == np.float32:
        return np.ascontiguousarray(image * 3, dtype=np.float32)
    return np.floor(image * np.iinfo(dtype).max + 0.5).astype(dtype)


def read_netpbm(path):
    """P5, P6, P7 and PFM as the command writes them, without help of another library."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"P7":
        head, pixels = data.split(b"ENDHDR\n", 1)
        fields = dict(line.split(b" ", 1) for line in head.split(b"\n")[1:] if line)
        width, height = int(fields[b"WIDTH"]), int(fields[b"HEIGHT"])
        channels, top = int(fields[b"DEPTH"]), int(fields[b"MAXVAL"])
    else:
        magic, size, scale, pixels = data.split(b"\n", 3)
        width, height = map(int, size.split())
        channels = 3 if magic in (b"P6", b"PF") else 1
        if magic in (b"PF", b"Pf"):
            assert float(scale) < 0
            return np.frombuffer(pixels, "<f4").reshape(height, width, channels)[::-1]
        top = int(scale)
    return np.frombuffer(pixels, "u1" if top < 256 else ">u2").reshape(height, width, channels)


def rgb(image):
    """OpenCV's order of channels."""
    if image.ndim == 2:
        return image[:, :, None]
    order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[image.shape[2]]
    return image[:, :, order]


def compare(name, got, want, tolerance=0.0):
    """Equal, or with a tolerance for the mean; a single sample may then be off by 16 times as much."""
    global failed, done
    done += 1
    if got.ndim == 2:
        got = got[:, :, None]
    if want.ndim == 2:
        want = want[:, :, None]
    if got.shape != want.shape:
        failed += 1
        print(f"FAILED: {name}: {got.shape} instead of {want.shape}")
        return
    difference = np.abs(got.astype(np.float64) - want.astype(np.float64))
    if difference.mean() > tolerance or difference.max() > 16 * tolerance:
        failed += 1
        print(f"FAILED: {name}: difference mean {difference.mean():.4g}, greatest {difference.max():.4g}")


def reading(imgpipe, folder):
    """(name, file as another library wrote it, kind to convert to, expected pixels, tolerance)"""
    gray, color, alpha = picture(1, np.uint8)[:, :, 0], picture(3, np.uint8), picture(4, np.uint8)
    for extension, tolerance in (("ppm", 0), ("bmp", 0), ("tga", 0), ("jpg", 1.5)):
        for mode, pixels in (("L", gray), ("RGB", color)):
            path = f"{folder}/pillow_{mode}.{extension}"
            Image.fromarray(pixels).save(path, **({"quality": 95, "subsampling": 0} if extension == "jpg" else {}))
            want = np.asarray(Image.open(path))
            if extension == "bmp" and mode == "L":
                want = np.repeat(want[:, :, None], 3, axis=2)
            yield f"Pillow {mode} {extension}", path, "ppm", want, tolerance
    for name, extension, image, options in (
            ("bitmap", "pbm", Image.fromarray(gray).convert("1"), {}), ("bitmap", "bmp", Image.fromarray(gray).convert("1"), {}),
            ("RGBA", "tga", Image.fromarray(alpha), {}), ("RGBA", "bmp", Image.fromarray(alpha), {}),
            ("run lengths", "tga", Image.fromarray(color), {"compression": "tga_rle"}),
            ("progressive", "jpg", Image.fromarray(color), {"progressive": True, "quality": 95}),
            ("palette", "gif", Image.fromarray(color).quantize(64), {}), ("palette", "bmp", Image.fromarray(color).quantize(64), {}),
            ("palette", "tga", Image.fromarray(color).quantize(64), {})):
        path = f"{folder}/pillow_{name.replace(' ', '_')}.{extension}"
        image.save(path, **options)
        # Pillow itself drops the alpha of a BMP that it wrote, so lossless kinds are compared with what was put in.
        image = Image.open(path) if extension == "jpg" else image
        want = np.asarray(image.convert("RGBA" if name == "RGBA" else "L" if extension == "pbm" else "RGB"))
        yield f"Pillow {name} {extension}", path, "pam", want, 1.5 if extension == "jpg" else 0
    for channels in (1, 3):
        wide, real = picture(channels, np.uint16), picture(channels, np.float32)
        for extension, pixels, target in (("ppm" if channels == 3 else "pgm", wide, "ppm"), ("pfm", real, "pfm")):
            path = f"{folder}/opencv_{channels}.{extension}"
            cv2.imwrite(path, rgb(pixels))
            yield f"OpenCV {channels} {extension}", path, target, pixels, 0
    path = f"{folder}/opencv.hdr"
    cv2.imwrite(path, rgb(picture(3, np.float32)))
    yield "OpenCV hdr", path, "pfm", rgb(cv2.imread(path, cv2.IMREAD_UNCHANGED)), 0.01


def writing(imgpipe, folder):
    """(name, written file, reader, expected pixels, tolerance)"""
    def pillow(path):
        return np.asarray(Image.open(path))

    def opencv(path):
        return rgb(cv2.imread(path, cv2.IMREAD_UNCHANGED))

    for channels in (1, 3):
        for dtype, kinds in ((np.uint8, ("pgm", "pam", "bmp", "tga", "jpg")), (np.uint16, ("ppm", "pam")), (np.float32, ("pfm", "hdr"))):
            pixels = picture(channels, dtype)
            source = f"{folder}/in.{'pfm' if dtype == np.float32 else 'ppm' if channels == 3 else 'pgm'}"
            cv2.imwrite(source, rgb(pixels))
            for kind in kinds:
                path = f"{folder}/out_{channels}_{np.dtype(dtype).name}.{kind}"
                convert(imgpipe, source, path)
                tolerance = {"jpg": 2, "hdr": 0.02}.get(kind, 0)
                want = pixels
                if channels == 1 and (kind in ("bmp", "hdr") or (kind == "jpg" and pillow(path).ndim == 3)):
                    want = np.repeat(pixels, 3, axis=2)
                if kind == "pam":
                    yield f"write {channels} {dtype.__name__} {kind}", path, read_netpbm, want, 0
                else:
                    yield (f"write {channels} {dtype.__name__} {kind}", path,
                           opencv if dtype != np.uint8 else pillow, want, tolerance)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    imgpipe = os.path.abspath(sys.argv[1])
    global failed
    with tempfile.TemporaryDirectory() as folder:
        for name, path, target, want, tolerance in reading(imgpipe, folder):
            try:
                out = f"{path}.{target}"
                convert(imgpipe, path, out)
                compare(f"read {name}", read_netpbm(out), want, tolerance)
            except RuntimeError as error:
                failed += 1
                print(f"FAILED: read {name}: {error}")
        try:
            for name, path, reader, want, tolerance in writing(imgpipe, folder):
                compare(name, reader(path), want, tolerance)
        except RuntimeError as error:
            failed += 1
            print(f"FAILED: writing: {error}")
    print(f"{done} files compared, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
