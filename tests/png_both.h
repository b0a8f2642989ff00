/* The two ways of reading PNG, for comparing them: libpng's rows, and the fast ones. */
#ifndef PNG_BOTH_H
#define PNG_BOTH_H
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct outcome {
    imgpipe_status status;
    imgpipe_error error;
    imgpipe_info info;
    unsigned char *pixels;
    size_t size;
    char log[1000];
};

static inline void keep_line(void *user, imgpipe_log_level level, const char *message) {
    struct outcome *outcome = user;
    size_t length = strlen(outcome->log);
    if (level <= IMGPIPE_LOG_NOTICE) snprintf(outcome->log + length, sizeof outcome->log - length, "%s\n", message);
}

/* Whole batches by fetch() and unpack(), as far ahead as it may be, or read() row by row. */
static inline imgpipe_status read_pixels(struct source *source, struct outcome *o, bool halves) {
    const int64_t height = source->info.height;
    const size_t row = (size_t)source->info.width * imgpipe_pixel_size(source->info.format);
    const int batch = halves && source->fetch_rows < 5 ? source->fetch_rows : 5;
    int64_t fetched = 0;
    imgpipe_status status = IMGPIPE_OK;
    for (int64_t y = 0; y < height && !status; y += batch) {
        void *rows[5];
        int count = height - y < batch ? (int)(height - y) : batch;
        for (int i = 0; i < count; i++) rows[i] = o->pixels + (size_t)(y + i) * row;
        for (; halves && !status && fetched < height && fetched < y + SOURCE_AHEAD * batch; fetched += batch)
            status = source_fetch(source, height - fetched < batch ? (int)(height - fetched) : batch, &o->error);
        if (!status) status = halves ? source_unpack(source, rows, count, &o->error) : source_read(source, rows, count, &o->error);
    }
    return status ? status : source_finish(source, &o->error);
}

static inline void decode_png(const unsigned char *bytes, size_t size, bool can_seek, struct source_options options, struct outcome *o) {
    struct log log = {.call = keep_line, .user = o};
    struct input *input;
    struct source *source;
    memset(o, 0, sizeof *o);
    options.log = &log;
    options.alpha = -1;
    options.max_pixels = 200000;
    options.memory = 64 << 20;
    o->status = input_memory(bytes, size, can_seek, &input, &o->error);
    if (!o->status) o->status = source_open(input, &options, &source, &o->error);
    if (o->status) return;
    o->info = source->info;
    o->size = (size_t)source->info.width * imgpipe_pixel_size(source->info.format) * (size_t)source->info.height;
    o->pixels = malloc(o->size);
    if (!o->pixels) abort();
    memset(o->pixels, 0x5a, o->size);
    o->status = read_pixels(source, o, source->fetch_rows > 0 && size % 2);
    source_close(source);
}

/* What differs, or NULL. Messages may: of several faults either way may name another one. */
static inline const char *png_difference(const struct outcome *a, const struct outcome *b) {
    if (a->status != b->status) return "another status";
    const imgpipe_info *x = &a->info, *y = &b->info;
    if (!a->status && (x->width != y->width || x->height != y->height || x->format.type != y->format.type ||
                       x->format.channels != y->format.channels || x->format.alpha != y->format.alpha))
        return "another size or format";
    if (!a->status && memcmp(a->pixels, b->pixels, a->size) != 0)
        return "other pixels";
    return strcmp(a->log, b->log) != 0 ? "other warnings" : NULL;
}

static inline void print_outcomes(const struct outcome *slow, const struct outcome *fast) {
    printf("  libpng %d %s %s\n  fast   %d %s %s\n", (int)slow->status, slow->error.message, slow->log, (int)fast->status,
           fast->error.message, fast->log);
}
#endif
