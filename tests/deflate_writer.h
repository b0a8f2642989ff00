/* A writer of deflate streams (RFC 1951) that no compressor would make: any block, any code, any token. It keeps the bytes that the
 * stream stands for. What it writes is sound unless the caller asks for something else. */
#ifndef DEFLATE_WRITER_H
#define DEFLATE_WRITER_H
#include "png_files.h"

struct bytes {
    unsigned char *at;
    size_t size, room;
};

static inline unsigned char *bytes_grow(struct bytes *b, size_t size) {
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size) + 64;
        b->at = realloc(b->at, b->room);
        if (!b->at) abort();
    }
    b->size += size;
    return b->at + b->size - size;
}

static inline void bytes_add(struct bytes *b, const void *from, size_t size) {
    unsigned char *to = bytes_grow(b, size);
    if (size) memcpy(to, from, size);
}

static inline uint32_t up_to(uint64_t *seed, uint32_t most) {
    return png_random(seed) % (most + 1);
}

enum { END_OF_BLOCK = 256, CODES_MOST = 288 };

/* bits[s] is the length of the code of symbol s, 0 without one; pattern[s] has its first bit lowest. */
struct code {
    uint8_t bits[CODES_MOST];
    uint16_t pattern[CODES_MOST];
    int used;
    uint16_t symbols[CODES_MOST]; /* that have a code, upwards */
};

struct writer {
    struct bytes packed, raw;
    uint64_t seed;
    uint32_t hold, held; /* bits that do not yet fill a byte */
};

static inline void put_bits(struct writer *w, uint32_t value, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        w->hold |= (value >> i & 1) << w->held++;
        if (w->held < 8) continue;
        *bytes_grow(&w->packed, 1) = (unsigned char)w->hold;
        w->hold = w->held = 0;
    }
}

/* What fills the last byte is for nobody to look at. */
static inline void put_align(struct writer *w) {
    if (w->held) put_bits(w, png_random(&w->seed), 8 - w->held);
}

static inline void put_symbol(struct writer *w, const struct code *code, int symbol) {
    put_bits(w, code->pattern[symbol], code->bits[symbol]);
}

/* --------------------------------------------------------------------------------------------------------------- codes */

/* From the lengths to all the rest. */
static inline void code_assign(struct code *code) {
    uint32_t next = 0;
    code->used = 0;
    for (int s = 0; s < CODES_MOST; s++)
        if (code->bits[s]) code->symbols[code->used++] = (uint16_t)s;
    for (uint32_t bits = 1; bits <= 15; bits++, next <<= 1)
        for (int i = 0; i < code->used; i++) {
            int s = code->symbols[i];
            if (code->bits[s] != bits) continue;
            code->pattern[s] = 0;
            for (uint32_t k = 0; k < bits; k++) code->pattern[s] |= (uint16_t)((next >> k & 1) << (bits - 1 - k));
            next++;
        }
}

enum shape { FLAT, RANDOM, DEEP, SHAPES };

/* Which leaf of the tree becomes a branch. */
static inline int leaf_to_split(uint64_t *seed, const uint8_t *depth, int count, int longest, enum shape shape) {
    int best = -1;
    for (int tries = 0; shape == RANDOM && tries < 20; tries++) {
        int i = (int)up_to(seed, (uint32_t)count - 1);
        if (depth[i] < longest) return i;
    }
    for (int i = 0; i < count; i++) {
        if (depth[i] >= longest) continue;
        if (best < 0 || (shape == DEEP ? depth[i] > depth[best] : depth[i] < depth[best])) best = i;
    }
    return best;
}

/* A complete code for `count` symbols; for a single one, one of one bit. */
static inline void code_make(struct code *code, uint64_t *seed, const uint16_t *symbols, int count, int longest, enum shape shape) {
    uint8_t depth[CODES_MOST] = {count == 1};
    memset(code, 0, sizeof *code);
    for (int leaves = 1; leaves < count; leaves++) {
        int i = leaf_to_split(seed, depth, leaves, longest, shape);
        depth[leaves] = ++depth[i];
    }
    for (int i = count - 1; i > 0; i--) {
        int k = (int)up_to(seed, (uint32_t)i);
        uint8_t swap = depth[i];
        depth[i] = depth[k];
        depth[k] = swap;
    }
    for (int i = 0; i < count; i++) code->bits[symbols[i]] = depth[i];
    code_assign(code);
}

