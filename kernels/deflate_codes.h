/* Decoding the codes of a deflate block (RFC 1951, section 3.2). */
#ifndef DEFLATE_CODES_H
#define DEFLATE_CODES_H
#include "kernel.h"

#include <stddef.h>

enum {
    DEFLATE_LENGTHS = 288,  /* symbols of literals and lengths; 286 and 287 are in the fixed code alone and must not come */
    DEFLATE_DISTANCES = 32, /* 30 and 31 likewise */
    DEFLATE_END = 256,
    DEFLATE_LONGEST = 15,    /* bits of a code */
    DEFLATE_HISTORY = 32768, /* as far back as a distance may go */
    DEFLATE_BITS = 11,       /* that are looked up at once; longer codes have a second table for what follows */
    DEFLATE_DISTANCE_BITS = 9,
};

/* A second table has at least two codes: so many entries there can be behind a table of `bits` bits for `symbols` symbols. */
#define DEFLATE_BEHIND(symbols, bits) ((symbols) / 2 << (DEFLATE_LONGEST - (bits)))

struct deflate_tables {
    uint16_t base[DEFLATE_DISTANCES];   /* of distances; here, so that one register leads to all tables */
    uint32_t joined[1 << DEFLATE_BITS]; /* as many symbols as the bits hold */
    uint32_t single[(1 << DEFLATE_BITS) + DEFLATE_BEHIND(DEFLATE_LENGTHS, DEFLATE_BITS)];
    uint32_t distance[(1 << DEFLATE_DISTANCE_BITS) + DEFLATE_BEHIND(DEFLATE_DISTANCES, DEFLATE_DISTANCE_BITS)];
};

/* What may be written behind `stop`, and what must be there to be read behind `last`, which is looked at ahead of time. */
#define DEFLATE_OUT_SLACK 320
#define DEFLATE_IN_SLACK 16
#define DEFLATE_AHEAD 8

struct deflate_span {
    const unsigned char *in;
    size_t at;                 /* the next bit of `in` */
    size_t last;               /* it stops when it has looked at this byte of `in`, up to DEFLATE_AHEAD bytes before it needs it */
    unsigned char *out, *stop; /* it stops when it has made bytes up to `stop`, or some more */
    const unsigned char *oldest; /* of the bytes in front of `out`; distances do not go further back */
};

enum deflate_result {
    DEFLATE_STOPPED, /* at one of the limits */
    DEFLATE_ENDED,   /* behind the end of the block */
    DEFLATE_BAD,     /* a code or a distance that must not be */
};

struct deflate_codes_kernels {
    /* `lengths`: bits of each symbol's code, 0 for none, DEFLATE_LENGTHS and DEFLATE_DISTANCES of them. The codes must be complete; of
     * distances there may be none, or one of a single bit. */
    void (*make)(struct deflate_tables *tables, const uint8_t *lengths, const uint8_t *distances);
    /* Moves `at` and `out` on. */
    enum deflate_result (*decode)(const struct deflate_tables *tables, struct deflate_span *span);
};
KERNEL_TABLE(deflate_codes);
#endif
