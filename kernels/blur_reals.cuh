/* The second definition of blur.h for u16 and f32 without alpha, for radii up to 16, by a kernel for every fourth.
 *
 * A thread walks down a few columns of a strip. Of every column it keeps the sums under way in registers, one for each of the 2 R
 * results whose windows have begun and not ended: a row that enters adds its product to each, ends one and begins one, which takes
 * the other's place; after 2 R rows the places are the same again. So each sum runs from the first tap to the last, and each
 * row is loaded and made to floats once. The sums of eight rows lie in shared memory, in one of two places that take turns, and
 * there each thread makes `wide` samples of some rows.
 *
 * Bytes moved: each sample in and out once, and the rows that strips share once more through the L2 cache. Operations of a sample:
 * 4 R + 2 in float32, 2 for a u16 to a float, 2.5 to round and pack, about 1 to load and store. Floor: these at 128 a clock and
 * multiprocessor, or the copy.
 * Measured on an H200, in Gpix/s, at sigma 1, 2, 3 and 4: u16 of one channel 607, 493, 346, 259; f32 361, 336, 277 up to 3. RGB at
 * sigma 2: u16 141, f32 103; four channels 97 and 77. Weights in registers instead of uniform ones were slower by 8 %, and no
 * other shape of a block that was tried was faster by more than 2 %. At sigma 2 a sample of u16 takes 53 operations, and 87 % of
 * the issue slots are used. */
#ifndef BLUR_REALS_CUH
#define BLUR_REALS_CUH
#include "blur.h"
#include "sample_rows.cuh"

/* Up to it a sum has one group, but for the last tap of the greatest; and no integer comes out above the greatest sample by half
 * or more: sums of weights are off by less than 2^-23, and the roundings of 66 taps by less than 66 * 2^-24. */
#define BLUR_REAL_RADIUS 16
/* Rows that are made between two barriers. */
#define BLUR_REAL_ROWS 8
#define BLUR_REAL_STRIP 256 /* rows of a block, about */

/* The same for all tiles of a launch. Where a kernel's radius is greater than the blur's, the weights between are 0, which changes
 * nothing for integers. */
struct blur_real_job {
    window_image image;
    int64_t samples;
    int rx, ry, strip;
    uint32_t base; /* see sample_floats() */
    float outside; /* the sum over rows in columns beyond a constant border */
    float y[2 * BLUR_REAL_RADIUS + 1], x[2 * BLUR_REAL_RADIUS + 1];
};

/* A kernel's radius and channels, and the shape of a block: OWN columns of a thread, BLOCKS on a multiprocessor. Two rows of a warp
 * lie beside each other in the banks. */
template <typename T, int R, int C, int OWN, int THREADS, int BLOCKS> struct blur_real_shape {
    typedef T sample;
    static const int radius = R, channels = C, own = OWN, threads = THREADS, blocks = BLOCKS, columns = THREADS * OWN;
    static const int pitch = columns + 4, period = 2 * R, taps = 2 * R + 1, halo = R * C, wide = 8;
    static const int across = (columns - 2 * halo) / wide * wide, groups = columns / wide, beside = THREADS / groups;
    static const int floats = wide + 2 * halo;
    static_assert(R % 4 == 0 && R <= BLUR_REAL_RADIUS && THREADS % groups == 0, "whole steps, whole vectors, whole rows");
};

/* Sums under way: that of row q's result in place q % period. */
template <typename S> struct blur_sums { float row[S::period][S::own]; };

/* What a thread needs again and again. Rows are counted from the strip's first row of results, those of the input from R above. */
template <typename S> struct blur_real_strip {
    sample_range in; /* at the thread's columns */
    typename S::sample *out;
    int rows;   /* of results */
    int left;   /* samples of a row that the thread may write, 0: none */
    bool whole; /* the lanes of the warp write whole groups or nothing */
    bool edges; /* there are columns to be copied */
};

/* Where a block is, and a thread's columns in the vertical pass. */
template <typename S> struct blur_real_place {
    int64_t x0, y0; /* of the first result: in samples of a row, and rows */
    int rows;       /* of results */
    bool copies;
    window_columns<S::own> columns;
};

template <typename S>
static __device__ __forceinline__ blur_real_place<S> blur_real_find(const imgpipe_tile &tile, const blur_real_job &job) {
    blur_real_place<S> place = {(int64_t)blockIdx.x * S::across, tile.out_rect.y0 + (int64_t)blockIdx.y * job.strip};
    place.rows = (int)min((int64_t)job.strip, tile.out_rect.y1 - place.y0);
    place.copies = window_copies(job.image, place.x0 - S::halo, S::columns);
    const int64_t first = place.x0 - S::halo + (int)threadIdx.x * S::own;
    place.columns = window_find_columns<S::own>(job.image, first, S::halo, place.copies);
    return place;
}

