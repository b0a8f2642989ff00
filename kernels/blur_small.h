/* The first definition of blur.h on the CPU for radii of at most BLUR_SMALL_RADIUS and 1 or 3 channels, where the window of a column
 * fits the registers. Included by blur.c. blur_fixed.h does all others.
 *
 * A vector of 2 n bytes becomes two of n samples, the even and the odd ones, in one instruction each: as x << 8, for the average of two
 * such numbers is p = 128 (a + b). The sums over rows are kept so, even samples in the first half of a row, odd ones in the second;
 * of one channel, the samples k to the side are then in the other half or k / 2 beside, so that each vector read serves an even and
 * an odd result: 12 unaligned reads for 2 vectors and not 24. An odd result lies where its byte has to be, and the two are one byte
 * vector after a shift each.
 *
 * SMALL_ROWS output rows are made in one walk along the row; their input is read in place, each vector of it once. The sums over rows
 * of SMALL_BLOCK samples are in L1, with SMALL_LEAD more on either side, which are kept from block to block.
 *
 * Operations for a vector of samples and radius 6: 7 products, 6 averages and 7 additions down, 7 products and 13 additions along:
 * 20 cycles on Zen 4 with 512 bits (two operations a cycle, of them one product). Measured there, with everything in the caches: 25
 * cycles of one channel and 28 of three, of which 12 down. Over 24 million pixels 2.5 to 3.2 times OpenCV 4.6's rate (one channel) and
 * 2.2 to 2.5 times (three), when a sixth of that time still went into a copy of the caller's rows. */
#include "vector16.h"

#define SMALL_ROWS 8
#define SMALL_BLOCK 1024
#define SMALL_LEAD 64
#define SMALL_HALF ((SMALL_BLOCK + 2 * SMALL_LEAD) / 2)
/* Rows begin at cache lines, but not all at the same sets of the cache. */
#define SMALL_PITCH (2 * SMALL_HALF + 32)
_Static_assert(sizeof(uint16_t) * SMALL_ROWS * SMALL_PITCH + 64 <= BLUR_SMALL_SCRATCH, "");
_Static_assert(SMALL_BLOCK % 64 == 0 && 3 * BLUR_SMALL_RADIUS <= SMALL_LEAD && SMALL_LEAD <= IMGPIPE_ROW_SLACK, "");
#define SMALL_UNROLL _Pragma("GCC unroll 24")
#define SMALL_INLINE static inline __attribute__((always_inline))

/* 256 times the even or the odd ones of 2 * VECTOR16 samples. */
SMALL_INLINE vector16 small_load(const uint8_t *p, int odd) {
    vector16 v;
    memcpy(&v, p, sizeof v);
    return odd ? v & vector16_all(0xff00) : v << 8;
}

/* V of one half. `radius` is a constant in each call, so that the window stays in registers. */
SMALL_INLINE void small_down_half(const uint8_t *const *in, int64_t at, uint16_t *out, const vector16 *weight, int radius,
                                  int odd) {
    vector16 x[2 * BLUR_SMALL_RADIUS + SMALL_ROWS];
    /* floor(m / 2) + start for the product m of the middle, which has twice the scale. */
    const vector16 start = vector16_all((uint16_t)(2 * blur_fixed_start(radius) - 1));
    SMALL_UNROLL
    for (int k = 0; k < 2 * radius; k++) x[k] = small_load(in[k] + at, odd);
    SMALL_UNROLL
    for (int i = 0; i < SMALL_ROWS; i++) {
        x[i + 2 * radius] = small_load(in[i + 2 * radius] + at, odd);
        vector16 sum = vector16_average(vector16_high(weight[0], x[i + radius]), start);
        SMALL_UNROLL
        for (int k = 1; k <= radius; k++) sum += vector16_high(weight[k], vector16_average(x[i + radius - k], x[i + radius + k]));
        vector16_store(out + i * SMALL_PITCH, sum);
    }
}

SMALL_INLINE void small_down_radius(const uint8_t *const *in, int64_t at, int64_t end, uint16_t *out, const uint16_t *w,
                                    int radius) {
    vector16 weight[BLUR_SMALL_RADIUS + 1];
    for (int k = 0; k <= radius; k++) weight[k] = vector16_all(w[k]);
    for (; at < end; at += 2 * VECTOR16, out += VECTOR16) {
        small_down_half(in, at, out, weight, radius, 0);
        small_down_half(in, at, out + SMALL_HALF, weight, radius, 1);
    }
}

