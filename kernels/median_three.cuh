/* Medians of 3 x 3 samples on CUDA devices, straight from global memory. A thread makes a few rows of a strip of 16 bytes from
 * those rows and two more, all read at once, and has the samples beside its own from the lanes beside it. Channels stay
 * interleaved: a neighbour is CHANNELS samples away.
 *
 * Blocks are low and narrow, so that the rows which two of them need are still in the L2 cache, and a block decides for all its
 * threads whether it is at the border. Warps that walk down long strips read from more places at once and are slower, whether rows
 * come through registers or asynchronously through shared memory.
 *
 * Bytes moved: in 1 + 2 / (4 rows) times, the rest from the L2 cache, and out once. Minima and maxima for a register of results: 3
 * for each column (two rows share the order of the samples between them) and 6 for each result, so 78 for 16 samples of u8 and one
 * channel, 42 for 8 of u16 or 4 of f32; as many multiplications, which are done beside them. Floor: the copy. Measured on an
 * H200, Gpix/s: u8 1423, u16 865, f32 438, that is 68, 84 and 84 % of a copy. With the border's blocks done in a function of their
 * own, results and all, 1337, 813, 415; with a warp's ring of rows in shared memory, filled asynchronously, 931, 609, 333. */
#ifndef MEDIAN_THREE_CUH
#define MEDIAN_THREE_CUH
#include "median_key.cuh"

#define THREE_DOWN 4 /* warps of a block, one below another */

/* A thread makes `rows` rows; `blocks` of them fit a multiprocessor's registers. Rows lie in registers: MARGIN words of the left
 * neighbour, four of the thread's own, MARGIN of the right neighbour. at() makes the register of column i, put() the words of all
 * results. */
template <typename T, int CHANNELS> struct three_row;

template <int CHANNELS> struct three_row<uint8_t, CHANNELS> {
    static const int margin = 1, keys = 8, rows = 6, blocks = CHANNELS < 2 ? 5 : 4;
    static __device__ __forceinline__ uint32_t convert(uint32_t word) { return word; }
    /* A byte stands in both halves of its lane, which saves clearing one. */
    static __device__ __forceinline__ uint32_t at(const uint32_t (&row)[4 + 2 * margin], int i) {
        const int place = i + 4 * margin, s = place % 4;
        return __byte_perm(row[place / 4], row[place / 4 + 2], (unsigned)(s | s << 4 | (s + 4) << 8 | (s + 4) << 12));
    }
    static __device__ __forceinline__ uint4 put(const uint32_t (&r)[keys]) {
        const uint32_t a = __byte_perm(r[0], r[1], 0x6240), b = __byte_perm(r[2], r[3], 0x6240);
        const uint32_t c = __byte_perm(r[4], r[5], 0x6240), d = __byte_perm(r[6], r[7], 0x6240);
        return make_uint4(__byte_perm(a, b, 0x5410), __byte_perm(c, d, 0x5410), __byte_perm(a, b, 0x7632),
                          __byte_perm(c, d, 0x7632));
    }
};

template <int CHANNELS> struct three_row<uint16_t, CHANNELS> {
    static const int margin = (CHANNELS + 1) / 2, keys = 4, rows = CHANNELS < 3 ? 6 : 4, blocks = CHANNELS < 2 ? 6 : 5;
    static __device__ __forceinline__ uint32_t convert(uint32_t word) { return word; }
    static __device__ __forceinline__ uint32_t at(const uint32_t (&row)[4 + 2 * margin], int i) {
        const int place = i + 2 * margin;
        return __byte_perm(row[place / 2], row[place / 2 + 2], place % 2 ? 0x7632u : 0x5410u);
    }
    static __device__ __forceinline__ uint4 put(const uint32_t (&r)[keys]) {
        return make_uint4(__byte_perm(r[0], r[1], 0x5410), __byte_perm(r[2], r[3], 0x5410), __byte_perm(r[0], r[1], 0x7632),
                          __byte_perm(r[2], r[3], 0x7632));
    }
};

