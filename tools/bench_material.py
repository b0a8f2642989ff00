"""The pictures that tools/bench measures with, made once into a cache folder, the same on every machine.

A photograph of 24 MP (6000 x 4000): a mosaic of 4 x 2 crops, at their own resolution, of the photographs of Debian's package
lomiri-wallpapers-16.04, with normal noise of sigma 1; where the package cannot be had, the pictures in samples/, enlarged. The
same blurred; a drawing of 14.7 MP, and what a screen may show, both drawn here; random samples; and folders of photographs.
"""
import glob
import os
import shutil

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

Image.MAX_IMAGE_PIXELS = None
VERSION = 1  # raised when a picture changes, so that an old cache is made anew
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "samples")
# Width and height of the whole pictures; of the tiny ones that the suite uses.
SIZES = {"photograph": (6000, 4000), "blurred": (6000, 4000), "drawing": (4704, 3128), "screenshot": (3840, 2160)}
TINY = {"photograph": (240, 160), "blurred": (240, 160), "drawing": (192, 128), "screenshot": (192, 108)}
FOLDERS = {"small": (100, 512, 512), "large": (200, 1000, 2450)}  # number, least and greatest side


class Material:
    """Where the pictures are, and the sizes of the raw ones."""

    def __init__(self, folder, tiny):
        self.folder, self.tiny, self.sizes = folder, tiny, TINY if tiny else SIZES
        self.source = ""

    def path(self, name):
        return os.path.join(self.folder, name)

    def raw(self, content, channels, sample_bytes):
        """Width, height, channels, bytes a sample, and path of raw samples."""
        name = f"{content}-{'rgb' if channels == 3 else 'gray'}-u{8 * sample_bytes}.raw"
        return (*self.sizes["photograph"], channels, sample_bytes, self.path(name))

    def many(self, say):
        """10,000 small pictures, which only some lines need."""
        folder, count = self.path("many-png"), 30 if self.tiny else 10000
        if os.path.isdir(folder):
            return
        say(f"making {count} small pictures in {folder}")
        os.makedirs(folder + ".new", exist_ok=True)
        photo = Image.open(self.path("photograph.png"))
        random = np.random.Generator(np.random.PCG64(6))
        for i in range(count):
            x, y = int(random.integers(0, photo.width - 63)), int(random.integers(0, photo.height - 63))
            photo.crop((x, y, x + 64, y + 64)).save(os.path.join(folder + ".new", f"{i:05}.png"), compress_level=1)
        os.rename(folder + ".new", folder)


def crops(wallpapers, width, height):
    """Eight pictures of this size, and where they come from."""
    found = []
    for path in sorted(glob.glob(os.path.join(wallpapers, "*.jpg"))):
        picture = Image.open(path)
        if picture.width >= width and picture.height >= height:
            left, top = (picture.width - width) // 2, (picture.height - height) // 2
            found.append(picture.convert("RGB").crop((left, top, left + width, top + height)))
        if len(found) == 8:
            return found, "lomiri-wallpapers-16.04"
    names = [os.path.join(SAMPLES, name + ".png") for name in ("astronaut", "chelsea", "coffee")]
    samples = [Image.open(name).convert("RGB").resize((width, height), Image.LANCZOS) for name in names]
    return [samples[i % len(samples)] for i in range(8)], "samples/, enlarged"


