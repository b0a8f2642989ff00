"""Other programs as readers of image files. Each gives float32 pixels of four channels, height x width x RGBA, on a scale of 0...1:
gray stands in three channels, and what has no alpha is opaque. A program that is not installed is left out and counted."""
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is missing")
    sys.exit(77)
try:
    import cv2
except ImportError:
    cv2 = None
try:
    from PIL import Image
except ImportError:
    Image = None


def rgba(pixels):
    """Samples of any type and 1 to 4 channels; the second and fourth are alpha."""
    pixels = np.asarray(pixels)
    scale = 1.0 if pixels.dtype.kind == "f" else float(np.iinfo(pixels.dtype).max)
    pixels = pixels.reshape(pixels.shape[0], pixels.shape[1], -1).astype(np.float32) / np.float32(scale)
    channels = pixels.shape[2]
    color = pixels[:, :, :3] if channels >= 3 else np.repeat(pixels[:, :, :1], 3, axis=2)
    alpha = pixels[:, :, -1:] if channels in (2, 4) else np.ones_like(pixels[:, :, :1])
    return np.concatenate([color, alpha], axis=2)


def netpbm_pixels(data):
    """P5, P6, P7 and PFM as samples of their own type."""
    if data[:2] == b"P7":
        head, pixels = data.split(b"ENDHDR\n", 1)
        fields = dict(line.split(None, 1) for line in head.split(b"\n")[1:] if line)
        width, height, channels = (int(fields[key]) for key in (b"WIDTH", b"HEIGHT", b"DEPTH"))
        top = int(fields[b"MAXVAL"])
    else:
        magic, size, scale, pixels = data.split(b"\n", 3)
        width, height = map(int, size.split())
        channels = 3 if magic in (b"P6", b"PF") else 1
        if magic in (b"PF", b"Pf"):
            return np.frombuffer(pixels, "<f4").reshape(height, width, channels)[::-1]
        top = int(scale)
    wide = np.frombuffer(pixels, "u1" if top < 256 else ">u2").reshape(height, width, channels)
    return wide.astype(np.uint8 if top < 256 else np.uint16) if top in (255, 65535) else wide / np.float32(top)


def output(*command, stdin=subprocess.DEVNULL):
    result = subprocess.run(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode:
        raise RuntimeError(f"{command[0]}: {result.stderr.decode(errors='replace').strip()[:200]}")
    return result.stdout


def pillow(path, page=0):
    with Image.open(path) as image:
        image.seek(page)
        if image.mode in ("1", "P", "CMYK"):
            transparent = "transparency" in image.info
            return rgba(np.asarray(image.convert("RGBA" if transparent else "L" if image.mode == "1" else "RGB")))
        pixels = np.asarray(image)
        return rgba(pixels.astype(np.uint16) if image.mode.startswith("I") else pixels)


def opencv(path):
    pixels = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise RuntimeError("OpenCV cannot read it")
    # It has blue first, but for PAM files, which it leaves as they are.
    swap = pixels.ndim == 3 and not path.endswith(".pam")
    return rgba(pixels[:, :, [2, 1, 0, 3][: pixels.shape[2]]] if swap else pixels)


def vips(path):
    with tempfile.TemporaryDirectory() as folder:
        raw, real = os.path.join(folder, "raw"), os.path.join(folder, "real.v")
        if path.endswith(".hdr"):
            output("vips", "rad2float", path, real)
            path = real
        fields = {key: output("vipsheader", "-f", key, path).decode() for key in ("format", "bands", "width", "height")}
        output("vips", "rawsave", path, raw)
        name = fields["format"].lower()
        kind = "u1" if "uchar" in name else "u2" if "ushort" in name else "f4"
        return rgba(np.fromfile(raw, kind).reshape(int(fields["height"]), int(fields["width"]), int(fields["bands"])))


def magick(path, *options):
    """With 32-bit floats, which hold 16 bits exactly and what lies above 1. A TGA's rows may come in any order."""
    path += "[0]" if path.endswith(".psd") else ""  # the merged image comes first
    size = output("convert", path, *options, "-auto-orient", "-format", "%w %h", "info:").split()
    raw = output("convert", path, *options, "-auto-orient", "-set", "colorspace", "sRGB", "-depth", "32", "-define",
                 "quantum:format=floating-point", "RGBA:-")
    return np.frombuffer(raw, "<f4").reshape(int(size[1]), int(size[0]), 4)


def netpbm(path):
    tool = {"tga": "tgatoppm", "pam": "pamtopam", "pfm": "pfmtopam", "gif": "giftopnm"}[path.rsplit(".", 1)[1]]
    with open(path, "rb") as file:
        return rgba(netpbm_pixels(output(tool, stdin=file)))


PROGRAMS = {"Pillow": pillow, "OpenCV": opencv, "vips": vips, "ImageMagick": magick, "netpbm": netpbm}
THERE = {"Pillow": Image is not None, "OpenCV": cv2 is not None, "vips": shutil.which("vips") and shutil.which("vipsheader"),
         "ImageMagick": shutil.which("convert"), "netpbm": shutil.which("pamtopam"), "exiftool": shutil.which("exiftool"),
         "tiffcp": shutil.which("tiffcp"), "webp": shutil.which("webpmux") and shutil.which("cwebp")}


def missing(names):
    return [name for name in names if not THERE[name]]


def difference(got, want):
    """Mean and greatest difference; colour counts where something is to be seen."""
    if got.shape != want.shape:
        return float("inf"), float("inf")
    distance = np.abs(got - want)
    distance[:, :, :3] *= (want[:, :, 3:] > 0) | (got[:, :, 3:] > 0)
    return float(distance.mean()), float(distance.max())
