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

/* The middle of three, of which p <= q. */
template <typename P>
static __device__ __forceinline__ typename P::key median_between(typename P::key a, typename P::key p, typename P::key q) {
    return P::most(p, P::least(a, q));
}

/* 3 x 3, four rows. The columns are sorted, two rows sharing the order of the two samples that both windows have; then the median is
 * that of the greatest least, the middle middle and the least greatest. 14 operations of a register for each result. */
template <typename P> struct median_net_3 {
    static const int size = 3, rows = 4;
    typedef typename P::key key;
    static __device__ __forceinline__ void row(const key (&low)[10], const key (&mid)[10], const key (&high)[10], key (&out)[8]) {
#pragma unroll
        for (int i = 0; i < 8; i += 2) {
            key p = P::least(mid[i + 1], mid[i + 2]), q = P::most(mid[i + 1], mid[i + 2]);
#pragma unroll
            for (int k = 0; k < 2; k++) {
                key a = P::most(low[i + k], low[i + k + 1], low[i + k + 2]),
                    c = P::least(high[i + k], high[i + k + 1], high[i + k + 2]);
                key b = median_between<P>(mid[i + 3 * k], p, q);
                out[i + k] = P::most(P::least(a, b), P::least(P::most(a, b), c));
            }
        }
    }
    static __device__ __forceinline__ void run(const uint32_t (*in)[P::words], key (*out)[8]) {
#pragma unroll
        for (int y = 0; y < rows; y += 2) {
            key p[10], q[10], low[10], mid[10], high[10];
#pragma unroll
            for (int k = 0; k < 2; k++) {
#pragma unroll
                for (int i = 0; i < 10; i++) {
                    if (k == 0) {
                        key b = P::at(in[y + 1], i - 1), c = P::at(in[y + 2], i - 1);
                        p[i] = P::least(b, c), q[i] = P::most(b, c);
                    }
                    key a = P::at(in[y + 3 * k], i - 1);
                    low[i] = P::least(a, p[i]), high[i] = P::most(a, q[i]), mid[i] = median_between<P>(a, p[i], q[i]);
                }
                row(low, mid, high, out[y + k]);
            }
        }
    }
};
#endif
