/* The two inner loops that compilers do not find: 8-bit lookup by byte shuffles, and three bytes to one. Included by point.c.
 * Each does a first part of the row and returns how much; plain C does the rest, and all of it without AVX2. */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Whether weights are 65536ths and every sum of samples to `max` has 31 bits. */
static inline bool mix_is_i32(const struct point_step *step, int64_t max) {
    int64_t bound = 0;
    for (int i = 0; i < 3; i++) {
        if (llabs(step->weights[i]) > INT32_MAX) return false;
        bound += llabs(step->weights[i]) * max;
    }
    return step->divisor == 65536 && llabs(step->round) <= INT32_MAX && bound + llabs(step->round) <= INT32_MAX;
}

#if defined(__AVX512BW__)
/* A shuffle looks 64 low nibbles up in 16 entries. The 16 results, one a high nibble, are merged as a tree over bits 4 to 7; the
 * first level is a masked shuffle. `keep` is 0xff in the lanes that are copied. */
static int64_t shuffle_lookup(const uint8_t *table, const uint8_t *keep, const uint8_t *in, uint8_t *out, int64_t n) {
    __m512i t[16];
    for (int j = 0; j < 16; j++) t[j] = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(table + 16 * j)));
    int64_t i = 0;
    for (int phase = 0; i + 64 <= n; i += 64, phase = phase == 2 ? 0 : phase + 1) {
        __m512i v = _mm512_loadu_si512(in + i), low = _mm512_and_si512(v, _mm512_set1_epi8(15)), r[8];
        __mmask64 bit4 = _mm512_test_epi8_mask(v, _mm512_set1_epi8(16)), bit5 = _mm512_test_epi8_mask(v, _mm512_set1_epi8(32));
        __mmask64 bit6 = _mm512_test_epi8_mask(v, _mm512_set1_epi8(64)), bit7 = _mm512_movepi8_mask(v);
        for (int j = 0; j < 8; j++) r[j] = _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(t[2 * j], low), bit4, t[2 * j + 1], low);
        for (int j = 0; j < 4; j++) r[j] = _mm512_mask_blend_epi8(bit5, r[2 * j], r[2 * j + 1]);
        for (int j = 0; j < 2; j++) r[j] = _mm512_mask_blend_epi8(bit6, r[2 * j], r[2 * j + 1]);
        __m512i result = _mm512_mask_blend_epi8(bit7, r[0], r[1]);
        __mmask64 kept = _mm512_movepi8_mask(_mm512_loadu_si512(keep + 64 * phase));
        _mm512_storeu_si512(out + i, _mm512_mask_mov_epi8(result, kept, v));
    }
    return i;
}
#elif defined(__AVX2__)
static int64_t shuffle_lookup(const uint8_t *table, const uint8_t *keep, const uint8_t *in, uint8_t *out, int64_t n) {
    __m256i t[16];
    for (int j = 0; j < 16; j++) t[j] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * j)));
    int64_t i = 0;
    for (int phase = 0; i + 32 <= n; i += 32, phase = phase == 5 ? 0 : phase + 1) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(in + i)), low = _mm256_and_si256(v, _mm256_set1_epi8(15)), r[8];
        /* A blend goes by the top bit of each byte: shifts in 16 bits bring bits 4 to 6 there, what they drag along is below. */
        __m256i bit4 = _mm256_slli_epi16(v, 3), bit5 = _mm256_slli_epi16(v, 2), bit6 = _mm256_slli_epi16(v, 1);
        for (int j = 0; j < 8; j++)
            r[j] = _mm256_blendv_epi8(_mm256_shuffle_epi8(t[2 * j], low), _mm256_shuffle_epi8(t[2 * j + 1], low), bit4);
        for (int j = 0; j < 4; j++) r[j] = _mm256_blendv_epi8(r[2 * j], r[2 * j + 1], bit5);
        for (int j = 0; j < 2; j++) r[j] = _mm256_blendv_epi8(r[2 * j], r[2 * j + 1], bit6);
        __m256i result = _mm256_blendv_epi8(r[0], r[1], v);
        __m256i kept = _mm256_loadu_si256((const __m256i *)(keep + 32 * phase));
        _mm256_storeu_si256((__m256i *)(out + i), _mm256_blendv_epi8(result, v, kept));
    }
    return i;
}
#else
static int64_t shuffle_lookup(const uint8_t *table, const uint8_t *keep, const uint8_t *in, uint8_t *out, int64_t n) {
    (void)table, (void)keep, (void)in, (void)out, (void)n;
    return 0;
}
#endif

