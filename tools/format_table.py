"""What of each kind of file is read, written, streamed, kept and lost. tools/readme_tables.py writes this into README.md, and
tests/compare_formats.py has a check for every item, which asks another program."""

COLUMNS = ("read", "written", "by rows", "kept", "lost")

NARROW = "16 bits and float (become 8 bits)"
ALPHA = "alpha (blended)"
FLOAT = "float (becomes 16 bits)"
NOTHING_BESIDE = "all beside the pixels"

KINDS = {
    "png": {
        "read": ["gray and RGB of 1 to 16 bits", "palettes", "alpha", "a transparent colour", "interlaced",
                 "the default image of an animation"],
        "written": ["gray, RGB", "alpha", "8 and 16 bits"],
        "by rows": ["in, unless interlaced", "out"],
        "kept": ["ICC", "EXIF", "XMP", "IPTC", "resolution", "gamma", "texts"],
        "lost": [FLOAT, "data channels (refused)"],
    },
    "pnm": {
        "read": ["PBM, PGM, PPM", "plain and binary", "any maxval", "several images"],
        "written": ["gray, RGB", "8 and 16 bits", "several images"],
        "by rows": ["in", "out"],
        "kept": [],
        "lost": [ALPHA, FLOAT, NOTHING_BESIDE],
    },
    "pam": {
        "read": ["gray, RGB", "alpha", "data channels", "any maxval", "several images"],
        "written": ["gray, RGB", "alpha", "data channels", "8 and 16 bits", "several images"],
        "by rows": ["in", "out"],
        "kept": [],
        "lost": [FLOAT, NOTHING_BESIDE],
    },
    "pfm": {
        "read": ["gray, RGB", "both byte orders", "several images"],
        "written": ["gray, RGB", "float", "several images"],
        "by rows": ["in", "out"],
        "kept": [],
        "lost": [ALPHA, NOTHING_BESIDE],
    },
    "jpeg": {
        "read": ["gray, RGB", "CMYK (becomes RGB)", "any subsampling", "progressive"],
        "written": ["gray, RGB", "8 bits"],
        "by rows": ["in, unless progressive", "out"],
        "kept": ["ICC", "EXIF", "XMP", "IPTC", "resolution", "texts", "4:2:0"],
        "lost": ["some precision", NARROW, ALPHA, "gamma"],
    },
    "tiff": {
        "read": ["gray, RGB", "alpha", "data channels", "1, 2 and 4 bits", "8 and 16 bits", "float", "palettes",
                 "CMYK (becomes RGB)", "strips, tiles, planes", "both byte orders", "BigTIFF",
                 "LZW, deflate, PackBits, LZMA, Zstandard, JPEG, CCITT", "one of several pages"],
        "written": ["gray, RGB", "alpha", "data channels", "8 and 16 bits", "float"],
        "by rows": ["in", "out"],
        "kept": ["ICC", "EXIF", "XMP", "IPTC", "resolution", "texts", "GeoTIFF tags",
                 "tiles, planes, byte order, lossless compression"],
        "lost": ["gamma", "the other pages"],
    },
    "webp": {
        "read": ["lossy, lossless", "alpha", "one frame of an animation"],
        "written": ["RGB", "alpha", "8 bits"],
        "by rows": ["no"],
        "kept": ["ICC", "EXIF", "XMP"],
        "lost": ["some precision, unless --quality 100", NARROW, "IPTC", "resolution, if EXIF has none", "gamma", "texts"],
    },
    "bmp": {
        "read": ["RGB of 16 and 24 bits", "alpha", "palettes of 1, 4 and 8 bits"],
        "written": ["RGB", "alpha", "8 bits"],
        "by rows": ["no"],
        "kept": [],
        "lost": [NARROW, NOTHING_BESIDE],
    },
    "tga": {
        "read": ["gray, RGB", "alpha", "palettes", "run lengths"],
        "written": ["gray, RGB", "alpha", "8 bits"],
        "by rows": ["no"],
        "kept": [],
        "lost": [NARROW, NOTHING_BESIDE],
    },
    "hdr": {
        "read": ["RGB"],
        "written": ["RGB", "float"],
        "by rows": ["no"],
        "kept": [],
        "lost": ["some precision", ALPHA, NOTHING_BESIDE],
    },
    "gif": {
        "read": ["still images", "a transparent colour", "interlaced", "one frame of an animation"],
        "written": [],
        "by rows": ["no"],
        "kept": ["ICC", "XMP", "texts"],
        "lost": ["the other frames"],
    },
    "psd": {
        "read": ["RGB of 8 and 16 bits", "alpha", "run lengths"],
        "written": [],
        "by rows": ["no"],
        "kept": [],
        "lost": ["layers", NOTHING_BESIDE],
    },
}


def rows():
    """The lines of the table, a kind each."""
    for kind, columns in KINDS.items():
        yield [f"`{kind}`", *("; ".join(columns[c]) or ("nothing" if c == "kept" else "no") for c in COLUMNS)]


def items():
    """Every (kind, column, item) of the table; an empty cell counts too."""
    for kind, columns in KINDS.items():
        for column in COLUMNS:
            for item in columns[column] or ["nothing"]:
                yield kind, column, item
