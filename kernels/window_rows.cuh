/* Rows of neighbouring samples straight from an image into registers, with the border filled in: for kernels whose threads go down
 * a few columns. u8, any number of interleaved channels. */
#ifndef WINDOW_ROWS_CUH
#define WINDOW_ROWS_CUH
#include "window.cuh"

template <int N> struct window_vector;
template <> struct window_vector<4> { typedef uint32_t type; };
template <> struct window_vector<16> { typedef uint4 type; };

/* Columns beside the image are not read, but copied from what has been made of the columns that stand for them: these lie near,
 * with every border but wrap, unless `columns` from `origin` on hold the whole image. */
static __device__ __forceinline__ bool window_copies(const window_image &image, int64_t origin, int columns) {
    return image.border != IMGPIPE_BORDER_WRAP || (origin <= 0 && origin + columns >= image.width * image.channels);
}

/* N samples of a row from `first` on, which is a multiple of N. */
template <int N> struct window_columns {
    int64_t first;
    bool inside; /* they can be loaded as they are: what lies beside the image is of no use, or there is nothing */
    bool needed;
};

/* `reach`: samples beside the image that are needed. Rows have less than 2^31 samples. */
template <int N>
static __device__ __forceinline__ window_columns<N> window_find_columns(const window_image &image, int64_t first, int reach,
                                                                        bool copies) {
    const int64_t samples = image.width * image.channels;
    window_columns<N> columns = {first, first >= 0 && first + (copies ? 1 : N) <= samples, true};
    columns.needed = columns.inside || (!copies && first + N > -reach && first < samples + reach);
    return columns;
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
    const int64_t from = window_index_far(image.border, y, image.height);
    if (from < 0) return v.vector;
    const uint8_t *row = tile_in<uint8_t>(tile, from);
    if (columns.inside) return *(const typename window_vector<N>::type *)(row + columns.first);
    for (int i = 0; i < N; i++) {
        int64_t s = columns.first + i + (int64_t)image.channels * 65536, x = s / image.channels - 65536, c = s % image.channels;
        x = window_index_far(image.border, x, image.width);
        if (x >= 0) v.byte[i] = row[x * image.channels + c];
    }
    return v.vector;
}

/* Rows counted from the first of a tile's input, which fit 32 bits: those of the image are top ... bottom - 1. */
struct window_bounds {
    int top, bottom;
};
static __device__ __forceinline__ window_bounds window_find_bounds(const imgpipe_tile &tile, const window_image &image) {
    return {(int)max(-tile.in_rect.y0, (int64_t)INT32_MIN / 2), (int)min(image.height - tile.in_rect.y0, (int64_t)INT32_MAX / 2)};
}

/* Whether `count` rows lie in the image, and one behind the other in memory; *at is then sample 0 of the first. */
static __device__ __forceinline__ bool window_straight(const imgpipe_tile &tile, window_bounds bounds, int row, int count,
                                                       const uint8_t **at) {
    int slot = (int)tile.in_slot + row;
    if (slot >= (int)tile.in_ring) slot -= (int)tile.in_ring;
    *at = (const uint8_t *)tile.in + slot * tile.in_stride;
    return row >= bounds.top && row + count <= bounds.bottom && slot + count <= (int)tile.in_ring;
}

/* Rows of a strip that can be loaded as they are: from ... to - 1, and where row 0 would lie. */
struct window_range {
    const uint8_t *at;
    int from, to;
};
/* For rows first ... last - 1 that a strip needs, counted from `above`, which is counted from the first of the tile's input. */
static __device__ __forceinline__ window_range window_find_range(const imgpipe_tile &tile, const window_image &image, int above,
                                                                 int first, int last) {
    const window_bounds bounds = window_find_bounds(tile, image);
    window_range range;
    range.from = max(first, bounds.top - above);
    int slot = (int)tile.in_slot + above + range.from;
    if (slot >= (int)tile.in_ring) slot -= (int)tile.in_ring;
    range.to = min(min(last, bounds.bottom - above), range.from + (int)tile.in_ring - slot);
    range.at = (const uint8_t *)tile.in + (slot - range.from) * tile.in_stride;
    return range;
}

/* Rows row + from ... row + count - 1, and zeros for the others of R. */
template <int N, int R>
static __device__ __noinline__ void window_rows_far(const imgpipe_tile &tile, const window_image &image,
                                                    const window_columns<N> &columns, int row, int from, int count,
                                                    typename window_vector<N>::type *rows) {
#pragma unroll 1
    for (int k = 0; k < R; k++) {
        rows[k] = typename window_vector<N>::type();
        if (k >= from && k < count) rows[k] = window_row_far<N>(tile, image, columns, tile.in_rect.y0 + row + k);
    }
}

/* Which of the columns from `origin` on are copied: 0 ... left - 1, and right_from ... right_from + right - 1. */
struct window_edges {
    int left, right_from, right;
};

static __device__ __forceinline__ window_edges window_find_edges(const window_image &image, int64_t origin, int columns, int reach,
                                                                 bool copies) {
    window_edges edges = {0, 0, 0};
    const int64_t samples = image.width * image.channels, last = min(samples + reach, origin + columns);
    if (!copies) return edges;
    if (origin < 0) edges.left = (int)-origin;
    if (last > samples) edges.right_from = (int)(samples - origin), edges.right = (int)(last - samples);
    return edges;
}

static __device__ __forceinline__ int window_edge(const window_edges &edges, int i) {
    return i < edges.left ? i : edges.right_from + i - edges.left;
}
/* The column that stands for column k, both counted from `origin`; -1 beyond a constant border. */
static __device__ __noinline__ int window_edge_source(const window_image &image, int64_t origin, int k) {
    int64_t s = origin + k + (int64_t)image.channels * 65536;
    int64_t x = border_index(image.border, s / image.channels - 65536, image.width);
    return x < 0 ? -1 : (int)(x * image.channels + s % image.channels - origin);
}

/* For `rows` rows, by all warps of a block; at(row, k) is what has been made of column k, `outside` that of all columns beyond a
 * constant border. */
template <typename T, typename F>
static __device__ __forceinline__ void window_copy_edges(const window_image &image, int64_t origin, const window_edges &edges,
                                                         int rows, T outside, F at) {
    const int warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    for (int i = (int)threadIdx.x % 32; i < edges.left + edges.right; i += 32) {
        const int to = window_edge(edges, i), from = window_edge_source(image, origin, to);
        for (int row = warp; row < rows; row += warps) at(row, to) = from < 0 ? outside : at(row, from);
    }
}
#endif
