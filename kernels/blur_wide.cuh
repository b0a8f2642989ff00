/* The arithmetic of blur_tile.cuh for any radius of the first definition. In both passes a thread makes eight results that lie
 * side by side; the taps to both sides are two windows of eight values, which move on by one with every pair, in registers.
 *
 * V lies in planes, one for each channel. Operations of a sample: two for each pair of taps of both passes, 122 at a radius of 30,
 * and about a tenth for loads. Floor: those at 128 a clock and multiprocessor.
 * Measured on an H200: 121 Gpix/s of one channel at sigma 10, 35 of RGB; 112 of one channel with a question before every pair of
 * rows. With pairs of 8 rows from the tensor cores 129, but 32 of RGB. */
#ifndef BLUR_WIDE_CUH
#define BLUR_WIDE_CUH
#include "blur_tile.cuh"

#define BLUR_WIDE_COLUMNS (BLUR_WIDE_THREADS * BLUR_DOWN_COLUMNS)
#define BLUR_WIDE_THREADS 256
#define BLUR_WIDE_ROWS BLUR_DOWN_ROWS
#define BLUR_WIDE_BLOCKS 2 /* on a multiprocessor */
#define BLUR_WIDE_OWN 8    /* pixels of a thread in the horizontal pass */

template <int C> struct blur_planes {
    /* Two rows of a warp lie beside each other in the banks. */
    static const int plane = (BLUR_WIDE_COLUMNS / C + 3) / 4 * 4, row = (plane * C + 31) / 32 * 32 + 4;
    static const int tile = BLUR_WIDE_ROWS * row, staging = C > 1 ? BLUR_WIDE_ROWS *BLUR_WIDE_COLUMNS : 0; /* floats, bytes */
};

/* The rows that come up one after another, up and down from the middle. */
struct blur_rows {
    const uint8_t *up, *down;
    int64_t y, last; /* the first row of the results; no row beyond `last` is there */
};

static __device__ __forceinline__ uint32_t blur_row(const imgpipe_tile &tile, const window_image &image,
                                                    const window_columns<BLUR_DOWN_COLUMNS> &columns, const blur_rows &rows,
                                                    int64_t y) {
    return y > rows.last ? 0u : window_row_far<BLUR_DOWN_COLUMNS>(tile, image, columns, y);
}

static __device__ __forceinline__ void blur_floats(uint32_t word, uint32_t base, float (&f)[BLUR_DOWN_COLUMNS]) {
#pragma unroll
    for (int c = 0; c < BLUR_DOWN_COLUMNS; c++) f[c] = blur_byte(word, c, base);
}

/* STRAIGHT: all rows lie in the image and one behind the other, and all columns of the warp in it. Without calls of functions in
 * the loops the windows stay in place in registers.
 *
 * The next rows: k above the first result and k below the last. */
template <bool STRAIGHT, bool ALL>
static __device__ __forceinline__ void blur_next_rows(const imgpipe_tile &tile, const blur_tile_job &job,
                                                      const window_columns<BLUR_DOWN_COLUMNS> &columns, blur_rows &rows, int k,
                                                      uint32_t &up, uint32_t &down) {
    if (!ALL && k > job.ry) return;
    if (STRAIGHT) {
        rows.up -= tile.in_stride, rows.down += tile.in_stride;
        up = *(const uint32_t *)rows.up, down = *(const uint32_t *)rows.down;
    } else {
        up = blur_row(tile, job.image, columns, rows, rows.y - k);
        down = blur_row(tile, job.image, columns, rows, rows.y + BLUR_DOWN_ROWS - 1 + k);
    }
}

/* The windows above and below: row y + q of the input is in place q mod 8. */
struct blur_windows {
    float above[BLUR_DOWN_ROWS][BLUR_DOWN_COLUMNS], below[BLUR_DOWN_ROWS][BLUR_DOWN_COLUMNS];
    uint32_t up, down; /* the next rows */
};

