/* Where rows go: an encoder. The image is cut into pieces whose height depends on its size alone; pieces are encoded in
 * any order by any number of threads, and committed (written) in order by one thread at a time. */
#ifndef SINK_H
#define SINK_H
#include "log.h"
#include "metadata.h"
#include "outfile.h"

struct sink;

struct sink_options {
    const struct log *log;
    int isa;                /* instruction set of kernels */
    int level;              /* 0 … 9 */
    int quality;            /* 1 … 100 */
    int subsampling;        /* 444, 422 or 420 */
    uint64_t memory;        /* budget for a kind that needs the whole image at once; 0: no limit */
    const struct metadata *metadata; /* what is to be carried, already chosen; may be NULL; outlives the sink */
    const struct storage *storage;   /* of the input if it is of the same kind, else NULL */
};

/* Consecutive rows of the output in memory. `encoded` belongs to the sink between encode() and commit(). */
struct sink_piece {
    int64_t y;
    int count;
    const unsigned char *rows;  /* row y + i is at rows + i * stride, aligned to 64 */
    ptrdiff_t stride;
    void *encoded;
};

struct sink_ops {
    const char *name;
    /* NULL: commit() does the work. */
    imgpipe_status (*encode)(struct sink *sink, struct sink_piece *piece, imgpipe_error *error);
    imgpipe_status (*commit)(struct sink *sink, struct sink_piece *piece, imgpipe_error *error);
    /* Frees piece->encoded of a piece that will not be committed. May be NULL. */
    void (*discard)(struct sink *sink, struct sink_piece *piece);
    /* Writes what stands behind the last row. The outfile stays open. */
    imgpipe_status (*finish)(struct sink *sink, imgpipe_error *error);
    void (*close)(struct sink *sink);
};

struct sink {
    const struct sink_ops *ops;
    imgpipe_info info;
    struct outfile *out;    /* not owned; NULL for images in memory */
    struct sink_options options;
    int piece_rows;         /* height of a piece (the last may be lower); set by open */
    uint64_t held;          /* about what encoding takes beside the rows, for each thread; 0: next to nothing */
    /* The output image in memory, if its layout is plain: rows may then be written there and nothing is encoded. NULL for files. */
    unsigned char *pixels;
    ptrdiff_t stride;
    bool device_memory;     /* takes pieces in device memory (none does yet) */
};

/* One file kind as written and described: also the row of --list-formats. */
struct encoder {
    imgpipe_codec_info info;
    unsigned carries;       /* of enum metadata_carried */
    bool several;           /* images written one after another are a stream of images */
    /* The nearest format that this kind can hold: `want` itself if it can. Never fails. */
    imgpipe_format (*accept)(imgpipe_format want);
    bool (*size_fits)(int64_t width, int64_t height);
    imgpipe_status (*open)(struct outfile *out, const imgpipe_info *info, const struct sink_options *options, struct sink **sink,
                           imgpipe_error *error);
};

/* All kinds in the order of listings, those that are only read, or need a package that the build lacks, too (open == NULL); NULL
 * beyond. */
const struct encoder *encoder_at(int index);
const struct encoder *encoder_find(const char *name);
/* By the extension of `path`, letter case ignored; NULL if there is none. */
const struct encoder *encoder_for_path(const char *path);
/* Sink into an image in memory, which holds the part of `info`'s image that begins at column x0 and row y0. */
imgpipe_status sink_memory(const imgpipe_image *image, const imgpipe_info *info, int64_t x0, int64_t y0, struct sink **sink,
                           imgpipe_error *error);
struct row_ends;
/* Sink to a function of the caller's. */
imgpipe_status sink_rows(struct row_ends *ends, const imgpipe_info *info, struct sink **sink, imgpipe_error *error);
void sink_close(struct sink *sink);
/* For encoders that need the whole image, of `bytes` in memory: refuses what is over the budget. */
imgpipe_status sink_check_memory(const struct outfile *out, const char *kind, const struct sink_options *options, uint64_t bytes,
                                 imgpipe_error *error);
/* For encoders: the height of pieces of about 1 MiB of pixels, a power of two and at least 8 rows, or the image's height. */
int sink_piece_rows(const imgpipe_info *info);
#endif
