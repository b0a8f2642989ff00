/* Deflate blocks with one fault each, which must be refused. */
#ifndef DEFLATE_WRONG_H
#define DEFLATE_WRONG_H
#include "deflate_writer.h"

/* One length less or more; or one symbol more or less, whose code is the last one, so that the others stay what they are. */
static inline void make_wrong(uint8_t *bits, int count, uint64_t *seed, int longest) {
    const uint32_t kind = up_to(seed, 3);
    int last = 0, most = 0;
    for (int s = 0; s < count; s++)
        if (bits[s] && bits[s] >= most) most = bits[s], last = s;
    if (kind == 0 && most > 1 && last + 1 < count && !bits[last + 1]) {
        bits[last + 1] = (uint8_t)most;
    } else if (kind == 1 && last != END_OF_BLOCK && most > 1) {
        bits[last] = 0;
    } else {
        int s = 0;
        do s = (int)up_to(seed, (uint32_t)count - 1);
        while (!bits[s]);
        bits[s] = (uint8_t)(bits[s] == longest || (bits[s] > 1 && up_to(seed, 1)) ? bits[s] - 1 : bits[s] + 1);
    }
}

/* A block's header with one fault. `from` 0: in the code of literals and lengths, or it has no end of the block; 1: in that of
 * distances; 2: in that of the lengths; 3, 4: in how these are repeated; 5, 6: in how many there are. */
static inline void put_wrong_codes(struct writer *w, int from) {
    struct code c[3];
    struct lengths_sent sent;
    uint8_t both[288 + 32];
    const int n = 286 + (from == 5 ? 1 + (int)up_to(&w->seed, 1) : 0), m = 30 + (from == 6 ? 1 + (int)up_to(&w->seed, 1) : 0);
    do code_random_lengths(&c[0], &w->seed);
    while (c[0].used == 286 || (from == 3 && c[0].bits[0] + c[0].bits[1] + c[0].bits[2] > 0));
    do code_random_distances(&c[1], &w->seed);
    while ((from == 1 && c[1].used == 0) || (from == 4 && c[1].bits[29]));
    memcpy(both, c[0].bits, (size_t)n);
    memcpy(both + n, c[1].bits, (size_t)m);
    if (from == 0 && up_to(&w->seed, 3) == 0) {
        /* Another symbol has the code that the end of the block had. */
        int other = 0;
        while (both[other]) other++;
        both[other] = both[END_OF_BLOCK];
        both[END_OF_BLOCK] = 0;
    } else if (from < 2) {
        make_wrong(from ? both + n : both, from ? m : n, &w->seed, 15);
    }
    sent.count = 0;
    if (from == 3) send(&sent, 16, 0); /* three like the one before, where none is */
    send_lengths(&sent, &w->seed, both + 3 * (from == 3), n + m - 3 * (from == 3));
    if (from == 4) sent.count--, send(&sent, 18, 127); /* more zeros than there are lengths left */
    code_of_lengths(&c[2], &w->seed, &sent);
    if (from == 2) make_wrong(c[2].bits, 19, &w->seed, 7);
    put_bits(w, 1 | 2 << 1, 3);
    put_lengths(w, (uint32_t)n - 257, (uint32_t)m - 1, &c[2], &sent);
    put_tokens(w, &c[0], &c[1], (int)up_to(&w->seed, 20), 1000);
}

/* A distance that is none, behind bytes of 65 alone: who takes it for anything gets three more. */
static inline void put_wrong_distance(struct writer *w, const struct code *lengths, uint32_t pattern, uint32_t bits) {
    put_symbol(w, lengths, 257);
    put_bits(w, pattern, bits);
    memset(bytes_grow(&w->raw, 3), 65, 3);
    put_symbol(w, lengths, END_OF_BLOCK);
}

/* Tokens that stand for nothing, and blocks that are none. */
static inline void put_wrong_token(struct writer *w, int kind) {
    struct code lengths, distances;
    uint16_t symbols[4] = {65, END_OF_BLOCK, 257, 285}, one = 0;
    code_fixed(&lengths, &distances);
    put_bits(w, kind < 6 ? 1 << 1 : 0, kind < 6 ? 3 : 0);
    if (kind < 6) {
        put_literal(w, &lengths, 65);
        for (uint32_t n = up_to(&w->seed, 1) * 130; n > 0; n--) put_copy(w, &lengths, &distances, 285, 258, 1);
        put_symbol(w, &lengths, END_OF_BLOCK);
        put_bits(w, 1 | 1 << 1, kind < 4 ? 3 : 0);
    }
    if (kind < 2) {
        put_symbol(w, &lengths, 286 + kind);
        put_symbol(w, &distances, 0);
        put_symbol(w, &lengths, END_OF_BLOCK);
    } else if (kind < 4) { /* 30 or 31, which might have 14 bits more, or 13 and the end of the block a bit more */
        put_wrong_distance(w, &lengths, distances.pattern[28 + kind], 5 + 14);
    } else if (kind < 6) { /* the code that a lone distance leaves over; no code of distances at all */
        code_make(&lengths, &w->seed, symbols, 4, 15, RANDOM);
        code_make(&distances, &w->seed, &one, kind == 4, 15, FLAT);
        put_dynamic(w, true, &lengths, &distances);
        put_wrong_distance(w, &lengths, kind == 4 ? 1 : up_to(&w->seed, 1), 1);
    } else if (kind == 6) {
        put_stored(w, true, 20);
        w->packed.at[w->packed.size - 22 + up_to(&w->seed, 1)] ^= (unsigned char)(1u << up_to(&w->seed, 7));
    } else {
        put_bits(w, up_to(&w->seed, 1) | 3 << 1, 3);
    }
}
#endif
