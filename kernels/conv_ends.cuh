/* What becomes of the sums of a correlation on CUDA: quotient, magnitude, bias, rounding, and samples packed to words. */
#ifndef CONV_ENDS_CUH
#define CONV_ENDS_CUH
#include "conv.h"
#include <math.h>

/* What is known of a division of sums when the kernel is launched: div, its rounded inverse, whether that is exact, and whether
 * nothing can overflow or vanish. */
template <typename S> struct conv_real_end {
    S by, inverse, bias;
    bool absolute, exact, plain;
};

static inline conv_real_end<float> conv_end_of_floats(const conv_params &params) {
    conv_real_end<float> end = {(float)params.real_div, 1.0f / (float)params.real_div, (float)params.real_bias, params.absolute};
    double most = 0.0, by = fabs(params.real_div);
    int exponent;
    for (int i = 0; i < params.width * params.height; i++) most += fabs((double)params.weights.real[i]);
    end.plain = most < 1e12 && by > 1e-12 && by < 1e12;
    end.exact = end.plain && fabs(frexp((double)end.by, &exponent)) == 0.5;
    return end;
}
/* Sums of products of floats and their quotients stay far from the ends of what a double holds. */
static inline conv_real_end<double> conv_end_of_doubles(const conv_params &params) {
    int exponent;
    conv_real_end<double> end = {params.real_div, 1.0 / params.real_div, params.real_bias, params.absolute};
    end.plain = true;
    end.exact = fabs(frexp(end.by, &exponent)) == 0.5;
    return end;
}

static __device__ __forceinline__ float conv_fma(float a, float b, float c) {
    return __fmaf_rn(a, b, c);
}
static __device__ __forceinline__ double conv_fma(double a, double b, double c) {
    return __fma_rn(a, b, c);
}
static __device__ __forceinline__ float conv_divided(float a, float b) {
    return __fdiv_rn(a, b);
}
static __device__ __forceinline__ double conv_divided(double a, double b) {
    return a / b;
}

/* From the rounded inverse y of b: q = a y is off by less than two units in the last place, one correction makes it less than one,
 * and another correctly rounded (Markstein 1990); an infinite q stays. The general division takes four times as many
 * instructions. */
template <typename S> static __device__ __forceinline__ S conv_corrected(const conv_real_end<S> &end, S a) {
    const S first = a * end.inverse;
    S q = conv_fma(conv_fma(-first, end.by, a), end.inverse, first);
    q = conv_fma(conv_fma(-q, end.by, a), end.inverse, q);
    return sizeof(S) == 4 || isfinite(first) ? q : first;
}

/* The values of a thread's sums in a row. */
template <typename S, int WIDE>
static __device__ __forceinline__ void conv_values(const conv_real_end<S> &end, const S (&sums)[WIDE], S (&v)[WIDE]) {
    if (end.exact) {
#pragma unroll
        for (int i = 0; i < WIDE; i++) v[i] = sums[i] * end.inverse;
    } else if (end.plain) {
#pragma unroll
        for (int i = 0; i < WIDE; i++) v[i] = conv_corrected(end, sums[i]);
    } else {
#pragma unroll
        for (int i = 0; i < WIDE; i++) v[i] = conv_divided(sums[i], end.by);
    }
#pragma unroll
    for (int i = 0; i < WIDE; i++) v[i] = (end.absolute ? fabs(v[i]) : v[i]) + end.bias;
}

/* pixel_u8() in the low byte: what is clamped before and not after rounding is the same, and the lowest bits of 2^23 + v, rounded
 * down, are floor(v). NaN becomes 0. */
static __device__ __forceinline__ uint32_t conv_round_u8(float v) {
    return __float_as_uint(__fadd_rd(fminf(fmaxf(__fadd_rn(v, 0.5f), 0.0f), 255.0f), 8388608.0f));
}
/* pixel_u16() in the lower half. v + 0.5 rounded down to a float is not below an integer that v + 0.5 has reached. */
static __device__ __forceinline__ uint32_t conv_round_u16(float v) {
    return __float_as_uint(__fadd_rd(__fadd_rd(fminf(fmaxf(v, 0.0f), 65535.0f), 0.5f), 8388608.0f));
}

