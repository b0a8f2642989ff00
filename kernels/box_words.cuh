/* The box mean of u16 without alpha in one pass, for windows up to BOX_WORDS_MOST samples.
 *
 * A thread walks down four columns of a strip: it keeps their sums over the rows of the window in registers, adds the row that
 * enters and takes away the one that leaves. The sums of eight rows lie in shared memory; there each thread slides along a
 * segment of pixels, one in and one out. Segments are an odd number of pixels, so that threads beside each other meet different
 * banks. The means go through shared memory too, so that whole vectors are stored. Sums are exact, so the order does not
 * matter; the division is a multiplication.
 *
 * Bytes moved: each sample in once from memory and once more when it leaves, from a cache if that holds the rows of all windows
 * under way; each out once; and the rows of the first window of every strip. Operations of a sample: 4 to unpack and add, 5 to
 * slide, divide and store, and about (width + 40) / 17 to load and exchange. Floor: the copy.
 * Measured on an H200, in Gpix/s: one channel 3 x 3 453, 11 x 11 423, 31 x 31 378, 101 x 101 270; RGB 11 x 11 131, four channels
 * 110. At 11 x 11 a sample takes 40 operations, more than counted above, and 57 % of the issue slots are used. With 128
 * threads it was as fast and 101 x 101 slower by 9 %; with two places for sums and means and a barrier less, slower by 3 to 8 %. */
#ifndef BOX_WORDS_CUH
#define BOX_WORDS_CUH
#include "box.h"
#include "sample_rows.cuh"

/* Sums of windows of this many samples, and their half, fit 32 bits; see box_words_divide() too. */
#define BOX_WORDS_MOST 46340
#define BOX_WORDS_RADIUS 127
#define BOX_WORDS_THREADS 256
#define BOX_WORDS_BLOCKS 3 /* on a multiprocessor */
#define BOX_WORDS_OWN 4
#define BOX_WORDS_ROWS 8
#define BOX_WORDS_COLUMNS (BOX_WORDS_THREADS * BOX_WORDS_OWN)
#define BOX_WORDS_PITCH (BOX_WORDS_COLUMNS + 4)
#define BOX_WORDS_LEAST_ACROSS 256 /* samples */

/* A row of sums, C of a pixel; the pixels of a segment. */
template <int C> struct box_words_shape {
    static const int segment = C == 1 ? 17 : C == 3 ? 11 : 9, beyond = segment * C + 4;
    static const int sums = BOX_WORDS_ROWS * BOX_WORDS_PITCH + (beyond + 3) / 4 * 4; /* in words */
    static const int means = BOX_WORDS_COLUMNS + 64;                                 /* samples of a row */
};

/* The same for all tiles of a launch; halo and across in pixels. */
struct box_words_job {
    window_image image;
    int64_t samples;
    int rx, ry, strip, halo, across;
    uint32_t half, factor, shift, outside;
};

/* Eight rows of a thread's columns from row q on, of `count` that are of use. */
typedef sample_words<uint16_t, BOX_WORDS_OWN> box_words_row;
struct box_words_lane {
    sample_range range;
    window_columns<BOX_WORDS_OWN> columns;
    int above;   /* the row of the tile's input where the strip's windows begin */
    bool gather; /* lanes of the warp need samples that stand for others */
};

static __device__ __forceinline__ void box_words_load(const imgpipe_tile &tile, const box_words_job &job,
                                                      const box_words_lane &lane, int q, int count,
                                                      box_words_row (&rows)[BOX_WORDS_ROWS]) {
    const unsigned char *row;
    count = min(count, BOX_WORDS_ROWS);
    if (sample_straight(lane.range, tile.in_stride, q, count, &row) && !lane.gather) {
#pragma unroll
        for (int k = 0; k < BOX_WORDS_ROWS; k++)
            rows[k] = sample_load<uint16_t, BOX_WORDS_OWN>(row + min(k, count - 1) * tile.in_stride);
        return;
    }
    box_words_row far[BOX_WORDS_ROWS];
    sample_rows_far<uint16_t, BOX_WORDS_OWN, BOX_WORDS_ROWS>(tile, job.image, lane.columns, lane.above + q, 0, count, far);
#pragma unroll
    for (int k = 0; k < BOX_WORDS_ROWS; k++) rows[k] = far[k];
}

static __device__ __forceinline__ uint32_t box_words_sample(const box_words_row &row, int i) {
    return i % 2 ? row.word[i / 2] >> 16 : row.word[i / 2] & 65535;
}

/* A pixel's sums. */
template <int C> static __device__ __forceinline__ void box_words_pixel(const uint32_t *from, uint32_t (&s)[C]) {
    if constexpr (C == 4) {
        const uint4 four = *(const uint4 *)from;
        s[0] = four.x, s[1] = four.y, s[2] = four.z, s[3] = four.w;
    } else if constexpr (C == 2) {
        const uint2 two = *(const uint2 *)from;
        s[0] = two.x, s[1] = two.y;
    } else {
#pragma unroll
        for (int c = 0; c < C; c++) s[c] = from[c];
    }
}

