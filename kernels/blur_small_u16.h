/* The second definition of blur.h on the CPU for u16 without alpha, radii of at most BLUR_SMALL_RADIUS and 1 or 3 channels. Included by
 * blur.c where there are vectors and a fused multiply-add; blur_small.h does the like for u8.
 *
 * A vector of pairs of samples becomes two of float32, the even and the odd ones, and the sums over rows are kept so; of one channel
 * each vector of them that is read serves an even and an odd result. Down, each row of the input is read once for the WORDS_ROWS rows
 * that it belongs to, whose sums stay in registers. Taps are few enough to be one group, and sums are below 65535.5: weights, their
 * sums and those over them are rounded 36 times, by 2^-24 of their value at most.
 *
 * A vector of samples takes 34 multiply-adds for radius 8, and as many cycles with 512 bits on Zen 4. Measured there, with everything
 * in the caches: 36 cycles of one channel, and 40 of three, where each vector read serves one result alone. Over 6 and 18 million
 * pixels 3.6 times OpenCV 4.6's rate with three channels and 3.8 times with one, when an eighth of that time still went into a copy of
 * the caller's rows. With AVX2 3.1 and 3.0 times. */

#define WORDS_ROWS 8
#define WORDS_BLOCK 512
#define WORDS_LEAD 32
#define WORDS_HALF ((WORDS_BLOCK + 2 * WORDS_LEAD) / 2)
#define WORDS_PITCH (2 * WORDS_HALF + 16)
_Static_assert(sizeof(float) * WORDS_ROWS * WORDS_PITCH + 64 <= BLUR_SMALL_SCRATCH, "");
_Static_assert(WORDS_BLOCK % 32 == 0 && 3 * BLUR_SMALL_RADIUS <= WORDS_LEAD && 2 * WORDS_LEAD <= IMGPIPE_ROW_SLACK, "");
#define WORDS_UNROLL _Pragma("GCC unroll 32")

typedef int32_t words __attribute__((vector_size(sizeof(floats))));

SMALL_INLINE floats words_load(const uint16_t *p, int odd) {
    uint32_t pairs __attribute__((vector_size(sizeof(floats))));
    memcpy(&pairs, p, sizeof pairs);
    if (odd)
        pairs >>= 16;
    else
        pairs &= 0xffff;
    return __builtin_convertvector((words)pairs, floats);
}

/* Weights are the same on either side of the middle. */
SMALL_INLINE floats words_weight(const floats *weight, int tap, int radius) {
    return weight[tap <= radius ? tap : 2 * radius - tap];
}

/* What tap `tap` adds to a sum; the first begins it. */
SMALL_INLINE void words_add(floats *sum, floats x, const floats *weight, int tap, int radius) {
    floats w = words_weight(weight, tap, radius);
    if (tap == 0)
        *sum = w * x;
    else
        *sum = FLOATS_FMA(w, x, *sum);
}

SMALL_INLINE void words_down_half(const uint16_t *const *in, int64_t at, float *out, const floats *weight, int radius, int odd) {
    floats sum[WORDS_ROWS];
    WORDS_UNROLL
    for (int k = 0; k < 2 * radius + WORDS_ROWS; k++) {
        floats x = words_load(in[k] + at, odd);
        WORDS_UNROLL
        for (int i = 0; i < WORDS_ROWS; i++) {
            if (i > k || k - i > 2 * radius) continue;
            words_add(&sum[i], x, weight, k - i, radius);
            if (k - i == 2 * radius) memcpy(out + i * WORDS_PITCH, &sum[i], sizeof sum[i]);
        }
    }
}

SMALL_INLINE void words_down_radius(const uint16_t *const *in, int64_t at, int64_t end, float *out, const float *w, int radius) {
    floats weight[BLUR_SMALL_RADIUS + 1];
    for (int k = 0; k <= radius; k++) weight[k] = FLOATS_ALL(w[k]);
    for (; at < end; at += 2 * FLOATS, out += FLOATS) {
        words_down_half(in, at, out, weight, radius, 0);
        words_down_half(in, at, out + WORDS_HALF, weight, radius, 1);
    }
}

static void words_down(const uint16_t *const *in, int64_t at, int64_t end, float *out, const float *w, int radius) {
    switch (radius) {
    case 1: words_down_radius(in, at, end, out, w, 1); break;
    case 2: words_down_radius(in, at, end, out, w, 2); break;
    case 3: words_down_radius(in, at, end, out, w, 3); break;
    case 4: words_down_radius(in, at, end, out, w, 4); break;
    case 5: words_down_radius(in, at, end, out, w, 5); break;
    case 6: words_down_radius(in, at, end, out, w, 6); break;
    case 7: words_down_radius(in, at, end, out, w, 7); break;
    default: words_down_radius(in, at, end, out, w, 8); break;
    }
}

