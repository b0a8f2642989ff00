/* Medians of larger windows of 16 or 32 bits: as median_planes.cuh, with the rows of a window spread over several lanes, so that
 * they stay in registers: lane g of LANES has rows g, g + LANES and so on, of WORDS words each, and the lanes add up their counts.
 *
 * Operations for each result and bit: about 5 LANES ROWS WORDS, that is 5 for each 32 samples. Floor for 51 x 51 and 16 bits: 2.0
 * Gpix/s. Measured on an H200: 1.3 random and natural, 9.5 constant; with the rows in shared memory instead it was 0.6. Sizes are
 * up to LANES ROWS and 32 WORDS - 1. */
#ifndef MEDIAN_SPREAD_CUH
#define MEDIAN_SPREAD_CUH
#include "median_planes.cuh"

#define SPREAD_THREADS 128

/* Bits in shared memory: planes[bit][row][word], of 32 + size - 1 columns; `rows` of results and all that windows may reach. */
template <int LANES, int ROWS, int WORDS> struct spread_layout {
    static const int across = WORDS + 1, all = LANES * ROWS;
    static __host__ __device__ int pitch(int rows) { return (rows - 1 + all) * across; } /* from bit to bit */
    static int bytes(int rows, int bits) { return 4 * bits * pitch(rows); }
};

/* Fills planes; returns the bits in which keys differ. */
template <typename T, typename L>
static __device__ __forceinline__ uint32_t spread_load(const imgpipe_tile &tile, const window_image &image, uint32_t *planes,
                                                       int pitch, int64_t x0, int64_t y0, int rows, int channel, uint32_t first) {
    const int lane = (int)threadIdx.x % 32;
    const T outside = median_policy<T>::outside(image);
    uint32_t differ = 0;
    for (int i = (int)threadIdx.x / 32; i < rows * L::across; i += SPREAD_THREADS / 32) {
        const int row = i / L::across, w = i - row * L::across;
        const int64_t y = window_index(image.border, y0 + row, image.height);
        const int64_t x = window_index(image.border, x0 + 32 * w + lane, image.width);
        const uint32_t v = planes_key(y >= 0 && x >= 0 ? tile_in<T>(tile, y)[x * image.channels + channel] : outside);
        differ |= v ^ first;
        const uint32_t plane = median_transpose(v, lane);
        if (lane < 8 * (int)sizeof(T)) planes[lane * pitch + i] = plane;
    }
    return differ;
}

/* The lower `bits` bits of the candidate that is left, which one of the lanes has. `planes` starts at the lane's first row. */
template <int LANES, int ROWS, int WORDS>
static __device__ __forceinline__ uint32_t spread_rest(const uint32_t *planes, int pitch,
                                                       const uint32_t (&candidates)[ROWS * WORDS], int bits, int column) {
    const int across = WORDS + 1;
    uint32_t found = 0, key = 0;
    int at = 0;
#pragma unroll
    for (int i = 0; i < ROWS * WORDS; i++)
        if (candidates[i]) found = candidates[i], at = i;
    const int x = at % WORDS * 32 + column + __ffs((int)found) - 1;
    if (found) {
        const uint32_t *from = planes + at / WORDS * (LANES * across) + x / 32;
        for (int bit = 0; bit < bits; bit++) key |= (from[bit * pitch] >> x % 32 & 1) << bit;
    }
#pragma unroll
    for (int s = 1; s < LANES; s *= 2) key |= __shfl_xor_sync(0xffffffffu, key, s);
    return key;
}

