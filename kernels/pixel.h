/* Arithmetic that both backends share, written once: border index, rounding, clamping. Compiles as C and under nvcc. */
#ifndef PIXEL_H
#define PIXEL_H
#include "imgpipe.h"
#ifdef __CUDACC__
#define PIXEL_FN static __host__ __device__ __forceinline__
#else
#include <math.h>
#define PIXEL_FN static inline
#endif

/* The column or row in [0, n) that stands for index i of an axis of length n; -1 for CONSTANT outside. The pattern goes on
 * periodically at any distance; an axis of length 1 repeats its sample. */
PIXEL_FN int64_t border_index(imgpipe_border border, int64_t i, int64_t n) {
    if (i >= 0 && i < n) return i;
    if (border == IMGPIPE_BORDER_CONSTANT) return -1;
    if (border == IMGPIPE_BORDER_CLAMP || n == 1) return i < 0 ? 0 : n - 1;
    int64_t period = border == IMGPIPE_BORDER_WRAP ? n : border == IMGPIPE_BORDER_REFLECT ? 2 * n : 2 * n - 2;
    int64_t m = i % period;
    if (m < 0) m += period;
    if (border == IMGPIPE_BORDER_REFLECT && m >= n) m = 2 * n - 1 - m;
    if (border == IMGPIPE_BORDER_MIRROR && m >= n) m = 2 * n - 2 - m;
    return m;
}

/* floor(v + 0.5), clamped. The comparison comes first, so that NaN becomes 0 and nothing overflows. */
PIXEL_FN uint8_t pixel_u8(float v) {
    float r = floorf(v + 0.5f);
    return r > 0.0f ? r < 255.0f ? (uint8_t)r : (uint8_t)255 : (uint8_t)0;
}
/* In double: v + 0.5f is not exact in float32 near 65535. */
PIXEL_FN uint16_t pixel_u16(float v) {
    double r = floor((double)v + 0.5);
    return r > 0.0 ? r < 65535.0 ? (uint16_t)r : (uint16_t)65535 : (uint16_t)0;
}
/* x86 and CUDA make different NaNs; a NaN that is stored is always this one. */
PIXEL_FN float pixel_f32(float v) {
    union { uint32_t bits; float value; } nan = {0x7fc00000u};
    return v != v ? nan.value : v;
}
#endif
