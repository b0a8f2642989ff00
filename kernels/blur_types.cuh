/* Launchers of the blur that lie in files of their own. Each says whether the stage is done there; *result is then that of the
 * launch. */
#ifndef BLUR_TYPES_CUH
#define BLUR_TYPES_CUH
#include "blur.h"
#include "tile.cuh"

/* All radii that have a kernel, and then those beyond 8, which the first two call. */
bool blur_launch_u16(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result);
bool blur_launch_f32(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result);
bool blur_launch_far_u16(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result);
bool blur_launch_far_f32(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result);
#endif
