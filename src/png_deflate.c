/* Blocks of deflate (RFC 1951). */
#include "png_deflate.h"
#include <string.h>

enum { LITERALS = 286, DISTANCES = 30, LENGTH_CODES = 19, END = 256, RUN_MARK = 5 };

/* What stands before the codes of a block, and what it costs. */
struct block_codes {
    uint32_t literal_counts[LITERALS], distance_counts[DISTANCES];
    uint8_t lengths[LITERALS + DISTANCES]; /* of both codes, without the unused ends */
    uint8_t literal_lengths[LITERALS], distance_lengths[DISTANCES];
    int literals, distances;
    uint16_t packed[LITERALS + DISTANCES]; /* the lengths as symbols: symbol | extra bits << RUN_MARK */
    int packed_count;
    uint8_t length_lengths[LENGTH_CODES];
};

static unsigned length_code(unsigned length) {
    unsigned below = length - 3;
    if (length == 258) return 285;
    if (below < 8) return 257 + below;
    unsigned high = 31u - (unsigned)__builtin_clz(below);
    return 257 + 4 * (high - 1) + (below >> (high - 2) & 3);
}

static unsigned length_extra(unsigned code) {
    return code < 265 || code == 285 ? 0 : (code - 261) / 4;
}

static unsigned length_base(unsigned code) {
    if (code == 285) return 258;
    return code < 265 ? code - 254 : ((4 + (code - 265) % 4) << ((code - 261) / 4)) + 3;
}

/* ----------------------------------------------------------------------------------------------------- statistics */

static void count_matches(struct block_codes *codes, const struct png_sequence *sequences, size_t count) {
    uint32_t of_length[259] = {0};
    for (size_t i = 0; i < count; i++) {
        of_length[sequences[i].length]++;
        if (sequences[i].length) codes->distance_counts[png_distance_code(sequences[i].distance)]++;
    }
    for (unsigned length = 3; length <= 258; length++) {
        if (of_length[length]) codes->literal_counts[length_code(length)] += of_length[length];
    }
}

/* Lengths of codes follow as symbols 0 … 15, 16: the one before 3 to 6 times, 17 and 18: 3 to 10 and 11 to 138 zeros. */
static void pack_lengths(struct block_codes *codes) {
    int n = codes->literals + codes->distances;
    uint16_t *to = codes->packed;
    for (int i = 0; i < n;) {
        int value = codes->lengths[i], run = 1;
        while (i + run < n && codes->lengths[i + run] == value) run++;
        i += run;
        if (value) {
            *to++ = (uint16_t)value;
            run--;
        }
        while (run >= 3) {
            int symbol = value ? 16 : run < 11 ? 17 : 18, most = value ? 6 : run < 11 ? 10 : 138, part = run < most ? run : most;
            *to++ = (uint16_t)(symbol | (part - (symbol == 18 ? 11 : 3)) << RUN_MARK);
            run -= part;
        }
        while (run-- > 0) *to++ = (uint16_t)value;
    }
    codes->packed_count = (int)(to - codes->packed);
}

static unsigned packed_extra(unsigned symbol) {
    return symbol == 16 ? 2 : symbol == 17 ? 3 : symbol == 18 ? 7 : 0;
}

static void make_codes(struct block_codes *codes) {
    uint32_t length_counts[LENGTH_CODES] = {0};
    png_code_lengths(codes->literal_counts, LITERALS, PNG_CODE_LIMIT, codes->literal_lengths);
    png_code_lengths(codes->distance_counts, DISTANCES, 15, codes->distance_lengths);
    codes->literals = LITERALS;
    codes->distances = DISTANCES;
    while (codes->literals > 257 && codes->literal_lengths[codes->literals - 1] == 0) codes->literals--;
    while (codes->distances > 1 && codes->distance_lengths[codes->distances - 1] == 0) codes->distances--;
    memcpy(codes->lengths, codes->literal_lengths, (size_t)codes->literals);
    memcpy(codes->lengths + codes->literals, codes->distance_lengths, (size_t)codes->distances);
    pack_lengths(codes);
    for (int i = 0; i < codes->packed_count; i++) length_counts[codes->packed[i] & 31]++;
    png_code_lengths(length_counts, LENGTH_CODES, 7, codes->length_lengths);
}

/* --------------------------------------------------------------------------------------------------------- writing */

static void add(struct png_bits *bits, uint64_t value, unsigned count) {
    png_bits_add(bits, value, count);
    png_bits_flush(bits);
}

static void write_codes(const struct block_codes *codes, struct png_bits *bits) {
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint16_t values[LENGTH_CODES];
    int last = LENGTH_CODES;
    while (last > 4 && codes->length_lengths[order[last - 1]] == 0) last--;
    add(bits, (uint64_t)(codes->literals - 257) | (uint64_t)(codes->distances - 1) << 5 | (uint64_t)(last - 4) << 10, 14);
    for (int i = 0; i < last; i++) add(bits, codes->length_lengths[order[i]], 3);
    png_code_values(codes->length_lengths, LENGTH_CODES, values);
    for (int i = 0; i < codes->packed_count; i++) {
        unsigned symbol = codes->packed[i] & 31, length = codes->length_lengths[symbol];
        add(bits, values[symbol] | (uint64_t)(codes->packed[i] >> RUN_MARK) << length, length + packed_extra(symbol));
    }
}