/* Up to eight pairs of taps after the first `base`; ALL: eight, and there are more after them. */
template <bool STRAIGHT, bool ALL>
static __device__ __forceinline__ void blur_down_pairs(const imgpipe_tile &tile, const blur_tile_job &job,
                                                       const window_columns<BLUR_DOWN_COLUMNS> &columns, blur_rows &rows, int base,
                                                       blur_windows &w, float (&sum)[BLUR_DOWN_ROWS][BLUR_DOWN_COLUMNS]) {
    const int R = BLUR_DOWN_ROWS;
#pragma unroll
    for (int j = 1; j <= R; j++) {
        if (!ALL && base + j > job.ry) break;
        blur_floats(w.up, job.base, w.above[(R - j) % R]);
        blur_floats(w.down, job.base, w.below[(R - 1 + j) % R]);
        blur_next_rows<STRAIGHT, ALL>(tile, job, columns, rows, base + j + 1, w.up, w.down);
        const float weight = job.y[base + j];
#pragma unroll
        for (int i = 0; i < R; i++)
#pragma unroll
            for (int c = 0; c < BLUR_DOWN_COLUMNS; c++)
                sum[i][c] = __fmaf_rz(weight, __fadd_rn(w.above[(i + R - j) % R][c], w.below[(i + j) % R][c]), sum[i][c]);
    }
}

template <bool STRAIGHT>
static __device__ __forceinline__ void blur_down_wide(const imgpipe_tile &tile, const blur_tile_job &job,
                                                      const window_columns<BLUR_DOWN_COLUMNS> &columns, blur_rows &rows,
                                                      float (&sum)[BLUR_DOWN_ROWS][BLUR_DOWN_COLUMNS]) {
    const int R = BLUR_DOWN_ROWS;
    blur_windows w = {};
#pragma unroll
    for (int i = 0; i < R; i++) {
        uint32_t word =
            STRAIGHT ? *(const uint32_t *)(rows.up + i * tile.in_stride) : blur_row(tile, job.image, columns, rows, rows.y + i);
        blur_floats(word, job.base, w.above[i]);
#pragma unroll
        for (int c = 0; c < BLUR_DOWN_COLUMNS; c++) {
            w.below[i][c] = w.above[i][c];
            sum[i][c] = __fmaf_rz(job.y[0], w.above[i][c], job.start_y);
        }
    }
    rows.down = rows.up + (R - 1) * tile.in_stride;
    blur_next_rows<STRAIGHT, false>(tile, job, columns, rows, 1, w.up, w.down);
    int base = 0;
    if (STRAIGHT)
#pragma unroll 1
        for (; base + R < job.ry; base += R) blur_down_pairs<STRAIGHT, true>(tile, job, columns, rows, base, w, sum);
#pragma unroll 1
    for (; base < job.ry; base += R) blur_down_pairs<STRAIGHT, false>(tile, job, columns, rows, base, w, sum);
}

static __device__ __forceinline__ void blur_four(const float *v, uint32_t *f) {
    const uint4 four = *(const uint4 *)v;
    f[0] = four.x, f[1] = four.y, f[2] = four.z, f[3] = four.w;
}

/* Four pairs of taps: left and right are twelve of V in three parts each, the first of which are parts a and b. */
template <int A, int B>
static __device__ __forceinline__ void blur_four_pairs(const float *weights, const uint32_t (&left)[3][4],
                                                       const uint32_t (&right)[3][4], uint32_t one, float (&sum)[BLUR_WIDE_OWN]) {
#pragma unroll
    for (int t = 1; t <= 4; t++)
#pragma unroll
        for (int i = 0; i < BLUR_WIDE_OWN; i++) {
            const int l = i - t + 4, r = i + t;
            const float pair = blur_pair(t, left[(A + l / 4) % 3][l % 4], right[(B + r / 4) % 3][r % 4], one);
            sum[i] = __fmaf_rz(weights[t - 1], pair, sum[i]);
        }
}

