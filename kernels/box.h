/* The box mean: what the filter and the kernels of both backends share.
 *
 * Integers: sums are exact, so every order gives the same; the sample is floor((S + floor(n / 2)) / n) for the sum S of the
 * n samples of the window. With alpha A is the sum of the alphas and P that of colour times alpha: alpha becomes
 * floor((A + floor(n / 2)) / n), a colour floor((P + floor(A / 2)) / A), or 0 where the resulting alpha is 0.
 *
 * f32: in every column of the window the samples are added from top to bottom, starting from the first, then the sums of the
 * columns from left to right; the result is divided by (float)n. Float additions depend on their order, so nothing slides.
 * With alpha the sums run over the products c * a, rounded to float32, and over alpha; a colour is P / A, or 0 where A is 0.
 *
 * BOX_MAX keeps the sum of n u8 samples, plus n / 2, below 2^32, n exact in float32, and everything else below 2^63. */
#ifndef BOX_H
#define BOX_H
#include "kernel.h"

#define BOX_MAX 4095

/* stage->data. */
struct box_plan {
    int width, height, rx, ry;
    uint32_t n;
    /* The sum over rows in a column beyond a constant border: of a (premultiplied) colour, and of alpha. */
    uint64_t outside[2];
    float outside_f32[2];
};

/* The CPU kernel makes a row in chunks of some samples. `columns` are the sums over rows of a whole padded row, `totals`
 * the sums over the window of one chunk; both have one pixel more in front. `work` is room for the window sums of powers of
 * two. Bytes. */
#define BOX_CHUNK 2048
/* Windows up to this width add up sums of powers of two, wider ones slide. */
#define BOX_DOUBLING_MAX 31
/* Windows of u8 without alpha up to this many samples have sums of 16 bits. */
#define BOX_NARROW_MAX 255
/* With AVX-512 these are made in registers up to this width; BOX_AHEAD samples more than the row has belong to the state then. */
#define BOX_REGISTERS_MAX 15
#define BOX_AHEAD 64
struct box_layout {
    int64_t chunk; /* samples */
    int64_t columns, totals, work, total;
};

static inline struct box_layout box_layout(const struct box_plan *plan, int channels, int64_t width) {
    struct box_layout layout;
    layout.chunk = BOX_CHUNK - BOX_CHUNK % channels;
    layout.columns = (((width + 2 * plan->rx + 1) * channels * (int64_t)sizeof(uint64_t)) + 127) & ~(int64_t)63;
    layout.totals = ((layout.chunk + channels) * (int64_t)sizeof(uint64_t) + 127) & ~(int64_t)63;
    layout.work = ((layout.chunk + BOX_DOUBLING_MAX * channels) * (int64_t)sizeof(uint32_t) + 127) & ~(int64_t)63;
    layout.total = layout.columns + layout.totals + 2 * layout.work + 64;
    return layout;
}

struct box_kernels {
    imgpipe_rows_function rows;
};
KERNEL_TABLE(box);

/* CUDA: the sums over rows go through scratch of width * channels values of 8 bytes a row. */
#ifdef __cplusplus
extern "C" {
#endif
int box_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream);
#ifdef __cplusplus
}
#endif
#endif
