/* What crisp computes, written once for the CPU and for CUDA, so that both give the same bytes: integers, or float32 in one order
 * with fmaf() and no contraction (-ffp-contract=off, --fmad=false). */
#ifndef CRISP_H
#define CRISP_H
#include <imgpipe.h>
#include <math.h>

#ifdef __CUDACC__
#define CRISP_BOTH static __host__ __device__ __forceinline__
#else
#define CRISP_BOTH static inline
#endif

/* stage->data */
struct crisp {
    int amount; /* in 1/256 */
};

/* `v` and its neighbours above, below, left and right. */
CRISP_BOTH int crisp_integer(int v, int a, int b, int l, int r, int amount, int max) {
    int sum = 256 * v + amount * (4 * v - a - b - l - r) + 128;
    int result = sum < 0 ? 0 : sum >> 8;
    return result > max ? max : result;
}

CRISP_BOTH uint8_t crisp_of_u8(uint8_t v, uint8_t a, uint8_t b, uint8_t l, uint8_t r, int amount) {
    return (uint8_t)crisp_integer(v, a, b, l, r, amount, 255);
}

CRISP_BOTH uint16_t crisp_of_u16(uint16_t v, uint16_t a, uint16_t b, uint16_t l, uint16_t r, int amount) {
    return (uint16_t)crisp_integer(v, a, b, l, r, amount, 65535);
}

CRISP_BOTH float crisp_of_f32(float v, float a, float b, float l, float r, int amount) {
    union {
        uint32_t bits;
        float value;
    } nan = {0x7fc00000u};
    float result = fmaf((float)amount / 256.0f, fmaf(4.0f, v, -(((a + b) + l) + r)), v);
    return result != result ? nan.value : result; /* processors make different NaN; this one is stored */
}

#ifdef __cplusplus
extern "C"
#endif
    int
    crisp_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream);
#endif
