/* Vectors of 16-bit samples without a sign, as wide as the instruction set has, for loops in which the compiler would not keep
 * the sums in registers. Where there are no intrinsics the compiler makes of them what it can. */
#ifndef VECTOR16_H
#define VECTOR16_H
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512BW__)
#define VECTOR16 32
#elif defined(__AVX2__)
#define VECTOR16 16
#else
#define VECTOR16 8
#endif

typedef uint16_t vector16 __attribute__((vector_size(2 * VECTOR16)));

static inline __attribute__((always_inline)) vector16 vector16_load(const uint16_t *p) {
    vector16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline __attribute__((always_inline)) void vector16_store(uint16_t *p, vector16 v) {
    memcpy(p, &v, sizeof v);
}

static inline __attribute__((always_inline)) vector16 vector16_all(uint16_t v) {
    return (vector16){0} + v;
}

/* The high half of the product of each pair. */
static inline __attribute__((always_inline)) vector16 vector16_high(vector16 a, vector16 b) {
#if defined(__AVX512BW__)
    return (vector16)_mm512_mulhi_epu16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vector16)_mm256_mulhi_epu16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (vector16)_mm_mulhi_epu16((__m128i)a, (__m128i)b);
#else
    vector16 high;
    for (int i = 0; i < VECTOR16; i++) high[i] = (uint16_t)((uint32_t)a[i] * b[i] >> 16);
    return high;
#endif
}

/* (a + b + 1) / 2 of each pair, as if in 17 bits. */
static inline __attribute__((always_inline)) vector16 vector16_average(vector16 a, vector16 b) {
#if defined(__AVX512BW__)
    return (vector16)_mm512_avg_epu16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vector16)_mm256_avg_epu16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (vector16)_mm_avg_epu16((__m128i)a, (__m128i)b);
#else
    return (a | b) - ((a ^ b) >> 1);
#endif
}

/* Two vectors of samples below 256 as bytes. */
static inline __attribute__((always_inline)) void vector16_bytes(uint8_t *p, vector16 a, vector16 b) {
#if defined(__AVX512BW__)
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi16_epi8((__m512i)a));
    _mm256_storeu_si256((__m256i *)(p + 32), _mm512_cvtepi16_epi8((__m512i)b));
#elif defined(__AVX2__)
    /* Packing goes by halves of a register. */
    __m256i packed = _mm256_packus_epi16((__m256i)a, (__m256i)b);
    _mm256_storeu_si256((__m256i *)p, _mm256_permute4x64_epi64(packed, 0xd8));
#elif defined(__SSE2__)
    _mm_storeu_si128((__m128i *)p, _mm_packus_epi16((__m128i)a, (__m128i)b));
#else
    for (int i = 0; i < VECTOR16; i++) {
        p[i] = (uint8_t)a[i];
        p[VECTOR16 + i] = (uint8_t)b[i];
    }
#endif
}
#endif
