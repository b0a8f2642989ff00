/* Point programs on CUDA: every step of a program runs on pixels that stay in registers. */
#include "point.h"
#include "point_tile.cuh"

#define POINT_WARPS 4
#define POINT_THREADS (32 * POINT_WARPS)
/* Tables up to this size are copied to shared memory. */
#define POINT_SMALL 4096

/* A program without the pointer to its tables, which is on the host. `flat` pixels are 4 samples of any channel. */
struct point_job {
    imgpipe_format in, out;
    bool flat;
    int in_channels; /* before they were made flat */
    int step_count;
    uint32_t tables_size;
    struct point_step steps[POINT_MAX_STEPS];
};
static_assert(sizeof(struct point_job) + sizeof(struct tile_jobs) < 30000, "kernel parameters end at 32764 bytes");

/* ---- steps */

/* Calls f(sample's bits) for colours, and for alpha if `with_alpha`. */
template <int G, typename F>
__device__ __forceinline__ void each_sample(point_state<G> &s, imgpipe_format in, bool with_alpha, F f) {
    int n = in.channels - (in.alpha && !with_alpha ? 1 : 0);
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (c < n)
#pragma unroll
            for (int i = 0; i < G * POINT_GROUP; i++) {
                uint32_t &v = s.v[i / POINT_GROUP][i % POINT_GROUP][c];
                v = f(v);
            }
}

template <int G, typename F> __device__ __forceinline__ void each_alpha(point_state<G> &s, imgpipe_format in, F f) {
#pragma unroll
    for (int c = 1; c < 4; c++) {
        bool hit = in.alpha && c == in.channels - 1;
#pragma unroll
        for (int i = 0; i < G * POINT_GROUP; i++) {
            uint32_t &v = s.v[i / POINT_GROUP][i % POINT_GROUP][c];
            if (hit) v = f(v);
        }
    }
}

template <typename E, int G>
__device__ __forceinline__ void look_up(const struct point_step &step, const unsigned char *tables, point_state<G> &s) {
    const E *color = (const E *)(tables + step.color_table), *alpha = (const E *)(tables + step.alpha_table);
    each_sample(s, step.in, false, [=](uint32_t v) { return (uint32_t)color[v]; });
    if (!step.alpha_identity) each_alpha(s, step.in, [=](uint32_t v) { return (uint32_t)alpha[v]; });
}

template <int G>
__device__ __forceinline__ void table(const struct point_step &step, const unsigned char *tables, point_state<G> &s) {
    uint32_t mask = step.color_mask, flip = step.color_flip, alpha_mask = step.alpha_mask, alpha_flip = step.alpha_flip;
    uint32_t widen = step.widen, level = step.level, high = step.level_high, low = step.level_low;
    float max = step.in.type == IMGPIPE_U8 ? 255.0f : 65535.0f;
    switch (step.map) {
    case POINT_LOOKUP:
        if (step.out.type == IMGPIPE_U8) look_up<uint8_t>(step, tables, s);
        if (step.out.type == IMGPIPE_U16) look_up<uint16_t>(step, tables, s);
        if (step.out.type == IMGPIPE_F32) look_up<uint32_t>(step, tables, s);
        break;
    case POINT_BITS:
        each_sample(s, step.in, false, [=](uint32_t v) { return (v & mask) * widen ^ flip; });
        each_alpha(s, step.in, [=](uint32_t v) { return (v & alpha_mask) * widen ^ alpha_flip; });
        break;
    case POINT_LEVEL: each_sample(s, step.in, false, [=](uint32_t v) { return v >= level ? high : low; }); break;
    case POINT_SHRINK: each_sample(s, step.in, true, [](uint32_t v) { return v * 255u + 32895u >> 16; }); break;
    case POINT_UNIT: each_sample(s, step.in, true, [=](uint32_t v) { return __float_as_uint(__fdiv_rn((float)v, max)); }); break;
    }
}

