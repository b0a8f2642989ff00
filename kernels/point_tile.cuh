/* How point.cu moves pixels of any format between memory and registers. A thread has G groups of 4 pixels, whose samples always
 * fill whole 32-bit words. Groups of 1, 2 or 4 words are read and written as they are; others go through shared memory, so
 * that a warp touches whole lines. A warp whose groups do not all lie in the row goes by single samples. */
#ifndef POINT_TILE_CUH
#define POINT_TILE_CUH
#include "tile.cuh"

#define POINT_GROUP 4

/* The bits of every sample of G groups. Every index is known when the loops are unrolled, so that all are registers. */
template <int G> struct point_state { uint32_t v[G][POINT_GROUP][4]; };

/* ---- words between memory and registers */

/* One word of padding in 32: then a stride of 2, 3, 4 or 8 words between lanes meets different banks. */
__device__ __forceinline__ int padded(int i) {
    return i + i / 32;
}

template <int W> struct word_vector;
template <> struct word_vector<1> { typedef uint32_t type; };
template <> struct word_vector<2> { typedef uint2 type; };
template <> struct word_vector<4> { typedef uint4 type; };

template <int W, int G>
__device__ __forceinline__ void fetch(const uint32_t *from, uint32_t *staging, int lane, uint32_t (&raw)[G][W]) {
    if constexpr (W == 1 || W == 2 || W == 4) {
        typedef typename word_vector<W>::type V;
#pragma unroll
        for (int g = 0; g < G; g++) *(V *)raw[g] = ((const V *)from)[g * 32 + lane];
    } else {
        uint32_t all[G * W];
#pragma unroll
        for (int j = 0; j < G * W; j++) all[j] = from[j * 32 + lane];
        __syncwarp();
#pragma unroll
        for (int j = 0; j < G * W; j++) staging[padded(j * 32 + lane)] = all[j];
        __syncwarp();
#pragma unroll
        for (int g = 0; g < G; g++)
#pragma unroll
            for (int k = 0; k < W; k++) raw[g][k] = staging[padded((g * 32 + lane) * W + k)];
    }
}

template <int W, int G>
__device__ __forceinline__ void put(uint32_t *to, uint32_t *staging, int lane, const uint32_t (&raw)[G][W]) {
    if constexpr (W == 1 || W == 2 || W == 4) {
        typedef typename word_vector<W>::type V;
#pragma unroll
        for (int g = 0; g < G; g++) ((V *)to)[g * 32 + lane] = *(const V *)raw[g];
    } else {
        __syncwarp();
#pragma unroll
        for (int g = 0; g < G; g++)
#pragma unroll
            for (int k = 0; k < W; k++) staging[padded((g * 32 + lane) * W + k)] = raw[g][k];
        __syncwarp();
#pragma unroll
        for (int j = 0; j < G * W; j++) to[j * 32 + lane] = staging[padded(j * 32 + lane)];
    }
}

/* ---- pixels of one format: SIZE bytes a sample, C channels. A kernel made for MOST words a group meets no larger format. */

template <int SIZE, int C, int G>
__device__ __forceinline__ void load_full(const unsigned char *row, int64_t first, uint32_t *staging, int lane, point_state<G> &s) {
    constexpr int W = SIZE * C, PER = 4 / SIZE, BITS = 8 * SIZE;
    alignas(16) uint32_t raw[G][W];
    fetch<W, G>((const uint32_t *)row + first * W, staging, lane, raw);
#pragma unroll
    for (int g = 0; g < G; g++)
#pragma unroll
        for (int i = 0; i < POINT_GROUP * C; i++)
            s.v[g][i / C][i % C] = SIZE == 4 ? raw[g][i] : raw[g][i / PER] >> i % PER * BITS & ((1u << BITS % 32) - 1);
}

