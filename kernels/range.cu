/* The engine's own gather of f32 samples (src/range.h) on the device. Reads 4 bytes a sample, writes nothing but a few atomics
 * a block. */
#include "tile.cuh"
#include "range.h"

#define RANGE_THREADS 256

__device__ __forceinline__ unsigned range_key(float v) {
    unsigned bits = __float_as_uint(v);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ unsigned warp_sum(unsigned v) {
    for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

__device__ __forceinline__ unsigned warp_max(unsigned v) {
    for (int step = 16; step > 0; step /= 2) v = max(v, __shfl_xor_sync(0xffffffffu, v, step));
    return v;
}

__global__ void range_kernel(const __grid_constant__ struct tile_jobs jobs, int64_t samples_per_row) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    struct range_state *state = (struct range_state *)tile.state;
    unsigned low_inverted = 0, high = 0, outside = 0, nans = 0, samples = 0;
    for (int64_t y = tile.in_rect.y0 + blockIdx.y; y < tile.in_rect.y1; y += gridDim.y) {
        const float *row = tile_in<float>(tile, y);
        for (int64_t x = (int64_t)blockIdx.x * RANGE_THREADS + threadIdx.x; x < samples_per_row; x += (int64_t)gridDim.x * RANGE_THREADS) {
            float v = row[x];
            samples++;
            if (!(v >= 0.0f && v <= 1.0f)) outside++;
            if (v != v) {
                nans++;
                continue;
            }
            unsigned key = range_key(v);
            high = max(high, key);
            low_inverted = max(low_inverted, ~key);
        }
    }
    outside = warp_sum(outside);
    nans = warp_sum(nans);
    samples = warp_sum(samples);
    high = warp_max(high);
    low_inverted = warp_max(low_inverted);
    if (threadIdx.x % 32) return;
    atomicAdd((unsigned long long *)&state->samples, (unsigned long long)samples);
    if (outside) atomicAdd((unsigned long long *)&state->outside, (unsigned long long)outside);
    if (nans) atomicAdd((unsigned long long *)&state->nans, (unsigned long long)nans);
    atomicMax(&state->high, high);
    atomicMax(&state->low_inverted, low_inverted);
}

extern "C" int range_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream) {
    int64_t samples = stage->in.width * stage->in.format.channels;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        int64_t across = (samples + RANGE_THREADS - 1) / RANGE_THREADS, rows = 0;
        for (int i = 0; i < n; i++) rows = max(rows, jobs.tile[i].in_rect.y1 - jobs.tile[i].in_rect.y0);
        if (rows == 0) return;
        dim3 grid((unsigned)(across < 64 ? across : 64), (unsigned)(rows < 256 ? rows : 256), (unsigned)n);
        range_kernel<<<grid, RANGE_THREADS, 0, (cudaStream_t)stream>>>(jobs, samples);
    });
}
