/* Correlation of u8 with whole weights of 8 bits, and what the kernels for it share: dp4a takes four samples by four weights.
 *
 * Samples are never shifted to a tap; instead there is a copy of each row of the mask for every place that a window can have in
 * a word. Rows of 5, 9, 13 ... weights take as many words wherever they begin; with 3, 7, 11 ... the places 2 and 3 would take one
 * more, so these windows read from a second stream of words, two samples further on. */
#ifndef CONV_SMALL_CUH
#define CONV_SMALL_CUH
#include "conv_ends.cuh"
#include "window.cuh"

/* Words of a mask: of the small ones, and of the widest rows with four places, 61 x 61. */
#define CONV_WORDS_SMALL 40
#define CONV_WORDS (CONV_MAX * 16 * 4)

struct conv_dots : conv_whole_end {
    int width, height, words, places; /* words of a row of the mask */
};
/* [row][word][place] */
template <int WORDS> struct conv_words : conv_dots { alignas(16) uint32_t weights[WORDS]; };

static __device__ __forceinline__ int conv_dot(uint32_t samples, uint32_t weights, int sum) {
#ifdef EMU
    return emu_dp4a_us(samples, weights, sum);
#else
    int r;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(samples), "r"(weights), "r"(sum));
    return r;
#endif
}

/* Four numbers as bytes, clamped to 0 ... 255. */
static __device__ __forceinline__ uint32_t conv_pack(int a, int b, int c, int d) {
#ifdef EMU
    int v[4] = {a, b, c, d};
    uint32_t packed = 0;
    for (int i = 0; i < 4; i++) packed |= (uint32_t)(v[i] < 0 ? 0 : v[i] > 255 ? 255 : v[i]) << 8 * i;
    return packed;
#else
    uint32_t upper, packed;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(upper) : "r"(d), "r"(c), "r"(0));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(packed) : "r"(b), "r"(a), "r"(upper));
    return packed;
#endif
}

static bool conv_simple(const conv_dots &mask) {
    return mask.shift >= 0 && !mask.absolute;
}

/* All but the words; false if the weights, or sums with the offset, are too large for it. */
static bool conv_make_dots(const conv_params &params, conv_dots &mask) {
    int64_t most = 0, div = params.div;
    for (int i = 0; i < params.width * params.height; i++) {
        int32_t weight = params.weights.whole[i];
        if (weight < -128 || weight > 127) return false;
        most += 255 * (int64_t)(weight < 0 ? -weight : weight);
    }
    int64_t offset = params.offset < 0 ? -params.offset : params.offset;
    if (params.width < 3 || offset > INT32_MAX || most + offset > INT32_MAX || div > INT32_MAX) return false;
    mask.width = params.width, mask.height = params.height;
    mask.places = params.width % 4 == 1 ? 4 : 2;
    mask.words = (params.width + mask.places - 1 + 3) / 4;
    conv_make_whole_end(params, mask);
    return true;
}

template <int WORDS> static conv_words<WORDS> conv_make_words(const conv_params &params, const conv_dots &dots) {
    conv_words<WORDS> mask = {};
    (conv_dots &)mask = dots;
    for (int row = 0; row < mask.height; row++)
        for (int word = 0; word < mask.words; word++)
            for (int place = 0; place < mask.places; place++) {
                uint32_t packed = 0;
                for (int i = 0; i < 4; i++) {
                    int tap = 4 * word + i - place;
                    if (tap >= 0 && tap < mask.width)
                        packed |= (uint32_t)(params.weights.whole[row * mask.width + tap] & 255) << 8 * i;
                }
                mask.weights[(row * mask.words + word) * mask.places + place] = packed;
            }
    return mask;
}

/* ---- 3 x 3 and 5 x 5 on one channel: straight from memory
 *
 * A thread makes 16 neighbouring samples of CONV_TALL rows from the rows that they need, which it has in registers. Bytes moved:
 * each sample in and out once, and the rows that blocks share once more through the L2 cache. Operations of a sample: 3 or 10 dot
 * products, 0.4 or none to shift, 1.6 to divide and pack. Floor: the copy (3 x 3), dot products (5 x 5). Measured on an H200:
 * 1431 and 1082 Gpix/s. Within 2 % of that, or slower: blocks of 8 and 16 warps, or 1024 samples wide; 2, 6, 8 and 16 rows a
 * thread; more blocks at a time; the outermost words by shuffles; loads through the read-only path; stores that the L2 cache
 * drops first; prefetching into it what lies 128 to 960 rows further down; planes in shared memory, filled by asynchronous copies
 * (1287, 885). */
#define CONV_TALL 4
#define CONV_ACROSS 16
#define CONV_SMALL_WARPS 4
#ifndef CONV_SMALL_BLOCKS
#define CONV_SMALL_BLOCKS 5
#endif

/* Bytes x ... x + 3 of a row, which may lie beside the image; NULL: a row beyond a constant border. */
static __device__ __noinline__ uint32_t conv_gather(const window_image &image, const uint8_t *row, int64_t x) {
    if (row && x >= 0 && x + 4 <= image.width) return *(const uint32_t *)(row + x);
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        int64_t from = border_index(image.border, x + i, image.width);
        word |= (row && from >= 0 ? row[from] : image.outside) << 8 * i;
    }
    return word;
}

/* Samples x - 4 ... x + 19 of `count` rows from y on, which may lie beside the image. */
static __device__ __noinline__ void conv_load_far(const imgpipe_tile &tile, const window_image &image, int64_t x, int64_t y,
                                                  int count, uint32_t (*words)[6]) {
#pragma unroll 1
    for (int k = 0; k < count; k++) {
        const int64_t from = border_index(image.border, y + k, image.height);
        const uint8_t *row = from < 0 ? NULL : tile_in<uint8_t>(tile, from);
#pragma unroll 1
        for (int i = 0; i < 6; i++) words[k][i] = conv_gather(image, row, x - 4 + 4 * i);
    }
}

