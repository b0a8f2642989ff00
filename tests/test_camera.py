#!/usr/bin/env python3
"""samples/embed/camera.cu, built by nvcc against an installed copy: its last frame is what the command and a plain definition make.

usage: test_camera.py BUILD_FOLDER NVCC
Exit status 77 without a GPU.
"""
import os
import re
import subprocess
import sys
import tempfile

from test_install import check, find, flags, run

SAMPLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "samples", "embed", "camera.cu")
WIDTH, HEIGHT = 320, 240


def pixels(name):
    with open(name, "rb") as file:
        data = file.read()
    head = b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT)
    check(data.startswith(head) and len(data) == len(head) + WIDTH * HEIGHT * 3, f"{os.path.basename(name)} is an image")
    return data[len(head):]


def mark(image):
    """What the program's own kernels do, from their description."""
    green = sorted(image[1::3])
    level = 256
    while level and sum(g >= level - 1 for g in green) <= WIDTH * HEIGHT // 50:
        level -= 1
    marked = bytearray(image)
    for at in range(0, len(image), 3):
        if image[at + 1] >= level:
            marked[at:at + 3] = b"\xff\0\0"
    return level, bytes(marked)


def main(build, nvcc):
    with tempfile.TemporaryDirectory(prefix="imgpipe-camera-") as folder:
        root, program = os.path.join(folder, "root"), os.path.join(folder, "camera")
        run("meson", "install", "-C", build, "--no-rebuild", DESTDIR=root)
        libraries, command = os.path.dirname(find(root, "libimgpipe.so")), find(root, "bin/imgpipe")
        # With a shared runtime library of its own beside the one inside libimgpipe.
        run(nvcc, "-cudart", "shared", SAMPLE, "-o", program, *flags(root, "--cflags", "--libs"))
        check(True, "camera.cu is built against the installed library")
        if subprocess.run([command, "--list-devices"], stdout=subprocess.PIPE, text=True, check=True).stdout.find("cuda:") < 0:
            print("SKIP: there is no GPU")
            sys.exit(77)
        toolkit = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "lib64")
        names = [os.path.join(folder, name) for name in ("frame.ppm", "result.ppm", "median.ppm")]
        said = run(program, *names[:2], LD_LIBRARY_PATH=f"{libraries}:{toolkit}")
        lines = re.findall(r"^frame (\d): green from (\d+) on is marked$", said, re.M)
        check([line[0] for line in lines] == list("1234"), "a launch of the graph is a frame")
        run(command, "--device", "cpu", names[0], "-f", "median=3", names[2])
        level, want = mark(pixels(names[2]))
        check(int(lines[3][1]) == level, f"the histogram says where the brightest samples begin ({level})")
        check(pixels(names[1]) == want, "the result is the command's median with the brightest pixels marked")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), sys.argv[2])
