/* Sums of whole weights and 8-bit samples by pairs: one instruction multiplies bytes by signed bytes and adds the products of two
 * neighbours. Rows are laced, so that a sample's neighbour is the one below it; every row is laced once, with the row below, and
 * serves all rows of results whose windows have both. Included by conv.c where there is such an instruction; the plan says whether
 * the weights are small enough (conv.h). The sums are those of CONV_GROUPS, modulo 2^16 within a group. */
#if defined(__AVX512BW__)
typedef __m512i pairs;
#define PAIRS 32
#define PAIRS_MULTIPLY(bytes, weights) _mm512_maddubs_epi16(bytes, weights)
#define PAIRS_ADD(a, b) _mm512_add_epi16(a, b)
#define PAIRS_MORE(a, b) _mm512_adds_epu16(a, b)
#define PAIRS_LESS(a, b) _mm512_subs_epu16(a, b)
#define PAIRS_MIN(a, b) _mm512_min_epu16(a, b)
#define PAIRS_MAX(a, b) _mm512_max_epu16(a, b)
#define PAIRS_SHIFT(a, shift) _mm512_srl_epi16(a, shift)
#define PAIRS_ALL(v) _mm512_set1_epi16(v)
#else
typedef __m256i pairs;
#define PAIRS 16
#define PAIRS_MULTIPLY(bytes, weights) _mm256_maddubs_epi16(bytes, weights)
#define PAIRS_ADD(a, b) _mm256_add_epi16(a, b)
#define PAIRS_MORE(a, b) _mm256_adds_epu16(a, b)
#define PAIRS_LESS(a, b) _mm256_subs_epu16(a, b)
#define PAIRS_MIN(a, b) _mm256_min_epu16(a, b)
#define PAIRS_MAX(a, b) _mm256_max_epu16(a, b)
#define PAIRS_SHIFT(a, shift) _mm256_srl_epi16(a, shift)
#define PAIRS_ALL(v) _mm256_set1_epi16(v)
#endif

/* Samples of a row in a block are rounded up to this. */
#define PAIRS_ROUND 64

static inline pairs pairs_load(const uint16_t *from) {
    pairs v;
    memcpy(&v, from, sizeof v);
    return v;
}

static void pairs_lace(uint16_t *restrict to, const uint8_t *restrict upper, const uint8_t *restrict lower, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] = (uint16_t)(upper[i] | lower[i] << 8);
}

/* v[i] = start + the sum over `n` pairs of rows from from[k] + at on. */
static inline __attribute__((always_inline)) void pairs_sum(pairs v[8], int start, const uint16_t *const *from,
                                                            const struct conv_pair *pair, int n, int64_t at, int vectors) {
    for (int i = 0; i < vectors; i++) v[i] = PAIRS_ALL((short)start);
    for (int k = 0; k < n; k++) {
        const pairs weights = PAIRS_ALL((short)pair[k].weights);
        const uint16_t *p = from[k] + at;
        for (int i = 0; i < vectors; i++) v[i] = PAIRS_ADD(v[i], PAIRS_MULTIPLY(pairs_load(p + i * PAIRS), weights));
    }
}

/* ---- one group, and a quotient that 16 bits are enough for: nothing goes through memory */

struct pairs_narrow {
    bool absolute;
    pairs raised, more, less, top, add, factor; /* factor 0: only shifted */
    __m128i shift;
};

/* False if 16 bits are not enough: then the quotient of a sum beyond 16 bits would not surely be beyond a sample. */
static bool pairs_narrow(const struct conv_plan *plan, struct pairs_narrow *narrow) {
    const struct conv_params *params = &plan->params;
    const int64_t raised = plan->pairs_below, more = params->offset - (params->absolute ? 0 : raised);
    if (plan->pair_group_count != 1 || params->div > 255 || more > 65535 || more < -65535) return false;
    const bool shifted = params->shift >= 0;
    const struct divide16 by = shifted ? (struct divide16){0, 0, params->shift} : divide16((uint32_t)params->div);
    *narrow = (struct pairs_narrow){params->absolute,
                                    PAIRS_ALL((short)raised),
                                    PAIRS_ALL((short)(more > 0 ? more : 0)),
                                    PAIRS_ALL((short)(more < 0 ? -more : 0)),
                                    PAIRS_ALL((short)conv_top(params, 255)),
                                    PAIRS_ALL((short)by.add),
                                    PAIRS_ALL((short)by.factor),
                                    _mm_cvtsi32_si128(by.shift)};
    return true;
}

