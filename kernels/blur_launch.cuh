/* Which kernel blurs u16 and f32 without alpha: the body of blur_u16.cu, blur_f32.cu, blur_far_u16.cu and blur_far_f32.cu,
 * because compilers take their time. */
#ifndef BLUR_LAUNCH_CUH
#define BLUR_LAUNCH_CUH
#include "blur_reals.cuh"
#include "blur_types.cuh"
#include "ordered_window.cuh"

/* The shape of a block that was fastest on an H200. */
template <typename T, int R, int C> struct blur_real_pick { typedef blur_real_shape<T, R, C, 2, 256, 2> shape; };
template <typename T, int C> struct blur_real_pick<T, 4, C> { typedef blur_real_shape<T, 4, C, 4, 128, 4> shape; };
template <typename T> struct blur_real_pick<T, 8, 1> { typedef blur_real_shape<T, 8, 1, 2, 128, 5> shape; };
template <int C> struct blur_real_pick<uint16_t, 8, C> { typedef blur_real_shape<uint16_t, 8, C, 4, 128, 4> shape; };
template <> struct blur_real_pick<uint16_t, 8, 1> { typedef blur_real_shape<uint16_t, 8, 1, 2, 128, 5> shape; };

template <typename T, int R>
static int blur_launch_radius(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const blur_real_job job = blur_real_make<T>(stage, R);
    switch (job.image.channels) {
    case 1: return blur_real_launch<typename blur_real_pick<T, R, 1>::shape>(job, tiles, count, stream);
    case 3: return blur_real_launch<typename blur_real_pick<T, R, 3>::shape>(job, tiles, count, stream);
    default: return blur_real_launch<typename blur_real_pick<T, R, 4>::shape>(job, tiles, count, stream);
    }
}

/* The arithmetic of blur.h. Integers: a sum may come out above the greatest sample. */
template <typename T, bool GROUPS> struct ordered_blur {
    static const bool groups = GROUPS, weighted = true;
    static const int group = BLUR_GROUP;
    static __device__ __forceinline__ float first(float weight, float x) { return __fmul_rn(weight, x); }
    static __device__ __forceinline__ float next(float weight, float x, float sum) { return __fmaf_rn(weight, x, sum); }
    static __device__ __forceinline__ float end(float sum, float) { return sizeof(T) == 2 ? fminf(sum, 65535.0f) : sum; }
};

template <typename T, bool GROUPS>
static bool blur_launch_ordered(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream,
                                int *result) {
    const struct blur_plan *plan = (const struct blur_plan *)stage->data;
    ordered_job job = ordered_make<T>(stage, plan->rx, plan->ry);
    job.outside = plan->outside[0];
    for (int k = 0; k < 2 * job.ry + 1; k++) job.y[k] = plan->wy[k];
    for (int k = 0; k < 2 * job.rx + 1; k++) job.x[k] = plan->wx[k];
    return ordered_launch<T, ordered_blur<T, GROUPS>>(job, tiles, count, stream, result);
}

/* The radius of the kernel of blur_reals.cuh to take, 0: none. Where that is greater than the blur's, the weights between are
 * 0, which changes nothing for integers; infinite floats, NaN and -0 it would change. */
template <typename T> static int blur_launch_pick(const imgpipe_stage *stage) {
    const struct blur_plan *plan = (const struct blur_plan *)stage->data;
    const int radius = plan->rx > plan->ry ? plan->rx : plan->ry, kernel = (radius + 3) / 4 * 4;
    if (stage->in.format.alpha || stage->in.format.channels == 2 || kernel > BLUR_REAL_RADIUS) return 0;
    if (sizeof(T) == 4 && (plan->rx != kernel || plan->ry != kernel)) return 0;
    return kernel;
}

/* Whether the stage is done by the kernel of radius LEAST or that of four more, *result is then that of the launch: two kernels to a
 * file, for the compiler's time. */
template <typename T, int LEAST>
static bool blur_launch_two(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    switch (blur_launch_pick<T>(stage)) {
    case LEAST: *result = blur_launch_radius<T, LEAST>(stage, tiles, count, stream); return true;
    case LEAST + 4: *result = blur_launch_radius<T, LEAST + 4>(stage, tiles, count, stream); return true;
    default: return false;
    }
}
/* Where that does nothing for any radius. */
template <typename T>
static bool blur_launch_any(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    const struct blur_plan *plan = (const struct blur_plan *)stage->data;
    if (stage->in.format.alpha || plan->rx > ORDERED_RADIUS || plan->ry > ORDERED_RADIUS) return false;
    if (2 * plan->rx < BLUR_GROUP && 2 * plan->ry < BLUR_GROUP)
        return blur_launch_ordered<T, false>(stage, tiles, count, stream, result);
    return blur_launch_ordered<T, true>(stage, tiles, count, stream, result);
}
#endif
