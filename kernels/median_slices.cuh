/* Medians of large windows of bytes, by counting below thresholds, with 32 columns in a register.
 *
 * The median is above T if fewer than half of the window's samples are at most T. So a warp counts for 32 thresholds at once, one a
 * lane, over a tile of WORDS * 32 columns: first 7, 15 ... 255, which gives the upper five bits of every median and tells which of
 * the 32 ranges of eight values occur in the tile; then the eight thresholds of four occurring ranges at a time.
 * Threshold decomposition is due to Fitch, Coyle and Gallagher, "Median filtering by threshold decomposition" (1984).
 *
 * Numbers are sliced: register b holds bit b of the numbers of 32 columns, and a full adder is two operations. Rows lie in shared
 * memory as bits of samples, the same for all lanes; comparing with T is one operation a bit.
 *
 * A window's count S moves down by D = (sum of the row that comes) - (sum of the row that goes), made as a sum of ones and of
 * inverted ones by a tree in which no input of an adder is left unused. F(m) is the sum of m samples `in` and of m - 1 inverted
 * samples `nout`; F(2n) = F(n) + F(n) n columns on + nout(n - 1), where the latter is the carry into the adder, and F(2n - 1) =
 * F(n) + F(n) n - 1 columns on + ~in(n - 1) - 1. All adders are symmetric, inverting every input inverts every result, so that with
 * nout(size - 1) as one more carry F(size) is D + 2^LEVELS in the end, whatever the size. The first rows come by twos: with the
 * second not inverted F is the sum of both, less `size`. */
#ifndef MEDIAN_SLICES_CUH
#define MEDIAN_SLICES_CUH
#include "median_key.cuh"

/* What a launch shares. A level of the tree has `shift` columns between its summands and `carry` columns to its carry, which is
 * ~in where `odd` is all ones, else nout. */
struct median_slices {
    int64_t width, height;
    int channels, size, rows;
    imgpipe_border border;
    uint32_t outside;
    int shift[9], carry[9];
    uint32_t odd[9];
};

/* Word i of a, 0 beyond the last. */
template <int WORDS> static __device__ __forceinline__ uint32_t slices_word(const uint32_t (&a)[WORDS], int i) {
    return i < WORDS ? a[i < WORDS ? i : 0] : 0;
}

/* 32 columns of a sliced number, `columns` to the right of word w. For LEAST = 0 columns may be up to 32, for others up to twice
 * LEAST. */
template <int WORDS, int LEAST>
static __device__ __forceinline__ uint32_t slices_shift(const uint32_t (&a)[WORDS], int w, int columns) {
    uint32_t x = slices_word(a, w + LEAST / 32), y = slices_word(a, w + LEAST / 32 + 1);
#pragma unroll
    for (int far = LEAST + 32; far < 2 * LEAST; far += 32)
        if (columns >= far) x = y, y = slices_word(a, w + far / 32 + 1);
    if (LEAST <= 32) return __funnelshift_rc(x, y, (unsigned)(columns - LEAST));
    return columns == 2 * LEAST ? y : __funnelshift_r(x, y, (unsigned)columns); /* modulo 32 */
}

/* The same with as many columns as a level of the tree has: 2^(level - 2) to twice as many. */
template <int WORDS>
static __device__ __forceinline__ uint32_t slices_far(const uint32_t (&a)[WORDS], int w, int columns, int level) {
    return level < 7    ? slices_shift<WORDS, 0>(a, w, columns)
           : level == 7 ? slices_shift<WORDS, 32>(a, w, columns)
           : level == 8 ? slices_shift<WORDS, 64>(a, w, columns)
                        : slices_shift<WORDS, 128>(a, w, columns);
}

/* Samples of 32 columns that are at most the threshold, whose bits are `limit`, each a whole register. */
static __device__ __forceinline__ uint32_t slices_compare(const uint4 *bits, const uint32_t (&limit)[8]) {
    const uint4 a = bits[0], b = bits[1];
    const uint32_t v[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    uint32_t most = 0xffffffffu;
#pragma unroll
    for (int j = 0; j < 8; j++) most = (limit[j] & ~v[j]) | (most & ~(v[j] ^ limit[j]));
    return most;
}

/* The bits of samples in shared memory: [row][word][bit]. */
template <int WORDS>
static __device__ __forceinline__ void slices_load(const imgpipe_tile &tile, const struct median_slices &launch, uint32_t *bits,
                                                   int64_t x0, int64_t y0, int rows, int channel, int lane) {
    int64_t column[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const int64_t x = border_index(launch.border, x0 + 32 * w + lane, launch.width);
        column[w] = x < 0 ? -1 : x * launch.channels + channel;
    }
#pragma unroll 4
    for (int i = 0; i < rows; i++) {
        const int64_t y = window_index(launch.border, y0 + i, launch.height);
        const uint8_t *row = y < 0 ? (const uint8_t *)0 : tile_in<uint8_t>(tile, y);
        uint32_t v[WORDS];
#pragma unroll
        for (int w = 0; w < WORDS; w++) v[w] = row && column[w] >= 0 ? row[column[w]] : launch.outside;
#pragma unroll
        for (int w = 0; w < WORDS; w += 4)
            bits[(i * WORDS + w) * 8 + lane] = median_transpose(
                __byte_perm(__byte_perm(v[w], v[w + 1], 0x0040), __byte_perm(v[w + 2], v[w + 3], 0x0040), 0x5410), lane);
    }
}

/* The way back: results in shared memory are [row][bit][word]. */
template <int WORDS>
static __device__ __forceinline__ void slices_store(const imgpipe_tile &tile, const struct median_slices &launch,
                                                    const uint32_t *results, int64_t x0, int64_t y0, int rows, int columns,
                                                    int channel, int lane) {
#pragma unroll 4
    for (int i = 0; i < rows; i++) {
        uint8_t *row = tile_out<uint8_t>(tile, y0 + i) + x0 * launch.channels + channel;
#pragma unroll
        for (int w = 0; w < WORDS; w += 4) {
            const uint32_t v = median_transpose(results[(i * 8 + lane % 8) * WORDS + w + lane / 8], lane);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int column = 32 * (w + k) + lane;
                if (column < columns) row[(int64_t)column * launch.channels] = (uint8_t)(v >> (8 * k));
            }
        }
    }
}

