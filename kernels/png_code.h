/* The loops of a deflate coder that go over every byte: finding runs, counting, and writing codes. What is coded is a list of
 * sequences: some literal bytes, then a match. */
#ifndef PNG_CODE_H
#define PNG_CODE_H
#include "kernel.h"
#include <stddef.h>
#include <string.h>

struct png_sequence {
    uint32_t literals;
    uint16_t length;   /* 3 … 258; 0: no match, the last sequence */
    uint16_t distance; /* 1 … 32768 */
};

/* No code of the first tree is longer than this, so that four fit into a word of 64 bits with 7 waiting. */
#define PNG_CODE_LIMIT 14

/* Codes as they are written, the first bit lowest. */
struct png_codes {
    uint16_t literal[256];
    uint8_t literal_bits[256];
    uint32_t length[259]; /* of a match length: code and extra bits, and how many they are in the highest byte */
    uint32_t distance[30];
    uint8_t distance_bits[30];
    uint32_t end;
};

/* Bits on their way to memory: fewer than 8 wait between calls. Writing may touch 8 bytes beyond the last. */
struct png_bits {
    uint64_t wait;
    unsigned count;
    unsigned char *at;
};

/* From this many on, literals of a sequence are not all counted for writing, but 64 in each 256, four times. */
#define PNG_COUNT_ALL 512

struct png_code_kernels {
    /* Runs of at least `least` (4 … 64) equal bytes as matches of distance 1. The byte before the first is not looked at.
     * At most n / least + n / 258 + 2 sequences; the last one has length 0. Returns their number. */
    size_t (*runs)(const unsigned char *bytes, size_t n, unsigned least, struct png_sequence *sequences);
    /* Adler-32 (RFC 1950) of bytes that are not empty. */
    uint32_t (*adler)(const unsigned char *bytes, size_t n);
    /* Adds the literals to `counts`; `all`: those of long sequences, too. */
    void (*count)(const unsigned char *bytes, const struct png_sequence *sequences, size_t n, bool all, uint32_t counts[256]);
    /* Adds 1 to the counts of literals in long sequences that are, as signed numbers, beyond `size` (0 … 127) and have none. */
    void (*find_rare)(const unsigned char *bytes, const struct png_sequence *sequences, size_t n, int size, uint32_t counts[256]);
    void (*put)(const unsigned char *bytes, const struct png_sequence *sequences, size_t n, const struct png_codes *codes,
                struct png_bits *bits);
};
KERNEL_TABLE(png_code);

/* Number of the code of a distance 1 … 32768, and its extra bits. */
static inline unsigned png_distance_code(unsigned distance) {
    unsigned below = distance - 1;
    if (below < 4) return below;
    unsigned high = 31u - (unsigned)__builtin_clz(below);
    return 2 * high + (below >> (high - 1) & 1);
}
static inline unsigned png_distance_extra(unsigned code) { return code < 4 ? 0 : code / 2 - 1; }
static inline unsigned png_distance_base(unsigned code) { return code < 4 ? code + 1 : ((2 + code % 2) << (code / 2 - 1)) + 1; }

/* Moves whole bytes to memory; at most 63 bits wait. */
static inline void png_bits_flush(struct png_bits *bits) {
    uint64_t wait = bits->wait;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    wait = __builtin_bswap64(wait);
#endif
    memcpy(bits->at, &wait, 8);
    bits->at += bits->count >> 3;
    bits->wait >>= bits->count & 0x38;
    bits->count &= 7;
}
/* At most 56 bits between two flushes. */
static inline void png_bits_add(struct png_bits *bits, uint64_t value, unsigned count) {
    bits->wait |= value << bits->count;
    bits->count += count;
}
#endif
