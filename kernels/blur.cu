/* Gaussian blur on CUDA; blur.h has the definitions, which kernels/blur.c follows too. blur_tile.cuh and blur_wide.cuh have the
 * first, blur_u16.cu and blur_f32.cu the second for what has no alpha and no greater radius than BLUR_FUSED_RADIUS, and the kernels
 * here the rest.
 *
 * Up to BLUR_FUSED_RADIUS one kernel does both passes: a block makes BLUR_OUT_ROWS rows of some columns, keeps the sums over
 * rows of these and of the columns around them in shared memory, and sums along those. Beyond it the sums over rows
 * go through device memory, and the weights come from there too. */
#include "blur_types.cuh"
#include "blur_wide.cuh"

#define BLUR_THREADS 256
#define BLUR_OUT_ROWS 8
#define BLUR_FUSED_TAPS (2 * BLUR_FUSED_RADIUS + 1)

/* The same for all tiles of a launch. */
struct blur_job {
    int64_t width, height;
    int channels, rx, ry;
    bool alpha;
    imgpipe_border border;
    float value, outside[2];
};

/* Weights as a kernel parameter: they lie in the constant bank, and launches on other streams cannot overwrite them. */
struct blur_weights {
    float y[BLUR_FUSED_TAPS], x[BLUR_FUSED_TAPS];
};

__device__ __forceinline__ void store_sample(uint8_t *p, float v) {
    *p = pixel_u8(v);
}
__device__ __forceinline__ void store_sample(uint16_t *p, float v) {
    *p = pixel_u16(v);
}
__device__ __forceinline__ void store_sample(float *p, float v) {
    *p = pixel_f32(v);
}

/* Channel c of one pixel as float32, colours premultiplied. */
template <typename T> __device__ __forceinline__ float load_sample(const T *pixel, int c, const struct blur_job &job) {
    float v = (float)pixel[c];
    return job.alpha && c < job.channels - 1 ? __fmul_rn(v, (float)pixel[job.channels - 1]) : v;
}

/* The sums over rows for channel c of column x, which lies inside the image, for the rows y … y + BLUR_OUT_ROWS - 1 (those from
 * y1 on are not to be used): the input rows come by once, and each goes to every sum that it belongs to. */
template <typename T>
__device__ void sum_rows(const imgpipe_tile &tile, const struct blur_job &job, const float *w, int64_t x, int c, int64_t y,
                         float total[BLUR_OUT_ROWS]) {
    int taps = 2 * job.ry + 1, rows = (int)min((int64_t)BLUR_OUT_ROWS, tile.out_rect.y1 - y);
    float acc[BLUR_OUT_ROWS];
    for (int i = 0; i < BLUR_OUT_ROWS; i++) acc[i] = total[i] = 0.0f;
    float outside = job.alpha && c < job.channels - 1 ? __fmul_rn(job.value, job.value) : job.value;
    for (int k = 0; k < taps + rows - 1; k++) {
        int64_t from = border_index(job.border, y - job.ry + k, job.height);
        float v = from < 0 ? outside : load_sample(tile_in<T>(tile, from) + x * job.channels, c, job);
#pragma unroll
        for (int i = 0; i < BLUR_OUT_ROWS; i++) {
            int tap = k - i;
            if (tap < 0 || tap >= taps) continue;
            acc[i] = tap % BLUR_GROUP == 0 ? __fmul_rn(w[tap], v) : __fmaf_rn(w[tap], v, acc[i]);
            if (tap % BLUR_GROUP == BLUR_GROUP - 1 || tap == taps - 1)
                total[i] = tap < BLUR_GROUP ? acc[i] : __fadd_rn(total[i], acc[i]);
        }
    }
}

/* The sum along the columns' sums: at(k) is the k-th. */
template <typename F> __device__ __forceinline__ float sum_columns(const float *w, int taps, F at) {
    float total = 0.0f;
    for (int begin = 0; begin < taps; begin += BLUR_GROUP) {
        int end = min(begin + BLUR_GROUP, taps);
        float acc = __fmul_rn(w[begin], at(begin));
        for (int k = begin + 1; k < end; k++) acc = __fmaf_rn(w[k], at(k), acc);
        total = begin == 0 ? acc : __fadd_rn(total, acc);
    }
    return total;
}

