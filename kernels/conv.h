/* Correlation with a mask: what the filter and the kernels of both backends share.
 *
 * Integers (mask, div and bias are whole numbers): v = floor(S / div + 1/2) + bias for the sum S, or |S| with `absolute`; with a
 * positive div (a negative one changes the sign of the weights before) that is floor(A / div), A = S + floor(div / 2) + bias *
 * div, exactly. Every order of summation gives the same.
 *
 * Real numbers on u8 and u16: float32. In every row of the mask the products are added from left to right by fmaf, from 0 on,
 * then the sums of the rows from top to bottom, from 0 on; then (S / div), |v|, + bias, rounding. On f32: the same order in
 * double, where the product of two floats is exact, and one rounding to float32 at the end. */
#ifndef CONV_H
#define CONV_H
#include "kernel.h"
#include "pixel.h"

#define CONV_MAX 63
#define CONV_TAPS (CONV_MAX * CONV_MAX)
/* The greatest sum of the weights' magnitudes whose products with u8 samples fit 16 bits. */
#define CONV_GROUP_WEIGHT 257

enum conv_arithmetic {
    CONV_GROUPS, /* u8: sums of 16 bits over groups of taps, those in 32 bits */
    CONV_INT32,
    CONV_INT64,
    CONV_REAL, /* float32 on u8 and u16, double on f32 */
    CONV_ARITHMETICS
};

/* Travels as one kernel parameter on CUDA, so it must stay well below 32 KiB. */
struct conv_params {
    int width, height;
    enum conv_arithmetic arithmetic;
    bool absolute;
    int shift;           /* div is 1 << shift; -1: no power of two */
    int64_t div, offset; /* offset = floor(div / 2) + bias * div */
    double real_div, real_bias;
    /* Row by row; whole in integer arithmetic, else real. */
    union {
        int32_t whole[CONV_TAPS];
        float real[CONV_TAPS];
    } weights;
};

/* A weight that is not 0 and its place in the mask. */
struct conv_tap {
    int32_t weight;
    int16_t x, y;
};

/* What two samples, one below the other, weigh in each of CONV_PAIR_ROWS neighbouring rows of results: bytes in two's complement,
 * that of the upper sample first, and all of it twice, so that it can be spread over a vector from memory. Row number `pair` of
 * pairs is made of the input rows 2 * pair and 2 * pair + 1, counted from the top of the uppermost window; `at` samples to the
 * right of the window's left edge. Each sum of one sign within a pair is at most CONV_PAIR_WEIGHT, so that the two products' sum
 * fits 16 bits. */
#define CONV_PAIR_ROWS 4
struct conv_pair {
    int16_t pair, at;
    uint32_t weights[CONV_PAIR_ROWS];
};
#define CONV_PAIR_WEIGHT 128
/* Pairs whose products' sums fit 16 bits. */
struct conv_pair_group {
    int end;                         /* the pair behind the last of the group */
    uint16_t raised[CONV_PAIR_ROWS]; /* what the sums of each row start from */
};
/* Rows of pairs that CONV_PAIR_ROWS windows meet. */
#define CONV_PAIR_SLOTS(height) ((height) / 2 + CONV_PAIR_ROWS / 2)
/* Samples of a row that are worked on at a time, and from one row of pairs to the next in scratch: an odd number of lines. */
#define CONV_PAIRS_BLOCK 1024
#define CONV_PAIRS_STRIDE (CONV_PAIRS_BLOCK + 9 * 32)

/* stage->data. Taps, groups and pairs are for the CPU and integers alone. */
struct conv_plan {
    struct conv_params params;
    int tap_count, group_count;
    int64_t below; /* how far the groups raise the sum, so that none of them is negative */
    struct conv_tap taps[CONV_TAPS];
    struct {
        int end;         /* the tap behind the last of the group */
        uint16_t raised; /* what its sum starts from */
    } groups[CONV_TAPS];
    /* CONV_GROUPS: the same by pairs, ordered by their rows, where that can be; else there are none. Those of the first row are
     * nothing to the lower half of the rows of results, those of the last row nothing to the upper half. */
    int pair_count, pair_group_count, pairs_first_end, pairs_last;
    struct conv_pair *pairs;
    struct conv_pair_group *pair_groups;
};

/* floor(a / div) within 0 … max. */
PIXEL_FN int64_t conv_divide(const struct conv_params *params, int64_t a, int64_t max) {
    if (a <= 0) return 0;
    int64_t q = params->shift >= 0 ? a >> params->shift : a / params->div;
    return q < max ? q : max;
}

struct conv_kernels {
    imgpipe_rows_function rows;
};
KERNEL_TABLE(conv);

#ifdef __cplusplus
extern "C"
#endif
    int
    conv_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream);
#endif
