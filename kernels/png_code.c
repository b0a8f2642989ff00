/* Literals are the bulk of a photograph and get vector code; runs and matches are the bulk of a drawing and are rare enough
 * in bytes. Every path writes the same bits. */
#include "png_code.h"
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

/* ------------------------------------------------------------------------------------------------------------ runs */

/* Bit i is set if bytes[i] equals the byte before it. */
static inline uint64_t repeats(const unsigned char *bytes) {
#if defined(__AVX512BW__)
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes), _mm512_loadu_si512(bytes - 1));
#elif defined(__AVX2__)
    uint64_t mask = 0;
    for (int i = 0; i < 64; i += 32) {
        __m256i here = _mm256_loadu_si256((const __m256i *)(bytes + i)), before = _mm256_loadu_si256((const __m256i *)(bytes + i - 1));
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(here, before)) << i;
    }
    return mask;
#else
    uint64_t mask = 0;
    for (int i = 0; i < 64; i += 8) {
        uint64_t here, before;
        memcpy(&here, bytes + i, 8);
        memcpy(&before, bytes + i - 1, 8);
        /* A zero byte of the difference gets its highest bit set, exactly; the product gathers those bits. */
        uint64_t differs = here ^ before, low = 0x7f7f7f7f7f7f7f7fu;
        uint64_t zero = ~(((differs & low) + low) | differs | low);
        mask |= (zero >> 7) * 0x0102040810204080u >> 56 << i;
    }
    return mask;
#endif
}

/* Bits where `count` set bits begin. */
static inline uint64_t run_starts(uint64_t mask, unsigned count) {
    unsigned done = 1;
    for (; 2 * done <= count; done *= 2) mask &= mask >> done;
    return mask & mask >> (count - done);
}

static size_t run_end(const unsigned char *bytes, size_t from, size_t n) {
    while (from + 64 <= n) {
        uint64_t different = ~repeats(bytes + from);
        if (different) return from + (size_t)__builtin_ctzll(different);
        from += 64;
    }
    while (from < n && bytes[from] == bytes[from - 1]) from++;
    return from;
}

/* Adds matches for the run [at, end), which is at least `least` long. What the longest match leaves must be a match, too. */
static struct png_sequence *add_run(struct png_sequence *to, size_t done, size_t at, size_t end, unsigned least) {
    while (at < end) {
        size_t left = end - at, length = left <= 258 ? left : left < 258 + least ? left - least : 258;
        *to++ = (struct png_sequence){(uint32_t)(at - done), (uint16_t)length, 1};
        done = at += length;
    }
    return to;
}

/* A look sees 64 bytes and finds the runs whose first `least` bytes are among them; the next begins so that none is missed. */
static size_t runs(const unsigned char *bytes, size_t n, unsigned least, struct png_sequence *sequences) {
    struct png_sequence *to = sequences;
    size_t done = 0, at = 1; /* `done` bytes are in sequences */
    while (at < n) {
        if (n - at >= 64) {
            uint64_t starts = run_starts(repeats(bytes + at), least);
            if (!starts) {
                at += 64 - least + 1;
                continue;
            }
            at += (size_t)__builtin_ctzll(starts);
        }
        size_t end = run_end(bytes, at, n);
        if (end - at >= least) {
            to = add_run(to, done, at, end, least);
            done = end;
        }
        at = end + 1;
    }
    *to++ = (struct png_sequence){(uint32_t)(n - done), 0, 0};
    return (size_t)(to - sequences);
}

/* -------------------------------------------------------------------------------------------------------- checksum */

enum { ADLER_BASE = 65521, LANES = 64, MOST_STEPS = 80 };

/* `sum` is the sum of the bytes, `weighted` that of all sums so far. Lanes are summed each by itself: `before` of a lane is how often
 * its bytes count in the steps behind theirs. 80 steps of 64 bytes: the most that a lane's `weighted` can be is 80 * 79 / 2 * 255. */
static uint32_t adler(const unsigned char *bytes, size_t n) {
    uint64_t sum = 1, weighted = 0;
    while (n >= LANES) {
        uint32_t sums[LANES] = {0}, before[LANES] = {0};
        size_t steps = n / LANES < MOST_STEPS ? n / LANES : MOST_STEPS;
        for (size_t step = 0; step < steps; step++, bytes += LANES)
            for (int i = 0; i < LANES; i++) {
                before[i] += sums[i];
                sums[i] += bytes[i];
            }
        weighted += sum * steps * LANES;
        for (unsigned i = 0; i < LANES; i++) {
            sum += sums[i];
            weighted += (uint64_t)before[i] * LANES + (uint64_t)sums[i] * (LANES - i);
        }
        sum %= ADLER_BASE;
        weighted %= ADLER_BASE;
        n -= steps * LANES;
    }
    for (; n; n--, bytes++) {
        sum += *bytes;
        weighted += sum;
    }
    return (uint32_t)(weighted % ADLER_BASE << 16 | sum % ADLER_BASE);
}

