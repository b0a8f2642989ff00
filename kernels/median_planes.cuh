/* Medians of SIZE x SIZE samples of 16 or 32 bits, found bit by bit from the highest on, with a row of a window in a register: SIZE
 * is from 17 to 31.
 *
 * A lane keeps for each row of its window which of its samples may still be the median. Of these it counts those whose next bit is
 * 0: if the median is among them it keeps them, else the others. The bits of samples lie in shared memory, 32 columns in a word, so
 * that the lanes of a warp, 32 columns of a row, read the same words and shift them by their column. Words are counted by
 * full adders that leave one word for each power of two.
 *
 * A thread makes two results, one below the other. Bytes moved: (1 + (SIZE - 1) / 32)^2 times in, mostly from the L2 cache, and
 * once out. Operations for each result and bit: about 5 SIZE; bits in which all samples of a block agree cost nothing, and the
 * search ends when each lane has one candidate left. Floor for 31 x 31 and 16 bits: 6.4 Gpix/s. Measured on an H200, random /
 * natural content: u16 25 x 25 7.0 / 6.8, 31 x 31 5.4 / 5.3; f32 31 x 31 4.3 / 4.5 Gpix/s. */
#ifndef MEDIAN_PLANES_CUH
#define MEDIAN_PLANES_CUH
#include "median_key.cuh"

#define PLANES_ROWS 32 /* of a block's results, and columns too */
#define PLANES_THREADS 128

/* Keys in the order of unsigned integers. */
template <typename T> static __device__ __forceinline__ uint32_t planes_key(T v) {
    return v;
}
template <> __device__ __forceinline__ uint32_t planes_key<float>(float v) {
    return (uint32_t)median_key(v) ^ 0x80000000u;
}
static __device__ __forceinline__ void planes_put(uint16_t *to, uint32_t key) {
    *to = (uint16_t)key;
}
static __device__ __forceinline__ void planes_put(float *to, uint32_t key) {
    *to = median_from_key((int32_t)(key ^ 0x80000000u));
}

/* How many bits of N words are set. */
template <int N> static __device__ __forceinline__ int planes_count(const uint32_t (&a)[N]) {
    if constexpr (N <= 2) {
        return N == 2 ? __popc(a[0]) + __popc(a[N - 1]) : __popc(a[0]);
    } else {
        const int adders = (N - 1) / 2;
        uint32_t sum = a[0], carries[adders];
#pragma unroll
        for (int i = 0; i < adders; i++) {
            const uint32_t x = a[2 * i + 1], y = a[2 * i + 2];
            carries[i] = (sum & x) | (y & (sum | x));
            sum ^= x ^ y;
        }
        return __popc(sum) + (N % 2 ? 0 : __popc(a[N - 1])) + 2 * planes_count<adders>(carries);
    }
}

/* The keys of 64 columns and `rows` rows as bits: planes[row][bit][0 and 1]. Returns the bits in which keys differ. */
template <typename T>
static __device__ __forceinline__ uint32_t planes_load(const imgpipe_tile &tile, const window_image &image, uint32_t *planes,
                                                       int64_t x0, int64_t y0, int rows, int channel, uint32_t first) {
    const int lane = (int)threadIdx.x % 32, bits = 8 * (int)sizeof(T);
    const int64_t a = window_index(image.border, x0 + lane, image.width),
                  b = window_index(image.border, x0 + 32 + lane, image.width);
    const T outside = median_policy<T>::outside(image);
    uint32_t differ = 0;
    for (int i = (int)threadIdx.x / 32; i < rows; i += PLANES_THREADS / 32) {
        const int64_t y = window_index(image.border, y0 + i, image.height);
        const T *row = y < 0 ? (const T *)0 : tile_in<T>(tile, y);
        const uint32_t v = planes_key(row && a >= 0 ? row[a * image.channels + channel] : outside);
        const uint32_t w = planes_key(row && b >= 0 ? row[b * image.channels + channel] : outside);
        differ |= (v ^ first) | (w ^ first);
        uint32_t *to = planes + (i * bits + lane % bits) * 2;
        if (bits == 16) {
            to[lane / 16] = median_transpose(v | w << 16, lane);
        } else {
            to[0] = median_transpose(v, lane);
            to[1] = median_transpose(w, lane);
        }
    }
    return differ;
}

