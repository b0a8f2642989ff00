/* Correlation of u16 and f32 with masks 3, 5 and 7 wide and of any height, by conv_sums.cuh.
 *
 * Whole weights on u16 are added up in float32 where no sum can reach 2^24, so that all are exact: twice as many additions a clock
 * as with integers. f32 is added up in double, as conv.h has it; there the rows of square masks are all unrolled, so that weights
 * come from uniform registers: these cost nothing where 64 additions a clock are the limit.
 *
 * Operations of a sample: height * width + height additions. Floor: the copy, and from f32 7 x 7 on the additions.
 * Measured on an H200, in Gpix/s of one channel (in brackets the kernel in conv.cu): u16 3 x 3 589 (117) and 5 x 5 379 (84) with
 * whole weights, 5 x 5 365 (80) with real ones; f32 3 x 3 441 (87), 5 x 5 308 (59), 7 x 7 197 (38). f32 with four blocks to a
 * multiprocessor: 351, 283 and 198; with weights in vector registers 286, 205 and 148. */
#include "conv_sums.cuh"

/* Rows of a thread. */
#define CONV_TYPES_EACH 4
/* Blocks that should fit a multiprocessor: the more, the better loads are hidden, as long as registers suffice. */
static constexpr int conv_types_blocks(int width) {
    return width == 3 ? 8 : width == 5 ? 6 : 5;
}

/* SQUARE: the mask is as high as wide, and all of it is unrolled. */
template <typename T, int WIDTH, typename S, int SQUARE, typename E>
static int conv_sums_of(const imgpipe_stage *stage, const window_image &image, const E &end, const imgpipe_tile *tiles, int count,
                        cudaStream_t stream) {
    return conv_sums_launch<T, E, S, WIDTH, SQUARE * WIDTH, window_chunk<T>::samples, CONV_TYPES_EACH, conv_types_blocks(WIDTH)>(
        stage, image, end, tiles, count, stream);
}

template <typename T, typename S, int SQUARE, typename E>
static int conv_sums_any(const imgpipe_stage *stage, const window_image &image, const E &end, const imgpipe_tile *tiles, int count,
                         cudaStream_t stream) {
    switch (((const conv_plan *)stage->data)->params.width) {
    case 3: return conv_sums_of<T, 3, S, SQUARE>(stage, image, end, tiles, count, stream);
    case 5: return conv_sums_of<T, 5, S, SQUARE>(stage, image, end, tiles, count, stream);
    case 7: return conv_sums_of<T, 7, S, SQUARE>(stage, image, end, tiles, count, stream);
    default: return CONV_TOO_LARGE;
    }
}

int conv_sums_f32(const imgpipe_stage *stage, const window_image &image, const imgpipe_tile *tiles, int count,
                  cudaStream_t stream) {
    const conv_params &params = ((const conv_plan *)stage->data)->params;
    const conv_real_end<double> end = conv_end_of_doubles(params);
    if (params.width == params.height) return conv_sums_any<float, double, 1>(stage, image, end, tiles, count, stream);
    return conv_sums_any<float, double, 0>(stage, image, end, tiles, count, stream);
}

/* Whether every sum of whole weights on u16 is less than 2^24, the greatest number up to which a float has all integers. */
static bool conv_fits_float(const conv_params &params) {
    int64_t most = 0;
    for (int i = 0; i < params.width * params.height; i++)
        most += 65535 * (int64_t)(params.weights.whole[i] < 0 ? -(int64_t)params.weights.whole[i] : params.weights.whole[i]);
    return most < 1 << 24;
}

int conv_sums_u16(const imgpipe_stage *stage, const window_image &image, const imgpipe_tile *tiles, int count,
                  cudaStream_t stream) {
    const conv_params &params = ((const conv_plan *)stage->data)->params;
    if (params.arithmetic == CONV_REAL)
        return conv_sums_any<uint16_t, float, 0>(stage, image, conv_end_of_floats(params), tiles, count, stream);
    if (params.arithmetic != CONV_INT32) return CONV_TOO_LARGE;
    conv_whole_end end = {};
    conv_make_whole_end(params, end);
    if (params.width > 3 && conv_fits_float(params))
        return conv_sums_any<uint16_t, float, 0>(stage, image, end, tiles, count, stream);
    return conv_sums_any<uint16_t, int, 0>(stage, image, end, tiles, count, stream);
}
