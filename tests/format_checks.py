"""What the checks of tools/format_table.py share: the register of checks, files made by ImageMagick, and the command."""
import os
import subprocess

from format_programs import PROGRAMS, difference, missing, netpbm_pixels, np, output, rgba

EXTENSIONS = {"png": "png", "pnm": "ppm", "pam": "pam", "pfm": "pfm", "jpeg": "jpg", "tiff": "tif", "webp": "webp", "bmp": "bmp",
              "tga": "tga", "hdr": "hdr", "gif": "gif", "psd": "psd"}
# Who reads a kind of file, and reads it as it is meant. vips turns PFM and TGA upside down.
READERS = {"png": ("vips", "ImageMagick"), "pnm": ("vips", "ImageMagick"), "pam": ("OpenCV", "ImageMagick"),
           "pfm": ("OpenCV", "ImageMagick"), "jpeg": ("Pillow", "vips"), "tiff": ("vips", "ImageMagick"), "webp": ("Pillow", "vips"),
           "bmp": ("ImageMagick",), "tga": ("Pillow", "ImageMagick"), "hdr": ("OpenCV", "vips"), "gif": ("ImageMagick",),
           "psd": ("ImageMagick",)}
FLOATS = ("pfm", "hdr")
WIDTH, HEIGHT = 61, 43
EXACT = 1e-6   # far below a step of 16 bits: what float32 does to it
MAGICK = 1e-5  # ImageMagick of Debian 12 keeps 16 bits, also of floats


class Tally:
    imgpipe = ""
    checks = failures = 0
    skipped = set()
    now = ""       # the item of the table that is checked
    compared = 0   # how often it was compared with another program


CHECKS = {}  # (kind, column, item) -> function(kind)


def covers(column, item, *kinds):
    """Registers a check for one item in the cells of these kinds."""
    def register(function):
        for kind in kinds:
            if (kind, column, item) in CHECKS:
                raise ValueError(f"two checks for {kind}, {column}, {item}")
            CHECKS[kind, column, item] = function
        return function
    return register


def check(right, *what):
    Tally.checks += 1
    if not right:
        Tally.failures += 1
        print(f"FAILED: {Tally.now}:", *what)
    return right


class Skip(Exception):
    """A program that the check needs is missing."""


def need(*programs):
    lacking = missing(programs)
    if lacking:
        raise Skip(f"{', '.join(lacking)} missing")


def installed(programs):
    """Those that are there, of which one is needed."""
    lacking = missing(programs)
    if len(lacking) == len(programs):
        need(*lacking)
    return [program for program in programs if program not in lacking]


def attempt(*arguments):
    return subprocess.run([Tally.imgpipe, *map(str, arguments)], capture_output=True, text=True, check=False)


def convert(source, target, *options):
    result = attempt(source, "-o", target, *options)
    if result.returncode:
        raise RuntimeError(f"exit status {result.returncode}: {result.stderr.strip()}")
    return result.stderr


def refused(source, target, words, *options):
    """An error, in the last line, behind notices."""
    result = attempt(source, "-o", target, *options)
    check(result.returncode == 1 and words in result.stderr.strip().split("\n")[-1] and not os.path.exists(target),
          f"exit status {result.returncode} and not '{words}': {result.stderr.strip()}")


def ours(path, *options, kind="pam"):
    """What the command reads in a file, as RGBA."""
    target = f"ours.{kind}"
    convert(path, target, *options)
    with open(target, "rb") as file:
        return rgba(netpbm_pixels(file.read()))


def allowed(program, tolerance):
    return max(tolerance, MAGICK) if program == "ImageMagick" else tolerance


def same(got, want, what, tolerance=EXACT, mean=None):
    far = difference(got, want)
    check(far[1] <= tolerance and far[0] <= (tolerance if mean is None else mean), what, "differs: mean and greatest", *far)


def reads(kind, path, want=None, readers=None, tolerance=EXACT, mean=None, options=()):
    """The command sees in the file what other programs see, and what was put in."""
    got = ours(path, *options, kind="pfm" if kind in FLOATS else "pam")
    if want is not None:
        same(got, rgba(want), f"{path}: what was put in", allowed("ImageMagick" if kind in FLOATS else "", tolerance), mean)
    for program in installed(readers or READERS[kind]):
        Tally.compared += 1
        same(got, PROGRAMS[program](path), f"{path}: what {program} reads", allowed(program, tolerance), mean)


def seen(kind, path, want, tolerance=EXACT, mean=None, readers=None):
    """Other programs see in the command's file what they should."""
    for program in installed(readers or READERS[kind]):
        Tally.compared += 1
        same(PROGRAMS[program](path), rgba(want), f"{path} in {program}", allowed(program, tolerance), mean)


def picture(channels=3, dtype=np.uint8, size=(WIDTH, HEIGHT), noise=0.004):
    """Smooth, so that lossy kinds can hold it, without a symmetry; alpha, the last of 2 or 4, is 0 somewhere and full elsewhere."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width]
    rng = np.random.default_rng(channels)
    planes = [0.5 + 0.4 * np.sin(x / (9.0 + c) + c) * np.cos(y / (7.0 + c)) + rng.normal(0, noise, x.shape) for c in range(channels)]
    if channels in (2, 4):
        planes[-1] = np.clip((x + y) / (width + height - 2.0) * 1.4 - 0.2, 0, 1)
    image = np.clip(np.stack(planes, axis=-1), 0, 1)
    if dtype == np.float32:
        return image.astype(np.float32)
    return np.floor(image * np.iinfo(dtype).max + 0.5).astype(dtype)


def magick_write(pixels, path, *options):
    """Has ImageMagick write the pixels into a file of any kind."""
    need("ImageMagick")
    height, width, channels = pixels.shape
    raw = {1: "GRAY", 2: "GRAYA", 3: "RGB", 4: "RGBA"}[channels]
    depth = {"u1": "8", "u2": "16", "f4": "32"}[pixels.dtype.str[1:]]
    if raw == "GRAYA":
        pixels, raw = pixels[:, :, [0, 0, 0, 1]], "RGBA"
    with open("raw", "wb") as file:
        file.write(np.ascontiguousarray(pixels).tobytes())
    more = ["-define", "quantum:format=floating-point"] if depth == "32" else []
    output("convert", "-size", f"{width}x{height}", "-depth", depth, *more, "-endian", "LSB", f"{raw}:raw", *options, path)
    return path


def source(pixels):
    """A file of the command's own kinds that holds these pixels: what it writes other kinds from."""
    height, width, channels = pixels.shape
    if pixels.dtype == np.float32:
        head, data = f"P{'F' if channels == 3 else 'f'}\n{width} {height}\n-1\n", pixels[::-1].astype("<f4")
    else:
        names = {1: "GRAYSCALE", 2: "GRAYSCALE_ALPHA", 3: "RGB", 4: "RGB_ALPHA"}
        top = np.iinfo(pixels.dtype).max
        head = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {top}\nTUPLTYPE {names[channels]}\nENDHDR\n"
        data = pixels.astype(">u2") if pixels.dtype == np.uint16 else pixels
    path = f"source.{'pfm' if pixels.dtype == np.float32 else 'pam'}"
    with open(path, "wb") as file:
        file.write(head.encode() + np.ascontiguousarray(data).tobytes())
    return path


def name_for(kind, stem="out"):
    return f"{stem}.{EXTENSIONS[kind]}"
