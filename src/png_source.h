/* An open PNG: what the files of its decoder share. source_png.c reads the header with libpng; then rows come from the fast path
 * (png_fast.c), or from libpng (png_reference.c) where a file is interlaced, and where the fast path is in doubt. */
#ifndef PNG_SOURCE_H
#define PNG_SOURCE_H
#include "png_meta.h"
#include "source.h"

#include <png.h>

struct png_fast;

struct png_source {
    struct source base;
    png_structp png;
    png_infop png_info;
    struct png_fast *fast; /* NULL: libpng makes the rows */
    bool failed;      /* libpng has given up; it must not be called again */
    bool ended_early; /* the file did, while libpng wanted more */
    bool no_memory;
    bool bad_checksum; /* of the decompressed image data */
    bool animated;
    bool video_colours; /* it has a cICP chunk */
    struct png_meta meta;
    bool searched;     /* for metadata behind the image data, to the end of the file */
    bool truncated;    /* the rest of the image is 0, as options.allow_truncated says */
    char pending[300]; /* warnings, held back until it is known whether an error follows; what does not fit is cut */
    char reason[300];  /* of the failure */
    uint64_t data_at;  /* where the data of the first IDAT begin, and how many bytes that has */
    uint32_t data_size;
    /* the arguments of the work in guarded() */
    png_bytep *rows;
    int count, done;  /* rows wanted, and how many of them libpng has made */
    int64_t given;    /* rows that have been read before these */
    int64_t pass_row; /* interlaced: the row of which pass was read last */
    int pass;
    unsigned char *image; /* interlaced: the allocation; base.pixels is set once it is filled */
    unsigned char *first_row;
    size_t row_bytes;
};

/* ---- png_reference.c: libpng. It reports a failure by longjmp(), so every call into it goes through png_guarded(). */

imgpipe_status png_reference_new(struct png_source *s, imgpipe_error *error);
/* Runs `work`; false if libpng failed, with s->reason set. Warnings matter only if it did not. */
bool png_guarded(struct png_source *s, void (*work)(struct png_source *s));
/* Says what is pending. */
void png_log_pending(struct png_source *s);
/* The error for s->reason. */
imgpipe_status png_failure(struct png_source *s, imgpipe_error *error);
/* Work: everything up to the header of the first IDAT. */
void png_read_header(struct png_source *s);
/* From the header to the first row. */
imgpipe_status png_reference_begin(struct png_source *s, imgpipe_error *error);
imgpipe_status png_reference_read(struct png_source *s, void *const *rows, int count, imgpipe_error *error);
imgpipe_status png_reference_interlaced(struct png_source *s, imgpipe_error *error);
bool png_reference_end(struct png_source *s);
imgpipe_status png_refuse_checksum(struct png_source *s, imgpipe_error *error);
const char *png_name(const struct png_source *s);

/* ---- png_fast.c */

/* Sets s->fast where this file can be read so. */
imgpipe_status png_fast_begin(struct png_source *s, imgpipe_error *error);
/* See source_ops. */
imgpipe_status png_fast_fetch(struct png_source *s, int count, imgpipe_error *error);
imgpipe_status png_fast_unpack(struct png_source *s, void *const *rows, int count, imgpipe_error *error);
/* Rows that fetch() takes at most. */
int png_fast_rows(const struct png_source *s);
bool png_fast_end(struct png_source *s);
void png_fast_free(struct png_source *s);
#endif
