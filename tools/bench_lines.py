"""What tools/bench measures, and the goals: data alone.

Goals are ratios: how many times as fast as the best of the others ("at least"), or how much of something compared with another's
("at most").
"""
from collections import namedtuple

# A mask that is no product of a column and a row, with integer weights.
def mask(size):
    return ";".join(" ".join(str((3 * x + 5 * y + x * y) % 7 - 1) for x in range(size)) for y in range(size))


CHAIN = "gray,blur,median=5"
RGB8, GRAY8, RGB16, GRAY16 = (3, 1), (1, 1), (3, 2), (1, 2)  # channels, bytes a sample

# ---- in memory, one thread, against OpenCV. The chains are imgpipe's; bench_opencv.cpp understands them too.
InMemory = namedtuple("InMemory", "name chain formats goal")
MEMORY = [
    InMemory("gray", "gray", [RGB8], 1),
    InMemory("blur sigma 2", "blur=2", [GRAY8, RGB8], 2),
    InMemory("blur sigma 10", "blur=10", [GRAY8, RGB8], 3),
    InMemory("blur sigma 2", "blur=2", [RGB16], 4),
    InMemory("box 11", "box=11", [GRAY8, RGB8], 3),
    InMemory("conv 5×5", "conv=" + mask(5), [GRAY8, RGB8], 3),
    InMemory("conv 15×15", "conv=" + mask(15), [GRAY8, RGB8], 5),
    InMemory("median 3×3", "median=3", [GRAY8, RGB8], 1.3),
    InMemory("median 5×5", "median=5", [GRAY8, RGB8], 4),
    InMemory("median 7×7", "median=7", [GRAY8, RGB8], 40),
    InMemory("median 15×15", "median=15", [GRAY8, RGB8], 14),
    InMemory("median 31×31", "median=31", [GRAY8, RGB8], 4),
    InMemory("median 3×3", "median=3", [GRAY16, RGB16], 1.3),
    InMemory("median 5×5", "median=5", [GRAY16, RGB16], 4),
    InMemory("histogram", "hist", [GRAY8, RGB8], 2),
]
# imgpipe against itself: two threads against one for every line above, unless memory is the limit; and fused point stages.
TWO_THREADS = 1.9
MEMORY_BOUND = 0.5  # of the bandwidth of a copy: from here on two threads need not be 1.9 times as fast
FUSED = ("five point stages against one", "gray,invert,levels=10:240,invert,threshold=50%", "gray", 1.3)

# ---- whole commands, file to file. {in} and {out} are files, {tmp} the beginning of names for files between two commands,
# {mask} a file with the mask of the line in vips' form. `decode` lines write no image.
Whole = namedtuple("Whole", "name chain goal fast vips gm ffmpeg decode mask")


def whole(name, chain, goal, vips, gm=None, ffmpeg=None, decode=False, mask_rows=None):
    return Whole(name, chain, goal, None if decode else 3, vips, gm, ffmpeg, decode, mask_rows)


def rank(size):
    return f"vips rank {{in}} {{out}} {size} {size} {size * size // 2}"


def median(radius):
    return f"format=gbrp,median=radius={radius},format=rgb24"


FILES = [
    whole("decode only", "", 3, "vips avg {in}", "gm convert {in} NULL:", "-f null -", decode=True),
    whole("gray", "gray", 5, "vips colourspace {in} {out} b-w", "gm convert {in} -colorspace GRAY {out}", "format=gray"),
    whole("blur sigma 2", "blur=2", 7, "vips gaussblur {in} {out} 2", "gm convert {in} -gaussian 6x2 {out}",
          "format=gbrp,gblur=sigma=2,format=rgb24"),
    whole("box 11", "box=11", 6, "vips convsep {in} {out} {mask}", None, "format=gbrp,avgblur=5,format=rgb24",
          mask_rows=" ".join(["1"] * 11)),
    whole("conv 5×5", "conv=" + mask(5), 8, "vips conv {in} {out} {mask} --precision integer",
          "gm convert {in} -convolve " + mask(5).replace(";", ",").replace(" ", ",") + " {out}",
          "format=gbrp,convolution=" + ":".join(["'" + mask(5).replace(";", " ") + "'"] * 3) + ",format=rgb24", mask_rows=mask(5)),
    whole("median 3", "median=3", 10, rank(3), None, median(1)),
    whole("median 5", "median=5", 10, rank(5), None, median(2)),
    whole("median 7", "median=7", 12, rank(7), None, median(3)),
    whole("median 15", "median=15", 8, rank(15), None, None),
    whole("median 31", "median=31", 5, rank(31), None, None),
    whole(CHAIN, CHAIN, 8, "sh -c \"vips colourspace '{in}' '{tmp}1.v' b-w && vips gaussblur '{tmp}1.v' '{tmp}2.v' 2 && "
          "vips rank '{tmp}2.v' '{out}' 5 5 12\"", None, "format=gray,gblur=sigma=2,median=radius=2"),
    whole("histogram", "hist", 3, "vips hist_find {in} {tmp}h.v", None, "histogram -frames:v 1 -f null -", decode=True),
]
# Beyond the goals: the same from JPEG to JPEG.
FILES_JPEG = [line._replace(goal=None, fast=None) for line in FILES if line.chain in ("gray", "blur=2", CHAIN)]
PEAK_MEMORY = 1.2  # of vips'
VIPS_FAST = "[compression=1,filter=sub]"

