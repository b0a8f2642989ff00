/* Medians of large windows: bytes by histograms that move (median_count.h), everything else by ranks (median_rank.h). */
#include "median.h"
#include "median_count.h"
#include "median_rank.h"

static void large_u8(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct median_data *data = stage->data;
    const int c = stage->in.format.channels, size = data->size;
    const ptrdiff_t width = rows->out_width, columns = count_columns(size);
    const uint8_t *const *in = (const uint8_t *const *)rows->in;
    for (int channel = 0; channel < c; channel++)
        for (ptrdiff_t x = 0; x < width; x += columns) {
            const ptrdiff_t n = width - x < columns ? width - x : columns, m = n + size - 1, left = (x - size / 2) * c + channel;
            struct count_block b = count_begin(size, m, rows->scratch);
            for (int k = 0; k < size; k++) count_move(&b, NULL, in[k] + left, c, m);
            for (int i = 0; i < rows->count; i++) {
                if (i) count_move(&b, in[i - 1] + left, in[i - 1 + size] + left, c, m);
                count_row(&b, n, (uint8_t *)rows->out[i] + x * c + channel, c, NULL);
            }
        }
}

/* Calls `block` for all blocks of all channels that median_rank.h takes at a time: from row i and column x on. */
static void large_ranks(const imgpipe_stage *stage, const imgpipe_rows *rows,
                        void (*block)(const imgpipe_rows *rows, int size, int c, int channel, int i, int count, ptrdiff_t x,
                                      ptrdiff_t n)) {
    const struct median_data *data = stage->data;
    const ptrdiff_t width = rows->out_width;
    const int most = (int)rank_rows(data->size), c = stage->in.format.channels;
    for (int i = 0; i < rows->count; i += most)
        for (ptrdiff_t x = 0; x < width; x += RANK_COLUMNS)
            for (int channel = 0; channel < c; channel++)
                block(rows, data->size, c, channel, i, rows->count - i < most ? rows->count - i : most, x,
                      width - x < RANK_COLUMNS ? width - x : RANK_COLUMNS);
}

static void block_u16(const imgpipe_rows *rows, int size, int c, int channel, int i, int count, ptrdiff_t x, ptrdiff_t n) {
    struct rank_block b = rank_begin(rows->scratch, size);
    for (int j = 0; j < count + size - 1; j++) {
        const uint16_t *from = (const uint16_t *)rows->in[i + j] + (x - size / 2) * c + channel;
        for (ptrdiff_t k = 0; k < n + size - 1; k++) b.entries[b.samples++] = (struct entry){from[k * c], (uint16_t)k, (uint16_t)j};
    }
    rank_sort(&b, 2);
    rank_classes(&b, n + size - 1);
    for (int j = 0; j < count; j++) {
        uint16_t *to = (uint16_t *)rows->out[i + j] + x * c + channel;
        const uint32_t *keys = rank_row(&b, j, n);
        for (ptrdiff_t k = 0; k < n; k++) to[k * c] = (uint16_t)keys[k];
    }
}

static void large_u16(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    large_ranks(stage, rows, block_u16);
}

static void block_f32(const imgpipe_rows *rows, int size, int c, int channel, int i, int count, ptrdiff_t x, ptrdiff_t n) {
    struct rank_block b = rank_begin(rows->scratch, size);
    for (int j = 0; j < count + size - 1; j++) {
        const float *from = (const float *)rows->in[i + j] + (x - size / 2) * c + channel;
        for (ptrdiff_t k = 0; k < n + size - 1; k++)
            b.entries[b.samples++] = (struct entry){(uint32_t)median_key(from[k * c]) ^ 0x80000000u, (uint16_t)k, (uint16_t)j};
    }
    rank_sort(&b, 4);
    rank_classes(&b, n + size - 1);
    for (int j = 0; j < count; j++) {
        float *to = (float *)rows->out[i + j] + x * c + channel;
        const uint32_t *keys = rank_row(&b, j, n);
        for (ptrdiff_t k = 0; k < n; k++) to[k * c] = median_from_key((int32_t)(keys[k] ^ 0x80000000u));
    }
}

static void large_f32(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    large_ranks(stage, rows, block_f32);
}

static size_t large_scratch(imgpipe_type type, int size) {
    return type == IMGPIPE_U8 ? count_scratch(size) : rank_scratch(size);
}

const struct median_large_kernels KERNEL_NAME(median_large_kernels) = {
    .rows = {large_u8, large_u16, large_f32},
    .scratch = large_scratch,
};
