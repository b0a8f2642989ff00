/* A source whose rows are in the caller's memory. */
#include "layout.h"
#include "source.h"
#include "status.h"

#include <stdlib.h>

struct memory_source {
    struct source base;
    imgpipe_image image;
};

static imgpipe_status memory_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    const imgpipe_image *image = &((struct memory_source *)source)->image;
    imgpipe_status failed = IMGPIPE_OK;
    for (int i = 0; i < count && !failed; i++) {
        int64_t y = source->next_row + i;
        const unsigned char *from = (const unsigned char *)image->pixels + y * image->stride;
        failed = layout_read(image->info.format, image->layout, from, rows[i], image->info.width, y, error);
    }
    return failed;
}

static void memory_close(struct source *source) {
    free(source);
}

static const struct source_ops memory_ops = {.name = "memory", .read = memory_read, .close = memory_close};

imgpipe_status source_memory(const imgpipe_image *image, bool shared, struct source **result, imgpipe_error *error) {
    *result = NULL;
    struct memory_source *source = calloc(1, sizeof *source);
    if (!source) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read an image in memory: not enough memory; free some");
    source->image = *image;
    source->base.ops = &memory_ops;
    source->base.info = image->info;
    /* Copies to a device take rows that lie top down. */
    if (!shared && layout_plain(image->info.format, image->layout) && image->stride > 0) source->base.pixels = image->pixels;
    source->base.stride = image->stride;
    metadata_init(&source->base.metadata);
    *result = &source->base;
    return IMGPIPE_OK;
}
