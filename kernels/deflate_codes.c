/* Decoding is a chain: only when a code is known, is it known where the next one begins. A look at the table takes four or five
 * clocks, the shift and the mask that lead to the next one two more; that is the floor of a code, whatever else goes on beside it.
 * So each look should resolve as much as it can: an entry is up to three literals, or a length together with the code of
 * its distance, all of whose bits, also those that are not part of a code, are shifted out at once. A photograph compressed by zlib is
 * mostly strings of three to five bytes, whose two codes seldom have more than 11 bits. 24 million RGB pixels (35 MB; 16.2 million strings,
 * 2.3 million literals) took 110 ms with ISA-L 2.30, which resolves lengths and distances one after the other, and take 67 ms so.
 *
 * An entry, from the lowest bit on:
 *     bits 0 to 5   bits to shift out
 *     bits 6 and 7  literals, which are the bytes above; or none:
 *     bits 8 to 12  how many of the bits to shift out are codes; what the others say is added to the length or, in a pair, to the distance
 *     bits 13 to 15 kind
 *     bits 16 on    a length; or in the table of distances and in pairs the symbol of a distance, 5 bits, and from bit 24 on the
 *                   length less LEAST; or the place of a second table
 *
 * Bits are read as in variant 4 of F. Giesen, "Reading bits in far too many ways" (2018). */
#include "deflate_codes.h"
#include <string.h>

enum { ONE = 1 << 6, LITERALS = 3 << 6, SECOND = 1 << 13, PAIR = 1 << 14, OTHER = 1 << 15, BAD = OTHER, END = OTHER | 1 << 16 };
enum { LEAST = 3, FIRST_LENGTH = 257, REAL_LENGTHS = 286, REAL_DISTANCES = 30 };

static const uint16_t length_base[REAL_LENGTHS - FIRST_LENGTH] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                                  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_more[REAL_LENGTHS - FIRST_LENGTH] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                                 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t distance_base[DEFLATE_DISTANCES] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                          33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                          1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

