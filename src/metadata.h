/* What a file says beside its pixels, on its way from the source to the sink. Blocks are kept as bytes in the form that most
 * formats share; a codec adds and strips its own wrapping. */
#ifndef METADATA_H
#define METADATA_H
#include "imgpipe.h"

struct metadata_block {
    unsigned char *bytes;       /* owned; NULL: there is none */
    size_t size;
};

struct metadata_text {
    char *key;                  /* PNG keyword or the like, UTF-8 */
    char *value;                /* UTF-8 */
    char *language;             /* of iTXt; "" if not known */
    struct metadata_text *next;
};

/* A tag of a TIFF file that is carried over unchanged (GeoTIFF, OME). */
struct metadata_tag {
    uint32_t tag;
    uint16_t type;              /* TIFF's data type */
    uint64_t count;             /* of values of that type */
    void *values;               /* owned, native byte order */
    bool size_bound;            /* holds only while width and height stay the same */
    struct metadata_tag *next;
};

struct metadata {
    struct metadata_block icc;  /* the profile itself */
    struct metadata_block exif; /* a TIFF stream that begins with II*\0 or MM\0*, without "Exif\0\0" */
    struct metadata_block xmp;  /* the packet, UTF-8 */
    struct metadata_block iptc; /* IIM records, without Photoshop's wrapping */
    int orientation;            /* 1 ... 8 as in EXIF (kept the same inside `exif`); 0: the file does not say */
    double x_per_metre, y_per_metre; /* resolution; 0: not known */
    double x_aspect, y_aspect;  /* where only the ratio of a pixel's sides is known; 0: not known */
    double gamma;               /* file gamma of PNG (0.45455 for sRGB); 0: not known */
    double chromaticities[8];   /* white, red, green, blue, each x and y; white x 0: not known */
    int srgb_intent;            /* 0 ... 3; -1: not said */
    struct metadata_text *texts;
    struct metadata_tag *tags;
};

/* How the input was stored, for outputs of the same kind. */
struct storage {
    int subsampling;            /* JPEG: 444, 422, 420; 0: not known or another */
    uint32_t tile_width, tile_height; /* TIFF: 0: strips */
    uint16_t compression, predictor;  /* TIFF's numbers; 0: not known */
    bool separate_planes, big_endian;
};

/* What a kind of file can carry, for struct encoder. */
enum metadata_carried {
    METADATA_ICC = 1,
    METADATA_EXIF = 2,          /* orientation too */
    METADATA_XMP = 4,
    METADATA_IPTC = 8,
    METADATA_RESOLUTION = 16,
    METADATA_GAMMA = 32,        /* gamma, chromaticities, sRGB */
    METADATA_TEXT = 64,
    METADATA_TAGS = 128
};

void metadata_init(struct metadata *metadata);
void metadata_free(struct metadata *metadata);
/* Copies bytes into a block, replacing what was there; false when there is no memory. */
bool metadata_set(struct metadata_block *block, const void *bytes, size_t size);
/* Appends a text; false when there is no memory. `language` may be NULL. */
bool metadata_add_text(struct metadata *metadata, const char *key, const char *value, const char *language);
/* Appends a comment, which has no encoding: it is taken as UTF-8 if it is that, else as Latin-1. What follows a 0 is no text. */
bool metadata_add_comment(struct metadata *metadata, const void *comment, size_t size);
/* Reads orientation and, where it is not known yet, resolution out of `exif`; damaged EXIF leaves both as they are. */
void metadata_read_exif(struct metadata *metadata);
/* Writes `orientation` (1 ... 8) into the EXIF block where that has the tag, and sets the field. */
void metadata_set_orientation(struct metadata *metadata, int orientation);
/* Makes EXIF say `orientation` where no tag in it does yet, so that an output of another kind keeps it; false when there is no
 * memory. */
bool metadata_add_orientation(struct metadata *metadata);
/* Width and height have been exchanged: so are the two resolutions, and what EXIF says of both. */
void metadata_swap_sides(struct metadata *metadata);
/* Removes the embedded preview (IFD 1 and its JPEG) from the EXIF block: it would show the old pixels. */
void metadata_drop_preview(struct metadata *metadata);
/* The colour space that the ICC profile is for: "RGB ", "GRAY", "CMYK", or "" without a profile. */
void metadata_icc_space(const struct metadata *metadata, char space[5]);
#endif