template <int WIDE>
static __device__ __forceinline__ void conv_finish(const conv_real_end<float> &end, const float (&sums)[WIDE], const uint8_t *,
                                                   uint32_t (&words)[WIDE / 4]) {
    float v[WIDE];
    conv_values(end, sums, v);
#pragma unroll
    for (int i = 0; i < WIDE / 4; i++)
        words[i] = __byte_perm(__byte_perm(conv_round_u8(v[4 * i]), conv_round_u8(v[4 * i + 1]), 0x0040),
                               __byte_perm(conv_round_u8(v[4 * i + 2]), conv_round_u8(v[4 * i + 3]), 0x0040), 0x5410);
}

template <int WIDE>
static __device__ __forceinline__ void conv_finish(const conv_real_end<float> &end, const float (&sums)[WIDE], const uint16_t *,
                                                   uint32_t (&words)[WIDE / 2]) {
    float v[WIDE];
    conv_values(end, sums, v);
#pragma unroll
    for (int i = 0; i < WIDE / 2; i++) words[i] = __byte_perm(conv_round_u16(v[2 * i]), conv_round_u16(v[2 * i + 1]), 0x5410);
}

template <int WIDE>
static __device__ __forceinline__ void conv_finish(const conv_real_end<double> &end, const double (&sums)[WIDE], const float *,
                                                   uint32_t (&words)[WIDE]) {
    double v[WIDE];
    conv_values(end, sums, v);
#pragma unroll
    for (int i = 0; i < WIDE; i++) words[i] = __float_as_uint(pixel_f32((float)v[i]));
}

/* Whole numbers: (sum + offset) >> shift, or / div by a multiplication. */
struct conv_whole_end {
    bool absolute;
    int shift;       /* div is 1 << shift; -1: a multiplication */
    uint32_t factor; /* quotient = (sum * factor) >> (32 + after) */
    int after, offset;
};

/* For offset and div that fit 32 bits. */
static inline void conv_make_whole_end(const conv_params &params, conv_whole_end &end) {
    end.absolute = params.absolute;
    end.shift = params.shift;
    end.offset = (int)params.offset;
    if (params.shift >= 0) return;
    /* For 0 <= A < 2^31 and 2^(l - 1) < div < 2^l: floor(A / div) = floor(A ceil(2^(31 + l) / div) / 2^(31 + l)), because the
     * factor is at most 2^l / div too large (Granlund and Montgomery 1994). */
    int l = 1;
    while ((int64_t)1 << l < params.div) l++;
    end.factor = (uint32_t)((((uint64_t)1 << (31 + l)) + (uint64_t)params.div - 1) / (uint64_t)params.div);
    end.after = l - 1;
}

/* SIMPLE: div is a power of two, and no magnitude is asked for; the offset is in the sum already. */
template <bool SIMPLE> static __device__ __forceinline__ int conv_end(const conv_whole_end &end, int sum) {
    if (SIMPLE) return sum >> end.shift;
    sum = (end.absolute ? abs(sum) : sum) + end.offset;
    if (end.shift >= 0) return sum >> end.shift;
    return (int)(__umulhi((uint32_t)max(sum, 0), end.factor) >> end.after);
}

/* Two numbers as halves, clamped to 0 ... 65535. */
static __device__ __forceinline__ uint32_t conv_pack_halves(int a, int b) {
#ifdef EMU
    return (uint32_t)(a < 0 ? 0 : a > 65535 ? 65535 : a) | (uint32_t)(b < 0 ? 0 : b > 65535 ? 65535 : b) << 16;
#else
    uint32_t packed;
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(packed) : "r"(b), "r"(a));
    return packed;
#endif
}

template <int WIDE>
static __device__ __forceinline__ void conv_finish(const conv_whole_end &end, const int (&sums)[WIDE], const uint16_t *,
                                                   uint32_t (&words)[WIDE / 2]) {
#pragma unroll
    for (int i = 0; i < WIDE / 2; i++)
        words[i] = conv_pack_halves(conv_end<false>(end, sums[2 * i]), conv_end<false>(end, sums[2 * i + 1]));
}
/* Floats that are whole numbers. */
template <int WIDE>
static __device__ __forceinline__ void conv_finish(const conv_whole_end &end, const float (&sums)[WIDE], const uint16_t *type,
                                                   uint32_t (&words)[WIDE / 2]) {
    int whole[WIDE];
#pragma unroll
    for (int i = 0; i < WIDE; i++) whole[i] = (int)sums[i];
    conv_finish(end, whole, type, words);
}
#endif
