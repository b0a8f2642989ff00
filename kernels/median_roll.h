/* Medians of 3 x 3 and 5 x 5 samples by networks that roll down the rows, a vector of neighbouring samples at a time: the samples
 * of a row are sorted once, when it comes, and two rows at a time are made of what lies in registers. Included by median_body.h
 * with SAMPLE and SUFFIX defined.
 *
 * Minima and maxima a result: 17 for 3 x 3 and 59 for 5 x 5, where sorted columns (median_tile.h) need 24 and 78. Floor by them on
 * a processor that makes 7.4 G of 512 bits a second, u8: 27 and 8.0 Gsamples/s; bare copies of the image reached 14. Measured
 * there, one thread, 24 Mpix, of a photograph and of noise: gray8 3 x 3 8.1 and 8.2, 5 x 5 3.9 and 2.8 Gpix/s, RGB8 2.7 and 2.7,
 * 1.2 and 1.2: 1.6 and 1.6, 4.2 and 3.2, 1.6 and 1.6, 3.4 and 3.4 times OpenCV 4.6 in the same run on a busy machine. Sorted
 * columns were at 1.0 and 3.3 times (gray8). */
#define ROLL_NAME(name) KERNEL_PASTE(name, SUFFIX)
#define ROLL_LEAST(a, b) KERNEL_PASTE(vector_min, SUFFIX)(a, b)
#define ROLL_MOST(a, b) KERNEL_PASTE(vector_max, SUFFIX)(a, b)
#define ROLL_MM(a, b)                                                                                                            \
    {                                                                                                                            \
        const median_vector low = ROLL_LEAST(v[a], v[b]), high = ROLL_MOST(v[a], v[b]);                                          \
        v[a] = low;                                                                                                              \
        v[b] = high;                                                                                                             \
    }
#define ROLL_MIN(a, b) v[a] = ROLL_LEAST(v[a], v[b]);
#define ROLL_MAX(a, b) v[b] = ROLL_MOST(v[a], v[b]);
#define ROLL_OUT(place, wire) out[place] = v[wire];
#define ROLL_AHEAD 256 /* bytes: memory is asked for before it is written, as no processor sees so many rows come */

/* Two vectors of results, of the rows y and y + 1; the last row may be alone. Behind the end of short rows nothing is written. */
VECTOR_FN void ROLL_NAME(roll_store)(const imgpipe_rows *rows, int y, ptrdiff_t x, ptrdiff_t n, median_vector top,
                                     median_vector bottom) {
    const median_vector result[2] = {top, bottom};
    for (int k = 0; k < 2 && y + k < rows->count; k++) {
        SAMPLE *to = (SAMPLE *)rows->out[y + k] + x;
        if (n == (ptrdiff_t)(sizeof *result / sizeof *to)) {
            vector_store(to, result[k]);
            __builtin_prefetch((char *)to + ROLL_AHEAD, 1);
        } else {
            memcpy(to, &result[k], (size_t)n * sizeof *to);
        }
    }
}

/* Row number i of those that come, or the last one in place of those that nobody needs. */
VECTOR_FN const SAMPLE *ROLL_NAME(roll_row)(const imgpipe_rows *rows, int size, int i) {
    return rows->in[i < rows->count + size - 1 ? i : rows->count + size - 2];
}

/* ---- 3 x 3 */

VECTOR_FN void ROLL_NAME(roll_sort_3)(const SAMPLE *row, ptrdiff_t c, median_vector out[3]) {
    median_vector v[3];
    for (int k = 0; k < 3; k++) v[k] = vector_load(row + (k - 1) * c);
    MEDIAN_ROW_3(ROLL_MM, ROLL_MIN, ROLL_MAX)
    MEDIAN_ROW_OUT_3(ROLL_OUT)
}
VECTOR_FN void ROLL_NAME(roll_middle_3)(const median_vector a[3], const median_vector b[3], median_vector out[4]) {
    median_vector v[6];
    for (int k = 0; k < 3; k++) v[k] = a[k], v[3 + k] = b[k];
    MEDIAN_MIDDLE_3(ROLL_MM, ROLL_MIN, ROLL_MAX)
    MEDIAN_MIDDLE_OUT_3(ROLL_OUT)
}
VECTOR_FN median_vector ROLL_NAME(roll_pick_3)(const median_vector middle[4], const median_vector row[3]) {
    median_vector v[7];
    for (int k = 0; k < 4; k++) v[k] = middle[k];
    for (int k = 0; k < 3; k++) v[4 + k] = row[k];
    MEDIAN_PICK_3(ROLL_MM, ROLL_MIN, ROLL_MAX)
    return v[0];
}

/* `n` samples of every row from sample x on, at most one vector. */
VECTOR_FN void ROLL_NAME(roll_3)(const imgpipe_rows *rows, ptrdiff_t c, ptrdiff_t x, ptrdiff_t n) {
    median_vector above[3], first[3], second[3], below[3], last[3], middle[4];
    ROLL_NAME(roll_sort_3)(ROLL_NAME(roll_row)(rows, 3, 0) + x, c, above);
    ROLL_NAME(roll_sort_3)(ROLL_NAME(roll_row)(rows, 3, 1) + x, c, first);
    ROLL_NAME(roll_sort_3)(ROLL_NAME(roll_row)(rows, 3, 2) + x, c, second);
    for (int y = 0; y < rows->count; y += 2) {
        ROLL_NAME(roll_sort_3)(ROLL_NAME(roll_row)(rows, 3, y + 3) + x, c, below);
        ROLL_NAME(roll_sort_3)(ROLL_NAME(roll_row)(rows, 3, y + 4) + x, c, last);
        ROLL_NAME(roll_middle_3)(first, second, middle);
        ROLL_NAME(roll_store)(rows, y, x, n, ROLL_NAME(roll_pick_3)(middle, above), ROLL_NAME(roll_pick_3)(middle, below));
        for (int k = 0; k < 3; k++) above[k] = second[k], first[k] = below[k], second[k] = last[k];
    }
}

