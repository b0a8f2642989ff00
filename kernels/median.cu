/* Medians on CUDA devices. Small windows: a thread takes the two windows of a column of two results through the networks of
 * median_network.h, in registers. Large ones: a thread finds its median bit by bit, by counting. Keys are 32 bits wide. */
#include "median.h"
#include "median_network.h"
#include "tile.cuh"

#define MEDIAN_MM(a, b)                                                                                             \
    {                                                                                                               \
        const int32_t low = min(v[a], v[b]), high = max(v[a], v[b]);                                                \
        v[a] = low;                                                                                                 \
        v[b] = high;                                                                                                \
    }
#define MEDIAN_MIN(a, b) v[a] = min(v[a], v[b]);
#define MEDIAN_MAX(a, b) v[b] = max(v[a], v[b]);

/* What all threads of a launch share; the size of the image is that of the stage's input. */
struct median_launch {
    int64_t width, height;
    int channels, size;
    imgpipe_border border;
    int32_t outside; /* key of the constant border */
};

static __device__ __forceinline__ int32_t key_of(uint8_t v) { return v; }
static __device__ __forceinline__ int32_t key_of(uint16_t v) { return v; }
static __device__ __forceinline__ int32_t key_of(float v) { return median_key(v); }
static __device__ __forceinline__ void put_key(uint8_t *to, int32_t key) { *to = (uint8_t)key; }
static __device__ __forceinline__ void put_key(uint16_t *to, int32_t key) { *to = (uint16_t)key; }
static __device__ __forceinline__ void put_key(float *to, int32_t key) { *to = median_from_key(key); }

/* Row y as the border continues it; NULL outside with the constant border. */
template <typename T>
static __device__ __forceinline__ const T *window_row(const struct median_launch &launch, const imgpipe_tile &tile, int64_t y) {
    const int64_t row = border_index(launch.border, y, launch.height);
    return row < 0 ? (const T *)0 : tile_in<T>(tile, row);
}

/* The sample of column x in a row, as the border continues it; -1 outside with the constant border. */
static __device__ __forceinline__ int64_t window_column(const struct median_launch &launch, int64_t x, int channel) {
    const int64_t column = border_index(launch.border, x, launch.width);
    return column < 0 ? -1 : column * launch.channels + channel;
}

template <typename T> static __device__ __forceinline__ int32_t window_key(const T *row, int64_t at, int32_t outside) {
    return row && at >= 0 ? key_of(row[at]) : outside;
}

#define SIZE 3
#include "median_tile.cuh"
#undef SIZE
#define SIZE 5
#include "median_tile.cuh"
#undef SIZE
#define SIZE 7
#include "median_tile.cuh"
#undef SIZE
#define SIZE 9
#include "median_tile.cuh"
#undef SIZE

/* How many keys of the window around column x, row y are below `limit`. Keys are taken as unsigned, in the same order. */
template <typename T>
static __device__ int window_below(const struct median_launch &launch, const imgpipe_tile &tile, int64_t x, int64_t y, int channel,
                                   uint32_t flip, uint32_t limit) {
    const int radius = launch.size / 2;
    int below = 0;
    for (int j = -radius; j <= radius; j++) {
        const T *row = window_row<T>(launch, tile, y + j);
        for (int k = -radius; k <= radius; k++)
            below += ((uint32_t)window_key(row, window_column(launch, x + k, channel), launch.outside) ^ flip) < limit;
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
    const uint32_t flip = sizeof(T) == 4 ? 0x80000000u : 0u; /* float keys are signed */
    for (int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * blockDim.y + threadIdx.y; y < tile.out_rect.y1;
         y += (int64_t)gridDim.y * blockDim.y) {
        uint32_t median = 0;
        for (int bit = 8 * (int)sizeof(T) - 1; bit >= 0; bit--) {
            const uint32_t limit = median | 1u << bit;
            if (window_below<T>(launch, tile, x / launch.channels, y, channel, flip, limit) <= half) median = limit;
        }
        put_key(tile_out<T>(tile, y) + x, (int32_t)(median ^ flip));
    }
}

typedef void (*median_kernel)(const struct tile_jobs, const struct median_launch);

template <typename T> static median_kernel median_choose(int size) {
    switch (size) {
    case 3: return median_pair_3<T>;
    case 5: return median_pair_5<T>;
    case 7: return median_pair_7<T>;
    case 9: return median_pair_9<T>;
    default: return median_bits<T>;
    }
}

extern "C" int median_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream) {
    const struct median_data *data = (const struct median_data *)stage->data;
    const imgpipe_info *in = &stage->in;
    const float value = (float)stage->border_value;
    struct median_launch launch = {in->width, in->height, in->format.channels, data->size, stage->border, 0};
    median_kernel kernel;
    switch (in->format.type) {
    case IMGPIPE_U8: launch.outside = pixel_u8(value), kernel = median_choose<uint8_t>(data->size); break;
    case IMGPIPE_U16: launch.outside = pixel_u16(value), kernel = median_choose<uint16_t>(data->size); break;
    default: launch.outside = median_key(value), kernel = median_choose<float>(data->size); break;
    }
    const dim3 threads(32, 4);
    const int rows_of_thread = data->size <= MEDIAN_NETWORK_SIZE ? 2 : 1;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t samples = in->width * in->format.channels, per_block = (int64_t)threads.y * rows_of_thread;
        const int64_t blocks = (tile_rows(jobs.tile, n) + per_block - 1) / per_block;
        const int64_t across = (samples + threads.x - 1) / threads.x;
        const dim3 grid((unsigned)across, (unsigned)(blocks < 65535 ? blocks : 65535), (unsigned)n);
        kernel<<<grid, threads, 0, (cudaStream_t)stream>>>(jobs, launch);
    });
}
