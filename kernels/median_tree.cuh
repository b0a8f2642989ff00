/* Medians of SIZE x SIZE samples on CUDA devices by the networks of median_tree.h, whose maker explains them. Included by
 * median_SIZE.cu, with SIZE defined.
 *
 * A block makes TREE_ROWS rows of TREE_COLUMNS columns of keys; a key holds one sample of f32, or of narrower types two that lie
 * TREE_COLUMNS apart. It puts the keys of all windows into shared memory, sorts every column of every pair of rows, joins them by
 * fours, and then each thread makes a tile of 4 x 2 keys in registers.
 *
 * Bytes moved: in (1 + (SIZE - 1) / 16) (1 + (SIZE - 1) / 128) times, all but the first from the L2 cache, and out once. Operations
 * for a key, which is two results of u8 and u16: 60 for 7 x 7, then 103, 139, 212 and 263 for 15 x 15. Floor by them at 64 a clock
 * and multiprocessor of an H200: 279, 163, 120, 79, 63 Gpix/s, and half of that for f32. Measured there for 7, 9, 11 and 15: u8
 * 186, 116, 87, 43.7; u16 185, 115, 86, 42.3; f32 86, 58, -, 21.3. Before samples came by words u8 was 140, 95, 64, 35. */
#ifndef SIZE
#error "SIZE must be defined"
#endif
#include "median_tree.h"
#include "median_key.cuh"

#define TREE_COLUMNS 64
#define TREE_ROWS 16
#define TREE_THREADS (TREE_COLUMNS / 4 * TREE_ROWS / 2)
#define TREE(name) KERNEL_PASTE(MEDIAN_TREE_##name, SIZE)
#define TREE_WIRES(name) KERNEL_PASTE(MEDIAN_TREE_##name##_WIRES, SIZE)
#define TREE_CORE KERNEL_PASTE(MEDIAN_CORE, SIZE)

#define TREE_MM(a, b)                                                                                                              \
    {                                                                                                                              \
        const key low = P::least(v[a], v[b]), high = P::most(v[a], v[b]);                                                          \
        v[a] = low;                                                                                                                \
        v[b] = high;                                                                                                               \
    }
#define TREE_MIN(a, b) v[a] = P::least(v[a], v[b]);
#define TREE_MAX(a, b) v[b] = P::most(v[a], v[b]);
#define TREE_MIN3(a, b, c) v[a] = P::least(v[a], v[b], v[c]);
#define TREE_COPY(to, from) v[to] = v[from];

/* Shared memory in keys: raw[row][column], columns[pair of rows][place][column], joins[pair of rows][place][join]. The pitches are
 * such that the two pairs of rows of a warp lie in different banks. */
struct tree_layout {
    static const int height = SIZE - 1, across = TREE_COLUMNS + SIZE - 1, down = TREE_ROWS + SIZE - 1;
    static const int pad = (4 - SIZE / 2 % 4) % 4, quads = (pad + across + 3) / 4; /* a row starts at a multiple of four columns */
    static const int raw_pitch = 4 * quads, raw = down * raw_pitch;
    static const int column_pitch = height * across + 2, columns = TREE_ROWS / 2 * column_pitch;
    static const int joined = (SIZE - 3) / 4, per_row = TREE_COLUMNS / 4 + joined - 1, tight = 4 * height * per_row;
    static const int join_pitch = tight + (48 - tight % 32) % 32, joins = TREE_ROWS / 2 * join_pitch;
    static const int bytes = 4 * (raw + columns + joins);
};

/* How many samples a key holds; making one, or four of neighbouring samples; storing two neighbouring results. `second` picks the
 * sample. */
