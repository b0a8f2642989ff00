/* Sums over windows of any size in float32 in one order, for u16 and f32 of any number of channels without alpha: down the
 * columns of the window from top to bottom, then along those sums from left to right. A class of its user says what a tap does.
 *
 * In both passes a thread makes ORDERED_OUTS sums that lie side by side, and goes through the samples of all their windows in
 * chunks of eight, in registers. Tap t of result i is sample t + i, so all results that take one weight are a diagonal of a
 * chunk; a weight is loaded once for a diagonal, and only at the ends of the windows there is a question before every four.
 *
 * The sums over rows lie in shared memory in planes, one for each channel, with a float more after every ORDERED_OUTS, so that
 * threads beside each other meet different banks.
 *
 * Operations of a sample: one for each tap of both passes, a tenth of that for loads, and two to load each of (2 r + 16) / 16
 * rows and make it to floats. Floor: the taps at 128 a clock and multiprocessor.
 * Measured on an H200, in Gpix/s of one channel: a blur of u16 with 17 taps 212, with 41 107, with 81 65; of f32 with 41 taps 99;
 * the mean of f32, 5 x 5 208, 11 x 11 173, 31 x 31 127. */
#ifndef ORDERED_WINDOW_CUH
#define ORDERED_WINDOW_CUH
#include "sample_rows.cuh"

#define ORDERED_OUTS 16
#define ORDERED_CHUNK 8
#define ORDERED_THREADS 256
#define ORDERED_OWN 2 /* columns of a thread in the vertical pass, at a time */
#define ORDERED_RADIUS 63
/* Taps of one axis, with what a diagonal reaches beyond them. */
#define ORDERED_WEIGHTS (ORDERED_OUTS + 2 * ORDERED_RADIUS + 2 + 4 * ORDERED_CHUNK)

/* The same for all tiles of a launch. A block makes ORDERED_OUTS rows of `across` pixels from `columns` samples of a row, which
 * begin `halo` pixels, an even number, before them. Planes and rows of sums in floats, rows of results in samples. */
struct ordered_job {
    window_image image;
    int64_t samples;
    int rx, ry, halo, across, columns, plane, row, staging;
    uint32_t base; /* see sample_floats() */
    float outside; /* the sum over rows in columns beyond a constant border */
    float divisor;
    float y[2 * ORDERED_RADIUS + 1], x[2 * ORDERED_RADIUS + 1];
};

/* Where pixel p of a plane lies, counted from the first of the windows; p >= -ORDERED_OUTS. */
static __device__ __forceinline__ int ordered_at(int p) {
    p += ORDERED_OUTS;
    return p / ORDERED_OUTS * (ORDERED_OUTS + 1) + p % ORDERED_OUTS;
}

/* A, the user's class: first() and next() are the first tap of a sum or group and the others, end() what becomes of a sum; whether
 * they take weights, and whether there are groups of `group` taps, whose sums are added up in order.
 *
 * Sums under way: of the group of taps, and of the groups before. */
template <bool GROUPS> struct ordered_sums { float sum[ORDERED_OUTS], total[GROUPS ? ORDERED_OUTS : 1]; };

/* One weight: sample i + D of the chunk for result i. FIRST: the tap may begin a group. */
template <typename A, int D, int N>
static __device__ __forceinline__ void ordered_diagonal(float weight, int tap, const float (&x)[ORDERED_CHUNK][N],
                                                        ordered_sums<A::groups> (&sums)[N]) {
    const int from = D < 0 ? -D : 0, to = ORDERED_CHUNK - D < ORDERED_OUTS ? ORDERED_CHUNK - D : ORDERED_OUTS;
    if (D % ORDERED_CHUNK == 0 && (A::groups ? tap % A::group == 0 : tap == 0)) {
#pragma unroll
        for (int i = from; i < to; i++)
#pragma unroll
            for (int c = 0; c < N; c++) {
                if constexpr (A::groups) {
                    if (tap == A::group)
                        sums[c].total[i] = sums[c].sum[i];
                    else if (tap > 0)
                        sums[c].total[i] = __fadd_rn(sums[c].total[i], sums[c].sum[i]);
                }
                sums[c].sum[i] = A::first(weight, x[i + D][c]);
            }
        return;
    }
#pragma unroll
    for (int i = from; i < to; i++)
#pragma unroll
        for (int c = 0; c < N; c++) sums[c].sum[i] = A::next(weight, x[i + D][c], sums[c].sum[i]);
}