/* ---- 5 x 5 */

VECTOR_FN void ROLL_NAME(roll_sort_5)(const SAMPLE *row, ptrdiff_t c, median_vector out[5]) {
    median_vector v[5];
    for (int k = 0; k < 5; k++) v[k] = vector_load(row + (k - 2) * c);
    MEDIAN_ROW_5(ROLL_MM, ROLL_MIN, ROLL_MAX)
    MEDIAN_ROW_OUT_5(ROLL_OUT)
}
VECTOR_FN void ROLL_NAME(roll_pair_5)(const median_vector a[5], const median_vector b[5], median_vector out[10]) {
    median_vector v[10];
    for (int k = 0; k < 5; k++) v[k] = a[k], v[5 + k] = b[k];
    MEDIAN_PAIR_5(ROLL_MM, ROLL_MIN, ROLL_MAX)
    MEDIAN_PAIR_OUT_5(ROLL_OUT)
}
VECTOR_FN void ROLL_NAME(roll_middle_5)(const median_vector a[10], const median_vector b[10], median_vector out[6]) {
    median_vector v[20];
    for (int k = 0; k < 10; k++) v[k] = a[k], v[10 + k] = b[k];
    MEDIAN_MIDDLE_5(ROLL_MM, ROLL_MIN, ROLL_MAX)
    MEDIAN_MIDDLE_OUT_5(ROLL_OUT)
}
VECTOR_FN median_vector ROLL_NAME(roll_pick_5)(const median_vector middle[6], const median_vector row[5]) {
    median_vector v[11];
    for (int k = 0; k < 6; k++) v[k] = middle[k];
    for (int k = 0; k < 5; k++) v[6 + k] = row[k];
    MEDIAN_PICK_5(ROLL_MM, ROLL_MIN, ROLL_MAX)
    return v[0];
}

/* `n` samples of every row from sample x on, at most one vector. Pairs, and the sorted rows that wait to be above a window, lie in
 * memory and change places by their pointers. */
VECTOR_FN void ROLL_NAME(roll_5)(const imgpipe_rows *rows, ptrdiff_t c, ptrdiff_t x, ptrdiff_t n) {
    median_vector pairs[2][10], waiting[3][5], odd[5], middle[6];
    median_vector *pair = pairs[0], *next = pairs[1], *above = waiting[0], *later = waiting[1], *last = waiting[2];
    ROLL_NAME(roll_sort_5)(ROLL_NAME(roll_row)(rows, 5, 0) + x, c, above);
    ROLL_NAME(roll_sort_5)(ROLL_NAME(roll_row)(rows, 5, 1) + x, c, odd);
    ROLL_NAME(roll_sort_5)(ROLL_NAME(roll_row)(rows, 5, 2) + x, c, later);
    ROLL_NAME(roll_pair_5)(odd, later, pair);
    ROLL_NAME(roll_sort_5)(ROLL_NAME(roll_row)(rows, 5, 3) + x, c, odd);
    ROLL_NAME(roll_sort_5)(ROLL_NAME(roll_row)(rows, 5, 4) + x, c, last);
    ROLL_NAME(roll_pair_5)(odd, last, next);
    for (int y = 0; y < rows->count; y += 2) {
        ROLL_NAME(roll_middle_5)(pair, next, middle);
        const median_vector top = ROLL_NAME(roll_pick_5)(middle, above);
        ROLL_NAME(roll_sort_5)(ROLL_NAME(roll_row)(rows, 5, y + 5) + x, c, odd);
        ROLL_NAME(roll_store)(rows, y, x, n, top, ROLL_NAME(roll_pick_5)(middle, odd));
        ROLL_NAME(roll_sort_5)(ROLL_NAME(roll_row)(rows, 5, y + 6) + x, c, above);
        ROLL_NAME(roll_pair_5)(odd, above, pair);
        median_vector *const swap = pair, *const turn = above;
        pair = next, next = swap;
        above = later, later = last, last = turn;
    }
}

/* All rows. The last vector of a row reaches back to be whole, if the row is long enough. */
VECTOR_FN void ROLL_NAME(roll_rows)(const imgpipe_rows *rows, int size, ptrdiff_t c) {
    const ptrdiff_t width = (ptrdiff_t)rows->out_width * c, lanes = sizeof(median_vector) / sizeof(SAMPLE);
    for (ptrdiff_t x = 0; x < width; x += lanes) {
        const ptrdiff_t from = x + lanes <= width || width < lanes ? x : width - lanes, n = width < lanes ? width : lanes;
        if (size == 3)
            ROLL_NAME(roll_3)(rows, c, from, n);
        else
            ROLL_NAME(roll_5)(rows, c, from, n);
        for (int y = 0; rows->ahead && y < rows->count; y++)
            kernel_ahead(rows, y, x * (int64_t)sizeof(SAMPLE), (int64_t)sizeof(median_vector));
    }
}
static void ROLL_NAME(roll_rows_3)(const imgpipe_rows *rows, ptrdiff_t c) {
    ROLL_NAME(roll_rows)(rows, 3, c);
}
static void ROLL_NAME(roll_rows_5)(const imgpipe_rows *rows, ptrdiff_t c) {
    ROLL_NAME(roll_rows)(rows, 5, c);
}
#undef ROLL_NAME
#undef ROLL_LEAST
#undef ROLL_MOST
#undef ROLL_MM
#undef ROLL_MIN
#undef ROLL_MAX
#undef ROLL_OUT
