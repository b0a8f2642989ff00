/* Weighted sums of float32 in the order of the second definition of blur.h, with the sums in registers. Included by blur.c where there
 * are vectors and a fused multiply-add; sum_taps() does the same for any processor. A group's first product is rounded by itself, as
 * there. */
#if defined(__AVX512F__)
typedef __m512 floats;
#define FLOATS 16
#define FLOATS_ALL(v) _mm512_set1_ps(v)
#define FLOATS_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#else
typedef __m256 floats;
#define FLOATS 8
#define FLOATS_ALL(v) _mm256_set1_ps(v)
#define FLOATS_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#endif
/* Vectors at a time, so that a weight is read once for all of them. Counts are multiples of 64 samples. */
#define SUMS 4
#define SUMS_UNROLL _Pragma("GCC unroll 4")

static inline __attribute__((always_inline)) floats floats_load(const float *p) {
    floats v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Sums of a group become the total, or are added to it. */
static inline __attribute__((always_inline)) void sums_store(float *total, const floats *sum, bool first) {
    SUMS_UNROLL
    for (int j = 0; j < SUMS; j++) {
        floats v = sum[j];
        if (!first) v = floats_load(total + j * FLOATS) + v;
        memcpy(total + j * FLOATS, &v, sizeof v);
    }
}

/* A group of taps of two rows that follow each other: x[k * step] is tap k of the first and tap k - 1 of the second. */
static void sums_down_group(float *restrict upper, float *restrict lower, const float *x, int64_t step, const float *w, int taps,
                            bool first, int64_t count) {
    for (int64_t s = 0; s < count; s += SUMS * FLOATS) {
        const float *p = x + s;
        floats a[SUMS], b[SUMS], before = FLOATS_ALL(w[0]);
        SUMS_UNROLL
        for (int j = 0; j < SUMS; j++) a[j] = before * floats_load(p + j * FLOATS);
        p += step;
        SUMS_UNROLL
        for (int j = 0; j < SUMS; j++) {
            floats v = floats_load(p + j * FLOATS);
            b[j] = before * v;
            if (taps > 1) a[j] = FLOATS_FMA(FLOATS_ALL(w[1]), v, a[j]);
        }
        for (int k = 2; k < taps; k++) {
            floats here = FLOATS_ALL(w[k]);
            before = FLOATS_ALL(w[k - 1]);
            p += step;
            SUMS_UNROLL
            for (int j = 0; j < SUMS; j++) {
                floats v = floats_load(p + j * FLOATS);
                __asm__("" : "+v"(v)); /* or the compiler loads it twice */
                a[j] = FLOATS_FMA(here, v, a[j]);
                b[j] = FLOATS_FMA(before, v, b[j]);
            }
        }
        p += step;
        before = FLOATS_ALL(w[taps - 1]);
        SUMS_UNROLL
        for (int j = 0; taps > 1 && j < SUMS; j++) b[j] = FLOATS_FMA(before, floats_load(p + j * FLOATS), b[j]);
        sums_store(upper + s, a, first);
        sums_store(lower + s, b, first);
    }
}

/* The sums over rows of two rows of results, of which x is where the first begins. */
static void sums_down(float *upper, float *lower, float *group, const float *x, int64_t step, const float *w, int taps,
                      int64_t count) {
    (void)group;
    for (int at = 0; at < taps; at += BLUR_GROUP)
        sums_down_group(upper, lower, x + at * step, step, w + at, taps - at < BLUR_GROUP ? taps - at : BLUR_GROUP, at == 0, count);
}

/* The sums over columns of one row. */
static void sums_along(float *restrict total, float *group, const float *x, int step, const float *w, int taps, int64_t count) {
    (void)group;
    for (int64_t s = 0; s < count; s += SUMS * FLOATS)
        for (int at = 0; at < taps; at += BLUR_GROUP) {
            const int end = taps - at < BLUR_GROUP ? taps : at + BLUR_GROUP;
            const float *p = x + s + (int64_t)at * step;
            floats sum[SUMS], weight = FLOATS_ALL(w[at]);
            SUMS_UNROLL
            for (int j = 0; j < SUMS; j++) sum[j] = weight * floats_load(p + j * FLOATS);
            for (int k = at + 1; k < end; k++) {
                weight = FLOATS_ALL(w[k]);
                p += step;
                SUMS_UNROLL
                for (int j = 0; j < SUMS; j++) sum[j] = FLOATS_FMA(weight, floats_load(p + j * FLOATS), sum[j]);
            }
            sums_store(total + s, sum, at == 0);
        }
}
