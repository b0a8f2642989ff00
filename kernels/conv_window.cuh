/* Correlation of u8 by way of planes in shared memory (window.cuh), for any size and number of channels. A thread makes
 * some neighbouring samples of a few rows; each row of the plane comes by once, and serves every result that it belongs to.
 *
 * Whole weights of 8 bits: dp4a, see conv_small.cuh. Operations of a sample: height * ceil(width / 4) dot products, and a 16th as
 * many loads of weights from shared memory. Floor: the dot products.
 * Real weights: float32 in the order of conv.h, height * width + height operations. Floor: those. */
#ifndef CONV_WINDOW_CUH
#define CONV_WINDOW_CUH
#include "conv_small.cuh"

#define CONV_LANES 32
#define CONV_WARPS 4
/* Samples and rows of a thread. The more samples, the fewer loads of weights; with floats they would not fit registers. */
#define CONV_DOT_WIDE 16
#define CONV_REAL_WIDE 8
#define CONV_ROWS_EACH 4
/* What every device can give a block, and what a launch says that would need more. */
#define CONV_SHARED (64 * 1024)
#define CONV_TOO_LARGE (-1)

/* HALO: chunks to each side. */
template <int WIDE, int HALO> struct conv_layout {
    static const int across = CONV_LANES * WIDE, chunks = across / 16, pitch = 16 * (chunks + 2 * HALO), out_pitch = across;
    static __host__ __device__ int plane(int rows, int height) { return pitch * (rows + height - 1); }
    static __host__ __device__ int out_plane(int rows) { return out_pitch * rows; }
    static int bytes(int rows, int height, int channels) {
        return channels * (plane(rows, height) + (channels > 1 ? out_plane(rows) : 0)) + 32; /* words are read ahead */
    }
};

/* WIDE results of row `row` of a block: to the image, or to the plane `out` where there are several channels. */
template <int WIDE>
static __device__ __forceinline__ void conv_put(const imgpipe_tile &tile, const window_image &image, unsigned char *out, int64_t x0,
                                                int64_t y0, int lane, int row, const uint32_t (&v)[WIDE / 4]) {
    const int64_t x = x0 + lane * WIDE;
    bool planes = image.channels > 1;
    uint8_t *to = planes ? out + row * (CONV_LANES * WIDE) + lane * WIDE : tile_out<uint8_t>(tile, y0 + row) + x;
    if (planes || x + WIDE <= image.width) {
        if constexpr (WIDE == 16)
            *(uint4 *)to = make_uint4(v[0], v[1], v[2], v[3]);
        else
            *(uint2 *)to = make_uint2(v[0], v[1]);
        return;
    }
#pragma unroll
    for (int i = 0; i < WIDE; i++)
        if (x + i < image.width) to[i] = (uint8_t)(v[i / 4] >> i % 4 * 8);
}

/* A row of samples as it is, for alpha. */
template <int WIDE> static __device__ __forceinline__ void conv_keep(const unsigned char *from, uint32_t (&v)[WIDE / 4]) {
#pragma unroll
    for (int i = 0; i < WIDE / 4; i++) v[i] = ((const uint32_t *)from)[i];
}

/* Adds word `word` of the rows of the mask that meet row k of the plane: row k - i to result i. `words` are the samples from there on. */
template <int PLACE>
static __device__ __forceinline__ void conv_add_dots(const conv_dots &mask, const uint32_t *weights, int k, int step, const uint32_t *words,
                                                     int (&sums)[CONV_ROWS_EACH][CONV_DOT_WIDE]) {
    const int places = PLACE % 2 ? 2 : 4;
    uint32_t further[5], weight[CONV_ROWS_EACH][4];
#pragma unroll
    for (int i = 0; i < CONV_ROWS_EACH; i++)
        if (k - i >= 0 && k - i < mask.height) {
            if (places == 4)
                *(uint4 *)weight[i] = *(const uint4 *)(weights - i * step);
            else
                *(uint2 *)weight[i] = *(const uint2 *)(weights - i * step);
        }
#pragma unroll
    for (int i = 0; i < 5; i++) further[i] = places == 2 ? __byte_perm(words[i], words[i + 1], 0x5432) : 0;
#pragma unroll
    for (int i = 0; i < CONV_ROWS_EACH; i++)
        if (k - i >= 0 && k - i < mask.height)
#pragma unroll
            for (int x = 0; x < CONV_DOT_WIDE; x++) {
                const int at = x + PLACE, place = at % 4;
                sums[i][x] = conv_dot(places == 2 && place >= 2 ? further[at / 4] : words[at / 4], weight[i][place % places], sums[i][x]);
            }
}

