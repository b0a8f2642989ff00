/* Box mean on the CPU; box.h has the definition.
 *
 * Per output row: the sums of the columns (integers: sliding down, kept in the strip's state), then the sums over the
 * window's width, then the division. A row is made in chunks from left to right, so that what one step writes is still
 * in L1 for the next; the columns are always some way ahead, by the width of the window. */
#include "box.h"
#include "pixel.h"
#include <string.h>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

/* What a step along the row works on: `columns` and `totals` point at the chunk's first sample. */
struct box_window {
    int width, channels;
    bool first; /* the chunk at the start of the row */
    const void *columns;
    void *totals;
    void *work[2];
};

/* An integer below 2^52 as a double by the bits of the mantissa: AVX2 has no conversion from 64 bits. */
static inline double double_of(uint64_t v) {
    union {
        uint64_t bits;
        double value;
    } x = {v | 0x4330000000000000u};
    return x.value - 4503599627370496.0;
}

#define SAMPLE uint8_t
#define PRODUCT uint32_t
#define NAME(x) x##_u8
#include "box_body.h"
#undef SAMPLE
#undef PRODUCT
#undef NAME
#define SAMPLE uint16_t
#define PRODUCT uint64_t
#define NAME(x) x##_u16
#include "box_body.h"
#undef SAMPLE
#undef PRODUCT
#undef NAME

/* As finish32_u16, for windows whose sums need 64 bits. */
static void finish64_u16(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels) {
    const uint64_t *restrict sums = totals;
    uint16_t *restrict p = out;
    uint64_t half = plan->n / 2;
    double scale = 1.0 / plan->n;
    (void)channels;
    for (int64_t i = 0; i < count; i++) p[i] = (uint16_t)(int32_t)((double_of(sums[i] + half) + 0.5) * scale);
}

/* Alpha of u8 in float32, for n <= 256: P + A / 2 < 2^24 and A < 2^16 are exact. The quotient, below 256, is rounded by at
 * most 2^-17, but lies, where it is no whole number, at least 1 / A below the next one: cut off, it is exact. */
static inline void finish_pixels_float(const struct box_plan *plan, const uint32_t *restrict sums, uint8_t *restrict p,
                                       int64_t count, int channels) {
    uint32_t half = plan->n / 2;
    float scale = (float)(1.0 / plan->n);
    for (int64_t i = 0; i < count; i += channels) {
        uint32_t a = sums[i + channels - 1];
        uint8_t alpha = (uint8_t)(int32_t)(((float)(int32_t)(a + half) + 0.5f) * scale);
        float divisor = a == 0 ? 1.0f : (float)(int32_t)a;
        for (int c = 0; c < channels - 1; c++) {
            int32_t colour = (int32_t)((float)(int32_t)(sums[i + c] + a / 2) / divisor);
            p[i + c] = alpha == 0 ? 0 : (uint8_t)colour;
        }
        p[i + channels - 1] = alpha;
    }
}

static void finish_alpha_float_u8(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels) {
    if (channels == 4)
        finish_pixels_float(plan, totals, out, count, 4);
    else if (channels == 3)
        finish_pixels_float(plan, totals, out, count, 3);
    else
        finish_pixels_float(plan, totals, out, count, 2);
}

#define COLUMN uint32_t
#define TOTAL uint32_t
#define NAME(x) x##_32_32
#include "box_window.h"
#undef TOTAL
#undef NAME
#define TOTAL uint64_t
#define NAME(x) x##_32_64
#include "box_window.h"
#undef COLUMN
#undef NAME
#define COLUMN uint64_t
#define NAME(x) x##_64_64
#include "box_window.h"
#undef COLUMN
#undef TOTAL
#undef NAME

#define COLUMN uint32_t
#define NAME(x) x##_32
#include "box_doubling.h"
#undef COLUMN
#undef NAME
#define COLUMN uint16_t
#define NAME(x) x##_16
#include "box_doubling.h"
#undef COLUMN
#undef NAME
#include "box_narrow.h"
#if defined(__AVX512BW__)
#include "box_registers.h"
#endif

