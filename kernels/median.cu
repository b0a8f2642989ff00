/* Medians on CUDA devices: the launcher that chooses among all methods, and two of them.
 *
 *   3 x 3                        median_three.cuh: networks, straight from global memory
 *   5 x 5                        here: a thread makes the results of eight neighbouring registers in two rows, sharing sorted
 *                                columns, by networks (median_key.cuh, median_tile.cuh); samples come by way of planes in shared
 *                                memory
 *   7 x 7 to 15 x 15             median_tree.cuh: networks of tiles
 *   u8 from 17 x 17              median_slices.cuh: counts below thresholds
 *   u16, f32 from 17 to 31       median_planes.cuh: bit by bit, rows of windows in registers
 *   u16 from 33, f32 to 127      median_spread.cuh: the same with a window spread over several lanes
 *   f32 from 129                 here: bit by bit, counting all samples anew; any size and type for which a device has too little
 *                                shared memory
 *
 * 5 x 5. Bytes moved: each sample in and out once, and the rows that a block shares with the next once more through the L2 cache.
 * Operations of two 16-bit lanes for two results: 71, and as many of 32 bits for one result of f32. Floor: 470 Gpix/s, f32 235, by
 * these operations at 64 a clock and multiprocessor. Measured on an H200: u8 325, u16 262, f32 131 Gpix/s. */
#include "median_network.h"
#include "median_key.cuh"

#define MEDIAN_MM(a, b)                                                                                                            \
    {                                                                                                                              \
        const typename P::key low = P::least(v[a], v[b]), high = P::most(v[a], v[b]);                                              \
        v[a] = low;                                                                                                                \
        v[b] = high;                                                                                                               \
    }
#define MEDIAN_MIN(a, b) v[a] = P::least(v[a], v[b]);
#define MEDIAN_MAX(a, b) v[b] = P::most(v[a], v[b]);
#define SIZE 5
#include "median_tile.cuh"
#undef SIZE
#undef MEDIAN_MM
#undef MEDIAN_MIN
#undef MEDIAN_MAX

#define MEDIAN_THREADS 128
#define MEDIAN_LANES 32
/* What every device can give a block. */
#define MEDIAN_SHARED (64 * 1024)

/* A block makes MEDIAN_LANES * P::columns columns of `rows` rows of all channels. */
template <typename P> struct median_layout {
    static const int chunks = MEDIAN_LANES * P::chunks, pitch = 16 * (chunks + 2);
    static __host__ __device__ int plane(int rows, int size) { return pitch * (rows + size - 1); }
    static __host__ __device__ int out_plane(int rows) { return 16 * chunks * rows; }
    static int bytes(int rows, int size, int channels) {
        return channels * (plane(rows, size) + (channels > 1 ? out_plane(rows) : 0));
    }
};

/* The results of one channel of a block: warp by warp, as many rows at a time as the network makes. */
template <typename N, typename P>
static __device__ __forceinline__ void median_plane(const imgpipe_tile &tile, const window_image &image, const unsigned char *plane,
                                                    unsigned char *out, int64_t x0, int64_t y0, int rows, int group) {
    typedef median_layout<P> L;
    typedef typename P::sample T;
    const int lane = threadIdx.x % MEDIAN_LANES, y = group * N::rows;
    const int64_t x = x0 + lane * P::columns;
    if (x >= image.width) return;
    uint32_t in[N::rows + N::size - 1][P::words];
    typename P::key medians[N::rows][8];
#pragma unroll
    for (int j = 0; j < N::rows + N::size - 1; j++) P::load(plane + (y + j) * L::pitch + 16 + lane * (16 * P::chunks), in[j]);
    N::run(in, medians);
#pragma unroll
    for (int j = 0; j < N::rows; j++) {
        uint4 words[P::chunks];
        P::put(medians[j], words);
        if (y + j >= rows) break;
#pragma unroll
        for (int k = 0; k < P::chunks; k++)
            if (image.channels > 1)
                ((uint4 *)(out + (y + j) * (16 * L::chunks)))[lane * P::chunks + k] = words[k];
            else
                window_store_chunk<T>(tile_out<T>(tile, y0 + y + j), x + k * window_chunk<T>::samples, image.width, words[k]);
    }
}

