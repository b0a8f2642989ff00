/* Medians of 3 x 3 samples on CUDA devices, straight from global memory. A thread walks down a strip of 16 bytes, a few rows at a
 * time, and has the samples beside its own from the lanes beside it. Channels stay interleaved: a neighbour is CHANNELS samples
 * away.
 *
 * Bytes moved: in (rows + 2) / rows times, the rest from the L2 cache, and out once. Minima and maxima for a register of results: 3
 * for each column (two rows share the order of the samples between them) and 7 for each result, so 86 for 16 samples of u8 and one
 * channel, 46 for 8 of u16 or 4 of f32; nearly as many multiplications, which are done beside them. Floor: the copy. Measured on an
 * H200, Gpix/s: u8 1142, u16 745, f32 383, that is 55, 72 and 74 % of a copy; with minima and maxima alone and no rows read ahead
 * 1026, 712, 355; by way of shared memory 862, 490, 201. */
#ifndef MEDIAN_THREE_CUH
#define MEDIAN_THREE_CUH
#include "median_key.cuh"

#define THREE_THREADS 128

/* Rows lie in registers: MARGIN words of the left neighbour, four of the thread's own, MARGIN of the right neighbour. at() makes
 * the register of column i, put() the words of all results. */
template <typename T, int CHANNELS> struct three_row;

template <int CHANNELS> struct three_row<uint8_t, CHANNELS> {
    static const int margin = 1, keys = 8, rows = CHANNELS < 3 ? 2 : 4;
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
    static const int margin = (CHANNELS + 1) / 2, keys = 4, rows = 2;
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
    static const int margin = CHANNELS, keys = 4, rows = 2;
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

/* The samples s ... of a row, as the border continues it, in a word; NULL is a row beyond the constant border. */
template <typename T, int CHANNELS>
static __device__ __noinline__ uint32_t three_fetch(const window_image &image, const T *row, int64_t s) {
    T samples[4 / sizeof(T)];
    for (int i = 0; i < (int)(4 / sizeof(T)); i++) {
        const int64_t pixel = (s + i + 4 * CHANNELS) / CHANNELS - 4; /* rounds down from -4 pixels on */
        const int64_t x = row ? border_index(image.border, pixel, image.width) : -1;
        samples[i] = x < 0 ? median_policy<T>::outside(image) : row[x * CHANNELS + (s + i - pixel * CHANNELS)];
    }
    uint32_t word;
    memcpy(&word, samples, 4);
    return word;
}

/* A chunk that the row ends in: kept out of the loop. */
template <typename T> static __device__ __noinline__ void three_store_some(T *row, int64_t s, int64_t length, uint4 words) {
    window_store_chunk<T>(row, s, length, words);
}

/* What a lane reads of COUNT rows: its strip, and the samples beside the strips of the first and the last lane of a warp. */
template <typename T, int CHANNELS, int COUNT> struct three_words {
    uint4 own[COUNT];
    uint32_t beside[COUNT][three_row<T, CHANNELS>::margin];
};

/* Reads COUNT rows from row y on, of the strip from sample s on; `inside` where the strip ends inside the row. What is computed of
 * y is the same for the whole block, and done once a warp. */
template <typename T, int CHANNELS, int COUNT>
static __device__ __forceinline__ void three_read(const imgpipe_tile &tile, const window_image &image, int64_t s, bool inside,
                                                  int64_t y, int lane, three_words<T, CHANNELS, COUNT> &words) {
    const int span = 16 / (int)sizeof(T), per_word = 4 / (int)sizeof(T), margin = three_row<T, CHANNELS>::margin;
    const int64_t length = image.width * CHANNELS, side = lane ? s + span : s - margin * per_word;
    const T *from[COUNT];
    bool all = true;
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        int64_t row = window_index(image.border, y + j, image.height);
        /* The last rows of a strip may lie below all that its tile has; their results are not stored. */
        if (row >= 0) row = min(max(row, tile.in_rect.y0), tile.in_rect.y1 - 1);
        from[j] = row < 0 ? (const T *)0 : tile_in<T>(tile, row);
        all = all && row >= 0;
    }
    if (all && inside) {
#pragma unroll
        for (int j = 0; j < COUNT; j++) words.own[j] = *(const uint4 *)(from[j] + s);
    } else {
#pragma unroll
        for (int j = 0; j < COUNT; j++) {
            uint32_t own[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                own[k] = s < length + 4 * CHANNELS ? three_fetch<T, CHANNELS>(image, from[j], s + k * per_word) : 0;
            words.own[j] = make_uint4(own[0], own[1], own[2], own[3]);
        }
    }
    if (lane > 0 && lane < 31) return;
    if (all && side >= 0 && side + margin * per_word <= length) {
#pragma unroll
        for (int j = 0; j < COUNT; j++)
#pragma unroll
            for (int k = 0; k < margin; k++) words.beside[j][k] = *(const uint32_t *)(from[j] + side + k * per_word);
    } else {
#pragma unroll
        for (int j = 0; j < COUNT; j++)
#pragma unroll
            for (int k = 0; k < margin; k++)
                words.beside[j][k] =
                    side < length + 4 * CHANNELS ? three_fetch<T, CHANNELS>(image, from[j], side + k * per_word) : 0;
    }
}

/* Puts together what the lanes have read. */
template <typename T, int CHANNELS, int COUNT>
static __device__ __forceinline__ void three_join(const three_words<T, CHANNELS, COUNT> &words, int lane,
                                                  uint32_t (*rows)[4 + 2 * three_row<T, CHANNELS>::margin]) {
    typedef three_row<T, CHANNELS> R;
    const int margin = R::margin;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
        rows[j][margin] = R::convert(words.own[j].x), rows[j][margin + 1] = R::convert(words.own[j].y);
        rows[j][margin + 2] = R::convert(words.own[j].z), rows[j][margin + 3] = R::convert(words.own[j].w);
#pragma unroll
        for (int k = 0; k < margin; k++) {
            const uint32_t left = __shfl_up_sync(0xffffffffu, rows[j][4 + k], 1);
            const uint32_t right = __shfl_down_sync(0xffffffffu, rows[j][margin + k], 1);
            const uint32_t other = R::convert(words.beside[j][k]);
            rows[j][k] = lane == 0 ? other : left;
            rows[j][margin + 4 + k] = lane == 31 ? other : right;
        }
    }
}

