/* Box mean on CUDA; box.h has the definition. box_slide.cuh does u8 and box_words.cuh u16 without alpha, ordered_window.cuh f32
 * without alpha, up to some size; the kernels here do the rest: the sums over rows of the image's own columns go through device
 * memory; the second kernel sums along them and divides. Integers slide in both directions, f32 adds in the order of the
 * definition. */
#include "box_slide.cuh"
#include "box_words.cuh"
#include "ordered_window.cuh"

#define BOX_THREADS 256
/* Rows that a thread of the first kernel makes. */
#define BOX_SLIDE_ROWS 32
#define BOX_F32_ROWS 8
/* Columns of a block of the second kernel, BOX_THREADS at a time: the first needs a whole window of its own. */
#define BOX_COLUMNS (8 * BOX_THREADS)

/* The same for all tiles of a launch. */
struct box_job {
    int64_t width, height;
    int channels, rx, ry;
    uint32_t n;
    bool alpha;
    imgpipe_border border;
    double value;
    uint64_t outside[2];
    float outside_f32[2];
};

/* What adds up: whole numbers in 64 bits, or float32. */
template <typename T> struct box_sum { typedef uint64_t type; };
template <> struct box_sum<float> { typedef float type; };

/* Channel c of column x in row y, which may lie above or below the image; colours times alpha. */
template <typename T>
__device__ __forceinline__ typename box_sum<T>::type load_sample(const imgpipe_tile &tile, const struct box_job &job, int64_t y,
                                                                 int64_t x, int c) {
    typedef typename box_sum<T>::type S;
    bool weighed = job.alpha && c < job.channels - 1;
    int64_t from = border_index(job.border, y, job.height);
    if (from < 0) return weighed ? (S)job.value * (S)job.value : (S)job.value;
    const T *pixel = tile_in<T>(tile, from) + x * job.channels;
    return weighed ? (S)pixel[c] * (S)pixel[job.channels - 1] : (S)pixel[c];
}

template <typename S> __device__ __forceinline__ S *scratch_row(const imgpipe_tile &tile, const struct box_job &job, int64_t y) {
    return (S *)tile.scratch + (y - tile.out_rect.y0) * job.width * job.channels;
}

template <typename T>
__global__ void __launch_bounds__(BOX_THREADS)
    box_down(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct box_job job) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * BOX_SLIDE_ROWS, s = (int64_t)blockIdx.x * BOX_THREADS + threadIdx.x;
    if (y >= tile.out_rect.y1 || s >= job.width * job.channels) return;
    int64_t x = s / job.channels, end = min(y + BOX_SLIDE_ROWS, tile.out_rect.y1);
    int c = (int)(s % job.channels);
    uint64_t sum = 0;
    for (int64_t k = y - job.ry; k < y + job.ry; k++) sum += load_sample<T>(tile, job, k, x, c);
    for (; y < end; y++) {
        sum += load_sample<T>(tile, job, y + job.ry, x, c);
        scratch_row<uint64_t>(tile, job, y)[s] = sum;
        sum -= load_sample<T>(tile, job, y - job.ry, x, c);
    }
}

/* f32: the input rows come by once, and each is added to every sum that it belongs to. */
__global__ void __launch_bounds__(BOX_THREADS)
    box_down_f32(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct box_job job) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * BOX_F32_ROWS, s = (int64_t)blockIdx.x * BOX_THREADS + threadIdx.x;
    if (y >= tile.out_rect.y1 || s >= job.width * job.channels) return;
    int64_t x = s / job.channels;
    int c = (int)(s % job.channels), taps = 2 * job.ry + 1, rows = (int)min((int64_t)BOX_F32_ROWS, tile.out_rect.y1 - y);
    float sum[BOX_F32_ROWS];
    for (int k = 0; k < taps + rows - 1; k++) {
        float v = load_sample<float>(tile, job, y - job.ry + k, x, c);
#pragma unroll
        for (int i = 0; i < BOX_F32_ROWS; i++)
            if (k == i)
                sum[i] = v;
            else if (k > i && k - i < taps)
                sum[i] = __fadd_rn(sum[i], v);
    }
#pragma unroll
    for (int i = 0; i < BOX_F32_ROWS; i++)
        if (i < rows) scratch_row<float>(tile, job, y + i)[s] = sum[i];
}