template <int CHANNELS> struct three_row<float, CHANNELS> {
    static const int margin = CHANNELS, keys = 4, rows = CHANNELS < 2 ? 6 : 4, blocks = CHANNELS < 2 ? 6 : CHANNELS < 4 ? 5 : 4;
    /* Keys of their own: adding zero makes -0 to +0 and every NaN to 0x7fffffff (PTX ISA, add), which is the greatest; then
     * negative numbers have all bits but the sign inverted. */
    static __device__ __forceinline__ uint32_t convert(uint32_t word) {
        const uint32_t bits = __float_as_uint(__uint_as_float(word) + 0.0f);
        return bits ^ ((uint32_t)((int32_t)bits >> 31) & 0x7fffffffu);
    }
    static __device__ __forceinline__ uint32_t back(int32_t key) {
        return (uint32_t)min(key ^ ((key >> 31) & 0x7fffffff), 0x7fc00000);
    }
    static __device__ __forceinline__ int32_t at(const uint32_t (&row)[4 + 2 * margin], int i) { return (int32_t)row[i + margin]; }
    static __device__ __forceinline__ uint4 put(const int32_t (&r)[keys]) {
        return make_uint4(back(r[0]), back(r[1]), back(r[2]), back(r[3]));
    }
};

/* A chunk that the row may end in: kept out of line. */
template <typename T> static __device__ __noinline__ void three_store_some(T *row, int64_t s, int64_t length, uint4 words) {
    window_store_chunk<T>(row, s, length, words);
}

/* Sample i of a row, as the border continues it, in the low bits; NULL is a row beyond the constant border. */
template <typename T> static __device__ __forceinline__ uint32_t three_bits(const T *row, int64_t i, T outside) {
    const T sample = row && i >= 0 ? row[i] : outside;
    uint32_t bits = 0;
    memcpy(&bits, &sample, sizeof sample);
    return bits;
}

/* The words with samples at ... of COUNT rows. Where a sample comes from is found once for all rows. */
template <typename T, int CHANNELS, int COUNT>
static __device__ __forceinline__ void three_fetch(const window_image &image, const T *const (&from)[COUNT], int64_t at,
                                                   uint32_t (&words)[COUNT]) {
    const T outside = median_policy<T>::outside(image);
#pragma unroll
    for (int j = 0; j < COUNT; j++) words[j] = 0;
#pragma unroll
    for (int i = 0; i < 4 / (int)sizeof(T); i++) {
        const int64_t pixel = (at + i + 4 * CHANNELS) / CHANNELS - 4; /* rounds down from -4 pixels on */
        const int64_t x = border_index(image.border, pixel, image.width),
                      sample = x < 0 ? -1 : x * CHANNELS + at + i - pixel * CHANNELS;
#pragma unroll
        for (int j = 0; j < COUNT; j++) words[j] |= three_bits<T>(from[j], sample, outside) << (8 * (int)sizeof(T) * i & 31);
    }
}

/* The words of COUNT rows from row y on, the strip from sample s on and its margins, where some lie beside the image: kept out of
 * line. All that can be are read at once; then the others, one after another. */
template <typename T, int CHANNELS, int COUNT>
static __device__ __noinline__ void three_read_far(const imgpipe_tile &tile, const window_image &image, int64_t s, int64_t y,
                                                   uint32_t (*words)[4 + 2 * three_row<T, CHANNELS>::margin]) {
    const int per_word = 4 / (int)sizeof(T), margin = three_row<T, CHANNELS>::margin, width = 4 + 2 * margin;
    const int64_t length = image.width * CHANNELS, first = s - margin * per_word;
    const T *from[COUNT];
    bool all = true;
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        int64_t row = border_index(image.border, y + j, image.height);
        /* The last rows of a strip may lie below all that its tile has; their results are not stored. */
        if (row >= 0) row = min(max(row, tile.in_rect.y0), tile.in_rect.y1 - 1);
        from[j] = row < 0 ? (const T *)0 : tile_in<T>(tile, row);
        all = all && row >= 0;
    }
#pragma unroll
    for (int k = 0; k < width; k++) {
        const int64_t at = first + k * per_word;
        const bool there = all && at >= 0 && at + per_word <= length;
#pragma unroll
        for (int j = 0; j < COUNT; j++) words[j][k] = there ? *(const uint32_t *)(from[j] + at) : 0;
    }
