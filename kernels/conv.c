/* Correlation on the CPU: a row in blocks of samples whose sums stay in the L1 cache, tap by tap over all channels at once. */
#include "conv.h"
#include <string.h>
#if defined(__AVX2__)
#include "divide16.h"
#include "vector16.h"
#endif

/* Samples of a block, and taps that are listed at a time. */
enum { CONV_BLOCK = 1024, CONV_LIST = 60 };

/* A block of one output row: samples at … at + count - 1; in[0] is the topmost row of the window. */
struct conv_block {
    const void *const *in;
    int64_t at;
    int count, channels;
};

#define CONV_WHOLE
#define SAMPLE uint8_t
#define SUM uint16_t
#define WEIGHT uint16_t
#define SUFFIX u8_groups
/* Modulo 2^16, in which negative weights are right too. */
#define MULTIPLY_ADD(sum, weight, sample) (uint16_t)((sum) + (uint16_t)((weight) * (uint16_t)(sample)))
#include "conv_body.h"

#define SAMPLE uint8_t
#define SUM int32_t
#define WEIGHT int32_t
#define SUFFIX u8_int32
#define MULTIPLY_ADD(sum, weight, sample) ((sum) + (weight) * (int32_t)(sample))
#include "conv_body.h"

#define SAMPLE uint16_t
#define SUM int32_t
#define WEIGHT int32_t
#define SUFFIX u16_int32
#define MULTIPLY_ADD(sum, weight, sample) ((sum) + (weight) * (int32_t)(sample))
#include "conv_body.h"

#define SAMPLE uint8_t
#define SUM int64_t
#define WEIGHT int64_t
#define SUFFIX u8_int64
#define MULTIPLY_ADD(sum, weight, sample) ((sum) + (weight) * (int64_t)(sample))
#include "conv_body.h"

#define SAMPLE uint16_t
#define SUM int64_t
#define WEIGHT int64_t
#define SUFFIX u16_int64
#define MULTIPLY_ADD(sum, weight, sample) ((sum) + (weight) * (int64_t)(sample))
#include "conv_body.h"
#undef CONV_WHOLE

#define SAMPLE uint8_t
#define SUM float
#define WEIGHT float
#define SUFFIX u8_real
#define MULTIPLY_ADD(sum, weight, sample) fmaf(weight, (float)(sample), sum)
#include "conv_body.h"

#define SAMPLE uint16_t
#define SUM float
#define WEIGHT float
#define SUFFIX u16_real
#define MULTIPLY_ADD(sum, weight, sample) fmaf(weight, (float)(sample), sum)
#include "conv_body.h"

#define SAMPLE float
#define SUM double
#define WEIGHT float
#define SUFFIX f32_real
#define MULTIPLY_ADD(sum, weight, sample) ((sum) + (double)(weight) * (double)(sample))
#include "conv_body.h"

/* ---------------------------------------------------------------------------------------------- from sums to samples */

/* Division by multiplication. With q = floor(a / d) <= max the value (a + 1/2) / d lies between q + 1/(2d) and q + 1 - 1/(2d),
 * so any error below 1/(2d) does no harm. In float32 (u8, d <= 8192): a + 1/2 < 2^22 is exact, two roundings err by less than
 * 256 * 2^-23 = 2^-15 < 1/(2d). In double (d < 2^31): by less than 65536 * 2^-52 = 2^-36 < 1/(2d). */
#define CONV_FLOAT_DIV 8192

/* The greatest sum whose quotient is at most `max`. */
static int32_t conv_top(const struct conv_params *params, int32_t max) {
    int64_t above = (max + (int64_t)1) * params->div - 1;
    return above < INT32_MAX ? (int32_t)above : INT32_MAX;
}