/* Four diagonals of a chunk, by weights[0 ... 3]: the first `count` of them, if it is not 4. */
template <typename A, bool FOUR, int D, int N>
static __device__ __forceinline__ void ordered_quad(const float *weights, int tap, int count, const float (&x)[ORDERED_CHUNK][N],
                                                    ordered_sums<A::groups> (&sums)[N]) {
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (A::weighted) four = *(const float4 *)weights;
    if (D > -ORDERED_OUTS) ordered_diagonal<A, D, N>(four.x, tap, x, sums);
    if (FOUR || count > 1) ordered_diagonal<A, D + 1, N>(four.y, tap + 1, x, sums);
    if (FOUR || count > 2) ordered_diagonal<A, D + 2, N>(four.z, tap + 2, x, sums);
    if (FOUR) ordered_diagonal<A, D + 3, N>(four.w, tap + 3, x, sums);
}

/* The diagonals of a chunk from D on. ALL: every tap from base - 15 to base + 7 is one of the window's. Otherwise four of them
 * are left out if none is; the first tap begins four, so only the last has some beyond it. */
template <typename A, bool ALL, int D, int N>
static __device__ __forceinline__ void ordered_diagonals(const float *weights, int base, int taps,
                                                         const float (&x)[ORDERED_CHUNK][N], ordered_sums<A::groups> (&sums)[N]) {
    if constexpr (D < ORDERED_CHUNK) {
        const int tap = base + D;
        if (ALL || (tap >= 0 && tap + 4 <= taps))
            ordered_quad<A, true, D, N>(weights + tap, tap, 4, x, sums);
        else if (tap >= 0 && tap < taps)
            ordered_quad<A, false, D, N>(weights + tap, tap, taps - tap, x, sums);
        ordered_diagonals<A, ALL, D + 4, N>(weights, base, taps, x, sums);
    }
}

template <typename A, int N>
static __device__ __forceinline__ void ordered_chunk(const float *weights, int base, int taps, const float (&x)[ORDERED_CHUNK][N],
                                                     ordered_sums<A::groups> (&sums)[N]) {
    if (base >= ORDERED_OUTS && base + ORDERED_CHUNK <= taps)
        ordered_diagonals<A, true, -ORDERED_OUTS, N>(weights, base, taps, x, sums);
    else
        ordered_diagonals<A, false, -ORDERED_OUTS, N>(weights, base, taps, x, sums);
}

template <typename A> static __device__ __forceinline__ float ordered_result(const ordered_sums<A::groups> &sums, int i, int taps) {
    if constexpr (A::groups)
        if (taps > A::group) return __fadd_rn(sums.total[i], sums.sum[i]);
    return sums.sum[i];
}

/* Rows q ... q + 7 of the input, counted from the first that a block needs, of which there are `last`; whatever for those
 * beyond. */
template <typename T>
static __device__ __forceinline__ void ordered_load(const imgpipe_tile &tile, const ordered_job &job, const sample_range &range,
                                                    const window_columns<ORDERED_OWN> &columns, bool gather, int above, int q,
                                                    int last, sample_words<T, ORDERED_OWN> (&in)[ORDERED_CHUNK]) {
    const unsigned char *row;
    const int count = min(last - q, ORDERED_CHUNK);
    if (sample_straight(range, tile.in_stride, q, count, &row) && !gather) {
        row += (columns.inside ? columns.first : 0) * (int64_t)sizeof(T);
#pragma unroll
        for (int k = 0; k < ORDERED_CHUNK; k++) in[k] = sample_load<T, ORDERED_OWN>(row + min(k, count - 1) * tile.in_stride);
        return;
    }
    sample_words<T, ORDERED_OWN> far[ORDERED_CHUNK];
    sample_rows_far<T, ORDERED_OWN, ORDERED_CHUNK>(tile, job.image, columns, above + q, 0, count, far);
#pragma unroll
    for (int k = 0; k < ORDERED_CHUNK; k++) in[k] = far[k];
}

