/* The blur of f32 without alpha on CUDA: radii of 9 to 16. */
#include "blur_launch.cuh"

bool blur_launch_far_f32(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    return blur_launch_two<float, 12>(stage, tiles, count, stream, result);
}
