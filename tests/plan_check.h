/* What test_plan.c is made of: checks that are counted, allocations that the linker shows by --wrap, images with gaps between rows.
 */
#ifndef PLAN_CHECK_H
#define PLAN_CHECK_H
#include "imgpipe.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, checks;

static void expect(bool good, const char *what, const char *detail) {
    checks++;
    if (good) return;
    printf("FAIL %s: %s\n", what, detail);
    failures++;
}

/* ---- the heap, watched by the linker's --wrap */

static atomic_long allocations;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, long offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, long offset);

void *__wrap_malloc(size_t size) {
    return atomic_fetch_add(&allocations, 1), __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
    return atomic_fetch_add(&allocations, 1), __real_calloc(count, size);
}
void *__wrap_realloc(void *block, size_t size) {
    return atomic_fetch_add(&allocations, 1), __real_realloc(block, size);
}
void *__wrap_aligned_alloc(size_t align, size_t size) {
    return atomic_fetch_add(&allocations, 1), __real_aligned_alloc(align, size);
}
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, long offset) {
    return atomic_fetch_add(&allocations, 1), __real_mmap(at, size, protection, flags, fd, offset);
}

/* ---- images */

enum { GUARD = 96 };

static uint32_t noise_state = 1;
static uint32_t noise(void) {
    return noise_state = noise_state * 1664525u + 1013904223u;
}

/* Rows with `gap` bytes between them, all of them filled; f32 lies in -0.5 ... 1.5. */
static imgpipe_image image_new(imgpipe_info info, ptrdiff_t gap) {
    size_t row = (size_t)info.width * imgpipe_pixel_size(info.format), size = (row + (size_t)gap) * (size_t)info.height;
    imgpipe_image image = {.info = info, .pixels = malloc(size), .stride = (ptrdiff_t)row + gap};
    if (!image.pixels) abort();
    for (size_t i = 0; i < size; i++) ((unsigned char *)image.pixels)[i] = (unsigned char)(noise() >> 24);
    for (int64_t y = 0; info.format.type == IMGPIPE_F32 && y < info.height; y++)
        for (int64_t x = 0; x < info.width * info.format.channels; x++)
            ((float *)(void *)((char *)image.pixels + y * image.stride))[x] = (float)(noise() >> 8) / (1 << 23) - 0.5f;
    return image;
}

static bool same_rows(const imgpipe_image *a, const imgpipe_image *b) {
    size_t row = (size_t)a->info.width * imgpipe_pixel_size(a->info.format);
    for (int64_t y = 0; y < a->info.height; y++)
        if (memcmp((char *)a->pixels + y * a->stride, (char *)b->pixels + y * b->stride, row) != 0) return false;
    return true;
}

/* What lies between the rows is as image_new() left it in an image made at the same place in the sequence. */
static bool same_gaps(const imgpipe_image *a, const imgpipe_image *b) {
    size_t row = (size_t)a->info.width * imgpipe_pixel_size(a->info.format);
    for (int64_t y = 0; y < a->info.height; y++)
        if (memcmp((char *)a->pixels + y * a->stride + row, (char *)b->pixels + y * b->stride + row, (size_t)a->stride - row) != 0)
            return false;
    return true;
}

static imgpipe_context *context_of(int threads) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *context = NULL;
    imgpipe_error error;
    options.device = "cpu";
    options.threads = threads;
    if (imgpipe_context_new(&options, &context, &error)) printf("%s\n", error.message), exit(1);
    return context;
}

static imgpipe_plan *plan_of(imgpipe_context *context, const char *text, const imgpipe_info *largest,
                             const imgpipe_prepare_options *options, imgpipe_error *error) {
    imgpipe_chain *chain = NULL;
    imgpipe_plan *plan = NULL;
    error->message[0] = 0;
    if (imgpipe_chain_parse(text, &chain, error) == IMGPIPE_OK) imgpipe_prepare(context, chain, largest, options, &plan, error);
    imgpipe_chain_free(&chain); /* the plan does not need it */
    return plan;
}

/* Adds the histogram of integers, sample by sample. */
static void count_plainly(const imgpipe_image *in, int64_t bins, uint64_t *counts) {
    for (int64_t y = 0; y < in->info.height; y++)
        for (int64_t x = 0; x < in->info.width; x++)
            for (int c = 0; c < in->info.format.channels; c++) {
                const unsigned char *row = (unsigned char *)in->pixels + y * in->stride;
                int64_t at = x * in->info.format.channels + c;
                counts[c * (bins + 3) +
                       (in->info.format.type == IMGPIPE_U8 ? row[at] : ((const uint16_t *)(const void *)row)[at])]++;
            }
}
#endif
