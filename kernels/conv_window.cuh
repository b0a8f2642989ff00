/* Correlation by way of planes in shared memory (window.cuh), for any size and number of channels: what the kernels for all kinds
 * of samples and weights share. A thread makes some neighbouring samples of a few rows; each row of the plane comes by once, and
 * serves every result that it belongs to. */
#ifndef CONV_WINDOW_CUH
#define CONV_WINDOW_CUH
#include "conv.h"
#include "window.cuh"

#define CONV_LANES 32
#define CONV_WARPS 4
/* What every device can give a block, and what a launch says that would need more. */
#define CONV_SHARED (64 * 1024)
#define CONV_TOO_LARGE (-1)

/* WIDE: samples of a thread in a row. HALO: chunks to each side. */
template <typename T, int WIDE, int HALO> struct conv_layout {
    static const int across = CONV_LANES * WIDE, chunks = across / window_chunk<T>::samples, pitch = 16 * (chunks + 2 * HALO),
                     out_pitch = across * (int)sizeof(T);
    static __host__ __device__ int plane(int rows, int height) { return pitch * (rows + height - 1); }
    static __host__ __device__ int out_plane(int rows) { return out_pitch * rows; }
    static int bytes(int rows, int height, int channels) {
        return channels * (plane(rows, height) + (channels > 1 ? out_plane(rows) : 0)) + 32; /* words are read ahead */
    }
};

/* WIDE results of row `row` of a block: to the image, or to the plane `out` where there are several channels. */
template <typename T, int WIDE, int WORDS>
static __device__ __forceinline__ void conv_put(const imgpipe_tile &tile, const window_image &image, unsigned char *out, int64_t x0,
                                                int64_t y0, int lane, int row, const uint32_t (&v)[WORDS]) {
    static_assert(WORDS * 4 == WIDE * (int)sizeof(T), "words of a thread");
    const int64_t x = x0 + lane * WIDE;
    bool planes = image.channels > 1;
    T *to = planes ? (T *)out + (row * CONV_LANES + lane) * WIDE : tile_out<T>(tile, y0 + row) + x;
    if (planes || x + WIDE <= image.width) {
        if constexpr (WORDS == 4)
            *(uint4 *)to = make_uint4(v[0], v[1], v[2], v[3]);
        else
            *(uint2 *)to = make_uint2(v[0], v[1]);
        return;
    }
    const int per_word = 4 / (int)sizeof(T);
#pragma unroll
    for (int i = 0; i < WIDE; i++) {
        const uint32_t bits = v[i / per_word] >> (i % per_word * 8 * (int)sizeof(T) & 31);
        if (x + i >= image.width) break;
        if (sizeof(T) == 4)
            ((uint32_t *)to)[i] = bits;
        else
            to[i] = (T)bits;
    }
}

/* A row of samples as it is, for alpha. */
template <int WORDS> static __device__ __forceinline__ void conv_keep(const unsigned char *from, uint32_t (&v)[WORDS]) {
#pragma unroll
    for (int i = 0; i < WORDS; i++) v[i] = ((const uint32_t *)from)[i];
}

/* A block: planes of all channels, then groups of EACH rows of a channel, warp by warp, by plane(...). The number of a warp is the
 * same in all its lanes, which the compiler is told by the shuffle: so it can keep counters and weights in uniform registers. */
template <typename T, int WIDE, int HALO, int EACH, typename F>
static __device__ __forceinline__ void conv_block(const imgpipe_tile &tile, const window_image &image, unsigned char *shared,
                                                  int height, int rows, F plane) {
    typedef conv_layout<T, WIDE, HALO> L;
    const window_planes planes = {shared, L::pitch, L::plane(rows, height)};
    const window_planes results = {shared + image.channels * planes.plane_pitch, L::out_pitch, L::out_plane(rows)};
    const int64_t x0 = (int64_t)blockIdx.x * L::across;
    const int threads = CONV_LANES * CONV_WARPS, thread = (int)threadIdx.x;
    const int warp = __shfl_sync(0xffffffffu, thread / CONV_LANES, 0);
    for (int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * rows; y < tile.out_rect.y1; y += (int64_t)gridDim.y * rows) {
        const int made = (int)min((int64_t)rows, tile.out_rect.y1 - y), groups = rows / EACH;
        window_load<T, L::chunks + 2 * HALO>(tile, image, planes, x0 - window_chunk<T>::samples * HALO, y - height / 2,
                                             made + height - 1, thread, threads, window_copy());
        window_loaded();
        __syncthreads();
        for (int i = warp; i < image.channels * groups; i += CONV_WARPS)
            if (i % groups * EACH < made)
                plane(planes.base + i / groups * planes.plane_pitch, results.base + i / groups * results.plane_pitch, x0, y,
                      i % groups * EACH, made, i / groups);
        __syncthreads();
        if (image.channels == 1) continue;
        window_store<T, L::chunks>(tile, image, results, x0, y, made, thread, threads);
        __syncthreads();
    }
}

/* The height of a block: as many rows as shared memory has room for, up to two groups a warp. M is the mask as the kernel takes it,
 * `weights` the words of it that lie in shared memory. */
template <typename T, int WIDE, int HALO, int EACH, typename M>
static int conv_window_launch(void (*kernel)(tile_jobs, window_image, bool, int, M), int weights, const imgpipe_stage *stage,
                              const window_image &image, const M &mask, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef conv_layout<T, WIDE, HALO> L;
    int rows = 2 * CONV_WARPS * EACH;
    const int of_weights = (weights + 3) / 4 * 16;
    while (rows > EACH && of_weights + L::bytes(rows, mask.height, image.channels) > CONV_SHARED) rows /= 2;
    const int shared = of_weights + L::bytes(rows, mask.height, image.channels);
    if (shared > CONV_SHARED) return CONV_TOO_LARGE;
    if (shared > 48 * 1024) {
        cudaError_t failed = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
        if (failed != cudaSuccess) return (int)failed;
    }
    return tile_each(tiles, count, [&](const tile_jobs &jobs, int n) {
        const int64_t across = L::across, blocks = (tile_rows(jobs.tile, n) + rows - 1) / rows;
        dim3 grid((unsigned)((image.width + across - 1) / across), (unsigned)(blocks < 65535 ? blocks : 65535), (unsigned)n);
        kernel<<<grid, CONV_LANES * CONV_WARPS, shared, stream>>>(jobs, image, stage->in.format.alpha, rows, mask);
    });
}

/* Stages on u8 with real weights (conv_reals.cu), on f32 and on u16 (conv_types.cu), in files of their own because compilers take
 * their time: what the launch returns, or CONV_TOO_LARGE where it is not done there. */
int conv_reals_any(const imgpipe_stage *stage, const window_image &image, const imgpipe_tile *tiles, int count,
                   cudaStream_t stream);
int conv_sums_f32(const imgpipe_stage *stage, const window_image &image, const imgpipe_tile *tiles, int count, cudaStream_t stream);
int conv_sums_u16(const imgpipe_stage *stage, const window_image &image, const imgpipe_tile *tiles, int count, cudaStream_t stream);
#endif
