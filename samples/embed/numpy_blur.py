#!/usr/bin/env python3
"""Runs chains on NumPy arrays by ctypes, without a line of C. As a program: a small self-portrait of what it does.

usage: numpy_blur.py [LIBRARY]      (libimgpipe.so by default)
"""
import ctypes as c
import sys

import numpy as np


class Format(c.Structure):
    _fields_ = [("type", c.c_int), ("channels", c.c_int), ("alpha", c.c_bool)]


class Info(c.Structure):
    _fields_ = [("width", c.c_int64), ("height", c.c_int64), ("format", Format)]


class Layout(c.Structure):
    _fields_ = [("order", c.c_int), ("premultiplied", c.c_bool), ("white", c.c_uint32)]


class Image(c.Structure):
    _fields_ = [("info", Info), ("pixels", c.c_void_p), ("stride", c.c_ssize_t), ("layout", Layout)]


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("place", c.c_int), ("length", c.c_int), ("message", c.c_char * 1024), ("fault", c.c_int)]


TYPES = [np.uint8, np.uint16, np.float32]  # in the order of imgpipe_type


class Imgpipe:
    """A context of the library. An array is (height, width) or (height, width, channels) of uint8, uint16 or float32."""

    def __init__(self, library="libimgpipe.so"):
        self.lib = c.CDLL(library)
        self.error = Error()
        self.context = c.c_void_p()
        self._call("imgpipe_context_new", None, c.byref(self.context))

    def close(self):
        self.lib.imgpipe_context_free(c.byref(self.context))

    def _call(self, name, *arguments):
        if getattr(self.lib, name)(*arguments, c.byref(self.error)):
            raise ValueError(self.error.message.decode())

    @staticmethod
    def _image(array, info):
        return Image(info, array.ctypes.data, array.strides[0], Layout())

    def run(self, text, array):
        """What the chain makes of the array. Rows may have any distance, also a negative one; pixels must lie side by side."""
        channels = array.shape[2] if array.ndim == 3 else 1
        if array.strides[1] != array.itemsize * channels or (array.ndim == 3 and array.strides[2] != array.itemsize):
            array = np.ascontiguousarray(array)
        info = Info(array.shape[1], array.shape[0], Format(TYPES.index(array.dtype), channels, False))
        made, chain = Info(), c.c_void_p()
        self._call("imgpipe_chain_parse", text.encode(), c.byref(chain))
        try:
            self._call("imgpipe_chain_output", self.context, chain, c.byref(info), None, c.byref(made))
            shape = (made.height, made.width) + ((made.format.channels,) if made.format.channels > 1 else ())
            out = np.empty(shape, TYPES[made.format.type])
            source, target = self._image(array, info), self._image(out, made)
            self._call("imgpipe_run_image", self.context, chain, c.byref(source), c.byref(target), None, None)
        finally:
            self.lib.imgpipe_chain_free(c.byref(chain))
        return out


if __name__ == "__main__":
    pipe = Imgpipe(*sys.argv[1:])
    picture = np.zeros((9, 9), np.uint8)
    picture[4, 4] = 255
    print(pipe.run("blur=1", picture))
    print(pipe.run("blur=1", picture[::-1]).sum(), pipe.run("gray", np.full((2, 2, 3), 7, np.uint16)))
    try:
        pipe.run("blur=-1", picture)
    except ValueError as error:
        print(error)
    pipe.close()
