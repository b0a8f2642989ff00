/* Vectors of samples without a sign and their minima and maxima, as wide as the instruction set has, for networks whose wires stay
 * in registers from row to row. */
#ifndef MEDIAN_VECTOR_H
#define MEDIAN_VECTOR_H
#include <stdint.h>
#include <string.h>

#define VECTOR_FN static inline __attribute__((always_inline))

#if defined(__AVX512BW__)
#include <immintrin.h>
typedef __m512i median_vector;
VECTOR_FN median_vector vector_min_u8(median_vector a, median_vector b) { return _mm512_min_epu8(a, b); }
VECTOR_FN median_vector vector_max_u8(median_vector a, median_vector b) { return _mm512_max_epu8(a, b); }
VECTOR_FN median_vector vector_min_u16(median_vector a, median_vector b) { return _mm512_min_epu16(a, b); }
VECTOR_FN median_vector vector_max_u16(median_vector a, median_vector b) { return _mm512_max_epu16(a, b); }
#elif defined(__AVX2__)
#include <immintrin.h>
typedef __m256i median_vector;
VECTOR_FN median_vector vector_min_u8(median_vector a, median_vector b) { return _mm256_min_epu8(a, b); }
VECTOR_FN median_vector vector_max_u8(median_vector a, median_vector b) { return _mm256_max_epu8(a, b); }
VECTOR_FN median_vector vector_min_u16(median_vector a, median_vector b) { return _mm256_min_epu16(a, b); }
VECTOR_FN median_vector vector_max_u16(median_vector a, median_vector b) { return _mm256_max_epu16(a, b); }
#elif defined(__SSE2__)
#include <emmintrin.h>
typedef __m128i median_vector;
VECTOR_FN median_vector vector_min_u8(median_vector a, median_vector b) { return _mm_min_epu8(a, b); }
VECTOR_FN median_vector vector_max_u8(median_vector a, median_vector b) { return _mm_max_epu8(a, b); }
/* SSE2 has them for samples with a sign alone: what a is above b, and 0 if it is not. */
VECTOR_FN median_vector vector_min_u16(median_vector a, median_vector b) { return _mm_sub_epi16(a, _mm_subs_epu16(a, b)); }
VECTOR_FN median_vector vector_max_u16(median_vector a, median_vector b) { return _mm_add_epi16(b, _mm_subs_epu16(a, b)); }
#else
typedef uint8_t median_vector __attribute__((vector_size(16)));
typedef uint16_t median_words __attribute__((vector_size(16)));
VECTOR_FN median_vector vector_choose(median_vector mask, median_vector a, median_vector b) { return (a & mask) | (b & ~mask); }
VECTOR_FN median_vector vector_min_u8(median_vector a, median_vector b) { return vector_choose((median_vector)(a < b), a, b); }
VECTOR_FN median_vector vector_max_u8(median_vector a, median_vector b) { return vector_choose((median_vector)(a < b), b, a); }
VECTOR_FN median_vector vector_min_u16(median_vector a, median_vector b) {
    return vector_choose((median_vector)((median_words)a < (median_words)b), a, b);
}
VECTOR_FN median_vector vector_max_u16(median_vector a, median_vector b) {
    return vector_choose((median_vector)((median_words)a < (median_words)b), b, a);
}
#endif

VECTOR_FN median_vector vector_load(const void *from) {
    median_vector v;
    memcpy(&v, from, sizeof v);
    return v;
}
VECTOR_FN void vector_store(void *to, median_vector v) {
    memcpy(to, &v, sizeof v);
}
#endif
