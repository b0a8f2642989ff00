/* Correlation of u8 with real weights, of any size and number of channels, in the order of conv.h: by conv_sums.cuh to 33 x any,
 * and by a loop over taps beyond that.
 *
 * Operations of a sample: height * width + height in float32, (width + 7) / 8 * (height + 3) / 4 samples made floats by two
 * instructions each, and some ten for the quotient and the rounding. Floor: the first of these at 128 a clock and multiprocessor.
 * Measured on an H200, in Gpix/s of one channel (in brackets before, with all weights in shared memory, and widths beyond 15 not
 * known): 3 x 3 540 (436), 9 x 9 202 (185), 15 x 15 91 (91), 31 x 31 25 (15). With weights in uniform registers, which is what the
 * compiler makes of them in many other shapes, it was slower: eight rows a thread 180 (9 x 9) and 71 (15 x 15), all rows unrolled
 * 161 and 67. */
#include "conv_sums.cuh"

/* Samples of a thread in a row, rows of a thread, and blocks that should fit a multiprocessor. */
#define CONV_REAL_WIDE 8
#define CONV_REAL_EACH 4
#define CONV_REAL_BLOCKS 4
#define CONV_WIDE_HALO 2

struct conv_wide {
    conv_real_end<float> end;
    int width, height, step;
    alignas(16) float weights[CONV_MAX * (CONV_MAX + 1)];
};

/* Four taps of all results, from a row of the plane to which up to CONV_REAL_EACH rows of the mask belong. */
template <int AT>
static __device__ __forceinline__ void conv_add_wide(const conv_wide &mask, int k, int tap, const float (&x)[CONV_REAL_WIDE + 4],
                                                     float (&line)[CONV_REAL_EACH][CONV_REAL_WIDE]) {
#pragma unroll
    for (int i = 0; i < CONV_REAL_EACH; i++) {
        if (k - i < 0 || k - i >= mask.height) continue;
        const float *weights = mask.weights + (k - i) * mask.step + tap;
#pragma unroll
        for (int t = 0; t < 4; t++)
#pragma unroll
            for (int c = 0; c < CONV_REAL_WIDE; c++)
                line[i][c] = __fmaf_rn(weights[t], x[(AT + c + t) % (CONV_REAL_WIDE + 4)], line[i][c]);
    }
}

/* `from` is the word where the first window begins, at byte `place`. The samples lie in a ring of registers: every four taps the
 * next four take the place of those that no window needs any more. Rows of the mask are filled up with zeros, which change no
 * sum. */
static __device__ __forceinline__ void conv_sum_wide(const conv_wide &mask, const unsigned char *from, int place, int pitch,
                                                     float (&sums)[CONV_REAL_EACH][CONV_REAL_WIDE]) {
    const int shift = 8 * place;
    static_assert(CONV_REAL_WIDE == 8, "three steps of four around the ring");
#pragma unroll 1
    for (int k = 0; k < CONV_REAL_EACH + mask.height - 1; k++, from += pitch) {
        const uint32_t *row = (const uint32_t *)from;
        float line[CONV_REAL_EACH][CONV_REAL_WIDE] = {}, x[CONV_REAL_WIDE + 4];
        uint32_t before = row[0];
        auto next = [&](int at) {
            const uint32_t word = *++row, bytes = __funnelshift_r(before, word, shift);
#pragma unroll
            for (int b = 0; b < 4; b++) conv_sample(bytes, b, (const uint8_t *)NULL, x[at + b]);
            before = word;
        };
        next(0);
        next(4);
#pragma unroll 1
        for (int tap = 0;;) {
            next(8);
            conv_add_wide<0>(mask, k, tap, x, line);
            if ((tap += 4) >= mask.width) break;
            next(0);
            conv_add_wide<4>(mask, k, tap, x, line);
            if ((tap += 4) >= mask.width) break;
            next(4);
            conv_add_wide<8>(mask, k, tap, x, line);
            if ((tap += 4) >= mask.width) break;
        }
#pragma unroll
        for (int i = 0; i < CONV_REAL_EACH; i++)
#pragma unroll
            for (int c = 0; c < CONV_REAL_WIDE; c++)
                if (k - i >= 0 && k - i < mask.height) sums[i][c] = __fadd_rn(sums[i][c], line[i][c]);
    }
}

