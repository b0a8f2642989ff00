/* Bytes of several kinds, and what zlib makes of them with settings at random. */
#ifndef DEFLATE_CONTENT_H
#define DEFLATE_CONTENT_H
#include "deflate_writer.h"

static inline unsigned char content_byte(uint64_t *seed, int kind, const unsigned char *all, size_t i, size_t distance) {
    if (kind == 0) return (unsigned char)png_random(seed);
    if (kind == 1) return i ? all[0] : (unsigned char)png_random(seed);
    if (kind == 2) return (unsigned char)(i / 50 + up_to(seed, 3));
    if (kind == 3) return i >= distance ? all[i - distance] : (unsigned char)png_random(seed);
    if (kind == 4) return (unsigned char)(up_to(seed, 3) ? up_to(seed, 3) : up_to(seed, 40));
    return 0;
}

/* Random, constant, smooth, repeated, few values, zeros, or a mixture of these. */
static inline struct bytes make_content(uint64_t *seed, size_t size, char *name) {
    static const size_t far[4] = {32768, 32767, 32506, 258};
    struct bytes b = {0};
    int kind = (int)up_to(seed, 6);
    size_t distance = up_to(seed, 4) ? 1 + up_to(seed, 39) : far[up_to(seed, 3)];
    bytes_grow(&b, size);
    sprintf(name, "content %d of %zu bytes, distance %zu", kind, size, distance);
    for (size_t i = 0, until = 0, part = 0; i < size; i++) {
        if (kind == 6 && i >= until) until = i + 1 + up_to(seed, 3000), part = up_to(seed, 5);
        b.at[i] = content_byte(seed, kind == 6 ? (int)part : kind, b.at, i, distance);
    }
    return b;
}

/* With flushes at random places. */
static inline struct bytes compress_content(uint64_t *seed, const struct bytes *content, char *name) {
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
    static const int flushes[] = {Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK};
    int window = up_to(seed, 9) ? 15 : 9 + (int)up_to(seed, 5), level = (int)up_to(seed, 9), memory = 1 + (int)up_to(seed, 8);
    int strategy = strategies[up_to(seed, 1) ? 0 : up_to(seed, 4)];
    size_t most = up_to(seed, 1) ? content->size : 1 + up_to(seed, (uint32_t)content->size / 2);
    struct bytes packed = {0};
    z_stream z = {0};
    if (deflateInit2(&z, level, Z_DEFLATED, window, memory, strategy) != Z_OK) abort();
    if (content->size / most > 400) most = content->size / 400;
    sprintf(name + strlen(name), ", level %d, window %d, memory %d, strategy %d", level, window, memory, strategy);
    for (size_t at = 0, part; at < content->size; at += part) {
        part = 1 + up_to(seed, (uint32_t)most - 1);
        if (part > content->size - at) part = content->size - at;
        z.next_in = content->at + at;
        z.avail_in = (uInt)part;
        int flush = at + part == content->size ? Z_FINISH : flushes[up_to(seed, 4)], times = (int)up_to(seed, 2);
        do {
            z.avail_out = (uInt)(2 * part + 20000);
            z.next_out = bytes_grow(&packed, z.avail_out);
            if (deflate(&z, flush) == Z_STREAM_ERROR) abort();
            packed.size -= z.avail_out;
        } while (z.avail_out == 0 || (flush != Z_FINISH && times-- > 0));
    }
    deflateEnd(&z);
    return packed;
}
#endif
