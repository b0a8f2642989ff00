/* Medians by networks for one sample type. Included by median.c with SAMPLE, KEY, SUFFIX defined, and FLOATS if keys must be made
 * of samples. */
#define BODY_NAME(name) KERNEL_PASTE(name, SUFFIX)
#ifdef FLOATS
#define SIZE 3
#include "median_tile.h"
#undef SIZE
#define SIZE 5
#include "median_tile.h"
#undef SIZE
#else
#include "median_roll.h"
#endif
#define SIZE 7
#include "median_tile.h"
#undef SIZE
#define SIZE 9
#include "median_tile.h"
#undef SIZE

/* The row that starts at `from` as keys: itself, or in the ring of keys. */
static const KEY *BODY_NAME(keys)(const SAMPLE *from, KEY *room, ptrdiff_t n) {
#ifdef FLOATS
    for (ptrdiff_t x = 0; x < n; x++) room[x] = median_key(from[x]);
    return room;
#else
    (void)room, (void)n;
    return from;
#endif
}

/* Writes `n` results from scratch, `from`, to where they belong. */
static void BODY_NAME(store)(SAMPLE *to, const KEY *from, ptrdiff_t n) {
#ifdef FLOATS
    for (ptrdiff_t x = 0; x < n; x++) to[x] = median_from_key(from[x]);
#else
    memcpy(to, from, (size_t)n * sizeof(SAMPLE));
#endif
}

/* Where there are keys only, whole lines of results go straight to their rows; to[] is preset to scratch. */
static void BODY_NAME(place)(const imgpipe_rows *rows, int i, ptrdiff_t x, ptrdiff_t n, KEY **to) {
#ifdef FLOATS
    (void)rows, (void)i, (void)x, (void)n, (void)to;
#else
    if (n % (ptrdiff_t)MEDIAN_LANES(KEY)) return;
    to[0] = (KEY *)rows->out[i] + x;
    if (i + 1 < rows->count) to[1] = (KEY *)rows->out[i + 1] + x;
#endif
}

static void (*const BODY_NAME(tiles)[])(const KEY *const *, KEY *, KEY *, ptrdiff_t, ptrdiff_t, KEY *) = {
#ifdef FLOATS
    KERNEL_PASTE(BODY_NAME(tile), 3), KERNEL_PASTE(BODY_NAME(tile), 5),
#else
    NULL, NULL, /* median_roll.h */
#endif
    KERNEL_PASTE(BODY_NAME(tile), 7), KERNEL_PASTE(BODY_NAME(tile), 9)};

/* The medians of `n` samples of every row, from sample x on; rows are taken by twos, and the last of an odd count alone. */
static void BODY_NAME(block)(const imgpipe_rows *rows, int size, ptrdiff_t c, ptrdiff_t x, ptrdiff_t n) {
    const ptrdiff_t stride = (ptrdiff_t)MEDIAN_STRIDE(KEY), left = x - size / 2 * c;
    KEY *out[2] = {rows->scratch, (KEY *)rows->scratch + stride}, *ring = out[1] + stride;
    KEY *scratch = ring + (MEDIAN_NETWORK_SIZE + 1) * stride;
    const KEY *key[MEDIAN_NETWORK_SIZE + 1], *row[MEDIAN_NETWORK_SIZE + 1];
    int made = 0; /* a row's keys are made once and stay in the ring until size + 1 more rows came */
    for (int i = 0; i < rows->count; i += 2) {
        int last = i + 1 < rows->count ? i + size : i; /* the second window's own row; alone: anything */
        for (int k = i; k < i + 2 && k < rows->count; k++)
            kernel_ahead(rows, k, x * (int64_t)sizeof(SAMPLE), n * (int64_t)sizeof(SAMPLE));
        for (; made < i + size || made <= last; made++) {
            int slot = made % (size + 1);
            key[slot] = BODY_NAME(keys)((const SAMPLE *)rows->in[made] + left, ring + slot * stride, n + (size - 1) * c);
        }
        for (int k = 0; k < size; k++) row[k] = key[(i + k) % (size + 1)];
        row[size] = key[last % (size + 1)];
        KEY *to[2] = {out[0], out[1]};
        BODY_NAME(place)(rows, i, x, n, to);
        BODY_NAME(tiles)[size / 2 - 1](row, to[0], to[1], n, c, scratch);
        if (to[0] == out[0]) BODY_NAME(store)((SAMPLE *)rows->out[i] + x, out[0], n);
        if (to[1] == out[1] && last > i) BODY_NAME(store)((SAMPLE *)rows->out[i + 1] + x, out[1], n);
    }
}

static void BODY_NAME(median)(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct median_data *data = stage->data;
#ifndef FLOATS
    if (data->size <= 5) {
        (data->size == 3 ? BODY_NAME(roll_rows_3) : BODY_NAME(roll_rows_5))(rows, stage->in.format.channels);
        return;
    }
#endif
    const ptrdiff_t c = stage->in.format.channels, width = (ptrdiff_t)rows->out_width * c, block = MEDIAN_BLOCK / sizeof(KEY);
    for (ptrdiff_t x = 0; x < width; x += block) BODY_NAME(block)(rows, data->size, c, x, width - x < block ? width - x : block);
}
#undef BODY_NAME
