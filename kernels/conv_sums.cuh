/* Correlation with masks of a width that is known when this is compiled, for samples of type T added up in S (float: real weights
 * on u8 and u16, double: on f32, int: whole weights on u16), on planes as in conv_window.cuh. The order is that of conv.h.
 *
 * The samples of a row of the plane are made numbers once, for all results that they belong to; a row of weights is read for a row
 * of results at a time. The loop over rows is short on purpose: with all rows unrolled, or the rows at both ends of the window by
 * themselves, the instructions of 9 x 9 and more fit no cache, and that took up to a third more time. */
#ifndef CONV_SUMS_CUH
#define CONV_SUMS_CUH
#include "conv_ends.cuh"
#include "conv_window.cuh"

static __device__ __forceinline__ void conv_sample(uint32_t word, int i, const uint8_t *, float &x) {
    x = __fadd_rn(__uint_as_float(__byte_perm(word, 0x4b000000u, 0x7650u + (unsigned)i)), -8388608.0f);
}
static __device__ __forceinline__ void conv_sample(uint32_t word, int i, const uint16_t *, float &x) {
    x = __fadd_rn(__uint_as_float(__byte_perm(word, 0x4b000000u, i ? 0x7632u : 0x7610u)), -8388608.0f);
}
static __device__ __forceinline__ void conv_sample(uint32_t word, int i, const uint16_t *, int &x) {
    x = (int)__byte_perm(word, 0, i ? 0x4432u : 0x4410u);
}
static __device__ __forceinline__ void conv_sample(uint32_t word, int, const float *, double &x) {
    x = (double)__uint_as_float(word);
}

static __device__ __forceinline__ float conv_multiply_add(float weight, float x, float sum) {
    return __fmaf_rn(weight, x, sum);
}
/* The product of two floats is exact in double, so that there is one rounding with or without fma. */
static __device__ __forceinline__ double conv_multiply_add(double weight, double x, double sum) {
    return __fma_rn(weight, x, sum);
}
static __device__ __forceinline__ int conv_multiply_add(int weight, int x, int sum) {
    return sum + weight * x;
}
static __device__ __forceinline__ float conv_plus(float a, float b) {
    return __fadd_rn(a, b);
}
static __device__ __forceinline__ double conv_plus(double a, double b) {
    return __dadd_rn(a, b);
}

/* Weights of a row take whole 16 bytes. */
template <typename S> static __host__ __device__ constexpr int conv_step(int width) {
    return (width * (int)sizeof(S) + 15) / 16 * (16 / (int)sizeof(S));
}

/* E: what becomes of a sum. */
template <typename E, typename S, int WIDTH> struct conv_mask {
    E end;
    int height;
    alignas(16) S weights[CONV_MAX * conv_step<S>(WIDTH)];
};

/* Words that begin `lead` samples before those of a thread. */
template <int WORDS, int UNIT>
static __device__ __forceinline__ void conv_words_of(const unsigned char *from, uint32_t (&words)[WORDS]) {
#pragma unroll
    for (int i = 0; i < WORDS; i += UNIT) {
        if (UNIT == 4)
            *(uint4 *)(words + i) = ((const uint4 *)from)[i / 4];
        else
            *(uint2 *)(words + i) = ((const uint2 *)from)[i / 2];
    }
}

/* Adds row j of the mask to a row of results. */
template <int WIDTH, int WIDE, typename S>
static __device__ __forceinline__ void conv_add_row_of(const S *weights, const S *x, S (&sums)[WIDE]) {
    S line[WIDE] = {};
#pragma unroll
    for (int tap = 0; tap < WIDTH; tap++)
#pragma unroll
        for (int c = 0; c < WIDE; c++) line[c] = conv_multiply_add(weights[tap], x[c + tap], line[c]);
#pragma unroll
    for (int c = 0; c < WIDE; c++) sums[c] = conv_plus(sums[c], line[c]);
}
template <int WIDTH, int WIDE>
static __device__ __forceinline__ void conv_add_row_of(const int *weights, const int *x, int (&sums)[WIDE]) {
#pragma unroll
    for (int tap = 0; tap < WIDTH; tap++)
#pragma unroll
        for (int c = 0; c < WIDE; c++) sums[c] = conv_multiply_add(weights[tap], x[c + tap], sums[c]);
}

/* `from`: the first of a thread's own samples in the plane, in the row of the first window. HEIGHT: that of the mask, for
 * everything to be unrolled, or 0. */