static inline __attribute__((always_inline)) vector16 pairs_quotient(const struct pairs_narrow *narrow, pairs v, bool absolute,
                                                                     bool shifted) {
    if (absolute) v = PAIRS_MAX(PAIRS_LESS(v, narrow->raised), PAIRS_LESS(narrow->raised, v));
    v = PAIRS_MIN(PAIRS_LESS(PAIRS_MORE(v, narrow->more), narrow->less), narrow->top);
    if (!shifted) v = (pairs)vector16_high((vector16)PAIRS_ADD(v, narrow->add), (vector16)narrow->factor);
    return (vector16)PAIRS_SHIFT(v, narrow->shift);
}

static inline __attribute__((always_inline)) void pairs_row_narrow(const struct conv_plan *plan, const struct pairs_narrow *narrow,
                                                                   const uint16_t *const *from, uint8_t *out, int count,
                                                                   bool absolute, bool shifted) {
    const int start = plan->pair_groups[0].raised;
    pairs v[8];
    int64_t at = 0;
    for (; at + 2 * PAIRS_ROUND <= count; at += 2 * PAIRS_ROUND) {
        pairs_sum(v, start, from, plan->pairs, plan->pair_count, at, 2 * PAIRS_ROUND / PAIRS);
        for (int i = 0; i < 2 * PAIRS_ROUND / PAIRS; i += 2)
            vector16_bytes(out + at + i * PAIRS, pairs_quotient(narrow, v[i], absolute, shifted),
                           pairs_quotient(narrow, v[i + 1], absolute, shifted));
    }
    for (; at < count; at += PAIRS_ROUND) {
        uint8_t bytes[PAIRS_ROUND];
        pairs_sum(v, start, from, plan->pairs, plan->pair_count, at, PAIRS_ROUND / PAIRS);
        for (int i = 0; i < PAIRS_ROUND / PAIRS; i += 2)
            vector16_bytes(bytes + i * PAIRS, pairs_quotient(narrow, v[i], absolute, shifted),
                           pairs_quotient(narrow, v[i + 1], absolute, shifted));
        memcpy(out + at, bytes, (size_t)(count - at < PAIRS_ROUND ? count - at : PAIRS_ROUND));
    }
}

/* ---- any whole numbers */

/* sums[i] = `start` + part[i], and + sums[i] if there are `many` groups, with what conv_quotients() does before it divides. */
static inline __attribute__((always_inline)) void pairs_clamp(const struct conv_params *params, const uint16_t *restrict part,
                                                              int32_t *restrict sums, int32_t start, int count, bool many,
                                                              bool absolute) {
    const int32_t offset = (int32_t)params->offset, top = conv_top(params, 255);
    for (int i = 0; i < count; i++) {
        int32_t a = start + part[i] + (many ? sums[i] : 0);
        a = (absolute && a < 0 ? -a : a) + offset;
        a = a > 0 ? a : 0;
        sums[i] = a < top ? a : top;
    }
}

/* conv_quotients() and conv_store() in two walks. Not inline, or the compiler forgets that nothing overlaps. */
static __attribute__((noinline)) void pairs_finish(const struct conv_plan *plan, const uint16_t *restrict part,
                                                   int32_t *restrict sums, uint8_t *restrict out, int count) {
    const struct conv_params *params = &plan->params;
    const int32_t start = -(int32_t)plan->pairs_below, shift = params->shift;
    if (plan->pair_group_count > 1 && params->absolute)
        pairs_clamp(params, part, sums, start, count, true, true);
    else if (plan->pair_group_count > 1)
        pairs_clamp(params, part, sums, start, count, true, false);
    else if (params->absolute)
        pairs_clamp(params, part, sums, start, count, false, true);
    else
        pairs_clamp(params, part, sums, start, count, false, false);
    if (shift >= 0) {
        for (int i = 0; i < count; i++) out[i] = (uint8_t)(sums[i] >> shift);
    } else if (params->div <= CONV_FLOAT_DIV) {
        const float inverse = 1.0f / (float)params->div;
        for (int i = 0; i < count; i++) out[i] = (uint8_t)(int32_t)(((float)sums[i] + 0.5f) * inverse);
    } else {
        const double inverse = 1.0 / (double)params->div;
        for (int i = 0; i < count; i++) out[i] = (uint8_t)(int32_t)(((double)sums[i] + 0.5) * inverse);
    }
}

