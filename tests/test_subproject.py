#!/usr/bin/env python3
"""The samples built with imgpipe as a Meson subproject, of which only the engine is wanted: no codecs and no command, so no libpng.

usage: test_subproject.py
"""
import glob
import os
import subprocess
import sys
import tempfile

from test_install import check, run

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROJECT = """project('camera', 'c', default_options: ['c_std=c11', 'warning_level=2', 'werror=true'])
imgpipe = dependency('imgpipe', fallback: ['imgpipe', 'imgpipe_dep'],
  default_options: ['codecs=disabled', 'tools=false', 'cuda=disabled', 'werror=false'])
"""


def build(folder, *options):
    sources = sorted(glob.glob(os.path.join(ROOT, "samples", "embed", "*.c")))
    os.makedirs(os.path.join(folder, "subprojects"))
    os.symlink(ROOT, os.path.join(folder, "subprojects", "imgpipe"))
    with open(os.path.join(folder, "meson.build"), "w", encoding="utf-8") as file:
        file.write(PROJECT)
        for source in sources:
            name = os.path.basename(source)[:-2]
            os.symlink(source, os.path.join(folder, name + ".c"))
            file.write(f"executable('{name}', '{name}.c', dependencies: imgpipe)\n")
    made = os.path.join(folder, "build")
    run("meson", "setup", "--force-fallback-for=imgpipe", *options, made, folder)
    run("ninja", "-C", made)
    return made, [os.path.basename(s)[:-2] for s in sources]


def main():
    for kind in ("shared", "static"):
        with tempfile.TemporaryDirectory(prefix="imgpipe-subproject-") as folder:
            made, names = build(folder, "-Dimgpipe:default_library=" + kind)
            for name in names:
                libraries = run("ldd", os.path.join(made, name))
                check(not any(lib in libraries for lib in ("libpng", "libz", "libjpeg", "libtiff", "libwebp", "libisal")),
                      f"{name} ({kind}) needs no library of a codec")
                check(("libimgpipe.so" in libraries) == (kind == "shared"), f"{name} has the {kind} library")
            said = run(os.path.join(made, "blur_buffer"))
            check(said.startswith("blur=sigma=3: left of the edge 0 became "), f"blur_buffer runs ({kind})")
            image = b"P5\n4 3\n255\n" + bytes(range(12))
            rows = subprocess.run([os.path.join(made, "rows"), "invert"], input=image, stdout=subprocess.PIPE, check=True).stdout
            check(rows == b"P5\n4 3\n255\n" + bytes(255 - i for i in range(12)), f"rows runs ({kind})")


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    main()
