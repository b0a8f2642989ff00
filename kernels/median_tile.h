/* The medians of two neighbouring rows by the networks of median_network.h. Included by median_body.h once for each SIZE, with KEY
 * (an integer type) and SUFFIX defined.
 *
 * Wires are local arrays with constant indices, which the compiler turns into registers. The innermost loops have a constant
 * count, one cache line of samples, so that they become vector code without remainders; what they do beyond the end of a row
 * stays in scratch. A list with n places is n arrays of TILE_STRIDE keys in scratch. */
#define NETWORK(name) KERNEL_PASTE(MEDIAN_##name, SIZE)
#define TILE_NAME(name) KERNEL_PASTE(KERNEL_PASTE(name, SUFFIX), SIZE)
#define TILE_STRIDE ((ptrdiff_t)MEDIAN_STRIDE(KEY))
#define TILE_LOOP(n)                                                                \
    for (ptrdiff_t at = 0; at < (n); at += (ptrdiff_t)MEDIAN_LANES(KEY))            \
        _Pragma("GCC ivdep") for (ptrdiff_t x = at; x < at + (ptrdiff_t)MEDIAN_LANES(KEY); x++)
#define TILE_COLUMN(wire, dx, place) v[wire] = columns[(place) * TILE_STRIDE + x + (dx) * c];
#define TILE_JOINED(wire, dx, place) v[wire] = joined[(place) * TILE_STRIDE + x + (dx) * c];

/* Sorts the SIZE - 1 samples that the two windows share in each of `n` columns. The row pointers are copied, because stores of
 * bytes might change them for all that the compiler knows. */
#define TILE_POINTER(k) const KEY *const row_##k = row[(k) + 1];
#define TILE_LOAD(k) v[k] = row_##k[x];
#define TILE_STORE(place, wire) columns[(place) * TILE_STRIDE + x] = v[wire];
static void TILE_NAME(tile_columns)(const KEY *const *row, KEY *columns, ptrdiff_t n) {
    NETWORK(EACH_COLUMN)(TILE_POINTER)
    TILE_LOOP(n) {
        KEY v[SIZE - 1];
        NETWORK(EACH_COLUMN)(TILE_LOAD)
        NETWORK(COLUMN)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
        NETWORK(COLUMN_OUT)(TILE_STORE)
    }
}
#undef TILE_POINTER
#undef TILE_LOAD
#undef TILE_STORE

/* Joins each sorted column with its right neighbours; `c` is the distance to the next. */
#if SIZE > 3
#define TILE_STORE(place, wire) joined[(place) * TILE_STRIDE + x] = v[wire];
static void TILE_NAME(tile_join)(const KEY *columns, KEY *joined, ptrdiff_t n, ptrdiff_t c) {
    TILE_LOOP(n) {
        KEY v[NETWORK(GROUP) * (SIZE - 1)];
        NETWORK(JOIN_IN)(TILE_JOINED, TILE_COLUMN)
        NETWORK(JOIN)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
        NETWORK(JOIN_OUT)(TILE_STORE)
    }
}
#undef TILE_STORE
#endif

/* The median of what CORE left of the shared rows, `middle`, and of the row's own samples. */
#define TILE_LOAD(k) v[k] = row[x + (k) * c];
#define TILE_SORTED(place, wire) sorted[place] = v[wire];
static inline __attribute__((always_inline)) void TILE_NAME(tile_sort)(const KEY *row, ptrdiff_t x, ptrdiff_t c, KEY *sorted) {
    KEY v[SIZE];
    NETWORK(EACH_ROW)(TILE_LOAD)
    NETWORK(ROW)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    NETWORK(ROW_OUT)(TILE_SORTED)
}
#undef TILE_LOAD
#undef TILE_SORTED
#define TILE_LOAD(k) v[k] = middle[k], v[SIZE + 1 + (k)] = sorted[k];
static inline __attribute__((always_inline)) KEY TILE_NAME(tile_pick)(const KEY *middle, const KEY *row, ptrdiff_t x, ptrdiff_t c) {
    KEY sorted[SIZE], v[2 * SIZE + 1];
    TILE_NAME(tile_sort)(row, x, c, sorted);
    NETWORK(EACH_ROW)(TILE_LOAD)
    v[SIZE] = middle[SIZE];
    NETWORK(PICK)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
    return v[0];
}
#undef TILE_LOAD

#define TILE_MIDDLE(place, wire) middle[place] = v[wire];
static void TILE_NAME(tile_medians)(const KEY *columns, const KEY *joined, const KEY *top, const KEY *bottom, KEY *out0, KEY *out1,
                                    ptrdiff_t n, ptrdiff_t c) {
    (void)columns, (void)joined; /* not every size reads both */
    TILE_LOOP(n) {
        KEY v[SIZE * (SIZE - 1)], middle[SIZE + 1];
        NETWORK(CORE_IN)(TILE_JOINED, TILE_COLUMN)
        NETWORK(CORE)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX)
        NETWORK(CORE_OUT)(TILE_MIDDLE)
        out0[x] = TILE_NAME(tile_pick)(middle, top, x, c);
        out1[x] = TILE_NAME(tile_pick)(middle, bottom, x, c);
    }
}
#undef TILE_MIDDLE

/* `n` medians of each of two rows from row[0] … row[SIZE], which point at the left edge of the first window. */
static void TILE_NAME(tile)(const KEY *const *row, KEY *out0, KEY *out1, ptrdiff_t n, ptrdiff_t c, KEY *scratch) {
    KEY *columns = scratch, *joined = columns + (SIZE - 1) * TILE_STRIDE;
    TILE_NAME(tile_columns)(row, columns, n + (SIZE - 1) * c);
#if SIZE > 3
    TILE_NAME(tile_join)(columns, joined, n + (SIZE - NETWORK(GROUP)) * c, c);
#endif
    TILE_NAME(tile_medians)(columns, joined, row[0], row[SIZE], out0, out1, n, c);
}

#undef NETWORK
#undef TILE_NAME
#undef TILE_STRIDE
#undef TILE_LOOP
#undef TILE_COLUMN
#undef TILE_JOINED