template <typename N, typename P>
static __global__ void __launch_bounds__(MEDIAN_THREADS)
    median_window(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct window_image image, int rows) {
    typedef median_layout<P> L;
    typedef typename P::sample T;
    extern __shared__ uint4 median_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const window_planes planes = {(unsigned char *)median_shared, L::pitch, L::plane(rows, N::size)};
    const window_planes results = {planes.base + image.channels * planes.plane_pitch, 16 * L::chunks, L::out_plane(rows)};
    const int64_t x0 = (int64_t)blockIdx.x * (MEDIAN_LANES * P::columns);
    for (int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * rows; y < tile.out_rect.y1; y += (int64_t)gridDim.y * rows) {
        const int made = (int)min((int64_t)rows, tile.out_rect.y1 - y), groups = rows / N::rows;
        window_load<T, L::chunks + 2>(tile, image, planes, x0 - window_chunk<T>::samples, y - N::size / 2, made + N::size - 1,
                                      (int)threadIdx.x, MEDIAN_THREADS, typename P::convert());
        window_loaded();
        __syncthreads();
        for (int i = threadIdx.x / MEDIAN_LANES; i < image.channels * groups; i += MEDIAN_THREADS / MEDIAN_LANES)
            median_plane<N, P>(tile, image, planes.base + i / groups * planes.plane_pitch,
                               results.base + i / groups * results.plane_pitch, x0, y, made, i % groups);
        __syncthreads();
        if (image.channels == 1) continue;
        window_store<T, L::chunks>(tile, image, results, x0, y, made, (int)threadIdx.x, MEDIAN_THREADS);
        __syncthreads();
    }
}

/* Where no other method has room: any type and size. */

/* What all threads of a launch share; the size of the image is that of the stage's input. */
struct median_launch {
    int64_t width, height;
    int channels, size;
    imgpipe_border border;
    uint32_t outside; /* key of the constant border */
};

/* Keys in the order of unsigned integers. */
static __device__ __forceinline__ uint32_t bits_key(uint8_t v) {
    return v;
}
static __device__ __forceinline__ uint32_t bits_key(uint16_t v) {
    return v;
}
static __device__ __forceinline__ uint32_t bits_key(float v) {
    return (uint32_t)median_key(v) ^ 0x80000000u;
}
static __device__ __forceinline__ void bits_put(uint8_t *to, uint32_t key) {
    *to = (uint8_t)key;
}
static __device__ __forceinline__ void bits_put(uint16_t *to, uint32_t key) {
    *to = (uint16_t)key;
}
static __device__ __forceinline__ void bits_put(float *to, uint32_t key) {
    *to = median_from_key((int32_t)(key ^ 0x80000000u));
}

/* How many keys of the window around column x, row y are below `limit`. */
template <typename T>
static __device__ int bits_below(const struct median_launch &launch, const imgpipe_tile &tile, int64_t x, int64_t y, int channel,
                                 uint32_t limit) {
    const int radius = launch.size / 2;
    int below = 0;
    for (int j = -radius; j <= radius; j++) {
        const int64_t row = window_index(launch.border, y + j, launch.height);
        const T *from = row < 0 ? (const T *)0 : tile_in<T>(tile, row);
        for (int k = -radius; k <= radius; k++) {
            const int64_t column = window_index(launch.border, x + k, launch.width);
            below += (from && column >= 0 ? bits_key(from[column * launch.channels + channel]) : launch.outside) < limit;
        }
    }
    return below;
}

/* The median is the greatest value that no more than half of the samples are below: found from its highest bit on. */
template <typename T>
static __global__ void median_bits(const __grid_constant__ struct tile_jobs jobs,
                                   const __grid_constant__ struct median_launch launch) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= launch.width * launch.channels) return;
    const int half = launch.size * launch.size / 2, channel = (int)(x % launch.channels);
    for (int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * blockDim.y + threadIdx.y; y < tile.out_rect.y1;
         y += (int64_t)gridDim.y * blockDim.y) {
        uint32_t median = 0;
        for (int bit = 8 * (int)sizeof(T) - 1; bit >= 0; bit--) {
            const uint32_t limit = median | 1u << bit;
            if (bits_below<T>(launch, tile, x / launch.channels, y, channel, limit) <= half) median = limit;
        }
        bits_put(tile_out<T>(tile, y) + x, median);
    }
}

