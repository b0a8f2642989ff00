/* The five filters of PNG, forward: what is written for a row is its difference from a prediction out of the pixels to the
 * left, above, and above left. */
#ifndef PNG_FILTER_H
#define PNG_FILTER_H
#include "kernel.h"
#include <stddef.h>

/* The numbers that stand before a row in the file. */
enum png_filter { PNG_NONE, PNG_SUB, PNG_UP, PNG_AVERAGE, PNG_PAETH, PNG_FILTERS };

struct png_filter_kernels {
    /* `n` bytes of `row`, `bpp` bytes a pixel (1 to 8), into `out`; no buffer overlaps another. `above` is the row above, of which
     * PNG_NONE and PNG_SUB want nothing. */
    void (*apply)(int filter, const unsigned char *row, const unsigned char *above, size_t n, size_t bpp, unsigned char *out);
    /* For every filter but PNG_NONE the sum of the sizes of what it would give, taken as signed numbers: the usual guess at how well
     * a row will compress. Of long rows 64 in each 256 bytes are looked at. Without `above` only PNG_SUB is measured. */
    void (*measure)(const unsigned char *row, const unsigned char *above, size_t n, size_t bpp, uint64_t sizes[PNG_FILTERS]);
    /* Samples of 16 bits as PNG has them, the high byte first. */
    void (*swap)(const uint16_t *samples, size_t n, uint16_t *out);
};
KERNEL_TABLE(png_filter);
#endif