template <typename T> struct tree_sample;
/* A byte stands in both halves of its half of the key, which saves clearing one. */
template <> struct tree_sample<uint8_t> {
    static const int count = 2;
    static __device__ __forceinline__ uint32_t key(uint8_t a, uint8_t b) { return 257u * (a | (uint32_t)b << 16); }
    static __device__ __forceinline__ uint4 keys(const uint8_t *from) {
        const uint32_t a = *(const uint32_t *)from, b = *(const uint32_t *)(from + TREE_COLUMNS);
        return make_uint4(__byte_perm(a, b, 0x4400), __byte_perm(a, b, 0x5511), __byte_perm(a, b, 0x6622),
                          __byte_perm(a, b, 0x7733));
    }
    static __device__ __forceinline__ uint8_t value(uint32_t key, bool second) { return (uint8_t)(second ? key >> 16 : key); }
    static __device__ __forceinline__ void put(uint8_t *to, uint8_t a, uint8_t b) { *(uint16_t *)to = (uint16_t)(a | b << 8); }
};
template <> struct tree_sample<uint16_t> {
    static const int count = 2;
    static __device__ __forceinline__ uint32_t key(uint16_t a, uint16_t b) { return a | (uint32_t)b << 16; }
    static __device__ __forceinline__ uint4 keys(const uint16_t *from) {
        const uint2 a = *(const uint2 *)from, b = *(const uint2 *)(from + TREE_COLUMNS);
        return make_uint4(__byte_perm(a.x, b.x, 0x5410), __byte_perm(a.x, b.x, 0x7632), __byte_perm(a.y, b.y, 0x5410),
                          __byte_perm(a.y, b.y, 0x7632));
    }
    static __device__ __forceinline__ uint16_t value(uint32_t key, bool second) { return (uint16_t)(second ? key >> 16 : key); }
    static __device__ __forceinline__ void put(uint16_t *to, uint16_t a, uint16_t b) { *(uint32_t *)to = a | (uint32_t)b << 16; }
};
template <> struct tree_sample<float> {
    static const int count = 1;
    static __device__ __forceinline__ int32_t key(float a, float) { return median_key(a); }
    static __device__ __forceinline__ uint4 keys(const float *from) {
        const float4 v = *(const float4 *)from;
        return make_uint4((uint32_t)median_key(v.x), (uint32_t)median_key(v.y), (uint32_t)median_key(v.z),
                          (uint32_t)median_key(v.w));
    }
    static __device__ __forceinline__ float value(int32_t key, bool) { return median_from_key(key); }
    static __device__ __forceinline__ void put(float *to, float a, float b) { *(float2 *)to = make_float2(a, b); }
};

/* u8 and u16 have the same keys and the same kernel, which takes as long to compile as everything else: `narrow` picks u8. */
struct tree_pairs : median_pairs {
    typedef uint8_t narrow;
    typedef uint16_t wide;
    static const int count = 2;
};
struct tree_singles : median_policy<float> {
    typedef float narrow, wide;
    static const int count = 1;
};

/* Fills raw; `place` is room for as many columns as the block reads. */
template <typename T, typename KEY>
static __device__ __forceinline__ void tree_load(const imgpipe_tile &tile, const window_image &image, KEY *raw, int64_t *place,
                                                 const void **rows, int64_t x0, int64_t y0, int channel) {
    typedef tree_layout L;
    typedef tree_sample<T> S;
    const int count = (S::count - 1) * TREE_COLUMNS + L::across, thread = (int)threadIdx.x;
    for (int i = thread; i < count; i += TREE_THREADS) {
        const int64_t x = window_index(image.border, x0 - SIZE / 2 + i, image.width);
        place[i] = x < 0 ? -1 : x * image.channels + channel;
    }
    if (thread < L::down) {
        const int64_t y = window_index(image.border, y0 - SIZE / 2 + thread, image.height);
        /* The last block may hang over what its tile has rows for; results of those rows are not stored. */
        rows[thread] = y < 0 ? (const void *)0 : tile_in<T>(tile, min(max(y, tile.in_rect.y0), tile.in_rect.y1 - 1));
    }
    __syncthreads();
    const T outside = median_policy<T>::outside(image);
    const int64_t start = x0 - SIZE / 2 - L::pad;
    if (image.channels == 1 && start >= 0 && start + (S::count - 1) * TREE_COLUMNS + 4 * L::quads <= image.width) {
        const uint32_t none = (uint32_t)S::key(outside, outside);
#pragma unroll 2
        for (int i = thread; i < L::down * L::quads; i += TREE_THREADS) {
            const int row = i / L::quads, quad = i - row * L::quads;
            ((uint4 *)raw)[i] = rows[row] ? S::keys((const T *)rows[row] + start + 4 * quad) : make_uint4(none, none, none, none);
        }
    } else {
#pragma unroll 1
        for (int i = thread; i < L::down * L::across; i += TREE_THREADS) {
            const int row = i / L::across, column = i - row * L::across;
            const int64_t a = place[column], b = S::count > 1 ? place[column + TREE_COLUMNS] : -1;
            const T *from = (const T *)rows[row];
            raw[row * L::raw_pitch + L::pad + column] =
                S::key(from && a >= 0 ? from[a] : outside, from && b >= 0 ? from[b] : outside);
        }
    }
    __syncthreads();
}