static inline uint64_t load64(const unsigned char *p) {
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* ----------------------------------------------------------------------------------------------------- tables */

/* The entry of a symbol whose code has `bits` bits (in this table). */
static uint32_t length_entry(unsigned symbol, unsigned bits) {
    if (symbol < DEFLATE_END) return symbol << 8 | ONE | bits;
    if (symbol == DEFLATE_END) return END | bits;
    if (symbol >= REAL_LENGTHS) return BAD;
    const unsigned more = length_more[symbol - FIRST_LENGTH];
    return (uint32_t)length_base[symbol - FIRST_LENGTH] << 16 | bits << 8 | (bits + more);
}

static uint32_t distance_entry(unsigned symbol, unsigned bits) {
    if (symbol >= REAL_DISTANCES) return BAD;
    const unsigned more = symbol < 4 ? 0 : symbol / 2 - 1;
    return symbol << 16 | bits << 8 | (bits + more);
}

/* Symbols in the order of their codes, from `first` bits on, and how many have each number of bits. */
struct order {
    uint16_t symbols[DEFLATE_LENGTHS];
    uint16_t count[DEFLATE_LONGEST + 1];
    unsigned used;
};

static void sort(struct order *order, const uint8_t *bits, unsigned symbols) {
    unsigned place[DEFLATE_LONGEST + 2] = {0};
    memset(order->count, 0, sizeof order->count);
    for (unsigned i = 0; i < symbols; i++) order->count[bits[i]]++;
    for (unsigned n = 1; n <= DEFLATE_LONGEST; n++) place[n + 1] = place[n] + order->count[n];
    order->used = place[DEFLATE_LONGEST + 1];
    for (unsigned i = 0; i < symbols; i++)
        if (bits[i]) order->symbols[place[bits[i]]++] = (uint16_t)i;
}

/* The code behind `code`, of `bits` bits, the first of which is the lowest: that of the next number read the other way. */
static inline unsigned next_code(unsigned code, unsigned bits) {
    const unsigned zeros = ~code & ((1u << bits) - 1);
    if (!zeros) return 0;
    const unsigned bit = 1u << (31 - __builtin_clz(zeros));
    return (code & (bit - 1)) | bit;
}

/* Fills a table of `table_bits` bits and what is behind it: it grows by doubling, each half having the codes that are no longer
 * than its index. */
static inline void fill(uint32_t *table, unsigned table_bits, const struct order *order, uint32_t (*entry)(unsigned, unsigned)) {
    const uint16_t *symbol = order->symbols;
    unsigned code = 0, n = 1;
    while (order->count[n] == 0) n++;
    for (unsigned size = 1u << n; n <= table_bits; n++, size *= 2) {
        for (unsigned i = 0; i < order->count[n]; i++, code = next_code(code, n)) table[code] = entry(*symbol++, n);
        if (n < table_bits) memcpy(table + size, table, size * sizeof *table);
    }
    const unsigned behind_bits = DEFLATE_LONGEST - table_bits;
    unsigned place = 1u << table_bits, prefix = place;
    for (; n <= DEFLATE_LONGEST; n++)
        for (unsigned i = 0; i < order->count[n]; i++, code = next_code(code, n)) {
            if ((code & ((1u << table_bits) - 1)) != prefix) {
                prefix = code & ((1u << table_bits) - 1);
                table[prefix] = place << 16 | OTHER | SECOND | table_bits;
                place += 1u << behind_bits;
            }
            const uint32_t e = entry(*symbol++, n - table_bits);
            uint32_t *second = table + place - (1u << behind_bits);
            for (unsigned k = code >> table_bits; k < 1u << behind_bits; k += 1u << (n - table_bits)) second[k] = e;
        }
}

/* None, or one of a single bit: all else must not come. */
static void fill_few(uint32_t *table, const struct order *order) {
    for (unsigned i = 0; i < 1u << DEFLATE_DISTANCE_BITS; i++)
        table[i] = order->used && i % 2 == 0 ? distance_entry(order->symbols[0], 1) : BAD;
}

/* A literal of `n` bits at `code`: with the one or two literals that follow, where their codes fit in. */
static void join_literals(struct deflate_tables *t, unsigned code, unsigned n) {
    const uint32_t first = t->single[code];
    const unsigned room = DEFLATE_BITS - n;
    for (unsigned k = 0; k < 1u << room; k++) {
        const uint32_t second = t->single[k], third = t->single[k >> (second & 31)];
        const unsigned two = second & 63, three = two + (third & 63);
        const bool fits = second & LITERALS && two <= room, both = fits && third & LITERALS && three <= room;
        uint32_t e = first;
        if (fits) e = (e & 0xff00) | (second & 0xff00) << 8 | 2 * ONE | (n + two);
        if (both) e = (e & 0xffff00) | (third & 0xff00) << 16 | 3 * ONE | (n + three);
        t->joined[code | k << n] = e;
    }
}

/* A length of `n` bits at `code`: with the distance, where its code fits in. */
static void join_distances(struct deflate_tables *t, unsigned code, unsigned n) {
    const uint32_t first = t->single[code];
    const unsigned room = DEFLATE_BITS - n, more = (first & 31) - n;
    if (more >= room) return;
    for (unsigned k = 0; k < 1u << room; k++) {
        const uint32_t distance = t->distance[k >> more & ((1u << DEFLATE_DISTANCE_BITS) - 1)];
        const unsigned bits = distance >> 8 & 31, length = (first >> 16) + (k & ((1u << more) - 1));
        if (!(distance & OTHER) && bits <= room - more)
            t->joined[code | k << n] = (length - LEAST) << 24 | PAIR | (distance + ((n + more) << 8 | (n + more)));
    }
}

static void make(struct deflate_tables *tables, const uint8_t *lengths, const uint8_t *distances) {
    struct order order;
    memcpy(tables->base, distance_base, sizeof tables->base);
    sort(&order, distances, DEFLATE_DISTANCES);
    if (order.used <= 1)
        fill_few(tables->distance, &order);
    else
        fill(tables->distance, DEFLATE_DISTANCE_BITS, &order, distance_entry);
    sort(&order, lengths, DEFLATE_LENGTHS);
    fill(tables->single, DEFLATE_BITS, &order, length_entry);
    memcpy(tables->joined, tables->single, sizeof tables->joined);
    const uint16_t *symbol = order.symbols;
    unsigned code = 0;
    for (unsigned n = 1; n < DEFLATE_BITS; n++)
        for (unsigned i = 0; i < order.count[n]; i++, code = next_code(code, n), symbol++) {
            if (*symbol < DEFLATE_END) join_literals(tables, code, n);
            if (*symbol > DEFLATE_END && *symbol < REAL_LENGTHS) join_distances(tables, code, n);
        }
}

/* --------------------------------------------------------------------------------------------------- decoding */

struct bits {
    uint64_t held;           /* the next bits, the first one lowest */
    unsigned count;          /* of them, modulo 64 */
    const unsigned char *in; /* what follows them */
};

/* At least 56 bits are held then. */
static inline void refill(struct bits *b) {
    b->held |= load64(b->in) << (b->count & 63);
    b->in += (~b->count & 63) >> 3;
    b->count |= 56;
}

static inline void drop(struct bits *b, uint32_t entry) {
    b->held >>= entry & 63;
    b->count -= entry; /* what is above six bits makes no difference */
}

static inline uint32_t look(const struct bits *b, const uint32_t *table, unsigned bits) {
    return table[b->held & ((1u << bits) - 1)];
}

/* What the bits of an entry that are no codes say. */
static inline unsigned added(uint64_t held, uint32_t entry) {
#ifdef __BMI2__
    held = __builtin_ia32_bzhi_di(held, entry & 255); /* of no literal: bits 6 and 7 are 0 */
#else
    held &= ((uint64_t)1 << (entry & 63)) - 1;
#endif
    return (unsigned)(held >> (entry >> 8 & 63 & ~32u));
}

/* A distance below 16, where the bytes repeat themselves: when they are many, 16 are made at a time. */
static __attribute__((noinline)) void copy_near(unsigned char *to, unsigned distance, unsigned length) {
    const unsigned char *from = to - distance, *end = to + length;
    if (length <= 16 && distance > 1) {
        do *to++ = *from++;
        while (to < end);
        return;
    }
    const unsigned step = 16 - 16 % distance;
    unsigned char bytes[16];
    if (distance == 1) /* the most frequent */
        memset(bytes, *from, 16);
    else
        for (unsigned i = 0, k = 0; i < 16; i++, k = k + 1 < distance ? k + 1 : 0) bytes[i] = from[k];
    for (; to < end; to += step) memcpy(to, bytes, 16);
}

static inline void copy16(unsigned char *to, const unsigned char *from) {
    unsigned char bytes[16];
    memcpy(bytes, from, 16);
    memcpy(to, bytes, 16);
}

/* Writes up to 16 bytes more than `length`. */
static inline void copy(unsigned char *to, unsigned distance, unsigned length) {
    if (__builtin_expect(distance < 16, 0)) {
        copy_near(to, distance, length);
        return;
    }
    copy16(to, to - distance);
    for (unsigned at = 16; __builtin_expect(at < length, 0); at += 16) copy16(to + at, to + at - distance);
}

static inline void store_literals(unsigned char **out, uint32_t entry) {
    const uint32_t bytes = entry >> 8;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint32_t ordered = __builtin_bswap32(bytes);
    memcpy(*out, &ordered, 4);
#else
    memcpy(*out, &bytes, 4);
#endif
    *out += entry >> 6 & 3;
}

struct other {
    struct bits bits;
    unsigned char *out;
    unsigned length, distance; /* length 0: there are none */
};

/* What is no pair and no literal within the bits that are looked up. At least 56 bits are held. */
static __attribute__((noinline)) enum deflate_result rest(const struct deflate_tables *tables, struct other *o, uint32_t entry) {
    o->length = 0;
    if (entry & SECOND) {
        drop(&o->bits, entry);
        entry = tables->single[(entry >> 16) + (o->bits.held & ((1u << (DEFLATE_LONGEST - DEFLATE_BITS)) - 1))];
    }
    const uint64_t held = o->bits.held;
    drop(&o->bits, entry);
    if (entry & LITERALS) {
        store_literals(&o->out, entry);
        return DEFLATE_STOPPED;
    }
    if (entry & OTHER) return entry == BAD ? DEFLATE_BAD : DEFLATE_ENDED;
    o->length = (entry >> 16) + added(held, entry);
    uint32_t distance = look(&o->bits, tables->distance, DEFLATE_DISTANCE_BITS);
    if (distance & SECOND) {
        drop(&o->bits, distance);
        distance = tables->distance[(distance >> 16) + (o->bits.held & ((1u << (DEFLATE_LONGEST - DEFLATE_DISTANCE_BITS)) - 1))];
    }
    if (distance & OTHER) return DEFLATE_BAD;
    o->distance = tables->base[distance >> 16] + added(o->bits.held, distance);
    drop(&o->bits, distance);
    return DEFLATE_STOPPED;
}

/* False: the distance goes too far back. */
static inline bool emit(unsigned char **out, const unsigned char *oldest, unsigned distance, unsigned length) {
    if (__builtin_expect(distance > (size_t)(*out - oldest), 0)) return false;
    copy(*out, distance, length);
    *out += length;
    return true;
}

static enum deflate_result decode(const struct deflate_tables *tables, struct deflate_span *span) {
    struct bits b = {.in = span->in + span->at / 8};
    unsigned char *out = span->out;
    const unsigned char *const last = span->in + span->last, *const stop = span->stop, *const oldest = span->oldest;
    enum deflate_result result = DEFLATE_STOPPED;
    if (b.in > last || out >= stop) return result;
    refill(&b);
    drop(&b, span->at % 8);
    uint32_t e = look(&b, tables->joined, DEFLATE_BITS);
    while (b.in <= last && out < stop) {
        /* Other code stands outside of this loop, so that what it works with stays in registers. */
        while (!(e & LITERALS) && e & PAIR) {
            refill(&b);
            const unsigned distance = tables->base[e >> 16 & 31] + added(b.held, e), length = (e >> 24) + LEAST;
            drop(&b, e);
            e = look(&b, tables->joined, DEFLATE_BITS); /* at least 31 bits are left */
            if (!emit(&out, oldest, distance, length)) return DEFLATE_BAD;
            if (b.in > last || out >= stop) goto stopped;
        }
        refill(&b);
        if (e & LITERALS) {
            for (int i = 0; i < 4 && e & LITERALS; i++) { /* at least 12 bits are left behind them */
                drop(&b, e);
                store_literals(&out, e);
                e = look(&b, tables->joined, DEFLATE_BITS);
            }
        } else {
            struct other other = {.bits = b, .out = out};
            result = rest(tables, &other, e);
            b = other.bits;
            out = other.out;
            if (result != DEFLATE_STOPPED) break;
            refill(&b);
            e = look(&b, tables->joined, DEFLATE_BITS);
            if (other.length && !emit(&out, oldest, other.distance, other.length)) return DEFLATE_BAD;
        }
    }
stopped:
    span->at = 8 * (size_t)(b.in - span->in) - (b.count & 63);
    span->out = out;
    return result;
}

const struct deflate_codes_kernels KERNEL_NAME(deflate_codes_kernels) = {make, decode};
