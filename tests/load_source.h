/* An image of a file's bytes, read row by row as a run reads it. */
#ifndef LOAD_SOURCE_H
#define LOAD_SOURCE_H
#include "source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
    imgpipe_info info;
    unsigned char *pixels;
    size_t row_bytes, size;
};

/* The first bytes of a file, at most so many; how many there were, 0 if it cannot be read. */
static size_t load_bytes(const char *name, void *bytes, size_t most) {
    FILE *file = fopen(name, "rb");
    size_t size = file ? fread(bytes, 1, most, file) : 0;
    if (file) fclose(file);
    return size;
}

/* Rows that are not filled keep a pattern. Without an error the pixels are the caller's. */
static imgpipe_status load_source(const unsigned char *bytes, size_t size, bool can_seek, bool allow_truncated, const struct log *log,
                                  struct image *image, imgpipe_error *error) {
    struct source_options options = {
        .log = log, .alpha = -1, .max_pixels = 1 << 20, .memory = 1 << 26, .allow_truncated = allow_truncated};
    struct input *input;
    struct source *source;
    *error = (imgpipe_error){0};
    *image = (struct image){0};
    imgpipe_status status = input_memory(bytes, size, can_seek, &input, error);
    if (!status) status = source_open(input, &options, &source, error);
    if (status) return status;
    image->info = source->info;
    image->row_bytes = (size_t)source->info.width * imgpipe_pixel_size(source->info.format);
    image->size = image->row_bytes * (size_t)source->info.height;
    image->pixels = malloc(image->size);
    if (!image->pixels) abort();
    memset(image->pixels, 0x5a, image->size);
    for (int64_t y = 0; y < source->info.height && !status; y++) {
        void *row = image->pixels + (size_t)y * image->row_bytes;
        status = source_read(source, &row, 1, error);
    }
    if (!status) status = source_finish(source, error);
    source_close(source);
    if (status) free(image->pixels), image->pixels = NULL;
    return status;
}
#endif