/* The means of a segment; the first window begins at `from`. */
template <int C>
static __device__ __forceinline__ void box_words_along(const box_words_job &job, const uint32_t *from, uint16_t *means) {
    uint32_t sum[C], s[C];
#pragma unroll
    for (int c = 0; c < C; c++) sum[c] = job.half;
    const uint32_t *in = from;
#pragma unroll 4
    for (int k = 0; k < 2 * job.rx; k++, in += C) {
        box_words_pixel<C>(in, s);
#pragma unroll
        for (int c = 0; c < C; c++) sum[c] += s[c];
    }
#pragma unroll
    for (int j = 0; j < box_words_shape<C>::segment; j++) {
        box_words_pixel<C>(in + j * C, s);
#pragma unroll
        for (int c = 0; c < C; c++) {
            sum[c] += s[c];
            means[j * C + c] = (uint16_t)(__umulhi(sum[c], job.factor) >> job.shift);
        }
        box_words_pixel<C>(from + j * C, s);
#pragma unroll
        for (int c = 0; c < C; c++) sum[c] -= s[c];
    }
}

/* The means of a step to the image. */
template <int C>
static __device__ __forceinline__ void box_words_store(const imgpipe_tile &tile, const box_words_job &job, const uint16_t *means,
                                                       int64_t x0, int64_t y, int rows) {
    const int across = job.across * C / 8;
    for (int i = (int)threadIdx.x; i < rows * across; i += BOX_WORDS_THREADS) {
        const int row = i / across, s = (i - row * across) * 8;
        if (x0 + s >= job.samples) continue;
        window_store_chunk<uint16_t>(tile_out<uint16_t>(tile, y + row), x0 + s, job.samples,
                                     *(const uint4 *)(means + row * box_words_shape<C>::means + s));
    }
}

/* The rows of a strip's first window but the last. */
static __device__ __forceinline__ void box_words_begin(const imgpipe_tile &tile, const box_words_job &job,
                                                       const box_words_lane &lane, uint32_t (&sums)[BOX_WORDS_OWN]) {
#pragma unroll 1
    for (int q = 0; q < 2 * job.ry; q += BOX_WORDS_ROWS) {
        box_words_row rows[BOX_WORDS_ROWS];
        const int count = 2 * job.ry - q;
        box_words_load(tile, job, lane, q, count, rows);
#pragma unroll
        for (int k = 0; k < BOX_WORDS_ROWS; k++)
#pragma unroll
            for (int c = 0; c < BOX_WORDS_OWN; c++)
                if (k < count) sums[c] += box_words_sample(rows[k], c);
    }
}

static __device__ __forceinline__ box_words_lane box_words_find(const imgpipe_tile &tile, const box_words_job &job, int64_t origin,
                                                                int64_t y0, int rows, bool copies) {
    box_words_lane lane;
    const int64_t first = origin + (int)threadIdx.x * BOX_WORDS_OWN;
    lane.columns = window_find_columns<BOX_WORDS_OWN>(job.image, first, job.halo * job.image.channels, copies);
    /* What calls functions is decided for whole warps. */
    lane.gather = __any_sync(0xffffffffu, lane.columns.needed && !lane.columns.inside);
    lane.above = (int)(y0 - tile.in_rect.y0) - job.ry;
    lane.range = sample_find_range(tile, job.image, lane.above, 0, rows + 2 * job.ry);
    lane.range.at += (lane.columns.inside ? lane.columns.first : 0) * (int64_t)sizeof(uint16_t);
    return lane;
}

