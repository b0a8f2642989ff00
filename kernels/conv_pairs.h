/* Sums of whole weights and 8-bit samples by pairs: one instruction multiplies bytes by signed bytes and adds the products of two
 * neighbours. Rows are laced by twos, so that a sample's neighbour is the one below it. Rows of results are made by fours: a
 * window that begins in the upper row of a pair has its weights in other places of the pairs than one that begins in the lower
 * row, but both need the same pairs, and the next two rows of results need these without the first and one more. Included by
 * conv.c where there is such an instruction; the plan says whether the weights are small enough (conv.h). The sums are those of
 * CONV_GROUPS, modulo 2^16 within a group.
 *
 * Of a mask of w x h a vector of results takes w (h + 1) / 2 products and as many additions, but only w (h + 3) / 8 loads of
 * samples, nearly each of which meets two cache lines, and w (h + 1) / 8 loads of weights: 15, 15, 5 and 4 for 5 x 5, 120, 120, 34
 * and 30 for 15 x 15. Measured on Zen 4, of 512 bits: 1 clock a product and 1.4 with its addition, 1.6 such a load. Over 24
 * million pixels, one thread's CPU time through the public interface, in ms, before that row by row with a load for each product:
 * 5 x 5 gray8 7.8 (9.9), RGB8 23.1 (29.7), 15 x 15 gray8 43.8 (60.0), RGB8 138 (193). */
#if defined(__AVX512BW__)
typedef __m512i pairs;
#define PAIRS 32
#define PAIRS_LONG 4 /* vectors of each row that are made at a time; four rows of them leave room for the rest in registers */
#define PAIRS_MULTIPLY(bytes, weights) _mm512_maddubs_epi16(bytes, weights)
#define PAIRS_ADD(a, b) _mm512_add_epi16(a, b)
#define PAIRS_MORE(a, b) _mm512_adds_epu16(a, b)
#define PAIRS_LESS(a, b) _mm512_subs_epu16(a, b)
#define PAIRS_MIN(a, b) _mm512_min_epu16(a, b)
#define PAIRS_MAX(a, b) _mm512_max_epu16(a, b)
#define PAIRS_SHIFT(a, shift) _mm512_srl_epi16(a, shift)
#define PAIRS_ALL(v) _mm512_set1_epi16(v)
#define PAIRS_WEIGHTS(v) _mm512_set1_epi32(v)
#define PAIRS_HIGH(v) _mm512_srli_epi32(v, 16)
#define PAIRS_LEAST(a, b) (pairs_words) _mm512_min_epi32((pairs)(a), (pairs)(b))
#define PAIRS_MOST(a, b) (pairs_words) _mm512_max_epi32((pairs)(a), (pairs)(b))
#else
typedef __m256i pairs;
#define PAIRS 16
#define PAIRS_LONG 2
#define PAIRS_MULTIPLY(bytes, weights) _mm256_maddubs_epi16(bytes, weights)
#define PAIRS_ADD(a, b) _mm256_add_epi16(a, b)
#define PAIRS_MORE(a, b) _mm256_adds_epu16(a, b)
#define PAIRS_LESS(a, b) _mm256_subs_epu16(a, b)
#define PAIRS_MIN(a, b) _mm256_min_epu16(a, b)
#define PAIRS_MAX(a, b) _mm256_max_epu16(a, b)
#define PAIRS_SHIFT(a, shift) _mm256_srl_epi16(a, shift)
#define PAIRS_ALL(v) _mm256_set1_epi16(v)
#define PAIRS_WEIGHTS(v) _mm256_set1_epi32(v)
#define PAIRS_HIGH(v) _mm256_srli_epi32(v, 16)
#define PAIRS_LEAST(a, b) (pairs_words) _mm256_min_epi32((pairs)(a), (pairs)(b))
#define PAIRS_MOST(a, b) (pairs_words) _mm256_max_epi32((pairs)(a), (pairs)(b))
#endif
/* Samples that are made at a time where less than PAIRS_LONG vectors are left of a row; rows of pairs are rounded up to it. */
#define PAIRS_ROUND (2 * PAIRS)
#define PAIRS_FN static inline __attribute__((always_inline))

/* 32-bit lanes of a vector: sums and, on the way to the quotient, floats. */
typedef int32_t pairs_words __attribute__((vector_size(sizeof(pairs))));
typedef float pairs_floats __attribute__((vector_size(sizeof(pairs))));