__device__ __forceinline__ uint32_t mixed(const struct point_step &step, double inverse, uint32_t r, uint32_t g, uint32_t b) {
    const float *f = step.float_weights;
    if (step.in.type == IMGPIPE_F32)
        return __float_as_uint(
            pixel_f32(fmaf(f[2], __uint_as_float(b), fmaf(f[1], __uint_as_float(g), __fmul_rn(f[0], __uint_as_float(r))))));
    uint32_t max = step.in.type == IMGPIPE_U8 ? 255 : 65535;
    if (step.mix_u32)
        return min(((uint32_t)step.weights[0] * r + (uint32_t)step.weights[1] * g + (uint32_t)step.weights[2] * b +
                    (uint32_t)step.round) >>
                       16,
                   max);
    if (step.mix_third) return (r + g + b + 1) / 3;
    int64_t sum = step.weights[0] * r + step.weights[1] * g + step.weights[2] * b + step.round;
    if (sum <= 0) return 0;
    if (step.divisor == 65536) return (uint32_t)min(sum >> 16, (int64_t)max);
    /* Below 65537 the estimate is at most 1 off, which the remainder shows; a 64-bit division would be a function call. */
    double estimate = (double)sum * inverse;
    if (estimate >= 65537.0) return max;
    int64_t v = (int64_t)estimate, rest = sum - v * step.divisor;
    v += rest < 0 ? -1 : rest >= step.divisor ? 1 : 0;
    return (uint32_t)min(v, (int64_t)max);
}

__device__ __forceinline__ uint32_t flattened(imgpipe_type type, uint32_t v, uint32_t alpha, float background) {
    if (type == IMGPIPE_F32) {
        float a = __uint_as_float(alpha);
        return __float_as_uint(pixel_f32(fmaf(__uint_as_float(v), a, __fmul_rn(background, 1.0f - a))));
    }
    uint32_t bg = (uint32_t)background;
    return type == IMGPIPE_U8 ? (v * alpha + bg * (255 - alpha) + 127) / 255 : (v * alpha + bg * (65535 - alpha) + 32767) / 65535;
}

__device__ __forceinline__ uint32_t narrowed(uint32_t bits, double max) {
    double v = floor(__dadd_rn(__dmul_rn((double)__uint_as_float(bits), max), 0.5));
    return v > 0.0 ? v < max ? (uint32_t)v : (uint32_t)max : 0;
}

/* MIX, FLATTEN and EXPAND: one pixel. `inverse` is 1 / divisor. */
__device__ __forceinline__ void whole_pixel(const struct point_step &step, double inverse, uint32_t (&v)[4]) {
    if (step.code == POINT_MIX) {
        v[0] = mixed(step, inverse, v[0], v[1], v[2]);
        v[1] = v[3];
    } else if (step.code == POINT_FLATTEN) {
        uint32_t second = v[1], third = v[2], fourth = v[3];
        uint32_t alpha = step.in.channels == 2 ? second : step.in.channels == 3 ? third : fourth;
#pragma unroll
        for (int c = 0; c < 3; c++)
            if (c < step.out.channels) v[c] = flattened(step.in.type, v[c], alpha, step.background[c]);
    } else {
        v[3] = v[1];
        v[1] = v[2] = v[0];
    }
}

template <int G>
__device__ __forceinline__ void run_step(const struct point_step &step, const unsigned char *tables, point_state<G> &s) {
    float scale = step.scale, pivot = step.pivot, offset = step.offset, high = step.high, low = step.low;
    double max = step.out.type == IMGPIPE_U8 ? 255.0 : 65535.0, inverse = 0;
    if (step.code == POINT_MIX && !step.mix_u32 && !step.mix_third && step.divisor != 65536) inverse = 1.0 / (double)step.divisor;
    switch (step.code) {
    case POINT_TABLE: table(step, tables, s); break;
    case POINT_AFFINE:
        each_sample(s, step.in, false,
                    [=](uint32_t v) { return __float_as_uint(pixel_f32(fmaf(scale, __uint_as_float(v) - pivot, offset))); });
        break;
    case POINT_THRESHOLD:
        each_sample(s, step.in, false, [=](uint32_t v) { return __float_as_uint(__uint_as_float(v) >= pivot ? high : low); });
        break;
    case POINT_NARROW: each_sample(s, step.in, true, [=](uint32_t v) { return narrowed(v, max); }); break;
    default:
#pragma unroll
        for (int i = 0; i < G * POINT_GROUP; i++) whole_pixel(step, inverse, s.v[i / POINT_GROUP][i % POINT_GROUP]);
    }
}