/* The sums of a thread's samples. `from` is the word of the first row where the first window begins, at byte PLACE. WORDS: those of a
 * row of the mask, 0 for any number. */
template <int PLACE, int WORDS>
static __device__ __forceinline__ void conv_sum_dots(const conv_dots &mask, const uint32_t *weights, const unsigned char *from, int pitch,
                                                     int (&sums)[CONV_ROWS_EACH][CONV_DOT_WIDE]) {
    const int places = PLACE % 2 ? 2 : 4, step = (WORDS ? WORDS : mask.words) * places;
#pragma unroll 1
    for (int k = 0; k < CONV_ROWS_EACH + mask.height - 1; k++, from += pitch, weights += step) {
        const uint32_t *row = (const uint32_t *)from;
        uint32_t words[WORDS + 6];
#pragma unroll
        for (int i = 0; i < WORDS + 5; i++) words[i] = row[i];
        if constexpr (WORDS > 0) {
#pragma unroll
            for (int word = 0; word < WORDS; word++) conv_add_dots<PLACE>(mask, weights + word * places, k, step, words + word, sums);
        } else {
#pragma unroll 1
            for (int word = 0; word < mask.words; word++) {
                words[5] = row[word + 5];
                conv_add_dots<PLACE>(mask, weights + word * places, k, step, words, sums);
#pragma unroll
                for (int i = 0; i < 5; i++) words[i] = words[i + 1];
            }
        }
    }
}

/* The rows of one channel that follow `first`; alpha is kept. */
template <int PLACE, int WORDS, int HALO>
static __device__ __forceinline__ void conv_dots_plane(const imgpipe_tile &tile, const window_image &image, const conv_dots &mask,
                                                       const uint32_t *weights, const unsigned char *plane, unsigned char *out,
                                                       int64_t x0, int64_t y0,
                                                       int first, int rows, bool keep) {
    typedef conv_layout<CONV_DOT_WIDE, HALO> L;
    const int lane = threadIdx.x % CONV_LANES;
    const unsigned char *from = plane + first * L::pitch + 16 * HALO + lane * CONV_DOT_WIDE;
    int sums[CONV_ROWS_EACH][CONV_DOT_WIDE] = {};
    if (!keep) conv_sum_dots<PLACE, WORDS>(mask, weights, from - mask.width / 2 - PLACE, L::pitch, sums);
#pragma unroll
    for (int i = 0; i < CONV_ROWS_EACH; i++) {
        if (first + i >= rows) break;
        uint32_t v[CONV_DOT_WIDE / 4];
#pragma unroll
        for (int x = 0; x < CONV_DOT_WIDE; x += 4)
            v[x / 4] = conv_pack(conv_end<false>(mask, sums[i][x]), conv_end<false>(mask, sums[i][x + 1]),
                                 conv_end<false>(mask, sums[i][x + 2]), conv_end<false>(mask, sums[i][x + 3]));
        if (keep) conv_keep<CONV_DOT_WIDE>(from + (i + mask.height / 2) * L::pitch, v);
        conv_put<CONV_DOT_WIDE>(tile, image, out, x0, y0, lane, first + i, v);
    }
}

