/* A sink whose rows go to the caller's memory. */
#include "layout.h"
#include "sink.h"
#include "status.h"

#include <stdlib.h>

struct memory_sink {
    struct sink base;
    imgpipe_image image;
    int64_t x0, y0;
};

/* Every piece has rows of its own, so that any number of threads may be here. */
static imgpipe_status memory_encode(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    (void)error;
    const struct memory_sink *to = (const struct memory_sink *)sink;
    const imgpipe_image *image = &to->image;
    size_t skipped = (size_t)to->x0 * imgpipe_pixel_size(image->info.format);
    for (int i = 0; i < piece->count; i++) {
        int64_t y = piece->y + i - to->y0;
        if (y < 0 || y >= image->info.height) continue;
        layout_write(image->info.format, image->layout, piece->rows + i * piece->stride + skipped,
                     (unsigned char *)image->pixels + y * image->stride, image->info.width);
    }
    return IMGPIPE_OK;
}

static imgpipe_status memory_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    (void)sink, (void)piece, (void)error;
    return IMGPIPE_OK;
}

static void memory_close(struct sink *sink) {
    free(sink);
}

static const struct sink_ops memory_ops = {
    .name = "memory", .encode = memory_encode, .commit = memory_commit, .close = memory_close};

imgpipe_status sink_memory(const imgpipe_image *image, const imgpipe_info *info, int64_t x0, int64_t y0, struct sink **result,
                           imgpipe_error *error) {
    *result = NULL;
    struct memory_sink *sink = calloc(1, sizeof *sink);
    if (!sink) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write an image to memory: not enough memory; free some");
    *sink = (struct memory_sink){
        .base = {.ops = &memory_ops, .info = *info, .piece_rows = sink_piece_rows(info), .stride = image->stride},
        .image = *image,
        .x0 = x0,
        .y0 = y0};
    bool all = image->info.width == info->width && image->info.height == info->height;
    /* Copies from a device make rows that lie top down. */
    if (all && image->stride > 0 && layout_plain(image->info.format, image->layout)) sink->base.pixels = image->pixels;
    *result = &sink->base;
    return IMGPIPE_OK;
}
