/* Point programs on the CPU. A single step goes straight from `in` to `out`; several go through blocks of pixels that stay in
 * the L1 cache. */
#include "point.h"

#include <stdlib.h>
#include <string.h>

#include "pixel.h"
#include "point_vector.h"

/* Loops that treat alpha otherwise than colour run over this many samples at a time, with what differs in an array of as many
 * entries: a multiple of 1 to 4 channels and of the widest vector. */
#define PERIOD 192

/* Calls for every lane of alpha; all others are colour. */
#define EACH_ALPHA_LANE(lane, format)                                                                                              \
    for (int lane = (format).alpha ? (format).channels - 1 : PERIOD; lane < PERIOD; lane += (format).channels)

/* Floats that are only moved; no compiler may think that nobody reads them as floats. */
typedef uint32_t __attribute__((may_alias)) float_bits;

#define IN uint8_t
#define OUT uint8_t
#define MAP_BITS 1
#define MAP_LEVEL 1
#define MAP(name) name##_u8_u8
#include "point_map.h"
#define IN uint8_t
#define OUT uint16_t
#define MAP_BITS 1
#define MAP_LEVEL 0
#define MAP(name) name##_u8_u16
#include "point_map.h"
#define IN uint8_t
#define OUT float_bits
#define MAP_BITS 0
#define MAP_LEVEL 0
#define MAP(name) name##_u8_f32
#include "point_map.h"
#define IN uint16_t
#define OUT uint8_t
#define MAP_BITS 0
#define MAP_LEVEL 0
#define MAP(name) name##_u16_u8
#include "point_map.h"
#define IN uint16_t
#define OUT uint16_t
#define MAP_BITS 1
#define MAP_LEVEL 1
#define MAP(name) name##_u16_u16
#include "point_map.h"
#define IN uint16_t
#define OUT float_bits
#define MAP_BITS 0
#define MAP_LEVEL 0
#define MAP(name) name##_u16_f32
#include "point_map.h"

#define TYPE uint8_t
#define MAX 255
#define PIXELS(name) name##_u8
#include "point_pixels.h"
#define TYPE uint16_t
#define MAX 65535
#define PIXELS(name) name##_u16
#include "point_pixels.h"
#define TYPE float_bits
#define MAX 0
#define PIXELS(name) name##_f32
#include "point_pixels.h"

/* ------------------------------------------------------------------------------------------------ tables */

static void lookup_bytes(const struct point_step *step, const unsigned char *tables, const uint8_t *in, uint8_t *out,
                         int64_t width) {
    int channels = step->in.channels;
    uint8_t keep[PERIOD];
    for (int k = 0; k < PERIOD; k++) keep[k] = 0;
    EACH_ALPHA_LANE(k, step->in) keep[k] = 255;
    /* From 8 bits to 8 bits alpha is always copied: only a conversion changes it. */
    int64_t done = shuffle_lookup(tables + step->color_table, keep, in, out, width * channels) / channels;
    lookup_u8_u8(step, tables, in + done * channels, out + done * channels, width - done);
}

/* (v + 128) / 257 = (255 v + 32895) >> 16 for every v of 16 bits: a test tries them all. */
static void shrink(const uint16_t *restrict in, uint8_t *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = (uint8_t)((in[i] * 255u + 32895u) >> 16);
}

static void unit_u8(const uint8_t *restrict in, float *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = (float)in[i] / 255.0f;
}

static void unit_u16(const uint16_t *restrict in, float *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = (float)in[i] / 65535.0f;
}

static void lookup(const struct point_step *step, const unsigned char *tables, const void *in, void *out, int64_t width) {
    imgpipe_type to = step->out.type;
    if (step->in.type == IMGPIPE_U8) {
        if (to == IMGPIPE_U8)
            lookup_bytes(step, tables, in, out, width);
        else if (to == IMGPIPE_U16)
            lookup_u8_u16(step, tables, in, out, width);
        else
            lookup_u8_f32(step, tables, in, out, width);
    } else {
        if (to == IMGPIPE_U8)
            lookup_u16_u8(step, tables, in, out, width);
        else if (to == IMGPIPE_U16)
            lookup_u16_u16(step, tables, in, out, width);
        else
            lookup_u16_f32(step, tables, in, out, width);
    }
}