/* -------------------------------------------------------------------------------------------------------- counting */

/* Four tables, since an increment that follows another of the same counter waits for it. */
static inline void count_bytes(const unsigned char *bytes, size_t n, uint32_t (*tables)[256], uint32_t weight) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        for (int t = 0; t < 8; t++) tables[t & 3][word >> 8 * t & 255] += weight;
    }
    for (; i < n; i++) tables[i & 3][bytes[i]] += weight;
}

static void count(const unsigned char *bytes, const struct png_sequence *sequences, size_t n, bool all, uint32_t counts[256]) {
    uint32_t tables[4][256] = {{0}};
    for (size_t s = 0; s < n; s++) {
        size_t literals = sequences[s].literals, i = 0;
        if (all || literals < PNG_COUNT_ALL)
            count_bytes(bytes, literals, tables, 1);
        else
            for (; i + 64 <= literals; i += 256) count_bytes(bytes + i, 64, tables, 4);
        bytes += literals + sequences[s].length;
    }
    for (int i = 0; i < 256; i++) counts[i] += tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i];
}

static void mark(const unsigned char *bytes, size_t n, uint32_t counts[256]) {
    for (size_t i = 0; i < n; i++) counts[bytes[i]] += counts[bytes[i]] == 0;
}

static void find_rare(const unsigned char *bytes, const struct png_sequence *sequences, size_t n, int size, uint32_t counts[256]) {
    uint8_t add = (uint8_t)size, inside = (uint8_t)(2 * size);
    for (size_t s = 0; s < n; s++) {
        size_t literals = sequences[s].literals, i = 0;
        if (literals >= PNG_COUNT_ALL) {
            for (; i + 64 <= literals; i += 64) {
                uint8_t any = 0;
                for (int k = 0; k < 64; k++) any |= (uint8_t)(bytes[i + (size_t)k] + add) > inside ? 1 : 0;
                if (any) mark(bytes + i, 64, counts);
            }
            mark(bytes + i, literals - i, counts);
        }
        bytes += literals + sequences[s].length;
    }
}

/* --------------------------------------------------------------------------------------------------------- writing */

static inline void put_few(const unsigned char *bytes, size_t n, const struct png_codes *codes, struct png_bits *b) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int j = 0; j < 4; j++) png_bits_add(b, codes->literal[bytes[i + j]], codes->literal_bits[bytes[i + j]]);
        png_bits_flush(b);
    }
    for (; i < n; i++) png_bits_add(b, codes->literal[bytes[i]], codes->literal_bits[bytes[i]]);
    png_bits_flush(b);
}

#if defined(__AVX512BW__)
#define VBMI __attribute__((target("avx512vbmi")))

struct table {
    __m512i quarter[4];
};

VBMI static inline struct table table_of(const uint8_t *bytes) {
    struct table t;
    for (int i = 0; i < 4; i++) t.quarter[i] = _mm512_loadu_si512(bytes + 64 * i);
    return t;
}

