/* Gaussian blur on the CPU; blur.h has the definitions. Here is the second, in float32; blur_fixed.h has the first.
 *
 * A block of columns is done for up to BLUR_ROWS output rows at a time, so that each input sample is converted to float32
 * (and premultiplied) once for all of them, and everything stays in the caches: the converted lanes in L1 where the radius
 * allows, the sums over rows in L2. All loops run over samples with the taps unrolled inside. */
#include "blur.h"
#include "pixel.h"
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* pixel_u8() and pixel_u16() in a form without branches. Clamping before the conversion gives the same: the limits are
 * whole numbers, what is cut is not negative, so that truncation is floor, and a NaN fails the first comparison. */
static inline uint8_t round_u8(float v) {
    float t = v + 0.5f;
    t = t > 0.0f ? t : 0.0f;
    t = t < 255.0f ? t : 255.0f;
    return (uint8_t)(int32_t)t;
}
static inline uint16_t round_u16(float v) {
    float t = v > 0.0f ? v : 0.0f;
    t = t < 65535.0f ? t : 65535.0f;
    /* v + 0.5f is not exact near 65535, but 2 v is: floor(v + 1/2) = floor((floor(2 v) + 1) / 2). */
    return (uint16_t)(((int32_t)(t + t) + 1) >> 1);
}

#define SAMPLE uint8_t
#define NAME(x) x##_u8
#define ROUND(v) round_u8(v)
#include "blur_body.h"
#undef SAMPLE
#undef NAME
#undef ROUND
#define SAMPLE uint16_t
#define NAME(x) x##_u16
#define ROUND(v) round_u16(v)
#include "blur_body.h"
#undef SAMPLE
#undef NAME
#undef ROUND
#define SAMPLE float
#define NAME(x) x##_f32
#define ROUND(v) pixel_f32(v)
#include "blur_body.h"
#undef SAMPLE
#undef NAME
#undef ROUND

#include "blur_fixed.h"
#include "blur_small.h"

typedef void (*load_function)(const void *in, float *restrict out, int64_t count, int channels);
typedef void (*store_function)(const float *restrict sum, void *out, int64_t count, int channels);
static const load_function loads[2][3] = {{load_u8, load_u16, load_f32}, {load_alpha_u8, load_alpha_u16, load_alpha_f32}};
static const store_function stores[2][3] = {{store_u8, store_u16, store_f32}, {store_alpha_u8, store_alpha_u16, store_alpha_f32}};

#if defined(__AVX2__) && defined(__FMA__)
#include "blur_sums.h"
#include "blur_small_u16.h"
#else
/* acc[s] (or, for the first taps of a group, nothing) and then `taps` taps of source[s + k step]. `taps` is constant in
 * each call, `count` a multiple of 64. */
static inline __attribute__((always_inline)) void taps_of(float *restrict acc, const float *source, int64_t step, const float *w,
                                                          int taps, bool first, int64_t count) {
    count &= ~(int64_t)63;
    const float *p[8];
    float weight[8];
    for (int k = 0; k < taps; k++) {
        p[k] = source + k * step;
        weight[k] = w[k];
    }
    for (int64_t s = 0; s < count; s++) {
        float sum = first ? weight[0] * p[0][s] : fmaf(weight[0], p[0][s], acc[s]);
#pragma GCC unroll 8
        for (int k = 1; k < taps; k++) sum = fmaf(weight[k], p[k][s], sum);
        acc[s] = sum;
    }
}

static void add_taps(float *restrict acc, const float *source, int64_t step, const float *w, int taps, bool first, int64_t count) {
    switch (first ? taps + 8 : taps) {
    case 1: taps_of(acc, source, step, w, 1, false, count); break;
    case 2: taps_of(acc, source, step, w, 2, false, count); break;
    case 3: taps_of(acc, source, step, w, 3, false, count); break;
    case 4: taps_of(acc, source, step, w, 4, false, count); break;
    case 5: taps_of(acc, source, step, w, 5, false, count); break;
    case 6: taps_of(acc, source, step, w, 6, false, count); break;
    case 7: taps_of(acc, source, step, w, 7, false, count); break;
    case 8: taps_of(acc, source, step, w, 8, false, count); break;
    case 9: taps_of(acc, source, step, w, 1, true, count); break;
    case 10: taps_of(acc, source, step, w, 2, true, count); break;
    case 11: taps_of(acc, source, step, w, 3, true, count); break;
    case 12: taps_of(acc, source, step, w, 4, true, count); break;
    case 13: taps_of(acc, source, step, w, 5, true, count); break;
    case 14: taps_of(acc, source, step, w, 6, true, count); break;
    case 15: taps_of(acc, source, step, w, 7, true, count); break;
    default: taps_of(acc, source, step, w, 8, true, count); break;
    }
}