static void run_table(const struct point_step *step, const unsigned char *tables, const void *in, void *out, int64_t width) {
    int64_t n = width * step->in.channels;
    bool bytes = step->in.type == IMGPIPE_U8;
    switch (step->map) {
    case POINT_LOOKUP: lookup(step, tables, in, out, width); break;
    case POINT_BITS:
        if (!bytes)
            bits_u16_u16(step, in, out, width);
        else if (step->out.type == IMGPIPE_U8)
            bits_u8_u8(step, in, out, width);
        else
            bits_u8_u16(step, in, out, width);
        break;
    case POINT_LEVEL:
        if (bytes)
            level_u8_u8(step, in, out, width);
        else
            level_u16_u16(step, in, out, width);
        break;
    case POINT_SHRINK: shrink(in, out, n); break;
    case POINT_UNIT:
        if (bytes)
            unit_u8(in, out, n);
        else
            unit_u16(in, out, n);
        break;
    }
}

/* --------------------------------------------------------------------------------------------------- f32 */

/* All bits set in lanes of colour and none in lanes of alpha, so that a vector blend takes them as they are. */
static void color_lanes(imgpipe_format format, int32_t lanes[PERIOD]) {
    for (int k = 0; k < PERIOD; k++) lanes[k] = -1;
    EACH_ALPHA_LANE(k, format) lanes[k] = 0;
}

static inline void affine_part(const struct point_step *step, const int32_t *lanes, const float *restrict in, float *restrict out,
                               int n) {
    float scale = step->scale, pivot = step->pivot, offset = step->offset;
    for (int k = 0; k < n; k++) {
        float v = pixel_f32(fmaf(scale, in[k] - pivot, offset));
        out[k] = lanes[k] ? v : in[k];
    }
}

static void affine(const struct point_step *step, const float *in, float *out, int64_t width) {
    int64_t n = width * step->in.channels, i = 0;
    int32_t lanes[PERIOD];
    color_lanes(step->in, lanes);
    for (; i + PERIOD <= n; i += PERIOD) affine_part(step, lanes, in + i, out + i, PERIOD);
    affine_part(step, lanes, in + i, out + i, (int)(n - i));
}

static inline void threshold_part(const struct point_step *step, const int32_t *lanes, const float *restrict in,
                                  float *restrict out, int n) {
    float pivot = step->pivot, high = step->high, low = step->low;
    for (int k = 0; k < n; k++) {
        float v = in[k] >= pivot ? high : low;
        out[k] = lanes[k] ? v : in[k];
    }
}

static void threshold(const struct point_step *step, const float *in, float *out, int64_t width) {
    int64_t n = width * step->in.channels, i = 0;
    int32_t lanes[PERIOD];
    color_lanes(step->in, lanes);
    for (; i + PERIOD <= n; i += PERIOD) threshold_part(step, lanes, in + i, out + i, PERIOD);
    threshold_part(step, lanes, in + i, out + i, (int)(n - i));
}

/* v max has at most 40 bits and its sum with 0.5 no more than 53 where it matters, so one rounding down is all there is. */
static void narrow_u8(const float *restrict in, uint8_t *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double v = (double)in[i] * 255.0 + 0.5;
        v = v > 0.0 ? v : 0.0;
        out[i] = (uint8_t)(int32_t)(v < 255.0 ? v : 255.0);
    }
}

static void narrow_u16(const float *restrict in, uint16_t *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double v = (double)in[i] * 65535.0 + 0.5;
        v = v > 0.0 ? v : 0.0;
        out[i] = (uint16_t)(int32_t)(v < 65535.0 ? v : 65535.0);
    }
}

static inline void mix_floats(const struct point_step *step, const float *restrict in, float *restrict out, int64_t width,
                              int channels, int made) {
    float w0 = step->float_weights[0], w1 = step->float_weights[1], w2 = step->float_weights[2];
    for (int64_t x = 0; x < width; x++) {
        float r = in[channels * x], g = in[channels * x + 1], b = in[channels * x + 2];
        out[made * x] = pixel_f32(fmaf(w2, b, fmaf(w1, g, w0 * r)));
        if (made == 2) out[2 * x + 1] = in[channels * x + 3];
    }
}