/* Eight results; v is V of the first of them. The weights beyond the radius are 0. */
static __device__ __forceinline__ void blur_along_wide(const blur_tile_job &job, const float *v, float (&sum)[BLUR_WIDE_OWN]) {
    uint32_t left[3][4], right[3][4];
    blur_four(v, left[1]), blur_four(v + 4, left[2]);
    blur_four(v, right[0]), blur_four(v + 4, right[1]);
#pragma unroll
    for (int i = 0; i < BLUR_WIDE_OWN; i++) sum[i] = __fmaf_rz(job.x[0], __uint_as_float(right[i / 4][i % 4]), job.start_x);
    const float *before = v - 4, *after = v + 8, *weights = job.x + 1;
#pragma unroll 1
    for (int k = 0; k < job.rx; k += 12, before -= 12, after += 12, weights += 12) {
        blur_four(before, left[0]), blur_four(after, right[2]);
        blur_four_pairs<0, 0>(weights, left, right, job.one, sum);
        if (k + 4 >= job.rx) break;
        blur_four(before - 4, left[2]), blur_four(after + 4, right[0]);
        blur_four_pairs<2, 1>(weights + 4, left, right, job.one, sum);
        if (k + 8 >= job.rx) break;
        blur_four(before - 8, left[1]), blur_four(after + 8, right[1]);
        blur_four_pairs<1, 2>(weights + 8, left, right, job.one, sum);
    }
}

/* The vertical pass of a thread; v is where its columns of the first row lie. */
template <int C>
static __device__ __forceinline__ void blur_down_planes(const imgpipe_tile &tile, const blur_tile_job &job, window_bounds bounds,
                                                        const window_columns<BLUR_DOWN_COLUMNS> &columns, int column, int64_t y,
                                                        int made, float *v) {
    typedef blur_planes<C> P;
    float down[BLUR_DOWN_ROWS][BLUR_DOWN_COLUMNS];
    blur_rows rows = {NULL, NULL, y, y + made - 1 + job.ry};
    const bool straight =
        window_straight(tile, bounds, (int)(y - tile.in_rect.y0) - job.ry, BLUR_WIDE_ROWS + 2 * job.ry, &rows.up) &&
        made == BLUR_WIDE_ROWS && (columns.inside || !columns.needed);
    rows.up += job.ry * tile.in_stride + (columns.needed ? columns.first : 0);
    if (__all_sync(0xffffffffu, straight))
        blur_down_wide<true>(tile, job, columns, rows, down);
    else
        blur_down_wide<false>(tile, job, columns, rows, down);
#pragma unroll
    for (int i = 0; i < BLUR_WIDE_ROWS; i++)
#pragma unroll
        for (int c = 0; c < BLUR_DOWN_COLUMNS; c++) v[i * P::row + (column + c) % C * P::plane + (column + c) / C] = down[i][c];
}

/* The horizontal pass of all rows of a tile, to the image or, for several channels, to `staging`. */
template <int C>
static __device__ __forceinline__ void blur_along_planes(const imgpipe_tile &tile, const blur_tile_job &job, const float *v,
                                                         int64_t x0, int64_t y, int made, uint8_t *staging) {
    typedef blur_planes<C> P;
    const int groups = job.across / (BLUR_WIDE_OWN * C), lane = (int)threadIdx.x % 32;
    const int item = (int)threadIdx.x / 32 * 16 + lane / 8 * 4 + lane % 4, channel = item / groups;
    const int x = (item - channel * groups) * BLUR_WIDE_OWN;
    if (channel >= C || x0 + x * C >= job.samples) return;
    for (int row = lane / 4 % 2; row < made; row += 2) {
        float sum[BLUR_WIDE_OWN];
        blur_along_wide(job, v + row * P::row + channel * P::plane + job.halo / C + x, sum);
        const uint32_t out[2] = {blur_pack(sum[0], sum[1], sum[2], sum[3]), blur_pack(sum[4], sum[5], sum[6], sum[7])};
        if (C == 1)
            blur_put(tile_out<uint8_t>(tile, y + row) + x0 + x, job.samples - x0 - x, out);
        else
#pragma unroll
            for (int p = 0; p < BLUR_WIDE_OWN; p++)
                staging[row * BLUR_WIDE_COLUMNS + (x + p) * C + channel] = (uint8_t)(out[p / 4] >> p % 4 * 8);
    }
}

