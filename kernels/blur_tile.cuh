/* The first definition of blur.h in floats: fmaf rounded towards zero adds floor(W p) to a sum exactly, if a unit of the sum is its
 * last bit. Sums down the columns have units of 2^-30 and begin at 2^-7, those along the rows units of 1 and begin at 2^23.
 *
 * A byte x in the upper mantissa of 2^15 is 2^15 + x without a conversion, and a pair of such is 2^16 + p. So the weights add
 * 64 times the sum of all of them, 2^22 units, and V is 2^-7 + 2^-8 + V 2^-30: its bits are BLUR_V_BITS + V. Two such, added as
 * integers, are a float with p in its last bits again, 2^114 + p 2^91: nothing has to be taken away from V. Along the rows a pair
 * adds 128 W besides, and the middle 192 W_0. Together that is a constant, so the sum starts at what makes it a multiple of 2^15
 * in the end; from the middle on it is never below 2^23, nor as great as 2^24.
 *
 * A thread walks down four columns of a strip and keeps the rows of its window in registers, by names that change from row to row
 * and are the same again after `period` rows: so each row is loaded and made to floats once. V of eight rows lies in shared memory,
 * in one of two places that take turns, and there each thread makes `wide` samples of some rows. The code of that is there once for
 * all names, so that all fits the instruction cache: warps waited for that most of all.
 *
 * Bytes moved: each sample in and out once, and the rows that strips share once more through the L2 cache. Operations of a sample:
 * two for each pair of taps of both passes and two more, 26 at a radius of 6; to these come 1 for bytes to floats, 1.25 to pack, 1
 * to load and store in shared memory. Floor: these 29 at 128 a clock and multiprocessor.
 * Measured on an H200: 723 Gpix/s of one channel at sigma 2, 217 of RGB, 1016 at sigma 1. With half of the loop over a thread's
 * samples unrolled 703, with V as floats, from which 2^22 units are taken away, 648, with 16 samples at once 579, with blocks of
 * 256 threads 674, without the one loop 624. Pairs of 16 rows from the tensor cores, one product for a tap (a band of ones by 32
 * rows of bytes), came to 563 at best. */
#ifndef BLUR_TILE_CUH
#define BLUR_TILE_CUH
#include "blur.h"
#include "window_rows.cuh"

/* Rows that are made between two barriers, of four columns by a thread. */
#define BLUR_DOWN_ROWS 8
#define BLUR_DOWN_COLUMNS 4
#define BLUR_TILE_THREADS 128
#define BLUR_TILE_BLOCKS 4  /* on a multiprocessor */
#define BLUR_TILE_STRIP 128 /* rows of a block, about */
#define BLUR_V_BITS 0x3c400000u

/* The same for all tiles of a launch. Where the radius of a kernel is greater than that of the blur, the weights between are 0. */
struct blur_tile_job {
    window_image image;
    int64_t samples;
    int rx, ry, across, halo, strip; /* across and halo in samples, strip in rows */
    uint32_t base;                   /* 2^15 as a float: a permute takes one immediate operand, and that should be the selector */
    uint32_t one;                    /* 1, which a compiler does not know */
    uint32_t outside;                /* the bits of V in columns beyond a constant border */
    float start_y, start_x;
    float y[BLUR_FIXED_RADIUS + 10], x[BLUR_FIXED_RADIUS + 10];
};

#ifdef EMU
/* a b + c towards zero, where it is exact in double. */
static inline float __fmaf_rz(float a, float b, float c) {
    const double exact = (double)a * b + c;
    const float near = (float)exact;
    return fabs(near) > fabs(exact) ? nextafterf(near, 0.0f) : near;
}
#endif

/* 2^15 plus byte i of a word; `base` is 2^15. */
static __device__ __forceinline__ float blur_byte(uint32_t word, int i, uint32_t base) {
    return __uint_as_float(__byte_perm(word, base, 0x7404u | (unsigned)i << 4));
}