/* A step down: S changes by the difference between the rows `in` and `nout`. */
template <int LEVELS, int WORDS>
static __device__ __forceinline__ void slices_step(const struct median_slices &launch, const uint32_t (&in)[WORDS],
                                                   const uint32_t (&nout)[WORDS], uint32_t (&sum)[2 * LEVELS][WORDS]) {
    uint32_t f[LEVELS + 1][WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const uint32_t next = slices_shift<WORDS, 0>(in, w, 1);
        f[0][w] = in[w] ^ next ^ nout[w];
        f[1][w] = (in[w] & next) | (nout[w] & (in[w] | next));
    }
#pragma unroll
    for (int level = 2; level <= LEVELS; level++) {
        uint32_t carries[WORDS];
#pragma unroll
        for (int w = 0; w < WORDS; w++) carries[w] = (nout[w] & ~launch.odd[level]) | (~in[w] & launch.odd[level]);
            /* Summands may lie in word w + 2: words are done from left to right, and what is to the right is still old. */
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            uint32_t carry = slices_far(carries, w, launch.carry[level], level);
#pragma unroll
            for (int b = 0; b < level; b++) {
                const uint32_t x = f[b][w], y = slices_far(f[b], w, launch.shift[level], level);
                f[b][w] = x ^ y ^ carry;
                carry = (x & y) | (carry & (x | y));
            }
            f[level][w] = carry;
        }
    }
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        uint32_t carry = slices_far(nout, w, launch.size - 1, LEVELS + 1);
#pragma unroll
        for (int b = 0; b < 2 * LEVELS; b++) {
            const uint32_t x = b < LEVELS ? f[b][w] : ~f[LEVELS][w], y = sum[b][w];
            sum[b][w] = x ^ y ^ carry;
            carry = (x & y) | (carry & (x | y));
        }
    }
}

/* The parity of all lanes' bits. */
static __device__ __forceinline__ uint32_t slices_parity(uint32_t v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_xor_sync(0xffffffffu, v);
#else
#pragma unroll
    for (int s = 16; s > 0; s /= 2) v ^= __shfl_xor_sync(0xffffffffu, v, s);
    return v;
#endif
}

/* Makes bits of one row's results, from results[0] on; a lane gives `above`, where the median is above its threshold, and its
 * threshold is `number` + 1 units of the lowest bit above the bottom: a bit of the result is the parity of the thresholds below it
 * that are multiples of it. */
template <int WORDS, int BITS, bool ADD>
static __device__ __forceinline__ void slices_reduce(uint32_t *results, const uint32_t (&above)[WORDS], int number, int lane) {
#pragma unroll
    for (int b = 0; b < BITS; b++) {
        const uint32_t mask = (number + 1) & ((1 << b) - 1) ? 0u : 0xffffffffu;
        uint32_t parity[WORDS];
#pragma unroll
        for (int w = 0; w < WORDS; w++) parity[w] = slices_parity(above[w] & mask);
        if (lane) continue;
#pragma unroll
        for (int w = 0; w < WORDS; w += 4) {
            uint4 *to = (uint4 *)(results + b * WORDS + w), old = ADD ? *to : make_uint4(0, 0, 0, 0);
            *to = make_uint4(old.x ^ parity[w], old.y ^ parity[w + 1], old.z ^ parity[w + 2], old.w ^ parity[w + 3]);
        }
    }
}

/* Counts for one threshold a lane in `rows` rows. The FIRST pass makes the upper bits, clears the others, and returns in which rows
 * the range of values that ends at the lane's threshold occurs: the first, and the last << 16; -1 if in none. */