/* The same, `made` of them for the results of CONV_TALL rows, all loads under way at once. */
template <int MADE>
static __device__ __forceinline__ void conv_load(const imgpipe_tile &tile, const window_image &image, int64_t x, int64_t y,
                                                 int count, uint32_t (&words)[MADE][6]) {
    int64_t slot = tile.in_slot + (y - tile.in_rect.y0);
    if (slot >= tile.in_ring) slot -= tile.in_ring;
    if (count == MADE && y >= 0 && y + MADE <= image.height && slot + MADE <= tile.in_ring && x >= 4 && x + 20 <= image.width) {
        const uint8_t *first = (const uint8_t *)tile.in + slot * tile.in_stride;
        const uint32_t at = (uint32_t)x;
#pragma unroll
        for (int k = 0; k < MADE; k++) {
            const uint8_t *row = first + k * tile.in_stride + at;
            const uint4 own = *(const uint4 *)row;
            words[k][0] = *(const uint32_t *)(row - 4);
            words[k][1] = own.x, words[k][2] = own.y, words[k][3] = own.z, words[k][4] = own.w;
            words[k][5] = *(const uint32_t *)(row + 16);
        }
        return;
    }
    uint32_t far[MADE][6] = {};
    conv_load_far(tile, image, x, y, count, far);
#pragma unroll
    for (int k = 0; k < 6 * MADE; k++) words[k / 6][k % 6] = far[k / 6][k % 6];
}

/* Adds what an input row gives, by a row of the mask. */
template <int W>
static __device__ __forceinline__ void conv_add_row(const uint32_t *weights, const uint32_t (&words)[6], int (&sums)[CONV_ACROSS]) {
    const int places = W % 4 == 1 ? 4 : 2, count = (W + places - 1 + 3) / 4;
    uint32_t further[5];
#pragma unroll
    for (int i = 0; i < 5; i++) further[i] = places == 2 ? __byte_perm(words[i], words[i + 1], 0x5432) : 0;
#pragma unroll
    for (int x = 0; x < CONV_ACROSS; x++) {
        const int at = x + 4 - W / 2, place = at % 4;
#pragma unroll
        for (int word = 0; word < count; word++) {
            uint32_t samples = places == 2 && place >= 2 ? further[at / 4 + word] : words[at / 4 + word];
            sums[x] = conv_dot(samples, weights[word * places + place % places], sums[x]);
        }
    }
}

template <int H, int W, bool SIMPLE>
static __global__ void __launch_bounds__(32 * CONV_SMALL_WARPS, CONV_SMALL_BLOCKS)
    conv_small(const __grid_constant__ tile_jobs jobs, const __grid_constant__ window_image image,
               const __grid_constant__ conv_words<CONV_WORDS_SMALL> mask) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int64_t x = ((int64_t)blockIdx.x * 32 + threadIdx.x) * CONV_ACROSS;
    const int64_t y = tile.out_rect.y0 + ((int64_t)blockIdx.y * CONV_SMALL_WARPS + threadIdx.y) * CONV_TALL;
    const int rows = (int)min((int64_t)CONV_TALL, tile.out_rect.y1 - y),
              row_words = (W + (W % 4 == 1 ? 6 : 4)) / 4 * (W % 4 == 1 ? 4 : 2);
    if (x >= image.width || rows <= 0) return;
    uint32_t words[CONV_TALL + H - 1][6];
    conv_load<CONV_TALL + H - 1>(tile, image, x, y - H / 2, rows + H - 1, words);
#pragma unroll
    for (int i = 0; i < CONV_TALL; i++) {
        if (i >= rows) break;
        int sums[CONV_ACROSS];
        uint32_t out[4];
#pragma unroll
        for (int k = 0; k < CONV_ACROSS; k++) sums[k] = SIMPLE ? mask.offset : 0;
#pragma unroll
        for (int k = 0; k < H; k++) conv_add_row<W>(mask.weights + k * row_words, words[i + k], sums);
#pragma unroll
        for (int k = 0; k < 4; k++)
            out[k] = conv_pack(conv_end<SIMPLE>(mask, sums[4 * k]), conv_end<SIMPLE>(mask, sums[4 * k + 1]),
                               conv_end<SIMPLE>(mask, sums[4 * k + 2]), conv_end<SIMPLE>(mask, sums[4 * k + 3]));
        window_store_chunk<uint8_t>(tile_out<uint8_t>(tile, y + i), x, image.width, make_uint4(out[0], out[1], out[2], out[3]));
    }
}

template <int SIZE>
static int conv_small_launch(const window_image &image, const conv_words<CONV_WORDS_SMALL> &mask, const imgpipe_tile *tiles,
                             int count, cudaStream_t stream) {
    void (*kernel)(tile_jobs, window_image, conv_words<CONV_WORDS_SMALL>) =
        conv_simple(mask) ? conv_small<SIZE, SIZE, true> : conv_small<SIZE, SIZE, false>;
    return tile_each_part(tiles, count, CONV_SMALL_WARPS * CONV_TALL, [&](const tile_jobs &jobs, int n) {
        const int64_t across = 32 * CONV_ACROSS, tall = CONV_SMALL_WARPS * CONV_TALL;
        dim3 grid((unsigned)((image.width + across - 1) / across), (unsigned)((tile_rows(jobs.tile, n) + tall - 1) / tall),
                  (unsigned)n);
        kernel<<<grid, dim3(32, CONV_SMALL_WARPS), 0, stream>>>(jobs, image, mask);
    });
}
#endif
