/* Finding repeated strings for deflate: LZ77 with a hash of four bytes and a few places for each. */
#ifndef PNG_MATCH_H
#define PNG_MATCH_H
#include "png_code.h"

enum { PNG_HASH_BITS = 13, PNG_HASH_WAYS = 8, PNG_MATCH_LEAST = 4 };

/* Where strings of each hash were last seen: offsets in the piece modulo 2^32. Stale entries do no harm, since what they point at
 * is compared; but to have the same bytes each time, it is cleared for each piece. */
struct png_matcher {
    uint32_t places[1 << PNG_HASH_BITS][PNG_HASH_WAYS];
    uint8_t literal_bits[256]; /* what each byte would take if it were no part of a match, about */
};

/* How hard to look. */
struct png_search {
    int ways;      /* 1 … PNG_HASH_WAYS */
    unsigned good; /* a match of this length is taken without a look at the next byte's; 0: every match */
};

struct png_match_kernels {
    /* Sequences for bytes[from, from + n), n at most PNG_BLOCK; matches may lie in what is before. At most n / 4 + 2 sequences; the last
     * has length 0. Returns their number. */
    size_t (*find)(struct png_matcher *matcher, const struct png_search *search, const unsigned char *bytes, size_t from, size_t n,
                   struct png_sequence *sequences);
};
KERNEL_TABLE(png_match);
#endif
