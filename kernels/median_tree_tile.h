/* The medians of two neighbouring rows by the networks of median_tree.h. Included by median_tree_body.h once for each SIZE.
 *
 * Wires are local arrays with constant indices, which the compiler turns into registers. The innermost loops have a constant
 * count, one cache line of keys, so that they become vector code without remainders; what they do beyond the last lane stays in
 * scratch. A list with n places is n arrays of BODY_PITCH keys in scratch, or n times four for sorted columns, whose planes follow
 * each other. `c` lanes further to the right are four columns further. */
#define NETWORK(name) KERNEL_PASTE(MEDIAN_TREE_##name, SIZE)
#define WIRES(name) KERNEL_PASTE(MEDIAN_TREE_##name##_WIRES, SIZE)
#define TILE_NAME(name) KERNEL_PASTE(BODY_NAME(name), SIZE)
#define TILE_LOOP(n)                                                             \
    for (ptrdiff_t at = 0; at < (n); at += (ptrdiff_t)TREE_KEYS(KEY))            \
        _Pragma("GCC ivdep") for (ptrdiff_t x = at; x < at + (ptrdiff_t)TREE_KEYS(KEY); x++)
/* Where column number `column` is in four planes. */
#define TILE_AT(column) ((column) % 4 * BODY_PITCH + (column) / 4 * c)

/* Sorts the SIZE - 1 samples that the two windows share in each column of one plane. The row pointers are copied, because stores of
 * bytes might change them for all that the compiler knows. */
#define TILE_SAMPLE(wire, place) v[wire] = own[place][x];
#define TILE_OUT(wire, place) columns[(place) * 4 * BODY_PITCH + plane + x] = v[wire];
TREE_NETWORK TILE_NAME(tree_columns)(const KEY *const *row, KEY *columns, ptrdiff_t plane, ptrdiff_t n) {
    const KEY *own[SIZE - 1];
    for (int k = 0; k < SIZE - 1; k++) own[k] = row[k + 1] + plane;
    TILE_LOOP(n) {
        KEY v[WIRES(COLUMN)];
        NETWORK(COLUMN)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX, TILE_SAMPLE, TILE_OUT)
    }
}
#undef TILE_SAMPLE
#undef TILE_OUT

/* Joins columns 3 to 6 of each tile. */
#define TILE_COLUMN(wire, i, place) v[wire] = columns[(place) * 4 * BODY_PITCH + TILE_AT((i) + 3) + x];
#define TILE_OUT(wire, place) joined[(place) * BODY_PITCH + x] = v[wire];
TREE_NETWORK TILE_NAME(tree_join)(const KEY *columns, KEY *joined, ptrdiff_t n, ptrdiff_t c) {
    TILE_LOOP(n) {
        KEY v[WIRES(JOIN)];
        NETWORK(JOIN)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX, TILE_COLUMN, TILE_OUT)
    }
}
#undef TILE_COLUMN
#undef TILE_OUT

/* What of the samples that all windows of a tile have may be a median. */
#define TILE_JOINED(wire, i, place) v[wire] = joined[(place) * BODY_PITCH + (i) * c + x];
#define TILE_COLUMN(wire, column, place) v[wire] = columns[(place) * 4 * BODY_PITCH + TILE_AT(column) + x];
#define TILE_OUT(wire, place) core[(place) * BODY_PITCH + x] = v[wire];
TREE_NETWORK TILE_NAME(tree_core)(const KEY *columns, const KEY *joined, KEY *core, ptrdiff_t n, ptrdiff_t c) {
    (void)columns; /* not every size reads it */
    TILE_LOOP(n) {
        KEY v[WIRES(CORE)];
        NETWORK(CORE)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX, TILE_JOINED, TILE_COLUMN, TILE_OUT)
    }
}
#undef TILE_JOINED
#undef TILE_COLUMN
#undef TILE_OUT

