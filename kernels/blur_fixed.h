/* The first definition of blur.h on the CPU: 8-bit samples in 16 bits. Included by blur.c.
 *
 * As in the second, a block of columns is done for up to BLUR_ROWS output rows at a time. floor(w p / 65536) is the high half of
 * a product, an instruction for 16 bits. With a radius of 6 a pass needs 7 of them and 12 additions for a vector of samples. */

#include "vector16.h"

/* Vectors of a row at a time, so that a weight is read once for all of them. */
#define FIXED_DOWN 2
#define FIXED_ALONG 4
#define FIXED_UNROLL _Pragma("GCC unroll 4")

/* V of two rows that follow each other, the first around x, for `count` samples, a multiple of FIXED_DOWN vectors. The rows that
 * are k and k - 1 away above, and k + 1 and k below the first, serve both, so each is read once. */
static void fixed_down(uint16_t *restrict first, uint16_t *restrict second, const uint16_t *x, int64_t step, const uint16_t *w,
                       int radius, int64_t count) {
    vector16 start = vector16_all((uint16_t)blur_fixed_start(radius));
    for (int64_t s = 0; s < count; s += FIXED_DOWN * VECTOR16) {
        const uint16_t *up = x + s, *down = x + s + step;
        vector16 above[FIXED_DOWN], below[FIXED_DOWN], sum[FIXED_DOWN], next[FIXED_DOWN], weight = vector16_all(w[0]);
        FIXED_UNROLL
        for (int j = 0; j < FIXED_DOWN; j++) {
            above[j] = vector16_load(up + j * VECTOR16);
            below[j] = vector16_load(down + j * VECTOR16);
            sum[j] = start + vector16_high(weight, above[j]);
            next[j] = start + vector16_high(weight, below[j]);
        }
        for (int k = 1; k <= radius; k++) {
            up -= step;
            down += step;
            weight = vector16_all(w[k]);
            FIXED_UNROLL
            for (int j = 0; j < FIXED_DOWN; j++) {
                vector16 higher = vector16_load(up + j * VECTOR16), lower = vector16_load(down + j * VECTOR16);
                sum[j] += vector16_high(weight, higher + below[j]);
                next[j] += vector16_high(weight, above[j] + lower);
                above[j] = higher;
                below[j] = lower;
            }
        }
        FIXED_UNROLL
        for (int j = 0; j < FIXED_DOWN; j++) {
            vector16_store(first + s + j * VECTOR16, sum[j]);
            vector16_store(second + s + j * VECTOR16, next[j]);
        }
    }
}

/* Adds the pairs of taps k ... last to FIXED_ALONG vectors of sums around x. */
static inline __attribute__((always_inline)) void fixed_pairs(vector16 sum[FIXED_ALONG], const uint16_t *x, int64_t step,
                                                              const uint16_t *w, int k, int last) {
    for (const uint16_t *before = x - k * step, *after = x + k * step; k <= last; k++, before -= step, after += step) {
        vector16 weight = vector16_all(w[k]);
        FIXED_UNROLL
        for (int j = 0; j < FIXED_ALONG; j++)
            sum[j] += vector16_high(weight, vector16_load(before + j * VECTOR16) + vector16_load(after + j * VECTOR16));
    }
}

#if defined(__AVX512BW__)
/* The same from tap 1 on, for taps at most a vector away: a load that crosses cache lines takes twice the time of others, so
 * what comes after x is shifted together from the vectors around it. */
static inline __attribute__((always_inline)) void fixed_near(vector16 sum[FIXED_ALONG], const vector16 middle[FIXED_ALONG],
                                                             const uint16_t *x, int step, const uint16_t *w, int last) {
    vector16 index, more = vector16_load(x + FIXED_ALONG * VECTOR16);
    for (int i = 0; i < VECTOR16; i++) index[i] = (uint16_t)i;
    const uint16_t *before = x;
    for (int k = 1; k <= last; k++) {
        vector16 weight = vector16_all(w[k]);
        index += (uint16_t)step;
        before -= step;
        FIXED_UNROLL
        for (int j = 0; j < FIXED_ALONG; j++) {
            vector16 right = j + 1 < FIXED_ALONG ? middle[j + 1] : more;
            vector16 after = (vector16)_mm512_permutex2var_epi16((__m512i)middle[j], (__m512i)index, (__m512i)right);
            sum[j] += vector16_high(weight, vector16_load(before + j * VECTOR16) + after);
        }
    }
}
#endif