static __device__ __forceinline__ void blur_store_staging(const imgpipe_tile &tile, const blur_tile_job &job,
                                                          const uint8_t *staging, int64_t x0, int64_t y, int made) {
    for (int i = (int)threadIdx.x; i < made * (job.across / 8); i += BLUR_WIDE_THREADS) {
        const int row = i / (job.across / 8), s = i % (job.across / 8) * 8;
        if (x0 + s >= job.samples) continue;
        const uint2 two = *(const uint2 *)(staging + row * BLUR_WIDE_COLUMNS + s);
        const uint32_t out[2] = {two.x, two.y};
        blur_put(tile_out<uint8_t>(tile, y + row) + x0 + s, job.samples - x0 - s, out);
    }
}

template <int C>
static __global__ void __launch_bounds__(BLUR_WIDE_THREADS, BLUR_WIDE_BLOCKS)
    blur_wide(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct blur_tile_job job) {
    typedef blur_planes<C> P;
    extern __shared__ float4 blur_shared[];
    float *v = (float *)blur_shared;
    uint8_t *staging = (uint8_t *)(v + P::tile);
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int column = (int)threadIdx.x * BLUR_DOWN_COLUMNS;
    int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * job.strip;
    const int64_t end = min(y + job.strip, tile.out_rect.y1), x0 = (int64_t)blockIdx.x * job.across;
    const bool copies = window_copies(job.image, x0 - job.halo, BLUR_WIDE_COLUMNS);
    const window_columns<BLUR_DOWN_COLUMNS> columns =
        window_find_columns<BLUR_DOWN_COLUMNS>(job.image, x0 - job.halo + column, job.halo, copies);
    const window_bounds bounds = window_find_bounds(tile, job.image);
    const window_edges edges = window_find_edges(job.image, x0 - job.halo, BLUR_WIDE_COLUMNS, job.halo, copies);
    for (; y < end; y += BLUR_WIDE_ROWS) {
        const int made = (int)min((int64_t)BLUR_WIDE_ROWS, end - y);
        blur_down_planes<C>(tile, job, bounds, columns, column, y, made, v);
        __syncthreads();
        if (edges.left + edges.right > 0) {
            window_copy_edges(job.image, x0 - job.halo, edges, made, job.outside,
                              [&](int i, int k) -> uint32_t & { return ((uint32_t *)v)[i * P::row + k % C * P::plane + k / C]; });
            __syncthreads();
        }
        blur_along_planes<C>(tile, job, v, x0, y, made, staging);
        __syncthreads();
        if (C > 1) blur_store_staging(tile, job, staging, x0, y, made);
    }
}

template <int C> static int blur_wide_launch(blur_tile_job job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef blur_planes<C> P;
    const int unit = BLUR_WIDE_OWN * C, shared = P::tile * (int)sizeof(float) + P::staging;
    job.halo = (job.rx + 3) / 4 * 4 * C;
    job.across = (BLUR_WIDE_COLUMNS - 2 * job.halo) / unit * unit;
    cudaError_t failed = cudaFuncSetAttribute(blur_wide<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (failed != cudaSuccess) return (int)failed;
    const int64_t columns = (job.samples + job.across - 1) / job.across, places = BLUR_WIDE_BLOCKS * tile_multiprocessors();
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t rows = tile_rows(jobs.tile, n);
        job.strip = tile_strip(rows, columns * n, places, 256, BLUR_WIDE_ROWS);
        dim3 grid((unsigned)columns, (unsigned)((rows + job.strip - 1) / job.strip), (unsigned)n);
        blur_wide<C><<<grid, BLUR_WIDE_THREADS, shared, stream>>>(jobs, job);
    });
}

static int blur_fixed_launch(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const blur_tile_job job = blur_tile_make(stage);
    if (job.rx <= 3 && job.ry <= 3) return blur_tile_channels<3>(job, tiles, count, stream);
    if (job.rx <= 6 && job.ry <= 6) return blur_tile_channels<6>(job, tiles, count, stream);
    switch (job.image.channels) {
    case 1: return blur_wide_launch<1>(job, tiles, count, stream);
    case 2: return blur_wide_launch<2>(job, tiles, count, stream);
    case 3: return blur_wide_launch<3>(job, tiles, count, stream);
    default: return blur_wide_launch<4>(job, tiles, count, stream);
    }
}
#endif