template <int LEVELS, int WORDS, bool FIRST>
static __device__ __forceinline__ int slices_pass(const struct median_slices &launch, const uint32_t *bits, uint32_t *results,
                                                  int rows, const uint32_t (&valid)[WORDS], uint32_t threshold, int lane) {
    const int size = launch.size, pairs = size / 2;
    uint32_t limit[8], sum[2 * LEVELS][WORDS];
    int occurs = -1;
#pragma unroll
    for (int j = 0; j < 8; j++) limit[j] = 0u - (threshold >> j & 1);
#pragma unroll
    for (int b = 0; b < 2 * LEVELS; b++)
#pragma unroll
        for (int w = 0; w < WORDS; w++) sum[b][w] = 0u - ((uint32_t)(-(size + 1) / 2) >> b & 1);
#pragma unroll 1
    for (int i = 0; i < pairs + rows; i++) {
        const int y = i - pairs;
        const uint32_t *coming = bits + (y < 0 ? 2 * i : size - 1 + y) * (8 * WORDS);
        const uint32_t *going = bits + (y < 0 ? 2 * i + 1 : y > 0 ? y - 1 : 0) * (8 * WORDS);
        const uint32_t keep = y == 0 ? 0u : 0xffffffffu, flip = y < 0 ? 0u : 0xffffffffu;
        uint32_t in[WORDS], nout[WORDS];
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            in[w] = slices_compare((const uint4 *)coming + 2 * w, limit);
            nout[w] = (slices_compare((const uint4 *)going + 2 * w, limit) & keep) ^ flip;
        }
        slices_step<LEVELS, WORDS>(launch, in, nout, sum);
        if (y < 0) continue;
        const uint32_t(&above)[WORDS] = sum[2 * LEVELS - 1];
        if (FIRST) {
            uint32_t found = 0;
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                uint32_t before = __shfl_up_sync(0xffffffffu, above[w], 1);
                found |= valid[w] & ~above[w] & (lane ? before : 0xffffffffu);
            }
            if (found) occurs = (occurs < 0 ? y : occurs & 0xffff) | y << 16;
            slices_reduce<WORDS, 5, false>(results + (y * 8 + 3) * WORDS, above, lane, lane);
            for (int k = lane; k < 3 * WORDS; k += 32) results[y * 8 * WORDS + k] = 0;
        } else {
            slices_reduce<WORDS, 3, true>(results + y * 8 * WORDS, above, lane % 8, lane);
        }
    }
    return occurs;
}

/* A warp makes the medians of one channel in a tile of WORDS * 32 - size + 1 columns. Sizes are from 2^(LEVELS - 1) + 1 to 2^LEVELS
 * - 1. */
template <int LEVELS, int WORDS>
static __global__ void __launch_bounds__(32)
    median_slices_tile(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct median_slices launch) {
    extern __shared__ uint4 slices_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int lane = (int)threadIdx.x, size = launch.size, channel = (int)(blockIdx.x % (unsigned)launch.channels);
    const int64_t x0 = (int64_t)(blockIdx.x / (unsigned)launch.channels) * (WORDS * 32 - size + 1);
    const int columns = (int)min((int64_t)(WORDS * 32 - size + 1), launch.width - x0);
    uint32_t *results = (uint32_t *)slices_shared, *bits = results + launch.rows * 8 * WORDS, valid[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        valid[w] = columns >= 32 * w + 32 ? 0xffffffffu : columns <= 32 * w ? 0u : (1u << (columns - 32 * w)) - 1;
    for (int64_t y0 = tile.out_rect.y0 + (int64_t)blockIdx.y * launch.rows; y0 < tile.out_rect.y1;
         y0 += (int64_t)gridDim.y * launch.rows) {
        const int rows = (int)min((int64_t)launch.rows, tile.out_rect.y1 - y0);
        slices_load<WORDS>(tile, launch, bits, x0 - size / 2, y0 - size / 2, rows + size - 1, channel, lane);
        __syncwarp();
        const int occurs = slices_pass<LEVELS, WORDS, true>(launch, bits, results, rows, valid, (uint32_t)(8 * lane + 7), lane);
        __syncwarp();
        uint32_t ranges = __ballot_sync(0xffffffffu, occurs >= 0);
        while (ranges) {
            uint32_t threshold = 255; /* without effect */
            int from = rows, to = 0;
#pragma unroll
            for (int g = 0; g < 4; g++) {
                const int range = __ffs((int)ranges) - 1, where = __shfl_sync(0xffffffffu, occurs, range < 0 ? 0 : range);
                if (range < 0) continue;
                if (lane / 8 == g) threshold = (uint32_t)(8 * range + lane % 8);
                from = min(from, where & 0xffff), to = max(to, where >> 16);
                ranges &= ranges - 1;
            }
            slices_pass<LEVELS, WORDS, false>(launch, bits + from * 8 * WORDS, results + from * 8 * WORDS, to - from + 1, valid,
                                              threshold, lane);
        }
        __syncwarp();
        slices_store<WORDS>(tile, launch, results, x0, y0, rows, columns, channel, lane);
        __syncwarp();
    }
}
#endif
