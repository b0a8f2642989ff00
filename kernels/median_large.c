/* Medians of large windows by sliding histograms. Integers are counted as they are; floats are first replaced by their ranks in
 * the part of the image that a block of results needs. */
#include "median.h"

struct histogram {
    uint16_t *fine, *coarse;
    uint32_t at;   /* a bin */
    int32_t under; /* values in the bins before it */
};

#define VALUE uint8_t
#define SUFFIX u8
#define SHIFT 4
#include "median_slide.h"
#undef VALUE
#undef SUFFIX
#undef SHIFT

#define VALUE uint16_t
#define SUFFIX u16
#define SHIFT 8
#include "median_slide.h"
#undef VALUE
#undef SUFFIX
#undef SHIFT

#define VALUE uint32_t
#define SUFFIX ranks
#define SHIFT 8
#include "median_slide.h"
#undef VALUE
#undef SUFFIX
#undef SHIFT

/* An empty histogram of `bins` bins in scratch. */
static struct histogram histogram_at(void *scratch, size_t bins, int shift) {
    struct histogram h = {scratch, (uint16_t *)scratch + bins, 0, 0};
    memset(scratch, 0, (bins + (bins >> shift) + 1) * sizeof(uint16_t));
    return h;
}

static void large_u8(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct median_data *data = stage->data;
    const int c = stage->in.format.channels;
    for (int channel = 0; channel < c; channel++) {
        struct histogram h = histogram_at(rows->scratch, 256, 4);
        slide_u8((const uint8_t *const *)rows->in, channel - data->size / 2 * c, c, data->size, rows->count, rows->out_width,
                 (uint8_t *const *)rows->out, channel, c, &h);
    }
}

static void large_u16(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct median_data *data = stage->data;
    const int c = stage->in.format.channels;
    for (int channel = 0; channel < c; channel++) {
        struct histogram h = histogram_at(rows->scratch, 65536, 8);
        slide_u16((const uint16_t *const *)rows->in, channel - data->size / 2 * c, c, data->size, rows->count, rows->out_width,
                  (uint16_t *const *)rows->out, channel, c, &h);
    }
}

/* A block of results whose floats are ranked together. */
#define BLOCK_ROWS 16
#define BLOCK_COLUMNS 256
static size_t block_samples(int size) { return (size_t)(BLOCK_ROWS + size - 1) * (size_t)(BLOCK_COLUMNS + size - 1); }

struct entry {
    uint32_t key, place;
};

/* Sorts `n` entries by key, by four counting passes of eight bits; `other` is room for as many. */
static void sort_entries(struct entry *entries, struct entry *other, size_t n) {
    for (int shift = 0; shift < 32; shift += 8) {
        size_t start[256] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++) start[entries[i].key >> shift & 255]++;
        for (int k = 0; k < 256; k++) {
            size_t here = start[k];
            start[k] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) other[start[entries[i].key >> shift & 255]++] = entries[i];
        struct entry *swap = entries;
        entries = other;
        other = swap;
    }
}

/* One block of one channel: row `i` on, column `x` on. */
static void block_f32(const imgpipe_rows *rows, int size, int c, int channel, int i, int count, ptrdiff_t x, ptrdiff_t n) {
    const ptrdiff_t width = n + size - 1;
    const int height = count + size - 1;
    const size_t room = block_samples(size), samples = (size_t)width * (size_t)height;
    struct entry *entries = rows->scratch, *other = entries + room;
    const uint32_t *rank_rows[BLOCK_ROWS + MEDIAN_MAX_SIZE - 1];
    uint32_t *results = (uint32_t *)(other + room), *result_rows[BLOCK_ROWS], *ranks = (uint32_t *)other;

    for (int j = 0; j < height; j++) {
        const float *from = (const float *)rows->in[i + j] + (x - size / 2) * c + channel;
        struct entry *to = entries + j * width;
        rank_rows[j] = ranks + j * width;
        for (ptrdiff_t k = 0; k < width; k++)
            to[k] = (struct entry){(uint32_t)median_key(from[k * c]) ^ 0x80000000u, (uint32_t)(j * width + k)};
    }
    sort_entries(entries, other, samples);
    for (size_t k = 0; k < samples; k++) ranks[entries[k].place] = (uint32_t)k;
    for (int j = 0; j < count; j++) result_rows[j] = results + j * BLOCK_COLUMNS;

    /* Ranks take half of `other`; the histogram has two bytes a rank, and fits behind them. */
    struct histogram h = histogram_at(ranks + room, samples, 8);
    slide_ranks(rank_rows, 0, 1, size, count, n, result_rows, 0, 1, &h);
    for (int j = 0; j < count; j++) {
        float *to = (float *)rows->out[i + j] + x * c + channel;
        for (ptrdiff_t k = 0; k < n; k++)
            to[k * c] = median_from_key((int32_t)(entries[result_rows[j][k]].key ^ 0x80000000u));
    }
}

static void large_f32(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct median_data *data = stage->data;
    const int c = stage->in.format.channels;
    const ptrdiff_t width = rows->out_width;
    for (int i = 0; i < rows->count; i += BLOCK_ROWS)
        for (ptrdiff_t x = 0; x < width; x += BLOCK_COLUMNS)
            for (int channel = 0; channel < c; channel++)
                block_f32(rows, data->size, c, channel, i, rows->count - i < BLOCK_ROWS ? rows->count - i : BLOCK_ROWS, x,
                          width - x < BLOCK_COLUMNS ? width - x : BLOCK_COLUMNS);
}

static size_t large_scratch(imgpipe_type type, int size) {
    if (type == IMGPIPE_U8) return (256 + 16 + 1) * sizeof(uint16_t);
    if (type == IMGPIPE_U16) return (65536 + 256 + 1) * sizeof(uint16_t);
    return 2 * block_samples(size) * sizeof(struct entry) + BLOCK_ROWS * BLOCK_COLUMNS * sizeof(uint32_t);
}

const struct median_large_kernels KERNEL_NAME(median_large_kernels) = {
    .rows = {large_u8, large_u16, large_f32},
    .scratch = large_scratch,
};
