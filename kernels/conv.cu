/* Correlation on CUDA, the arithmetic that of kernels/conv.h in the order of kernels/conv.c. u8 is done by conv_small.cuh,
 * conv_dots.cuh and conv_reals.cu, u16 and f32 with masks up to 7 wide by conv_types.cu; here are the kernels for the rest: for
 * larger weights, wider masks, and for what would take too much shared memory. A thread makes a few samples of one row; the mask is
 * a kernel parameter, so that every weight is read from the constant bank for all threads at once. */
#include "conv_dots.cuh"
#include <string.h>

enum { CONV_COLUMNS = 32, CONV_ROWS = 8, CONV_SAMPLES = 4 };

struct conv_image {
    int64_t width, height;
    int channels;
    bool alpha;
    imgpipe_border border;
    double border_value;
};

/* What an arithmetic of struct conv_params adds up, for samples of type T. */
template <typename T, typename S> struct conv_whole {
    typedef S sum;
    static __device__ __forceinline__ S weight(const conv_params &params, int i) { return params.weights.whole[i]; }
    static __device__ __forceinline__ S add(S sum, S weight, T sample) { return sum + weight * (S)sample; }
    static __device__ __forceinline__ T sample(const conv_params &params, S sum) {
        int64_t s = params.absolute && sum < 0 ? -(int64_t)sum : (int64_t)sum;
        return (T)conv_divide(&params, s + params.offset, sizeof(T) == 1 ? 255 : 65535);
    }
};

template <typename T> struct conv_single {
    typedef float sum;
    static __device__ __forceinline__ float weight(const conv_params &params, int i) { return params.weights.real[i]; }
    static __device__ __forceinline__ float add(float sum, float weight, T sample) { return __fmaf_rn(weight, (float)sample, sum); }
    static __device__ __forceinline__ T sample(const conv_params &params, float sum) {
        float v = sum / (float)params.real_div;
        if (params.absolute) v = fabsf(v);
        v += (float)params.real_bias;
        return sizeof(T) == 1 ? (T)pixel_u8(v) : (T)pixel_u16(v);
    }
};

struct conv_twice {
    typedef double sum;
    static __device__ __forceinline__ double weight(const conv_params &params, int i) { return (double)params.weights.real[i]; }
    static __device__ __forceinline__ double add(double sum, double weight, float sample) {
        return __fma_rn(weight, (double)sample, sum); /* the product of two floats is exact */
    }
    static __device__ __forceinline__ float sample(const conv_params &params, double sum) {
        double v = sum / params.real_div;
        if (params.absolute) v = fabs(v);
        return pixel_f32((float)(v + params.real_bias));
    }
};

/* Sample `index` of a row of pixels, moved by `dx` pixels; `row` is NULL beyond a constant border. */
template <typename T> __device__ __forceinline__ T conv_at(const conv_image &image, const T *row, int64_t x, int channel, int dx) {
    int64_t from = border_index(image.border, x + dx, image.width);
    return row && from >= 0 ? row[from * image.channels + channel] : (T)image.border_value;
}

template <typename T, typename A>
__global__ void __launch_bounds__(CONV_COLUMNS *CONV_ROWS)
    conv_kernel(const __grid_constant__ tile_jobs jobs, const __grid_constant__ conv_image image,
                const __grid_constant__ conv_params params) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * CONV_ROWS + threadIdx.y;
    if (y >= tile.out_rect.y1) return;
    int64_t samples = image.width * image.channels, first = (int64_t)blockIdx.x * (CONV_COLUMNS * CONV_SAMPLES) + threadIdx.x;
    int rx = params.width / 2, ry = params.height / 2;
    int64_t x[CONV_SAMPLES];
    int channel[CONV_SAMPLES];
    bool inside = true;
    for (int k = 0; k < CONV_SAMPLES; k++) {
        int64_t at = first + k * CONV_COLUMNS;
        x[k] = at / image.channels;
        channel[k] = (int)(at - x[k] * image.channels);
        inside = inside && x[k] >= rx && x[k] + rx < image.width;
    }
    typename A::sum sums[CONV_SAMPLES] = {};
    for (int j = 0; j < params.height; j++) {
        int64_t from = border_index(image.border, y + j - ry, image.height);
        const T *row = from < 0 ? NULL : tile_in<T>(tile, from);
        typename A::sum line[CONV_SAMPLES] = {};
        if (inside && row) {
            const T *at = row + first - (int64_t)rx * image.channels;
            for (int i = 0; i < params.width; i++, at += image.channels) {
                typename A::sum weight = A::weight(params, j * params.width + i);
                for (int k = 0; k < CONV_SAMPLES; k++) line[k] = A::add(line[k], weight, at[k * CONV_COLUMNS]);
            }
        } else {
            for (int i = 0; i < params.width; i++) {
                typename A::sum weight = A::weight(params, j * params.width + i);
                for (int k = 0; k < CONV_SAMPLES; k++)
                    if (x[k] < image.width) line[k] = A::add(line[k], weight, conv_at(image, row, x[k], channel[k], i - rx));
            }
        }
        for (int k = 0; k < CONV_SAMPLES; k++) sums[k] += line[k];
    }
    const T *middle = tile_in<T>(tile, y);
    T *out = tile_out<T>(tile, y);
    for (int k = 0; k < CONV_SAMPLES; k++) {
        int64_t at = first + k * CONV_COLUMNS;
        if (at >= samples) break;
        out[at] = image.alpha && channel[k] == image.channels - 1 ? middle[at] : A::sample(params, sums[k]);
    }
}

