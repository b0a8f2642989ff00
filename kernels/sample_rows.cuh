/* What window_rows.cuh has for u8, for samples of any type: neighbouring samples of a row straight from an image into registers, as
 * words, with the border filled in. */
#ifndef SAMPLE_ROWS_CUH
#define SAMPLE_ROWS_CUH
#include "window_rows.cuh"

/* N samples, of whole words: 4, 8 or 16 bytes. */
template <typename T, int N> struct sample_words {
    static const int count = N * (int)sizeof(T) / 4;
    uint32_t word[count];
};

template <typename T, int N> static __device__ __forceinline__ sample_words<T, N> sample_load(const void *from) {
    const int count = sample_words<T, N>::count;
    if constexpr (count == 1) {
        return {{*(const uint32_t *)from}};
    } else if constexpr (count == 2) {
        const uint2 two = *(const uint2 *)from;
        return {{two.x, two.y}};
    } else {
        const uint4 four = *(const uint4 *)from;
        return {{four.x, four.y, four.z, four.w}};
    }
}

/* A sample beyond a constant border, from window_image.outside: floats are there as they lie in memory. */
template <typename T> static __device__ __forceinline__ T sample_outside(const window_image &image) {
    if constexpr (sizeof(T) == 4)
        return __uint_as_float(image.outside);
    else
        return (T)image.outside;
}
template <typename T> static inline uint32_t sample_outside_bits(double value) {
    if (sizeof(T) < 4) return (uint32_t)value;
    union {
        float value;
        uint32_t bits;
    } v = {(float)value};
    return v.bits;
}

/* Rows of a strip, counted from `above`, that can be loaded as they are: from ... to - 1. Those from `wrap` on lie at the ring's
 * beginning again, `back` bytes before. */
struct sample_range {
    const unsigned char *at; /* where row 0 would lie */
    int64_t back;
    int from, to, wrap;
};
/* For rows first ... last - 1 that a strip needs; `above` is counted from the first row of the tile's input. */
static __device__ __forceinline__ sample_range sample_find_range(const imgpipe_tile &tile, const window_image &image, int above,
                                                                 int first, int last) {
    const window_bounds bounds = window_find_bounds(tile, image);
    sample_range range;
    range.from = max(first, bounds.top - above);
    range.to = min(last, bounds.bottom - above);
    int slot = (int)tile.in_slot + above + range.from;
    if (slot >= (int)tile.in_ring) slot -= (int)tile.in_ring;
    range.wrap = range.from + (int)tile.in_ring - slot;
    range.at = (const unsigned char *)tile.in + (slot - range.from) * tile.in_stride;
    range.back = tile.in_ring * tile.in_stride;
    return range;
}
/* Whether rows q ... q + count - 1 lie one behind the other; *at is then where the first is. */
static __device__ __forceinline__ bool sample_straight(const sample_range &range, int64_t stride, int q, int count,
                                                       const unsigned char **at) {
    *at = range.at + q * stride - (q >= range.wrap ? range.back : 0);
    return q >= range.from && q + count <= range.to && (q >= range.wrap || q + count <= range.wrap);
}

/* Row y, which may lie above or below the image. */
template <typename T, int N>
static __device__ __noinline__ sample_words<T, N> sample_row_far(const imgpipe_tile &tile, const window_image &image,
                                                                 const window_columns<N> &columns, int64_t y) {
    union {
        sample_words<T, N> words;
        T sample[N];
    } v;
    for (int i = 0; i < N; i++) v.sample[i] = sample_outside<T>(image);
    if (!columns.needed) return v.words;
    const int64_t from = window_index_far(image.border, y, image.height);
    if (from < 0) return v.words;
    const T *row = tile_in<T>(tile, from);
    if (columns.inside) return sample_load<T, N>(row + columns.first);
    for (int i = 0; i < N; i++) {
        int64_t s = columns.first + i + (int64_t)image.channels * 65536, x = s / image.channels - 65536, c = s % image.channels;
        x = window_index_far(image.border, x, image.width);
        if (x >= 0) v.sample[i] = row[x * image.channels + c];
    }
    return v.words;
}

/* Rows row + from ... row + count - 1, counted from the first of the tile's input, and zeros for the others of R. */
template <typename T, int N, int R>
static __device__ __noinline__ void sample_rows_far(const imgpipe_tile &tile, const window_image &image,
                                                    const window_columns<N> &columns, int row, int from, int count,
                                                    sample_words<T, N> *rows) {
#pragma unroll 1
    for (int k = 0; k < R; k++) {
        rows[k] = sample_words<T, N>();
        if (k >= from && k < count) rows[k] = sample_row_far<T, N>(tile, image, columns, tile.in_rect.y0 + row + k);
    }
}

/* Words to floats. A u16 in the lower mantissa of 2^23 is 2^23 plus it; `base` is 2^23: a permute takes one immediate operand, and
 * that should be the selector. */
#define SAMPLE_BASE 0x4b000000u
template <typename T, int N>
static __device__ __forceinline__ void sample_floats(const sample_words<T, N> &words, uint32_t base, float (&f)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) {
        if constexpr (sizeof(T) == 4)
            f[i] = __uint_as_float(words.word[i]);
        else if constexpr (sizeof(T) == 2)
            f[i] = __fadd_rn(__uint_as_float(__byte_perm(words.word[i / 2], base, i % 2 ? 0x7632 : 0x7610)), -8388608.0f);
        else
            f[i] = __fadd_rn(__uint_as_float(__byte_perm(words.word[i / 4], base, 0x7650u + (unsigned)i % 4)), -8388608.0f);
    }
}

/* N floats as samples, in words. Integers: none is negative or NaN, or above the greatest sample by half or more; rounding
 * v + 1/2 down keeps its whole part, and the sum with 2^23 has that in its lower bits. */
template <typename T, int N>
static __device__ __forceinline__ void sample_pack(const float (&v)[N], uint32_t (&words)[sample_words<T, N>::count]) {
    if constexpr (sizeof(T) == 4) {
#pragma unroll
        for (int i = 0; i < N; i++) words[i] = __float_as_uint(pixel_f32(v[i]));
    } else {
        uint32_t whole[N];
#pragma unroll
        for (int i = 0; i < N; i++) whole[i] = __float_as_uint(__fadd_rd(__fadd_rd(v[i], 0.5f), 8388608.0f));
#pragma unroll
        for (int i = 0; i < sample_words<T, N>::count; i++)
            words[i] = sizeof(T) == 2 ? __byte_perm(whole[2 * i], whole[2 * i + 1], 0x5410)
                                      : __byte_perm(__byte_perm(whole[4 * i], whole[4 * i + 1], 0x0040),
                                                    __byte_perm(whole[4 * i + 2], whole[4 * i + 3], 0x0040), 0x5410);
    }
}

/* N samples to a row, of which `left` may be written; `to` is aligned to as many bytes as they have, 16 at most. */
template <typename T, int N>
static __device__ __forceinline__ void sample_put(T *to, int64_t left, const uint32_t (&words)[sample_words<T, N>::count]) {
    const int count = sample_words<T, N>::count;
    if (left >= N) {
        if constexpr (count == 2)
            *(uint2 *)to = make_uint2(words[0], words[1]);
        else
#pragma unroll
            for (int i = 0; i < count; i += 4)
                ((uint4 *)to)[i / 4] = make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (i >= (int)left) break;
        if constexpr (sizeof(T) == 4)
            to[i] = __uint_as_float(words[i]);
        else
            to[i] = (T)(words[i * (int)sizeof(T) / 4] >> (i * 8 * (int)sizeof(T) & 31));
    }
}
#endif