/* A pair of V for tap k. Additions of integers have half the rate of those of floats, and so have multiplications, which other
 * units do: every other pair goes there. */
static __device__ __forceinline__ float blur_pair(int k, uint32_t a, uint32_t b, uint32_t one) {
    return __uint_as_float(k % 2 == 0 ? a * one + b : a + b);
}
/* Four samples: bits 7 to 14 of the sums. */
static __device__ __forceinline__ uint32_t blur_pack(float a, float b, float c, float d) {
    const uint32_t even = __byte_perm(__float_as_uint(a), __float_as_uint(c), 0x5410);
    const uint32_t odd = __byte_perm(__float_as_uint(b), __float_as_uint(d), 0x5410);
    return __byte_perm(even >> 7, odd << 1, 0x7250);
}

/* The shape of a block for radii up to R on C channels. Two rows of a warp lie beside each other in the banks. */
template <int R, int C> struct blur_shape {
    static const int columns = BLUR_TILE_THREADS * BLUR_DOWN_COLUMNS, pitch = columns + 4,
                     period = (2 * R + BLUR_DOWN_ROWS) / 8 * 8;
    static const int halo = (R * C + 3) / 4 * 4, wide = 8, across = (columns - 2 * halo) / wide * wide;
    static const int along = across / wide, floats = wide + 2 * halo;
};

/* Rows of four columns, made to floats: row q of the strip's input in place q % period. */
template <int R, int C> struct blur_ring { float row[blur_shape<R, C>::period][BLUR_DOWN_COLUMNS]; };

template <int R, int C>
static __device__ __forceinline__ void blur_enter(blur_ring<R, C> &ring, int q, uint32_t word, const blur_tile_job &job) {
#pragma unroll
    for (int c = 0; c < BLUR_DOWN_COLUMNS; c++) ring.row[q % blur_shape<R, C>::period][c] = blur_byte(word, c, job.base);
}

/* V of rows FIRST ... FIRST + 7, modulo the period, to `v`; `in` are the last rows of their windows. */
template <int R, int C, int FIRST>
static __device__ __forceinline__ void blur_down_rows(const blur_tile_job &job, const uint32_t (&in)[BLUR_DOWN_ROWS],
                                                      blur_ring<R, C> &ring, float *v) {
    const int period = blur_shape<R, C>::period;
#pragma unroll
    for (int i = 0; i < BLUR_DOWN_ROWS; i++) {
        const int middle = FIRST + i + R + period;
        float sum[BLUR_DOWN_COLUMNS];
        blur_enter<R, C>(ring, FIRST + i + 2 * R, in[i], job);
#pragma unroll
        for (int c = 0; c < BLUR_DOWN_COLUMNS; c++) {
            sum[c] = __fmaf_rz(job.y[0], ring.row[middle % period][c], job.start_y);
#pragma unroll
            for (int k = 1; k <= R; k++)
                sum[c] =
                    __fmaf_rz(job.y[k], __fadd_rn(ring.row[(middle - k) % period][c], ring.row[(middle + k) % period][c]), sum[c]);
        }
        *(float4 *)(v + i * blur_shape<R, C>::pitch) = make_float4(sum[0], sum[1], sum[2], sum[3]);
    }
}