#define TREE_SAMPLE(wire, place) v[wire] = raw[(2 * pair + 1 + (place)) * L::raw_pitch + column];
#define TREE_OUT(wire, place) columns[pair * L::column_pitch + (place)*L::across + column] = v[wire];
template <typename P> static __device__ __forceinline__ void tree_columns(const typename P::key *raw, typename P::key *columns) {
    typedef typename P::key key;
    typedef tree_layout L;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < TREE_ROWS / 2 * L::across; i += TREE_THREADS) {
        const int pair = i / L::across, column = i - pair * L::across;
        key v[TREE_WIRES(COLUMN)];
        TREE(COLUMN)(TREE_MM, TREE_MIN, TREE_MAX, TREE_SAMPLE, TREE_OUT)
    }
    __syncthreads();
}
#undef TREE_SAMPLE
#undef TREE_OUT

#define TREE_COLUMN(wire, i, place) v[wire] = columns[pair * L::column_pitch + (place)*L::across + 4 * join + 3 + (i)];
#define TREE_OUT(wire, place) joins[pair * L::join_pitch + (place)*L::per_row + join] = v[wire];
template <typename P> static __device__ __forceinline__ void tree_joins(const typename P::key *columns, typename P::key *joins) {
    typedef typename P::key key;
    typedef tree_layout L;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < TREE_ROWS / 2 * L::per_row; i += TREE_THREADS) {
        const int pair = i / L::per_row, join = i - pair * L::per_row;
        key v[TREE_WIRES(JOIN)];
        TREE(JOIN)(TREE_MM, TREE_MIN, TREE_MAX, TREE_COLUMN, TREE_OUT)
    }
    __syncthreads();
}
#undef TREE_COLUMN
#undef TREE_OUT

/* `columns` and `joins` start at the tile's left edge in its pair of rows. */
#define TREE_JOINED(wire, i, place) v[wire] = joins[(place)*L::per_row + (i)];
#define TREE_COLUMN(wire, x, place) v[wire] = columns[(place)*L::across + (x)];
#define TREE_OUT(wire, place) core[place] = v[wire];
template <typename P>
static __device__ __forceinline__ void tree_core(const typename P::key *columns, const typename P::key *joins,
                                                 typename P::key (&core)[TREE_CORE]) {
    typedef typename P::key key;
    typedef tree_layout L;
    (void)columns; /* not every size reads it */
    key v[TREE_WIRES(CORE)];
    TREE(CORE)(TREE_MM, TREE_MIN, TREE_MAX, TREE_JOINED, TREE_COLUMN, TREE_OUT)
}
#undef TREE_JOINED
#undef TREE_COLUMN
#undef TREE_OUT

#define TREE_SAMPLE(wire, place) v[wire] = raw[3 + (place)];
#define TREE_OUT(wire, place) row[place] = v[wire];
template <typename P>
static __device__ __forceinline__ void tree_row(const typename P::key *raw, typename P::key (&row)[SIZE - 3]) {
    typedef typename P::key key;
    key v[TREE_WIRES(ROW)];
    TREE(ROW)(TREE_MM, TREE_MIN, TREE_MAX, TREE_SAMPLE, TREE_OUT)
}
#undef TREE_SAMPLE
#undef TREE_OUT

/* Two by two medians of the left (0) or right (1) half. */
#define TREE_X(i) ((i) < 2 ? (i) + 1 + (SIZE - 1) * half : ((i)-2) * SIZE + 2 * half)
#define TREE_KEPT(wire, place) v[wire] = core[place];
#define TREE_COLUMN(wire, i, place) v[wire] = columns[(place)*L::across + TREE_X(i)];
#define TREE_ROW(wire, y, place) v[wire] = rows[y][place];
#define TREE_SAMPLE(wire, i, y) v[wire] = raw[(y) * (SIZE * L::raw_pitch) + TREE_X(i)];
#define TREE_OUT(wire, x, y) medians[y][x] = v[wire];
template <typename P>
static __device__ __forceinline__ void
tree_half(const typename P::key *raw, const typename P::key *columns, const typename P::key (&core)[TREE_CORE],
          const typename P::key (&rows)[2][SIZE - 3], int half, typename P::key (&medians)[2][2]) {
    typedef typename P::key key;
    typedef tree_layout L;
    key v[TREE_WIRES(HALF)];
    TREE(HALF)(TREE_MM, TREE_MIN, TREE_MAX, TREE_KEPT, TREE_COLUMN, TREE_ROW, TREE_SAMPLE, TREE_COPY, TREE_MIN3, TREE_OUT)
}
#undef TREE_X
#undef TREE_KEPT
#undef TREE_COLUMN
#undef TREE_ROW
#undef TREE_SAMPLE
#undef TREE_OUT