/* Sums over columns around x, and the samples that they make: FIXED_ALONG vectors. */
static inline __attribute__((always_inline)) void fixed_vectors(uint8_t *out, const uint16_t *x, int step, const uint16_t *w,
                                                                int radius) {
    vector16 middle[FIXED_ALONG], sum[FIXED_ALONG], weight = vector16_all(w[0]);
    vector16 start = vector16_all((uint16_t)blur_fixed_start_along(radius));
    FIXED_UNROLL
    for (int j = 0; j < FIXED_ALONG; j++) {
        middle[j] = vector16_load(x + j * VECTOR16);
        sum[j] = start + vector16_high(weight, middle[j]);
    }
    int done = 0;
#if defined(__AVX512BW__)
    done = radius * step <= VECTOR16 ? radius : VECTOR16 / step;
    fixed_near(sum, middle, x, step, w, done);
#endif
    fixed_pairs(sum, x, step, w, done + 1, radius);
    FIXED_UNROLL
    for (int j = 0; j < FIXED_ALONG; j += 2)
        vector16_bytes(out + j * VECTOR16, sum[j] >> BLUR_FIXED_BITS, sum[j + 1] >> BLUR_FIXED_BITS);
}

/* A whole row; of the last vectors only what belongs to it is kept. Behind x + count there is room for them. */
static void fixed_along(uint8_t *restrict out, const uint16_t *x, int step, const uint16_t *w, int radius, int64_t count) {
    int64_t s = 0, each = FIXED_ALONG * VECTOR16;
    uint8_t last[FIXED_ALONG * VECTOR16];
    for (; s + each <= count; s += each) fixed_vectors(out + s, x + s, step, w, radius);
    if (s == count) return;
    fixed_vectors(last, x + s, step, w, radius);
    memcpy(out + s, last, (size_t)(count - s));
}

static void fixed_load(const uint8_t *restrict in, uint16_t *restrict out, int64_t count) {
    for (int64_t i = 0; i < count; i++) out[i] = (uint16_t)(in[i] << BLUR_FIXED_BITS);
}

/* V of `count` samples from sample `at` on (counted from the first of column 0), for `rows` output rows; a row more if they are
 * odd. What the last lanes hold beyond `count` is of no use, but some value. */
static void fixed_vertical(const struct blur_plan *plan, const void *const *in, int rows, int64_t at, int64_t count,
                           const struct blur_fixed_layout *layout, uint16_t *source, uint16_t *vertical) {
    int64_t lanes = layout->lanes, need = 2 * plan->ry + rows, made = need + rows % 2;
    for (int64_t s = 0; s < count; s += lanes) {
        int64_t n = count - s < lanes ? count - s : lanes;
        if (n < lanes || rows % 2) memset(source, 0, (size_t)(lanes * made) * sizeof(uint16_t));
        for (int64_t k = 0; k < need; k++) fixed_load((const uint8_t *)in[k] + at + s, source + k * lanes, n);
        for (int i = 0; i < rows; i += 2) {
            uint16_t *first = vertical + i * layout->vertical_row + s;
            fixed_down(first, first + layout->vertical_row, source + (plan->ry + i) * lanes, lanes, plan->fixed_y, plan->ry, lanes);
        }
    }
}

static void fixed_rows(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct blur_plan *plan = stage->data;
    int channels = stage->in.format.channels;
    struct blur_fixed_layout layout = blur_fixed_layout(plan, channels, rows->out_width);
    int64_t halo = (int64_t)plan->rx * channels, width = rows->out_width * channels;
    uint16_t *source = (uint16_t *)(((uintptr_t)rows->scratch + 63) & ~(uintptr_t)63);
    uint16_t *vertical = source + layout.source;
    for (int y = 0; y < rows->count; y += BLUR_ROWS) {
        int n = rows->count - y < BLUR_ROWS ? rows->count - y : BLUR_ROWS;
        for (int64_t at = 0; at < width; at += layout.block) {
            int64_t block = width - at < layout.block ? width - at : layout.block;
            fixed_vertical(plan, rows->in + y, n, at - halo, block + 2 * halo, &layout, source, vertical);
            for (int i = 0; i < n; i++) {
                kernel_ahead(rows, y + i, at, block);
                fixed_along((uint8_t *)rows->out[y + i] + at, vertical + i * layout.vertical_row + halo, channels, plan->fixed_x,
                            plan->rx, block);
            }
        }
    }
}
