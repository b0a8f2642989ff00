/* Where the rows of pixels stand in a BMP or TGA file that is not packed, so that one that ends early can be read as far as it
 * goes. The header must be complete. */
#ifndef STB_ROWS_H
#define STB_ROWS_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct stb_rows {
    uint64_t offset, bytes; /* of the first one in the file, and of each; 0 bytes: packed */
    bool upwards;           /* the last row of the image comes first */
    int64_t there;          /* how many are there */
};

static inline uint32_t little_endian(const unsigned char *b, int bytes) {
    uint32_t value = 0;
    while (bytes-- > 0) value = value << 8 | b[bytes];
    return value;
}

static inline struct stb_rows bmp_rows(const unsigned char *b, uint64_t width) {
    bool old = little_endian(b + 14, 4) == 12;
    unsigned depth = little_endian(b + (old ? 24 : 28), 2);
    return (struct stb_rows){little_endian(b + 10, 4), (width * depth + 31) / 32 * 4, old || b[25] < 0x80, 0};
}

static inline struct stb_rows tga_rows(const unsigned char *b, uint64_t width) {
    uint64_t palette = b[1] ? (uint64_t)little_endian(b + 5, 2) * ((b[7] + 7u) / 8) : 0;
    return (struct stb_rows){18 + b[0] + palette, b[2] & 8 ? 0 : width * ((b[16] + 7u) / 8), !(b[17] & 0x20), 0};
}

/* Rows that are not there become 0. */
static inline void stb_rows_wipe(const struct stb_rows *rows, unsigned char *image, size_t row_bytes, int64_t height) {
    size_t missing = (size_t)(height - rows->there) * row_bytes;
    memset(image + (rows->upwards ? 0 : (size_t)rows->there * row_bytes), 0, missing);
}
#endif
