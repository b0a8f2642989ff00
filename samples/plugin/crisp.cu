/* The CUDA half of crisp: a thread a sample. A tile is some whole rows of the image in a ring of rows; there are no borders in
 * it, so a kernel finds what lies beyond the edge by index, here that of the nearest row or column. */
#include "crisp.h"

#define TILES 8 /* the most that travel in one launch */

struct jobs {
    imgpipe_tile tile[TILES];
};

template <typename T> __device__ static const T *row_at(const imgpipe_tile &tile, int64_t y, int64_t height) {
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    int64_t slot = tile.in_slot + (y - tile.in_rect.y0);
    if (slot >= tile.in_ring) slot -= tile.in_ring;
    return (const T *)((const unsigned char *)tile.in + slot * tile.in_stride);
}

__device__ static uint8_t value(uint8_t v, uint8_t a, uint8_t b, uint8_t l, uint8_t r, int amount) {
    return crisp_of_u8(v, a, b, l, r, amount);
}
__device__ static uint16_t value(uint16_t v, uint16_t a, uint16_t b, uint16_t l, uint16_t r, int amount) {
    return crisp_of_u16(v, a, b, l, r, amount);
}
__device__ static float value(float v, float a, float b, float l, float r, int amount) {
    return crisp_of_f32(v, a, b, l, r, amount);
}

template <typename T> __global__ void crisp_kernel(const __grid_constant__ jobs all, imgpipe_info info, int amount) {
    const imgpipe_tile &tile = all.tile[blockIdx.z];
    const int channels = info.format.channels;
    const int64_t n = info.width * channels, x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= n) return;
    const int64_t left = x >= channels ? x - channels : x, right = x + channels < n ? x + channels : x;
    const bool alpha = info.format.alpha && x % channels == channels - 1;
    for (int64_t y = tile.out_rect.y0 + blockIdx.y; y < tile.out_rect.y1; y += gridDim.y) {
        const T *v = row_at<T>(tile, y, info.height);
        const T *a = row_at<T>(tile, y - 1, info.height), *b = row_at<T>(tile, y + 1, info.height);
        T *out = (T *)((unsigned char *)tile.out + (y - tile.out_rect.y0) * tile.out_stride);
        out[x] = alpha ? v[x] : value(v[x], a[x], b[x], v[left], v[right], amount);
    }
}

/* Only enqueues: no allocation, no waiting, so that it can be captured into a graph. */
int crisp_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream) {
    const int amount = ((const struct crisp *)stage->data)->amount;
    const int64_t n = stage->in.width * stage->in.format.channels;
    for (int at = 0; at < count; at += TILES) {
        jobs some = {};
        int64_t rows = 1;
        const int these = count - at < TILES ? count - at : TILES;
        for (int i = 0; i < these; i++) {
            some.tile[i] = tiles[at + i];
            const int64_t high = tiles[at + i].out_rect.y1 - tiles[at + i].out_rect.y0;
            if (high > rows) rows = high;
        }
        const dim3 grid((unsigned)((n + 255) / 256), (unsigned)(rows < 65535 ? rows : 65535), (unsigned)these);
        switch (stage->in.format.type) {
        case IMGPIPE_U8: crisp_kernel<uint8_t><<<grid, 256, 0, (cudaStream_t)stream>>>(some, stage->in, amount); break;
        case IMGPIPE_U16: crisp_kernel<uint16_t><<<grid, 256, 0, (cudaStream_t)stream>>>(some, stage->in, amount); break;
        case IMGPIPE_F32: crisp_kernel<float><<<grid, 256, 0, (cudaStream_t)stream>>>(some, stage->in, amount); break;
        }
        const cudaError_t failed = cudaGetLastError();
        if (failed != cudaSuccess) return failed;
    }
    return cudaSuccess;
}