/* The sum over rows of channel c in column x, which may lie beside the image. */
__device__ __forceinline__ uint64_t column_sum(const uint64_t *row, const struct box_job &job, int64_t x, int c) {
    int64_t from = border_index(job.border, x, job.width);
    return from < 0 ? job.outside[job.alpha && c == job.channels - 1] : row[from * job.channels + c];
}
__device__ __forceinline__ float column_sum(const float *row, const struct box_job &job, int64_t x, int c) {
    int64_t from = border_index(job.border, x, job.width);
    return from < 0 ? job.outside_f32[job.alpha && c == job.channels - 1] : row[from * job.channels + c];
}

/* The sum of v over the threads up to this one; *all becomes that over all threads. Every thread of the block calls it. */
__device__ uint64_t scan_block(uint64_t v, uint64_t *all) {
    __shared__ uint64_t warps[BOX_THREADS / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        uint64_t below = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += below;
    }
    if (lane == 31) warps[warp] = v;
    __syncthreads();
    uint64_t before = 0, sum = 0;
    for (int w = 0; w < BOX_THREADS / 32; w++) {
        if (w < warp) before += warps[w];
        sum += warps[w];
    }
    __syncthreads();
    *all = sum;
    return before + v;
}

template <typename T> __device__ __forceinline__ void store_pixel(T *p, const struct box_job &job, const uint64_t sum[4]) {
    int last = job.channels - 1;
    uint64_t a = 0, half = job.n / 2;
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (c == last) a = sum[c];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c > last) break;
        if (!job.alpha || c == last)
            p[c] = (T)((sum[c] + half) / job.n);
        else
            p[c] = (a + half) / job.n == 0 ? (T)0 : (T)((sum[c] + a / 2) / a);
    }
}

/* One row of BOX_COLUMNS pixels a block. A window's sum is that of the first window plus the differences up to it, each the
 * column that enters less the one that leaves, modulo 2^64. */
template <typename T> __device__ void box_row(const imgpipe_tile &tile, const struct box_job &job, int64_t y, int64_t x0) {
    const uint64_t *row = scratch_row<uint64_t>(tile, job, y);
    uint64_t carry[4], sum[4], all;
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c >= job.channels) break;
        uint64_t part = 0;
        /* The window of the pixel before the first, so that every pixel has a difference. */
        for (int k = threadIdx.x; k < 2 * job.rx + 1; k += BOX_THREADS) part += column_sum(row, job, x0 - 1 - job.rx + k, c);
        scan_block(part, &all);
        carry[c] = all;
    }
    for (int64_t begin = x0; begin < x0 + BOX_COLUMNS && begin < job.width; begin += BOX_THREADS) {
        int64_t x = begin + threadIdx.x;
#pragma unroll
        for (int c = 0; c < 4; c++) {
            if (c >= job.channels) break;
            uint64_t difference = column_sum(row, job, x + job.rx, c) - column_sum(row, job, x - job.rx - 1, c);
            sum[c] = carry[c] + scan_block(difference, &all);
            carry[c] += all;
        }
        if (x < job.width) store_pixel(tile_out<T>(tile, y) + x * job.channels, job, sum);
    }
}

template <typename T>
__global__ void __launch_bounds__(BOX_THREADS)
    box_along(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct box_job job) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    for (int64_t y = tile.out_rect.y0 + blockIdx.y; y < tile.out_rect.y1; y += gridDim.y)
        box_row<T>(tile, job, y, (int64_t)blockIdx.x * BOX_COLUMNS);
}

__device__ void box_pixel_f32(const imgpipe_tile &tile, const struct box_job &job, int64_t y, int64_t x) {
    const float *row = scratch_row<float>(tile, job, y);
    float *p = tile_out<float>(tile, y) + x * job.channels, sum[4];
    int last = job.channels - 1;
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c > last) break;
        sum[c] = column_sum(row, job, x - job.rx, c);
        for (int k = 1; k < 2 * job.rx + 1; k++) sum[c] = __fadd_rn(sum[c], column_sum(row, job, x - job.rx + k, c));
    }
    float a = 0.0f, n = (float)job.n;
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (c == last) a = sum[c];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c > last) break;
        if (!job.alpha || c == last)
            p[c] = pixel_f32(__fdiv_rn(sum[c], n));
        else
            p[c] = a == 0.0f ? 0.0f : pixel_f32(__fdiv_rn(sum[c], a));
    }
}