static void conv_quotients(const struct conv_params *params, int32_t *sums, int count, int32_t max) {
    int32_t offset = (int32_t)params->offset, shift = params->shift;
    int32_t top = conv_top(params, max);
    if (params->absolute)
        for (int i = 0; i < count; i++) sums[i] = sums[i] < 0 ? -sums[i] : sums[i];
    if (shift >= 0) {
        for (int i = 0; i < count; i++) {
            int32_t q = (sums[i] + offset) >> shift;
            q = q > 0 ? q : 0;
            sums[i] = q < max ? q : max;
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        int32_t a = sums[i] + offset;
        a = a > 0 ? a : 0;
        sums[i] = a < top ? a : top;
    }
    if (max == 255 && params->div <= CONV_FLOAT_DIV) {
        float inverse = 1.0f / (float)params->div;
        for (int i = 0; i < count; i++) sums[i] = (int32_t)(((float)sums[i] + 0.5f) * inverse);
    } else {
        double inverse = 1.0 / (double)params->div;
        for (int i = 0; i < count; i++) sums[i] = (int32_t)(((double)sums[i] + 0.5) * inverse);
    }
}

static void conv_store(imgpipe_type type, void *out, int64_t at, const int32_t *samples, int count) {
    if (type == IMGPIPE_U8)
        for (int i = 0; i < count; i++) ((uint8_t *)out)[at + i] = (uint8_t)samples[i];
    else
        for (int i = 0; i < count; i++) ((uint16_t *)out)[at + i] = (uint16_t)samples[i];
}

static void conv_int64(const struct conv_params *params, imgpipe_type type, void *out, int64_t at, const int64_t *sums, int count) {
    for (int i = 0; i < count; i++) {
        int64_t s = params->absolute && sums[i] < 0 ? -sums[i] : sums[i];
        int64_t q = conv_divide(params, s + params->offset, type == IMGPIPE_U8 ? 255 : 65535);
        if (type == IMGPIPE_U8)
            ((uint8_t *)out)[at + i] = (uint8_t)q;
        else
            ((uint16_t *)out)[at + i] = (uint16_t)q;
    }
}

static void conv_float(const struct conv_params *params, imgpipe_type type, void *out, int64_t at, float *sums, int count) {
    float div = (float)params->real_div, bias = (float)params->real_bias;
    if (params->absolute)
        for (int i = 0; i < count; i++) sums[i] = fabsf(sums[i] / div) + bias;
    else
        for (int i = 0; i < count; i++) sums[i] = sums[i] / div + bias;
    /* pixel_u8() and pixel_u16() without branches: what is not negative is rounded down by the conversion. A sum is never NaN here. */
    int32_t samples[CONV_BLOCK];
    if (type == IMGPIPE_U8)
        for (int i = 0; i < count; i++) {
            float r = sums[i] + 0.5f;
            r = r > 0.0f ? r : 0.0f;
            samples[i] = (int32_t)(r < 255.0f ? r : 255.0f);
        }
    else
        for (int i = 0; i < count; i++) {
            double r = (double)sums[i] + 0.5;
            r = r > 0.0 ? r : 0.0;
            samples[i] = (int32_t)(r < 65535.0 ? r : 65535.0);
        }
    conv_store(type, out, at, samples, count);
}

static void conv_double(const struct conv_params *params, float *out, const double *sums, int count) {
    double div = params->real_div, bias = params->real_bias;
    if (params->absolute)
        for (int i = 0; i < count; i++) out[i] = pixel_f32((float)(fabs(sums[i] / div) + bias));
    else
        for (int i = 0; i < count; i++) out[i] = pixel_f32((float)(sums[i] / div + bias));
}

/* ------------------------------------------------------------------------------------------------------ one block */

static void block_groups(const struct conv_plan *plan, imgpipe_type type, const struct conv_block *block, void *out) {
    uint16_t part[CONV_BLOCK];
    int32_t sums[CONV_BLOCK];
    for (int i = 0; i < block->count; i++) sums[i] = -(int32_t)plan->below;
    for (int g = 0, first = 0; g < plan->group_count; first = plan->groups[g++].end) {
        for (int i = 0; i < block->count; i++) part[i] = plan->groups[g].raised;
        conv_taps_u8_groups(plan, block, part, first, plan->groups[g].end);
        for (int i = 0; i < block->count; i++) sums[i] += part[i];
    }
    conv_quotients(&plan->params, sums, block->count, 255);
    conv_store(type, out, block->at, sums, block->count);
}

static void block_int32(const struct conv_plan *plan, imgpipe_type type, const struct conv_block *block, void *out) {
    int32_t sums[CONV_BLOCK];
    memset(sums, 0, (size_t)block->count * sizeof sums[0]);
    if (type == IMGPIPE_U8)
        conv_taps_u8_int32(plan, block, sums, 0, plan->tap_count);
    else
        conv_taps_u16_int32(plan, block, sums, 0, plan->tap_count);
    conv_quotients(&plan->params, sums, block->count, type == IMGPIPE_U8 ? 255 : 65535);
    conv_store(type, out, block->at, sums, block->count);
}

static void block_int64(const struct conv_plan *plan, imgpipe_type type, const struct conv_block *block, void *out) {
    int64_t sums[CONV_BLOCK];
    memset(sums, 0, (size_t)block->count * sizeof sums[0]);
    if (type == IMGPIPE_U8)
        conv_taps_u8_int64(plan, block, sums, 0, plan->tap_count);
    else
        conv_taps_u16_int64(plan, block, sums, 0, plan->tap_count);
    conv_int64(&plan->params, type, out, block->at, sums, block->count);
}

static void block_real(const struct conv_plan *plan, imgpipe_type type, const struct conv_block *block, void *out) {
    if (type == IMGPIPE_F32) {
        double sums[CONV_BLOCK];
        conv_sums_f32_real(&plan->params, block, sums);
        conv_double(&plan->params, (float *)out + block->at, sums, block->count);
        return;
    }
    float sums[CONV_BLOCK];
    if (type == IMGPIPE_U8)
        conv_sums_u8_real(&plan->params, block, sums);
    else
        conv_sums_u16_real(&plan->params, block, sums);
    conv_float(&plan->params, type, out, block->at, sums, block->count);
}

/* Puts the alpha of the middle of the window back in place of what was computed for it. */
static void conv_keep_alpha(imgpipe_format format, const void *middle, void *out, int64_t width) {
    int64_t step = format.channels, last = format.channels - 1;
    for (int64_t i = last; i < width * step; i += step) {
        if (format.type == IMGPIPE_U8)
            ((uint8_t *)out)[i] = ((const uint8_t *)middle)[i];
        else if (format.type == IMGPIPE_U16)
            ((uint16_t *)out)[i] = ((const uint16_t *)middle)[i];
        else
            ((uint32_t *)out)[i] = ((const uint32_t *)middle)[i];
    }
}

#if defined(__AVX2__)
#include "conv_pairs.h"
#endif

static void conv_rows(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    static void (*const blocks[CONV_ARITHMETICS])(const struct conv_plan *, imgpipe_type, const struct conv_block *,
                                                  void *) = {block_groups, block_int32, block_int64, block_real};
    const struct conv_plan *plan = stage->data;
    imgpipe_format format = stage->in.format;
    int64_t samples = rows->out_width * format.channels, sample = (int64_t)imgpipe_sample_size(format.type);
    bool done = false;
#if defined(__AVX2__)
    done = plan->pair_count > 0;
    const struct pairs_end end = pairs_end(plan);
    for (int64_t at = 0; done && at < samples; at += CONV_PAIRS_BLOCK) {
        int64_t left = samples - at;
        pairs_block(plan, &end, rows, format.channels, at, (int)(left < CONV_PAIRS_BLOCK ? left : CONV_PAIRS_BLOCK));
    }
#endif
    for (int i = 0; i < rows->count; i++) {
        for (int64_t at = 0; !done && at < samples; at += CONV_BLOCK) {
            int64_t left = samples - at;
            struct conv_block block = {rows->in + i, at, (int)(left < CONV_BLOCK ? left : CONV_BLOCK), format.channels};
            kernel_ahead(rows, i, at * sample, block.count * sample);
            blocks[plan->params.arithmetic](plan, format.type, &block, rows->out[i]);
        }
        if (format.alpha) conv_keep_alpha(format, rows->in[i + plan->params.height / 2], rows->out[i], rows->out_width);
    }
}

const struct conv_kernels KERNEL_NAME(conv_kernels) = {.rows = conv_rows};
