/* Vectors of counts for median_count.h: 16 and 32 lanes of 16 bits, and what is done with them, for AVX-512, AVX2 and any processor.
 * Counts come from vectors of 16 bytes in memory. */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef uint8_t bytes16 __attribute__((vector_size(16)));

static inline bytes16 load16(const uint8_t *from) {
    bytes16 v;
    memcpy(&v, from, sizeof v);
    return v;
}
static inline void store16(uint8_t *to, bytes16 v) {
    memcpy(to, &v, sizeof v);
}

/* lanes16_move and lanes32_move: v, more by what is at `come` and less by what is at `gone`.
 * lanes32_add: v, more by two vectors of bytes.
 * lanes16_at_most, lanes32_at_most: how many lanes are at most `limit`, which has 15 bits.
 * lanes_spread: v, more in its lower 16 lanes by lane `low` of `from` and in its upper ones by lane `high`. What it needs beside
 * that is made by lanes_places(low, high) once for many calls. */
#if defined(__AVX512BW__)
typedef __m256i lanes16;
typedef __m512i lanes32, lanes_place;

static inline lanes16 lanes16_zero(void) {
    return _mm256_setzero_si256();
}
static inline lanes32 lanes32_zero(void) {
    return _mm512_setzero_si512();
}
static inline lanes16 lanes16_widen(const uint8_t *from) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)from));
}
static inline lanes32 lanes32_widen(const uint8_t *from) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)from));
}
static inline lanes16 lanes16_move(lanes16 v, const uint8_t *come, const uint8_t *gone) {
    return _mm256_add_epi16(v, _mm256_sub_epi16(lanes16_widen(come), lanes16_widen(gone)));
}
static inline lanes32 lanes32_move(lanes32 v, const uint8_t *come, const uint8_t *gone) {
    return _mm512_add_epi16(v, _mm512_sub_epi16(lanes32_widen(come), lanes32_widen(gone)));
}
static inline lanes32 lanes32_add(lanes32 v, bytes16 low, bytes16 high) {
    const __m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)low), (__m128i)high, 1);
    return _mm512_add_epi16(v, _mm512_cvtepu8_epi16(bytes));
}
static inline int lanes16_at_most(lanes16 v, unsigned limit) {
    return __builtin_popcount(_mm256_cmple_epu16_mask(v, _mm256_set1_epi16((short)limit)));
}
static inline int lanes32_at_most(lanes32 v, unsigned limit) {
    return __builtin_popcount(_mm512_cmple_epu16_mask(v, _mm512_set1_epi16((short)limit)));
}
static inline lanes_place lanes_places(int low, int high) {
    return _mm512_mask_set1_epi16(_mm512_set1_epi16((short)low), 0xffff0000u, (short)high);
}
static inline lanes32 lanes_spread(lanes32 v, lanes16 from, lanes_place place) {
    return _mm512_add_epi16(v, _mm512_permutexvar_epi16(place, _mm512_castsi256_si512(from)));
}

#elif defined(__AVX2__)
typedef __m256i lanes16;
typedef struct {
    __m256i low, high;
} lanes32;
typedef struct {
    int low, high;
} lanes_place;