/* V of samples `at` to `end`, a multiple of 64 of them, of SMALL_ROWS rows. */
static void small_down(const uint8_t *const *in, int64_t at, int64_t end, uint16_t *out, const uint16_t *w, int radius) {
    switch (radius) {
    case 1: small_down_radius(in, at, end, out, w, 1); break;
    case 2: small_down_radius(in, at, end, out, w, 2); break;
    case 3: small_down_radius(in, at, end, out, w, 3); break;
    case 4: small_down_radius(in, at, end, out, w, 4); break;
    case 5: small_down_radius(in, at, end, out, w, 5); break;
    case 6: small_down_radius(in, at, end, out, w, 6); break;
    case 7: small_down_radius(in, at, end, out, w, 7); break;
    default: small_down_radius(in, at, end, out, w, 8); break;
    }
}

/* What sample n is of, counted from the first of an even vector: of which half, and which lane of it. */
#define SMALL_PART(n) ((n)&1)
#define SMALL_LANE(n) (((n) - ((n)&1)) / 2)

SMALL_INLINE void small_store(uint8_t *out, vector16 even, vector16 odd) {
    vector16 bytes = (even >> BLUR_FIXED_BITS) | ((odd << (8 - BLUR_FIXED_BITS)) & vector16_all(0xff00));
    memcpy(out, &bytes, sizeof bytes);
}

/* 2 * VECTOR16 results of one channel around x. */
SMALL_INLINE void small_along_one(uint8_t *out, const uint16_t *x, const vector16 *weight, int radius) {
    const int reach = (radius + 1) / 2;
    vector16 near[2][BLUR_SMALL_RADIUS + 2], sum[2], start = vector16_all((uint16_t)blur_fixed_start_along(radius));
    SMALL_UNROLL
    for (int part = 0; part < 2; part++) {
        SMALL_UNROLL
        for (int k = 0; k <= 2 * reach; k++) {
            near[part][k] = vector16_load(x + part * SMALL_HALF + k - reach);
#if VECTOR16 == 32
            __asm__("" : "+v"(near[part][k])); /* or the compiler reads it twice; with fewer registers let it */
#endif
        }
    }
    SMALL_UNROLL
    for (int part = 0; part < 2; part++) {
        sum[part] = start + vector16_high(weight[0], near[part][reach]);
        SMALL_UNROLL
        for (int k = 1; k <= radius; k++)
            sum[part] += vector16_high(weight[k], near[SMALL_PART(part + k)][reach + SMALL_LANE(part - k)] +
                                                      near[SMALL_PART(part + k)][reach + SMALL_LANE(part + k)]);
    }
    small_store(out, sum[0], sum[1]);
}

/* The same of three channels. No vector serves twice here; with AVX-512, where reads that cross cache lines take twice the time of
 * others, those behind x are shifted together from two vectors. */
SMALL_INLINE void small_along_three(uint8_t *out, const uint16_t *x, const vector16 *weight, const vector16 *by, int radius) {
    vector16 here[2], sum[2], start = vector16_all((uint16_t)blur_fixed_start_along(radius));
    here[0] = vector16_load(x);
    here[1] = vector16_load(x + SMALL_HALF);
#if VECTOR16 == 32
    const vector16 next[2] = {vector16_load(x + VECTOR16), vector16_load(x + SMALL_HALF + VECTOR16)};
#endif
    SMALL_UNROLL
    for (int part = 0; part < 2; part++) {
        sum[part] = start + vector16_high(weight[0], here[part]);
        SMALL_UNROLL
        for (int k = 1; k <= radius; k++) {
            const int other = SMALL_PART(part + k), lane = SMALL_LANE(part + 3 * k);
#if VECTOR16 == 32
            vector16 after = (vector16)_mm512_permutex2var_epi16((__m512i)here[other], (__m512i)by[lane], (__m512i)next[other]);
#else
            vector16 after = vector16_load(x + other * SMALL_HALF + lane);
#endif
            sum[part] += vector16_high(weight[k], after + vector16_load(x + other * SMALL_HALF + SMALL_LANE(part - 3 * k)));
        }
    }
    (void)by;
    small_store(out, sum[0], sum[1]);
}

