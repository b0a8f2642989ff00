/* Medians of large windows on CUDA devices: the launcher of median_slices.cuh.
 *
 * Bytes moved: in (1 + (size - 1) / columns) (1 + (size - 1) / rows) times, mostly from the L2 cache, and out once: far below what
 * the operations take. Operations of a warp for 128 columns of a row and 32 thresholds: 8 to 9 bits compared twice, 2 + 4 + ... + 2
 * LEVELS in the tree, 4 LEVELS for the sum, about as many shifts as the tree has; 15 x 15 about 430 in all, 31 x 31 510. Passes
 * over a tile: two where a tile's medians lie within four ranges of eight values, at most nine. Floor at 31 x 31, two passes: 38
 * Gpix/s.
 * Measured on an H200, Gpix/s, random / constant / natural content: 25 x 25 31.7 / 35.4 / 15.3, 31 x 31 30.6 / 31.4 / 14.2, 51 x 51
 * 16.9 / 17.0 / 9.4; the arithmetic units 67 % busy. Natural content has more ranges in a tile. For 15 x 15 it was 36.0 / 53.7 /
 * 19.4, where networks reach 43.7 with any. */
#include "median_slices.cuh"
#include "median.h"

#define SLICES_ROWS 32

/* The levels of the tree, from the last. */
static struct median_slices slices_plan(const imgpipe_stage *stage, int size, int32_t outside, int levels) {
    struct median_slices launch = {};
    launch.width = stage->in.width, launch.height = stage->in.height, launch.channels = stage->in.format.channels;
    launch.size = size, launch.border = stage->border, launch.outside = (uint32_t)outside;
    for (int level = levels, m = size; level > 0; level--) {
        const int n = (m + 1) / 2;
        launch.odd[level] = m % 2 ? 0xffffffffu : 0u;
        launch.shift[level] = m - n, launch.carry[level] = n - 1;
        m = n;
    }
    return launch;
}

template <int LEVELS, int WORDS>
static int slices_launch(const imgpipe_stage *stage, int size, int32_t outside, const imgpipe_tile *tiles, int count,
                         void *stream) {
    struct median_slices launch = slices_plan(stage, size, outside, LEVELS);
    launch.rows = SLICES_ROWS;
    const int shared = (2 * launch.rows + size - 1) * WORDS * 32, across = WORDS * 32 - size + 1;
    if (!median_room(median_slices_tile<LEVELS, WORDS>, shared)) return MEDIAN_NO_ROOM;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t blocks = (tile_rows(jobs.tile, n) + launch.rows - 1) / launch.rows;
        const dim3 grid((unsigned)((launch.width + across - 1) / across * launch.channels),
                        (unsigned)(blocks < 65535 ? blocks : 65535), (unsigned)n);
        median_slices_tile<LEVELS, WORDS><<<grid, 32, shared, (cudaStream_t)stream>>>(jobs, launch);
    });
}

int median_slices_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream) {
    const int size = ((const struct median_data *)stage->data)->size;
    if (size < 9) return MEDIAN_NO_ROOM;
    if (size < 16) return slices_launch<4, 4>(stage, size, outside, tiles, count, stream);
    if (size < 32) return slices_launch<5, 4>(stage, size, outside, tiles, count, stream);
    if (size < 64) return slices_launch<6, 4>(stage, size, outside, tiles, count, stream);
    if (size < 128) return slices_launch<7, 8>(stage, size, outside, tiles, count, stream);
    return slices_launch<8, 12>(stage, size, outside, tiles, count, stream);
}
