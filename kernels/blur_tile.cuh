/* The first definition of blur.h in floats: fmaf rounded towards zero adds floor(W p) to a sum from 2^23 on exactly, so a pair of
 * taps costs an addition and this. A block makes V of some columns and rows, keeps it in shared memory, and sums along it.
 *
 * A byte x in the upper mantissa of 2^15 is 2^15 + x without a conversion. A pair of such is 2^16 + p; with W / 512 for a weight
 * the 2^16 add the whole number 128 W (64 W_0 for the middle), which is taken away once, at the end. V is below 2^15, so pairs of
 * it are exact.
 *
 * Bytes moved: each sample in and out once, and the rows that blocks share once more through the L2 cache. Operations of a sample:
 * two for each pair of taps of both passes, 26 at a radius of 6; to these come 2.5 permutes, 1.75 to pack, and what loads and
 * stores in shared memory take, 2 to 3. Floor: 33 operations at 128 a clock and multiprocessor.
 * Measured on an H200: 579 Gpix/s of one channel at sigma 2, 189 of RGB. */
#ifndef BLUR_TILE_CUH
#define BLUR_TILE_CUH
#include "blur.h"
#include "window_rows.cuh"

#define BLUR_TILE_THREADS 256
#ifndef BLUR_TILE_BLOCKS
#define BLUR_TILE_BLOCKS 3 /* on a multiprocessor */
#endif
/* Rows that a thread makes in the vertical pass, of four columns. */
#define BLUR_DOWN_ROWS 8
#define BLUR_DOWN_COLUMNS 4

/* The same for all tiles of a launch; weights as floats, y in 512ths and x in 65536ths. Where the radius of a kernel is greater
 * than that of the blur, the weights between are 0. */
struct blur_tile_job {
    window_image image;
    int64_t samples;
    int rx, ry, across, halo, strip; /* across and halo in samples, strip in rows */
    uint32_t base;                   /* 2^15 as a float: a permute takes one immediate operand, and that should be the selector */
    float start_y, bias_y, start_x, outside; /* outside: V of columns beyond a constant border */
    float y[BLUR_FIXED_RADIUS + 10], x[BLUR_FIXED_RADIUS + 10];
};

#ifdef EMU
/* a b + c towards zero, for non-negative numbers whose sum is below 2^24. */
static inline float __fmaf_rz(float a, float b, float c) {
    return (float)floor((double)a * b + c);
}
static inline float __fadd_rz(float a, float b) {
    return b == 1073741824.0f ? (float)(floor(((double)a + b) / 128) * 128) : (float)floor((double)a + b);
}
#endif

/* 2^15 plus byte i of a word; `base` is 2^15. */
static __device__ __forceinline__ float blur_byte(uint32_t word, int i, uint32_t base) {
    return __uint_as_float(__byte_perm(word, base, 0x7404u | (unsigned)i << 4));
}

/* The end of V, and of H: the sample in the lowest byte. */
static __device__ __forceinline__ float blur_v(float sum, const blur_tile_job &job) {
    return __fadd_rn(sum, -job.bias_y);
}
static __device__ __forceinline__ uint32_t blur_sample(float sum) {
    return __float_as_uint(__fadd_rz(sum, 1073741824.0f));
}
static __device__ __forceinline__ uint32_t blur_pack(float a, float b, float c, float d) {
    return __byte_perm(__byte_perm(blur_sample(a), blur_sample(b), 0x0040), __byte_perm(blur_sample(c), blur_sample(d), 0x0040),
                       0x5410);
}

/* V of BLUR_DOWN_ROWS rows of a column; rows[0] is the input row R above the first. */
template <int R>
static __device__ __forceinline__ void blur_down_column(const uint32_t (&rows)[BLUR_DOWN_ROWS + 2 * R], int column,
                                                        const blur_tile_job &job, float (&v)[BLUR_DOWN_ROWS]) {
    float f[BLUR_DOWN_ROWS + 2 * R];
#pragma unroll
    for (int i = 0; i < BLUR_DOWN_ROWS + 2 * R; i++) f[i] = blur_byte(rows[i], column, job.base);
#pragma unroll
    for (int i = 0; i < BLUR_DOWN_ROWS; i++) {
        float sum = __fmaf_rz(job.y[0], f[i + R], job.start_y);
#pragma unroll
        for (int k = 1; k <= R; k++) sum = __fmaf_rz(job.y[k], __fadd_rn(f[i + R - k], f[i + R + k]), sum);
        v[i] = blur_v(sum, job);
    }
}