/* Rows q ... q + N - 1 of the input, where they lie beside the image or are not there, because no result needs them. It finds
 * the place again, so that the walk has more registers. */
template <typename S, int N>
static __device__ __noinline__ void blur_real_load_far(const imgpipe_tile &tile, const blur_real_job &job, int q,
                                                       sample_words<typename S::sample, S::own> *in) {
    const blur_real_place<S> place = blur_real_find<S>(tile, job);
    sample_rows_far<typename S::sample, S::own, N>(tile, job.image, place.columns,
                                                   (int)(place.y0 - tile.in_rect.y0) - S::radius + q, S::radius - job.ry - q,
                                                   place.rows + S::radius + job.ry - q, in);
}

template <typename S, int N>
static __device__ __forceinline__ void blur_real_load(const imgpipe_tile &tile, const blur_real_job &job,
                                                      const blur_real_strip<S> &strip, int q,
                                                      sample_words<typename S::sample, S::own> (&in)[N]) {
    const unsigned char *row;
    if (sample_straight(strip.in, tile.in_stride, q, N, &row)) {
#pragma unroll
        for (int k = 0; k < N; k++) in[k] = sample_load<typename S::sample, S::own>(row + k * tile.in_stride);
        return;
    }
    sample_words<typename S::sample, S::own> far[N];
    blur_real_load_far<S, N>(tile, job, q, far);
#pragma unroll
    for (int k = 0; k < N; k++) in[k] = far[k];
}

/* Row q enters before the first result: it belongs to sums that have begun, the last its own. */
template <typename S>
static __device__ __forceinline__ void blur_real_begin(const blur_real_job &job, int q, const float (&x)[S::own],
                                                       blur_sums<S> &sums) {
#pragma unroll
    for (int c = 0; c < S::own; c++) {
#pragma unroll
        for (int o = 0; o < q; o++) sums.row[o][c] = __fmaf_rn(job.y[q - o], x[c], sums.row[o][c]);
        sums.row[q][c] = __fmul_rn(job.y[0], x[c]);
    }
}

/* The last tap of a sum, which begins a group if it is the 33rd. */
template <int R> static __device__ __forceinline__ float blur_real_last(float weight, float x, float sum) {
    static_assert(BLUR_GROUP == 32, "the 33rd tap is the last of the greatest radius");
    return 2 * R == BLUR_GROUP ? __fadd_rn(sum, __fmul_rn(weight, x)) : __fmaf_rn(weight, x, sum);
}

/* The row in place q enters: one sum ends, to `done`, and one begins. */
template <typename S>
static __device__ __forceinline__ void blur_real_enter(const blur_real_job &job, int q, const float (&x)[S::own],
                                                       blur_sums<S> &sums, float (&done)[S::own]) {
#pragma unroll
    for (int c = 0; c < S::own; c++) {
        done[c] = blur_real_last<S::radius>(job.y[S::period], x[c], sums.row[q][c]);
#pragma unroll
        for (int t = S::period - 1; t >= 1; t--) {
            const int at = (q + S::period - t) % S::period;
            sums.row[at][c] = __fmaf_rn(job.y[t], x[c], sums.row[at][c]);
        }
        sums.row[q][c] = __fmul_rn(job.y[0], x[c]);
    }
}

/* The sums of eight rows to `v`; `in` are the last rows of their windows, in places FIRST ... FIRST + 7. */
template <typename S, int FIRST>
static __device__ __forceinline__ void blur_real_down(const blur_real_job &job,
                                                      const sample_words<typename S::sample, S::own> (&in)[BLUR_REAL_ROWS],
                                                      blur_sums<S> &sums, float *v) {
#pragma unroll
    for (int i = 0; i < BLUR_REAL_ROWS; i++) {
        float x[S::own], done[S::own];
        sample_floats<typename S::sample, S::own>(in[i], job.base, x);
        blur_real_enter<S>(job, FIRST + i, x, sums, done);
        if constexpr (S::own == 4)
            *(float4 *)(v + i * S::pitch) = make_float4(done[0], done[1], done[2], done[3]);
        else
            *(float2 *)(v + i * S::pitch) = make_float2(done[0], done[1]);
    }
}