# ---- sizes of PNG files: at most OpenCV's default, and this times libpng's level 6
SIZES = {"photograph": 1.02, "blurred": 1.11, "drawing": 1.12, "screenshot": 1.12}

# ---- start-up: milliseconds at most
STARTUP_MS = 5
STARTUP = {"imgpipe": "{imgpipe} --version", "vips": "vips --version", "gm": "gm version", "ffmpeg": "ffmpeg -version"}

# ---- folders. {dir} is the folder of pictures, {outdir} where they go, {ext} their extension. A line ends in its goal against
# the best of the others, or None; `floor`: at most so many times what the other takes.
Folder = namedtuple("Folder", "name pictures ext chain commands goal sense")
# xargs runs as many processes as imgpipe has threads.
EACH = "sh -c \"ls '{dir}' | xargs -P 2 -I@ %s\""
OPENCV = "{opencv} folder blur=2 {dir} {outdir}"
VIPS = EACH % "vips --vips-concurrency=1 gaussblur '{dir}/@' '{outdir}/@%s' 2"
GM = EACH % "gm convert '{dir}/@' -gaussian 6x2 %s '{outdir}/@'"
FFMPEG = EACH % "ffmpeg -v error -threads 1 -i '{dir}/@' -vf format=gbrp,gblur=sigma=2,format=rgb24 %s '{outdir}/@'"
BLUR = "{imgpipe} -q -j 2 -r {dir} -f blur=2 {outdir}/"
ONE = "{imgpipe} -q -j 1 -r {dir} -f blur=2 {outdir}/"
FOLDERS = [
    Folder("100 of 512 × 512, " + CHAIN, "small", "png", CHAIN, {
        "imgpipe": "{imgpipe} -q -j 2 -r {dir} -f " + CHAIN + " {outdir}/",
        "OpenCV": "{opencv} folder " + CHAIN + " {dir} {outdir}",
        "ffmpeg": "ffmpeg -v error -i {dir}/%03d.png -vf format=gray,gblur=sigma=2,median=radius=2 {outdir}/%03d.png",
    }, 3.9, "at least"),
    Folder("200 photographs, PNG, blur", "large", "png", "blur=2", {
        "imgpipe": BLUR, "OpenCV": OPENCV, "vips": VIPS % "", "gm": GM % "", "ffmpeg": FFMPEG % "",
    }, 1, "at least"),
    Folder("200 photographs, JPEG to JPEG, blur", "large", "jpg", "blur=2", {
        "imgpipe": BLUR, "OpenCV": OPENCV, "vips": VIPS % "[Q=90]", "gm": GM % "-quality 90",
        "ffmpeg": FFMPEG.replace("format=rgb24", "format=yuvj420p") % "-q:v 2",
    }, 1, "at least"),
    Folder("200 photographs, PNG, two threads against one", "large", "png", "blur=2", {"imgpipe": BLUR, "imgpipe -j 1": ONE}, 1.9, "at least"),
    Folder("200 photographs, JPEG, two threads against one", "large", "jpg", "blur=2", {"imgpipe": BLUR, "imgpipe -j 1": ONE}, 1.9, "at least"),
    Folder("200 photographs, JPEG, gray without output, against bare decoding", "large", "jpg", "gray", {
        "imgpipe": "{imgpipe} -q -j 2 -r {dir} -f gray --no-output",
        "libjpeg-turbo": "{bench_jpeg} {dir}",
    }, 1.25, "at most"),
]
# Peak memory of imgpipe with all images done, against that with a fourth of them done.
FLAT = 1.25
FLAT_MEMORY = {"memory of 10,000 images of 64 × 64": "many-png", "memory of 200 photographs, PNG": "large-png",
               "memory of 200 photographs, JPEG": "large-jpg"}
