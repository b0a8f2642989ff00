/* The blur of u16 without alpha on CUDA: radii of 9 to 16. */
#include "blur_launch.cuh"

bool blur_launch_far_u16(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    return blur_launch_two<uint16_t, 12>(stage, tiles, count, stream, result);
}
