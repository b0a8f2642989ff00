/* Filtered rows of drawings and screenshots repeat themselves: at distance 1 (flat areas), at a few pixels (patterns), at a row
 * (with filters that do not look up) and anywhere (text). */
#include "png_match.h"
#include <string.h>

enum { WINDOW = 32768, LONGEST = 258 };

struct match {
    unsigned length, distance;
    int gain; /* bits saved, roughly */
};

static inline uint32_t load32(const unsigned char *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static inline uint64_t load64(const unsigned char *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* The same on machines of either byte order. */
static inline uint32_t hash(const unsigned char *p) {
    uint32_t v = load32(p);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v * 2654435761u >> (32 - PNG_HASH_BITS);
}

/* How many bytes are equal, up to `most`. */
static inline unsigned common(const unsigned char *a, const unsigned char *b, unsigned most) {
    unsigned n = 0;
    while (n + 8 <= most) {
        uint64_t differs = load64(a + n) ^ load64(b + n);
        if (differs) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            return n + (unsigned)__builtin_clzll(differs) / 8;
#else
            return n + (unsigned)__builtin_ctzll(differs) / 8;
#endif
        }
        n += 8;
    }
    while (n < most && a[n] == b[n]) n++;
    return n;
}

/* A match is taken for 10 bits and what its distance's extra bits take. */
static inline int match_bits(unsigned distance) {
    return distance < 4 ? 8 : 10 + (int)(31u - (unsigned)__builtin_clz(distance));
}

enum {
    VALUED = 64, /* bytes behind these are taken for a bit each */
    LONG = 64    /* what repeats as the last match did for this long is not sought elsewhere */
};

/* Bits that the bytes would take as literals. A zero takes one or two, others up to ten, so that they are looked at one by one. */
static inline int literal_value(const struct png_matcher *matcher, const unsigned char *bytes, unsigned n) {
    int bits = 0;
    for (unsigned i = 0; i < n && i < VALUED; i++) bits += matcher->literal_bits[bytes[i]];
    return n > VALUED ? bits + (int)(n - VALUED) : bits;
}

static inline void try_at(const unsigned char *bytes, size_t at, size_t distance, unsigned most, struct match *best) {
    const unsigned char *here = bytes + at, *there = here - distance;
    if (load32(here) != load32(there)) return;
    if (best->length >= 4 && (best->length >= most || here[best->length] != there[best->length])) return;
    unsigned length = common(here, there, most);
    /* Of two at one place the longer one is the better, if a byte is worth 4 bits. */
    int gain = (int)(4 * length) - match_bits((unsigned)distance);
    if (best->length == 0 || gain > best->gain) *best = (struct match){length, (unsigned)distance, gain};
}

/* The best match at `at`, where at least PNG_MATCH_LEAST and at most `most` bytes are left. */
static inline struct match look(struct png_matcher *matcher, int ways, const unsigned char *bytes, size_t at, unsigned most,
                                unsigned last_distance) {
    struct match best = {0};
    uint32_t *places = matcher->places[hash(bytes + at)], coming = (uint32_t)at;
    if (last_distance) try_at(bytes, at, last_distance, most, &best);
    if (best.length >= LONG) ways = 0;
    for (int way = 0; way < ways; way++) {
        uint32_t place = places[way], distance = (uint32_t)at - place;
        places[way] = coming;
        coming = place;
        if (distance - 1 < WINDOW && distance <= at && distance != last_distance) try_at(bytes, at, distance, most, &best);
    }
    best.gain = best.length ? literal_value(matcher, bytes + at, best.length) - match_bits(best.distance) : 0;
    return best;
}

static inline void insert(struct png_matcher *matcher, int ways, const unsigned char *bytes, size_t at) {
    uint32_t *places = matcher->places[hash(bytes + at)];
    for (int way = ways - 1; way > 0; way--) places[way] = places[way - 1];
    places[0] = (uint32_t)at;
}

static size_t find(struct png_matcher *matcher, const struct png_search *search, const unsigned char *bytes, size_t from, size_t n,
                   struct png_sequence *sequences) {
    struct png_sequence *to = sequences;
    size_t at = from, done = from, end = from + n;
    unsigned last = 0, misses = 0;
    while (at + PNG_MATCH_LEAST + 1 <= end) {
        unsigned most = end - at < LONGEST ? (unsigned)(end - at) : LONGEST;
        struct match match = look(matcher, search->ways, bytes, at, most, last);
        if (match.gain <= 0) {
            at += 1 + (misses++ >> 6);
            continue;
        }
        /* A byte later may begin a better one. */
        while (match.length < search->good && at + PNG_MATCH_LEAST + 2 <= end) {
            most = end - at - 1 < LONGEST ? (unsigned)(end - at - 1) : LONGEST;
            struct match later = look(matcher, search->ways, bytes, at + 1, most, last);
            if (later.gain <= match.gain + 4) break;
            match = later;
            at++;
        }
        *to++ = (struct png_sequence){(uint32_t)(at - done), (uint16_t)match.length, (uint16_t)match.distance};
        last = match.distance;
        misses = 0;
        size_t next = at + match.length;
        if (match.length < 32)
            for (size_t i = at + 2; i < next && i + 4 <= end; i += 1) insert(matcher, search->ways, bytes, i);
        else if (next + 4 <= end) {
            insert(matcher, search->ways, bytes, next - 2);
            insert(matcher, search->ways, bytes, next - 1);
        }
        at = done = next;
    }
    *to++ = (struct png_sequence){(uint32_t)(end - done), 0, 0};
    return (size_t)(to - sequences);
}

const struct png_match_kernels KERNEL_NAME(png_match_kernels) = {find};
