/* The integer sums of one sample type. Included twice by box.c, with SAMPLE (the C type), PRODUCT (an integer that holds
 * BOX_MAX products of two samples) and NAME(x) (x with the type's suffix) defined.
 *
 * `state` holds, for every column, the sum of all rows of the window but its last. The three steps for a row: add the last
 * one, which gives the columns' sums, and take off the first one, which makes the state of the next row. */

static void NAME(begin)(void *state, const void *row, int64_t count, int channels) {
    uint32_t *restrict sums = state;
    const SAMPLE *p = row;
    (void)channels;
    for (int64_t i = 0; i < count; i++) sums[i] += p[i];
}

static void NAME(slide)(void *state, const void *enter, const void *leave, void *columns, int64_t at, int64_t count, int channels) {
    uint32_t *restrict sums = (uint32_t *)state + at;
    uint32_t *restrict out = (uint32_t *)columns + at;
    const SAMPLE *in = (const SAMPLE *)enter + at, *first = (const SAMPLE *)leave + at;
    (void)channels;
    for (int64_t i = 0; i < count; i++) {
        uint32_t sum = sums[i] + in[i];
        out[i] = sum;
        sums[i] = sum - first[i];
    }
}

/* What sample c of pixel p adds to its column. */
static inline PRODUCT NAME(product)(const SAMPLE *p, int c, int channels) {
    return c == channels - 1 ? (PRODUCT)p[c] : (PRODUCT)p[c] * p[channels - 1];
}

static void NAME(begin_alpha)(void *state, const void *row, int64_t count, int channels) {
    PRODUCT *restrict sums = state;
    const SAMPLE *p = row;
    for (int64_t i = 0; i < count; i += channels)
        for (int c = 0; c < channels; c++) sums[i + c] += NAME(product)(p + i, c, channels);
}

static inline void NAME(slide_pixels)(PRODUCT *restrict sums, const SAMPLE *in, const SAMPLE *first, PRODUCT *restrict out,
                                      int64_t count, int channels) {
    for (int64_t i = 0; i < count; i += channels)
        for (int c = 0; c < channels; c++) {
            PRODUCT sum = sums[i + c] + NAME(product)(in + i, c, channels);
            out[i + c] = sum;
            sums[i + c] = sum - NAME(product)(first + i, c, channels);
        }
}

static void NAME(slide_alpha)(void *state, const void *enter, const void *leave, void *columns, int64_t at, int64_t count,
                              int channels) {
    PRODUCT *sums = (PRODUCT *)state + at, *out = (PRODUCT *)columns + at;
    const SAMPLE *in = (const SAMPLE *)enter + at, *first = (const SAMPLE *)leave + at;
    if (channels == 4)
        NAME(slide_pixels)(sums, in, first, out, count, 4);
    else if (channels == 3)
        NAME(slide_pixels)(sums, in, first, out, count, 3);
    else
        NAME(slide_pixels)(sums, in, first, out, count, 2);
}

/* floor((S + h) / n) without a division. (S + h + 1/2) / n lies at least 1 / (2n) from every integer and has the same
 * floor; so an estimate that is closer than that, cut off, is exact.
 * In float32, for t = S + h < 2^23: t + 1/2 is exact, and its product with the rounded 1 / n is off by less than
 * 2^-23 (1 + 2^-24) times its value, which is below MAX + 1; box.c allows this where that is below 1 / (2n). */
static void NAME(finish_float)(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels) {
    const uint32_t *restrict sums = totals;
    SAMPLE *restrict p = out;
    uint32_t half = plan->n / 2;
    float scale = (float)(1.0 / plan->n);
    (void)channels;
    for (int64_t i = 0; i < count; i++) p[i] = (SAMPLE)(int32_t)(((float)(int32_t)(sums[i] + half) + 0.5f) * scale);
}

/* In double the same holds always: t < 2^41, so t + 1/2 is exact, and 2^16 * 2^-52 is below 1 / (2n) > 2^-25. */
static void NAME(finish32)(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels) {
    const uint32_t *restrict sums = totals;
    SAMPLE *restrict p = out;
    uint32_t half = plan->n / 2;
    double scale = 1.0 / plan->n;
    (void)channels;
    for (int64_t i = 0; i < count; i++) p[i] = (SAMPLE)(int32_t)(((double)(sums[i] + half) + 0.5) * scale);
}

/* The quotient of a colour's sum and alpha's. The estimate in double is off by less than 1, as its relative error is below
 * 2^-50 and its value below 2^16 + 1; the remainder, exact in 64 bits, says which way. */
static inline void NAME(finish_pixels)(const struct box_plan *plan, const uint64_t *restrict sums, SAMPLE *restrict p,
                                       int64_t count, int channels) {
    uint64_t half = plan->n / 2;
    double scale = 1.0 / plan->n;
    for (int64_t i = 0; i < count; i += channels) {
        uint64_t a = sums[i + channels - 1];
        SAMPLE alpha = (SAMPLE)(int32_t)((double_of(a + half) + 0.5) * scale);
        uint64_t divisor = a == 0 ? 1 : a;
        double inverse = 1.0 / (double)(int64_t)divisor;
        for (int c = 0; c < channels - 1; c++) {
            uint64_t top = sums[i + c] + a / 2;
            int64_t colour = (int64_t)((double)(int64_t)top * inverse);
            int64_t rest = (int64_t)(top - (uint64_t)colour * divisor);
            colour += (rest >= (int64_t)divisor) - (rest < 0);
            p[i + c] = alpha == 0 ? 0 : (SAMPLE)colour;
        }
        p[i + channels - 1] = alpha;
    }
}

static void NAME(finish_alpha)(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels) {
    if (channels == 4)
        NAME(finish_pixels)(plan, totals, out, count, 4);
    else if (channels == 3)
        NAME(finish_pixels)(plan, totals, out, count, 3);
    else
        NAME(finish_pixels)(plan, totals, out, count, 2);
}