static void codes_for_writing(const uint8_t *literal_lengths, const uint8_t *distance_lengths, struct png_codes *to) {
    uint16_t values[LITERALS + 2], distances[DISTANCES];
    png_code_values(literal_lengths, LITERALS, values);
    png_code_values(distance_lengths, DISTANCES, distances);
    memcpy(to->literal, values, sizeof to->literal);
    memcpy(to->literal_bits, literal_lengths, sizeof to->literal_bits);
    to->end = values[END] | (uint32_t)literal_lengths[END] << 24;
    for (unsigned length = 3; length <= 258; length++) {
        unsigned code = length_code(length), bits = literal_lengths[code];
        to->length[length] = values[code] | (length - length_base(code)) << bits | (bits + length_extra(code)) << 24;
    }
    for (int i = 0; i < DISTANCES; i++) {
        to->distance[i] = distances[i];
        to->distance_bits[i] = distance_lengths[i];
    }
}

void png_stored_write(const unsigned char *bytes, size_t n, bool final, struct png_bits *bits) {
    do {
        size_t part = n < 65535 ? n : 65535;
        add(bits, final && part == n, 3);
        unsigned char *to = bits->at + (bits->count > 0);
        if (bits->count) bits->at[0] = (unsigned char)bits->wait;
        to[0] = (unsigned char)part;
        to[1] = (unsigned char)(part >> 8);
        to[2] = (unsigned char)~part;
        to[3] = (unsigned char)~(part >> 8);
        memcpy(to + 4, bytes, part);
        *bits = (struct png_bits){0, 0, to + 4 + part};
        bytes += part;
        n -= part;
    } while (n);
}

/* A byte that was not looked at must have a code, too. Few are large, so that small ones get one at any rate and large ones are
 * looked for: many codes that nothing uses take room from the others, as none is longer than the limit. */
static void count_rest(const struct png_code_kernels *kernels, const unsigned char *bytes, const struct png_sequence *sequences,
                       size_t count, uint32_t counts[LITERALS]) {
    uint64_t all = 0, beyond = 0;
    int size = 127;
    for (int i = 0; i < 256; i++) all += counts[i];
    beyond = counts[128];
    for (; size > 0 && beyond * 1024 <= all; size--) beyond += counts[size] + counts[256 - size];
    if (size > 96) size = 127; /* noise: hardly a byte that does not occur */
    if (size < 127) kernels->find_rare(bytes, sequences, count, size, counts);
    for (int i = size < 127 ? -size : -128; i <= size; i++) counts[i & 255] += counts[i & 255] == 0;
}

/* For writing, some of the literals are enough; where two ways are compared, one with many literals in a row would seem better. */
static void count_block(const struct png_code_kernels *kernels, const unsigned char *bytes, const struct png_sequence *sequences,
                        size_t count, bool all, struct block_codes *codes) {
    bool sampled = false;
    kernels->count(bytes, sequences, count, all, codes->literal_counts);
    for (size_t i = 0; i < count && !all; i++) sampled |= sequences[i].literals >= PNG_COUNT_ALL;
    if (sampled) count_rest(kernels, bytes, sequences, count, codes->literal_counts);
    count_matches(codes, sequences, count);
    make_codes(codes);
}

uint64_t png_block_bits(const struct png_code_kernels *kernels, const unsigned char *bytes, const struct png_sequence *sequences,
                        size_t count, uint8_t literal_bits[256]) {
    struct block_codes codes = {.literal_counts[END] = 1};
    count_block(kernels, bytes, sequences, count, true, &codes);
    uint64_t bits = 0;
    for (int i = 0; literal_bits && i < 256; i++)
        literal_bits[i] = codes.literal_lengths[i] ? codes.literal_lengths[i] : PNG_CODE_LIMIT;
    for (unsigned i = 0; i < LITERALS; i++)
        bits += (uint64_t)codes.literal_counts[i] * (codes.literal_lengths[i] + (i > END ? length_extra(i) : 0));
    for (unsigned i = 0; i < DISTANCES; i++)
        bits += (uint64_t)codes.distance_counts[i] * (codes.distance_lengths[i] + png_distance_extra(i));
    for (int i = 0; i < codes.packed_count; i++) {
        unsigned symbol = codes.packed[i] & 31;
        bits += codes.length_lengths[symbol] + packed_extra(symbol);
    }
    return bits;
}

void png_block_write(const struct png_code_kernels *kernels, const unsigned char *bytes, size_t n,
                     const struct png_sequence *sequences, size_t count, bool final, struct png_bits *bits) {
    struct block_codes codes = {.literal_counts[END] = 1};
    struct png_codes to;
    struct png_bits start = *bits;
    count_block(kernels, bytes, sequences, count, false, &codes);
    add(bits, final | 2 << 1, 3);
    write_codes(&codes, bits);
    codes_for_writing(codes.literal_lengths, codes.distance_lengths, &to);
    kernels->put(bytes, sequences, count, &to, bits);
    add(bits, to.end & 0xffffff, to.end >> 24);
    if ((size_t)(bits->at - start.at) > n + n / 65535 * 5 + 6) {
        *bits = start;
        png_stored_write(bytes, n, final, bits);
    }
}