static __device__ __forceinline__ void conv_wide_plane(const imgpipe_tile &tile, const window_image &image, const conv_wide &mask,
                                                       const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0,
                                                       int first, int rows, bool keep) {
    typedef conv_layout<uint8_t, CONV_REAL_WIDE, CONV_WIDE_HALO> L;
    const int lane = threadIdx.x % CONV_LANES, place = -(mask.width / 2) & 3;
    const unsigned char *from = plane + first * L::pitch + 16 * CONV_WIDE_HALO + lane * CONV_REAL_WIDE;
    float sums[CONV_REAL_EACH][CONV_REAL_WIDE] = {};
    if (!keep) conv_sum_wide(mask, from - mask.width / 2 - place, place, L::pitch, sums);
#pragma unroll
    for (int i = 0; i < CONV_REAL_EACH; i++) {
        if (first + i >= rows) break;
        uint32_t v[2];
        if (keep)
            conv_keep(from + (i + mask.height / 2) * L::pitch, v);
        else
            conv_finish(mask.end, sums[i], (const uint8_t *)NULL, v);
        conv_put<uint8_t, CONV_REAL_WIDE>(tile, image, out, x0, y0, lane, first + i, v);
    }
}

static __global__ void __launch_bounds__(CONV_LANES *CONV_WARPS, CONV_REAL_BLOCKS)
    conv_sums_wide(const __grid_constant__ tile_jobs jobs, const __grid_constant__ window_image image, bool alpha, int rows,
                   const __grid_constant__ conv_wide mask) {
    extern __shared__ uint4 conv_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    conv_block<uint8_t, CONV_REAL_WIDE, CONV_WIDE_HALO, CONV_REAL_EACH>(
        tile, image, (unsigned char *)conv_shared, mask.height, rows,
        [&](const unsigned char *plane, unsigned char *out, int64_t x0, int64_t y0, int first, int made, int channel) {
            conv_wide_plane(tile, image, mask, plane, out, x0, y0, first, made, alpha && channel == image.channels - 1);
        });
}

static conv_wide conv_make_wide(const conv_params &params) {
    conv_wide mask = {};
    mask.end = conv_end_of_floats(params);
    mask.width = params.width, mask.height = params.height, mask.step = (params.width + 3) / 4 * 4;
    for (int i = 0; i < params.height * params.width; i++)
        mask.weights[i / params.width * mask.step + i % params.width] = params.weights.real[i];
    return mask;
}

template <int WIDTH>
static int conv_reals_of(const imgpipe_stage *stage, const window_image &image, const conv_real_end<float> &end,
                         const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    return conv_sums_launch<uint8_t, conv_real_end<float>, float, WIDTH, 0, CONV_REAL_WIDE, CONV_REAL_EACH, CONV_REAL_BLOCKS>(
        stage, image, end, tiles, count, stream);
}

int conv_reals_any(const imgpipe_stage *stage, const window_image &image, const imgpipe_tile *tiles, int count,
                   cudaStream_t stream) {
    typedef int (*launch)(const imgpipe_stage *, const window_image &, const conv_real_end<float> &, const imgpipe_tile *, int,
                          cudaStream_t);
    static const struct {
        int width;
        launch run;
    } known[] = {{3, conv_reals_of<3>},   {5, conv_reals_of<5>},   {7, conv_reals_of<7>},   {9, conv_reals_of<9>},
                 {11, conv_reals_of<11>}, {13, conv_reals_of<13>}, {15, conv_reals_of<15>}, {19, conv_reals_of<19>},
                 {23, conv_reals_of<23>}, {27, conv_reals_of<27>}, {31, conv_reals_of<31>}, {33, conv_reals_of<33>}};
    const conv_params &params = ((const conv_plan *)stage->data)->params;
    for (int i = 0; params.width > 1 && i < (int)(sizeof known / sizeof *known); i++)
        if (known[i].width >= params.width) return known[i].run(stage, image, conv_end_of_floats(params), tiles, count, stream);
    return conv_window_launch<uint8_t, CONV_REAL_WIDE, CONV_WIDE_HALO, CONV_REAL_EACH>(
        conv_sums_wide, 0, stage, image, conv_make_wide(params), tiles, count, stream);
}
