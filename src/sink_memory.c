/* A sink whose rows go to the caller's memory. */
#include "layout.h"
#include "sink.h"
#include "status.h"

#include <stdlib.h>

struct memory_sink {
    struct sink base;
    imgpipe_image image;
};

/* Every piece has rows of its own, so that any number of threads may be here. */
static imgpipe_status memory_encode(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    (void)error;
    const imgpipe_image *image = &((struct memory_sink *)sink)->image;
    for (int i = 0; i < piece->count; i++)
        layout_write(image->info.format, image->layout, piece->rows + i * piece->stride,
                     (unsigned char *)image->pixels + (piece->y + i) * image->stride, image->info.width);
    return IMGPIPE_OK;
}

static imgpipe_status memory_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    (void)sink, (void)piece, (void)error;
    return IMGPIPE_OK;
}

static void memory_close(struct sink *sink) { free(sink); }

static const struct sink_ops memory_ops = {.name = "memory", .encode = memory_encode, .commit = memory_commit, .close = memory_close};

imgpipe_status sink_memory(const imgpipe_image *image, struct sink **result, imgpipe_error *error) {
    *result = NULL;
    struct memory_sink *sink = calloc(1, sizeof *sink);
    if (!sink) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write an image to memory: not enough memory; free some");
    sink->image = *image;
    sink->base.ops = &memory_ops;
    sink->base.info = image->info;
    sink->base.piece_rows = sink_piece_rows(&image->info);
    if (layout_plain(image->info.format, image->layout)) sink->base.pixels = image->pixels;
    sink->base.stride = image->stride;
    *result = &sink->base;
    return IMGPIPE_OK;
}
