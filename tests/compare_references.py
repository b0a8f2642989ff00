#!/usr/bin/python3
"""Compares the command's results with other programs': OpenCV, scipy, numpy and Pillow, within the contract's bounds.

usage: compare_references.py IMGPIPE [PATTERN...]

Inputs are made from the images in samples/ in every sample type: PNG (u8, u16) and PFM (f32), read and written here by code
of a few lines (16-bit PNG by OpenCV). Exit status: 0 all agree, 1 some differ, 77 a library is missing.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
    from PIL import Image
    from scipy import ndimage
except ImportError as missing:
    print(f"compare_references: {missing}; the comparison is skipped")
    sys.exit(77)

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "samples")
# imgpipe's border names, scipy's, OpenCV's.
BORDERS = {"clamp": ("nearest", cv2.BORDER_REPLICATE), "reflect": ("reflect", cv2.BORDER_REFLECT),
           "mirror": ("mirror", cv2.BORDER_REFLECT_101), "wrap": ("wrap", cv2.BORDER_WRAP),
           "constant": ("constant", cv2.BORDER_CONSTANT)}
MAXIMUM = {"u8": 255.0, "u16": 65535.0, "f32": 1.0}
TYPES = ("u8", "u16", "f32")
REPLICATE = cv2.BORDER_REPLICATE


def write_image(path, pixels):
    """PNG for integers, PFM (rows from the bottom up, little-endian) for float."""
    if pixels.dtype == np.float32:
        kind = b"PF" if pixels.ndim == 3 else b"Pf"
        with open(path, "wb") as file:
            file.write(b"%s\n%d %d\n-1.0\n" % (kind, pixels.shape[1], pixels.shape[0]) + pixels[::-1].astype("<f4").tobytes())
    else:
        order = cv2.COLOR_RGB2BGR if pixels.ndim == 3 and pixels.shape[2] == 3 else cv2.COLOR_RGBA2BGRA
        assert cv2.imwrite(path, pixels if pixels.ndim == 2 else cv2.cvtColor(pixels, order))


def read_image(path):
    if path.endswith(".pfm"):
        with open(path, "rb") as file:
            kind, width, height, scale = file.readline(), *file.readline().split(), float(file.readline())
            flat = np.frombuffer(file.read(), "<f4" if scale < 0 else ">f4")
        shape = (int(height), int(width)) + ((3,) if kind.strip() == b"PF" else ())
        return flat.reshape(shape)[::-1]
    pixels = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if pixels.ndim == 2:
        return pixels
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB if pixels.shape[2] == 3 else cv2.COLOR_BGRA2RGBA)


class Comparison:
    def __init__(self, binary, folder, patterns):
        self.binary, self.folder, self.patterns = binary, folder, patterns
        self.inputs, self.failed, self.count = {}, 0, 0
        astronaut = np.asarray(Image.open(os.path.join(SAMPLES, "astronaut.png")).convert("RGB"))[60:260, 130:353]
        chelsea = np.asarray(Image.open(os.path.join(SAMPLES, "chelsea.png")).convert("RGB"))[50:247]
        noise = np.random.default_rng(5)
        # A ramp of low bits makes the 16-bit images more than multiples of 257.
        low = noise.integers(0, 256, astronaut.shape)
        wide = (astronaut.astype(np.int64) * 256 + low).astype(np.uint16)
        for name, pixels in {"u8 rgb": astronaut, "u8 cat": chelsea, "u16 rgb": wide, "f32 rgb": (wide / 65535).astype(np.float32),
                             "u8 noise": noise.integers(0, 256, (131, 97, 3)).astype(np.uint8)}.items():
            self.add(name, pixels)
        for sample_type in TYPES:
            self.add(sample_type + " gray", np.ascontiguousarray(self.inputs[sample_type + " rgb"][0][:, :, 1]))
        alpha = noise.integers(0, 256, astronaut.shape[:2] + (1,)) * (noise.random(astronaut.shape[:2] + (1,)) > 0.3)
        self.add("u8 rgba", np.concatenate([astronaut, alpha.astype(np.uint8)], 2))

    def add(self, name, pixels):
        path = os.path.join(self.folder, name.replace(" ", "-") + (".pfm" if pixels.dtype == np.float32 else ".png"))
        write_image(path, pixels)
        self.inputs[name] = (pixels, path)

    def run(self, name, chain, data=None):
        path = self.inputs[name][1]
        out = os.path.join(self.folder, "out" + path[-4:])
        command = [self.binary, "-q", path, "-f", chain] + (["--no-output"] if data else ["-o", out])
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()}")
        return None if data else read_image(out)

    def note(self, name, chain, reference, worst, bound):
        self.count += 1
        fine = worst <= bound
        self.failed += not fine
        print(f"{'ok  ' if fine else 'FAIL'} {name:9} {chain:42} {reference:28} {worst:.3g} of {bound:.3g}")

    def check(self, name, chain, reference, function, bound):
        """`function` makes the reference from the pixels; the largest difference must not exceed `bound`."""
        label = f"{name} {chain} {reference}"
        if self.patterns and not any(p in label for p in self.patterns):
            return
        try:
            found, wanted = self.run(name, chain), function(self.inputs[name][0])
            if found.shape != wanted.shape:
                raise RuntimeError(f"size {found.shape}, wanted {wanted.shape}")
            worst = float(np.max(np.abs(found.astype(np.float64) - wanted.astype(np.float64))))
        except RuntimeError as error:
            self.failed += 1
            print(f"FAIL {name:9} {chain:42} {reference:28} {error}")
            return
        self.note(name, chain, reference, worst, bound)


def channels(function):
    """The same function on every channel by itself."""
    return lambda a: function(a) if a.ndim == 2 else np.stack([function(a[:, :, c]) for c in range(a.shape[2])], 2)


def rounded(a, sample_type):
    return a if sample_type == "f32" else np.clip(np.floor(a + 0.5), 0, MAXIMUM[sample_type])


def gray(c):
    c.check("u8 rgb", "gray", "Pillow L", lambda a: np.asarray(Image.fromarray(a).convert("L")), 0)
    c.check("u8 noise", "gray", "Pillow L", lambda a: np.asarray(Image.fromarray(a).convert("L")), 0)
    for name in ("u8 rgb", "u8 noise", "u16 rgb"):
        c.check(name, "gray", "cv2.cvtColor", lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2GRAY), 1)
    c.check("f32 rgb", "gray", "cv2.cvtColor", lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2GRAY), 5e-6)
    c.check("u8 cat", "gray=709", "numpy", lambda a: a @ np.array([0.2126, 0.7152, 0.0722]), 0.51)
    c.check("u8 cat", "gray=average", "numpy", lambda a: np.floor(a.mean(2) + 0.5), 0)


def blur(c):
    for sample_type in TYPES:
        truncate = 3 if sample_type == "u8" else 4
        for sigma in (0.7, 2, 5.5):
            # scipy rounds the radius to the nearest, the contract upwards.
            radius = int(np.ceil(truncate * sigma))
            for border, (mode, _) in BORDERS.items():
                if sigma != 2 and border not in ("clamp", "wrap"):
                    continue
                bound = 2e-6 * max(1, (2 * radius + 1) / 33) if sample_type == "f32" else 1
                c.check(f"{sample_type} {'rgb' if sigma == 2 else 'gray'}", f"blur={sigma}:border={border}",
                        "scipy gaussian_filter", channels(lambda a: ndimage.gaussian_filter(
                            a.astype(np.float64), sigma, mode=mode, truncate=radius / sigma)), bound)
    c.check("u8 rgb", "blur=3", "cv2.GaussianBlur",
            lambda a: cv2.GaussianBlur(a.astype(np.float64), (19, 19), 3, borderType=REPLICATE), 1)
    c.check("u8 gray", "blur=sigma_x=4:sigma_y=1", "cv2.GaussianBlur", lambda a: cv2.sepFilter2D(
        a.astype(np.float64), -1, cv2.getGaussianKernel(25, 4), cv2.getGaussianKernel(7, 1), borderType=REPLICATE), 1)
    c.check("u8 rgba", "blur=2", "scipy, weighed by alpha", blurred_weighed, 1)


def blurred_weighed(a):
    """Colour weighed by alpha. Where the resulting alpha is below 1 nothing is promised, but that it is 0 under alpha 0."""
    a = a.astype(np.float64)
    smooth = channels(lambda p: ndimage.gaussian_filter(p, 2, mode="nearest", truncate=3))
    alpha = smooth(a[:, :, 3])
    assert alpha.min() >= 1
    return np.concatenate([smooth(a[:, :, :3] * a[:, :, 3:]) / alpha[:, :, None], alpha[:, :, None]], 2)


def box(c):
    for sample_type in TYPES:
        for size in (3, 7, 31):
            for border, (mode, _) in BORDERS.items():
                if size != 7 and border != "clamp":
                    continue
                bound = 2e-6 if sample_type == "f32" else 0.5 + 1e-6
                c.check(f"{sample_type} rgb", f"box={size}:border={border}", "scipy uniform_filter",
                        channels(lambda a: ndimage.uniform_filter(a.astype(np.float64), size, mode=mode)), bound)
    c.check("u8 noise", "box=width=5:height=9", "cv2.blur",
            lambda a: cv2.blur(a.astype(np.float64), (5, 9), borderType=REPLICATE), 0.5 + 1e-6)


def median(c):
    for size in (3, 5, 15):
        c.check("u8 rgb", f"median={size}", "cv2.medianBlur", lambda a: cv2.medianBlur(a, size), 0)
    for sample_type in TYPES:
        for border, (mode, _) in BORDERS.items():
            c.check(f"{sample_type} gray", f"median=5:border={border}", "scipy median_filter",
                    lambda a: ndimage.median_filter(a, 5, mode=mode), 0)
        c.check(f"{sample_type} rgb", "median=9", "scipy median_filter",
                channels(lambda a: ndimage.median_filter(a, 9, mode="nearest")), 0)
    c.check("u8 noise", "median=33", "scipy rank_filter",
            channels(lambda a: ndimage.rank_filter(a, 33 * 33 // 2, 33, mode="nearest")), 0)


def conv(c):
    masks = {"0 -1 0;-1 5 -1;0 -1 0": 1, "1 2 1;2 4 2;1 2 1": 16, "-1 0 1;-2 0 2;-1 0 1": 1, "1 2 3 4 5;0 1 0 1 0;9 -9 3 -3 1": 18}
    for text, div in masks.items():
        mask = np.array([[float(w) for w in row.split()] for row in text.split(";")])
        for sample_type in TYPES:
            for border, (mode, _) in BORDERS.items():
                if border not in ("clamp", "wrap") and div != 16:
                    continue
                bound = 1e-6 * np.abs(mask).sum() / div if sample_type == "f32" else 0
                c.check(f"{sample_type} rgb", f"conv={text}:border={border}", "scipy correlate", channels(lambda a: rounded(
                    ndimage.correlate(a.astype(np.float64), mask, mode=mode) / div, sample_type)), bound)
    real = np.array([[0.11, 0.37, -0.2], [0.5, 1.25, 0.3], [-0.07, 0.2, 0.09]])
    text = ";".join(" ".join(str(w) for w in row) for row in real)
    c.check("u8 cat", f"conv={text}:bias=10", "cv2.filter2D", lambda a: rounded(cv2.filter2D(
        a.astype(np.float64), -1, real, borderType=REPLICATE) + 10, "u8"), 1)
    c.check("f32 gray", f"conv={text}:flip", "scipy convolve",
            lambda a: ndimage.convolve(a.astype(np.float64), real, mode="nearest"), 1e-6 * np.abs(real).sum())
    c.check("u8 gray", "conv=sobel_x:abs", "cv2.Sobel",
            lambda a: np.clip(np.abs(cv2.Sobel(a, cv2.CV_64F, 1, 0, borderType=REPLICATE)), 0, 255), 0)


def point(c):
    c.check("u8 rgb", "invert", "numpy", lambda a: 255 - a, 0)
    c.check("u16 rgb", "invert", "numpy", lambda a: 65535 - a, 0)
    c.check("f32 rgb", "invert", "numpy", lambda a: np.float32(1) - a, 0)
    c.check("u8 cat", "threshold=100", "cv2.threshold", lambda a: cv2.threshold(a, 99, 255, cv2.THRESH_BINARY)[1], 0)
    c.check("f32 gray", "threshold=50%", "numpy", lambda a: (a >= 0.5).astype(np.float32), 0)
    c.check("u8 rgb", "levels=20:200:10:250", "numpy.interp", lambda a: np.floor((a - 20.0) / 180 * 240 + 10 + 0.5).clip(0, 255), 0)
    c.check("u16 rgb", "levels=10%:90%", "numpy", lambda a: np.clip((a - 6553.5) / 52428 * 65535, 0, 65535), 0.5 + 1e-6)


def hist_counts(c, name, chain, extension):
    """The counts by channel, and the range, from the side data."""
    path = os.path.join(c.folder, "hist" + extension)
    c.run(name, f"{chain}{':' if '=' in chain else '='}data={path}", data=True)
    with open(path, encoding="utf-8") as file:
        if extension == ".json":
            data = json.load(file)
            return [np.array(channel["counts"]) for channel in data["channels"]]
        rows = [row for row in csv.reader(file)][1:]
    counts = np.array([[int(n) for n in row[3:]] for row in rows if row[0].isdigit()])
    return [counts[:, i] for i in range(counts.shape[1])]


def hist(c):
    cases = [("u8 rgb", "hist", 256, (0, 256)), ("u8 gray", "hist=bins=64", 64, (0, 256)), ("u16 rgb", "hist", 65536, (0, 65536)),
             ("u16 gray", "hist=bins=256", 256, (0, 65536)),
             ("f32 gray", "hist=min=0:max=1", 256, (0, 1)), ("f32 rgb", "hist=bins=128", 128, None)]
    for name, chain, bins, span in cases:
        pixels = c.inputs[name][0].astype(np.float64)
        planes = [pixels] if pixels.ndim == 2 else [pixels[:, :, i] for i in range(3)]
        span = span or (pixels.min(), pixels.max())
        for extension in (".csv", ".json"):
            if c.patterns and not any(p in f"{name} {chain}" for p in c.patterns):
                continue
            found = hist_counts(c, name, chain, extension)
            wanted = [np.histogram(plane, bins, span)[0] for plane in planes]
            # Where float samples lie on the edge of two bins either may count them.
            differing = max(int(np.abs(f - w).sum()) if f.shape == w.shape else 10**9 for f, w in zip(found, wanted))
            c.note(name, chain + " " + extension, "numpy.histogram", differing, 0 if name[0] == "u" else 8)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: compare_references.py IMGPIPE [PATTERN...]")
    with tempfile.TemporaryDirectory(prefix="imgpipe-references-") as folder:
        c = Comparison(sys.argv[1], folder, sys.argv[2:])
        for part in (gray, blur, box, median, conv, point, hist):
            part(c)
    print(f"{c.failed} of {c.count} comparisons failed")
    sys.exit(1 if c.failed or not c.count else 0)


if __name__ == "__main__":
    main()
