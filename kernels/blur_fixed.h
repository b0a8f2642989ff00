/* The first definition of blur.h on the CPU: 8-bit samples in 16 bits. Included by blur.c.
 *
 * As in the second, a block of columns is done for up to BLUR_ROWS output rows at a time. Compilers know floor(w p / 65536)
 * as the high half of a product, which every instruction set has for 16 bits. */

/* Pairs of taps that one loop adds; more take several. */
#define FIXED_PAIRS 8

/* S of `count` samples from x on: the middle and `pairs` pairs of taps from W_first on.
 * The first call for a sum `begins` it by `start` and the middle; one that `ends` it rounds to `out` what others leave in `sum`.
 * `pairs` and these two are constant in each call. */
static inline __attribute__((always_inline)) void fixed_of(uint16_t *restrict sum, uint8_t *restrict out, const uint16_t *x,
                                                           int64_t step, const uint16_t *w, int first, int pairs, bool begins, bool ends,
                                                           int start, int64_t count) {
    uint16_t weight[FIXED_PAIRS], middle = w[0];
    const uint16_t *before[FIXED_PAIRS], *after[FIXED_PAIRS];
    for (int k = 0; k < pairs; k++) {
        weight[k] = w[first + k];
        before[k] = x - (first + k) * step;
        after[k] = x + (first + k) * step;
    }
    /* No buffer overlaps another, of which the compiler loses sight when it inlines. */
#pragma GCC ivdep
    for (int64_t s = 0; s < count; s++) {
        uint16_t total = begins ? (uint16_t)(start + (uint16_t)blur_fixed_product(middle, x[s])) : sum[s];
#pragma GCC unroll 8
        for (int k = 0; k < pairs; k++) {
            uint16_t both = (uint16_t)(before[k][s] + after[k][s]);
            total = (uint16_t)(total + (uint16_t)blur_fixed_product(weight[k], both));
        }
        if (ends)
            out[s] = (uint8_t)(total >> BLUR_FIXED_BITS);
        else
            sum[s] = total;
    }
}

/* As fixed_of(), for any number of pairs up to FIXED_PAIRS. */
static inline __attribute__((always_inline)) void fixed_pairs(uint16_t *restrict sum, uint8_t *restrict out, const uint16_t *x,
                                                              int64_t step, const uint16_t *w, int first, int pairs, bool begins, bool ends,
                                                              int start, int64_t count) {
    switch (pairs) {
    case 0: fixed_of(sum, out, x, step, w, first, 0, begins, ends, start, count); break;
    case 1: fixed_of(sum, out, x, step, w, first, 1, begins, ends, start, count); break;
    case 2: fixed_of(sum, out, x, step, w, first, 2, begins, ends, start, count); break;
    case 3: fixed_of(sum, out, x, step, w, first, 3, begins, ends, start, count); break;
    case 4: fixed_of(sum, out, x, step, w, first, 4, begins, ends, start, count); break;
    case 5: fixed_of(sum, out, x, step, w, first, 5, begins, ends, start, count); break;
    case 6: fixed_of(sum, out, x, step, w, first, 6, begins, ends, start, count); break;
    case 7: fixed_of(sum, out, x, step, w, first, 7, begins, ends, start, count); break;
    default: fixed_of(sum, out, x, step, w, first, 8, begins, ends, start, count); break;
    }
}

/* Sums over rows: `count` is a multiple of 64. */
static void fixed_down(uint16_t *restrict sum, const uint16_t *x, int64_t step, const uint16_t *w, int radius, int64_t count) {
    count &= ~(int64_t)63;
    int start = (int)blur_fixed_start(radius);
    fixed_pairs(sum, NULL, x, step, w, 1, radius < FIXED_PAIRS ? radius : FIXED_PAIRS, true, false, start, count);
    for (int k = FIXED_PAIRS + 1; k <= radius; k += FIXED_PAIRS) {
        int pairs = radius + 1 - k < FIXED_PAIRS ? radius + 1 - k : FIXED_PAIRS;
        fixed_pairs(sum, NULL, x, step, w, k, pairs, false, false, 0, count);
    }
}

/* Sums over columns, and the samples that they make. */
static void fixed_along(uint16_t *restrict sum, uint8_t *restrict out, const uint16_t *x, int64_t step, const uint16_t *w,
                        int radius, int64_t count) {
    int start = (int)blur_fixed_start_along(radius);
    if (radius <= FIXED_PAIRS) {
        fixed_pairs(sum, out, x, step, w, 1, radius, true, true, start, count);
        return;
    }
    fixed_of(sum, NULL, x, step, w, 1, FIXED_PAIRS, true, false, start, count);
    int k = FIXED_PAIRS + 1;
    for (; k + FIXED_PAIRS <= radius; k += FIXED_PAIRS) fixed_of(sum, NULL, x, step, w, k, FIXED_PAIRS, false, false, 0, count);
    fixed_pairs(sum, out, x, step, w, k, radius + 1 - k, false, true, 0, count);
}

static void fixed_load(const uint8_t *restrict in, uint16_t *restrict out, int64_t count) {
    for (int64_t i = 0; i < count; i++) out[i] = (uint16_t)(in[i] << BLUR_FIXED_BITS);
}

/* V of `count` samples from sample `at` on (counted from the first of column 0), for `rows` output rows. */
static void fixed_vertical(const struct blur_plan *plan, const void *const *in, int rows, int64_t at, int64_t count,
                           const struct blur_fixed_layout *layout, uint16_t *source, uint16_t *vertical) {
    int64_t lanes = layout->lanes;
    for (int64_t s = 0; s < count; s += lanes) {
        int64_t n = count - s < lanes ? count - s : lanes;
        for (int k = 0; k < 2 * plan->ry + rows; k++) {
            uint16_t *to = source + k * lanes;
            fixed_load((const uint8_t *)in[k] + at + s, to, n);
            if (n < lanes) memset(to + n, 0, (size_t)(lanes - n) * sizeof(uint16_t));
        }
        for (int i = 0; i < rows; i++)
            fixed_down(vertical + i * layout->vertical_row + s, source + (plan->ry + i) * lanes, lanes, plan->fixed_y, plan->ry, lanes);
    }
}

static void fixed_rows(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct blur_plan *plan = stage->data;
    int channels = stage->in.format.channels;
    struct blur_fixed_layout layout = blur_fixed_layout(plan, channels, rows->out_width);
    int64_t halo = (int64_t)plan->rx * channels, width = rows->out_width * channels;
    uint16_t *source = (uint16_t *)(((uintptr_t)rows->scratch + 63) & ~(uintptr_t)63);
    uint16_t *vertical = source + layout.source, *sum = vertical + BLUR_ROWS * layout.vertical_row;
    for (int y = 0; y < rows->count; y += BLUR_ROWS) {
        int n = rows->count - y < BLUR_ROWS ? rows->count - y : BLUR_ROWS;
        for (int64_t at = 0; at < width; at += layout.block) {
            int64_t block = width - at < layout.block ? width - at : layout.block;
            fixed_vertical(plan, rows->in + y, n, at - halo, block + 2 * halo, &layout, source, vertical);
            for (int i = 0; i < n; i++)
                fixed_along(sum, (uint8_t *)rows->out[y + i] + at, vertical + i * layout.vertical_row + halo, channels, plan->fixed_x,
                            plan->rx, block);
        }
    }
}
