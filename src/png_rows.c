/* Choosing filters row by row. */
#include "png_rows.h"
#include <string.h>

/* Two rows in the file's byte order, and one row of a trial. */
size_t png_rows_scratch(const struct png_rows *format) {
    return format->row_bytes * 3;
}

/* 256 times the binary logarithm of n > 0, linear between powers of two: the same on every machine. */
static uint32_t log2_fixed(uint32_t n) {
    unsigned whole = 31u - (unsigned)__builtin_clz(n);
    return (whole << 8) + (uint32_t)(((uint64_t)n << 8 >> whole) & 255);
}

/* Bits times 256 that the bytes would take if each were coded by how often it occurs in the row. */
static uint64_t entropy(const unsigned char *bytes, size_t n) {
    uint32_t counts[4][256] = {{0}};
    uint64_t bits = 0;
    uint32_t all = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    for (uint32_t i = 0; i < all; i++) counts[i & 3][bytes[i]]++;
    for (int i = 0; i < 256; i++) {
        uint32_t count = counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];
        if (count) bits += (uint64_t)count * (log2_fixed(all) - log2_fixed(count));
    }
    return bits;
}

static int least_size(const struct png_rows *format, const unsigned char *row, const unsigned char *above) {
    uint64_t sizes[PNG_FILTERS];
    int best = PNG_SUB;
    format->kernels->measure(row, above, format->row_bytes, format->bpp, sizes);
    /* Bytes as they are never win by this measure where they should, and win by chance in dark rows. */
    for (int filter = PNG_UP; filter < PNG_FILTERS && above; filter++)
        if (sizes[filter] < sizes[best] || (filter == PNG_PAETH && sizes[filter] == sizes[best])) best = filter;
    return best;
}

static int least_entropy(const struct png_rows *format, const unsigned char *row, const unsigned char *above, unsigned char *trial) {
    uint64_t least = UINT64_MAX;
    int best = PNG_NONE;
    for (int filter = PNG_NONE; filter < (above ? PNG_FILTERS : PNG_UP); filter++) {
        format->kernels->apply(filter, row, above, format->row_bytes, format->bpp, trial);
        uint64_t bits = entropy(trial, format->row_bytes);
        if (bits < least) {
            least = bits;
            best = filter;
        }
    }
    return best;
}

void png_rows_filter(const struct png_rows *format, int choice, const unsigned char *rows, ptrdiff_t stride, int count,
                     unsigned char *scratch, unsigned char *out) {
    const unsigned char *above = NULL;
    for (int i = 0; i < count; i++) {
        const unsigned char *row = rows + i * stride;
        if (format->wide) {
            unsigned char *turned = scratch + (size_t)(i & 1) * format->row_bytes;
            format->kernels->swap((const uint16_t *)row, format->row_bytes / 2, (uint16_t *)turned);
            row = turned;
        }
        int filter = choice;
        if (choice == PNG_BY_SIZE) filter = least_size(format, row, above);
        if (choice == PNG_BY_ENTROPY) filter = least_entropy(format, row, above, scratch + 2 * format->row_bytes);
        if (!above && filter >= PNG_UP) filter = PNG_SUB;
        *out++ = (unsigned char)filter;
        format->kernels->apply(filter, row, above, format->row_bytes, format->bpp, out);
        out += format->row_bytes;
        above = row;
    }
}
