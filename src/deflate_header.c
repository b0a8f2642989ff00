#include "deflate_header.h"

#include <string.h>

enum { LENGTHS = 286, DISTANCES = 30, LONGEST_OF_LENGTHS = 7 };

struct reader {
    const unsigned char *bytes;
    size_t at, end; /* bits */
};

/* The next bits, up to 16, which need not all be there; take() goes on. */
static unsigned look(const struct reader *r, unsigned count) {
    uint32_t value = 0;
    size_t first = r->at / 8;
    for (size_t i = 0; i < 3 && first + i < r->end / 8; i++) value |= (uint32_t)r->bytes[first + i] << (8 * i);
    return value >> (r->at % 8) & ((1u << count) - 1);
}

static unsigned take(struct reader *r, unsigned count) {
    unsigned value = look(r, count);
    r->at += count;
    return value;
}

/* What is left of the space of codes of `longest` bits: 0 if they are complete, less if there are too many. */
static int space_left(const uint8_t *lengths, int count, int longest, int *used) {
    int left = 1 << longest;
    *used = 0;
    for (int i = 0; i < count; i++) {
        left -= lengths[i] ? 1 << (longest - lengths[i]) : 0;
        *used += lengths[i] > 0;
    }
    return left;
}

/* For each pattern of 7 bits, the first in the lowest bit: the symbol that it begins with, and the bits of that. */
struct pattern {
    uint8_t symbol, bits;
};

static void make_patterns(const uint8_t lengths[19], struct pattern table[128]) {
    unsigned code = 0;
    for (unsigned bits = 1; bits <= LONGEST_OF_LENGTHS; bits++, code <<= 1)
        for (unsigned symbol = 0; symbol < 19; symbol++) {
            if (lengths[symbol] != bits) continue;
            unsigned reversed = 0;
            for (unsigned i = 0; i < bits; i++) reversed |= (code >> i & 1) << (bits - 1 - i);
            for (unsigned i = reversed; i < 128; i += 1u << bits) table[i] = (struct pattern){(uint8_t)symbol, (uint8_t)bits};
            code++;
        }
}

/* The lengths of `count` codes, themselves coded. */
static bool read_lengths(struct reader *r, const struct pattern table[128], uint8_t *lengths, unsigned count) {
    for (unsigned i = 0; i < count;) {
        struct pattern p = table[look(r, LONGEST_OF_LENGTHS)];
        r->at += p.bits;
        if (p.symbol < 16) {
            lengths[i++] = p.symbol;
            continue;
        }
        if (p.symbol == 16 && i == 0) return false;
        unsigned repeat = p.symbol == 16 ? 3 + take(r, 2) : p.symbol == 17 ? 3 + take(r, 3) : 11 + take(r, 7);
        if (repeat > count - i) return false;
        memset(lengths + i, p.symbol == 16 ? lengths[i - 1] : 0, repeat);
        i += repeat;
    }
    return true;
}

static bool own_codes(struct reader *r, struct deflate_header *header) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t of_lengths[19] = {0}, lengths[LENGTHS + DISTANCES];
    struct pattern table[128];
    int used;
    unsigned length_count = take(r, 5) + 257, distance_count = take(r, 5) + 1, count = take(r, 4) + 4;
    if (length_count > LENGTHS || distance_count > DISTANCES) return false;
    for (unsigned i = 0; i < count; i++) of_lengths[order[i]] = (uint8_t)take(r, 3);
    if (space_left(of_lengths, 19, LONGEST_OF_LENGTHS, &used) != 0) return false;
    make_patterns(of_lengths, table);
    if (!read_lengths(r, table, lengths, length_count + distance_count) || r->at > r->end) return false;
    memset(header->lengths, 0, sizeof header->lengths);
    memset(header->distances, 0, sizeof header->distances);
    memcpy(header->lengths, lengths, length_count);
    memcpy(header->distances, lengths + length_count, distance_count);
    if (lengths[DEFLATE_END] == 0 || space_left(header->lengths, LENGTHS, DEFLATE_LONGEST, &used) != 0) return false;
    /* No distance at all, or a single one of one bit, is no fault. */
    int left = space_left(header->distances, DISTANCES, DEFLATE_LONGEST, &used);
    return left == 0 || used == 0 || (used == 1 && left == 1 << (DEFLATE_LONGEST - 1));
}

static void fixed_codes(struct deflate_header *header) {
    memset(header->lengths, 8, sizeof header->lengths);
    memset(header->lengths + 144, 9, 256 - 144);
    memset(header->lengths + 256, 7, 280 - 256);
    memset(header->distances, 5, sizeof header->distances);
}

static bool stored(struct reader *r, struct deflate_header *header) {
    r->at = (r->at + 7) / 8 * 8;
    header->size = take(r, 16);
    return take(r, 16) == (header->size ^ 0xffff) && r->at <= r->end;
}

bool deflate_header_read(const unsigned char *bytes, size_t size, size_t *at, struct deflate_header *header) {
    struct reader r = {bytes, *at, size * 8};
    header->last = take(&r, 1);
    unsigned kind = take(&r, 2);
    if (r.at > r.end || kind == 3) return false;
    header->stored = kind == 0;
    if (kind == 1) fixed_codes(header);
    if ((kind == 0 && !stored(&r, header)) || (kind == 2 && !own_codes(&r, header))) return false;
    *at = r.at;
    return true;
}