/* The horizontal pass: `wide` samples of a row from v on, where the halo before the first of them begins. */
template <int R, int C>
static __device__ __forceinline__ void blur_along_tile(const blur_tile_job &job, const float *v, uint32_t (&out)[2]) {
    typedef blur_shape<R, C> S;
    uint32_t f[S::floats];
    float sum[S::wide];
#pragma unroll
    for (int i = 0; i < S::floats; i += 4) {
        const uint4 four = *(const uint4 *)(v + i);
        f[i] = four.x, f[i + 1] = four.y, f[i + 2] = four.z, f[i + 3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < S::wide; i++) {
        const int at = S::halo + i;
        sum[i] = __fmaf_rz(job.x[0], __uint_as_float(f[at]), job.start_x);
#pragma unroll
        for (int k = 1; k <= R; k++) sum[i] = __fmaf_rz(job.x[k], blur_pair(k, f[at - k * C], f[at + k * C], job.one), sum[i]);
    }
#pragma unroll
    for (int i = 0; i < S::wide; i += 4) out[i / 4] = blur_pack(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
}

/* Eight samples to a row, of which `left` may be written. */
static __device__ __forceinline__ void blur_put(uint8_t *to, int64_t left, const uint32_t (&words)[2]) {
    if (left >= 8) {
        *(uint2 *)to = make_uint2(words[0], words[1]);
        return;
    }
    uint64_t all = (uint64_t)words[1] << 32 | words[0];
#pragma unroll 1
    for (int i = 0; i < (int)left; i++, all >>= 8) to[i] = (uint8_t)all;
}

/* Where a block is. */
struct blur_place {
    int64_t x0, y0; /* of the first result: in samples of a row, and rows */
    int rows;       /* of results */
    bool copies;
    window_columns<BLUR_DOWN_COLUMNS> columns; /* of the thread in the vertical pass */
};

template <int R, int C>
static __device__ __forceinline__ blur_place blur_find_place(const imgpipe_tile &tile, const blur_tile_job &job) {
    typedef blur_shape<R, C> S;
    blur_place place = {(int64_t)blockIdx.x * S::across, tile.out_rect.y0 + (int64_t)blockIdx.y * job.strip};
    place.rows = (int)min((int64_t)job.strip, tile.out_rect.y1 - place.y0);
    place.copies = window_copies(job.image, place.x0 - S::halo, S::columns);
    const int64_t first = place.x0 - S::halo + (int)threadIdx.x * BLUR_DOWN_COLUMNS;
    place.columns = window_find_columns<BLUR_DOWN_COLUMNS>(job.image, first, S::halo, place.copies);
    return place;
}

/* What a thread needs again and again. Rows are counted from the strip's first row of results, those of the input from R above. */
struct blur_strip {
    window_range in; /* at the thread's columns of the rows to be loaded next */
    uint8_t *out;    /* the next of the rows that the thread makes in the horizontal pass */
    int rows;        /* of results */
    int left;        /* samples of a row that the thread may write, 0: none */
    bool whole;      /* the lanes of the warp write whole groups or nothing */
    bool edges;      /* there are columns to be copied */
};

/* Rows q ... q + N - 1 of the input, where they lie beside the image or are not there, because no result needs them. It finds
 * the place again, so that the walk has more registers. */
template <int R, int C, int N>
static __device__ __noinline__ void blur_load_far(const imgpipe_tile &tile, const blur_tile_job &job, int q, uint32_t *in) {
    const blur_place place = blur_find_place<R, C>(tile, job);
    window_rows_far<BLUR_DOWN_COLUMNS, N>(tile, job.image, place.columns, (int)(place.y0 - tile.in_rect.y0) - R + q, R - job.ry - q,
                                          place.rows + R + job.ry - q, in);
}

template <int R, int C, int N>
static __device__ __forceinline__ void blur_load(const imgpipe_tile &tile, const blur_tile_job &job, blur_strip &strip, int q,
                                                 uint32_t (&in)[N]) {
    const uint8_t *row = strip.in.at;
    strip.in.at += N * tile.in_stride;
    if (q >= strip.in.from && q + N <= strip.in.to) {
#pragma unroll
        for (int k = 0; k < N; k++) in[k] = *(const uint32_t *)(row + k * tile.in_stride);
        return;
    }
    uint32_t far[N];
    blur_load_far<R, C, N>(tile, job, q, far);
#pragma unroll
    for (int k = 0; k < N; k++) in[k] = far[k];
}

template <int R, int C>
static __device__ __noinline__ void blur_copy_edges(const imgpipe_tile &tile, const blur_tile_job &job, float *v) {
    typedef blur_shape<R, C> S;
    const blur_place place = blur_find_place<R, C>(tile, job);
    const window_edges edges = window_find_edges(job.image, place.x0 - S::halo, S::columns, S::halo, place.copies);
    window_copy_edges(job.image, place.x0 - S::halo, edges, BLUR_DOWN_ROWS, job.outside,
                      [&](int i, int k) -> uint32_t & { return ((uint32_t *)v)[i * S::pitch + k]; });
}

template <int R, int C>
static __device__ __forceinline__ void blur_find_strip(const imgpipe_tile &tile, const blur_tile_job &job, const blur_place &place,
                                                       int group, int first, blur_strip &strip) {
    typedef blur_shape<R, C> S;
    const window_edges edges = window_find_edges(job.image, place.x0 - S::halo, S::columns, S::halo, place.copies);
    const int64_t x = place.x0 + group * S::wide;
    strip.rows = place.rows;
    strip.in = window_find_range(tile, job.image, (int)(place.y0 - tile.in_rect.y0) - R, R - job.ry, place.rows + R + job.ry);
    /* What calls functions is decided for whole warps: uniform registers that a function takes are not saved for lanes beside. */
    if (__any_sync(0xffffffffu, place.columns.needed && !place.columns.inside)) strip.in.to = strip.in.from;
    strip.in.at += place.columns.inside ? place.columns.first : 0;
    strip.out = tile_out<uint8_t>(tile, place.y0 + first) + x;
    strip.left = group < S::along ? (int)max(min(job.samples - x, (int64_t)S::wide), (int64_t)0) : 0;
    strip.whole = __all_sync(0xffffffffu, strip.left == 0 || strip.left == S::wide);
    strip.edges = edges.left + edges.right > 0;
}

/* The horizontal pass of a thread where not all eight rows, or not all of a group, are to be written. */
template <int R, int C>
static __device__ __noinline__ void blur_along_some(const blur_tile_job &job, const float *v, uint8_t *out, int64_t stride,
                                                    int left, int rows) {
#pragma unroll 1
    for (int i = 0; i < rows && i < BLUR_DOWN_ROWS; i += 2, v += 2 * blur_shape<R, C>::pitch, out += 2 * stride) {
        uint32_t words[2];
        blur_along_tile<R, C>(job, v, words);
        blur_put(out, left, words);
    }
}

/* The rest for eight rows from row y on, whose V lies in `v`: `in` becomes the rows that enter next. */
template <int R, int C>
static __device__ __forceinline__ void blur_eight_rows(const imgpipe_tile &tile, const blur_tile_job &job, blur_strip &strip, int y,
                                                       float *v, const float *along, int first, uint32_t (&in)[BLUR_DOWN_ROWS]) {
    typedef blur_shape<R, C> S;
    /* The next rows, under way during the horizontal pass. */
    if (y + BLUR_DOWN_ROWS < strip.rows) blur_load<R, C, BLUR_DOWN_ROWS>(tile, job, strip, y + BLUR_DOWN_ROWS + 2 * R, in);
    /* The rows before lie in the other place, which nobody reads any more once all have come here. */
    __syncthreads();
    if (strip.edges) {
        blur_copy_edges<R, C>(tile, job, v);
        __syncthreads();
    }
    uint8_t *out = strip.out;
    strip.out += BLUR_DOWN_ROWS * tile.out_stride;
    if (strip.whole && y + BLUR_DOWN_ROWS <= strip.rows) {
        if (strip.left == 0) return;
#pragma unroll
        for (int i = 0; i < BLUR_DOWN_ROWS; i += 2, out += 2 * tile.out_stride) {
            uint32_t words[2];
            blur_along_tile<R, C>(job, along + i * S::pitch, words);
            *(uint2 *)out = make_uint2(words[0], words[1]);
        }
    } else {
        blur_along_some<R, C>(job, along, out, tile.out_stride, strip.left, strip.left > 0 ? strip.rows - y - first : 0);
    }
}

template <int R, int C>
static __global__ void __launch_bounds__(BLUR_TILE_THREADS, BLUR_TILE_BLOCKS)
    blur_tile(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct blur_tile_job job) {
    typedef blur_shape<R, C> S;
    extern __shared__ float4 blur_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int lane = (int)threadIdx.x % 32, group = (int)threadIdx.x / 32 * 16 + lane / 8 * 4 + lane % 4, first = lane / 4 % 2;
    const blur_place place = blur_find_place<R, C>(tile, job);
    if (place.rows <= 0) return;
    blur_strip strip;
    blur_find_strip<R, C>(tile, job, place, group, first, strip);
    uint32_t before[2 * R], in[BLUR_DOWN_ROWS];
    blur_ring<R, C> ring;
    blur_load<R, C, 2 * R>(tile, job, strip, 0, before);
    blur_load<R, C, BLUR_DOWN_ROWS>(tile, job, strip, 2 * R, in);
#pragma unroll
    for (int q = 0; q < 2 * R; q++) blur_enter<R, C>(ring, q, before[q], job);
    float *v = (float *)blur_shared, *down = v + (int)threadIdx.x * BLUR_DOWN_COLUMNS;
    const float *along = v + first * S::pitch + group * S::wide;
    int turn = 0;
#pragma unroll 1
    for (int y = 0; y < strip.rows; y += BLUR_DOWN_ROWS, turn = BLUR_DOWN_ROWS * S::pitch - turn) {
        if (S::period == 8 || turn == 0)
            blur_down_rows<R, C, 0>(job, in, ring, down + turn);
        else
            blur_down_rows<R, C, 8>(job, in, ring, down + turn);
        blur_eight_rows<R, C>(tile, job, strip, y, v + turn, along + turn, first, in);
    }
}

template <int R, int C> static int blur_tile_launch(blur_tile_job job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef blur_shape<R, C> S;
    const int shared = 2 * BLUR_DOWN_ROWS * S::pitch * (int)sizeof(float);
    const int64_t columns = (job.samples + S::across - 1) / S::across, places = BLUR_TILE_BLOCKS * tile_multiprocessors();
    cudaError_t failed = cudaFuncSetAttribute(blur_tile<R, C>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (failed != cudaSuccess) return (int)failed;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t rows = tile_rows(jobs.tile, n);
        job.strip = tile_strip(rows, columns * n, places, BLUR_TILE_STRIP, S::period);
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
    job.base = 0x47000000u, job.one = 1;
    uint32_t pairs_y = 0, pairs_x = 0;
    for (int k = 1; k <= plan->ry; k++) pairs_y += 2u * plan->fixed_y[k];
    for (int k = 1; k <= plan->rx; k++) pairs_x += 2u * plan->fixed_x[k];
    for (int k = 0; k <= plan->ry; k++) job.y[k] = ldexpf((float)plan->fixed_y[k], -39);
    for (int k = 0; k <= plan->rx; k++) job.x[k] = ldexpf((float)plan->fixed_x[k], k == 0 ? 14 : -107);
    /* All weights together are 65536, or 65535. */
    const uint32_t start_y = (3u << 22) + blur_fixed_start(plan->ry) - 64u * (plan->fixed_y[0] + pairs_y);
    const int32_t start_x = (int32_t)((1u << 23) + blur_fixed_start_along(plan->rx) + (0u - 64u * pairs_x) % 32768u);
    job.start_y = ldexpf((float)start_y, -30);
    job.start_x = (float)(start_x - 192 * (int32_t)plan->fixed_x[0]);
    job.outside = BLUR_V_BITS + plan->fixed_outside;
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