PAIRS_FN pairs pairs_load(const uint16_t *from) {
    pairs v;
    memcpy(&v, from, sizeof v);
    return v;
}

static void pairs_lace(uint16_t *restrict to, const uint8_t *restrict upper, const uint8_t *restrict lower, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] = (uint16_t)(upper[i] | lower[i] << 8);
}

/* ---- from sums to samples */

/* What all sums have done to them. With `narrow` there is one group, and a quotient that 16 bits are enough for. */
struct pairs_end {
    bool absolute, narrow, shifted;
    pairs raised, more, less, top, add, factor; /* narrow */
    __m128i shift;
    pairs_words below, offset, wide_top; /* else */
};

static struct pairs_end pairs_end(const struct conv_plan *plan) {
    const struct conv_params *params = &plan->params;
    const int64_t raised = plan->below, more = params->offset - (params->absolute ? 0 : raised), top = conv_top(params, 255);
    struct pairs_end end = {.absolute = params->absolute, .shifted = params->shift >= 0};
    /* Beyond these the quotient of a sum beyond 16 bits would not surely be beyond a sample. */
    end.narrow = plan->pair_group_count == 1 && params->div <= 255 && more <= 65535 && more >= -65535;
    end.shift = _mm_cvtsi32_si128(params->shift);
    if (end.narrow) {
        const struct divide16 by = end.shifted ? (struct divide16){0, 0, params->shift} : divide16((uint32_t)params->div);
        end.raised = PAIRS_ALL((short)raised);
        end.more = PAIRS_ALL((short)(more > 0 ? more : 0));
        end.less = PAIRS_ALL((short)(more < 0 ? -more : 0));
        end.top = PAIRS_ALL((short)top);
        end.add = PAIRS_ALL((short)by.add);
        end.factor = PAIRS_ALL((short)by.factor);
        end.shift = _mm_cvtsi32_si128(by.shift);
    }
    end.below = (pairs_words)PAIRS_WEIGHTS((int)raised);
    end.offset = (pairs_words)PAIRS_WEIGHTS((int)params->offset);
    end.wide_top = (pairs_words)PAIRS_WEIGHTS((int)top);
    return end;
}

PAIRS_FN vector16 pairs_narrow(const struct pairs_end *end, pairs v) {
    if (end->absolute) v = PAIRS_MAX(PAIRS_LESS(v, end->raised), PAIRS_LESS(end->raised, v));
    v = PAIRS_MIN(PAIRS_LESS(PAIRS_MORE(v, end->more), end->less), end->top);
    if (!end->shifted) v = (pairs)vector16_high((vector16)PAIRS_ADD(v, end->add), (vector16)end->factor);
    return (vector16)PAIRS_SHIFT(v, end->shift);
}

/* As conv_quotients(), of sums that are raised. */
PAIRS_FN pairs_words pairs_wide(const struct conv_params *params, const struct pairs_end *end, pairs_words a) {
    a -= end->below;
    if (end->absolute) a = PAIRS_MOST(a, -a);
    a = PAIRS_LEAST(PAIRS_MOST(a + end->offset, (pairs_words){0}), end->wide_top);
    if (params->shift >= 0) return a >> params->shift;
    if (params->div <= CONV_FLOAT_DIV) {
        const pairs_floats sum = __builtin_convertvector(a, pairs_floats) + 0.5f;
        return __builtin_convertvector(sum * (1.0f / (float)params->div), pairs_words);
    }
    for (int i = 0; i < PAIRS / 2; i++) a[i] = (int32_t)(((double)a[i] + 0.5) * (1.0 / (double)params->div));
    return a;
}

/* Sums of vectors of each row: of one group, and of several, those in even places and those in odd ones. Functions of their own go
 * through them, or the compiler would keep them in registers that are not there. */
typedef pairs pairs_part[CONV_PAIR_ROWS][PAIRS_LONG];
typedef pairs_words pairs_sums[CONV_PAIR_ROWS][PAIRS_LONG][2];

static __attribute__((noinline)) void pairs_widen(pairs_sums sums, pairs_part part, bool first, int rows, int vectors) {
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < vectors; i++) {
            const pairs_words even = (pairs_words)part[r][i] & 0xffff, odd = (pairs_words)PAIRS_HIGH(part[r][i]);
            sums[r][i][0] = first ? even : sums[r][i][0] + even;
            sums[r][i][1] = first ? odd : sums[r][i][1] + odd;
        }
}