#if defined(__AVX2__)
/* Weights as pairs of signed 16-bit numbers for multiply-add: (R, G) by (w0, half of w1) and (B, G) by (w2, the other half).
 * False if they do not fit. A third is 21846 / 65536 with 21846 added: exact for sums to 765 (a test tries them all). */
static bool mix_pairs(const struct point_step *step, int *pair_rg, int *pair_bg, int *round) {
    int64_t w0 = step->weights[0], w1 = step->weights[1], w2 = step->weights[2], r = step->round;
    if (step->mix_third)
        w0 = w1 = w2 = r = 21846;
    else if (!mix_is_i32(step, 255) || llabs(w0) > INT16_MAX || llabs(w1) > 2 * INT16_MAX || llabs(w2) > INT16_MAX)
        return false;
    *pair_rg = (int)((uint32_t)(uint16_t)w0 | (uint32_t)(w1 / 2) << 16);
    *pair_bg = (int)((uint32_t)(uint16_t)w2 | (uint32_t)(w1 - w1 / 2) << 16);
    *round = (int)r;
    return true;
}
#endif

#if defined(__AVX512BW__)
static int64_t mix_rgb8(const struct point_step *step, const uint8_t *in, uint8_t *out, int64_t width) {
    int pair_rg, pair_bg, round;
    if (!mix_pairs(step, &pair_rg, &pair_bg, &round)) return 0;
    __m512i rg = _mm512_set1_epi32(pair_rg), bg = _mm512_set1_epi32(pair_bg), add = _mm512_set1_epi32(round);
    /* 12 bytes, which are 4 pixels, to each lane of 16; then from there to words. */
    __m512i spread = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
    __m512i take_rg = _mm512_broadcast_i32x4(_mm_setr_epi8(0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1));
    __m512i take_bg = _mm512_broadcast_i32x4(_mm_setr_epi8(2, -1, 1, -1, 5, -1, 4, -1, 8, -1, 7, -1, 11, -1, 10, -1));
    int64_t x = 0;
    for (; x + 16 <= width; x += 16) {
        __m512i v = _mm512_permutexvar_epi32(spread, _mm512_maskz_loadu_epi32(0x0fff, in + 3 * x));
        __m512i a = _mm512_madd_epi16(_mm512_shuffle_epi8(v, take_rg), rg),
                b = _mm512_madd_epi16(_mm512_shuffle_epi8(v, take_bg), bg);
        __m512i sum = _mm512_srai_epi32(_mm512_add_epi32(_mm512_add_epi32(a, b), add), 16);
        sum = _mm512_max_epi32(sum, _mm512_setzero_si512());
        _mm_storeu_si128((__m128i *)(out + x), _mm512_cvtusepi32_epi8(sum));
    }
    return x;
}
#elif defined(__AVX2__)
static int64_t mix_rgb8(const struct point_step *step, const uint8_t *in, uint8_t *out, int64_t width) {
    int pair_rg, pair_bg, round;
    if (!mix_pairs(step, &pair_rg, &pair_bg, &round)) return 0;
    __m256i rg = _mm256_set1_epi32(pair_rg), bg = _mm256_set1_epi32(pair_bg), add = _mm256_set1_epi32(round);
    __m256i take_rg = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1));
    __m256i take_bg = _mm256_broadcastsi128_si256(_mm_setr_epi8(2, -1, 1, -1, 5, -1, 4, -1, 8, -1, 7, -1, 11, -1, 10, -1));
    int64_t x = 0;
    /* Two loads of 16 bytes for 24: the last 4 belong to the next pixels, which must be there. */
    for (; x + 10 <= width; x += 8) {
        __m128i first = _mm_loadu_si128((const __m128i *)(in + 3 * x)),
                second = _mm_loadu_si128((const __m128i *)(in + 3 * x + 12));
        __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
        __m256i a = _mm256_madd_epi16(_mm256_shuffle_epi8(v, take_rg), rg),
                b = _mm256_madd_epi16(_mm256_shuffle_epi8(v, take_bg), bg);
        __m256i sum = _mm256_srai_epi32(_mm256_add_epi32(_mm256_add_epi32(a, b), add), 16);
        sum = _mm256_min_epi32(sum, _mm256_set1_epi32(255));
        __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        _mm_storel_epi64((__m128i *)(out + x), _mm_packus_epi16(words, words));
    }
    return x;
}
#else
static int64_t mix_rgb8(const struct point_step *step, const uint8_t *in, uint8_t *out, int64_t width) {
    (void)step, (void)in, (void)out, (void)width;
    return 0;
}
#endif
