/* Medians by the networks of median_tree.h for one sample type. Included by median_tree.c with SAMPLE, KEY, SUFFIX defined, and
 * FLOATS if keys must be made of samples.
 *
 * A lane makes a tile of 4 x 2 medians. So that tiles beside each other are neighbouring lanes, a row is split into four planes:
 * plane p holds every fourth column from column p on, the samples of a pixel together. Columns count from the left edge of the
 * block's first window. */
#define BODY_NAME(name) KERNEL_PASTE(name, SUFFIX)
#define BODY_PITCH ((ptrdiff_t)TREE_PITCH(KEY))
#define SIZE 11
#include "median_tree_tile.h"
#undef SIZE
#define SIZE 13
#include "median_tree_tile.h"
#undef SIZE
#define SIZE 15
#include "median_tree_tile.h"
#undef SIZE

/* Keys of `n` samples, and samples of keys. */
static inline __attribute__((always_inline)) void BODY_NAME(tree_keys)(KEY *to, const SAMPLE *from, size_t n) {
#ifdef FLOATS
    for (size_t k = 0; k < n; k++) to[k] = median_key(from[k]);
#else
    memcpy(to, from, n * sizeof *to);
#endif
}
static inline __attribute__((always_inline)) void BODY_NAME(tree_samples)(SAMPLE *to, const KEY *from, size_t n) {
#ifdef FLOATS
    for (size_t k = 0; k < n; k++) to[k] = median_from_key(from[k]);
#else
    memcpy(to, from, n * sizeof *to);
#endif
}

/* Splits `groups` groups of four pixels of `c` samples into planes. `wide` samples are moved at a time: four may stand for three,
 * as the last is overwritten by the next, or comes from the row's slack and is put where nobody asks. */
static inline __attribute__((always_inline)) void
BODY_NAME(tree_split_by)(const SAMPLE *restrict from, KEY *restrict to, ptrdiff_t groups, ptrdiff_t c, size_t wide) {
    for (ptrdiff_t i = 0; i < groups; i++)
        for (ptrdiff_t p = 0; p < 4; p++) BODY_NAME(tree_keys)(to + p * BODY_PITCH + i * c, from + (4 * i + p) * c, wide);
}
static void BODY_NAME(tree_split)(const SAMPLE *from, KEY *to, ptrdiff_t groups, ptrdiff_t c) {
    switch (c) {
    case 1: BODY_NAME(tree_split_by)(from, to, groups, 1, 1); break;
    case 2: BODY_NAME(tree_split_by)(from, to, groups, 2, 2); break;
    case 3: BODY_NAME(tree_split_by)(from, to, groups, 3, sizeof(KEY) < 4 ? 4 : 3); break;
    default: BODY_NAME(tree_split_by)(from, to, groups, 4, 4);
    }
}

/* The way back, of `n` pixels. Nothing may be written beyond the last. */
static inline __attribute__((always_inline)) void
BODY_NAME(tree_weave_by)(SAMPLE *restrict to, const KEY *restrict from, ptrdiff_t n, ptrdiff_t c, size_t wide) {
    const ptrdiff_t groups = (size_t)c == wide ? n / 4 : (n - 1) / 4;
    for (ptrdiff_t i = 0; i < groups; i++)
        for (ptrdiff_t p = 0; p < 4; p++) BODY_NAME(tree_samples)(to + (4 * i + p) * c, from + p * BODY_PITCH + i * c, wide);
    for (ptrdiff_t x = 4 * groups; x < n; x++)
        BODY_NAME(tree_samples)(to + x * c, from + x % 4 * BODY_PITCH + x / 4 * c, (size_t)c);
}
static void BODY_NAME(tree_weave)(SAMPLE *to, const KEY *from, ptrdiff_t n, ptrdiff_t c) {
    switch (c) {
    case 1: BODY_NAME(tree_weave_by)(to, from, n, 1, 1); break;
    case 2: BODY_NAME(tree_weave_by)(to, from, n, 2, 2); break;
    case 3: BODY_NAME(tree_weave_by)(to, from, n, 3, sizeof(KEY) < 4 ? 4 : 3); break;
    default: BODY_NAME(tree_weave_by)(to, from, n, 4, 4);
    }
}

static void (*const BODY_NAME(tree_tiles)[])(const KEY *const *, KEY *, ptrdiff_t, ptrdiff_t, KEY *) = {
    KERNEL_PASTE(BODY_NAME(tree_tile), 11), KERNEL_PASTE(BODY_NAME(tree_tile), 13), KERNEL_PASTE(BODY_NAME(tree_tile), 15)};

/* The medians of `n` pixels of every row, from pixel x on; rows are taken by twos, and the last of an odd count alone. */
static void BODY_NAME(tree_block)(const imgpipe_rows *rows, int size, ptrdiff_t c, ptrdiff_t x, ptrdiff_t n) {
    KEY *results = rows->scratch, *ring = results + 8 * BODY_PITCH, *scratch = ring + 4 * (MEDIAN_TREE_SIZE + 1) * BODY_PITCH;
    const KEY *row[MEDIAN_TREE_SIZE + 1];
    const ptrdiff_t left = (x - size / 2) * c;
    int made = 0; /* a row is split once and stays in the ring until size + 1 more rows came */
    for (int i = 0; i < rows->count; i += 2) {
        const int last = i + 1 < rows->count ? i + size : i; /* the second window's own row; alone: anything */
        for (; made < i + size || made <= last; made++)
            BODY_NAME(tree_split)((const SAMPLE *)rows->in[made] + left, ring + made % (size + 1) * 4 * BODY_PITCH,
                                  (n + size + 2) / 4, c);
        for (int k = 0; k < size; k++) row[k] = ring + (i + k) % (size + 1) * 4 * BODY_PITCH;
        row[size] = ring + last % (size + 1) * 4 * BODY_PITCH;
        BODY_NAME(tree_tiles)[(size - 11) / 2](row, results, (n + 3) / 4 * c, c, scratch);
        BODY_NAME(tree_weave)((SAMPLE *)rows->out[i] + x * c, results, n, c);
        if (last > i) BODY_NAME(tree_weave)((SAMPLE *)rows->out[i + 1] + x * c, results + 4 * BODY_PITCH, n, c);
    }
}

static void BODY_NAME(tree)(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct median_data *data = stage->data;
    const ptrdiff_t c = stage->in.format.channels, width = rows->out_width, block = 4 * (TREE_LANES / c - 4);
    for (ptrdiff_t x = 0; x < width; x += block)
        BODY_NAME(tree_block)(rows, data->size, c, x, width - x < block ? width - x : block);
}
#undef BODY_NAME
#undef BODY_PITCH
