/* Medians of windows from 129 x 129 on: the rest of median_large.cu. */
#include "median_slices_launch.cuh"

int median_slices_cuda_vast(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream) {
    const int size = ((const struct median_data *)stage->data)->size;
    return slices_launch<8, 12>(stage, size, outside, tiles, count, stream);
}
