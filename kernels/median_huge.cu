/* Medians of windows from 32 x 32 to 127 x 127: the rest of median_large.cu. */
#include "median_slices_launch.cuh"

int median_slices_cuda_huge(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream) {
    const int size = ((const struct median_data *)stage->data)->size;
    if (size < 64) return slices_launch<6, 4>(stage, size, outside, tiles, count, stream);
    return slices_launch<7, 8>(stage, size, outside, tiles, count, stream);
}
