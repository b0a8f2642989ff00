/* Correlation of u8 with real weights, for any size and number of channels: float32 in the order of conv.h on planes as in
 * conv_window.cuh.
 *
 * Operations of a sample: height * width + height in float32, and some ten for the quotient and the rounding. Floor: those at 128
 * a clock and multiprocessor.
 * Measured on an H200, in Gpix/s of one channel: 9 x 9 185 (178 with a general division), 15 x 15 91, 31 x 31 15. */
#ifndef CONV_REALS_CUH
#define CONV_REALS_CUH
#include "conv_window.cuh"

/* Samples of a thread: what registers have room for. */
#define CONV_REAL_WIDE 8

static __device__ __forceinline__ float conv_float(uint32_t bytes, int i) {
    return __fadd_rn(__uint_as_float(__byte_perm(bytes, 0x4b000000u, 0x7650u + (unsigned)i)), -8388608.0f);
}

/* A row of the mask takes whole vectors in shared memory. */
static __host__ __device__ __forceinline__ int conv_real_step(int width) {
    return (width + 3) / 4 * 4;
}

/* Adds TAPS products of each result. */
template <int TAPS>
static __device__ __forceinline__ void conv_add_reals(const float (&weights)[4], const float *x, float (&line)[CONV_REAL_WIDE],
                                                      int left = TAPS) {
#pragma unroll
    for (int t = 0; t < TAPS && t < left; t++)
#pragma unroll
        for (int i = 0; i < CONV_REAL_WIDE; i++) line[i] = __fmaf_rn(weights[t], x[i + t], line[i]);
}

