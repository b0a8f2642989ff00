/* The blur of u16 without alpha on CUDA. */
#include "blur_launch.cuh"

bool blur_launch_u16(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    return blur_launch_two<uint16_t, 4>(stage, tiles, count, stream, result) ||
           blur_launch_far_u16(stage, tiles, count, stream, result) ||
           blur_launch_any<uint16_t>(stage, tiles, count, stream, result);
}