/* The median of the window that starts at `column` of the rows at `planes`, where the lane's first row is. */
template <int BITS, int LANES, int ROWS, int WORDS>
static __device__ __forceinline__ uint32_t spread_median(const uint32_t *planes, int pitch, int size, uint32_t first,
                                                         uint32_t differ, int part, int column) {
    const int across = WORDS + 1;
    uint32_t candidates[ROWS * WORDS], median = first & ~differ;
    int rank = size * size / 2, left = size * size;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            candidates[r * WORDS + w] = r * LANES + part >= size || size <= 32 * w ? 0u
                                        : size >= 32 * w + 32                      ? 0xffffffffu
                                                                                   : (1u << (size - 32 * w)) - 1;
#pragma unroll 1
    for (int bit = BITS - 1; bit >= 0; bit--) {
        if (!(differ >> bit & 1)) continue;
        const uint32_t *from = planes + bit * pitch;
        uint32_t plane[ROWS * WORDS], zeros[ROWS * WORDS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            uint32_t words[across];
#pragma unroll
            for (int w = 0; w < across; w++) words[w] = from[r * (LANES * across) + w];
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                const int i = r * WORDS + w;
                plane[i] = __funnelshift_r(words[w], words[w + 1], (unsigned)column);
                zeros[i] = candidates[i] & ~plane[i];
            }
        }
        int count = planes_count<ROWS * WORDS>(zeros);
#pragma unroll
        for (int s = 1; s < LANES; s *= 2) count += __shfl_xor_sync(0xffffffffu, count, s);
        const bool one = rank >= count;
        const uint32_t flip = one ? 0u : 0xffffffffu;
#pragma unroll
        for (int i = 0; i < ROWS * WORDS; i++) candidates[i] &= plane[i] ^ flip;
        rank -= one ? count : 0;
        left = one ? left - count : count;
        median |= (one ? 1u : 0u) << bit;
        if (!__any_sync(0xffffffffu, left > 1))
            return median | spread_rest<LANES, ROWS, WORDS>(planes, pitch, candidates, bit, column);
    }
    return median;
}

/* A block makes `rows` rows of 32 columns. */
template <typename T, int LANES, int ROWS, int WORDS>
static __global__ void __launch_bounds__(SPREAD_THREADS)
    median_spread(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct window_image image, int size,
                  int height) {
    typedef spread_layout<LANES, ROWS, WORDS> L;
    extern __shared__ uint4 spread_shared[];
    __shared__ uint32_t differ[SPREAD_THREADS / 32];
    const int warps = SPREAD_THREADS / 32, lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, part = lane % LANES;
    const int beside = 32 / LANES, pitch = L::pitch(height); /* a warp makes `beside` results at a time */
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    uint32_t *planes = (uint32_t *)spread_shared;
    const int channel = (int)(blockIdx.x % (unsigned)image.channels);
    const int64_t x0 = (int64_t)(blockIdx.x / (unsigned)image.channels) * 32;
    for (int64_t y0 = tile.out_rect.y0 + (int64_t)blockIdx.y * height; y0 < tile.out_rect.y1; y0 += (int64_t)gridDim.y * height) {
        const int rows = (int)min((int64_t)height, tile.out_rect.y1 - y0);
        const uint32_t first = planes_key(tile_in<T>(tile, y0)[x0 * image.channels + channel]);
        uint32_t differs =
            spread_load<T, L>(tile, image, planes, pitch, x0 - size / 2, y0 - size / 2, rows + size - 1, channel, first);
        for (int s = 16; s > 0; s /= 2) differs |= __shfl_xor_sync(0xffffffffu, differs, s);
        if (lane == 0) differ[warp] = differs;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < warps; k++) differs |= differ[k];
        for (int i = warp; i < rows * LANES; i += warps) {
            const int y = i / LANES, column = i % LANES * beside + lane / LANES;
            const uint32_t median = spread_median<8 * (int)sizeof(T), LANES, ROWS, WORDS>(planes + (y + part) * L::across, pitch,
                                                                                          size, first, differs, part, column);
            if (part == 0 && x0 + column < image.width)
                planes_put(tile_out<T>(tile, y0 + y) + (x0 + column) * image.channels + channel, median);
        }
        __syncthreads();
    }
}
#endif
