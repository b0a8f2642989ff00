#!/usr/bin/env python3
"""The programs of samples/embed, built against an installed copy with the shared and the static library, do what they say.

usage: test_embed.py BUILD_FOLDER
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from test_install import check, find, flags, run, static_flags

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAMPLES = os.path.join(ROOT, "samples", "embed")


def pipe(*command, data, **env):
    result = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **env})
    return result.returncode, result.stdout, result.stderr.decode()


def random_bytes(count):
    """The same ones each time."""
    state, out = 1, bytearray()
    while len(out) < count:
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        out += (state >> 16).to_bytes(6, "little")
    return bytes(out[:count])


def ppm(width, height, pixels):
    return b"P6\n%d %d\n255\n" % (width, height) + pixels


class Programs:
    """The samples as built against one of the libraries."""

    def __init__(self, kind, folder, command, libraries):
        self.kind, self.folder, self.command, self.libraries = kind, folder, command, libraries

    def build(self, options):
        sources = sorted(glob.glob(os.path.join(SAMPLES, "*.c")))
        for source in sources:
            program = os.path.join(self.folder, os.path.basename(source)[:-2])
            run("cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", source, "-o", program, *options)
        check(len(sources) >= 3, f"{len(sources)} samples are built with the {self.kind} library")

    def path(self, name):
        return os.path.join(self.folder, name)

    def pipe(self, name, *arguments, data):
        return pipe(self.path(name), *arguments, data=data, LD_LIBRARY_PATH=self.libraries)

    def by_command(self, chain, data):
        status, out, error = pipe(self.command, "-", "-f", chain, "--format", "pnm", "-o", "-", data=data)
        check(status == 0, f"the command runs {chain} {error}")
        return out

    def blur_buffer(self):
        status, out, error = self.pipe("blur_buffer", data=b"")
        match = re.match(rb"blur=sigma=3: left of the edge 0 became (\d+), right of it 4095 became (\d+)\n$", out)
        check(status == 0 and match, f"blur_buffer ({self.kind}) says what it did {error}")
        left, right = int(match[1]), int(match[2])
        # The two samples lie half a pixel from a step edge, and the blur is symmetric.
        check(1700 < left < 2047 < right < 2400 and abs(left + right - 4095) <= 1,
              f"its samples lie where a blurred edge has them {left} {right}")

    def rows(self):
        image = ppm(61, 500, random_bytes(61 * 500 * 3))
        for chain in ("blur=2,invert", "gray,median=5", "hist"):
            status, out, error = self.pipe("rows", chain, data=image)
            check(status == 0 and out == self.by_command(chain, image), f"rows ({self.kind}) makes the command's bytes of {chain} {error}")
        status, out, error = self.pipe("rows", "blur", data=image[:-100])
        check(status == 1 and "the input ends in row 499" in error, f"rows says where a short input ends {error}")
        status, out, error = self.pipe("rows", "blr", data=image)
        check(status == 1 and "did you mean blur" in error, "rows says what is wrong with a chain")

    def frames(self):
        width, height, chain = 64, 48, "median=3,conv=sharpen"
        size = width * height * 3
        raw = random_bytes(size * 5)
        want = b""
        for at in range(0, len(raw), size):
            want += self.by_command(chain, ppm(width, height, raw[at:at + size]))[-size:]
        status, out, error = self.pipe("frames", str(width), str(height), chain, data=raw)
        check(status == 0 and out == want, f"frames ({self.kind}) makes the command's bytes of 5 frames {error}")
        status, out, error = self.pipe("frames", str(width), str(height), chain, data=raw[:-1])
        check(status == 1 and "inside a frame" in error and out == want[:-size], "frames says that the last frame is short")
        status, out, error = self.pipe("frames", str(width), str(height), "gray", data=raw)
        check(status == 1 and "channels" in error, "frames refuses a chain that changes the format")

    def video(self):
        """The line in the comment of frames.c, with two videos without loss."""
        if not shutil.which("ffmpeg"):
            print("skip ffmpeg: it is not installed")
            return
        source, made = self.path("in.mkv"), self.path("out.mkv")
        quiet, lossless = ["ffmpeg", "-v", "error"], ["-c:v", "ffv1", "-pix_fmt", "gbrp"]
        run(*quiet, "-f", "lavfi", "-i", "testsrc=size=96x64:rate=25:duration=0.4", *lossless, "-y", source)
        line = (f"set -o pipefail; ffmpeg -v error -i {source} -f rawvideo -pix_fmt rgb24 - | {self.path('frames')} 96 64 invert |"
                f" ffmpeg -v error -f rawvideo -pix_fmt rgb24 -s 96x64 -r 25 -i - -c:v ffv1 -pix_fmt gbrp -y {made}")
        run("bash", "-c", line, LD_LIBRARY_PATH=self.libraries)
        raw = [pipe(*quiet, "-i", video, "-f", "rawvideo", "-pix_fmt", "rgb24", "-", data=b"")[1] for video in (source, made)]
        check(len(raw[0]) == 96 * 64 * 3 * 10 and raw[1] == bytes(255 - b for b in raw[0]),
              "ffmpeg gives frames and takes them back, inverted")


def main(build):
    with tempfile.TemporaryDirectory(prefix="imgpipe-embed-") as folder:
        root = os.path.join(folder, "root")
        run("meson", "install", "-C", build, "--no-rebuild", DESTDIR=root)
        libraries, command = os.path.dirname(find(root, "libimgpipe.so")), find(root, "bin/imgpipe")
        for kind, options in (("shared", flags(root, "--cflags", "--libs")), ("static", static_flags(root))):
            place = os.path.join(folder, kind)
            os.mkdir(place)
            programs = Programs(kind, place, command, libraries if kind == "shared" else "")
            programs.build(options)
            programs.blur_buffer()
            programs.rows()
            programs.frames()
            programs.video()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]))