VBMI static inline __m512i look_up(__m512i bytes, const struct table *t) {
    __m512i low = _mm512_permutex2var_epi8(t->quarter[0], bytes, t->quarter[1]);
    __m512i high = _mm512_permutex2var_epi8(t->quarter[2], bytes, t->quarter[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
}

/* Joins the codes of 64 bytes to words: two to 32 bits, four, and eight to 64 bits, if 56 hold them (else 16 words of
 * four). Returns how many words that are. */
VBMI static inline int join(__m512i bytes, const struct table *low, const struct table *high, const struct table *bits,
                            uint64_t words[16], uint64_t counts[16]) {
    const __m512i byte = _mm512_set1_epi32(0xff), half = _mm512_set1_epi32(0xffff), word = _mm512_set1_epi64(0xffffffff);
    __m512i l = look_up(bytes, low), h = look_up(bytes, high), n = look_up(bytes, bits);
    __m512i even = _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaau, l, _mm512_slli_epi16(h, 8));
    __m512i odd = _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaau, _mm512_srli_epi16(l, 8), h);
    __m512i n0 = _mm512_and_si512(n, byte), n1 = _mm512_and_si512(_mm512_srli_epi32(n, 8), byte);
    __m512i n2 = _mm512_and_si512(_mm512_srli_epi32(n, 16), byte), n3 = _mm512_srli_epi32(n, 24);
    __m512i c01 = _mm512_or_si512(_mm512_and_si512(even, half), _mm512_sllv_epi32(_mm512_and_si512(odd, half), n0));
    __m512i c23 = _mm512_or_si512(_mm512_srli_epi32(even, 16), _mm512_sllv_epi32(_mm512_srli_epi32(odd, 16), n2));
    __m512i n01 = _mm512_add_epi32(n0, n1), sum = _mm512_add_epi32(n01, _mm512_add_epi32(n2, n3));
    __m512i first = _mm512_or_si512(_mm512_and_si512(c01, word),
                                    _mm512_sllv_epi64(_mm512_and_si512(c23, word), _mm512_and_si512(n01, word)));
    __m512i second = _mm512_or_si512(_mm512_srli_epi64(c01, 32),
                                     _mm512_sllv_epi64(_mm512_srli_epi64(c23, 32), _mm512_srli_epi64(n01, 32)));
    __m512i first_n = _mm512_and_si512(sum, word), second_n = _mm512_srli_epi64(sum, 32);
    __m512i all_n = _mm512_add_epi64(first_n, second_n);
    if (_mm512_cmpgt_epu64_mask(all_n, _mm512_set1_epi64(56)) == 0) {
        _mm512_storeu_si512(words, _mm512_or_si512(first, _mm512_sllv_epi64(second, first_n)));
        _mm512_storeu_si512(counts, all_n);
        return 8;
    }
    const __m512i front = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), back = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    _mm512_storeu_si512(words, _mm512_permutex2var_epi64(first, front, second));
    _mm512_storeu_si512(words + 8, _mm512_permutex2var_epi64(first, back, second));
    _mm512_storeu_si512(counts, _mm512_permutex2var_epi64(first_n, front, second_n));
    _mm512_storeu_si512(counts + 8, _mm512_permutex2var_epi64(first_n, back, second_n));
    return 16;
}

static inline void put_words(const uint64_t words[8], const uint64_t counts[8], struct png_bits *b) {
    for (int i = 0; i < 8; i++) {
        png_bits_add(b, words[i], (unsigned)counts[i]);
        png_bits_flush(b);
    }
}

/* Multiples of 64 bytes. */
VBMI static size_t put_many(const unsigned char *bytes, size_t n, const struct png_codes *codes, struct png_bits *bits) {
    uint8_t halves[2][256];
    _Alignas(64) uint64_t words[16], counts[16];
    struct png_bits b = *bits;
    for (int i = 0; i < 256; i++) {
        halves[0][i] = (uint8_t)codes->literal[i];
        halves[1][i] = (uint8_t)(codes->literal[i] >> 8);
    }
    struct table low = table_of(halves[0]), high = table_of(halves[1]), count_of = table_of(codes->literal_bits);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        int joined = join(_mm512_loadu_si512(bytes + i), &low, &high, &count_of, words, counts);
        put_words(words, counts, &b);
        if (joined > 8) put_words(words + 8, counts + 8, &b);
    }
    png_bits_flush(&b);
    *bits = b;
    return i;
}
#endif

static void put(const unsigned char *bytes, const struct png_sequence *sequences, size_t n, const struct png_codes *codes,
                struct png_bits *bits) {
#if defined(__AVX512BW__)
    bool vector = __builtin_cpu_supports("avx512vbmi");
#endif
    struct png_bits b = *bits;
    for (size_t s = 0; s < n; s++) {
        size_t literals = sequences[s].literals, done = 0;
#if defined(__AVX512BW__)
        if (literals >= 1024 && vector) done = put_many(bytes, literals, codes, &b);
#endif
        put_few(bytes + done, literals - done, codes, &b);
        bytes += literals + sequences[s].length;
        if (sequences[s].length == 0) continue;
        uint32_t length = codes->length[sequences[s].length];
        unsigned distance = png_distance_code(sequences[s].distance);
        png_bits_add(&b, length & 0xffffff, length >> 24);
        png_bits_add(&b, codes->distance[distance] | (uint64_t)(sequences[s].distance - png_distance_base(distance))
                                                         << codes->distance_bits[distance],
                     codes->distance_bits[distance] + png_distance_extra(distance));
        png_bits_flush(&b);
    }
    *bits = b;
}

const struct png_code_kernels KERNEL_NAME(png_code_kernels) = {runs, adler, count, find_rare, put};