/* The lower `bits` bits of the one candidate that is left, or of any. */
template <int BITS, int SIZE>
static __device__ __forceinline__ uint32_t planes_rest(const uint32_t *planes, const uint32_t (&candidates)[SIZE], int bits,
                                                       int lane) {
    uint32_t found = 0, key = 0;
    int row = 0;
#pragma unroll
    for (int r = 0; r < SIZE; r++)
        if (candidates[r]) row = r, found = candidates[r];
    const int column = lane + __ffs((int)found) - 1;
    for (int bit = 0; bit < bits; bit++) key |= (planes[(row * BITS + bit) * 2 + column / 32] >> column % 32 & 1) << bit;
    return key;
}

/* The keys of two medians, one below the other; `first` is a key that shares all bits but `differ` with all of them. */
template <int BITS, int SIZE>
static __device__ __forceinline__ void planes_medians(const uint32_t *planes, uint32_t first, uint32_t differ, int lane,
                                                      uint32_t (&medians)[2]) {
    uint32_t candidates[2][SIZE];
    int rank[2] = {SIZE * SIZE / 2, SIZE * SIZE / 2}, left[2] = {SIZE * SIZE, SIZE * SIZE}, bit = BITS;
#pragma unroll
    for (int r = 0; r < SIZE; r++) candidates[0][r] = candidates[1][r] = SIZE == 32 ? 0xffffffffu : (1u << SIZE) - 1;
    medians[0] = medians[1] = 0;
#pragma unroll 1
    while (bit > 0 && __any_sync(0xffffffffu, left[0] > 1 || left[1] > 1)) {
        bit--;
        if (!(differ >> bit & 1)) {
            medians[0] |= first & 1u << bit, medians[1] |= first & 1u << bit;
            continue;
        }
        uint32_t plane[SIZE + 1];
#pragma unroll
        for (int r = 0; r <= SIZE; r++) {
            const uint2 words = *(const uint2 *)(planes + (r * BITS + bit) * 2);
            plane[r] = __funnelshift_r(words.x, words.y, (unsigned)lane);
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            uint32_t zeros[SIZE];
#pragma unroll
            for (int r = 0; r < SIZE; r++) zeros[r] = candidates[k][r] & ~plane[r + k];
            const int count = planes_count<SIZE>(zeros);
            const bool one = rank[k] >= count;
            const uint32_t flip = one ? 0u : 0xffffffffu;
#pragma unroll
            for (int r = 0; r < SIZE; r++) candidates[k][r] &= plane[r + k] ^ flip;
            rank[k] -= one ? count : 0;
            left[k] = one ? left[k] - count : count;
            medians[k] |= (one ? 1u : 0u) << bit;
        }
    }
    if (bit == 0) return;
    medians[0] |= planes_rest<BITS, SIZE>(planes, candidates[0], bit, lane);
    medians[1] |= planes_rest<BITS, SIZE>(planes + BITS * 2, candidates[1], bit, lane);
}

template <typename T, int SIZE>
static __global__ void __launch_bounds__(PLANES_THREADS)
    median_planes(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct window_image image) {
    extern __shared__ uint4 planes_shared[];
    __shared__ uint32_t differ[PLANES_THREADS / 32];
    const int bits = 8 * (int)sizeof(T), warps = PLANES_THREADS / 32, lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    uint32_t *planes = (uint32_t *)planes_shared;
    const int channel = (int)(blockIdx.x % (unsigned)image.channels);
    const int64_t x0 = (int64_t)(blockIdx.x / (unsigned)image.channels) * 32;
    for (int64_t y0 = tile.out_rect.y0 + (int64_t)blockIdx.y * PLANES_ROWS; y0 < tile.out_rect.y1;
         y0 += (int64_t)gridDim.y * PLANES_ROWS) {
        const int rows = (int)min((int64_t)PLANES_ROWS, tile.out_rect.y1 - y0);
        const uint32_t first = planes_key(tile_in<T>(tile, y0)[x0 * image.channels + channel]);
        uint32_t differs = planes_load<T>(tile, image, planes, x0 - SIZE / 2, y0 - SIZE / 2, rows + SIZE - 1, channel, first);
        for (int s = 16; s > 0; s /= 2) differs |= __shfl_xor_sync(0xffffffffu, differs, s);
        if (lane == 0) differ[warp] = differs;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < warps; k++) differs |= differ[k];
        for (int y = 2 * warp; y < rows; y += 2 * warps) {
            uint32_t medians[2];
            planes_medians<bits, SIZE>(planes + y * bits * 2, first, differs, lane, medians);
            if (x0 + lane >= image.width) continue;
            for (int k = 0; k < 2 && y + k < rows; k++)
                planes_put(tile_out<T>(tile, y0 + y + k) + (x0 + lane) * image.channels + channel, medians[k]);
        }
        __syncthreads();
    }
}
#endif