/* Sorts what the windows of a tile share of one of the two rows that only half of them have. */
#define TILE_SAMPLE(wire, place) v[wire] = row[TILE_AT((place) + 3) + x];
#define TILE_OUT(wire, place) sorted[(place) * BODY_PITCH + x] = v[wire];
TREE_NETWORK TILE_NAME(tree_row)(const KEY *row, KEY *sorted, ptrdiff_t n, ptrdiff_t c) {
    TILE_LOOP(n) {
        KEY v[WIRES(ROW)];
        NETWORK(ROW)(MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX, TILE_SAMPLE, TILE_OUT)
    }
}
#undef TILE_SAMPLE
#undef TILE_OUT

/* Two by two medians of the left (0) or right (1) half of each tile, to two planes of each of two rows. */
#define TILE_CORE(wire, place) v[wire] = core[(place) * BODY_PITCH + x];
#define TILE_COLUMN(wire, i, place) v[wire] = column_##i[(place) * 4 * BODY_PITCH + x];
#define TILE_ROW(wire, y, place) v[wire] = sorted[((y) * (SIZE - 3) + (place)) * BODY_PITCH + x];
#define TILE_SAMPLE(wire, i, y) v[wire] = row_##y[at_##i + x];
#define TILE_OUT(wire, i, y) out[(4 * (y) + (i)) * BODY_PITCH + x] = v[wire];
TREE_NETWORK TILE_NAME(tree_half)(const KEY *const *row, const KEY *columns, const KEY *core, const KEY *sorted, int half, KEY *out,
                                 ptrdiff_t n, ptrdiff_t c) {
    const ptrdiff_t at_0 = half ? TILE_AT(SIZE) : TILE_AT(1), at_1 = half ? TILE_AT(SIZE + 1) : TILE_AT(2);
    const ptrdiff_t at_2 = half ? TILE_AT(2) : TILE_AT(0), at_3 = half ? TILE_AT(SIZE + 2) : TILE_AT(SIZE);
    const KEY *const row_0 = row[0], *const row_1 = row[SIZE];
    const KEY *const column_0 = columns + at_0, *const column_1 = columns + at_1;
    const KEY *const column_2 = columns + at_2, *const column_3 = columns + at_3;
    TILE_LOOP(n) {
        KEY v[WIRES(HALF)];
        NETWORK(HALF)
        (MEDIAN_MM, MEDIAN_MIN, MEDIAN_MAX, TILE_CORE, TILE_COLUMN, TILE_ROW, TILE_SAMPLE, TREE_COPY, TREE_MIN3, TILE_OUT)
    }
}
#undef TILE_CORE
#undef TILE_COLUMN
#undef TILE_ROW
#undef TILE_SAMPLE
#undef TILE_OUT

/* The tiles of `n` lanes, from row[0] … row[SIZE] in planes, to four planes of each of two rows of results. */
static void TILE_NAME(tree_tile)(const KEY *const *row, KEY *results, ptrdiff_t n, ptrdiff_t c, KEY *scratch) {
    KEY *columns = scratch, *joined = columns + 4 * (SIZE - 1) * BODY_PITCH, *core = joined + 4 * (SIZE - 1) * BODY_PITCH;
    KEY *sorted = core + KERNEL_PASTE(MEDIAN_CORE, SIZE) * BODY_PITCH;
    for (ptrdiff_t p = 0; p < 4; p++) TILE_NAME(tree_columns)(row, columns, p * BODY_PITCH, n + (SIZE + 2 - p) / 4 * c);
    TILE_NAME(tree_join)(columns, joined, n + ((SIZE - 3) / 4 - 1) * c, c);
    TILE_NAME(tree_core)(columns, joined, core, n, c);
    TILE_NAME(tree_row)(row[0], sorted, n, c);
    TILE_NAME(tree_row)(row[SIZE], sorted + (SIZE - 3) * BODY_PITCH, n, c);
    for (int half = 0; half < 2; half++)
        TILE_NAME(tree_half)(row, columns, core, sorted, half, results + 2 * half * BODY_PITCH, n, c);
}

#undef NETWORK
#undef WIRES
#undef TILE_NAME
#undef TILE_LOOP
#undef TILE_AT
