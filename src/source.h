/* Where rows come from: a decoder, or an image in memory. Rows are read in order by one thread at a time. */
#ifndef SOURCE_H
#define SOURCE_H
#include "input.h"
#include "log.h"
#include "metadata.h"

struct source;

struct source_options {
    const struct log *log;
    uint64_t max_pixels;    /* 0: no limit */
    uint64_t memory;        /* budget for an image that cannot be streamed */
    int page;               /* from 1; 0: the only one */
    int alpha;              /* -1: as the file says; 0: extra channels are data; 1: the last of 2 or 4 is alpha */
    bool allow_truncated;
    bool several;           /* images one after another are all wanted: source->more says whether another one follows */
    int isa;                /* the instruction set to choose kernels for */
    bool reference;         /* read in the slow way that a faster one is tested against, where there are two */
};

#define SOURCE_AHEAD 3

struct source_ops {
    const char *name;
    /* Reads `count` whole rows in the native layout of info.format into rows[0 …]. */
    imgpipe_status (*read)(struct source *source, void *const *rows, int count, imgpipe_error *error);
    /* After the last row: checks what stands behind it (IEND, CRCs). May be NULL. */
    imgpipe_status (*finish)(struct source *source, imgpipe_error *error);
    void (*close)(struct source *source);
    /* Reading in two halves, where the source can, and NULL otherwise. fetch() takes from the input what the next `count` rows
     * need; unpack() makes the rows of the oldest fetch(), with the same count. One thread may be in each at a time, and fetch() may
     * be up to SOURCE_AHEAD calls ahead; then it is not called until unpack() has returned. A count is at most source->fetch_rows. */
    imgpipe_status (*fetch)(struct source *source, int count, imgpipe_error *error);
    imgpipe_status (*unpack)(struct source *source, void *const *rows, int count, imgpipe_error *error);
};

struct source {
    const struct source_ops *ops;
    imgpipe_info info;
    struct input *input;        /* owned; NULL for images in memory */
    struct source_options options;
    /* The decoded image, where the source holds all of it (interlaced PNG, stb): rows may then be taken from here in any
     * order and read() is not needed (but works). NULL while the source streams. */
    const unsigned char *pixels;
    ptrdiff_t stride;
    uint64_t held;              /* memory that it takes for as long as it is open, which the plan cannot have */
    int64_t next_row;           /* how many rows read() has given */
    int fetch_rows;             /* 0: it is only read() from */
    struct metadata metadata;   /* owned: source_close() frees it; decoders fill it in open() */
    struct storage storage;
    bool more;                  /* after finish(): another image follows in the input */
    const char *codec;          /* name of the file kind, for the sink's defaults */
};

/* Opens a file by its content, not by its name. Takes over `input` in any case. */
imgpipe_status source_open(struct input *input, const struct source_options *options, struct source **source, imgpipe_error *error);
/* An image in memory, which must live as long as the source. Its pixels are not shown as source->pixels where their layout is not
 * plain, or where the output goes to the same place (`shared`). */
imgpipe_status source_memory(const imgpipe_image *image, bool shared, struct source **source, imgpipe_error *error);
struct row_ends;
/* Rows that a function of the caller's gives. */
imgpipe_status source_rows(struct row_ends *ends, struct source **source, imgpipe_error *error);
imgpipe_status source_read(struct source *source, void *const *rows, int count, imgpipe_error *error);
/* read() in two halves; see source_ops. */
imgpipe_status source_fetch(struct source *source, int count, imgpipe_error *error);
imgpipe_status source_unpack(struct source *source, void *const *rows, int count, imgpipe_error *error);
imgpipe_status source_finish(struct source *source, imgpipe_error *error);
void source_close(struct source *source);
/* Closes the source but not its input, which stands behind the image. */
struct input *source_release(struct source *source);

/* For decoders: refuses sizes of 0, beyond 2^31 - 1 or over max_pixels (computed in 64 bits), with a clear message.
 * `whole`: the image cannot be streamed and must also fit the memory budget. */
imgpipe_status source_check_size(const struct source_options *options, const char *name, uint64_t width, uint64_t height,
                                 size_t pixel_size, bool whole, imgpipe_error *error);

/* For decoders of animations with frames of this size, all of which up to options->page are drawn, so that they count for
 * max_pixels. */
imgpipe_status source_check_frames(const struct source_options *options, const char *name, uint64_t width, uint64_t height,
                                   imgpipe_error *error);

/* One decoder: `matches` looks at the first bytes (up to 64); `open` reads the header and fills source->info. */
struct decoder {
    const char *name;
    bool (*matches)(const unsigned char *bytes, size_t size);
    imgpipe_status (*open)(struct input *input, const struct source_options *options, struct source **source, imgpipe_error *error);
    bool guesses;           /* takes what may be something else: asked after all others */
};
extern const struct decoder decoder_png, decoder_pnm, decoder_gif, decoder_stb;
#endif