template <typename T>
static int median_bits_launch(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count,
                              cudaStream_t stream) {
    const imgpipe_info *in = &stage->in;
    const int size = ((const struct median_data *)stage->data)->size;
    const uint32_t key = (uint32_t)outside ^ (sizeof(T) == 4 ? 0x80000000u : 0u);
    struct median_launch launch = {in->width, in->height, in->format.channels, size, stage->border, key};
    const dim3 threads(32, 4);
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t samples = in->width * in->format.channels;
        const int64_t blocks = (tile_rows(jobs.tile, n) + threads.y - 1) / threads.y;
        const dim3 grid((unsigned)((samples + threads.x - 1) / threads.x), (unsigned)(blocks < 65535 ? blocks : 65535),
                        (unsigned)n);
        median_bits<T><<<grid, threads, 0, stream>>>(jobs, launch);
    });
}

/* The height of a block: as many rows as shared memory has room for, up to 16. */
template <typename N, typename P>
static int median_window_launch(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count,
                                cudaStream_t stream) {
    const imgpipe_info *in = &stage->in;
    const struct window_image image = {in->width, in->height, in->format.channels, stage->border, (uint32_t)outside};
    int rows = 16;
    while (rows > N::rows && median_layout<P>::bytes(rows, N::size, image.channels) > MEDIAN_SHARED) rows /= 2;
    const int shared = median_layout<P>::bytes(rows, N::size, image.channels);
    if (shared > 48 * 1024) {
        cudaError_t failed = cudaFuncSetAttribute(median_window<N, P>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
        if (failed != cudaSuccess) return (int)failed;
    }
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t blocks = (tile_rows(jobs.tile, n) + rows - 1) / rows, across = MEDIAN_LANES * P::columns;
        const dim3 grid((unsigned)((in->width + across - 1) / across), (unsigned)(blocks < 65535 ? blocks : 65535), (unsigned)n);
        median_window<N, P><<<grid, MEDIAN_THREADS, shared, stream>>>(jobs, image, rows);
    });
}

template <typename P>
static int median_launch_best(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count,
                              cudaStream_t stream) {
    switch (((const struct median_data *)stage->data)->size) {
    case 3: return median_three_cuda(stage, outside, tiles, count, stream);
    case 5: return median_window_launch<median_net_5<P>, P>(stage, outside, tiles, count, stream);
    case 7: return median_tree_cuda_7(stage, outside, tiles, count, stream);
    case 9: return median_tree_cuda_9(stage, outside, tiles, count, stream);
    case 11: return median_tree_cuda_11(stage, outside, tiles, count, stream);
    case 13: return median_tree_cuda_13(stage, outside, tiles, count, stream);
    case 15: return median_tree_cuda_15(stage, outside, tiles, count, stream);
    default: return MEDIAN_NO_ROOM;
    }
}

/* The best method, else that of large windows, else the one that needs no shared memory. */
template <typename P>
static int median_launch_any(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count,
                             cudaStream_t stream) {
    typedef typename P::sample T;
    int status = median_launch_best<P>(stage, outside, tiles, count, stream);
    if (status == MEDIAN_NO_ROOM)
        status = sizeof(T) == 1 ? median_slices_cuda(stage, outside, tiles, count, stream)
                                : median_planes_cuda(stage, outside, tiles, count, stream);
    return status == MEDIAN_NO_ROOM ? median_bits_launch<T>(stage, outside, tiles, count, stream) : status;
}

extern "C" int median_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream) {
    const float value = (float)stage->border_value;
    cudaStream_t s = (cudaStream_t)stream;
    switch (stage->in.format.type) {
    case IMGPIPE_U8: return median_launch_any<median_policy<uint8_t>>(stage, pixel_u8(value), tiles, count, s);
    case IMGPIPE_U16: return median_launch_any<median_policy<uint16_t>>(stage, pixel_u16(value), tiles, count, s);
    default: return median_launch_any<median_policy<float>>(stage, median_key(value), tiles, count, s);
    }
}
