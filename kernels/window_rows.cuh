/* Rows of neighbouring samples straight from an image into registers, with the border filled in: for kernels whose threads go down a
 * few columns. u8, any number of interleaved channels. */
#ifndef WINDOW_ROWS_CUH
#define WINDOW_ROWS_CUH
#include "window.cuh"

template <int N> struct window_vector;
template <> struct window_vector<4> { typedef uint32_t type; };
template <> struct window_vector<8> { typedef uint2 type; };

/* N samples of a row, N bytes aligned, of which some may lie beside the image: map has the places of all of them then, negative
 * beyond a constant border.. */
template <int N> struct window_columns {
    int64_t first; /* sample of the row */
    bool inside, needed;
    int map[N];
};

/* `reach`: samples beside the image that are needed. Rows have less than 2^31 samples. */
template <int N>
static __device__ __forceinline__ void window_find_columns(const window_image &image, int64_t first, int reach,
                                                           window_columns<N> &columns) {
    const int64_t samples = image.width * image.channels;
    columns.first = first;
    columns.inside = first >= 0 && first + N <= samples;
    columns.needed = first + N > -reach && first < samples + reach;
    if (columns.inside || !columns.needed) return;
#pragma unroll 1
    for (int i = 0; i < N; i++) {
        int64_t s = first + i + (int64_t)image.channels * 65536, x = s / image.channels - 65536, c = s % image.channels;
        x = window_index_far(image.border, x, image.width);
        columns.map[i] = x < 0 ? -1 : (int)(x * image.channels + c);
    }
}

/* Row y, which may lie above or below the image. */
template <int N>
static __device__ __noinline__ typename window_vector<N>::type window_row_far(const imgpipe_tile &tile, const window_image &image,
                                                                              const window_columns<N> &columns, int64_t y) {
    union {
        typename window_vector<N>::type vector;
        uint8_t byte[N];
    } v;
    for (int i = 0; i < N; i++) v.byte[i] = (uint8_t)image.outside;
    if (!columns.needed) return v.vector;
    const int64_t from = border_index(image.border, y, image.height);
    if (from < 0) return v.vector;
    const uint8_t *row = tile_in<uint8_t>(tile, from);
    if (columns.inside) return *(const typename window_vector<N>::type *)(row + columns.first);
#pragma unroll
    for (int i = 0; i < N; i++)
        if (columns.map[i] >= 0) v.byte[i] = row[columns.map[i]];
    return v.vector;
}

/* Whether rows y ... y + count - 1 lie in the image, and one behind the other in memory; *at is then sample 0 of the first. */
static __device__ __forceinline__ bool window_straight(const imgpipe_tile &tile, const window_image &image, int64_t y, int count,
                                                       const uint8_t **at) {
    int64_t slot = tile.in_slot + (y - tile.in_rect.y0);
    if (slot >= tile.in_ring) slot -= tile.in_ring;
    *at = (const uint8_t *)tile.in + slot * tile.in_stride;
    return y >= 0 && y + count <= image.height && slot + count <= tile.in_ring;
}

/* Rows y + from ... y + count - 1, and zeros for the others of R. */
template <int N, int R>
static __device__ __noinline__ void window_rows_far(const imgpipe_tile &tile, const window_image &image,
                                                    const window_columns<N> &columns, int64_t y, int from, int count,
                                                    typename window_vector<N>::type *rows) {
#pragma unroll 1
    for (int k = 0; k < R; k++) {
        rows[k] = typename window_vector<N>::type();
        if (k >= from && k < count) rows[k] = window_row_far<N>(tile, image, columns, y + k);
    }
}

template <int N, int R>
static __device__ __forceinline__ void window_rows(const imgpipe_tile &tile, const window_image &image,
                                                   const window_columns<N> &columns, int64_t y, int from, int count,
                                                   typename window_vector<N>::type (&rows)[R]) {
    typedef typename window_vector<N>::type V;
    const uint8_t *at;
    if (window_straight(tile, image, y + from, count - from, &at) && columns.inside) {
        const uint32_t first = (uint32_t)columns.first; /* 32 bits beside a pointer that is the same in all threads */
        at -= from * tile.in_stride;
        if (from == 0 && count == R) {
#pragma unroll
            for (int k = 0; k < R; k++) rows[k] = *(const V *)(at + k * tile.in_stride + first);
        } else {
#pragma unroll
            for (int k = 0; k < R; k++) rows[k] = k >= from && k < count ? *(const V *)(at + k * tile.in_stride + first) : V();
        }
        return;
    }
    V far[R];
    window_rows_far<N, R>(tile, image, columns, y, from, count, far);
#pragma unroll
    for (int k = 0; k < R; k++) rows[k] = far[k];
}
#endif