/* `from` is the word where the first window begins, at byte `place`. */
static __device__ __forceinline__ void conv_sum_reals(const conv_params &params, const float *all_weights,
                                                      const unsigned char *from, int place, int pitch,
                                                      float (&sums)[CONV_ROWS_EACH][CONV_REAL_WIDE]) {
    const int width = params.width, height = params.height, shift = 8 * place, step = conv_real_step(width);
#pragma unroll 1
    for (int k = 0; k < CONV_ROWS_EACH + height - 1; k++, from += pitch) {
        const uint32_t *row = (const uint32_t *)from;
        float line[CONV_ROWS_EACH][CONV_REAL_WIDE] = {}, x[CONV_REAL_WIDE + 4];
        uint32_t before = row[0];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t next = row[i + 1], bytes = __funnelshift_r(before, next, shift);
#pragma unroll
            for (int b = 0; b < 4; b++) x[4 * i + b + 4] = conv_float(bytes, b);
            before = next;
        }
        row += 3;
#pragma unroll 1
        for (int tap = 0; tap < width; tap += 4) {
            uint32_t next = *row++, bytes = __funnelshift_r(before, next, shift);
            before = next;
#pragma unroll
            for (int i = 0; i < CONV_REAL_WIDE; i++) x[i] = x[i + 4];
#pragma unroll
            for (int b = 0; b < 4; b++) x[CONV_REAL_WIDE + b] = conv_float(bytes, b);
#pragma unroll
            for (int i = 0; i < CONV_ROWS_EACH; i++) {
                if (k - i < 0 || k - i >= height) continue;
                const float4 four = *(const float4 *)(all_weights + (k - i) * step + tap);
                const float weights[4] = {four.x, four.y, four.z, four.w};
                if (tap + 4 <= width)
                    conv_add_reals<4>(weights, x, line[i]);
                else if (tap + 3 == width)
                    conv_add_reals<3>(weights, x, line[i]);
                else
                    conv_add_reals<1>(weights, x, line[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < CONV_ROWS_EACH; i++)
#pragma unroll
            for (int c = 0; c < CONV_REAL_WIDE; c++)
                if (k - i >= 0 && k - i < height) sums[i][c] = __fadd_rn(sums[i][c], line[i][c]);
    }
}

/* The same for masks WIDTH wide: the samples of a row become floats once, and one result's line at a time is in registers. */
template <int WIDTH>
static __device__ __forceinline__ void conv_sum_reals_of(int height, const float *all_weights, const unsigned char *from, int pitch,
                                                         float (&sums)[CONV_ROWS_EACH][CONV_REAL_WIDE]) {
    const int place = -(WIDTH / 2) & 3, step = conv_real_step(WIDTH), count = CONV_REAL_WIDE + WIDTH - 1;
#pragma unroll 1
    for (int k = 0; k < CONV_ROWS_EACH + height - 1; k++, from += pitch, all_weights += step) {
        float x[count];
#pragma unroll
        for (int i = 0; i < count; i++) x[i] = conv_float(((const uint32_t *)from)[(place + i) / 4], (place + i) % 4);
#pragma unroll
        for (int i = 0; i < CONV_ROWS_EACH; i++) {
            if (k - i < 0 || k - i >= height) continue;
            float line[CONV_REAL_WIDE] = {};
#pragma unroll
            for (int tap = 0; tap < WIDTH; tap += 4) {
                const float4 four = *(const float4 *)(all_weights - i * step + tap);
                const float weights[4] = {four.x, four.y, four.z, four.w};
                conv_add_reals<4>(weights, x + tap, line, WIDTH - tap);
            }
#pragma unroll
            for (int c = 0; c < CONV_REAL_WIDE; c++) sums[i][c] = __fadd_rn(sums[i][c], line[c]);
        }
    }
}

/* What is known of a division of sums when the kernel is launched: div as float32, its rounded inverse, and whether nothing can
 * overflow or vanish. */
struct conv_reals : conv_params {
    float by, inverse;
    bool plain;
};

/* From the rounded inverse y of b: q = a y is off by less than two units in the last place, one correction makes it less than one,
 * and another correctly rounded (Markstein 1990). The general division takes four times as many instructions. */
static __device__ __forceinline__ float conv_quotient(const conv_reals &params, float a) {
    if (!params.plain) return __fdiv_rn(a, params.by);
    float q = __fmul_rn(a, params.inverse);
    q = __fmaf_rn(__fmaf_rn(-q, params.by, a), params.inverse, q);
    return __fmaf_rn(__fmaf_rn(-q, params.by, a), params.inverse, q);
}

static conv_reals conv_make_reals(const conv_params &params) {
    conv_reals reals = {};
    (conv_params &)reals = params;
    double most = 0.0, by = params.real_div < 0 ? -params.real_div : params.real_div;
    for (int i = 0; i < params.width * params.height; i++) {
        double weight = (double)params.weights.real[i];
        most += weight < 0 ? -weight : weight;
    }
    reals.by = (float)params.real_div;
    reals.inverse = 1.0f / reals.by;
    reals.plain = most < 1e12 && by > 1e-12 && by < 1e12;
    return reals;
}

static __device__ __forceinline__ uint32_t conv_real_end(const conv_reals &params, float sum) {
    float v = conv_quotient(params, sum);
    if (params.absolute) v = fabsf(v);
    return pixel_u8(__fadd_rn(v, (float)params.real_bias));
}

template <int WIDTH, int HALO>
static __device__ __forceinline__ void
conv_reals_plane(const imgpipe_tile &tile, const window_image &image, const conv_reals &params, const float *weights,
                 const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0, int first, int rows, bool keep) {
    typedef conv_layout<CONV_REAL_WIDE, HALO> L;
    const int lane = threadIdx.x % CONV_LANES, place = -(params.width / 2) & 3;
    const unsigned char *from = plane + first * L::pitch + 16 * HALO + lane * CONV_REAL_WIDE;
    float sums[CONV_ROWS_EACH][CONV_REAL_WIDE] = {};
    if (keep)
        ;
    else if constexpr (WIDTH > 0)
        conv_sum_reals_of<WIDTH>(params.height, weights, from - params.width / 2 - place, L::pitch, sums);
    else
        conv_sum_reals(params, weights, from - params.width / 2 - place, place, L::pitch, sums);
#pragma unroll
    for (int i = 0; i < CONV_ROWS_EACH; i++) {
        if (first + i >= rows) break;
        uint32_t v[CONV_REAL_WIDE];
#pragma unroll
        for (int x = 0; x < CONV_REAL_WIDE; x++) v[x] = conv_real_end(params, sums[i][x]);
        uint32_t words[2] = {v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24, v[4] | v[5] << 8 | v[6] << 16 | v[7] << 24};
        if (keep) conv_keep<CONV_REAL_WIDE>(from + (i + params.height / 2) * L::pitch, words);
        conv_put<CONV_REAL_WIDE>(tile, image, out, x0, y0, lane, first + i, words);
    }
}

/* WIDTH: of the mask, 0 for any. */
template <int WIDTH, int HALO>
static __global__ void __launch_bounds__(CONV_LANES *CONV_WARPS, 5)
    conv_reals_window(const __grid_constant__ tile_jobs jobs, const __grid_constant__ window_image image, bool alpha, int rows,
                      const __grid_constant__ conv_reals params) {
    extern __shared__ uint4 conv_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int step = conv_real_step(params.width), count = params.height * step;
    float *weights = (float *)conv_shared;
    for (int i = (int)threadIdx.x; i < count; i += CONV_LANES * CONV_WARPS)
        weights[i] = i % step < params.width ? params.weights.real[i / step * params.width + i % step] : 0.0f;
    conv_block<CONV_REAL_WIDE, HALO>(
        tile, image, (unsigned char *)(weights + count), params.height, rows,
        [&](const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0, int first, int made, int channel) {
            conv_reals_plane<WIDTH, HALO>(tile, image, params, weights, plane, out, x0, y0, first, made,
                                          alpha && channel == image.channels - 1);
        });
}

static int conv_reals_any(const imgpipe_stage *stage, const window_image &image, const conv_reals &params,
                          const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef void (*kernel)(tile_jobs, window_image, bool, int, conv_reals);
    static const kernel small[] = {conv_reals_window<3, 1>, conv_reals_window<5, 1>,  conv_reals_window<7, 1>,
                                   conv_reals_window<9, 1>, conv_reals_window<11, 1>, conv_reals_window<13, 1>,
                                   conv_reals_window<15, 1>};
    const int words = params.height * conv_real_step(params.width), width = params.width;
    if (width > 33)
        return conv_window_launch<CONV_REAL_WIDE, 2>(conv_reals_window<0, 2>, words, stage, image, params, tiles, count, stream);
    return conv_window_launch<CONV_REAL_WIDE, 1>(width >= 3 && width <= 15 ? small[width / 2 - 1] : conv_reals_window<0, 1>, words,
                                                 stage, image, params, tiles, count, stream);
}
#endif