static inline void flatten_floats(const struct point_step *step, const float *restrict in, float *restrict out, int64_t width,
                                  int colors) {
    float background[3] = {step->background[0], step->background[1], step->background[2]};
    for (int64_t x = 0; x < width; x++) {
        float alpha = in[(colors + 1) * x + colors];
        for (int c = 0; c < colors; c++)
            out[colors * x + c] = pixel_f32(fmaf(in[(colors + 1) * x + c], alpha, background[c] * (1.0f - alpha)));
    }
}

/* --------------------------------------------------------------------------------------------- the program */

static void run_mix(const struct point_step *step, const void *in, void *out, int64_t width) {
    if (step->in.type == IMGPIPE_U8) {
        int64_t done = step->in.channels == 3 ? mix_rgb8(step, in, out, width) : 0;
        mix_u8(step, (const uint8_t *)in + 3 * done, (uint8_t *)out + done, width - done);
    } else if (step->in.type == IMGPIPE_U16)
        mix_u16(step, in, out, width);
    else if (step->in.channels == 3)
        mix_floats(step, in, out, width, 3, 1);
    else if (step->out.channels == 1)
        mix_floats(step, in, out, width, 4, 1);
    else
        mix_floats(step, in, out, width, 4, 2);
}

static void run_flatten(const struct point_step *step, const void *in, void *out, int64_t width) {
    if (step->in.type == IMGPIPE_U8)
        flatten_u8(step, in, out, width);
    else if (step->in.type == IMGPIPE_U16)
        flatten_u16(step, in, out, width);
    else if (step->out.channels == 1)
        flatten_floats(step, in, out, width, 1);
    else if (step->out.channels == 2)
        flatten_floats(step, in, out, width, 2);
    else
        flatten_floats(step, in, out, width, 3);
}

static void run_step(const struct point_step *step, const unsigned char *tables, const void *in, void *out, int64_t width) {
    switch (step->code) {
    case POINT_TABLE: run_table(step, tables, in, out, width); break;
    case POINT_AFFINE: affine(step, in, out, width); break;
    case POINT_THRESHOLD: threshold(step, in, out, width); break;
    case POINT_MIX: run_mix(step, in, out, width); break;
    case POINT_NARROW:
        if (step->out.type == IMGPIPE_U8)
            narrow_u8(in, out, width * step->in.channels);
        else
            narrow_u16(in, out, width * step->in.channels);
        break;
    case POINT_FLATTEN: run_flatten(step, in, out, width); break;
    case POINT_EXPAND:
        if (step->in.type == IMGPIPE_U8)
            expand_u8(step, in, out, width);
        else if (step->in.type == IMGPIPE_U16)
            expand_u16(step, in, out, width);
        else
            expand_f32(step, in, out, width);
        break;
    }
}

/* Half of what an L1 cache of 32 KiB has room for beside `in` and `out`, so that a block goes to and fro inside it. */
#define HALF 8192

static void run(const struct point_program *program, const void *in, void *out, int64_t width, void *scratch) {
    const unsigned char *from = in;
    unsigned char *to = out, *half[2] = {scratch, (unsigned char *)scratch + HALF};
    int count = program->step_count;
    size_t in_size = imgpipe_pixel_size(program->in), out_size = imgpipe_pixel_size(program->out);
    if (count == 0 && from != to) memcpy(to, from, (size_t)width * in_size);
    if (count == 1 && from != to) run_step(&program->steps[0], program->tables, in, out, width);
    if (count == 0 || (count == 1 && from != to)) return;
    size_t largest = out_size;
    for (int s = 0; s < count; s++) {
        size_t size = imgpipe_pixel_size(program->steps[s].out);
        if (size > largest) largest = size;
    }
    int64_t block = (int64_t)(HALF / largest);
    for (int64_t x = 0; x < width; x += block) {
        int64_t n = width - x < block ? width - x : block;
        const void *now = from + (size_t)x * in_size;
        unsigned char *end = to + (size_t)x * out_size;
        for (int s = 0; s < count; s++) {
            /* Steps take `in` and `out` for different memory, so a row that is its own output gets a block at a time. */
            void *next = s == count - 1 && from != to ? end : half[s & 1];
            run_step(&program->steps[s], program->tables, now, next, n);
            now = next;
        }
        if (now != end) memcpy(end, now, (size_t)n * out_size);
    }
}

const struct point_kernels KERNEL_NAME(point_kernels) = {run};