template <typename T, int WIDTH, int HEIGHT, int WIDE, int EACH, typename M, typename S>
static __device__ __forceinline__ void conv_sum_of(const M &mask, const unsigned char *from, int pitch, S (&sums)[EACH][WIDE]) {
    const int lead = (WIDTH / 2 + WIDE - 1) / WIDE, unit = WIDE * (int)sizeof(T) / 4, per_word = 4 / (int)sizeof(T);
    const int height = HEIGHT ? HEIGHT : mask.height;
    from -= lead * 4 * unit;
#pragma unroll(HEIGHT ? EACH + HEIGHT - 1 : 1)
    for (int k = 0; k < EACH + height - 1; k++, from += pitch) {
        uint32_t words[(2 * lead + 1) * unit];
        S x[WIDE + WIDTH - 1];
        conv_words_of<(2 * lead + 1) * unit, unit>(from, words);
#pragma unroll
        for (int i = 0; i < WIDE + WIDTH - 1; i++) {
            const int at = lead * WIDE - WIDTH / 2 + i;
            conv_sample(words[at / per_word], at % per_word, (const T *)NULL, x[i]);
        }
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (k - i >= 0 && k - i < height)
                conv_add_row_of<WIDTH, WIDE>(mask.weights + (k - i) * conv_step<S>(WIDTH), x, sums[i]);
    }
}

/* The rows of one channel that follow `first`; alpha is kept. */
template <typename T, typename S, int WIDTH, int HEIGHT, int WIDE, int EACH, typename M>
static __device__ __forceinline__ void conv_sums_plane(const imgpipe_tile &tile, const window_image &image, const M &mask,
                                                       const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0,
                                                       int first, int rows, bool keep) {
    typedef conv_layout<T, WIDE, 1> L;
    const int lane = threadIdx.x % CONV_LANES;
    const unsigned char *from = plane + first * L::pitch + 16 + lane * WIDE * (int)sizeof(T);
    S sums[EACH][WIDE] = {};
    if (!keep) conv_sum_of<T, WIDTH, HEIGHT, WIDE, EACH>(mask, from, L::pitch, sums);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if (first + i >= rows) break;
        uint32_t v[WIDE * (int)sizeof(T) / 4];
        if (keep)
            conv_keep(from + (i + mask.height / 2) * L::pitch, v);
        else
            conv_finish(mask.end, sums[i], (const T *)NULL, v);
        conv_put<T, WIDE>(tile, image, out, x0, y0, lane, first + i, v);
    }
}

template <typename T, typename E, typename S, int WIDTH, int HEIGHT, int WIDE, int EACH, int BLOCKS>
static __global__ void __launch_bounds__(CONV_LANES *CONV_WARPS, BLOCKS)
    conv_sums(const __grid_constant__ tile_jobs jobs, const __grid_constant__ window_image image, bool alpha, int rows,
              const __grid_constant__ conv_mask<E, S, WIDTH> mask) {
    extern __shared__ uint4 conv_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    conv_block<T, WIDE, 1, EACH>(
        tile, image, (unsigned char *)conv_shared, mask.height, rows,
        [&](const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0, int first, int made, int channel) {
            conv_sums_plane<T, S, WIDTH, HEIGHT, WIDE, EACH>(tile, image, mask, plane, out, x0, y0, first, made,
                                                             alpha && channel == image.channels - 1);
        });
}

/* A mask that is less than WIDTH wide gets zeros on both sides, which change no sum of numbers that are finite. */
template <typename T, typename E, typename S, int WIDTH, int HEIGHT, int WIDE, int EACH, int BLOCKS>
static int conv_sums_launch(const imgpipe_stage *stage, const window_image &image, const E &end, const imgpipe_tile *tiles,
                            int count, cudaStream_t stream) {
    const conv_params &params = ((const conv_plan *)stage->data)->params;
    conv_mask<E, S, WIDTH> mask = {};
    mask.end = end;
    mask.height = params.height;
    const int before = (WIDTH - params.width) / 2;
    for (int i = 0; i < params.height * params.width; i++)
        mask.weights[i / params.width * conv_step<S>(WIDTH) + i % params.width + before] =
            params.arithmetic == CONV_REAL ? (S)params.weights.real[i] : (S)params.weights.whole[i];
    return conv_window_launch<T, WIDE, 1, EACH>(conv_sums<T, E, S, WIDTH, HEIGHT, WIDE, EACH, BLOCKS>, 0, stage, image, mask, tiles,
                                                count, stream);
}
#endif
