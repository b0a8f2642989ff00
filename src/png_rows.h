/* From rows of pixels to the filtered bytes that a PNG compresses. */
#ifndef PNG_ROWS_H
#define PNG_ROWS_H
#include "png_filter.h"

/* How the filter of a row is chosen: one of enum png_filter for all, or by a measure of what it gives. */
enum { PNG_BY_SIZE = PNG_FILTERS, PNG_BY_ENTROPY };

struct png_rows {
    const struct png_filter_kernels *kernels;
    size_t row_bytes, bpp; /* of a row, and of a pixel */
    bool wide;             /* samples of 16 bits, to be turned round */
};

/* Bytes of `count` filtered rows: before each one the number of its filter. */
static inline size_t png_rows_size(const struct png_rows *format, int count) {
    return (format->row_bytes + 1) * (size_t)count;
}

/* Bytes of scratch that png_rows_filter() wants. */
size_t png_rows_scratch(const struct png_rows *format);
/* Filters `count` rows, row i at rows + i * stride, into `out`, row_bytes + 1 for each. The first row does without a row above. */
void png_rows_filter(const struct png_rows *format, int choice, const unsigned char *rows, ptrdiff_t stride, int count,
                     unsigned char *scratch, unsigned char *out);
#endif
