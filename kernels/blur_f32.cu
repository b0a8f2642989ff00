/* The blur of f32 without alpha on CUDA. */
#include "blur_launch.cuh"

bool blur_launch_f32(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    return blur_launch_two<float, 4>(stage, tiles, count, stream, result) ||
           blur_launch_far_f32(stage, tiles, count, stream, result) || blur_launch_any<float>(stage, tiles, count, stream, result);
}
