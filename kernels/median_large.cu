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
#include "median_slices_launch.cuh"

int median_slices_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream) {
    const int size = ((const struct median_data *)stage->data)->size;
    if (size < 9) return MEDIAN_NO_ROOM;
    if (size < 16) return slices_launch<4, 4>(stage, size, outside, tiles, count, stream);
    if (size < 32) return slices_launch<5, 4>(stage, size, outside, tiles, count, stream);
    if (size < 128) return median_slices_cuda_huge(stage, outside, tiles, count, stream);
    return median_slices_cuda_vast(stage, outside, tiles, count, stream);
}
