/* Undoes the filters of LANES rows at once. Included once for each size of a lane with
 *
 *     LANE        bytes of a lane: 4 or 8; a pixel has as many or fewer
 *     LANE_TYPE   an unsigned integer of that size
 *     LANES       rows
 *     DOWN        the indices, in a vector behind which another stands, of that other's first lane and of all but its own last one
 *     SUFFIX
 *
 * A pixel needs the one on its left, so a row alone is a chain of dependent operations that leaves most of the processor idle.
 * Here every lane of a vector is a row, and each row is one pixel behind the row above it:
 *
 *     row 0   . . . x        x: the pixels of step t, row r at pixel t - r
 *     row 1   . . x
 *     row 2   . x
 *
 * Then the pixel on the left is the lane's own last result (a), the one above is the last result of the lane before (b), and the
 * one above on the left is what b was a step ago (c). */
#define WAVE_PASTE2(a, b) a##_##b
#define WAVE_PASTE(a, b) WAVE_PASTE2(a, b)
#define WAVE(name) WAVE_PASTE(name, SUFFIX)

typedef uint8_t WAVE(bytes) __attribute__((vector_size(LANE * LANES)));
typedef LANE_TYPE WAVE(lanes) __attribute__((vector_size(LANE * LANES)));

struct WAVE(wave) {
    WAVE(bytes) a, b;               /* see above; b becomes c */
    WAVE(bytes) sub, up, average, paeth; /* ones in the lanes whose row has this filter */
};

/* Of a, b and c the one next to a + b - c; among equals a, then b. Let lo and hi be the smaller and the larger of a and b. Where c
 * is not between them the answer is hi (c <= lo) or lo (c >= hi). Otherwise, with d1 = hi - c and d2 = c - lo, the distances of hi,
 * lo and c are d2, d1 and |d1 - d2|: the answer is hi if 2 d2 <= d1, else lo if 2 d1 <= d2, else c. Differences that stop at 0 and
 * sums that stop at 255 make both cases one: they set d2 or d1 to 0 where c is outside. Equal bytes make all answers the same. */
static inline __attribute__((always_inline)) WAVE(bytes) WAVE(predict)(WAVE(bytes) a, WAVE(bytes) b, WAVE(bytes) c) {
    WAVE(bytes) lo = MIN(a, b), hi = MAX(a, b);
    WAVE(bytes) d1 = MAX(hi, c) - c, d2 = c - MIN(lo, c);
    /* 2 d2 <= d1, without overflow: d2 <= d1 - d2 where d1 >= d2. */
    WAVE(bytes) far_hi = (WAVE(bytes))(MIN(d2, MAX(d1, d2) - d2) == d2), far_lo = (WAVE(bytes))(MIN(d1, MAX(d1, d2) - d1) == d1);
    WAVE(bytes) p = (lo & far_lo) | (c & ~far_lo);
    return (hi & far_hi) | (p & ~far_hi);
}

/* One step: `raw` has a pixel of every row, `top` the pixel above that of row 0 in its first lane. */
static inline __attribute__((always_inline)) WAVE(bytes) WAVE(step)(struct WAVE(wave) *wave, WAVE(bytes) raw, LANE_TYPE top) {
    WAVE(bytes) a = wave->a, c = wave->b;
    WAVE(lanes) first = {top}, last = (WAVE(lanes))a;
    WAVE(bytes) b = (WAVE(bytes))__builtin_shufflevector(last, first, DOWN);
    WAVE(bytes) both = (a & b) + (((a ^ b) >> 1) & 0x7f);
    WAVE(bytes) p = (a & wave->sub) | (b & wave->up) | (both & wave->average) | (WAVE(predict)(a, b, c) & wave->paeth);
    wave->b = b;
    return wave->a = raw + p;
}

/* A step at the begin or the end, where some rows have no pixel. Before its first pixel the result of a lane stays 0. */
static void WAVE(edge_step)(struct WAVE(wave) *wave, const struct group *g, ptrdiff_t t) {
    WAVE(bytes) raw = {0};
    LANE_TYPE top = 0;
    if (t < g->width) memcpy(&top, g->above + t * g->pixel, (size_t)g->pixel);
    for (ptrdiff_t r = 0; r < LANES; r++)
        if (t - r >= 0 && t - r < g->width)
            memcpy((unsigned char *)&raw + r * LANE, g->raw[r] + (t - r) * g->pixel, (size_t)g->pixel);
    raw = WAVE(step)(wave, raw, top);
    for (ptrdiff_t r = 0; r < LANES; r++)
        if (t - r >= 0 && t - r < g->width)
            memcpy(g->to[r] + (t - r) * g->pixel, (unsigned char *)&raw + r * LANE, (size_t)g->pixel);
}

/* Whole lanes are loaded and stored: what a store writes behind the pixel is overwritten by the row's next one. */
static inline __attribute__((always_inline)) ptrdiff_t WAVE(middle)(struct WAVE(wave) *wave, const struct group *g, ptrdiff_t pixel) {
    const ptrdiff_t end = g->width * pixel - LANE;
    const unsigned char *raw[LANES];
    unsigned char *to[LANES];
    struct WAVE(wave) w = *wave;
    ptrdiff_t at = (LANES - 1) * pixel;
    for (ptrdiff_t r = 0; r < LANES; r++) {
        raw[r] = g->raw[r] - r * pixel;
        to[r] = g->to[r] - r * pixel;
    }
    for (; at <= end; at += pixel) {
        WAVE(lanes) in = {0}, out;
        LANE_TYPE top;
        memcpy(&top, g->above + at, LANE);
        for (int r = 0; r < LANES; r++) {
            LANE_TYPE one;
            memcpy(&one, raw[r] + at, LANE);
            in[r] = one;
        }
        out = (WAVE(lanes))WAVE(step)(&w, (WAVE(bytes))in, top);
        for (int r = 0; r < LANES; r++) {
            LANE_TYPE one = out[r];
            memcpy(to[r] + at, &one, LANE);
        }
    }
    *wave = w;
    return at / pixel;
}

static void WAVE(unfilter)(const struct group *g) {
    struct WAVE(wave) wave = {0};
    for (int r = 0; r < LANES; r++) {
        memset((unsigned char *)&wave.sub + r * LANE, g->filter[r] == PNG_SUB ? 255 : 0, LANE);
        memset((unsigned char *)&wave.up + r * LANE, g->filter[r] == PNG_UP ? 255 : 0, LANE);
        memset((unsigned char *)&wave.average + r * LANE, g->filter[r] == PNG_AVERAGE ? 255 : 0, LANE);
        memset((unsigned char *)&wave.paeth + r * LANE, g->filter[r] == PNG_PAETH ? 255 : 0, LANE);
    }
    ptrdiff_t t = 0;
    for (; t < LANES - 1; t++) WAVE(edge_step)(&wave, g, t);
    if (g->pixel == LANE)
        t = WAVE(middle)(&wave, g, LANE);
    else if (g->pixel == LANE * 3 / 4)
        t = WAVE(middle)(&wave, g, LANE * 3 / 4);
    else
        t = WAVE(middle)(&wave, g, g->pixel);
    for (; t < g->width + LANES - 1; t++) WAVE(edge_step)(&wave, g, t);
}
#undef WAVE
#undef WAVE_PASTE
#undef WAVE_PASTE2