static inline void code_fixed(struct code *lengths, struct code *distances) {
    memset(lengths, 0, sizeof *lengths);
    memset(distances, 0, sizeof *distances);
    for (int i = 0; i < 288; i++) lengths->bits[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    for (int i = 0; i < 32; i++) distances->bits[i] = 5;
    code_assign(lengths);
    code_assign(distances);
}

/* Some of `from` to `to`: all, few, or each with an equal chance; `count` are there before. */
static inline int choose(uint64_t *seed, uint16_t *symbols, int count, int from, int to) {
    uint32_t kind = up_to(seed, 4);
    for (int s = from; s <= to && kind > 0; s++) {
        bool take = kind == 1 || (kind == 2 ? up_to(seed, 30) == 0 : kind == 3 ? s - from < 3 : up_to(seed, 1) == 0);
        if (take) symbols[count++] = (uint16_t)s;
    }
    return count;
}

static inline void code_random_lengths(struct code *code, uint64_t *seed) {
    uint16_t symbols[CODES_MOST];
    int count = choose(seed, symbols, 0, 0, 255);
    count = choose(seed, symbols, count, 257, 285);
    if (count == 0) symbols[count++] = (uint16_t)up_to(seed, 255);
    symbols[count++] = END_OF_BLOCK;
    code_make(code, seed, symbols, count, 15, (enum shape)up_to(seed, SHAPES - 1));
}

static inline void code_random_distances(struct code *code, uint64_t *seed) {
    uint16_t symbols[30];
    int count = choose(seed, symbols, 0, 0, 29);
    if (up_to(seed, 4) == 0) symbols[0] = (uint16_t)up_to(seed, 29), count = 1;
    code_make(code, seed, symbols, count, 15, (enum shape)up_to(seed, SHAPES - 1));
}

/* ------------------------------------------------------------------------------------------------------------- headers */

/* The lengths of both codes as they are sent: symbols 0 to 18, with what follows 16, 17 and 18. */
struct lengths_sent {
    int count;
    uint8_t symbol[640], extra[640];
};

static inline void send(struct lengths_sent *sent, int symbol, uint32_t extra) {
    sent->symbol[sent->count] = (uint8_t)symbol;
    sent->extra[sent->count++] = (uint8_t)extra;
}

static inline void send_lengths(struct lengths_sent *sent, uint64_t *seed, const uint8_t *lengths, int count) {
    bool plain = up_to(seed, 7) == 0;
    for (int i = 0, run; i < count; i += run) {
        int same = 1;
        while (i + same < count && lengths[i + same] == lengths[i]) same++;
        run = 1;
        int most = lengths[i] ? 6 : same > 10 && up_to(seed, 3) ? 138 : 10;
        bool again = i > 0 && lengths[i] == lengths[i - 1] && up_to(seed, 1);
        if (same >= 3 && !plain && up_to(seed, 7) && (again || !lengths[i])) {
            run = up_to(seed, 1) ? same : 3 + (int)up_to(seed, (uint32_t)same - 3);
            if (again && (lengths[i] || up_to(seed, 3) == 0)) most = 6;
            if (run > most) run = most;
            if (most == 6)
                send(sent, 16, (uint32_t)run - 3);
            else if (run > 10)
                send(sent, 18, (uint32_t)run - 11);
            else
                send(sent, 17, (uint32_t)run - 3);
        } else {
            send(sent, lengths[i], 0);
        }
    }
}

static const uint8_t code_order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

/* The code of the code lengths, for those that are sent and some that are not. */
static inline void code_of_lengths(struct code *code, uint64_t *seed, const struct lengths_sent *sent) {
    uint16_t symbols[19];
    bool used[19] = {false};
    int count = 0;
    for (int i = 0; i < sent->count; i++) used[sent->symbol[i]] = true;
    for (int i = 0; i < 19; i++)
        if (used[i] || up_to(seed, 9) == 0) symbols[count++] = (uint16_t)i;
    if (count == 1) symbols[count++] = (uint16_t)(symbols[0] == 18 ? 0 : symbols[0] + 1);
    code_make(code, seed, symbols, count, 7, (enum shape)up_to(seed, SHAPES - 1));
}

/* `length_count` and `distance_count` as they stand in the stream: less 257 and 1. */
static inline void put_lengths(struct writer *w, uint32_t length_count, uint32_t distance_count, const struct code *code,
                               const struct lengths_sent *sent) {
    int last = 18;
    while (last > 3 && !code->bits[code_order[last]]) last--;
    last += (int)up_to(&w->seed, (uint32_t)(18 - last));
    put_bits(w, length_count, 5);
    put_bits(w, distance_count, 5);
    put_bits(w, (uint32_t)last - 3, 4);
    for (int i = 0; i <= last; i++) put_bits(w, code->bits[code_order[i]], 3);
    for (int i = 0; i < sent->count; i++) {
        put_symbol(w, code, sent->symbol[i]);
        if (sent->symbol[i] >= 16) put_bits(w, sent->extra[i], sent->symbol[i] == 16 ? 2 : sent->symbol[i] == 17 ? 3 : 7);
    }
}

/* Behind them may come some that are 0. */
static inline int lengths_needed(uint64_t *seed, const struct code *code, int least, int most) {
    int last = code->used ? code->symbols[code->used - 1] + 1 : 0;
    if (last < least) last = least;
    return up_to(seed, 1) || last >= most ? last : last + (int)up_to(seed, (uint32_t)(most - last));
}

static inline void put_dynamic(struct writer *w, bool final, const struct code *lengths, const struct code *distances) {
    uint8_t both[CODES_MOST + 32];
    struct lengths_sent sent;
    struct code code;
    sent.count = 0;
    int n = lengths_needed(&w->seed, lengths, 257, 286), m = lengths_needed(&w->seed, distances, 1, 30);
    memcpy(both, lengths->bits, (size_t)n);
    memcpy(both + n, distances->bits, (size_t)m);
    send_lengths(&sent, &w->seed, both, n + m);
    code_of_lengths(&code, &w->seed, &sent);
    put_bits(w, (uint32_t) final | 2 << 1, 3);
    put_lengths(w, (uint32_t)n - 257, (uint32_t)m - 1, &code, &sent);
}

/* -------------------------------------------------------------------------------------------------------------- tokens */

static const uint16_t length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                         31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint16_t distance_base[30] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
                                           193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

static inline uint32_t length_extra(int i) {
    return i < 8 || i == 28 ? 0 : (uint32_t)i / 4 - 1;
}

static inline uint32_t distance_extra(int i) {
    return i < 2 ? 0 : (uint32_t)i / 2 - 1;
}

static inline void put_literal(struct writer *w, const struct code *lengths, int value) {
    put_symbol(w, lengths, value);
    *bytes_grow(&w->raw, 1) = (unsigned char)value;
}

/* In front of the first byte are zeros, for what must be refused. `symbol` is 257 to 285. */
static inline void put_copy(struct writer *w, const struct code *lengths, const struct code *distances, int symbol, uint32_t length,
                            uint32_t distance) {
    int d = 29;
    while (distance_base[d] > distance) d--;
    put_symbol(w, lengths, symbol);
    put_bits(w, length - length_base[symbol - 257], length_extra(symbol - 257));
    put_symbol(w, distances, d);
    put_bits(w, distance - distance_base[d], distance_extra(d));
    for (uint32_t i = 0; i < length; i++) {
        unsigned char *to = bytes_grow(&w->raw, 1);
        *to = w->raw.size > distance ? *(to - distance) : 0;
    }
}

/* The symbol of a length, where 258 has two. */
static inline int length_symbol(uint64_t *seed, uint32_t length) {
    int i = length == 258 && up_to(seed, 1) ? 27 : 28;
    while (length_base[i] > length) i--;
    return 257 + i;
}

/* Of some symbols the one with the shortest code, or any. */
static inline int pick(uint64_t *seed, const struct code *code, int from, int to, uint32_t tries) {
    int best = code->symbols[from + (int)up_to(seed, (uint32_t)(to - from - 1))];
    while (tries--) {
        int other = code->symbols[from + (int)up_to(seed, (uint32_t)(to - from - 1))];
        if (code->bits[other] < code->bits[best]) best = other;
    }
    return best;
}

/* `tokens` that the codes have and that there is history for, up to `most` bytes in all; and the end of the block. */
static inline void put_tokens(struct writer *w, const struct code *lengths, const struct code *distances, int tokens, size_t most) {
    const uint32_t copies = up_to(&w->seed, 4) * 25, tries = up_to(&w->seed, 1) * up_to(&w->seed, 6), near = up_to(&w->seed, 1);
    int literals = 0, last = lengths->used, far = 0, all = distances->used;
    while (literals < lengths->used && lengths->symbols[literals] < END_OF_BLOCK) literals++;
    while (lengths->symbols[last - 1] > 285) last--;
    while (all > 0 && distances->symbols[all - 1] > 29) all--;
    for (; tokens > 0 && w->raw.size < most; tokens--) {
        const size_t history = w->raw.size < 32768 ? w->raw.size : 32768;
        while (far < all && distance_base[distances->symbols[far]] <= history) far++;
        const bool can_copy = far > 0 && last > literals + 1;
        if (can_copy && (literals == 0 || up_to(&w->seed, 99) < copies)) {
            const int symbol = pick(&w->seed, lengths, literals + 1, last, tries);
            const int d = pick(&w->seed, distances, 0, near && far > 6 ? 6 : far, tries);
            const uint32_t length = length_base[symbol - 257] + up_to(&w->seed, (1u << length_extra(symbol - 257)) - 1);
            uint32_t distance = distance_base[d] + (up_to(&w->seed, 3) ? up_to(&w->seed, (1u << distance_extra(d)) - 1) : 0);
            if (distance > history) distance = (uint32_t)history;
            put_copy(w, lengths, distances, symbol, length, distance);
        } else if (literals > 0) {
            put_literal(w, lengths, pick(&w->seed, lengths, 0, literals, tries));
        }
    }
    put_symbol(w, lengths, END_OF_BLOCK);
}

/* -------------------------------------------------------------------------------------------------------------- blocks */

static inline void put_stored(struct writer *w, bool final, uint32_t size) {
    put_bits(w, final, 3);
    put_align(w);
    put_bits(w, size | ~size << 16, 32);
    while (size--) {
        unsigned char byte = (unsigned char)png_random(&w->seed);
        bytes_add(&w->packed, &byte, 1);
        bytes_add(&w->raw, &byte, 1);
    }
}

static inline void put_begin(struct writer *w, uint64_t seed) {
    static const unsigned char level[4] = {0x01, 0x5e, 0x9c, 0xda};
    *w = (struct writer){.seed = seed};
    put_bits(w, 0x78 | (uint32_t)level[up_to(&w->seed, 3)] << 8, 16);
}

/* With the sum of the first `size` bytes. */
static inline void put_sum(struct writer *w, size_t size) {
    uint32_t adler = (uint32_t)adler32(1, w->raw.at, (uInt)size);
    put_align(w);
    for (int i = 0; i < 4; i++) put_bits(w, adler >> (24 - 8 * i) & 0xff, 8);
}

static inline void put_end(struct writer *w) {
    put_sum(w, w->raw.size);
}

static inline void put_block(struct writer *w, bool final, int tokens, size_t most) {
    struct code lengths, distances;
    const uint32_t kind = up_to(&w->seed, 9);
    if (up_to(&w->seed, 9) == 0) tokens = 0;
    if (kind == 0) {
        const uint32_t all = most > 100000 ? 65535 : up_to(&w->seed, 1);
        put_stored(w, final, up_to(&w->seed, 2) ? up_to(&w->seed, tokens < 65535 ? (uint32_t)tokens : 65535) : all);
        return;
    }
    if (kind < 3) {
        code_fixed(&lengths, &distances);
        put_bits(w, (uint32_t) final | 1 << 1, 3);
    } else {
        code_random_lengths(&lengths, &w->seed);
        code_random_distances(&distances, &w->seed);
        put_dynamic(w, final, &lengths, &distances);
    }
    put_tokens(w, &lengths, &distances, tokens, most);
}

/* Anything that is allowed. At least one byte. */
static inline void put_stream(struct writer *w, uint64_t seed, int blocks, int tokens, size_t most) {
    put_begin(w, seed);
    for (int i = 1; i < blocks; i++) put_block(w, false, 1 + (int)up_to(&w->seed, (uint32_t)tokens), most);
    if (w->raw.size == 0) put_stored(w, false, 1);
    put_block(w, true, (int)up_to(&w->seed, (uint32_t)tokens), most);
    put_end(w);
}
#endif
