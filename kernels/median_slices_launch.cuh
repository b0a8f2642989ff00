/* The launcher of median_slices.cuh, for the files that share its sizes, because compilers take their time. */
#ifndef MEDIAN_SLICES_LAUNCH_CUH
#define MEDIAN_SLICES_LAUNCH_CUH
#include "median.h"
#include "median_slices.cuh"

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
#endif