static __attribute__((noinline)) void pairs_store_wide(const struct conv_params *params, const struct pairs_end *end,
                                                       pairs_sums sums, uint8_t *const to[CONV_PAIR_ROWS], int rows, int vectors) {
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < vectors; i += 2) {
            vector16 part[2];
            for (int k = 0; k < 2; k++)
                part[k] = (vector16)(pairs_wide(params, end, sums[r][i + k][0]) | pairs_wide(params, end, sums[r][i + k][1]) << 16);
            vector16_bytes(to[r] + i * PAIRS, part[0], part[1]);
        }
}

/* ---- sums. Loops over rows and vectors are unrolled, or the sums would not stay in registers. */
#define PAIRS_UNROLL _Pragma("GCC unroll 4")

/* Adds pairs to the sums of rows `first` to last - 1; row[k] are the rows of pairs at the place where the windows begin. */
PAIRS_FN void pairs_add(pairs_part v, const struct conv_pair *pair, const struct conv_pair *end, const uint16_t *const *row,
                        int64_t at, int first, int last, int vectors) {
    for (; pair < end; pair++) {
        const uint16_t *from = row[pair->pair] + pair->at + at;
        pairs samples[PAIRS_LONG];
        PAIRS_UNROLL for (int i = 0; i < vectors; i++) samples[i] = pairs_load(from + i * PAIRS);
        PAIRS_UNROLL for (int r = first; r < last; r++) {
            const pairs weights = PAIRS_WEIGHTS((int)pair->weights[r]);
            PAIRS_UNROLL for (int i = 0; i < vectors; i++) v[r][i] = PAIRS_ADD(v[r][i], PAIRS_MULTIPLY(samples[i], weights));
        }
    }
}

/* Adds the pairs `from` to to - 1 to the sums of `rows` rows; pairs of the first and the last row of pairs belong to half of them
 * alone. */
PAIRS_FN void pairs_group(const struct conv_plan *plan, pairs_part v, int from, int to, const uint16_t *const *row, int64_t at,
                          int rows, int vectors) {
    const struct conv_pair *pair = plan->pairs;
    const int upper = to < plan->pairs_first_end ? to : plan->pairs_first_end, last = plan->pairs_last;
    const int begin = from > upper ? from : upper, end = to < last ? to : last, lower = from > last ? from : last;
    pairs_add(v, pair + from, pair + upper, row, at, 0, 2, vectors);
    pairs_add(v, pair + begin, pair + end, row, at, 0, rows, vectors);
    if (rows > 2) pairs_add(v, pair + lower, pair + to, row, at, 2, rows, vectors);
}

/* `vectors` vectors of samples of `rows` rows, from sample `at` on, to to[0] … to[rows - 1]. */
PAIRS_FN void pairs_make(const struct conv_plan *plan, const struct pairs_end *end, const uint16_t *const *row,
                         uint8_t *const to[CONV_PAIR_ROWS], int64_t at, int rows, int vectors) {
    pairs_sums sums;
    int g = 0, from = 0;
    do {
        pairs_part v;
        PAIRS_UNROLL for (int r = 0; r < rows; r++) PAIRS_UNROLL for (int i = 0; i < vectors; i++) v[r][i] =
            PAIRS_ALL((short)plan->pair_groups[g].raised[r]);
        pairs_group(plan, v, from, plan->pair_groups[g].end, row, at, rows, vectors);
        if (end->narrow) {
            PAIRS_UNROLL for (int r = 0; r < rows; r++) PAIRS_UNROLL for (int i = 0; i < vectors; i += 2)
                vector16_bytes(to[r] + i * PAIRS, pairs_narrow(end, v[r][i]), pairs_narrow(end, v[r][i + 1]));
            return;
        }
        pairs_part part;
        PAIRS_UNROLL for (int r = 0; r < rows; r++) PAIRS_UNROLL for (int i = 0; i < vectors; i++) part[r][i] = v[r][i];
        pairs_widen(sums, part, g == 0, rows, vectors);
        from = plan->pair_groups[g].end;
    } while (++g < plan->pair_group_count);
    pairs_store_wide(&plan->params, end, sums, to, rows, vectors);
}