/* W is the most words that a group has in and out. */
template <int G, int W>
__global__ void __launch_bounds__(POINT_THREADS)
    point_kernel(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct point_job job,
                 const unsigned char *tables) {
    __shared__ uint32_t staging[POINT_WARPS][32 * G * W + G * W];
    __shared__ uint32_t small[POINT_SMALL / 4];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (job.tables_size && job.tables_size <= POINT_SMALL) {
        for (uint32_t i = threadIdx.x; i < job.tables_size / 4; i += POINT_THREADS) small[i] = ((const uint32_t *)tables)[i];
        __syncthreads();
        tables = (const unsigned char *)small;
    }
    int64_t width = tile.out_rect.x1 - tile.out_rect.x0, first = ((int64_t)blockIdx.x * POINT_WARPS + warp) * (32 * G);
    int64_t in_samples = width * job.in_channels, out_samples = job.flat ? in_samples : width * job.out.channels;
    if (first * POINT_GROUP * job.in.channels >= in_samples) return;
    bool full = (first + 32 * G) * POINT_GROUP * job.in.channels <= in_samples;
    for (int64_t y = tile.out_rect.y0 + blockIdx.y; y < tile.out_rect.y1; y += gridDim.y) {
        point_state<G> s;
        load<G, W>(job.in, tile_in<unsigned char>(tile, y), first, in_samples, full, staging[warp], lane, s);
        for (int i = 0; i < job.step_count; i++) run_step<G>(job.steps[i], tables, s);
        store<G, W>(job.out, tile_out<unsigned char>(tile, y), first, out_samples, full, staging[warp], lane, s);
    }
}

/* ---- three bytes to one, alone */

struct mix_job {
    uint32_t red_green, blue, round; /* weights in 16 bits each */
};

/* 65536ths whose sums end below bit 24, so that byte 2 of a sum is the result. A third is 21846 / 65536 with 21846 added. */
static bool mix_fits(const struct point_program *program, struct mix_job *job) {
    const struct point_step *step = &program->steps[0];
    if (program->step_count != 1 || step->code != POINT_MIX || step->in.type != IMGPIPE_U8 || step->in.channels != 3) return false;
    int64_t w0 = step->weights[0], w1 = step->weights[1], w2 = step->weights[2], round = step->round;
    if (step->mix_third)
        w0 = w1 = w2 = round = 21846;
    else if (!step->mix_u32 || w0 > 65535 || w1 > 65535 || w2 > 65535 || (w0 + w1 + w2) * 255 + round >= 1 << 24)
        return false;
    *job = {(uint32_t)(w0 | w1 << 16), (uint32_t)w2, (uint32_t)round};
    return true;
}

/* A thread has 16 pixels: three loads and one store of 16 bytes. The top byte of `rgb` is multiplied by 0. */
__device__ __forceinline__ uint32_t mix_sum(struct mix_job job, uint32_t rgb) {
    return __dp2a_hi(job.blue, rgb, __dp2a_lo(job.red_green, rgb, job.round));
}

