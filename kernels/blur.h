/* The Gaussian blur: what the filter and the kernels of both backends share.
 *
 * Two definitions, each for both backends. u8 without alpha takes the first where its bound holds (plan->fixed), which is
 * up to a radius of about 45; everything else takes the second.
 *
 * 1. In 16 bits without a sign. Weights are W_0 for the middle and W_k for the taps k to either side, in 65536ths, with
 * W_0 + 2 (W_1 + ... + W_r) = 65536 (65535 where W_0 alone would not fit). Samples and sums are in units of 1/128. A pass is
 *     S = (r + 1) / 2 + sum over k of floor(W_k p_k / 65536),  p_0 = v_0,  p_k = v_-k + v_k
 * over rows from v = 128 x to V, then over columns from V to H, and the result is (H + 64) >> 7. Integers: any order will do.
 * (On a GPU fmaf rounded towards zero adds one floor(W p) exactly, if its sum starts at 2^23.)
 * Nothing overflows: sums of floors are at most the floor of the sum, so V <= 128 * 255 + (r + 1) / 2 and p < 65536.
 * The error: r + 1 floors take away between 0 and r + 1 units, (r + 1) / 2 are put back, so a pass errs by at most (r + 2) / 2
 * units; and a weight that is off by d moves the result by d x, so a pass errs by at most 255 times the sum of those d that
 * have one sign. blur_fixed_holds() asks for less than 1/2 from both passes together. Rounding adds 1/2: the result is within
 * 1; and of a constant, which is a whole number, nothing is left of the error.
 *
 * 2. In float32 without contraction. A sum over the taps of one axis runs from the first tap to
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
#include "pixel.h"

#define BLUR_GROUP 32

#define BLUR_FIXED_BITS 7
/* Both radii at most. 64 weights of both axes also fit a kernel parameter, and H stays below 256 * 128. */
#define BLUR_FIXED_RADIUS 62

PIXEL_FN uint32_t blur_fixed_product(uint32_t weight, uint32_t sum) {
    return weight * sum >> 16;
}
/* What S starts from; the second pass adds what rounds at the end. */
PIXEL_FN uint32_t blur_fixed_start(int radius) {
    return (uint32_t)(radius + 1) / 2;
}
PIXEL_FN uint32_t blur_fixed_start_along(int radius) {
    return blur_fixed_start(radius) + (1u << (BLUR_FIXED_BITS - 1));
}

/* stage->data. `weights` is also stage->constants: 2 ry + 1 of the column, then 2 rx + 1 of the row. */
struct blur_plan {
    int rx, ry;
    const float *wx, *wy;
    /* The sum over rows in a column beyond a constant border: of a (premultiplied) colour, and of alpha. */
    float outside[2];
    /* The first definition: W_0 ... W_r of the column and of the row, and V in a column beyond a constant border. */
    bool fixed;
    uint16_t fixed_y[BLUR_FIXED_RADIUS + 1], fixed_x[BLUR_FIXED_RADIUS + 1];
    uint16_t fixed_outside;
};

/* How the CPU kernel cuts its work. It makes up to BLUR_ROWS rows of `block` output samples at a time: strips of
 * BLUR_LANES samples of the input become float32 in `source`, their sums over rows go to `vertical`, and the sums over
 * columns of one row to `sum`. Counts are in floats; `total` is bytes of scratch. */
#define BLUR_ROWS 16
#define BLUR_LANES 192 /* whole pixels of any number of channels */
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

/* The same for the first definition, counted in 16 bits but for `total`. The loaded lanes should stay in half an L1 cache. */
struct blur_fixed_layout {
    int64_t block, lanes, source, vertical_row, total;
};

static inline struct blur_fixed_layout blur_fixed_layout(const struct blur_plan *plan, int channels, int64_t width) {
    struct blur_fixed_layout layout;
    int64_t halo = 2 * (int64_t)plan->rx * channels;
    /* Whole vectors, and whole pixels of any number of channels. */
    int64_t block = ((4 * halo > 1536 ? 4 * halo : 1536) + 191) / 192 * 192;
    layout.block = block < width * channels ? block : width * channels;
    layout.lanes = 2 * plan->ry + BLUR_ROWS <= 40 ? 256 : 128;
    /* BLUR_ROWS is even, so there is room for the row more of an odd count. */
    layout.source = (2 * plan->ry + BLUR_ROWS) * layout.lanes;
    /* The last vectors of a row read up to five of the widest beyond it. */
    layout.vertical_row = (layout.block + halo + 255) / 256 * 256 + 192;
    layout.total = (int64_t)sizeof(uint16_t) * (layout.source + BLUR_ROWS * layout.vertical_row) + 64;
    return layout;
}

/* Small radii of integers; see blur_small.h and blur_small_u16.h. blur_layout() always has more scratch than this. */
#define BLUR_SMALL_RADIUS 8
#define BLUR_SMALL_SCRATCH 20480

static inline bool blur_is_small(const struct blur_plan *plan, imgpipe_format format) {
    return plan->rx >= 1 && plan->rx <= BLUR_SMALL_RADIUS && plan->ry >= 1 && plan->ry <= BLUR_SMALL_RADIUS && !format.alpha &&
           (format.channels == 1 || format.channels == 3) && (plan->fixed || format.type == IMGPIPE_U16);
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