__global__ void __launch_bounds__(BOX_THREADS)
    box_along_f32(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct box_job job) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int64_t x = (int64_t)blockIdx.x * BOX_THREADS + threadIdx.x;
    if (x >= job.width) return;
    for (int64_t y = tile.out_rect.y0 + blockIdx.y; y < tile.out_rect.y1; y += gridDim.y) box_pixel_f32(tile, job, y, x);
}

static unsigned blocks(int64_t work, int64_t each) {
    return (unsigned)((work + each - 1) / each);
}
/* The height of a grid has a limit; kernels that take a row a block go on in steps of it. */
static unsigned grid_rows(int64_t rows) {
    return (unsigned)(rows < 65535 ? rows : 65535);
}

template <typename T> static int launch(const struct box_job &job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    return tile_each_part(tiles, count, BOX_SLIDE_ROWS, [&](const struct tile_jobs &jobs, int n) {
        int64_t rows = tile_rows(jobs.tile, n);
        dim3 down(blocks(job.width * job.channels, BOX_THREADS), blocks(rows, BOX_SLIDE_ROWS), (unsigned)n);
        box_down<T><<<down, BOX_THREADS, 0, stream>>>(jobs, job);
        dim3 along(blocks(job.width, BOX_COLUMNS), grid_rows(rows), (unsigned)n);
        box_along<T><<<along, BOX_THREADS, 0, stream>>>(jobs, job);
    });
}

static int launch_f32(const struct box_job &job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    return tile_each_part(tiles, count, BOX_F32_ROWS, [&](const struct tile_jobs &jobs, int n) {
        int64_t rows = tile_rows(jobs.tile, n);
        dim3 down(blocks(job.width * job.channels, BOX_THREADS), blocks(rows, BOX_F32_ROWS), (unsigned)n);
        box_down_f32<<<down, BOX_THREADS, 0, stream>>>(jobs, job);
        dim3 along(blocks(job.width, BOX_THREADS), grid_rows(rows), (unsigned)n);
        box_along_f32<<<along, BOX_THREADS, 0, stream>>>(jobs, job);
    });
}

/* The arithmetic of f32. */
struct ordered_mean {
    static const bool groups = false, weighted = false;
    static const int group = 1;
    static __device__ __forceinline__ float first(float, float x) { return x; }
    static __device__ __forceinline__ float next(float, float x, float sum) { return __fadd_rn(sum, x); }
    static __device__ __forceinline__ float end(float sum, float divisor) { return __fdiv_rn(sum, divisor); }
};

/* f32 without alpha; whether the stage is done here. */
static bool launch_ordered(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    const struct box_plan *plan = (const struct box_plan *)stage->data;
    if (stage->in.format.alpha || plan->rx > ORDERED_RADIUS) return false;
    ordered_job job = ordered_make<float>(stage, plan->rx, plan->ry);
    job.outside = plan->outside_f32[0];
    job.divisor = (float)plan->n;
    return ordered_launch<float, ordered_mean>(job, tiles, count, stream, result);
}

extern "C" int box_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream) {
    int result;
    const struct box_plan *plan = (const struct box_plan *)stage->data;
    struct box_job job = {stage->in.width,
                          stage->in.height,
                          stage->in.format.channels,
                          plan->rx,
                          plan->ry,
                          plan->n,
                          stage->in.format.alpha,
                          stage->border,
                          stage->border_value,
                          {plan->outside[0], plan->outside[1]},
                          {plan->outside_f32[0], plan->outside_f32[1]}};
    switch (stage->in.format.type) {
    case IMGPIPE_U8:
        if (box_slide_any(stage, tiles, count, (cudaStream_t)stream, &result)) return result;
        return launch<uint8_t>(job, tiles, count, (cudaStream_t)stream);
    case IMGPIPE_U16:
        if (box_words_any(stage, tiles, count, (cudaStream_t)stream, &result)) return result;
        return launch<uint16_t>(job, tiles, count, (cudaStream_t)stream);
    default:
        if (launch_ordered(stage, tiles, count, (cudaStream_t)stream, &result)) return result;
        return launch_f32(job, tiles, count, (cudaStream_t)stream);
    }
}