/* ---- f32 */

/* sum[i] = the sum of in[0][at + i] … in[rows-1][at + i], each times its pixel's alpha if there is alpha. */
static void columns_f32(const void *const *in, int rows, float *restrict sum, int64_t at, int64_t count) {
    const float *p = (const float *)in[0] + at;
    for (int64_t i = 0; i < count; i++) sum[i] = p[i];
    int k = 1;
    for (; k + 4 <= rows; k += 4) {
        const float *a = (const float *)in[k] + at, *b = (const float *)in[k + 1] + at;
        const float *c = (const float *)in[k + 2] + at, *d = (const float *)in[k + 3] + at;
        for (int64_t i = 0; i < count; i++) sum[i] = (((sum[i] + a[i]) + b[i]) + c[i]) + d[i];
    }
    for (; k < rows; k++) {
        const float *a = (const float *)in[k] + at;
        for (int64_t i = 0; i < count; i++) sum[i] += a[i];
    }
}

static void columns_alpha_f32(const void *const *in, int rows, float *restrict sum, int64_t at, int64_t count, int channels) {
    for (int k = 0; k < rows; k++) {
        const float *p = (const float *)in[k] + at;
        for (int64_t i = 0; i < count; i += channels) {
            float a = p[i + channels - 1];
            for (int c = 0; c < channels; c++) {
                float v = c == channels - 1 ? a : p[i + c] * a;
                sum[i + c] = k == 0 ? v : sum[i + c] + v;
            }
        }
    }
}

static void window_f32(const struct box_window *window, int64_t count) {
    float *restrict totals = window->totals;
    const float *p = window->columns;
    int64_t step = window->channels;
    for (int64_t i = 0; i < count; i++) totals[i] = p[i];
    int k = 1;
    for (; k + 4 <= window->width; k += 4) {
        const float *a = p + k * step, *b = a + step, *c = b + step, *d = c + step;
        for (int64_t i = 0; i < count; i++) totals[i] = (((totals[i] + a[i]) + b[i]) + c[i]) + d[i];
    }
    for (; k < window->width; k++) {
        const float *a = p + k * step;
        for (int64_t i = 0; i < count; i++) totals[i] += a[i];
    }
}

static void finish_f32(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels) {
    const float *restrict sum = totals;
    float *restrict p = out, n = (float)plan->n;
    (void)channels;
    for (int64_t i = 0; i < count; i++) p[i] = pixel_f32(sum[i] / n);
}

static void finish_alpha_f32(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels) {
    const float *restrict sum = totals;
    float *restrict p = out, n = (float)plan->n;
    for (int64_t i = 0; i < count; i += channels) {
        float a = sum[i + channels - 1];
        for (int c = 0; c < channels - 1; c++) p[i + c] = a == 0.0f ? 0.0f : pixel_f32(sum[i + c] / a);
        p[i + channels - 1] = pixel_f32(a / n);
    }
}

/* ---- the walk along the rows */

/* The functions for one format and size. f32 has no state: `begin` and `slide` are NULL. */
struct box_steps {
    int64_t column_size, total_size;
    void (*begin)(void *state, const void *row, int64_t count, int channels);
    void (*slide)(void *state, const void *enter, const void *leave, void *columns, int64_t at, int64_t count, int channels);
    void (*window)(const struct box_window *window, int64_t count);
    void (*finish)(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels);
};

/* u8: n < 2^14 makes 2^-23 * 256 less than 1 / (2n), and S + h < 2^23. u16: the same for 2^16 and n < 2^6. Sums of u16
 * need 64 bits when n passes 2^16. */