template <typename T, typename A>
static int conv_launch(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const conv_params &params = ((const conv_plan *)stage->data)->params;
    imgpipe_format format = stage->in.format;
    conv_image image = {stage->in.width, stage->in.height, format.channels, format.alpha, stage->border, stage->border_value};
    return tile_each_part(tiles, count, CONV_ROWS, [&](const tile_jobs &jobs, int n) {
        int64_t samples = image.width * image.channels, rows = tile_rows(jobs.tile, n);
        int64_t across = CONV_COLUMNS * CONV_SAMPLES;
        dim3 grid((unsigned)((samples + across - 1) / across), (unsigned)((rows + CONV_ROWS - 1) / CONV_ROWS), (unsigned)n);
        conv_kernel<T, A><<<grid, dim3(CONV_COLUMNS, CONV_ROWS), 0, stream>>>(jobs, image, params);
    });
}

/* Whether a stage on u8 is done here; *result is then that of the launch. */
static bool conv_bytes(const imgpipe_stage *stage, const window_image &image, const imgpipe_tile *tiles, int count,
                       cudaStream_t stream, int *result) {
    const conv_params &params = ((const conv_plan *)stage->data)->params;
    if (params.arithmetic == CONV_REAL) {
        *result = conv_reals_any(stage, image, tiles, count, stream);
        return *result != CONV_TOO_LARGE;
    }
    conv_dots dots = {};
    if (params.arithmetic == CONV_INT64 || !conv_make_dots(params, dots)) return false;
    if (image.channels == 1 && dots.width == dots.height && dots.width <= 5) {
        const conv_words<CONV_WORDS_SMALL> mask = conv_make_words<CONV_WORDS_SMALL>(params, dots);
        *result = dots.width == 3 ? conv_small_launch<3>(image, mask, tiles, count, stream)
                                  : conv_small_launch<5>(image, mask, tiles, count, stream);
    } else {
        const conv_words<CONV_WORDS> mask = conv_make_words<CONV_WORDS>(params, dots);
        *result = conv_dots_any(stage, image, mask, tiles, count, stream);
    }
    return *result != CONV_TOO_LARGE;
}

/* The same for all types. */
static bool conv_windows(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    const imgpipe_info &in = stage->in;
    const float real = (float)stage->border_value;
    window_image image = {in.width, in.height, in.format.channels, stage->border, (uint32_t)stage->border_value};
    if (in.format.type == IMGPIPE_U8) return conv_bytes(stage, image, tiles, count, stream, result);
    if (in.format.type == IMGPIPE_F32) memcpy(&image.outside, &real, sizeof real);
    *result = in.format.type == IMGPIPE_F32 ? conv_sums_f32(stage, image, tiles, count, stream)
                                            : conv_sums_u16(stage, image, tiles, count, stream);
    return *result != CONV_TOO_LARGE;
}

extern "C" int conv_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream) {
    cudaStream_t s = (cudaStream_t)stream;
    int result;
    if (conv_windows(stage, tiles, count, s, &result)) return result;
    enum conv_arithmetic arithmetic = ((const conv_plan *)stage->data)->params.arithmetic;
    if (stage->in.format.type == IMGPIPE_F32) return conv_launch<float, conv_twice>(stage, tiles, count, s);
    if (stage->in.format.type == IMGPIPE_U8) {
        if (arithmetic == CONV_REAL) return conv_launch<uint8_t, conv_single<uint8_t>>(stage, tiles, count, s);
        if (arithmetic == CONV_INT64) return conv_launch<uint8_t, conv_whole<uint8_t, int64_t>>(stage, tiles, count, s);
        return conv_launch<uint8_t, conv_whole<uint8_t, int32_t>>(stage, tiles, count, s);
    }
    if (arithmetic == CONV_REAL) return conv_launch<uint16_t, conv_single<uint16_t>>(stage, tiles, count, s);
    if (arithmetic == CONV_INT64) return conv_launch<uint16_t, conv_whole<uint16_t, int64_t>>(stage, tiles, count, s);
    return conv_launch<uint16_t, conv_whole<uint16_t, int32_t>>(stage, tiles, count, s);
}