/* `count` samples of `rows` rows of a block. As many of the rows `ahead` are fetched, a few lines at a time; to fetch the lines that
 * will be written as well made it slower. */
PAIRS_FN void pairs_rows(const struct conv_plan *plan, const struct pairs_end *end, const uint16_t *const *row,
                         uint8_t *const out[CONV_PAIR_ROWS], const char *const ahead[CONV_PAIR_ROWS], int count, int rows) {
    uint8_t *to[CONV_PAIR_ROWS];
    int64_t at = 0;
    for (; at + PAIRS_LONG * PAIRS <= count; at += PAIRS_LONG * PAIRS) {
        for (int r = 0; r < rows; r++) {
            to[r] = out[r] + at;
            for (int k = 0; k < PAIRS_LONG * PAIRS; k += 64) __builtin_prefetch(ahead[r] + at + k, 0, 2);
        }
        pairs_make(plan, end, row, to, at, rows, PAIRS_LONG);
    }
    for (; at < count; at += PAIRS_ROUND) {
        uint8_t bytes[CONV_PAIR_ROWS][PAIRS_ROUND];
        for (int r = 0; r < rows; r++) to[r] = bytes[r];
        pairs_make(plan, end, row, to, at, rows, PAIRS_ROUND / PAIRS);
        for (int r = 0; r < rows; r++) memcpy(out[r] + at, bytes[r], (size_t)(count - at < PAIRS_ROUND ? count - at : PAIRS_ROUND));
    }
}
static __attribute__((noinline)) void pairs_two(const struct conv_plan *plan, const struct pairs_end *end,
                                                const uint16_t *const *row, uint8_t *const out[CONV_PAIR_ROWS],
                                                const char *const ahead[CONV_PAIR_ROWS], int count) {
    pairs_rows(plan, end, row, out, ahead, count, 2);
}
static __attribute__((noinline)) void pairs_four(const struct conv_plan *plan, const struct pairs_end *end,
                                                 const uint16_t *const *row, uint8_t *const out[CONV_PAIR_ROWS],
                                                 const char *const ahead[CONV_PAIR_ROWS], int count) {
    pairs_rows(plan, end, row, out, ahead, count, CONV_PAIR_ROWS);
}

/* Samples `at` to at + count - 1 of all rows. Rows of results that are not wanted go to `spare`; the rows below the last one of the
 * input that they alone would need are replaced by it. */
static void pairs_block(const struct conv_plan *plan, const struct pairs_end *end, const imgpipe_rows *rows, int channels,
                        int64_t at, int count) {
    uint8_t spare[CONV_PAIRS_BLOCK], *out[CONV_PAIR_ROWS];
    const uint16_t *row[CONV_PAIR_SLOTS(CONV_MAX)];
    const char *ahead[CONV_PAIR_ROWS];
    uint16_t *const scratch = rows->scratch;
    const int slots = CONV_PAIR_SLOTS(plan->params.height), last = rows->count + plan->params.height - 2;
    const int64_t halo = (int64_t)(plan->params.width / 2) * channels;
    const int64_t length = (count + PAIRS_ROUND - 1) / PAIRS_ROUND * PAIRS_ROUND + 2 * halo;
    int made = 0; /* rows of pairs; each stays until `slots` more came */
    for (int y = 0; y < rows->count; y += CONV_PAIR_ROWS) {
        const int left = rows->count - y, until = y / 2 + slots - (left > 2 ? 0 : 1);
        for (; made < until; made++) {
            const uint8_t *upper = rows->in[2 * made], *lower = rows->in[2 * made < last ? 2 * made + 1 : last];
            pairs_lace(scratch + made % slots * CONV_PAIRS_STRIDE, upper + at - halo, lower + at - halo, length);
        }
        for (int k = 0; k < slots; k++) row[k] = scratch + (y / 2 + k) % slots * CONV_PAIRS_STRIDE;
        for (int r = 0; r < CONV_PAIR_ROWS; r++) {
            out[r] = r < left ? (uint8_t *)rows->out[y + r] + at : spare;
            /* Where there is nothing to fetch: something that is there already. */
            ahead[r] = rows->ahead && r < left ? (const char *)rows->ahead[y + r] + at : (const char *)row[0];
        }
        (left > 2 ? pairs_four : pairs_two)(plan, end, row, out, ahead, count);
    }
}
