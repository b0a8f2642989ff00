/* Medians by a sliding histogram (Huang, Yang and Tang, "A fast two-dimensional median filtering algorithm", 1979) with coarse
 * counts beside the fine ones, so that a long way is taken in big steps. Included by median_large.c with VALUE (an unsigned type),
 * SUFFIX and SHIFT (fine bins of a coarse one, as a power of two) defined. */
#define SLIDE_NAME(name) KERNEL_PASTE(name, SUFFIX)

/* Takes one value out of the window and another in. `under` is the number of values below bin `at`. */
static inline void SLIDE_NAME(exchange)(struct histogram *h, VALUE gone, VALUE come) {
    h->fine[gone]--;
    h->coarse[gone >> SHIFT]--;
    h->fine[come]++;
    h->coarse[come >> SHIFT]++;
    h->under += (come < h->at) - (gone < h->at);
}

/* Moves `at` to the bin that holds the value with `half` values before it. */
static inline VALUE SLIDE_NAME(find)(struct histogram *h, int32_t half) {
    const uint32_t inside = (1u << SHIFT) - 1;
    uint32_t at = h->at;
    int32_t under = h->under;
    while (under > half) {
        if (!(at & inside) && under - h->coarse[(at >> SHIFT) - 1] > half) {
            at -= inside + 1;
            under -= h->coarse[at >> SHIFT];
        } else {
            under -= h->fine[--at];
        }
    }
    while (under + h->fine[at] <= half) {
        if (!(at & inside) && under + h->coarse[at >> SHIFT] <= half) {
            under += h->coarse[at >> SHIFT];
            at += inside + 1;
        } else {
            under += h->fine[at++];
        }
    }
    h->at = at;
    h->under = under;
    return (VALUE)at;
}

/* The medians of one channel: `count` rows of `n`, in a path that runs to the right, one row down, to the left and so on, so that
 * a window is filled only once. rows[i] + left is the upper left value of the first window of row i, `c` the step to the next
 * window; out[i] + first is the first result, `out_c` the step to the next. The histogram must be empty. */
static void SLIDE_NAME(slide)(const VALUE *const *rows, ptrdiff_t left, ptrdiff_t c, int size, int count, ptrdiff_t n,
                              VALUE *const *out, ptrdiff_t first, ptrdiff_t out_c, struct histogram *shared) {
    struct histogram h = *shared;
    const int32_t half = size * size / 2;
    for (int j = 0; j < size; j++)
        for (int k = 0; k < size; k++) {
            VALUE v = rows[j][left + k * c];
            h.fine[v]++;
            h.coarse[v >> SHIFT]++;
        }
    ptrdiff_t x = 0, step = 1;
    for (int i = 0; i < count; i++) {
        if (i) {
            const VALUE *gone = rows[i - 1] + left + x * c, *come = rows[i - 1 + size] + left + x * c;
            for (int k = 0; k < size; k++) SLIDE_NAME(exchange)(&h, gone[k * c], come[k * c]);
        }
        out[i][first + x * out_c] = SLIDE_NAME(find)(&h, half);
        for (ptrdiff_t moved = 1; moved < n; moved++) {
            ptrdiff_t gone = left + (step > 0 ? x : x + size - 1) * c, come = left + (step > 0 ? x + size : x - 1) * c;
            for (int j = 0; j < size; j++) SLIDE_NAME(exchange)(&h, rows[i + j][gone], rows[i + j][come]);
            x += step;
            out[i][first + x * out_c] = SLIDE_NAME(find)(&h, half);
        }
        step = -step;
    }
}
#undef SLIDE_NAME