/* Two results beside each other, and those of the keys' second samples. */
template <typename T, typename KEY>
static __device__ __forceinline__ void tree_store(const window_image &image, T *row, int64_t x, int channel,
                                                  const KEY (&medians)[2]) {
    typedef tree_sample<T> S;
#pragma unroll
    for (int k = 0; k < S::count; k++, x += TREE_COLUMNS) {
        const T a = S::value(medians[0], k), b = S::value(medians[1], k);
        if (image.channels == 1 && x + 1 < image.width) {
            S::put(row + x, a, b);
        } else {
            if (x < image.width) row[x * image.channels + channel] = a;
            if (x + 1 < image.width) row[(x + 1) * image.channels + channel] = b;
        }
    }
}

template <typename P>
static __global__ void __launch_bounds__(TREE_THREADS, SIZE < 11   ? 4
                                                       : SIZE < 13 ? 3
                                                                   : 2)
    median_tree(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct window_image image, bool narrow) {
    typedef typename P::key key;
    typedef typename P::narrow N;
    typedef typename P::wide W;
    typedef tree_layout L;
    extern __shared__ uint4 tree_shared[];
    __shared__ int64_t place[TREE_COLUMNS + L::across];
    __shared__ const void *rows[L::down];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    key *raw = (key *)tree_shared, *columns = raw + L::raw, *joins = columns + L::columns;
    const int channel = (int)(blockIdx.x % (unsigned)image.channels), across = TREE_COLUMNS * P::count;
    const int64_t x0 = (int64_t)(blockIdx.x / (unsigned)image.channels) * across;
    const int t = (int)threadIdx.x % (TREE_COLUMNS / 4), pair = (int)threadIdx.x / (TREE_COLUMNS / 4);
    for (int64_t y0 = tile.out_rect.y0 + (int64_t)blockIdx.y * TREE_ROWS; y0 < tile.out_rect.y1;
         y0 += (int64_t)gridDim.y * TREE_ROWS) {
        if (P::count > 1 && narrow)
            tree_load<N>(tile, image, raw, place, rows, x0, y0, channel);
        else
            tree_load<W>(tile, image, raw, place, rows, x0, y0, channel);
        tree_columns<P>(raw + L::pad, columns);
        tree_joins<P>(columns, joins);
        const key *own_raw = raw + 2 * pair * L::raw_pitch + L::pad + 4 * t,
                  *own_columns = columns + pair * L::column_pitch + 4 * t;
        key core[TREE_CORE], sorted[2][SIZE - 3];
        tree_core<P>(own_columns, joins + pair * L::join_pitch + t, core);
        tree_row<P>(own_raw, sorted[0]);
        tree_row<P>(own_raw + SIZE * L::raw_pitch, sorted[1]);
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
            key medians[2][2];
            tree_half<P>(own_raw, own_columns, core, sorted, half, medians);
#pragma unroll
            for (int y = 0; y < 2; y++) {
                const int64_t x = x0 + 4 * t + 2 * half, row = y0 + 2 * pair + y;
                if (row >= tile.out_rect.y1) break;
                if (P::count > 1 && narrow)
                    tree_store<N>(image, tile_out<N>(tile, row), x, channel, medians[y]);
                else
                    tree_store<W>(image, tile_out<W>(tile, row), x, channel, medians[y]);
            }
        }
        __syncthreads();
    }
}

template <typename P>
static int tree_launch(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const imgpipe_info *in = &stage->in;
    const struct window_image image = {in->width, in->height, in->format.channels, stage->border, (uint32_t)outside};
    if (!median_room(median_tree<P>, tree_layout::bytes)) return MEDIAN_NO_ROOM;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t blocks = (tile_rows(jobs.tile, n) + TREE_ROWS - 1) / TREE_ROWS;
        const int64_t across = TREE_COLUMNS * P::count;
        const dim3 grid((unsigned)((in->width + across - 1) / across * image.channels), (unsigned)(blocks < 65535 ? blocks : 65535),
                        (unsigned)n);
        median_tree<P><<<grid, TREE_THREADS, tree_layout::bytes, stream>>>(jobs, image, stage->in.format.type == IMGPIPE_U8);
    });
}

int KERNEL_PASTE(median_tree_cuda, SIZE)(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count,
                                         void *stream) {
    if (stage->in.format.type == IMGPIPE_F32) return tree_launch<tree_singles>(stage, outside, tiles, count, (cudaStream_t)stream);
    return tree_launch<tree_pairs>(stage, outside, tiles, count, (cudaStream_t)stream);
}
