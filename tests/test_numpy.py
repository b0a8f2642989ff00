#!/usr/bin/env python3
"""samples/embed/numpy_blur.py on arrays of every type, against plain NumPy. Exit status 77 without NumPy.

usage: test_numpy.py LIBRARY
"""
import os
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("NumPy is not installed")
    sys.exit(77)

SAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "samples", "embed")
sys.path.insert(0, SAMPLES)
from numpy_blur import Imgpipe  # noqa: E402


def check(right, what):
    if not right:
        sys.exit(f"FAIL {what}")
    print("ok  ", what)


def box(array):
    """Mean of 3 x 3, the edge repeated, halves up."""
    padded = np.pad(array.astype(np.int64), ((1, 1), (1, 1)) + ((0, 0),) * (array.ndim - 2), "edge")
    height, width = array.shape[:2]
    total = sum(padded[y:y + height, x:x + width] for y in range(3) for x in range(3))
    return ((total + 4) // 9).astype(array.dtype)


def main(library):
    pipe = Imgpipe(library)
    random = np.random.default_rng(1)
    for kind in (np.uint8, np.uint16):
        for shape in ((1, 1), (40, 31), (17, 23, 3), (9, 50, 4)):
            array = random.integers(0, np.iinfo(kind).max, shape, kind, endpoint=True)
            views = {"": array, ", bottom up": array[::-1], ", every other row": array[::2], ", copied": array[:, ::-1]}
            for what, view in views.items():
                check(np.array_equal(pipe.run("box=3", view), box(view)), f"box=3 of {kind.__name__} {view.shape}{what}")
    array = random.random((20, 30), np.float32)
    check(np.array_equal(pipe.run("invert", array), 1 - array), "invert of float32")
    check(pipe.run("hist", array).shape == (400, 640, 3), "a chart has its own shape")
    check(pipe.run("gray", np.zeros((5, 6, 3), np.uint8)).shape == (5, 6), "gray has one channel")
    try:
        pipe.run("blr", array)
        check(False, "a wrong chain is refused")
    except ValueError as error:
        check("did you mean blur" in str(error), "a wrong chain is refused, with the library's words")
    pipe.close()
    program = [sys.executable, os.path.join(SAMPLES, "numpy_blur.py"), library]
    shown = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True)
    check("out of range" in shown.stdout, "it runs as a program")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
