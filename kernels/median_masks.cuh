/* Medians of larger windows of 16 or 32 bits: as median_planes.cuh, with the rows of the lanes' windows in shared memory, `words`
 * words each. A bit's choice is made good when the next bit is counted, so that each word is read and written once a bit.
 *
 * Operations for each result, bit and word: 4 of shared memory and 8. Sizes are from 33 to 127: a warp needs 128 size words bytes.
 */
#ifndef MEDIAN_MASKS_CUH
#define MEDIAN_MASKS_CUH
#include "median_planes.cuh"

#define MASKS_GROUP 8 /* rows that are counted together; others of the last group have no candidates */

/* Sizes in shared memory. The launcher takes as many warps as there is room for. */
template <int BITS, int WORDS> struct masks_layout {
    static const int bits = BITS, words = WORDS, across = WORDS + 1, pitch = BITS * across; /* of planes, from row to row */
    int size, warps;
    __host__ __device__ int masks_rows() const { return (size + MASKS_GROUP - 1) / MASKS_GROUP * MASKS_GROUP; }
    __host__ __device__ int masks() const { return masks_rows() * words * 32; } /* words of a warp */
    __host__ __device__ int planes() const { return (PLANES_ROWS - 1 + masks_rows()) * pitch; }
};

/* 32 columns of a row of a plane, from the lane's column of word w on. */
static __device__ __forceinline__ uint32_t masks_plane(const uint32_t *plane, int w, int lane) {
    return __funnelshift_r(plane[w], plane[w + 1], (unsigned)lane);
}

/* Keys of (words + 1) * 32 columns as bits: planes[row][bit][word]. Returns the bits in which keys differ. */
template <typename T, typename L>
static __device__ __forceinline__ uint32_t masks_load(const imgpipe_tile &tile, const window_image &image, const L &layout,
                                                      uint32_t *planes, int64_t x0, int64_t y0, int rows, int channel,
                                                      uint32_t first) {
    const int lane = (int)threadIdx.x % 32;
    const T outside = median_policy<T>::outside(image);
    uint32_t differ = 0;
    for (int i = (int)threadIdx.x / 32; i < rows * L::across; i += layout.warps) {
        const int row = i / L::across, w = i - row * L::across;
        const int64_t y = window_index(image.border, y0 + row, image.height);
        const int64_t x = window_index(image.border, x0 + 32 * w + lane, image.width);
        const uint32_t v = planes_key(y >= 0 && x >= 0 ? tile_in<T>(tile, y)[x * image.channels + channel] : outside);
        differ |= v ^ first;
        const uint32_t plane = median_transpose(v, lane);
        if (lane < L::bits) planes[row * L::pitch + lane * L::across + w] = plane;
    }
    return differ;
}

/* One bit: how many candidates have a 0 there. If there is a bit before, its choice is made good first. */
template <bool FIRST, typename L>
static __device__ __forceinline__ int masks_bit(const L &layout, const uint32_t *planes, uint32_t *masks, int before, uint32_t flip,
                                                int bit, int lane) {
    int count = 0;
#pragma unroll 1
    for (int r = 0; r < layout.masks_rows(); r += MASKS_GROUP) {
        uint32_t zeros[L::words][MASKS_GROUP];
#pragma unroll
        for (int k = 0; k < MASKS_GROUP; k++)
#pragma unroll
            for (int w = 0; w < L::words; w++) {
                uint32_t *mask = masks + ((r + k) * L::words + w) * 32 + lane, candidates = *mask;
                const uint32_t *plane = planes + (r + k) * L::pitch;
                if (!FIRST) {
                    candidates &= masks_plane(plane + before * L::across, w, lane) ^ flip;
                    *mask = candidates;
                }
                zeros[w][k] = candidates & ~masks_plane(plane + bit * L::across, w, lane);
            }
#pragma unroll
        for (int w = 0; w < L::words; w++) count += planes_count<MASKS_GROUP>(zeros[w]);
    }
    return count;
}