/* Makes a pixel of its channels' sums. */
template <typename T> __device__ __forceinline__ void store_pixel(T *p, const struct blur_job &job, const float sum[4]) {
    int last = job.channels - 1;
    T alpha;
    float a = 0.0f;
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (c == last) a = sum[c];
    store_sample(&alpha, a);
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c > last) break;
        if (!job.alpha)
            store_sample(p + c, sum[c]);
        else if (c == last)
            p[c] = alpha;
        else if (alpha == (T)0)
            p[c] = (T)0;
        else
            store_sample(p + c, __fdiv_rn(sum[c], a));
    }
}

/* Shared memory: BLUR_OUT_ROWS rows of (columns + 2 rx) * channels sums, channel after channel inside a pixel. */
template <typename T>
__global__ void __launch_bounds__(BLUR_THREADS)
    blur_fused(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct blur_job job,
               const __grid_constant__ struct blur_weights weights, int columns) {
    extern __shared__ float sums[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * BLUR_OUT_ROWS, x0 = (int64_t)blockIdx.x * columns;
    if (y >= tile.out_rect.y1) return;
    int rows = (int)min((int64_t)BLUR_OUT_ROWS, tile.out_rect.y1 - y), channels = job.channels;
    int valid = (int)min((int64_t)columns, job.width - x0), pitch = (columns + 2 * job.rx) * channels;
    for (int s = threadIdx.x; s < (valid + 2 * job.rx) * channels; s += BLUR_THREADS) {
        int c = s % channels;
        int64_t x = border_index(job.border, x0 - job.rx + s / channels, job.width);
        float total[BLUR_OUT_ROWS];
        if (x >= 0) sum_rows<T>(tile, job, weights.y, x, c, y, total);
#pragma unroll
        for (int i = 0; i < BLUR_OUT_ROWS; i++)
            sums[i * pitch + s] = x >= 0 ? total[i] : job.outside[job.alpha && c == channels - 1];
    }
    __syncthreads();
    for (int p = threadIdx.x; p < rows * valid; p += BLUR_THREADS) {
        int row = p / valid, column = p % valid;
        const float *from = sums + row * pitch + column * channels;
        float sum[4];
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (c < channels) sum[c] = sum_columns(weights.x, 2 * job.rx + 1, [&](int k) { return from[k * channels + c]; });
        store_pixel(tile_out<T>(tile, y + row) + (x0 + column) * channels, job, sum);
    }
}

__device__ __forceinline__ float *scratch_row(const imgpipe_tile &tile, const struct blur_job &job, int64_t y) {
    return (float *)tile.scratch + (y - tile.out_rect.y0) * job.width * job.channels;
}

template <typename T>
__global__ void __launch_bounds__(BLUR_THREADS)
    blur_down(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct blur_job job) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * BLUR_OUT_ROWS, s = (int64_t)blockIdx.x * BLUR_THREADS + threadIdx.x;
    if (y >= tile.out_rect.y1 || s >= job.width * job.channels) return;
    float total[BLUR_OUT_ROWS];
    sum_rows<T>(tile, job, (const float *)tile.constants, s / job.channels, (int)(s % job.channels), y, total);
#pragma unroll
    for (int i = 0; i < BLUR_OUT_ROWS; i++)
        if (y + i < tile.out_rect.y1) scratch_row(tile, job, y + i)[s] = total[i];
}