/* The horizontal pass: `wide` samples of a row from v on, where the halo before the first of them begins. */
template <typename S>
static __device__ __forceinline__ void blur_real_along(const blur_real_job &job, const float *v,
                                                       uint32_t (&out)[sample_words<typename S::sample, S::wide>::count]) {
    float f[S::floats], sum[S::wide];
#pragma unroll
    for (int i = 0; i < S::floats; i += 4) {
        const float4 four = *(const float4 *)(v + i);
        f[i] = four.x, f[i + 1] = four.y, f[i + 2] = four.z, f[i + 3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < S::wide; i++) sum[i] = __fmul_rn(job.x[0], f[i]);
#pragma unroll
    for (int t = 1; t < S::period; t++)
#pragma unroll
        for (int i = 0; i < S::wide; i++) sum[i] = __fmaf_rn(job.x[t], f[i + t * S::channels], sum[i]);
#pragma unroll
    for (int i = 0; i < S::wide; i++) sum[i] = blur_real_last<S::radius>(job.x[S::period], f[i + S::period * S::channels], sum[i]);
    sample_pack<typename S::sample, S::wide>(sum, out);
}

template <typename S>
static __device__ __noinline__ void blur_real_edges(const imgpipe_tile &tile, const blur_real_job &job, float *v) {
    const blur_real_place<S> place = blur_real_find<S>(tile, job);
    const window_edges edges = window_find_edges(job.image, place.x0 - S::halo, S::columns, S::halo, place.copies);
    window_copy_edges(job.image, place.x0 - S::halo, edges, BLUR_REAL_ROWS, job.outside,
                      [&](int i, int k) -> float & { return v[i * S::pitch + k]; });
}

template <typename S>
static __device__ __forceinline__ blur_real_strip<S> blur_real_find_strip(const imgpipe_tile &tile, const blur_real_job &job,
                                                                          const blur_real_place<S> &place, int group, int first) {
    const window_edges edges = window_find_edges(job.image, place.x0 - S::halo, S::columns, S::halo, place.copies);
    const int64_t x = place.x0 + group * S::wide;
    blur_real_strip<S> strip;
    strip.rows = place.rows;
    strip.in = sample_find_range(tile, job.image, (int)(place.y0 - tile.in_rect.y0) - S::radius, S::radius - job.ry,
                                 place.rows + S::radius + job.ry);
    /* What calls functions is decided for whole warps: uniform registers that a function takes are not saved for lanes beside. */
    if (__any_sync(0xffffffffu, place.columns.needed && !place.columns.inside)) strip.in.to = strip.in.from;
    strip.in.at += (place.columns.inside ? place.columns.first : 0) * (int64_t)sizeof(typename S::sample);
    strip.out = tile_out<typename S::sample>(tile, place.y0 + first) + x;
    strip.left = group < S::across / S::wide ? (int)max(min(job.samples - x, (int64_t)S::wide), (int64_t)0) : 0;
    strip.whole = __all_sync(0xffffffffu, strip.left == 0 || strip.left == S::wide);
    strip.edges = edges.left + edges.right > 0;
    return strip;
}

/* The horizontal pass of a thread where not all eight rows, or not all of a group, are to be written. */
template <typename S>
static __device__ __noinline__ void blur_real_along_some(const blur_real_job &job, const float *v, typename S::sample *out,
                                                         int64_t stride, int left, int rows) {
#pragma unroll 1
    for (int i = 0; i < rows; i += S::beside, v += S::beside * S::pitch) {
        uint32_t words[sample_words<typename S::sample, S::wide>::count];
        blur_real_along<S>(job, v, words);
        sample_put<typename S::sample, S::wide>(out, left, words);
        out = (typename S::sample *)((unsigned char *)out + S::beside * stride);
    }
}

/* Eight rows from row y on, by way of `down` and, where the thread's part of the horizontal pass is, `along`. */
template <typename S, int FIRST>
static __device__ __forceinline__ void
blur_real_step(const imgpipe_tile &tile, const blur_real_job &job, const blur_real_strip<S> &strip, int y, float *down,
               const float *along, int first, sample_words<typename S::sample, S::own> (&in)[BLUR_REAL_ROWS], blur_sums<S> &sums) {
    blur_real_down<S, FIRST>(job, in, sums, down + (int)threadIdx.x * S::own);
    /* The next rows, under way during the horizontal pass. */
    if (y + BLUR_REAL_ROWS < strip.rows) blur_real_load<S, BLUR_REAL_ROWS>(tile, job, strip, y + BLUR_REAL_ROWS + S::period, in);
    /* The rows before lie in the other place, which nobody reads any more once all have come here. */
    __syncthreads();
    if (strip.edges) {
        blur_real_edges<S>(tile, job, down);
        __syncthreads();
    }
    typename S::sample *out = (typename S::sample *)((unsigned char *)strip.out + y * tile.out_stride);
    if (strip.whole && y + BLUR_REAL_ROWS <= strip.rows) {
        if (strip.left == 0) return;
#pragma unroll
        for (int i = 0; i < BLUR_REAL_ROWS; i += S::beside) {
            uint32_t words[sample_words<typename S::sample, S::wide>::count];
            blur_real_along<S>(job, along + i * S::pitch, words);
            sample_put<typename S::sample, S::wide>((typename S::sample *)((unsigned char *)out + i * tile.out_stride), S::wide,
                                                    words);
        }
    } else {
        const int rows = min(strip.rows - y, BLUR_REAL_ROWS) - first;
        blur_real_along_some<S>(job, along, out, tile.out_stride, strip.left, strip.left > 0 ? rows : 0);
    }
}

/* The steps of a period, from place FIRST on. */
template <typename S, int FIRST>
static __device__ __forceinline__ void
blur_real_steps(const imgpipe_tile &tile, const blur_real_job &job, const blur_real_strip<S> &strip, int y, float *v,
                const float *along, int first, sample_words<typename S::sample, S::own> (&in)[BLUR_REAL_ROWS], blur_sums<S> &sums) {
    if constexpr (FIRST < S::period) {
        if (y >= strip.rows) return;
        const int turn = (y & BLUR_REAL_ROWS) * S::pitch;
        blur_real_step<S, FIRST>(tile, job, strip, y, v + turn, along + turn, first, in, sums);
        blur_real_steps<S, FIRST + BLUR_REAL_ROWS>(tile, job, strip, y + BLUR_REAL_ROWS, v, along, first, in, sums);
    }
}

template <typename S>
static __global__ void __launch_bounds__(S::threads, S::blocks)
    blur_reals(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct blur_real_job job) {
    extern __shared__ float4 blur_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    /* A warp makes 16 groups of two rows. */
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, across = S::groups / 16;
    const int group = warp % across * 16 + lane / 8 * 4 + lane % 4, first = warp / across * 2 + lane / 4 % 2;
    const blur_real_place<S> place = blur_real_find<S>(tile, job);
    if (place.rows <= 0) return;
    const blur_real_strip<S> strip = blur_real_find_strip<S>(tile, job, place, group, first);
    sample_words<typename S::sample, S::own> in[BLUR_REAL_ROWS];
    blur_sums<S> sums;
#pragma unroll
    for (int q = 0; q < S::period; q += BLUR_REAL_ROWS) {
        blur_real_load<S, BLUR_REAL_ROWS>(tile, job, strip, q, in);
#pragma unroll
        for (int i = 0; i < BLUR_REAL_ROWS; i++) {
            float x[S::own];
            sample_floats<typename S::sample, S::own>(in[i], job.base, x);
            blur_real_begin<S>(job, q + i, x, sums);
        }
    }
    blur_real_load<S, BLUR_REAL_ROWS>(tile, job, strip, S::period, in);
    float *v = (float *)blur_shared;
    const float *along = v + first * S::pitch + group * S::wide;
#pragma unroll 1
    for (int y = 0; y < strip.rows; y += S::period) blur_real_steps<S, 0>(tile, job, strip, y, v, along, first, in, sums);
}

template <typename S> static int blur_real_launch(blur_real_job job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const int shared = 2 * BLUR_REAL_ROWS * S::pitch * (int)sizeof(float);
    const int64_t columns = (job.samples + S::across - 1) / S::across, places = S::blocks * tile_multiprocessors();
    cudaError_t failed = cudaFuncSetAttribute(blur_reals<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (failed != cudaSuccess) return (int)failed;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t rows = tile_rows(jobs.tile, n);
        job.strip = tile_strip(rows, columns * n, places, BLUR_REAL_STRIP, BLUR_REAL_ROWS);
        dim3 grid((unsigned)columns, (unsigned)((rows + job.strip - 1) / job.strip), (unsigned)n);
        blur_reals<S><<<grid, S::threads, shared, stream>>>(jobs, job);
    });
}

/* The job of a kernel for `radius`. */
template <typename T> static blur_real_job blur_real_make(const imgpipe_stage *stage, int radius) {
    const struct blur_plan *plan = (const struct blur_plan *)stage->data;
    const imgpipe_info &in = stage->in;
    blur_real_job job = {};
    job.image = {in.width, in.height, in.format.channels, stage->border, sample_outside_bits<T>(stage->border_value)};
    job.samples = in.width * in.format.channels;
    job.rx = plan->rx, job.ry = plan->ry;
    job.base = SAMPLE_BASE;
    job.outside = plan->outside[0];
    for (int k = 0; k < 2 * plan->ry + 1; k++) job.y[radius - plan->ry + k] = plan->wy[k];
    for (int k = 0; k < 2 * plan->rx + 1; k++) job.x[radius - plan->rx + k] = plan->wx[k];
    return job;
}
#endif