static __device__ __forceinline__ float conv_float(uint32_t bytes, int i) {
    return __fadd_rn(__uint_as_float(__byte_perm(bytes, 0x4b000000u, 0x7650u + (unsigned)i)), -8388608.0f);
}

/* A row of the mask takes whole vectors in shared memory. */
static __host__ __device__ __forceinline__ int conv_real_step(int width) {
    return (width + 3) / 4 * 4;
}

/* Adds TAPS products of each result. */
template <int TAPS>
static __device__ __forceinline__ void conv_add_reals(const float (&weights)[4], const float *x, float (&line)[CONV_REAL_WIDE],
                                                      int left = TAPS) {
#pragma unroll
    for (int t = 0; t < TAPS && t < left; t++)
#pragma unroll
        for (int i = 0; i < CONV_REAL_WIDE; i++) line[i] = __fmaf_rn(weights[t], x[i + t], line[i]);
}

/* `from` is the word where the first window begins, at byte `place`. */
static __device__ __forceinline__ void conv_sum_reals(const conv_params &params, const float *all_weights, const unsigned char *from, int place, int pitch,
                                                      float (&sums)[CONV_ROWS_EACH][CONV_REAL_WIDE]) {
    const int width = params.width, height = params.height, shift = 8 * place, step = conv_real_step(width);
#pragma unroll 1
    for (int k = 0; k < CONV_ROWS_EACH + height - 1; k++, from += pitch) {
        const uint32_t *row = (const uint32_t *)from;
        float line[CONV_ROWS_EACH][CONV_REAL_WIDE] = {}, x[CONV_REAL_WIDE + 4];
        uint32_t before = row[0];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t next = row[i + 1], bytes = __funnelshift_r(before, next, shift);
#pragma unroll
            for (int b = 0; b < 4; b++) x[4 * i + b + 4] = conv_float(bytes, b);
            before = next;
        }
        row += 3;
#pragma unroll 1
        for (int tap = 0; tap < width; tap += 4) {
            uint32_t next = *row++, bytes = __funnelshift_r(before, next, shift);
            before = next;
#pragma unroll
            for (int i = 0; i < CONV_REAL_WIDE; i++) x[i] = x[i + 4];
#pragma unroll
            for (int b = 0; b < 4; b++) x[CONV_REAL_WIDE + b] = conv_float(bytes, b);
#pragma unroll
            for (int i = 0; i < CONV_ROWS_EACH; i++) {
                if (k - i < 0 || k - i >= height) continue;
                const float4 four = *(const float4 *)(all_weights + (k - i) * step + tap);
                const float weights[4] = {four.x, four.y, four.z, four.w};
                if (tap + 4 <= width)
                    conv_add_reals<4>(weights, x, line[i]);
                else if (tap + 3 == width)
                    conv_add_reals<3>(weights, x, line[i]);
                else
                    conv_add_reals<1>(weights, x, line[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < CONV_ROWS_EACH; i++)
#pragma unroll
            for (int c = 0; c < CONV_REAL_WIDE; c++)
                if (k - i >= 0 && k - i < height) sums[i][c] = __fadd_rn(sums[i][c], line[i][c]);
    }
}

/* The same for masks WIDTH wide: the samples of a row become floats once, and one result's line at a time is in registers. */
template <int WIDTH>
static __device__ __forceinline__ void conv_sum_reals_of(int height, const float *all_weights, const unsigned char *from, int pitch,
                                                         float (&sums)[CONV_ROWS_EACH][CONV_REAL_WIDE]) {
    const int place = -(WIDTH / 2) & 3, step = conv_real_step(WIDTH), count = CONV_REAL_WIDE + WIDTH - 1;
#pragma unroll 1
    for (int k = 0; k < CONV_ROWS_EACH + height - 1; k++, from += pitch, all_weights += step) {
        float x[count];
#pragma unroll
        for (int i = 0; i < count; i++) x[i] = conv_float(((const uint32_t *)from)[(place + i) / 4], (place + i) % 4);
#pragma unroll
        for (int i = 0; i < CONV_ROWS_EACH; i++) {
            if (k - i < 0 || k - i >= height) continue;
            float line[CONV_REAL_WIDE] = {};
#pragma unroll
            for (int tap = 0; tap < WIDTH; tap += 4) {
                const float4 four = *(const float4 *)(all_weights - i * step + tap);
                const float weights[4] = {four.x, four.y, four.z, four.w};
                conv_add_reals<4>(weights, x + tap, line, WIDTH - tap);
            }
#pragma unroll
            for (int c = 0; c < CONV_REAL_WIDE; c++) sums[i][c] = __fadd_rn(sums[i][c], line[c]);
        }
    }
}

static __device__ __forceinline__ uint32_t conv_real_end(const conv_params &params, float sum) {
    float v = __fdiv_rn(sum, (float)params.real_div);
    if (params.absolute) v = fabsf(v);
    return pixel_u8(__fadd_rn(v, (float)params.real_bias));
}

template <int WIDTH, int HALO>
static __device__ __forceinline__ void conv_reals_plane(const imgpipe_tile &tile, const window_image &image, const conv_params &params,
                                                        const float *weights, const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0,
                                                        int first, int rows, bool keep) {
    typedef conv_layout<CONV_REAL_WIDE, HALO> L;
    const int lane = threadIdx.x % CONV_LANES, place = -(params.width / 2) & 3;
    const unsigned char *from = plane + first * L::pitch + 16 * HALO + lane * CONV_REAL_WIDE;
    float sums[CONV_ROWS_EACH][CONV_REAL_WIDE] = {};
    if (keep)
        ;
    else if constexpr (WIDTH > 0)
        conv_sum_reals_of<WIDTH>(params.height, weights, from - params.width / 2 - place, L::pitch, sums);
    else
        conv_sum_reals(params, weights, from - params.width / 2 - place, place, L::pitch, sums);
#pragma unroll
    for (int i = 0; i < CONV_ROWS_EACH; i++) {
        if (first + i >= rows) break;
        uint32_t v[CONV_REAL_WIDE];
#pragma unroll
        for (int x = 0; x < CONV_REAL_WIDE; x++) v[x] = conv_real_end(params, sums[i][x]);
        uint32_t words[2] = {v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24, v[4] | v[5] << 8 | v[6] << 16 | v[7] << 24};
        if (keep) conv_keep<CONV_REAL_WIDE>(from + (i + params.height / 2) * L::pitch, words);
        conv_put<CONV_REAL_WIDE>(tile, image, out, x0, y0, lane, first + i, words);
    }
}

/* A block: planes of all channels, then groups of rows of a channel, warp by warp, by plane(...). */
template <int WIDE, int HALO, typename F>
static __device__ __forceinline__ void conv_block(const imgpipe_tile &tile, const window_image &image, unsigned char *shared, int height,
                                                  int rows, F plane) {
    typedef conv_layout<WIDE, HALO> L;
    const window_planes planes = {shared, L::pitch, L::plane(rows, height)};
    const window_planes results = {shared + image.channels * planes.plane_pitch, L::out_pitch, L::out_plane(rows)};
    const int64_t x0 = (int64_t)blockIdx.x * L::across;
    const int threads = CONV_LANES * CONV_WARPS, thread = (int)threadIdx.x;
    for (int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * rows; y < tile.out_rect.y1; y += (int64_t)gridDim.y * rows) {
        const int made = (int)min((int64_t)rows, tile.out_rect.y1 - y), groups = rows / CONV_ROWS_EACH;
        window_load<uint8_t, L::chunks + 2 * HALO>(tile, image, planes, x0 - 16 * HALO, y - height / 2, made + height - 1, thread,
                                                     threads, window_copy());
        window_loaded();
        __syncthreads();
        for (int i = thread / CONV_LANES; i < image.channels * groups; i += CONV_WARPS)
            if (i % groups * CONV_ROWS_EACH < made)
                plane(planes.base + i / groups * planes.plane_pitch, results.base + i / groups * results.plane_pitch, x0, y,
                      i % groups * CONV_ROWS_EACH, made, i / groups);
        __syncthreads();
        if (image.channels == 1) continue;
        window_store<uint8_t, L::chunks>(tile, image, results, x0, y, made, thread, threads);
        __syncthreads();
    }
}

template <int PLACE, int WORDS, int HALO>
static __global__ void __launch_bounds__(CONV_LANES *CONV_WARPS, 4)
    conv_dots_window(const __grid_constant__ tile_jobs jobs, const __grid_constant__ window_image image, bool alpha, int rows,
                     const __grid_constant__ conv_words<CONV_WORDS> mask) {
    extern __shared__ uint4 conv_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int count = mask.height * mask.words * mask.places;
    uint32_t *weights = (uint32_t *)conv_shared;
    for (int i = (int)threadIdx.x; i < count; i += CONV_LANES * CONV_WARPS) weights[i] = mask.weights[i];
    conv_block<CONV_DOT_WIDE, HALO>(tile, image, (unsigned char *)(weights + (count + 3) / 4 * 4), mask.height, rows,
                                    [&](const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0, int first, int made,
                                        int channel) {
                                        conv_dots_plane<PLACE, WORDS, HALO>(tile, image, mask, weights, plane, out, x0, y0, first, made,
                                                                     alpha && channel == image.channels - 1);
                                    });
}

/* WIDTH: of the mask, 0 for any. */
template <int WIDTH, int HALO>
static __global__ void __launch_bounds__(CONV_LANES *CONV_WARPS, 5)
    conv_reals_window(const __grid_constant__ tile_jobs jobs, const __grid_constant__ window_image image, bool alpha, int rows,
                      const __grid_constant__ conv_params params) {
    extern __shared__ uint4 conv_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int step = conv_real_step(params.width), count = params.height * step;
    float *weights = (float *)conv_shared;
    for (int i = (int)threadIdx.x; i < count; i += CONV_LANES * CONV_WARPS)
        weights[i] = i % step < params.width ? params.weights.real[i / step * params.width + i % step] : 0.0f;
    conv_block<CONV_REAL_WIDE, HALO>(tile, image, (unsigned char *)(weights + count), params.height, rows,
                                     [&](const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0, int first, int made,
                                         int channel) {
                                         conv_reals_plane<WIDTH, HALO>(tile, image, params, weights, plane, out, x0, y0, first, made,
                                                                alpha && channel == image.channels - 1);
                                     });
}

/* The height of a block: as many rows as shared memory has room for, up to two groups a warp. M is the mask as the kernel takes it, `weights` the words of it
 * that lie in shared memory. */
template <int WIDE, int HALO, typename M>
static int conv_window_launch(void (*kernel)(tile_jobs, window_image, bool, int, M), int weights, const imgpipe_stage *stage,
                              const window_image &image, const M &mask, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef conv_layout<WIDE, HALO> L;
    int rows = 2 * CONV_WARPS * CONV_ROWS_EACH;
    const int of_weights = (weights + 3) / 4 * 16;
    while (rows > CONV_ROWS_EACH && of_weights + L::bytes(rows, mask.height, image.channels) > CONV_SHARED) rows /= 2;
    const int shared = of_weights + L::bytes(rows, mask.height, image.channels);
    if (shared > CONV_SHARED) return CONV_TOO_LARGE;
    if (shared > 48 * 1024) {
        cudaError_t failed = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
        if (failed != cudaSuccess) return (int)failed;
    }
    return tile_each(tiles, count, [&](const tile_jobs &jobs, int n) {
        const int64_t across = L::across, blocks = (tile_rows(jobs.tile, n) + rows - 1) / rows;
        dim3 grid((unsigned)((image.width + across - 1) / across), (unsigned)(blocks < 65535 ? blocks : 65535), (unsigned)n);
        kernel<<<grid, CONV_LANES * CONV_WARPS, shared, stream>>>(jobs, image, stage->in.format.alpha, rows, mask);
    });
}

static int conv_dots_any(const imgpipe_stage *stage, const window_image &image, const conv_words<CONV_WORDS> &mask,
                         const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef void (*kernel)(tile_jobs, window_image, bool, int, conv_words<CONV_WORDS>);
    static const kernel small[] = {conv_dots_window<3, 1, 1>, conv_dots_window<2, 2, 1>, conv_dots_window<1, 2, 1>, conv_dots_window<0, 3, 1>,
                                   conv_dots_window<3, 3, 1>, conv_dots_window<2, 4, 1>, conv_dots_window<1, 4, 1>};
    static const kernel near[] = {conv_dots_window<0, 0, 1>, conv_dots_window<1, 0, 1>, conv_dots_window<2, 0, 1>, conv_dots_window<3, 0, 1>};
    static const kernel far[] = {conv_dots_window<0, 0, 2>, conv_dots_window<1, 0, 2>, conv_dots_window<2, 0, 2>, conv_dots_window<3, 0, 2>};
    const int place = -(mask.width / 2) & 3, words = mask.height * mask.words * mask.places;
    if (mask.width > 33) return conv_window_launch<CONV_DOT_WIDE, 2>(far[place], words, stage, image, mask, tiles, count, stream);
    return conv_window_launch<CONV_DOT_WIDE, 1>(mask.width <= 15 ? small[mask.width / 2 - 1] : near[place], words, stage, image, mask, tiles,
                                                count, stream);
}

static int conv_reals_any(const imgpipe_stage *stage, const window_image &image, const conv_params &params, const imgpipe_tile *tiles,
                          int count, cudaStream_t stream) {
    typedef void (*kernel)(tile_jobs, window_image, bool, int, conv_params);
    static const kernel small[] = {conv_reals_window<3, 1>, conv_reals_window<5, 1>, conv_reals_window<7, 1>, conv_reals_window<9, 1>,
                                   conv_reals_window<11, 1>, conv_reals_window<13, 1>, conv_reals_window<15, 1>};
    const int words = params.height * conv_real_step(params.width), width = params.width;
    if (width > 33) return conv_window_launch<CONV_REAL_WIDE, 2>(conv_reals_window<0, 2>, words, stage, image, params, tiles, count, stream);
    return conv_window_launch<CONV_REAL_WIDE, 1>(width >= 3 && width <= 15 ? small[width / 2 - 1] : conv_reals_window<0, 1>, words, stage,
                                                 image, params, tiles, count, stream);
}

/* Whether the stage is done here; *result is then that of the launch. */
static bool conv_window(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    const conv_params &params = ((const conv_plan *)stage->data)->params;
    const imgpipe_info &in = stage->in;
    const window_image image = {in.width, in.height, in.format.channels, stage->border, (uint32_t)stage->border_value};
    if (in.format.type != IMGPIPE_U8) return false;
    if (params.arithmetic == CONV_REAL) {
        *result = conv_reals_any(stage, image, params, tiles, count, stream);
        return *result != CONV_TOO_LARGE;
    }
    conv_dots dots = {};
    if (params.arithmetic == CONV_INT64 || !conv_make_dots(params, dots)) return false;
    if (in.format.channels == 1 && dots.width == dots.height && dots.width <= 5) {
        const conv_words<CONV_WORDS_SMALL> mask = conv_make_words<CONV_WORDS_SMALL>(params, dots);
        *result = dots.width == 3 ? conv_small_launch<3>(image, mask, tiles, count, stream)
                                  : conv_small_launch<5>(image, mask, tiles, count, stream);
    } else {
        const conv_words<CONV_WORDS> mask = conv_make_words<CONV_WORDS>(params, dots);
        *result = conv_dots_any(stage, image, mask, tiles, count, stream);
    }
    return *result != CONV_TOO_LARGE;
}
#endif
