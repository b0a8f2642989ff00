/* Correlation of u8 with whole weights of 8 bits, for any size and number of channels: dot products as in conv_small.cuh on planes
 * as in conv_window.cuh.
 *
 * Operations of a sample: height * ceil(width / 4) dot products, and a 16th as many loads of weights from shared memory. Floor:
 * the dot products.
 * Measured on an H200, in Gpix/s of one channel: 9 x 9 356, 15 x 15 201, 31 x 31 44.5. */
#ifndef CONV_DOTS_CUH
#define CONV_DOTS_CUH
#include "conv_small.cuh"
#include "conv_window.cuh"

/* Samples of a thread in a row: the more, the fewer loads of weights. */
#define CONV_DOT_WIDE 16
/* Rows of a thread. */
#define CONV_ROWS_EACH 4

/* Adds word `word` of the rows of the mask that meet row k of the plane: row k - i to result i. `words` are the samples from there
 * on. */
template <int PLACE>
static __device__ __forceinline__ void conv_add_dots(const conv_dots &mask, const uint32_t *weights, int k, int step,
                                                     const uint32_t *words, int (&sums)[CONV_ROWS_EACH][CONV_DOT_WIDE]) {
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
                sums[i][x] =
                    conv_dot(places == 2 && place >= 2 ? further[at / 4] : words[at / 4], weight[i][place % places], sums[i][x]);
            }
}

/* The sums of a thread's samples. `from` is the word of the first row where the first window begins, at byte PLACE. WORDS: those
 * of a row of the mask, 0 for any number. */
template <int PLACE, int WORDS>
static __device__ __forceinline__ void conv_sum_dots(const conv_dots &mask, const uint32_t *weights, const unsigned char *from,
                                                     int pitch, int (&sums)[CONV_ROWS_EACH][CONV_DOT_WIDE]) {
    const int places = PLACE % 2 ? 2 : 4, step = (WORDS ? WORDS : mask.words) * places;
#pragma unroll 1
    for (int k = 0; k < CONV_ROWS_EACH + mask.height - 1; k++, from += pitch, weights += step) {
        const uint32_t *row = (const uint32_t *)from;
        uint32_t words[WORDS + 6];
#pragma unroll
        for (int i = 0; i < WORDS + 5; i++) words[i] = row[i];
        if constexpr (WORDS > 0) {
#pragma unroll
            for (int word = 0; word < WORDS; word++)
                conv_add_dots<PLACE>(mask, weights + word * places, k, step, words + word, sums);
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
                                                       int64_t x0, int64_t y0, int first, int rows, bool keep) {
    typedef conv_layout<uint8_t, CONV_DOT_WIDE, HALO> L;
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
        if (keep) conv_keep(from + (i + mask.height / 2) * L::pitch, v);
        conv_put<uint8_t, CONV_DOT_WIDE>(tile, image, out, x0, y0, lane, first + i, v);
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
    conv_block<uint8_t, CONV_DOT_WIDE, HALO, CONV_ROWS_EACH>(
        tile, image, (unsigned char *)(weights + (count + 3) / 4 * 4), mask.height, rows,
        [&](const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0, int first, int made, int channel) {
            conv_dots_plane<PLACE, WORDS, HALO>(tile, image, mask, weights, plane, out, x0, y0, first, made,
                                                alpha && channel == image.channels - 1);
        });
}

static int conv_dots_any(const imgpipe_stage *stage, const window_image &image, const conv_words<CONV_WORDS> &mask,
                         const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef void (*kernel)(tile_jobs, window_image, bool, int, conv_words<CONV_WORDS>);
    static const kernel small[] = {conv_dots_window<3, 1, 1>, conv_dots_window<2, 2, 1>, conv_dots_window<1, 2, 1>,
                                   conv_dots_window<0, 3, 1>, conv_dots_window<3, 3, 1>, conv_dots_window<2, 4, 1>,
                                   conv_dots_window<1, 4, 1>};
    static const kernel near[] = {conv_dots_window<0, 0, 1>, conv_dots_window<1, 0, 1>, conv_dots_window<2, 0, 1>,
                                  conv_dots_window<3, 0, 1>};
    static const kernel far[] = {conv_dots_window<0, 0, 2>, conv_dots_window<1, 0, 2>, conv_dots_window<2, 0, 2>,
                                 conv_dots_window<3, 0, 2>};
    const int place = -(mask.width / 2) & 3, words = mask.height * mask.words * mask.places;
    if (mask.width > 33)
        return conv_window_launch<uint8_t, CONV_DOT_WIDE, 2, CONV_ROWS_EACH>(far[place], words, stage, image, mask, tiles, count,
                                                                             stream);
    return conv_window_launch<uint8_t, CONV_DOT_WIDE, 1, CONV_ROWS_EACH>(mask.width <= 15 ? small[mask.width / 2 - 1] : near[place],
                                                                         words, stage, image, mask, tiles, count, stream);
}
#endif