#pragma unroll 1
    for (int k = 0; k < width; k++) {
        const int64_t at = first + k * per_word;
        if ((all && at >= 0 && at + per_word <= length) || at >= length + CHANNELS) continue;
        uint32_t column[COUNT];
        three_fetch<T, CHANNELS, COUNT>(image, from, at, column);
#pragma unroll
        for (int j = 0; j < COUNT; j++) words[j][k] = column[j];
    }
}

/* The same where nothing lies beside the image, `strip` being the first of the warp's own samples: a lane reads its chunks, and has
 * the samples beside them from its neighbours. */
template <typename T, int CHANNELS, int COUNT>
static __device__ __forceinline__ void three_read(const unsigned char *strip, int64_t stride, int lane,
                                                  uint32_t (*words)[4 + 2 * three_row<T, CHANNELS>::margin]) {
    typedef three_row<T, CHANNELS> R;
    const int margin = R::margin;
    static_assert(COUNT <= 16, "half a warp has a lane for every row");
    /* Lane j reads what stands at the left of row j, lane 16 + j what stands at its right. */
    const unsigned char *side = strip + (lane & 15) * stride + (lane < 16 ? -4 * margin : 512);
    uint4 own[COUNT];
    uint32_t beside[margin];
#pragma unroll
    for (int j = 0; j < COUNT; j++) own[j] = *(const uint4 *)(strip + 16 * lane + j * stride);
#pragma unroll
    for (int k = 0; k < margin; k++) beside[k] = (lane & 15) < COUNT ? R::convert(((const uint32_t *)side)[k]) : 0;
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        uint32_t *row = words[j];
        row[margin] = R::convert(own[j].x), row[margin + 1] = R::convert(own[j].y);
        row[margin + 2] = R::convert(own[j].z), row[margin + 3] = R::convert(own[j].w);
#pragma unroll
        for (int k = 0; k < margin; k++) {
            const uint32_t left = __shfl_up_sync(0xffffffffu, row[4 + k], 1),
                           right = __shfl_down_sync(0xffffffffu, row[margin + k], 1);
            const uint32_t other = __shfl_sync(0xffffffffu, beside[k], j, 16);
            row[k] = lane == 0 ? other : left;
            row[margin + 4 + k] = lane == 31 ? other : right;
        }
    }
}

/* -1 and 1, which the compiler must not know: so sums and differences are multiplications, which are done beside minima and maxima
 * and not instead of them. */
struct three_factors {
    uint32_t minus, one;
};
static __device__ __forceinline__ uint32_t three_sum(uint32_t a, uint32_t b, three_factors f) {
    return a * f.one + b;
}
/* The middle of three is their sum less the least and the greatest: for pairs too, since what is carried into the upper half is
 * taken away again. */
static __device__ __forceinline__ uint32_t three_middle(uint32_t sum, uint32_t low, uint32_t high, three_factors f) {
    return high * f.minus + (low * f.minus + sum);
}

/* One row of results from sorted columns: the median is that of the greatest least, the middle middle and the least greatest. */
template <typename P, int CHANNELS, int KEYS>
static __device__ __forceinline__ void three_results(const typename P::key *low, const typename P::key *middle,
                                                     const typename P::key *high, three_factors f, typename P::key (&out)[KEYS]) {
    typedef typename P::key key;
    const int c = CHANNELS;
    uint32_t both[KEYS + c]; /* of a column's middle and the next one's: each is of use to two results */
#pragma unroll
    for (int i = 0; i < KEYS + c; i++) both[i] = i / c % 2 ? three_sum((uint32_t)middle[i], (uint32_t)middle[i + c], f) : 0;
#pragma unroll
    for (int i = 0; i < KEYS; i++) {
        const uint32_t middles =
            i / c % 2 ? three_sum(both[i], (uint32_t)middle[i + 2 * c], f) : three_sum(both[i + c], (uint32_t)middle[i], f);
        const key a = P::most(low[i], low[i + c], low[i + 2 * c]), d = P::least(high[i], high[i + c], high[i + 2 * c]);
        const key b = (key)three_middle(middles, (uint32_t)P::least(middle[i], middle[i + c], middle[i + 2 * c]),
                                        (uint32_t)P::most(middle[i], middle[i + c], middle[i + 2 * c]), f);
        const uint32_t sum = three_sum(three_sum((uint32_t)a, (uint32_t)b, f), (uint32_t)d, f);
        out[i] = (key)three_middle(sum, (uint32_t)P::least(a, b, d), (uint32_t)P::most(a, b, d), f);
    }
}