/* The sums over rows y ... y + made - 1 + 2 ry of a thread's columns from `column` of the block on. */
template <typename T, typename A>
static __device__ __forceinline__ void ordered_down(const imgpipe_tile &tile, const ordered_job &job, const float *weights,
                                                    int64_t origin, int column, int64_t y, int made, float *v) {
    const int taps = 2 * job.ry + 1, above = (int)(y - tile.in_rect.y0) - job.ry, last = made + 2 * job.ry;
    const bool copies = window_copies(job.image, origin, job.columns);
    const window_columns<ORDERED_OWN> columns =
        window_find_columns<ORDERED_OWN>(job.image, origin + column, job.halo * job.image.channels, copies);
    /* What calls functions is decided for whole warps. */
    const bool gather = __any_sync(0xffffffffu, columns.needed && !columns.inside);
    const sample_range range = sample_find_range(tile, job.image, above, 0, last);
    ordered_sums<A::groups> sums[ORDERED_OWN] = {};
    sample_words<T, ORDERED_OWN> in[ORDERED_CHUNK];
    ordered_load<T>(tile, job, range, columns, gather, above, 0, last, in);
#pragma unroll 1
    for (int base = 0; base < last; base += ORDERED_CHUNK) {
        float x[ORDERED_CHUNK][ORDERED_OWN];
#pragma unroll
        for (int k = 0; k < ORDERED_CHUNK; k++) sample_floats<T, ORDERED_OWN>(in[k], job.base, x[k]);
        if (base + ORDERED_CHUNK < last) ordered_load<T>(tile, job, range, columns, gather, above, base + ORDERED_CHUNK, last, in);
        ordered_chunk<A, ORDERED_OWN>(weights, base, taps, x, sums);
    }
#pragma unroll
    for (int c = 0; c < ORDERED_OWN; c++) {
        const int s = column + c, channels = job.image.channels, shift = job.halo - job.rx;
        float *to = v + s % channels * job.plane + ordered_at(s / channels - shift);
#pragma unroll
        for (int i = 0; i < ORDERED_OUTS; i++) to[i * job.row] = ordered_result<A>(sums[c], i, taps);
    }
}

/* The sums along a row of a plane, of the windows from its pixel 0 on. */
template <typename A>
static __device__ __forceinline__ void ordered_along(const ordered_job &job, const float *weights, const float *v,
                                                     float (&result)[ORDERED_OUTS]) {
    const int taps = 2 * job.rx + 1;
    ordered_sums<A::groups> sums[1] = {};
#pragma unroll 1
    for (int base = 0; base < taps + ORDERED_OUTS - 1; base += ORDERED_CHUNK) {
        const float *from = v + base / ORDERED_OUTS * (ORDERED_OUTS + 1) + base % ORDERED_OUTS;
        float x[ORDERED_CHUNK][1];
#pragma unroll
        for (int k = 0; k < ORDERED_CHUNK; k++) x[k][0] = from[k];
        ordered_chunk<A, 1>(weights, base, taps, x, sums);
    }
#pragma unroll
    for (int i = 0; i < ORDERED_OUTS; i++) result[i] = A::end(ordered_result<A>(sums[0], i, taps), job.divisor);
}

/* Staged rows to the image. */
template <typename T>
static __device__ __forceinline__ void ordered_store(const imgpipe_tile &tile, const ordered_job &job, const T *staging, int64_t x0,
                                                     int64_t y, int made) {
    const int chunk = window_chunk<T>::samples, across = job.across * job.image.channels / chunk;
    for (int i = (int)threadIdx.x; i < made * across; i += ORDERED_THREADS) {
        const int row = i / across, s = i % across * chunk;
        if (x0 + s >= job.samples) continue;
        window_store_chunk<T>(tile_out<T>(tile, y + row), x0 + s, job.samples, *(const uint4 *)(staging + row * job.staging + s));
    }
}