template <typename T>
__global__ void __launch_bounds__(BLUR_THREADS)
    blur_along(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct blur_job job) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int64_t x = (int64_t)blockIdx.x * BLUR_THREADS + threadIdx.x;
    if (x >= job.width) return;
    const float *w = (const float *)tile.constants + 2 * job.ry + 1;
    for (int64_t y = tile.out_rect.y0 + blockIdx.y; y < tile.out_rect.y1; y += gridDim.y) {
        const float *row = scratch_row(tile, job, y);
        float sum[4];
#pragma unroll
        for (int c = 0; c < 4; c++) {
            if (c >= job.channels) break;
            float outside = job.outside[job.alpha && c == job.channels - 1];
            sum[c] = sum_columns(w, 2 * job.rx + 1, [&](int k) {
                int64_t from = border_index(job.border, x - job.rx + k, job.width);
                return from < 0 ? outside : row[from * job.channels + c];
            });
        }
        store_pixel(tile_out<T>(tile, y) + x * job.channels, job, sum);
    }
}

static unsigned blocks(int64_t work, int64_t each) {
    return (unsigned)((work + each - 1) / each);
}

template <typename T>
static int launch_fused(const imgpipe_stage *stage, const struct blur_job &job, const imgpipe_tile *tiles, int count,
                        cudaStream_t stream) {
    const struct blur_plan *plan = (const struct blur_plan *)stage->data;
    struct blur_weights weights = {};
    for (int k = 0; k < 2 * job.ry + 1; k++) weights.y[k] = plan->wy[k];
    for (int k = 0; k < 2 * job.rx + 1; k++) weights.x[k] = plan->wx[k];
    /* With 4 channels and the greatest radius this is 24 KiB of shared memory, below what every device gives. */
    int columns = BLUR_THREADS / job.channels;
    size_t shared = (size_t)BLUR_OUT_ROWS * (size_t)((columns + 2 * job.rx) * job.channels) * sizeof(float);
    return tile_each_part(tiles, count, BLUR_OUT_ROWS, [&](const struct tile_jobs &jobs, int n) {
        dim3 grid(blocks(job.width, columns), blocks(tile_rows(jobs.tile, n), BLUR_OUT_ROWS), (unsigned)n);
        blur_fused<T><<<grid, BLUR_THREADS, shared, stream>>>(jobs, job, weights, columns);
    });
}

template <typename T>
static int launch_passes(const struct blur_job &job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    return tile_each_part(tiles, count, BLUR_OUT_ROWS, [&](const struct tile_jobs &jobs, int n) {
        int64_t rows = tile_rows(jobs.tile, n);
        dim3 down(blocks(job.width * job.channels, BLUR_THREADS), blocks(rows, BLUR_OUT_ROWS), (unsigned)n);
        blur_down<T><<<down, BLUR_THREADS, 0, stream>>>(jobs, job);
        /* The height of a grid has a limit; the kernel goes on in steps of it. */
        dim3 along(blocks(job.width, BLUR_THREADS), (unsigned)(rows < 65535 ? rows : 65535), (unsigned)n);
        blur_along<T><<<along, BLUR_THREADS, 0, stream>>>(jobs, job);
    });
}

template <typename T> static int launch(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const struct blur_plan *plan = (const struct blur_plan *)stage->data;
    struct blur_job job = {stage->in.width,
                           stage->in.height,
                           stage->in.format.channels,
                           plan->rx,
                           plan->ry,
                           stage->in.format.alpha,
                           stage->border,
                           (float)stage->border_value,
                           {plan->outside[0], plan->outside[1]}};
    if (job.rx <= BLUR_FUSED_RADIUS && job.ry <= BLUR_FUSED_RADIUS) return launch_fused<T>(stage, job, tiles, count, stream);
    return launch_passes<T>(job, tiles, count, stream);
}

extern "C" int blur_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream) {
    cudaStream_t s = (cudaStream_t)stream;
    int result;
    switch (stage->in.format.type) {
    case IMGPIPE_U8:
        if (((const struct blur_plan *)stage->data)->fixed) return blur_fixed_launch(stage, tiles, count, s);
        return launch<uint8_t>(stage, tiles, count, s);
    case IMGPIPE_U16: return blur_launch_u16(stage, tiles, count, s, &result) ? result : launch<uint16_t>(stage, tiles, count, s);
    default: return blur_launch_f32(stage, tiles, count, s, &result) ? result : launch<float>(stage, tiles, count, s);
    }
}