template <int C>
static __global__ void __launch_bounds__(BOX_WORDS_THREADS, BOX_WORDS_BLOCKS)
    box_words(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct box_words_job job) {
    typedef box_words_shape<C> S;
    extern __shared__ uint4 box_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int64_t y0 = tile.out_rect.y0 + (int64_t)blockIdx.y * job.strip, x0 = (int64_t)blockIdx.x * job.across;
    const int rows = (int)min((int64_t)job.strip, tile.out_rect.y1 - y0);
    if (rows <= 0) return;
    const int64_t origin = (x0 - job.halo) * C;
    const bool copies = window_copies(job.image, origin, BOX_WORDS_COLUMNS);
    const window_edges edges = window_find_edges(job.image, origin, BOX_WORDS_COLUMNS, job.halo * C, copies);
    const box_words_lane lane = box_words_find(tile, job, origin, y0, rows, copies);
    const int segments = (job.across + S::segment - 1) / S::segment;
    uint32_t *v = (uint32_t *)box_shared;
    uint16_t *means = (uint16_t *)(v + S::sums);
    uint32_t sums[BOX_WORDS_OWN] = {};
    box_words_begin(tile, job, lane, sums);
    box_words_row in[BOX_WORDS_ROWS], out[BOX_WORDS_ROWS];
    box_words_load(tile, job, lane, 2 * job.ry, rows, in);
    box_words_load(tile, job, lane, 0, rows, out);
#pragma unroll 1
    for (int y = 0; y < rows; y += BOX_WORDS_ROWS) {
        const int made = min(rows - y, BOX_WORDS_ROWS);
#pragma unroll
        for (int k = 0; k < BOX_WORDS_ROWS; k++) {
#pragma unroll
            for (int c = 0; c < BOX_WORDS_OWN; c++) sums[c] += box_words_sample(in[k], c);
            *(uint4 *)(v + k * BOX_WORDS_PITCH + (int)threadIdx.x * BOX_WORDS_OWN) = make_uint4(sums[0], sums[1], sums[2], sums[3]);
#pragma unroll
            for (int c = 0; c < BOX_WORDS_OWN; c++) sums[c] -= box_words_sample(out[k], c);
        }
        /* The next rows, under way while the threads slide. */
        const int next = y + BOX_WORDS_ROWS;
        if (next < rows) {
            box_words_load(tile, job, lane, next + 2 * job.ry, rows - next, in);
            box_words_load(tile, job, lane, next, rows - next, out);
        }
        __syncthreads();
        if (edges.left + edges.right > 0) {
            window_copy_edges(job.image, origin, edges, made, job.outside,
                              [&](int i, int k) -> uint32_t & { return v[i * BOX_WORDS_PITCH + k]; });
            __syncthreads();
        }
        for (int i = (int)threadIdx.x; i < made * segments; i += BOX_WORDS_THREADS) {
            const int row = i / segments, p = (i - row * segments) * S::segment;
            box_words_along<C>(job, v + row * BOX_WORDS_PITCH + (p + job.halo - job.rx) * C, means + row * S::means + p * C);
        }
        /* The sums are of no more use then, and the next means come after the next barrier. */
        __syncthreads();
        box_words_store<C>(tile, job, means, x0 * C, y0 + y, made);
    }
}

/* For a sum s <= 65535 n + n / 2 and f = ceil(2^b / n), floor(s f / 2^b) = floor(s / n) as long as 65536 n^2 <= 2^b. f fits 32
 * bits if 2^(b - 32) < n, which the least such b of 32 or more does up to n = sqrt(2^31), BOX_WORDS_MOST, from where on b is
 * 48. */
static void box_words_divide(box_words_job &job, uint32_t n) {
    int bits = 32;
    while ((uint64_t)n * n > (uint64_t)1 << (bits - 16)) bits++;
    job.half = n / 2;
    job.factor = (uint32_t)((((uint64_t)1 << bits) + n - 1) / n);
    job.shift = (uint32_t)bits - 32;
}

template <int C> static int box_words_launch(box_words_job &job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef box_words_shape<C> S;
    const int shared = S::sums * (int)sizeof(uint32_t) + BOX_WORDS_ROWS * S::means * (int)sizeof(uint16_t);
    const int64_t columns = (job.image.width + job.across - 1) / job.across, places = BOX_WORDS_BLOCKS * tile_multiprocessors();
    cudaError_t failed = cudaFuncSetAttribute(box_words<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (failed != cudaSuccess) return (int)failed;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t rows = tile_rows(jobs.tile, n);
        job.strip = tile_strip(rows, columns * n, places, 4096, BOX_WORDS_ROWS);
        dim3 grid((unsigned)columns, (unsigned)((rows + job.strip - 1) / job.strip), (unsigned)n);
        box_words<C><<<grid, BOX_WORDS_THREADS, shared, stream>>>(jobs, job);
    });
}

/* Whether the stage is done here; *result is then that of the launch. */
static bool box_words_any(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    const struct box_plan *plan = (const struct box_plan *)stage->data;
    const imgpipe_info &in = stage->in;
    const int channels = in.format.channels;
    if (in.format.type != IMGPIPE_U16 || in.format.alpha || plan->n > BOX_WORDS_MOST || plan->rx > BOX_WORDS_RADIUS) return false;
    box_words_job job = {{in.width, in.height, channels, stage->border, (uint32_t)stage->border_value}, in.width * channels};
    job.rx = plan->rx, job.ry = plan->ry;
    job.halo = (plan->rx + 3) / 4 * 4;
    job.across = (BOX_WORDS_COLUMNS / channels - 2 * job.halo) / 8 * 8;
    job.outside = (uint32_t)plan->outside[0];
    box_words_divide(job, plan->n);
    if (job.across * channels < BOX_WORDS_LEAST_ACROSS) return false;
    switch (channels) {
    case 1: *result = box_words_launch<1>(job, tiles, count, stream); break;
    case 2: *result = box_words_launch<2>(job, tiles, count, stream); break;
    case 3: *result = box_words_launch<3>(job, tiles, count, stream); break;
    default: *result = box_words_launch<4>(job, tiles, count, stream); break;
    }
    return true;
}
#endif