/* Two rows of results from four rows of samples. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void three_pair(const uint32_t (*rows)[4 + 2 * three_row<T, CHANNELS>::margin], three_factors f,
                                                  uint4 (&out)[2]) {
    typedef median_policy<T> P;
    typedef three_row<T, CHANNELS> R;
    typedef typename P::key key;
    const int columns = R::keys + 2 * CHANNELS;
    key p[columns], q[columns];
    uint32_t sum[columns];
#pragma unroll
    for (int i = 0; i < columns; i++) {
        const key a = R::at(rows[1], i - CHANNELS), b = R::at(rows[2], i - CHANNELS);
        p[i] = P::least(a, b), q[i] = P::most(a, b), sum[i] = three_sum((uint32_t)a, (uint32_t)b, f);
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
        key low[columns], middle[columns], high[columns], results[R::keys];
#pragma unroll
        for (int i = 0; i < columns; i++) {
            const key a = R::at(rows[3 * k], i - CHANNELS);
            low[i] = P::least(a, p[i]), high[i] = P::most(a, q[i]);
            middle[i] = (key)three_middle(three_sum(sum[i], (uint32_t)a, f), (uint32_t)low[i], (uint32_t)high[i], f);
        }
        three_results<P, CHANNELS, R::keys>(low, middle, high, f, results);
        out[k] = R::put(results);
    }
}

/* Whether nothing of the border concerns a block with `down` results in each of `across` columns: all rows that it needs and makes
 * are there, one below another. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ bool three_inside(const imgpipe_tile &tile, int64_t slot, int64_t begin, int across, int64_t y,
                                                    int down, int64_t length) {
    const int beside = 4 / (int)sizeof(T) * three_row<T, CHANNELS>::margin;
    return begin >= beside && begin + across + beside <= length && y > tile.in_rect.y0 && y + down < tile.in_rect.y1 &&
           y + down <= tile.out_rect.y1 && slot + down + 2 <= tile.in_ring;
}

/* A warp makes rows of a strip of 32 chunks, a thread those of one chunk. */
template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(32 * THREE_DOWN, three_row<T, CHANNELS>::blocks)
    median_three(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct window_image image,
                 three_factors f) {
    typedef three_row<T, CHANNELS> R;
    const int rows = R::rows, width = 4 + 2 * R::margin, span = window_chunk<T>::samples, across = 32 * span;
    const int lane = (int)threadIdx.x, down = (int)threadIdx.y * rows;
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int64_t begin = (int64_t)blockIdx.x * across, s = begin + lane * span, length = image.width * CHANNELS;
    const int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * (THREE_DOWN * rows);
    int64_t slot = tile.in_slot + (y - 1 - tile.in_rect.y0);
    if (slot >= tile.in_ring) slot -= tile.in_ring;
    const bool inside = three_inside<T, CHANNELS>(tile, slot, begin, across, y, THREE_DOWN * rows, length);
    uint32_t in[rows + 2][width];
    if (inside) {
        three_read<T, CHANNELS, rows + 2>((const unsigned char *)tile.in + (slot + down) * tile.in_stride + begin * (int)sizeof(T),
                                          tile.in_stride, lane, in);
    } else {
        if (y + down >= tile.out_rect.y1 || s >= length) return;
        uint32_t far[rows + 2][width];
        three_read_far<T, CHANNELS, rows + 2>(tile, image, s, y + down - 1, far);
#pragma unroll
        for (int i = 0; i < (rows + 2) * width; i++) in[i / width][i % width] = R::convert(far[i / width][i % width]);
    }
    unsigned char *to = (unsigned char *)tile.out + (y - tile.out_rect.y0 + down) * tile.out_stride + s * (int)sizeof(T);
#pragma unroll
    for (int i = 0; i < rows; i += 2) {
        uint4 out[2];
        three_pair<T, CHANNELS>(in + i, f, out);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned char *row = to + (i + k) * tile.out_stride;
            if (inside)
                *(uint4 *)row = out[k];
            else if (y + down + i + k < tile.out_rect.y1)
                three_store_some<T>((T *)row - s, s, length, out[k]);
        }
    }
}
#endif
