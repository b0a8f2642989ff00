/* The medians of eight neighbouring columns in two rows by the networks of median_network.h, in registers. Included by
 * median.cu once for each SIZE. All indices are constant after unrolling; P is the policy of the sample's type. */
#define NETWORK(name) KERNEL_PASTE(MEDIAN_##name, SIZE)
#define TILE_NAME(name) KERNEL_PASTE(name, SIZE)
#define TILE_COLUMN(wire, dx, place) v[wire] = columns[dx][place];
#define TILE_JOINED(wire, dx, place) v[wire] = joined[dx][place];

/* Sorts the samples of column i that both windows share. */
#define TILE_LOAD(k) v[k] = P::at(rows[(k) + 1], i);
#define TILE_STORE(place, wire) column[place] = v[wire];
template <typename P>
static __device__ __forceinline__ void TILE_NAME(sort_column)(const uint32_t (*rows)[P::words], int i, typename P::key *column) {
    typename P::key v[SIZE - 1];
    NETWORK(EACH_COLUMN)(TILE_LOAD)
    NETWORK(COLUMN)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    NETWORK(COLUMN_OUT)(TILE_STORE)
}
#undef TILE_LOAD
#undef TILE_STORE

#define TILE_STORE(place, wire) list[place] = v[wire];
template <typename P>
static __device__ __forceinline__ void TILE_NAME(join)(const typename P::key (*columns)[SIZE - 1], typename P::key *list) {
    typename P::key v[NETWORK(GROUP) * (SIZE - 1)];
    NETWORK(JOIN_IN)(TILE_JOINED, TILE_COLUMN)
    NETWORK(JOIN)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    NETWORK(JOIN_OUT)(TILE_STORE)
}
#undef TILE_STORE

/* The values of all shared samples that may be the median. */
#define TILE_STORE(place, wire) middle[place] = v[wire];
template <typename P>
static __device__ __forceinline__ void TILE_NAME(core)(const typename P::key (*columns)[SIZE - 1],
                                                       const typename P::key (*joined)[NETWORK(GROUP) * (SIZE - 1)],
                                                       typename P::key *middle) {
    typename P::key v[SIZE * (SIZE - 1)];
    NETWORK(CORE_IN)(TILE_JOINED, TILE_COLUMN)
    NETWORK(CORE)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    NETWORK(CORE_OUT)(TILE_STORE)
}
#undef TILE_STORE

/* The median of these and of a window's own row. */
#define TILE_LOAD(k) v[k] = P::at(row, i + (k));
#define TILE_SORTED(place, wire) sorted[place] = v[wire];
template <typename P>
static __device__ __forceinline__ void TILE_NAME(sort_row)(const uint32_t (&row)[P::words], int i, typename P::key *sorted) {
    typename P::key v[SIZE];
    NETWORK(EACH_ROW)(TILE_LOAD)
    NETWORK(ROW)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    NETWORK(ROW_OUT)(TILE_SORTED)
}
#undef TILE_LOAD
#undef TILE_SORTED
#define TILE_LOAD(k) v[k] = middle[k], v[SIZE + 1 + (k)] = sorted[k];
template <typename P>
static __device__ __forceinline__ typename P::key TILE_NAME(pick)(const typename P::key *middle, const typename P::key *sorted) {
    typename P::key v[2 * SIZE + 1];
    NETWORK(EACH_ROW)(TILE_LOAD)
    v[SIZE] = middle[SIZE];
    NETWORK(PICK)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    return v[0];
}
#undef TILE_LOAD

/* Columns and joined lists are made when the first window needs them, and serve all windows that they lie in. */
template <typename P> struct TILE_NAME(median_net) {
    static const int size = SIZE, rows = 2;
    static __device__ __forceinline__ void run(const uint32_t (*in)[P::words], typename P::key (*out)[8]) {
        typename P::key columns[SIZE + 7][SIZE - 1], joined[8 + SIZE - NETWORK(GROUP)][NETWORK(GROUP) * (SIZE - 1)];
#pragma unroll
        for (int i = 0; i < 8; i++) {
#pragma unroll
            for (int k = i ? i + SIZE - 1 : 0; k < i + SIZE; k++) TILE_NAME(sort_column)<P>(in, k - SIZE / 2, columns[k]);
#pragma unroll
            for (int k = i ? i + SIZE - NETWORK(GROUP) : 0; k <= i + SIZE - NETWORK(GROUP); k++)
                TILE_NAME(join)<P>(columns + k, joined[k]);
            typename P::key middle[SIZE + 1], sorted[SIZE];
            TILE_NAME(core)<P>(columns + i, joined + i, middle);
            TILE_NAME(sort_row)<P>(in[0], i - SIZE / 2, sorted);
            out[0][i] = TILE_NAME(pick)<P>(middle, sorted);
            TILE_NAME(sort_row)<P>(in[SIZE], i - SIZE / 2, sorted);
            out[1][i] = TILE_NAME(pick)<P>(middle, sorted);
        }
    }
};

#undef NETWORK
#undef TILE_NAME
#undef TILE_COLUMN
#undef TILE_JOINED
