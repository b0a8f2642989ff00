/* The Gaussian blur: what the filter and the kernels of both backends share.
 *
 * One definition for all of them, in float32 without contraction. A sum over the taps of one axis runs from the first tap to
 * the last in groups of BLUR_GROUP: inside a group acc = w * x for the first tap and acc = fmaf(w, x, acc) for the others;
 * the total is acc of the first group, to which acc of each later group is added in order. (One long chain of a thousand
 * taps would drift by more than half a step of u16; groups keep the error near that of a tree.) The sums over rows come
 * first and stay float32; the sums over columns run over those; one rounding at the end makes the sample.
 *
 * With alpha the sums run over the premultiplied colour (float)c * (float)a, rounded once to float32, and over alpha. The
 * colour of the result is the quotient of the two sums; where the result's alpha is 0 it is 0. */
#ifndef BLUR_H
#define BLUR_H
#include "kernel.h"

#define BLUR_GROUP 32

/* stage->data. `weights` is also stage->constants: 2 ry + 1 of the column, then 2 rx + 1 of the row. */
struct blur_plan {
    int rx, ry;
    const float *wx, *wy;
    /* The sum over rows in a column beyond a constant border: of a (premultiplied) colour, and of alpha. */
    float outside[2];
};

/* How the CPU kernel cuts its work. It makes up to BLUR_ROWS rows of `block` output samples at a time: strips of
 * BLUR_LANES samples of the input become float32 in `source`, their sums over rows go to `vertical`, and the sums over
 * columns of one row to `sum`. Counts are in floats; `total` is bytes of scratch. */
#define BLUR_ROWS 16
#define BLUR_LANES 256
struct blur_layout {
    int64_t block, source, vertical_row, sum, total;
};

static inline struct blur_layout blur_layout(const struct blur_plan *plan, int channels, int64_t width) {
    struct blur_layout layout;
    int64_t halo = 2 * (int64_t)plan->rx * channels;
    /* Neighbouring blocks both sum the rows of the halo between them, so a block is some times wider than that. */
    int64_t block = 4 * halo > 1024 ? 4 * halo : 1024;
    if (block > width * channels) block = width * channels;
    layout.block = (block + channels - 1) / channels * channels;
    layout.source = (int64_t)(2 * plan->ry + BLUR_ROWS) * BLUR_LANES;
    layout.sum = (layout.block + BLUR_LANES - 1) / BLUR_LANES * BLUR_LANES;
    layout.vertical_row = (layout.sum + halo + BLUR_LANES - 1) / BLUR_LANES * BLUR_LANES + BLUR_LANES;
    /* Two buffers for sums: the total and the group. 64 bytes more, so that the first buffer can start at a cache line. */
    layout.total = (int64_t)sizeof(float) * (layout.source + BLUR_ROWS * layout.vertical_row + 2 * layout.sum + BLUR_LANES) + 64;
    return layout;
}

struct blur_kernels {
    imgpipe_rows_function rows;
};
KERNEL_TABLE(blur);

/* CUDA: up to this radius on both axes one kernel does both passes; beyond it the sums over rows go through scratch of
 * width * channels floats a row. */
#define BLUR_FUSED_RADIUS 63
#ifdef __cplusplus
extern "C" {
#endif
int blur_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream);
#ifdef __cplusplus
}
#endif
#endif