template <int SIZE, int C, int G>
__device__ __forceinline__ void store_full(unsigned char *row, int64_t first, uint32_t *staging, int lane,
                                           const point_state<G> &s) {
    constexpr int W = SIZE * C, PER = 4 / SIZE, BITS = 8 * SIZE;
    alignas(16) uint32_t raw[G][W];
#pragma unroll
    for (int g = 0; g < G; g++)
#pragma unroll
        for (int w = 0; w < W; w++) {
            raw[g][w] = 0;
#pragma unroll
            for (int k = 0; k < PER; k++) raw[g][w] |= s.v[g][(w * PER + k) / C][(w * PER + k) % C] << k * BITS;
        }
    put<W, G>((uint32_t *)row + first * W, staging, lane, raw);
}

/* The bytes of a sample are 1 << type, and no channel number is above 4. */
#define POINT_EACH_FORMAT(call)                                                                                                    \
    switch (format.type * 4 + format.channels - 1) {                                                                               \
    case 0:                                                                                                                        \
        if constexpr (1 * 1 <= MOST) call<1, 1, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 1:                                                                                                                        \
        if constexpr (1 * 2 <= MOST) call<1, 2, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 2:                                                                                                                        \
        if constexpr (1 * 3 <= MOST) call<1, 3, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 3:                                                                                                                        \
        if constexpr (1 * 4 <= MOST) call<1, 4, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 4:                                                                                                                        \
        if constexpr (2 * 1 <= MOST) call<2, 1, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 5:                                                                                                                        \
        if constexpr (2 * 2 <= MOST) call<2, 2, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 6:                                                                                                                        \
        if constexpr (2 * 3 <= MOST) call<2, 3, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 7:                                                                                                                        \
        if constexpr (2 * 4 <= MOST) call<2, 4, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 8:                                                                                                                        \
        if constexpr (4 * 1 <= MOST) call<4, 1, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 9:                                                                                                                        \
        if constexpr (4 * 2 <= MOST) call<4, 2, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    case 10:                                                                                                                       \
        if constexpr (4 * 3 <= MOST) call<4, 3, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    default:                                                                                                                       \
        if constexpr (4 * 4 <= MOST) call<4, 4, G>(row, first, staging, lane, s);                                                  \
        break;                                                                                                                     \
    }

template <int G, int MOST>
__device__ __forceinline__ void load(imgpipe_format format, const unsigned char *row, int64_t first, int64_t samples, bool full,
                                     uint32_t *staging, int lane, point_state<G> &s) {
    if (full) {
        POINT_EACH_FORMAT(load_full)
        return;
    }
#pragma unroll
    for (int i = 0; i < G * POINT_GROUP * 4; i++) {
        int g = i / (POINT_GROUP * 4), p = i / 4 % POINT_GROUP, c = i % 4;
        int64_t at = ((first + g * 32 + lane) * POINT_GROUP + p) * format.channels + c;
        uint32_t v = 0;
        if (c < format.channels && at < samples)
            v = format.type == IMGPIPE_U8    ? row[at]
                : format.type == IMGPIPE_U16 ? ((const uint16_t *)row)[at]
                                             : ((const uint32_t *)row)[at];
        s.v[g][p][c] = v;
    }
}

template <int G, int MOST>
__device__ __forceinline__ void store(imgpipe_format format, unsigned char *row, int64_t first, int64_t samples, bool full,
                                      uint32_t *staging, int lane, const point_state<G> &s) {
    if (full) {
        POINT_EACH_FORMAT(store_full)
        return;
    }
#pragma unroll
    for (int i = 0; i < G * POINT_GROUP * 4; i++) {
        int g = i / (POINT_GROUP * 4), p = i / 4 % POINT_GROUP, c = i % 4;
        int64_t at = ((first + g * 32 + lane) * POINT_GROUP + p) * format.channels + c;
        if (c >= format.channels || at >= samples) continue;
        if (format.type == IMGPIPE_U8) row[at] = (uint8_t)s.v[g][p][c];
        if (format.type == IMGPIPE_U16) ((uint16_t *)row)[at] = (uint16_t)s.v[g][p][c];
        if (format.type == IMGPIPE_F32) ((uint32_t *)row)[at] = s.v[g][p][c];
    }
}
#endif