def photograph(wallpapers, size):
    """8-bit RGB, the same with 16 bits, and the source."""
    width, height = size
    tiles, source = crops(wallpapers, width // 4, height // 2)
    clean = np.empty((height, width, 3), np.uint8)
    for i, tile in enumerate(tiles):
        y, x = i // 4 * (height // 2), i % 4 * (width // 4)
        clean[y:y + height // 2, x:x + width // 4] = np.asarray(tile)
    random = np.random.Generator(np.random.PCG64(1))
    noisy, deep = np.empty_like(clean), np.empty(clean.shape, np.uint16)
    for y in range(0, height, 100):  # so that the floating point numbers take little memory
        band = clean[y:y + 100] + random.standard_normal(clean[y:y + 100].shape, np.float32)
        noisy[y:y + 100] = np.clip(np.floor(band + 0.5), 0, 255)
        deep[y:y + 100] = np.clip(np.floor(band * 257 + 0.5), 0, 65535)
    return noisy, deep, source


def blurred(image, sigma=2.0, radius=6):
    """By the definition, in bands; by no program that is measured."""
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2).astype(np.float32)
    taps /= taps.sum()
    padded = np.pad(image, ((radius, radius), (radius, radius), (0, 0)), "edge")
    out = np.empty_like(image)
    for y in range(0, image.shape[0], 100):
        rows = min(100, image.shape[0] - y)
        band = padded[y:y + rows + 2 * radius].astype(np.float32)
        down = sum(tap * band[k:k + rows] for k, tap in enumerate(taps))
        out[y:y + rows] = np.floor(sum(tap * down[:, k:k + image.shape[1]] for k, tap in enumerate(taps)) + 0.5)
    return out


def drawing(size):
    """Flat areas, smooth edges, lines, a few gradients: an illustration."""
    width, height = size
    random = np.random.Generator(np.random.PCG64(2))
    canvas = Image.new("RGB", (2 * width, 2 * height), (245, 240, 228))  # twice as large, and reduced: smooth edges
    draw = ImageDraw.Draw(canvas)
    for _ in range(260):
        x, y = random.integers(0, 2 * width), random.integers(0, 2 * height)
        extent = int(random.integers(height // 60, height // 4))
        colour = tuple(int(c) for c in random.integers(0, 256, 3))
        kind = random.integers(0, 4)
        if kind == 0:
            draw.ellipse((x, y, x + 2 * extent, y + extent), fill=colour, outline=(20, 20, 30), width=6)
        elif kind == 1:
            draw.polygon([(x + int(dx), y + int(dy)) for dx, dy in random.integers(-extent, extent, (5, 2))], fill=colour)
        elif kind == 2:
            draw.line([(x + int(dx), y + int(dy)) for dx, dy in random.integers(-3 * extent, 3 * extent, (6, 2))], fill=colour,
                      width=int(random.integers(3, 24)), joint="curve")
        else:
            draw.rounded_rectangle((x, y, x + 2 * extent, y + extent), radius=extent // 5, fill=colour)
    canvas = canvas.reduce(2)
    shade = Image.linear_gradient("L").resize((width // 3, height // 3))
    canvas.paste(Image.merge("RGB", (shade, shade.transpose(Image.FLIP_TOP_BOTTOM), Image.new("L", shade.size, 90))), (width // 9, height // 2))
    # A brush with texture, as drawings by hand have it in places.
    texture = Image.fromarray(random.integers(118, 138, (height // 3, width // 3, 3), dtype=np.uint8)).filter(ImageFilter.GaussianBlur(1))
    canvas.paste(texture, (width // 2, height // 7))
    return canvas


def screenshot(size, photo):
    """Windows with text, flat and shaded areas, and one photograph."""
    width, height = size
    random = np.random.Generator(np.random.PCG64(3))
    canvas = Image.new("RGB", size, (58, 110, 165))
    draw, font = ImageDraw.Draw(canvas), ImageFont.load_default()
    words = "the quick brown fox jumps over a lazy dog 0123456789 return value if (x < y) { a[i] += b; }".split()
    for left, top, right, bottom in ((0.02, 0.05, 0.48, 0.9), (0.4, 0.1, 0.97, 0.6), (0.52, 0.5, 0.95, 0.95)):
        box = tuple(int(v) for v in (left * width, top * height, right * width, bottom * height))
        draw.rectangle(box, fill=(250, 250, 250), outline=(90, 90, 90))
        for x in range(box[0] + 1, box[2]):  # a shaded title bar
            draw.line((x, box[1] + 1, x, box[1] + 28), fill=(40 + 120 * (x - box[0]) // (box[2] - box[0]), 80, 160))
        for y in range(box[1] + 36, box[3] - 14, 13):
            text = " ".join(words[int(k)] for k in random.integers(0, len(words), 24))
            draw.text((box[0] + 8, y), text[:max(1, (box[2] - box[0]) // 7)], font=font, fill=tuple(int(c) for c in random.integers(0, 110, 3)))
    canvas.paste(photo.crop((0, 0, width // 6, height // 5)), (int(0.3 * width), int(0.7 * height)))
    return canvas


def folders(material, photo):
    """small and large photographs, crops of the large one, as PNG and as JPEG."""
    random = np.random.Generator(np.random.PCG64(4))
    for name, (count, least, most) in FOLDERS.items():
        if material.tiny:
            count, least, most = 3, 40, 60
        for kind in ("png", "jpg"):
            os.makedirs(material.path(f"{name}-{kind}"), exist_ok=True)
        for i in range(count):
            width, height = (int(v) for v in random.integers(least, most + 1, 2))
            x, y = int(random.integers(0, photo.width - width + 1)), int(random.integers(0, photo.height - height + 1))
            crop = photo.crop((x, y, x + width, y + height))
            crop.save(material.path(f"{name}-png/{i:03}.png"), compress_level=1)
            crop.save(material.path(f"{name}-jpg/{i:03}.jpg"), quality=90)


def make(folder, wallpapers, tiny, say):
    """Makes what is not there yet; returns the Material."""
    material = Material(folder, tiny)
    stamp = material.path("made")
    wanted = f"{VERSION} {'tiny' if tiny else 'whole'} {os.path.isdir(wallpapers)}"
    try:
        with open(stamp, encoding="utf-8") as file:
            made, material.source = file.read().split("\n")[:2]
        if made == wanted:
            return material
    except (OSError, ValueError):
        pass
    say(f"making test pictures in {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    noisy, deep, material.source = photograph(wallpapers, material.sizes["photograph"])
    photo = Image.fromarray(noisy)
    soft = Image.fromarray(blurred(noisy))
    pictures = {"photograph": photo, "blurred": soft, "drawing": drawing(material.sizes["drawing"]),
                "screenshot": screenshot(material.sizes["screenshot"], photo)}
    for name, picture in pictures.items():
        picture.save(material.path(name + ".png"), compress_level=3)
        with open(material.path(name + ".raw"), "wb") as file:
            file.write(np.asarray(picture).tobytes())
    photo.save(material.path("photograph.jpg"), quality=90)
    random = np.random.Generator(np.random.PCG64(5))
    for content, pixels, deep_pixels in (("photograph", noisy, deep), ("random", random.integers(0, 256, noisy.shape, np.uint8),
                                                                      random.integers(0, 65536, noisy.shape, np.uint16))):
        for data, bits in ((pixels, 8), (deep_pixels, 16)):
            data.tofile(material.path(f"{content}-rgb-u{bits}.raw"))
            np.ascontiguousarray(data[:, :, 1]).tofile(material.path(f"{content}-gray-u{bits}.raw"))
    folders(material, photo)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(f"{wanted}\n{material.source}\n")
    return material
