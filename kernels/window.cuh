/* Windows on CUDA by way of shared memory: a block copies the rows that its results need into planes, one for each channel, with
 * the border filled in, computes on planes alone, and writes them back interleaved. So what computes knows neither borders
 * nor channels.
 *
 * A chunk is 16 bytes of a plane: the unit of copies, aligned in memory and in planes. */
#ifndef WINDOW_CUH
#define WINDOW_CUH
#include "tile.cuh"
#include <cuda_pipeline.h>

/* What all tiles of a launch share. `outside` is a sample beyond the constant border, as it lies in a plane. */
struct window_image {
    int64_t width, height;
    int channels;
    imgpipe_border border;
    uint32_t outside;
};

/* Planes of a block: `columns` is the image column of the first chunk, a multiple of a chunk's samples, maybe negative. */
struct window_planes {
    unsigned char *base;
    int pitch;       /* bytes from row to row */
    int plane_pitch; /* bytes from channel to channel */
};

template <typename T> struct window_chunk { static const int samples = 16 / (int)sizeof(T); };

/* Rarely called: kept out of the loops that call it. */
static __device__ __noinline__ int64_t window_index_far(imgpipe_border border, int64_t i, int64_t n) {
    return border_index(border, i, n);
}
static __device__ __forceinline__ int64_t window_index(imgpipe_border border, int64_t i, int64_t n) {
    return i >= 0 && i < n ? i : window_index_far(border, i, n);
}

/* Four bytes of `words`, at byte offsets a, b, c, d, which are constants after unrolling. */
static __device__ __forceinline__ uint32_t window_gather(const uint32_t *words, int a, int b, int c, int d) {
    if (b == a + 1 && c == a + 2 && d == a + 3 && a % 4 == 0) return words[a / 4];
    uint32_t low = __byte_perm(words[a / 4], words[b / 4], (unsigned)(a % 4 | (b % 4 + 4) << 4));
    uint32_t high = __byte_perm(words[c / 4], words[d / 4], (unsigned)(c % 4 | (d % 4 + 4) << 4));
    return __byte_perm(low, high, 0x5410);
}

/* Word k of channel c's chunk out of C interleaved chunks. */
template <typename T, int C> static __device__ __forceinline__ uint32_t window_split(const uint32_t (&words)[4 * C], int c, int k) {
    const int size = (int)sizeof(T), step = C * size;
    if (C == 1) return words[k];
    if (size == 1) return window_gather(words, (4 * k) * C + c, (4 * k + 1) * C + c, (4 * k + 2) * C + c, (4 * k + 3) * C + c);
    if (size == 2) {
        const int a = 2 * k * step + 2 * c, b = a + step;
        return __byte_perm(words[a / 4], words[b / 4], (a % 4 ? 0x32u : 0x10u) | (b % 4 ? 0x7600u : 0x5400u));
    }
    return words[k * C + c];
}

/* The way back: word q of C interleaved chunks out of the planes' words, planes[c][k]. */
template <typename T, int C> static __device__ __forceinline__ uint32_t window_join(const uint32_t (&planes)[4 * C], int q) {
    const int size = (int)sizeof(T);
    if (C == 1) return planes[q];
    if (size == 1) {
        int at[4];
#pragma unroll
        for (int m = 0; m < 4; m++) at[m] = (4 * q + m) % C * 16 + (4 * q + m) / C;
        return window_gather(planes, at[0], at[1], at[2], at[3]);
    }
    if (size == 2) {
        const int a = 2 * q % C * 16 + 2 * q / C * 2, b = (2 * q + 1) % C * 16 + (2 * q + 1) / C * 2;
        return __byte_perm(planes[a / 4], planes[b / 4], (a % 4 ? 0x32u : 0x10u) | (b % 4 ? 0x7600u : 0x5400u));
    }
    return planes[q % C * 4 + q / C];
}

/* One chunk of every channel, samples x ... of image row y (-1: beyond a constant border). F turns words of samples into what
 * lies in planes. */
template <typename T, int C, typename F>
static __device__ __forceinline__ void window_load_chunk(const imgpipe_tile &tile, const window_image &image,
                                                         const window_planes &planes, int64_t x, int64_t y, unsigned char *to,
                                                         F word) {
    const int samples = window_chunk<T>::samples;
    if (y >= 0 && x >= 0 && x + samples <= image.width) {
        const uint4 *from = (const uint4 *)(tile_in<T>(tile, y) + x * C);
        if constexpr (C == 1 && F::copies) {
            __pipeline_memcpy_async(to, from, 16);
        } else {
            uint32_t words[4 * C];
#pragma unroll
            for (int i = 0; i < C; i++) ((uint4 *)words)[i] = from[i];
#pragma unroll
            for (int c = 0; c < C; c++)
                *(uint4 *)(to + c * planes.plane_pitch) =
                    make_uint4(word(window_split<T, C>(words, c, 0)), word(window_split<T, C>(words, c, 1)),
                               word(window_split<T, C>(words, c, 2)), word(window_split<T, C>(words, c, 3)));
        }
        return;
    }
    const T *row = y < 0 ? NULL : tile_in<T>(tile, y);
#pragma unroll 1
    for (int i = 0; i < samples; i++) {
        int64_t from = row ? window_index(image.border, x + i, image.width) : -1;
        for (int c = 0; c < C; c++)
            ((T *)(to + c * planes.plane_pitch))[i] = from < 0 ? F::outside(image, (T)0) : word.sample(row[from * C + c]);
    }
}

