/* PNG files as bytes, and random ones: sound ones, of every kind, with every filter and every way to cut the image data into chunks. */
#ifndef PNG_FILES_H
#define PNG_FILES_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct png_file {
    unsigned char *bytes;
    size_t size;
};

/* A whole file; `bytes` is NULL if it can't be read. */
static inline struct png_file png_load(const char *path) {
    struct png_file file = {0};
    FILE *from = fopen(path, "rb");
    if (!from) return file;
    fseek(from, 0, SEEK_END);
    long size = ftell(from);
    rewind(from);
    file.bytes = malloc((size_t)size + 1);
    if (file.bytes) file.size = fread(file.bytes, 1, (size_t)size, from);
    fclose(from);
    return file;
}

static inline uint32_t png_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static inline void png_put(unsigned char *to, uint32_t value) {
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static inline void png_chunk_add(struct png_file *file, const char *kind, const unsigned char *bytes, size_t size) {
    file->bytes = realloc(file->bytes, file->size + size + 12);
    if (!file->bytes) abort();
    unsigned char *at = file->bytes + file->size;
    png_put(at, (uint32_t)size);
    memcpy(at + 4, kind, 4);
    if (size) memcpy(at + 8, bytes, size);
    png_put(at + 8 + size, (uint32_t)crc32(0, at + 4, (uInt)size + 4));
    file->size += size + 12;
}

/* Makes the CRCs right, as far as the chunks' lengths make sense. */
static inline void png_mend(struct png_file *file) {
    for (size_t at = 8; at + 12 <= file->size;) {
        const unsigned char *b = file->bytes + at;
        size_t length = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
        if (length > file->size - at - 12) return;
        png_put(file->bytes + at + 8 + length, (uint32_t)crc32(0, b + 4, (uInt)length + 4));
        at += length + 12;
    }
}

/* Rows that were never filtered: any bytes are what some image becomes. */
static inline unsigned char *png_raw_rows(uint64_t *seed, uint32_t width, uint32_t height, uint32_t bits, size_t *size) {
    size_t row = ((size_t)width * bits + 7) / 8 + 1;
    unsigned char *raw = malloc(row * height);
    uint32_t kind = png_random(seed) % 3, only = png_random(seed) % 16;
    if (!raw) abort();
    for (size_t i = 0; i < row * height; i++)
        raw[i] = (unsigned char)(kind == 0 ? png_random(seed) : kind == 1 ? png_random(seed) % 5 : i / 7 % 4);
    for (uint32_t y = 0; y < height; y++) raw[y * row] = (unsigned char)(only < 5 ? only : png_random(seed) % 5);
    if (png_random(seed) % 16 == 0) raw[png_random(seed) % height * row] = (unsigned char)(5 + png_random(seed) % 250);
    *size = row * height;
    return raw;
}

static inline unsigned char *png_deflate(uint64_t *seed, const unsigned char *raw, size_t size, size_t *packed_size) {
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
    z_stream z = {.next_in = (unsigned char *)raw, .avail_in = (uInt)size};
    int window = png_random(seed) % 2 ? 15 : 9 + (int)(png_random(seed) % 7);
    if (deflateInit2(&z, (int)(png_random(seed) % 10), Z_DEFLATED, window, 1 + (int)(png_random(seed) % 9),
                     strategies[png_random(seed) % 5]) != Z_OK)
        abort();
    size_t room = deflateBound(&z, (uLong)size) + 64;
    unsigned char *packed = malloc(room);
    if (!packed) abort();
    z.next_out = packed;
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END) abort();
    *packed_size = z.total_out;
    deflateEnd(&z);
    return packed;
}

static inline void png_cut_data(struct png_file *file, uint64_t *seed, const unsigned char *packed, size_t size) {
    uint32_t kind = png_random(seed) % 4, most = kind == 0 ? UINT32_MAX : kind == 1 ? 3 : kind == 2 ? 100 : 5000;
    for (size_t at = 0; at < size;) {
        size_t part = most == UINT32_MAX ? size : png_random(seed) % (most + 1);
        if (part > size - at) part = size - at;
        png_chunk_add(file, "IDAT", packed + at, part);
        at += part;
    }
    if (png_random(seed) % 8 == 0) png_chunk_add(file, "IDAT", NULL, 0);
}

/* A PNG of up to `most` pixels a side, with what it is in `name`. */
static inline struct png_file png_make(uint64_t *seed, uint32_t most, char *name, size_t name_size) {
    static const struct kind {
        int color, channels, depths;
    } kinds[] = {{0, 1, 5}, {2, 3, 2}, {3, 1, 4}, {4, 2, 2}, {6, 4, 2}};
    static const int depths[] = {1, 2, 4, 8, 16}, deep[] = {8, 16};
    const struct kind *kind = &kinds[png_random(seed) % 5];
    int depth = kind->depths == 2 ? deep[png_random(seed) % 2] : depths[png_random(seed) % (uint32_t)kind->depths];
    uint32_t width = 1 + png_random(seed) % most, height = 1 + png_random(seed) % most;
    struct png_file file = {.bytes = malloc(8), .size = 8};
    unsigned char header[13] = {0}, palette[768], clear[256];
    size_t raw_size, packed_size;
    if (!file.bytes) abort();
    memcpy(file.bytes, "\x89PNG\r\n\x1a\n", 8);
    png_put(header, width);
    png_put(header + 4, height);
    header[8] = (unsigned char)depth;
    header[9] = (unsigned char)kind->color;
    png_chunk_add(&file, "IHDR", header, 13);
    for (int i = 0; i < 768; i++) palette[i] = (unsigned char)png_random(seed), clear[i % 256] = (unsigned char)png_random(seed);
    size_t entries = png_random(seed) % 3 ? (size_t)1 << (depth < 8 ? depth : 8) : 1 + png_random(seed) % (1u << (depth < 8 ? depth : 8));
    if (kind->color == 3) png_chunk_add(&file, "PLTE", palette, 3 * entries);
    bool key = kind->color < 4 && png_random(seed) % 3 == 0;
    if (kind->color != 3) memset(clear, 0, png_random(seed) % 2 ? 6 : 1);
    if (key) png_chunk_add(&file, "tRNS", clear, kind->color == 0 ? 2 : kind->color == 2 ? 6 : 1 + png_random(seed) % entries);
    unsigned char *raw = png_raw_rows(seed, width, height, (uint32_t)(depth * kind->channels), &raw_size);
    unsigned char *packed = png_deflate(seed, raw, raw_size, &packed_size);
    png_cut_data(&file, seed, packed, packed_size);
    if (png_random(seed) % 4 == 0) png_chunk_add(&file, "tEXt", (const unsigned char *)"a\0b", 3);
    png_chunk_add(&file, "IEND", NULL, 0);
    free(raw);
    free(packed);
    snprintf(name, name_size, "%u x %u, colour type %d, %d bits%s", width, height, kind->color, depth, key ? ", key" : "");
    return file;
}
#endif