__global__ void __launch_bounds__(POINT_THREADS)
    point_mix_rgb8(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct mix_job job) {
    __shared__ uint4 staging[POINT_WARPS][96];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int64_t width = tile.out_rect.x1 - tile.out_rect.x0, first = ((int64_t)blockIdx.x * POINT_WARPS + warp) * 512;
    if (first >= width) return;
    for (int64_t y = tile.out_rect.y0 + blockIdx.y; y < tile.out_rect.y1; y += gridDim.y) {
        const uint8_t *in = tile_in<uint8_t>(tile, y) + 3 * first;
        uint8_t *out = tile_out<uint8_t>(tile, y) + first;
        if (first + 512 > width) {
            for (int x = lane; x < width - first; x += 32)
                out[x] = (uint8_t)(mix_sum(job, in[3 * x] | in[3 * x + 1] << 8 | in[3 * x + 2] << 16) >> 16);
            continue;
        }
        uint4 chunk[3];
        uint32_t raw[13], sums[16];
        for (int j = 0; j < 3; j++) chunk[j] = ((const uint4 *)in)[j * 32 + lane];
        __syncwarp();
        for (int j = 0; j < 3; j++) staging[warp][j * 32 + lane] = chunk[j];
        __syncwarp();
        for (int j = 0; j < 3; j++) {
            uint4 own = staging[warp][3 * lane + j];
            raw[4 * j] = own.x, raw[4 * j + 1] = own.y, raw[4 * j + 2] = own.z, raw[4 * j + 3] = own.w;
        }
        raw[12] = 0;
#pragma unroll
        for (int i = 0; i < 16; i++) sums[i] = mix_sum(job, __funnelshift_r(raw[3 * i / 4], raw[3 * i / 4 + 1], 3 * i % 4 * 8));
        uint32_t packed[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            packed[i] = __byte_perm(__byte_perm(sums[4 * i], sums[4 * i + 1], 0x0062),
                                    __byte_perm(sums[4 * i + 2], sums[4 * i + 3], 0x0062), 0x5410);
        ((uint4 *)out)[lane] = make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
}

/* ---- launching */

/* Programs that treat every sample alike see pixels of 4 samples, whatever the channels are. */
static bool is_flat(const struct point_program *program) {
    bool flat = !program->in.alpha;
    for (int i = 0; i < program->step_count; i++)
        flat = flat && program->steps[i].code != POINT_MIX && program->steps[i].code != POINT_FLATTEN &&
               program->steps[i].code != POINT_EXPAND;
    return flat;
}

static void make_job(const struct point_program *program, struct point_job *job) {
    *job = {};
    job->in = program->in;
    job->out = program->out;
    job->in_channels = program->in.channels;
    job->step_count = program->step_count;
    job->tables_size = (uint32_t)program->tables_size;
    job->flat = is_flat(program);
    for (int i = 0; i < program->step_count; i++) job->steps[i] = program->steps[i];
    if (!job->flat) return;
    job->in.channels = job->out.channels = 4;
    for (int i = 0; i < program->step_count; i++) job->steps[i].in.channels = job->steps[i].out.channels = 4;
}

static dim3 grid_of(const struct tile_jobs &jobs, int n, int64_t pixels_per_block, int pixels_for, int per) {
    int64_t width = 1, rows = tile_rows(jobs.tile, n);
    for (int i = 0; i < n; i++) width = max(width, jobs.tile[i].out_rect.x1 - jobs.tile[i].out_rect.x0);
    int64_t pixels = (width * pixels_for + per - 1) / per;
    return dim3((unsigned)((pixels + pixels_per_block - 1) / pixels_per_block),
                (unsigned)max((int64_t)1, min(rows, (int64_t)65535)), (unsigned)n);
}

extern "C" int point_cuda(const struct point_program *program, const void *tables, const imgpipe_tile *tiles, int count,
                          void *stream) {
    struct mix_job mix;
    if (mix_fits(program, &mix))
        return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
            point_mix_rgb8<<<grid_of(jobs, n, 512 * POINT_WARPS, 1, 1), POINT_THREADS, 0, (cudaStream_t)stream>>>(jobs, mix);
        });
    struct point_job job;
    make_job(program, &job);
    bool bytes = job.in.type == IMGPIPE_U8 && job.out.type == IMGPIPE_U8;
    int grouped = job.flat ? job.in_channels : 1, per = job.flat ? 4 : 1;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const unsigned char *t = (const unsigned char *)tables;
        dim3 grid = grid_of(jobs, n, 32 * POINT_GROUP * POINT_WARPS * (bytes ? 2 : 1), grouped, per);
        if (bytes)
            point_kernel<2, 4><<<grid, POINT_THREADS, 0, (cudaStream_t)stream>>>(jobs, job, t);
        else
            point_kernel<1, 16><<<grid, POINT_THREADS, 0, (cudaStream_t)stream>>>(jobs, job, t);
    });
}