static inline __attribute__((always_inline)) void pairs_store(uint16_t *to, const pairs *v, int vectors) {
    for (int i = 0; i < vectors; i++) memcpy(to + i * PAIRS, &v[i], sizeof v[i]);
}

static void pairs_row_wide(const struct conv_plan *plan, const uint16_t *const *from, uint8_t *out, int count) {
    uint16_t part[CONV_PAIRS_BLOCK];
    int32_t sums[CONV_PAIRS_BLOCK];
    pairs v[8];
    for (int g = 0, first = 0; g < plan->pair_group_count; first = plan->pair_groups[g++].end) {
        const int n = plan->pair_groups[g].end - first, start = plan->pair_groups[g].raised;
        int64_t at = 0;
        if (g == 1)
            for (int i = 0; i < count; i++) sums[i] = part[i];
        else if (g > 1)
            for (int i = 0; i < count; i++) sums[i] += part[i];
        for (; at + 2 * PAIRS_ROUND <= count; at += 2 * PAIRS_ROUND) {
            pairs_sum(v, start, from + first, plan->pairs + first, n, at, 2 * PAIRS_ROUND / PAIRS);
            pairs_store(part + at, v, 2 * PAIRS_ROUND / PAIRS);
        }
        for (; at < count; at += PAIRS_ROUND) {
            pairs_sum(v, start, from + first, plan->pairs + first, n, at, PAIRS_ROUND / PAIRS);
            pairs_store(part + at, v, PAIRS_ROUND / PAIRS);
        }
    }
    pairs_finish(plan, part, sums, out, count);
}

/* One row of a block, `count` samples; from[k] are the laced rows of pair k, at the place where it meets the first sample. */
static void pairs_row(const struct conv_plan *plan, const struct pairs_narrow *narrow, const uint16_t *const *from, uint8_t *out,
                      int count) {
    const bool shifted = plan->params.shift >= 0;
    if (!narrow)
        pairs_row_wide(plan, from, out, count);
    else if (narrow->absolute && shifted)
        pairs_row_narrow(plan, narrow, from, out, count, true, true);
    else if (narrow->absolute)
        pairs_row_narrow(plan, narrow, from, out, count, true, false);
    else if (shifted)
        pairs_row_narrow(plan, narrow, from, out, count, false, true);
    else
        pairs_row_narrow(plan, narrow, from, out, count, false, false);
}

/* Samples `at` to at + count - 1 of all rows. */
static void pairs_block(const struct conv_plan *plan, const imgpipe_rows *rows, int channels, int64_t at, int count) {
    const uint16_t *from[CONV_PAIRS];
    uint16_t *laced[CONV_MAX]; /* row r of the window at hand and the one below it */
    struct pairs_narrow narrow = {.absolute = false};
    const bool fits = pairs_narrow(plan, &narrow);
    const int slots = plan->params.height - 1;
    const int64_t halo = (int64_t)(plan->params.width / 2) * channels;
    const int64_t length = (count + PAIRS_ROUND - 1) / PAIRS_ROUND * PAIRS_ROUND + 2 * halo;
    for (int r = 0; r < slots; r++) laced[r] = (uint16_t *)rows->scratch + r * CONV_PAIRS_STRIDE;
    for (int y = 0; y < rows->count; y++) {
        for (int r = y ? slots - 1 : 0; r < slots; r++) {
            const uint8_t *upper = rows->in[y + r], *lower = rows->in[y + r + 1];
            pairs_lace(laced[r], upper + at - halo, lower + at - halo, length);
        }
        for (int k = 0; k < plan->pair_count; k++) from[k] = laced[plan->pairs[k].y] + plan->pairs[k].x * channels;
        pairs_row(plan, fits ? &narrow : NULL, from, (uint8_t *)rows->out[y] + at, count);
        uint16_t *top = laced[0];
        memmove(laced, laced + 1, (size_t)(slots - 1) * sizeof *laced);
        laced[slots - 1] = top;
    }
}