/* A whole block; of the last vector only what belongs to it is kept. */
SMALL_INLINE void small_along_radius(uint8_t *out, const uint16_t *x, int64_t count, const uint16_t *w, int radius, int channels) {
    enum { most = (3 * BLUR_SMALL_RADIUS + 1) / 2 };
    vector16 weight[BLUR_SMALL_RADIUS + 1], by[most + 1];
    uint8_t last[2 * VECTOR16];
    for (int k = 0; k <= radius; k++) weight[k] = vector16_all(w[k]);
    for (int k = 0; k <= most; k++)
        for (int i = 0; i < VECTOR16; i++) by[k][i] = (uint16_t)(i + k);
    for (int64_t s = 0; s < count; s += 2 * VECTOR16, x += VECTOR16) {
        uint8_t *to = count - s < 2 * VECTOR16 ? last : out + s;
        __builtin_prefetch(out + s + SMALL_BLOCK, 1); /* of the next block, to be written */
        if (channels == 1)
            small_along_one(to, x, weight, radius);
        else
            small_along_three(to, x, weight, by, radius);
        if (to == last) memcpy(out + s, last, (size_t)(count - s));
    }
}

SMALL_INLINE void small_along_channels(uint8_t *out, const uint16_t *x, int64_t count, const uint16_t *w, int radius,
                                       int channels) {
    switch (radius) {
    case 1: small_along_radius(out, x, count, w, 1, channels); break;
    case 2: small_along_radius(out, x, count, w, 2, channels); break;
    case 3: small_along_radius(out, x, count, w, 3, channels); break;
    case 4: small_along_radius(out, x, count, w, 4, channels); break;
    case 5: small_along_radius(out, x, count, w, 5, channels); break;
    case 6: small_along_radius(out, x, count, w, 6, channels); break;
    case 7: small_along_radius(out, x, count, w, 7, channels); break;
    default: small_along_radius(out, x, count, w, 8, channels); break;
    }
}

static void small_along(uint8_t *out, const uint16_t *x, int64_t count, const uint16_t *w, int radius, int channels) {
    if (channels == 1)
        small_along_channels(out, x, count, w, radius, 1);
    else
        small_along_channels(out, x, count, w, radius, 3);
}

/* The last samples of a block and those behind it become the first of the next one. */
static void small_keep(uint16_t *v) {
    for (int half = 0; half < 2 * SMALL_ROWS; half++) {
        uint16_t *p = v + half / 2 * SMALL_PITCH + half % 2 * SMALL_HALF;
        memcpy(p, p + SMALL_BLOCK / 2, SMALL_LEAD * sizeof(uint16_t));
    }
}

static void small_rows(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct blur_plan *plan = stage->data;
    const int channels = stage->in.format.channels, bottom = rows->count - 1 + 2 * plan->ry;
    const int64_t width = rows->out_width * channels, halo = (int64_t)plan->rx * channels;
    uint16_t *v = (uint16_t *)(((uintptr_t)rows->scratch + 63) & ~(uintptr_t)63);
    for (int y = 0; y < rows->count; y += SMALL_ROWS) {
        const uint8_t *in[2 * BLUR_SMALL_RADIUS + SMALL_ROWS];
        /* Rows too many are made of what there is, and left. */
        for (int k = 0; k < 2 * plan->ry + SMALL_ROWS; k++) in[k] = rows->in[y + k < bottom ? y + k : bottom];
        for (int64_t at = 0, made = -SMALL_LEAD; at < width; at += SMALL_BLOCK) {
            const int64_t n = width - at < SMALL_BLOCK ? width - at : SMALL_BLOCK;
            const int64_t need = n < SMALL_BLOCK ? at + (n + halo + 63) / 64 * 64 : at + SMALL_BLOCK + SMALL_LEAD;
            if (at > 0) small_keep(v);
            small_down(in, made, need, v + (made - at + SMALL_LEAD) / 2, plan->fixed_y, plan->ry);
            made = need;
            for (int i = 0; i < SMALL_ROWS && y + i < rows->count; i++) {
                kernel_ahead(rows, y + i, at, n);
                small_along((uint8_t *)rows->out[y + i] + at, v + i * SMALL_PITCH + SMALL_LEAD / 2, n, plan->fixed_x, plan->rx,
                            channels);
            }
        }
    }
}