/* The middle of three is their sum less the least and the greatest: for pairs too, since what is carried into the upper half is
 * taken away again. `minus` is -1, which the compiler must not know: so the differences are multiplications, which are done beside
 * minima and maxima and not instead of them. */
static __device__ __forceinline__ uint32_t three_middle(uint32_t sum, uint32_t low, uint32_t high, uint32_t minus) {
    return high * minus + (low * minus + sum);
}

/* One row of results from sorted columns: the median is that of the greatest least, the middle middle and the least greatest. */
template <typename P, int CHANNELS, int KEYS>
static __device__ __forceinline__ void three_results(const typename P::key *low, const typename P::key *middle,
                                                     const typename P::key *high, uint32_t minus, typename P::key (&out)[KEYS]) {
    typedef typename P::key key;
    const int c = CHANNELS;
#pragma unroll
    for (int i = 0; i < KEYS; i++) {
        if (i / c % 2) continue; /* made with the one before it */
        const key p = P::least(middle[i + c], middle[i + 2 * c]), q = P::most(middle[i + c], middle[i + 2 * c]);
#pragma unroll
        for (int k = i; k <= i + c && k < KEYS; k += c) {
            const key a = P::most(low[k], low[k + c], low[k + 2 * c]), d = P::least(high[k], high[k + c], high[k + 2 * c]);
            const key b = P::most(p, P::least(middle[k == i ? i : i + 3 * c], q));
            const uint32_t sum = (uint32_t)a + (uint32_t)b + (uint32_t)d;
            out[k] = (key)three_middle(sum, (uint32_t)P::least(a, b, d), (uint32_t)P::most(a, b, d), minus);
        }
    }
}

