/* Two medians, one below the other, in a thread's registers, by the networks of median_network.h. Included by median.cu once for
 * each SIZE. All indices are constant after unrolling. */
#define NETWORK(name) KERNEL_PASTE(MEDIAN_##name, SIZE)
#define TILE_NAME(name) KERNEL_PASTE(name, SIZE)
#define TILE_COLUMN(wire, dx, place) v[wire] = columns[dx][place];
#define TILE_JOINED(wire, dx, place) v[wire] = joined[(dx) / NETWORK(GROUP)][place];

/* Sorts the shared samples of column `at` of the two windows. */
#define TILE_LOAD(k) v[k] = window_key(row[(k) + 1], at, outside);
#define TILE_STORE(place, wire) column[place] = v[wire];
template <typename T>
static __device__ __forceinline__ void TILE_NAME(sort_column)(const T *const *row, int64_t at, int32_t outside, int32_t *column) {
    int32_t v[SIZE - 1];
    NETWORK(EACH_COLUMN)(TILE_LOAD)
    NETWORK(COLUMN)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    NETWORK(COLUMN_OUT)(TILE_STORE)
}
#undef TILE_LOAD
#undef TILE_STORE

#if SIZE > 3
#define TILE_STORE(place, wire) list[place] = v[wire];
static __device__ __forceinline__ void TILE_NAME(join)(const int32_t (*columns)[SIZE - 1], int32_t *list) {
    int32_t v[NETWORK(GROUP) * (SIZE - 1)];
    NETWORK(JOIN_IN)(TILE_JOINED, TILE_COLUMN)
    NETWORK(JOIN)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    NETWORK(JOIN_OUT)(TILE_STORE)
}
#undef TILE_STORE
#endif

/* The values of all shared samples that may be the median. */
#define TILE_STORE(place, wire) middle[place] = v[wire];
static __device__ __forceinline__ void TILE_NAME(core)(const int32_t (*columns)[SIZE - 1], int32_t *middle) {
#if SIZE > 3
    int32_t joined[SIZE / NETWORK(GROUP)][NETWORK(GROUP) * (SIZE - 1)];
#pragma unroll
    for (int j = 0; j < SIZE / NETWORK(GROUP); j++) TILE_NAME(join)(columns + j * NETWORK(GROUP), joined[j]);
#endif
    int32_t v[SIZE * (SIZE - 1)];
    NETWORK(CORE_IN)(TILE_JOINED, TILE_COLUMN)
    NETWORK(CORE)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    NETWORK(CORE_OUT)(TILE_STORE)
}
#undef TILE_STORE

/* The median of these and of a window's own row. */
#define TILE_LOAD(k) v[k] = window_key(row, at[k], outside);
#define TILE_SORTED(place, wire) sorted[place] = v[wire];
template <typename T>
static __device__ __forceinline__ void TILE_NAME(sort_row)(const T *row, const int64_t *at, int32_t outside, int32_t *sorted) {
    int32_t v[SIZE];
    NETWORK(EACH_ROW)(TILE_LOAD)
    NETWORK(ROW)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    NETWORK(ROW_OUT)(TILE_SORTED)
}
#undef TILE_LOAD
#undef TILE_SORTED
#define TILE_LOAD(k) v[k] = middle[k], v[SIZE + 1 + (k)] = sorted[k];
static __device__ __forceinline__ int32_t TILE_NAME(pick)(const int32_t *middle, const int32_t *sorted) {
    int32_t v[2 * SIZE + 1];
    NETWORK(EACH_ROW)(TILE_LOAD)
    v[SIZE] = middle[SIZE];
    NETWORK(PICK)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    return v[0];
}
#undef TILE_LOAD

template <typename T>
static __global__ void TILE_NAME(median_pair)(const __grid_constant__ struct tile_jobs jobs,
                                              const __grid_constant__ struct median_launch launch) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= launch.width * launch.channels) return;
    const int64_t step = 2 * (int64_t)gridDim.y * blockDim.y;
    int64_t at[SIZE];
#pragma unroll
    for (int k = 0; k < SIZE; k++) at[k] = window_column(launch, x / launch.channels + k - SIZE / 2, (int)(x % launch.channels));
    for (int64_t y = tile.out_rect.y0 + 2 * ((int64_t)blockIdx.y * blockDim.y + threadIdx.y); y < tile.out_rect.y1; y += step) {
        const bool pair = y + 1 < tile.out_rect.y1;
        const T *row[SIZE + 1];
#pragma unroll
        for (int k = 0; k < SIZE; k++) row[k] = window_row<T>(launch, tile, y + k - SIZE / 2);
        row[SIZE] = pair ? window_row<T>(launch, tile, y + 1 + SIZE / 2) : row[0];
        int32_t columns[SIZE][SIZE - 1], middle[SIZE + 1], sorted[SIZE];
#pragma unroll
        for (int k = 0; k < SIZE; k++) TILE_NAME(sort_column)<T>(row, at[k], launch.outside, columns[k]);
        TILE_NAME(core)(columns, middle);
        TILE_NAME(sort_row)<T>(row[0], at, launch.outside, sorted);
        put_key(tile_out<T>(tile, y) + x, TILE_NAME(pick)(middle, sorted));
        if (!pair) continue;
        TILE_NAME(sort_row)<T>(row[SIZE], at, launch.outside, sorted);
        put_key(tile_out<T>(tile, y + 1) + x, TILE_NAME(pick)(middle, sorted));
    }
}

#undef NETWORK
#undef TILE_NAME
#undef TILE_COLUMN
#undef TILE_JOINED
