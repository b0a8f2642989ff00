/* The blur of f32 without alpha on CUDA. */
#include "blur_launch.cuh"

bool blur_launch_f32(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    return blur_launch<float>(stage, tiles, count, stream, result);
}