/* Samples as they are. */
struct window_copy {
    static const bool copies = true;
    __device__ __forceinline__ uint32_t operator()(uint32_t v) const { return v; }
    template <typename T> __device__ __forceinline__ T sample(T v) const { return v; }
    static __device__ __forceinline__ uint8_t outside(const window_image &image, uint8_t) { return (uint8_t)image.outside; }
    static __device__ __forceinline__ uint16_t outside(const window_image &image, uint16_t) { return (uint16_t)image.outside; }
    static __device__ __forceinline__ float outside(const window_image &image, float) { return __uint_as_float(image.outside); }
};

/* Fills CHUNKS chunks of `rows` rows from column x0, row y0 on. All threads of the block; the caller synchronises after
 * window_loaded(). */
template <typename T, int C, int CHUNKS, typename F>
static __device__ __forceinline__ void window_load_as(const imgpipe_tile &tile, const window_image &image,
                                                      const window_planes &planes, int64_t x0, int64_t y0, int rows, int thread,
                                                      int threads, F word) {
    for (int i = thread; i < rows * CHUNKS; i += threads) {
        int row = i / CHUNKS, chunk = i - row * CHUNKS;
        window_load_chunk<T, C>(tile, image, planes, x0 + chunk * window_chunk<T>::samples,
                                window_index(image.border, y0 + row, image.height), planes.base + row * planes.pitch + chunk * 16,
                                word);
    }
}

template <typename T, int CHUNKS, typename F>
static __device__ __forceinline__ void window_load(const imgpipe_tile &tile, const window_image &image, const window_planes &planes,
                                                   int64_t x0, int64_t y0, int rows, int thread, int threads, F word) {
    switch (image.channels) {
    case 1: window_load_as<T, 1, CHUNKS>(tile, image, planes, x0, y0, rows, thread, threads, word); break;
    case 2: window_load_as<T, 2, CHUNKS>(tile, image, planes, x0, y0, rows, thread, threads, word); break;
    case 3: window_load_as<T, 3, CHUNKS>(tile, image, planes, x0, y0, rows, thread, threads, word); break;
    default: window_load_as<T, 4, CHUNKS>(tile, image, planes, x0, y0, rows, thread, threads, word); break;
    }
}

static __device__ __forceinline__ void window_loaded() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

/* One chunk of a row of one channel; what lies beyond the row's end is left out. */
template <typename T> static __device__ __forceinline__ void window_store_chunk(T *row, int64_t x, int64_t width, uint4 words) {
    if (x + window_chunk<T>::samples <= width) {
        *(uint4 *)(row + x) = words;
        return;
    }
    uint32_t all[4] = {words.x, words.y, words.z, words.w};
    const int per_word = 4 / (int)sizeof(T);
#pragma unroll
    for (int i = 0; i < window_chunk<T>::samples; i++) {
        uint32_t bits = all[i / per_word] >> (i % per_word * 8 * (int)sizeof(T) & 31);
        if (x + i >= width) break;
        if (sizeof(T) == 4)
            ((uint32_t *)row)[x + i] = bits;
        else
            row[x + i] = (T)bits;
    }
}

/* Writes CHUNKS chunks of `rows` rows of planes to column x0, row y0 of the output. */
template <typename T, int C, int CHUNKS>
static __device__ __forceinline__ void window_store_as(const imgpipe_tile &tile, const window_image &image,
                                                       const window_planes &planes, int64_t x0, int64_t y0, int rows, int thread,
                                                       int threads) {
    const int samples = window_chunk<T>::samples;
    for (int i = thread; i < rows * CHUNKS; i += threads) {
        int row = i / CHUNKS, chunk = i - row * CHUNKS;
        int64_t x = x0 + chunk * samples;
        if (x >= image.width) continue;
        const unsigned char *from = planes.base + row * planes.pitch + chunk * 16;
        T *to = tile_out<T>(tile, y0 + row) + x * C;
        uint32_t words[4 * C];
#pragma unroll
        for (int c = 0; c < C; c++) ((uint4 *)words)[c] = *(const uint4 *)(from + c * planes.plane_pitch);
#pragma unroll
        for (int j = 0; j < C; j++)
            window_store_chunk<T>(to, j * samples, (image.width - x) * C,
                                  make_uint4(window_join<T, C>(words, 4 * j), window_join<T, C>(words, 4 * j + 1),
                                             window_join<T, C>(words, 4 * j + 2), window_join<T, C>(words, 4 * j + 3)));
    }
}

template <typename T, int CHUNKS>
static __device__ __forceinline__ void window_store(const imgpipe_tile &tile, const window_image &image,
                                                    const window_planes &planes, int64_t x0, int64_t y0, int rows, int thread,
                                                    int threads) {
    switch (image.channels) {
    case 1: window_store_as<T, 1, CHUNKS>(tile, image, planes, x0, y0, rows, thread, threads); break;
    case 2: window_store_as<T, 2, CHUNKS>(tile, image, planes, x0, y0, rows, thread, threads); break;
    case 3: window_store_as<T, 3, CHUNKS>(tile, image, planes, x0, y0, rows, thread, threads); break;
    default: window_store_as<T, 4, CHUNKS>(tile, image, planes, x0, y0, rows, thread, threads); break;
    }
}
#endif