/* The shape of a block for radii up to R on C channels. WIDE: samples that a thread makes in the horizontal pass; 12 instead of 8
 * for three channels, so that lanes meet different banks. */
template <int R, int C> struct blur_shape {
    static const int columns = 512, groups = columns / BLUR_DOWN_COLUMNS, rows = BLUR_TILE_THREADS / groups * BLUR_DOWN_ROWS;
    static const int halo = (R * C + 3) / 4 * 4, wide = C == 3 ? 12 : 8, across = (columns - 2 * halo) / wide * wide;
    static const int along = across / wide, floats = wide + 2 * halo;
};

/* The vertical pass of a thread for the rows that it has loaded. */
template <int R, int C>
static __device__ __forceinline__ void blur_down_tile(const blur_tile_job &job, const uint32_t (&in)[BLUR_DOWN_ROWS + 2 * R],
                                                      float *v) {
    float all[BLUR_DOWN_COLUMNS][BLUR_DOWN_ROWS];
#pragma unroll
    for (int i = 0; i < BLUR_DOWN_COLUMNS; i++) blur_down_column<R>(in, i, job, all[i]);
#pragma unroll
    for (int i = 0; i < BLUR_DOWN_ROWS; i++)
        *(float4 *)(v + i * blur_shape<R, C>::columns) = make_float4(all[0][i], all[1][i], all[2][i], all[3][i]);
}