/* total[s] = the grouped sum over k of w[k] * source[s + k step]. `group` is as long as `total`. */
static void sum_taps(float *restrict total, float *restrict group, const float *source, int64_t step, const float *w, int taps,
                     int64_t count) {
    for (int at = 0; at < taps; at += BLUR_GROUP) {
        int end = at + BLUR_GROUP < taps ? at + BLUR_GROUP : taps;
        float *acc = at == 0 ? total : group;
        for (int k = at; k < end; k += 8) add_taps(acc, source + k * step, step, w + k, end - k < 8 ? end - k : 8, k == at, count);
        if (at == 0) continue;
        for (int64_t s = 0; s < count; s++) total[s] += group[s];
    }
}

/* As in blur_sums.h. */
static void sums_down(float *upper, float *lower, float *group, const float *x, int64_t step, const float *w, int taps,
                      int64_t count) {
    sum_taps(upper, group, x, step, w, taps, count);
    sum_taps(lower, group, x + step, step, w, taps, count);
}

static void sums_along(float *total, float *group, const float *x, int step, const float *w, int taps, int64_t count) {
    sum_taps(total, group, x, step, w, taps, count);
}
#endif

/* Buffers of one call; see struct blur_layout. */
struct blur_scratch {
    float *source, *vertical, *sum, *group;
};

/* Sums over rows of `count` samples from sample `at` on (counted from the first of column 0), for `rows` output rows. */
static void blur_vertical(const imgpipe_stage *stage, const void *const *in, int rows, int64_t at, int64_t count,
                          const struct blur_layout *layout, const struct blur_scratch *scratch) {
    const struct blur_plan *plan = stage->data;
    int channels = stage->in.format.channels, taps = 2 * plan->ry + 1;
    int64_t sample = (int64_t)imgpipe_sample_size(stage->in.format.type);
    load_function load = loads[stage->in.format.alpha][stage->in.format.type];
    /* Whole pixels at a time, for alpha. What lies between `step` and BLUR_LANES is overwritten by the next lanes. */
    int64_t step = BLUR_LANES - BLUR_LANES % channels;
    for (int64_t s = 0; s < count; s += step) {
        int64_t n = count - s < step ? count - s : step;
        for (int k = 0; k < taps - 1 + rows; k++) {
            float *to = scratch->source + (int64_t)k * BLUR_LANES;
            load((const char *)in[k] + (at + s) * sample, to, n, channels);
            if (n < BLUR_LANES) memset(to + n, 0, (size_t)(BLUR_LANES - n) * sizeof(float));
        }
        /* There is room for the row more of an odd count. */
        if (rows % 2) memset(scratch->source + (int64_t)(taps - 1 + rows) * BLUR_LANES, 0, BLUR_LANES * sizeof(float));
        for (int i = 0; i < rows; i += 2) {
            float *upper = scratch->vertical + i * layout->vertical_row + s;
            sums_down(upper, upper + layout->vertical_row, scratch->group, scratch->source + (int64_t)i * BLUR_LANES, BLUR_LANES,
                      plan->wy, taps, BLUR_LANES);
        }
    }
}

static void blur_rows(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct blur_plan *plan = stage->data;
    if (blur_is_small(plan, stage->in.format) && plan->fixed) {
        small_rows(stage, rows);
        return;
    }
#if defined(FLOATS)
    if (blur_is_small(plan, stage->in.format)) {
        words_rows(stage, rows);
        return;
    }
#endif
    if (plan->fixed) {
        fixed_rows(stage, rows);
        return;
    }
    int channels = stage->in.format.channels;
    struct blur_layout layout = blur_layout(plan, channels, rows->out_width);
    store_function store = stores[stage->in.format.alpha][stage->in.format.type];
    int64_t sample = (int64_t)imgpipe_sample_size(stage->in.format.type);
    int64_t halo = (int64_t)plan->rx * channels, width = rows->out_width * channels;
    struct blur_scratch scratch;
    scratch.source = (float *)(((uintptr_t)rows->scratch + 63) & ~(uintptr_t)63);
    scratch.vertical = scratch.source + layout.source;
    scratch.sum = scratch.vertical + BLUR_ROWS * layout.vertical_row;
    scratch.group = scratch.sum + layout.sum;
    for (int y = 0; y < rows->count; y += BLUR_ROWS) {
        int n = rows->count - y < BLUR_ROWS ? rows->count - y : BLUR_ROWS;
        for (int64_t at = 0; at < width; at += layout.block) {
            int64_t block = width - at < layout.block ? width - at : layout.block;
            blur_vertical(stage, rows->in + y, n, at - halo, block + 2 * halo, &layout, &scratch);
            for (int i = 0; i < n; i++) {
                kernel_ahead(rows, y + i, at * sample, block * sample);
                sums_along(scratch.sum, scratch.group, scratch.vertical + i * layout.vertical_row, channels, plan->wx,
                           2 * plan->rx + 1, (block + 63) & ~(int64_t)63);
                store(scratch.sum, (char *)rows->out[y + i] + at * sample, block, channels);
            }
        }
    }
}

const struct blur_kernels KERNEL_NAME(blur_kernels) = {.rows = blur_rows};