/* R::rows rows of results from two more rows of samples. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void three_rows(const uint32_t (*rows)[4 + 2 * three_row<T, CHANNELS>::margin], uint32_t minus,
                                                  uint4 *out) {
    typedef median_policy<T> P;
    typedef three_row<T, CHANNELS> R;
    typedef typename P::key key;
    const int columns = R::keys + 2 * CHANNELS;
#pragma unroll
    for (int y = 0; y < R::rows; y += 2) {
        key p[columns], q[columns];
        uint32_t sum[columns];
#pragma unroll
        for (int i = 0; i < columns; i++) {
            const key a = R::at(rows[y + 1], i - CHANNELS), b = R::at(rows[y + 2], i - CHANNELS);
            p[i] = P::least(a, b), q[i] = P::most(a, b), sum[i] = (uint32_t)a + (uint32_t)b;
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            key low[columns], middle[columns], high[columns], results[R::keys];
#pragma unroll
            for (int i = 0; i < columns; i++) {
                const key a = R::at(rows[y + 3 * k], i - CHANNELS);
                low[i] = P::least(a, p[i]), high[i] = P::most(a, q[i]);
                middle[i] = (key)three_middle(sum[i] + (uint32_t)a, (uint32_t)low[i], (uint32_t)high[i], minus);
            }
            three_results<P, CHANNELS, R::keys>(low, middle, high, minus, results);
            out[y + k] = R::put(results);
        }
    }
}

/* A block makes `rows` rows of a strip of as many chunks as it has threads. */
template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(THREE_THREADS, CHANNELS < 3 ? 6 : 4)
    median_three(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct window_image image, int rows,
                 uint32_t minus) {
    const int lane = (int)threadIdx.x % 32, width = 4 + 2 * three_row<T, CHANNELS>::margin;
    const int span = window_chunk<T>::samples, count = three_row<T, CHANNELS>::rows;
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int64_t s = ((int64_t)blockIdx.x * THREE_THREADS + threadIdx.x) * span, length = image.width * CHANNELS;
    const bool inside = s + span <= length;
    for (int64_t first = tile.out_rect.y0 + (int64_t)blockIdx.y * rows; first < tile.out_rect.y1;
         first += (int64_t)gridDim.y * rows) {
        const int64_t last = min(first + rows, tile.out_rect.y1);
        uint32_t in[count + 2][width];
        three_words<T, CHANNELS, 2> above = {};
        three_words<T, CHANNELS, count> next = {};
        three_read(tile, image, s, inside, first - 1, lane, above);
        three_read(tile, image, s, inside, first + 1, lane, next);
        three_join(above, lane, in + count);
#pragma unroll 1
        for (int64_t y = first; y < last; y += count) {
            uint4 out[count];
#pragma unroll
            for (int k = 0; k < width; k++) in[0][k] = in[count][k], in[1][k] = in[count + 1][k];
            three_join(next, lane, in + 2);
            if (y + count < last)
                three_read(tile, image, s, inside, y + count + 1, lane, next); /* on their way while these are done */
            three_rows<T, CHANNELS>(in, minus, out);
            if (inside) {
#pragma unroll
                for (int j = 0; j < count; j++)
                    if (y + j < last) *(uint4 *)(tile_out<T>(tile, y + j) + s) = out[j];
            } else if (s < length) {
#pragma unroll
                for (int j = 0; j < count; j++)
                    if (y + j < last) three_store_some<T>(tile_out<T>(tile, y + j), s, length, out[j]);
            }
        }
    }
}
#endif