static inline lanes16 lanes16_zero(void) {
    return _mm256_setzero_si256();
}
static inline lanes32 lanes32_zero(void) {
    return (lanes32){_mm256_setzero_si256(), _mm256_setzero_si256()};
}
static inline lanes16 lanes16_widen(const uint8_t *from) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)from));
}
static inline lanes16 lanes16_move(lanes16 v, const uint8_t *come, const uint8_t *gone) {
    return _mm256_add_epi16(v, _mm256_sub_epi16(lanes16_widen(come), lanes16_widen(gone)));
}
static inline lanes32 lanes32_move(lanes32 v, const uint8_t *come, const uint8_t *gone) {
    return (lanes32){lanes16_move(v.low, come, gone), lanes16_move(v.high, come + 16, gone + 16)};
}
static inline lanes32 lanes32_add(lanes32 v, bytes16 low, bytes16 high) {
    return (lanes32){_mm256_add_epi16(v.low, _mm256_cvtepu8_epi16((__m128i)low)),
                     _mm256_add_epi16(v.high, _mm256_cvtepu8_epi16((__m128i)high))};
}
static inline __m256i lanes16_within(lanes16 v, unsigned limit) {
    return _mm256_cmpeq_epi16(_mm256_subs_epu16(v, _mm256_set1_epi16((short)limit)), _mm256_setzero_si256());
}
static inline int lanes16_at_most(lanes16 v, unsigned limit) {
    return __builtin_popcount((unsigned)_mm256_movemask_epi8(lanes16_within(v, limit))) / 2;
}
static inline int lanes32_at_most(lanes32 v, unsigned limit) {
    const __m256i within = _mm256_packs_epi16(lanes16_within(v.low, limit), lanes16_within(v.high, limit));
    return __builtin_popcount((unsigned)_mm256_movemask_epi8(within));
}
static inline lanes_place lanes_places(int low, int high) {
    return (lanes_place){low, high};
}
static inline lanes32 lanes_spread(lanes32 v, lanes16 from, lanes_place place) {
    int16_t lane[16];
    memcpy(lane, &from, sizeof lane);
    return (lanes32){_mm256_add_epi16(v.low, _mm256_set1_epi16(lane[place.low])),
                     _mm256_add_epi16(v.high, _mm256_set1_epi16(lane[place.high]))};
}

#else
typedef uint8_t bytes8 __attribute__((vector_size(8)));
typedef uint16_t words8 __attribute__((vector_size(16)));
typedef struct {
    words8 v[2];
} lanes16;
typedef struct {
    words8 v[4];
} lanes32;
typedef struct {
    int low, high;
} lanes_place;

static inline lanes16 lanes16_zero(void) {
    return (lanes16){{{0}, {0}}};
}
static inline lanes32 lanes32_zero(void) {
    return (lanes32){{{0}, {0}, {0}, {0}}};
}
static inline words8 words_widen(const uint8_t *from) {
    bytes8 v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, words8);
}
static inline lanes16 lanes16_move(lanes16 v, const uint8_t *come, const uint8_t *gone) {
    for (int k = 0; k < 2; k++) v.v[k] += words_widen(come + 8 * k) - words_widen(gone + 8 * k);
    return v;
}
static inline lanes32 lanes32_add(lanes32 v, bytes16 low, bytes16 high) {
    uint8_t bytes[32];
    store16(bytes, low);
    store16(bytes + 16, high);
    for (int k = 0; k < 4; k++) v.v[k] += words_widen(bytes + 8 * k);
    return v;
}
static inline lanes32 lanes32_move(lanes32 v, const uint8_t *come, const uint8_t *gone) {
    for (int k = 0; k < 4; k++) v.v[k] += words_widen(come + 8 * k) - words_widen(gone + 8 * k);
    return v;
}
/* Minus the number of lanes at most `limit`, spread over eight lanes. */
static inline words8 words_within(words8 v, unsigned limit) {
    return (words8)(v <= (uint16_t)limit);
}
static inline int words_sum(words8 v) {
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += (int16_t)v[i];
    return sum;
}
static inline int lanes16_at_most(lanes16 v, unsigned limit) {
    return -words_sum(words_within(v.v[0], limit) + words_within(v.v[1], limit));
}
static inline int lanes32_at_most(lanes32 v, unsigned limit) {
    return -words_sum(words_within(v.v[0], limit) + words_within(v.v[1], limit) + words_within(v.v[2], limit) +
                      words_within(v.v[3], limit));
}
static inline lanes_place lanes_places(int low, int high) {
    return (lanes_place){low, high};
}
static inline lanes32 lanes_spread(lanes32 v, lanes16 from, lanes_place place) {
    uint16_t lane[16];
    memcpy(lane, &from, sizeof lane);
    for (int k = 0; k < 4; k++) v.v[k] += lane[k < 2 ? place.low : place.high];
    return v;
}
#endif