static struct box_steps box_steps(const struct box_plan *plan, imgpipe_format format) {
    void (*narrow)(const struct box_window *, int64_t) = plan->width <= BOX_DOUBLING_MAX ? window_doubling_32 : window_32_32;
    if (format.type == IMGPIPE_U8 && format.alpha && plan->n <= 256)
        return (struct box_steps){4, 4, begin_alpha_u8, slide_alpha_u8, narrow, finish_alpha_float_u8};
    if (format.type == IMGPIPE_U8 && format.alpha)
        return (struct box_steps){4, 8, begin_alpha_u8, slide_alpha_u8, window_32_64, finish_alpha_u8};
    if (format.type == IMGPIPE_U8 && plan->n <= BOX_NARROW_MAX && plan->width <= BOX_DOUBLING_MAX)
        return (struct box_steps){2, 2, begin_narrow, slide_narrow, window_doubling_16, finish_narrow};
    if (format.type == IMGPIPE_U8)
        return (struct box_steps){4, 4, begin_u8, slide_u8, narrow, plan->n < 1 << 14 ? finish_float_u8 : finish32_u8};
    if (format.type == IMGPIPE_U16 && format.alpha)
        return (struct box_steps){8, 8, begin_alpha_u16, slide_alpha_u16, window_64_64, finish_alpha_u16};
    if (format.type == IMGPIPE_U16 && plan->n > 1 << 16)
        return (struct box_steps){4, 8, begin_u16, slide_u16, window_32_64, finish64_u16};
    if (format.type == IMGPIPE_U16)
        return (struct box_steps){4, 4, begin_u16, slide_u16, narrow, plan->n < 1 << 6 ? finish_float_u16 : finish32_u16};
    return (struct box_steps){4, 4, NULL, NULL, window_f32, format.alpha ? finish_alpha_f32 : finish_f32};
}

static void box_rows(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct box_plan *plan = stage->data;
    int channels = stage->in.format.channels, last = plan->height - 1;
#if defined(__AVX512BW__)
    if (stage->in.format.type == IMGPIPE_U8 && !stage->in.format.alpha && plan->width <= BOX_REGISTERS_MAX &&
        plan->n <= BOX_NARROW_MAX) {
        box_registers(plan, rows, channels);
        return;
    }
#endif
    struct box_layout layout = box_layout(plan, channels, rows->out_width);
    struct box_steps steps = box_steps(plan, stage->in.format);
    int64_t sample = (int64_t)imgpipe_sample_size(stage->in.format.type);
    int64_t halo = (int64_t)plan->rx * channels, width = rows->out_width * channels;
    char *columns = (char *)(((uintptr_t)rows->scratch + 63) & ~(uintptr_t)63) + channels * steps.column_size;
    char *totals = columns - channels * steps.column_size + layout.columns + channels * steps.total_size;
    char *work = totals - channels * steps.total_size + layout.totals;
    struct box_window window = {.width = plan->width, .channels = channels, .totals = totals};
    window.work[0] = work;
    window.work[1] = work + layout.work;
    memset(columns - channels * steps.column_size, 0, (size_t)(channels * steps.column_size));
    if (rows->first && steps.begin)
        for (int k = 0; k < last; k++)
            steps.begin(rows->state, (const char *)rows->in[k] - halo * sample, width + 2 * halo, channels);
    for (int y = 0; y < rows->count; y++) {
        int64_t done = 0;
        for (int64_t at = 0; at < width; at += layout.chunk) {
            int64_t n = width - at < layout.chunk ? width - at : layout.chunk, end = at + n + 2 * halo;
            const void *const *in = rows->in + y;
            if (steps.slide)
                steps.slide(rows->state, (const char *)in[last] - halo * sample, (const char *)in[0] - halo * sample, columns, done,
                            end - done, channels);
            else if (stage->in.format.alpha)
                columns_alpha_f32(in, plan->height, (float *)columns + done, done - halo, end - done, channels);
            else
                columns_f32(in, plan->height, (float *)columns + done, done - halo, end - done);
            done = end;
            kernel_ahead(rows, y, at * sample, n * sample);
            window.first = at == 0;
            window.columns = columns + at * steps.column_size;
            steps.window(&window, n);
            steps.finish(plan, totals, (char *)rows->out[y] + at * sample, n, channels);
        }
    }
}

const struct box_kernels KERNEL_NAME(box_kernels) = {.rows = box_rows};
