/* What the .cu files share: views of device memory, jobs as kernel parameters, typed access. Only for nvcc. */
#ifndef TILE_CUH
#define TILE_CUH
#include <cuda_runtime.h>
#include "kernel.h"
#include "pixel.h"

/* Tiles travel as a kernel parameter: `const __grid_constant__ struct tile_jobs jobs`, blockIdx.z picks the tile. A launcher
 * that gets more than TILE_MAX tiles launches several times. */
#define TILE_MAX 16
struct tile_jobs {
    imgpipe_tile tile[TILE_MAX];
};

template <typename T> __device__ __forceinline__ const T *tile_in(const imgpipe_tile &tile, int64_t y) {
    int slot = (int)(tile.in_slot + (y - tile.in_rect.y0));
    if (slot >= (int)tile.in_ring) slot -= (int)tile.in_ring;
    return (const T *)((const unsigned char *)tile.in + (int64_t)slot * tile.in_stride);
}

template <typename T> __device__ __forceinline__ T *tile_out(const imgpipe_tile &tile, int64_t y) {
    return (T *)((unsigned char *)tile.out + (y - tile.out_rect.y0) * tile.out_stride);
}

/* The greatest number of output rows among tiles [first, first + n): the height of the grid. */
static inline int64_t tile_rows(const imgpipe_tile *tiles, int n) {
    int64_t rows = 0;
    for (int i = 0; i < n; i++)
        if (tiles[i].out_rect.y1 - tiles[i].out_rect.y0 > rows) rows = tiles[i].out_rect.y1 - tiles[i].out_rect.y0;
    return rows;
}

/* How high strips of rows should be so that `columns` columns of them make one round of `places` blocks, or some full ones, with
 * none left over at the end: about `most` rows at most, whole units of `unit` rows, and within the limit of a grid's height. */
static inline int tile_strip(int64_t rows, int64_t columns, int64_t places, int64_t most, int64_t unit) {
    int64_t rounds = (rows * columns + places * most - 1) / (places * most), strips = rounds * places / columns;
    if (strips < 1) strips = 1;
    if (strips > 65535) strips = 65535;
    int64_t strip = (rows + strips - 1) / strips;
    return (int)((strip + unit - 1) / unit * unit);
}

static inline int64_t tile_multiprocessors(void) {
    int device = 0, n = 0;
    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return 1;
    return n < 1 ? 1 : n;
}

/* Calls launch(jobs, n) for every TILE_MAX tiles until one fails. */
template <typename F> static inline int tile_each(const imgpipe_tile *tiles, int count, F launch) {
    for (int at = 0; at < count; at += TILE_MAX) {
        struct tile_jobs jobs = {};
        int n = count - at < TILE_MAX ? count - at : TILE_MAX;
        for (int i = 0; i < n; i++) jobs.tile[i] = tiles[at + i];
        launch(jobs, n);
        cudaError_t failed = cudaGetLastError();
        if (failed != cudaSuccess) return (int)failed;
    }
    return (int)cudaSuccess;
}

/* The same for kernels with a block for every `each` rows: the height of a grid has a limit, and a higher tile is launched in
 * parts, one after another, so that they can share its scratch. */
template <typename F> static inline int tile_each_part(const imgpipe_tile *tiles, int count, int64_t each, F launch) {
    const int64_t most = 65535 * each;
    if (tile_rows(tiles, count) <= most) return tile_each(tiles, count, launch);
    for (int i = 0; i < count; i++)
        for (int64_t y = tiles[i].out_rect.y0; y < tiles[i].out_rect.y1; y += most) {
            imgpipe_tile part = tiles[i];
            part.out = (unsigned char *)part.out + (y - part.out_rect.y0) * part.out_stride;
            part.out_rect.y0 = y;
            if (part.out_rect.y1 > y + most) part.out_rect.y1 = y + most;
            int failed = tile_each(&part, 1, launch);
            if (failed != (int)cudaSuccess) return failed;
        }
    return (int)cudaSuccess;
}
#endif