/* floor(v + 1/2) for 0 <= v < 65535.5. */
SMALL_INLINE words words_round(floats v) {
#if FLOATS == 16
    /* A sum that is rounded down is not rounded up to a whole number. */
    return (words)_mm512_cvttps_epi32(_mm512_add_round_ps(v, FLOATS_ALL(0.5f), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
#else
    return (__builtin_convertvector(v + v, words) + 1) >> 1; /* as round_u16() */
#endif
}

/* 2 * FLOATS results of one channel around x. */
SMALL_INLINE void words_along_one(floats sum[2], const float *x, const floats *weight, int radius) {
    WORDS_UNROLL
    for (int n = -radius; n <= radius + 1; n++) {
        floats v = floats_load(x + SMALL_PART(n) * WORDS_HALF + SMALL_LANE(n));
        __asm__("" : "+v"(v)); /* or the compiler reads it twice */
        if (n <= radius) words_add(&sum[0], v, weight, n + radius, radius);
        if (n > -radius) words_add(&sum[1], v, weight, n - 1 + radius, radius);
    }
}

/* The same of three channels. With AVX-512, where reads that cross cache lines take twice the time of others, some are shifted
 * together from two vectors; all of them would take the units of the multiply-adds. */
#define WORDS_SHIFTED 5
SMALL_INLINE void words_along_three(floats sum[2], const float *x, const floats *weight, int radius) {
#if FLOATS == 16
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const floats line[2][2] = {{floats_load(x), floats_load(x + FLOATS)},
                               {floats_load(x + WORDS_HALF), floats_load(x + WORDS_HALF + FLOATS)}};
#endif
    WORDS_UNROLL
    for (int k = -radius; k <= radius; k++) {
        WORDS_UNROLL
        for (int part = 0; part < 2; part++) {
            const int n = part + 3 * k, half = SMALL_PART(n), lane = SMALL_LANE(n);
            floats v;
#if FLOATS == 16
            if (lane == 0)
                v = line[half][0];
            else if (k > 0 && k <= WORDS_SHIFTED)
                v = _mm512_permutex2var_ps(line[half][0], _mm512_add_epi32(first, _mm512_set1_epi32(lane)), line[half][1]);
            else
#endif
                v = floats_load(x + half * WORDS_HALF + lane);
            words_add(&sum[part], v, weight, k + radius, radius);
        }
    }
}

/* A whole block; of the last vector only what belongs to it is kept. */
SMALL_INLINE void words_along_radius(uint16_t *out, const float *x, int64_t count, const float *w, int radius, int channels) {
    floats weight[BLUR_SMALL_RADIUS + 1], sum[2];
    uint16_t last[2 * FLOATS];
    for (int k = 0; k <= radius; k++) weight[k] = FLOATS_ALL(w[k]);
    for (int64_t s = 0; s < count; s += 2 * FLOATS, x += FLOATS) {
        __builtin_prefetch(out + s + WORDS_BLOCK, 1); /* of the next block, to be written */
        if (channels == 1)
            words_along_one(sum, x, weight, radius);
        else
            words_along_three(sum, x, weight, radius);
        const words pairs = words_round(sum[0]) | words_round(sum[1]) << 16;
        uint16_t *to = count - s < 2 * FLOATS ? last : out + s;
        memcpy(to, &pairs, sizeof pairs);
        if (to == last) memcpy(out + s, last, (size_t)(count - s) * sizeof *out);
    }
}

SMALL_INLINE void words_along_channels(uint16_t *out, const float *x, int64_t count, const float *w, int radius, int channels) {
    switch (radius) {
    case 1: words_along_radius(out, x, count, w, 1, channels); break;
    case 2: words_along_radius(out, x, count, w, 2, channels); break;
    case 3: words_along_radius(out, x, count, w, 3, channels); break;
    case 4: words_along_radius(out, x, count, w, 4, channels); break;
    case 5: words_along_radius(out, x, count, w, 5, channels); break;
    case 6: words_along_radius(out, x, count, w, 6, channels); break;
    case 7: words_along_radius(out, x, count, w, 7, channels); break;
    default: words_along_radius(out, x, count, w, 8, channels); break;
    }
}

static void words_along(uint16_t *out, const float *x, int64_t count, const float *w, int radius, int channels) {
    if (channels == 1)
        words_along_channels(out, x, count, w, radius, 1);
    else
        words_along_channels(out, x, count, w, radius, 3);
}

/* The walk of small_rows(). */
static void words_rows(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    const struct blur_plan *plan = stage->data;
    const int channels = stage->in.format.channels, bottom = rows->count - 1 + 2 * plan->ry;
    const int64_t width = rows->out_width * channels, halo = (int64_t)plan->rx * channels;
    float *v = (float *)(((uintptr_t)rows->scratch + 63) & ~(uintptr_t)63);
    for (int y = 0; y < rows->count; y += WORDS_ROWS) {
        const uint16_t *in[2 * BLUR_SMALL_RADIUS + WORDS_ROWS];
        for (int k = 0; k < 2 * plan->ry + WORDS_ROWS; k++) in[k] = rows->in[y + k < bottom ? y + k : bottom];
        for (int64_t at = 0, made = -WORDS_LEAD; at < width; at += WORDS_BLOCK) {
            const int64_t n = width - at < WORDS_BLOCK ? width - at : WORDS_BLOCK;
            const int64_t need = n < WORDS_BLOCK ? at + (n + halo + 31) / 32 * 32 : at + WORDS_BLOCK + WORDS_LEAD;
            for (int half = 0; at > 0 && half < 2 * WORDS_ROWS; half++) {
                float *p = v + half / 2 * WORDS_PITCH + half % 2 * WORDS_HALF;
                memcpy(p, p + WORDS_BLOCK / 2, WORDS_LEAD * sizeof *p);
            }
            words_down(in, made, need, v + (made - at + WORDS_LEAD) / 2, plan->wy, plan->ry);
            made = need;
            for (int i = 0; i < WORDS_ROWS && y + i < rows->count; i++) {
                kernel_ahead(rows, y + i, at * 2, n * 2);
                words_along((uint16_t *)rows->out[y + i] + at, v + i * WORDS_PITCH + WORDS_LEAD / 2, n, plan->wx, plan->rx,
                            channels);
            }
        }
    }
}