/* The horizontal pass: `wide` samples of a row from v on, where the halo before the first of them begins. */
template <int R, int C>
static __device__ __forceinline__ void blur_along_tile(const blur_tile_job &job, const float *v,
                                                       uint32_t (&out)[blur_shape<R, C>::wide / 4]) {
    typedef blur_shape<R, C> S;
    float f[S::floats], sum[S::wide];
#pragma unroll
    for (int i = 0; i < S::floats; i += 4) {
        float4 four = *(const float4 *)(v + i);
        f[i] = four.x, f[i + 1] = four.y, f[i + 2] = four.z, f[i + 3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < S::wide; i++) {
        const int at = S::halo + i;
        sum[i] = __fmaf_rz(job.x[0], f[at], job.start_x);
#pragma unroll
        for (int k = 1; k <= R; k++) sum[i] = __fmaf_rz(job.x[k], __fadd_rn(f[at - k * C], f[at + k * C]), sum[i]);
    }
#pragma unroll
    for (int i = 0; i < S::wide; i += 4) out[i / 4] = blur_pack(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
}

/* N words to a row, of which `left` samples may be written. */
template <int N> static __device__ __forceinline__ void blur_put(uint8_t *to, int64_t left, const uint32_t (&words)[N]) {
    if (left >= 4 * N) {
        if constexpr (N == 2)
            *(uint2 *)to = make_uint2(words[0], words[1]);
        else
#pragma unroll
            for (int i = 0; i < N; i++) ((uint32_t *)to)[i] = words[i];
        return;
    }
#pragma unroll
    for (int i = 0; i < 4 * N; i++)
        if (i < left) to[i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
}

/* The horizontal pass of a thread: as many of `rows` rows as it has, each BLUR_TILE_THREADS / along rows from the one before. */
template <int R, int C>
static __device__ __forceinline__ void blur_along_rows(const blur_tile_job &job, const float *v, uint8_t *out, int64_t left,
                                                       int64_t stride, int rows) {
    typedef blur_shape<R, C> S;
    const int each = BLUR_TILE_THREADS / S::along;
#pragma unroll 1
    for (int i = 0; i < rows; i += each, v += each * S::columns, out += each * stride) {
        uint32_t words[S::wide / 4];
        blur_along_tile<R, C>(job, v, words);
        blur_put(out, left, words);
    }
}

template <int R, int C>
static __global__ void __launch_bounds__(BLUR_TILE_THREADS, BLUR_TILE_BLOCKS)
    blur_tile(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct blur_tile_job job) {
    typedef blur_shape<R, C> S;
    const int N = BLUR_DOWN_ROWS + 2 * R;
    extern __shared__ float4 blur_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int64_t y0 = tile.out_rect.y0 + (int64_t)blockIdx.y * job.strip, x0 = (int64_t)blockIdx.x * S::across;
    /* Rows are counted from the strip's first. */
    const int all = (int)min((int64_t)job.strip, tile.out_rect.y1 - y0);
    if (all <= 0) return;
    const int column = (int)threadIdx.x % S::groups * BLUR_DOWN_COLUMNS, row = (int)threadIdx.x / S::groups * BLUR_DOWN_ROWS;
    const int group = (int)threadIdx.x % S::along, first = (int)threadIdx.x / S::along, each = BLUR_TILE_THREADS / S::along;
    const int64_t x = x0 + group * S::wide;
    const bool copies = window_copies(job.image, x0 - S::halo, S::columns);
    const window_columns<BLUR_DOWN_COLUMNS> columns =
        window_find_columns<BLUR_DOWN_COLUMNS>(job.image, x0 - S::halo + column, S::halo, copies);
    const window_edges edges = window_find_edges(job.image, x0 - S::halo, S::columns, S::halo, copies);
    const window_bounds bounds = window_find_bounds(tile, job.image);
    const int above = (int)(y0 - tile.in_rect.y0) + row - R;
    float *v = (float *)blur_shared;
    uint8_t *out = tile_out<uint8_t>(tile, y0 + first) + x;
    for (int y = 0; y < all; y += S::rows, v = (float *)blur_shared + (y & S::rows) * S::columns) {
        uint32_t in[N];
        window_rows<BLUR_DOWN_COLUMNS, N>(tile, job.image, bounds, columns, above + y, R - job.ry,
                                          min(BLUR_DOWN_ROWS, all - y - row) + R + job.ry, in);
        blur_down_tile<R, C>(job, in, v + row * S::columns + column);
        /* The rows before lie in the other half, which nobody reads any more once all have come here. */
        __syncthreads();
        if (edges.left + edges.right > 0) {
            window_copy_edges(job.image, x0 - S::halo, edges, S::rows, job.outside,
                              [&](int i, int k) -> float & { return v[i * S::columns + k]; });
            __syncthreads();
        }
        if (first < each && x < job.samples)
            blur_along_rows<R, C>(job, v + first * S::columns + group * S::wide, out, job.samples - x, tile.out_stride,
                                  min(S::rows, all - y) - first);
        out += S::rows * tile.out_stride;
    }
}

template <int R, int C> static int blur_tile_launch(blur_tile_job job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef blur_shape<R, C> S;
    const int shared = 2 * S::rows * S::columns * (int)sizeof(float);
    const int64_t columns = (job.samples + S::across - 1) / S::across, places = BLUR_TILE_BLOCKS * tile_multiprocessors();
    cudaError_t failed = cudaFuncSetAttribute(blur_tile<R, C>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (failed != cudaSuccess) return (int)failed;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t rows = tile_rows(jobs.tile, n);
        job.strip = tile_strip(rows, columns * n, places, 64, S::rows);
        dim3 grid((unsigned)columns, (unsigned)((rows + job.strip - 1) / job.strip), (unsigned)n);
        blur_tile<R, C><<<grid, BLUR_TILE_THREADS, shared, stream>>>(jobs, job);
    });
}

static blur_tile_job blur_tile_make(const imgpipe_stage *stage) {
    const struct blur_plan *plan = (const struct blur_plan *)stage->data;
    const imgpipe_info &in = stage->in;
    blur_tile_job job = {};
    job.image = {in.width, in.height, in.format.channels, stage->border, (uint32_t)stage->border_value};
    job.samples = in.width * in.format.channels;
    job.rx = plan->rx, job.ry = plan->ry;
    job.base = 0x47000000u;
    uint32_t bias = 64u * plan->fixed_y[0];
    for (int k = 1; k <= plan->ry; k++) bias += 128u * plan->fixed_y[k];
    for (int k = 0; k <= plan->ry; k++) job.y[k] = (float)plan->fixed_y[k] / 512.0f;
    for (int k = 0; k <= plan->rx; k++) job.x[k] = (float)plan->fixed_x[k] / 65536.0f;
    job.start_y = 8388608.0f + (float)blur_fixed_start(plan->ry);
    job.bias_y = 8388608.0f + (float)bias;
    job.outside = (float)plan->fixed_outside;
    job.start_x = 8388608.0f + (float)blur_fixed_start_along(plan->rx);
    return job;
}

template <int R>
static int blur_tile_channels(const blur_tile_job &job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    switch (job.image.channels) {
    case 1: return blur_tile_launch<R, 1>(job, tiles, count, stream);
    case 2: return blur_tile_launch<R, 2>(job, tiles, count, stream);
    case 3: return blur_tile_launch<R, 3>(job, tiles, count, stream);
    default: return blur_tile_launch<R, 4>(job, tiles, count, stream);
    }
}
#endif