/* The lower `bits` bits of one candidate, after bit `bits`, which is chosen but not made good. */
template <typename L>
static __device__ __forceinline__ uint32_t masks_rest(const L &layout, const uint32_t *planes, const uint32_t *masks, uint32_t flip,
                                                      int bits, int lane) {
    int row = 0, column = 0;
    for (int r = 0; r < layout.size; r++)
        for (int w = 0; w < L::words; w++) {
            const uint32_t left =
                masks[(r * L::words + w) * 32 + lane] & (masks_plane(planes + r * L::pitch + bits * L::across, w, lane) ^ flip);
            if (left) row = r, column = 32 * w + lane + __ffs((int)left) - 1;
        }
    uint32_t key = 0;
    for (int bit = 0; bit < bits; bit++) key |= (planes[row * L::pitch + bit * L::across + column / 32] >> column % 32 & 1) << bit;
    return key;
}

template <typename L>
static __device__ __forceinline__ uint32_t masks_median(const L &layout, const uint32_t *planes, uint32_t *masks, uint32_t first,
                                                        uint32_t differ, int lane) {
    const int size = layout.size;
    for (int r = 0; r < layout.masks_rows(); r++)
        for (int w = 0; w < L::words; w++)
            masks[(r * L::words + w) * 32 + lane] = r >= size             ? 0u
                                                    : size >= 32 * w + 32 ? 0xffffffffu
                                                                          : (1u << (size - 32 * w)) - 1;
    int rank = size * size / 2, left = size * size, before = -1;
    uint32_t median = first & ~differ, flip = 0;
#pragma unroll 1
    for (int bit = L::bits - 1; bit >= 0; bit--) {
        if (!(differ >> bit & 1)) continue;
        const int count = before < 0 ? masks_bit<true>(layout, planes, masks, 0, 0, bit, lane)
                                     : masks_bit<false>(layout, planes, masks, before, flip, bit, lane);
        const bool one = rank >= count;
        flip = one ? 0u : 0xffffffffu;
        rank -= one ? count : 0;
        left = one ? left - count : count;
        median |= (one ? 1u : 0u) << bit;
        before = bit;
        if (!__any_sync(0xffffffffu, left > 1)) return median | masks_rest(layout, planes, masks, flip, bit, lane);
    }
    return median;
}

template <typename T, int WORDS>
static __global__ void __launch_bounds__(256)
    median_masks(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct window_image image, int layout_size,
                 int layout_warps) {
    typedef masks_layout<8 * (int)sizeof(T), WORDS> L;
    extern __shared__ uint4 masks_shared[];
    __shared__ uint32_t differ[8];
    const L layout = {layout_size, layout_warps};
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, size = layout.size;
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    uint32_t *planes = (uint32_t *)masks_shared, *masks = planes + layout.planes() + warp * layout.masks();
    const int channel = (int)(blockIdx.x % (unsigned)image.channels);
    const int64_t x0 = (int64_t)(blockIdx.x / (unsigned)image.channels) * 32;
    for (int64_t y0 = tile.out_rect.y0 + (int64_t)blockIdx.y * PLANES_ROWS; y0 < tile.out_rect.y1;
         y0 += (int64_t)gridDim.y * PLANES_ROWS) {
        const int rows = (int)min((int64_t)PLANES_ROWS, tile.out_rect.y1 - y0);
        const uint32_t first = planes_key(tile_in<T>(tile, y0)[x0 * image.channels + channel]);
        uint32_t differs =
            masks_load<T>(tile, image, layout, planes, x0 - size / 2, y0 - size / 2, rows + size - 1, channel, first);
        for (int s = 16; s > 0; s /= 2) differs |= __shfl_xor_sync(0xffffffffu, differs, s);
        if (lane == 0) differ[warp] = differs;
        __syncthreads();
        for (int k = 0; k < layout.warps; k++) differs |= differ[k];
        for (int y = warp; y < rows; y += layout.warps) {
            const uint32_t median = masks_median(layout, planes + y * L::pitch, masks, first, differs, lane);
            if (x0 + lane < image.width) planes_put(tile_out<T>(tile, y0 + y) + (x0 + lane) * image.channels + channel, median);
        }
        __syncthreads();
    }
}
#endif
