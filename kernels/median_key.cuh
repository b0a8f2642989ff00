/* How the median's kernels hold samples in registers: u8 and u16 as two 16-bit lanes, columns i and i + 8 of a thread's sixteen;
 * f32 as one 32-bit key, column i of eight. A policy has the words of one row, from MEDIAN_MARGIN columns to the left of the
 * first on; at() makes a register of column i, put() turns eight results into the chunks that they fill. */
#ifndef MEDIAN_KEY_CUH
#define MEDIAN_KEY_CUH
#include "window.cuh"
#include "median.h"

#define MEDIAN_MARGIN 4

struct median_pairs {
    typedef uint32_t key;
    static __device__ __forceinline__ key least(key a, key b) { return __vminu2(a, b); }
    static __device__ __forceinline__ key most(key a, key b) { return __vmaxu2(a, b); }
    static __device__ __forceinline__ key least(key a, key b, key c) { return __vimin3_u16x2(a, b, c); }
    static __device__ __forceinline__ key most(key a, key b, key c) { return __vimax3_u16x2(a, b, c); }
};

template <typename T> struct median_policy;

/* A byte stands in both halves of its lane, which saves clearing one. */
template <> struct median_policy<uint8_t> : median_pairs {
    typedef uint8_t sample;
    static __device__ __forceinline__ uint8_t outside(const window_image &image) { return (uint8_t)image.outside; }
    static const int words = 6, columns = 16, chunks = 1;
    static __device__ __forceinline__ void load(const unsigned char *first, uint32_t (&row)[words]) {
        uint4 own = *(const uint4 *)first;
        row[0] = *(const uint32_t *)(first - 4);
        row[1] = own.x, row[2] = own.y, row[3] = own.z, row[4] = own.w;
        row[5] = *(const uint32_t *)(first + 16);
    }
    static __device__ __forceinline__ key at(const uint32_t (&row)[words], int i) {
        int place = i + MEDIAN_MARGIN, s = place % 4;
        return __byte_perm(row[place / 4], row[place / 4 + 2], (unsigned)(s | s << 4 | (s + 4) << 8 | (s + 4) << 12));
    }
    static __device__ __forceinline__ void put(const key (&r)[8], uint4 (&out)[chunks]) {
        uint32_t a = __byte_perm(r[0], r[1], 0x6240), b = __byte_perm(r[2], r[3], 0x6240);
        uint32_t c = __byte_perm(r[4], r[5], 0x6240), d = __byte_perm(r[6], r[7], 0x6240);
        out[0] =
            make_uint4(__byte_perm(a, b, 0x5410), __byte_perm(c, d, 0x5410), __byte_perm(a, b, 0x7632), __byte_perm(c, d, 0x7632));
    }
    typedef window_copy convert;
};

template <> struct median_policy<uint16_t> : median_pairs {
    typedef uint16_t sample;
    static __device__ __forceinline__ uint16_t outside(const window_image &image) { return (uint16_t)image.outside; }
    static const int words = 12, columns = 16, chunks = 2;
    static __device__ __forceinline__ void load(const unsigned char *first, uint32_t (&row)[words]) {
        uint2 left = *(const uint2 *)(first - 8), right = *(const uint2 *)(first + 32);
        uint4 a = *(const uint4 *)first, b = *(const uint4 *)(first + 16);
        row[0] = left.x, row[1] = left.y;
        row[2] = a.x, row[3] = a.y, row[4] = a.z, row[5] = a.w;
        row[6] = b.x, row[7] = b.y, row[8] = b.z, row[9] = b.w;
        row[10] = right.x, row[11] = right.y;
    }
    static __device__ __forceinline__ key at(const uint32_t (&row)[words], int i) {
        int place = i + MEDIAN_MARGIN;
        return __byte_perm(row[place / 2], row[place / 2 + 4], place % 2 ? 0x7632u : 0x5410u);
    }
    static __device__ __forceinline__ void put(const key (&r)[8], uint4 (&out)[chunks]) {
        out[0] = make_uint4(__byte_perm(r[0], r[1], 0x5410), __byte_perm(r[2], r[3], 0x5410), __byte_perm(r[4], r[5], 0x5410),
                            __byte_perm(r[6], r[7], 0x5410));
        out[1] = make_uint4(__byte_perm(r[0], r[1], 0x7632), __byte_perm(r[2], r[3], 0x7632), __byte_perm(r[4], r[5], 0x7632),
                            __byte_perm(r[6], r[7], 0x7632));
    }
    typedef window_copy convert;
};

/* Planes hold keys instead of floats. */
struct median_convert {
    static const bool copies = false;
    __device__ __forceinline__ uint32_t operator()(uint32_t v) const { return (uint32_t)median_key(__uint_as_float(v)); }
    __device__ __forceinline__ float sample(float v) const { return __int_as_float(median_key(v)); }
    static __device__ __forceinline__ float outside(const window_image &image, float) { return __uint_as_float(image.outside); }
};

template <> struct median_policy<float> {
    typedef float sample;
    static __device__ __forceinline__ float outside(const window_image &image) { return median_from_key((int32_t)image.outside); }
    typedef int32_t key;
    static const int words = 16, columns = 8, chunks = 2;
    static __device__ __forceinline__ key least(key a, key b) { return min(a, b); }
    static __device__ __forceinline__ key most(key a, key b) { return max(a, b); }
    static __device__ __forceinline__ key least(key a, key b, key c) { return __vimin3_s32(a, b, c); }
    static __device__ __forceinline__ key most(key a, key b, key c) { return __vimax3_s32(a, b, c); }
    static __device__ __forceinline__ void load(const unsigned char *first, uint32_t (&row)[words]) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint4 v = ((const uint4 *)first)[i - 1];
            row[4 * i] = v.x, row[4 * i + 1] = v.y, row[4 * i + 2] = v.z, row[4 * i + 3] = v.w;
        }
    }
    static __device__ __forceinline__ key at(const uint32_t (&row)[words], int i) {
        return (key)row[i + MEDIAN_MARGIN];
    }
    static __device__ __forceinline__ void put(const key (&r)[8], uint4 (&out)[chunks]) {
        uint32_t bits[8];
#pragma unroll
        for (int i = 0; i < 8; i++) bits[i] = __float_as_uint(median_from_key(r[i]));
        out[0] = make_uint4(bits[0], bits[1], bits[2], bits[3]);
        out[1] = make_uint4(bits[4], bits[5], bits[6], bits[7]);
    }
    typedef median_convert convert;
};

/* Bits of 32 x 32: lane l gets bit l of every lane's word. */
static __device__ __forceinline__ uint32_t median_transpose(uint32_t x, int lane) {
    uint32_t mask = 0x0000ffffu;
#pragma unroll
    for (int s = 16; s > 0; s /= 2) {
        const uint32_t y = __shfl_xor_sync(0xffffffffu, x, s);
        x = lane & s ? (x & ~mask) | ((y >> s) & mask) : (x & mask) | ((y << s) & ~mask);
        mask ^= mask << (s / 2 ? s / 2 : 1);
    }
    return x;
}

/* Lets a kernel have `bytes` of shared memory; false where the device has not so much. */
template <typename F> static inline bool median_room(F *kernel, int bytes) {
    if (bytes <= 32 * 1024) return true; /* with what the kernels have besides, every device has it */
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess) return true;
    (void)cudaGetLastError();
    return false;
}
#endif