/* Weights of both axes, then sums, then results where there are several channels. */
template <typename T, typename A>
static __global__ void __launch_bounds__(ORDERED_THREADS, A::groups ? 2 : 3)
    ordered_window(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct ordered_job job) {
    extern __shared__ float4 ordered_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    float *weights_y = (float *)ordered_shared + ORDERED_OUTS, *weights_x = weights_y + ORDERED_WEIGHTS;
    float *v = (float *)ordered_shared + 2 * ORDERED_WEIGHTS;
    T *staging = (T *)(v + ORDERED_OUTS * job.row);
    const int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * ORDERED_OUTS, x0 = (int64_t)blockIdx.x * job.across;
    const int made = (int)min((int64_t)ORDERED_OUTS, tile.out_rect.y1 - y), channels = job.image.channels;
    const int64_t origin = (x0 - job.halo) * channels;
    if (made <= 0) return;
    if (A::weighted)
        for (int i = (int)threadIdx.x; i < 2 * ORDERED_RADIUS + 1; i += ORDERED_THREADS)
            weights_y[i] = job.y[i], weights_x[i] = job.x[i];
    __syncthreads();
    for (int column = (int)threadIdx.x * ORDERED_OWN; column < job.columns; column += ORDERED_THREADS * ORDERED_OWN)
        ordered_down<T, A>(tile, job, weights_y, origin, column, y, made, v);
    __syncthreads();
    const window_edges edges =
        window_find_edges(job.image, origin, job.columns, job.halo * channels, window_copies(job.image, origin, job.columns));
    if (edges.left + edges.right > 0) {
        window_copy_edges(job.image, origin, edges, made, job.outside, [&](int i, int k) -> float & {
            return v[i * job.row + k % channels * job.plane + ordered_at(k / channels - (job.halo - job.rx))];
        });
        __syncthreads();
    }
    const int groups = job.across / ORDERED_OUTS;
    for (int i = (int)threadIdx.x; i < made * channels * groups; i += ORDERED_THREADS) {
        const int line = i / groups, x = (i - line * groups) * ORDERED_OUTS, row = line / channels, c = line - row * channels;
        if (x0 + x >= job.image.width) continue;
        float result[ORDERED_OUTS];
        uint32_t words[sample_words<T, ORDERED_OUTS>::count];
        ordered_along<A>(job, weights_x, v + row * job.row + c * job.plane + ordered_at(x), result);
        sample_pack<T, ORDERED_OUTS>(result, words);
        if (channels == 1)
            sample_put<T, ORDERED_OUTS>(tile_out<T>(tile, y + row) + x0 + x, job.samples - x0 - x, words);
        else
#pragma unroll
            for (int p = 0; p < ORDERED_OUTS; p++)
                staging[row * job.staging + (x + p) * channels + c] =
                    sizeof(T) == 4 ? (T)__uint_as_float(words[p]) : (T)(words[p * (int)sizeof(T) / 4] >> (p * 8 * sizeof(T) & 31));
    }
    if (channels == 1) return;
    __syncthreads();
    ordered_store<T>(tile, job, staging, x0 * channels, y, made);
}

/* The shape of a block of `parts` times the threads' columns. Returns bytes of shared memory. */
static int ordered_shape(ordered_job &job, int parts, int size) {
    const int channels = job.image.channels;
    job.halo = (job.rx + 1) / 2 * 2;
    job.columns = ORDERED_THREADS * ORDERED_OWN * parts;
    job.across = (job.columns / channels - job.halo - job.rx) / ORDERED_OUTS * ORDERED_OUTS;
    job.plane = ((job.columns + channels - 1) / channels / ORDERED_OUTS + 3) * (ORDERED_OUTS + 1);
    job.row = channels * job.plane;
    job.staging = channels > 1 && job.across > 0 ? job.across * channels : 0;
    return (2 * ORDERED_WEIGHTS + ORDERED_OUTS * job.row) * (int)sizeof(float) + ORDERED_OUTS * job.staging * size;
}

/* The least block that the halo is a small part of, or else the largest that the device has room for. Returns false where that is
 * too small. */
static bool ordered_fit(ordered_job &job, int size, int *shared) {
    int device = 0, most = 0, parts = 1;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
        return false;
    while (parts < 3 && 10 * job.rx * job.image.channels > ORDERED_THREADS * ORDERED_OWN * parts) parts++;
    for (; parts > 0; parts--) {
        *shared = ordered_shape(job, parts, size);
        if (*shared <= most) return job.across > 0;
    }
    return false;
}

/* Whether the stage is done here; *result is then that of the launch. */
template <typename T, typename A>
static bool ordered_launch(ordered_job job, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    int shared;
    if (!ordered_fit(job, (int)sizeof(T), &shared)) return false;
    *result = (int)cudaFuncSetAttribute(ordered_window<T, A>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (*result != (int)cudaSuccess) return true;
    *result = tile_each_part(tiles, count, ORDERED_OUTS, [&](const struct tile_jobs &jobs, int n) {
        dim3 grid((unsigned)((job.image.width + job.across - 1) / job.across),
                  (unsigned)((tile_rows(jobs.tile, n) + ORDERED_OUTS - 1) / ORDERED_OUTS), (unsigned)n);
        ordered_window<T, A><<<grid, ORDERED_THREADS, shared, stream>>>(jobs, job);
    });
    return true;
}

template <typename T> static ordered_job ordered_make(const imgpipe_stage *stage, int rx, int ry) {
    const imgpipe_info &in = stage->in;
    ordered_job job = {};
    job.image = {in.width, in.height, in.format.channels, stage->border, sample_outside_bits<T>(stage->border_value)};
    job.samples = in.width * in.format.channels;
    job.rx = rx, job.ry = ry;
    job.base = SAMPLE_BASE;
    return job;
}
#endif
