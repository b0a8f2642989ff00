/* Undoing the filters of PNG rows (PNG specification, third edition, chapter 9). */
#ifndef PNG_UNFILTER_H
#define PNG_UNFILTER_H
#include "png_filter.h"

/* What may be read, and in `spare` also written, behind the end of a row. */
#define PNG_SLACK 64

struct png_rows {
    const unsigned char *raw;       /* `count` rows of one filter byte, below PNG_FILTERS, and `size` bytes; then PNG_SLACK */
    unsigned char *const *to;       /* where `size` bytes of each go; never into `raw` */
    const unsigned char *above;     /* what the row above the first one became, or zeros */
    unsigned char *spare;           /* size + 1 + PNG_SLACK bytes, initialised */
    int count;
    size_t size;
    size_t pixel;                   /* bytes of a whole pixel, 1 where it has fewer than 8 bits: 1, 2, 3, 4, 6 or 8 */
};

struct png_unfilter_kernels {
    void (*rows)(const struct png_rows *rows);
};
KERNEL_TABLE(png_unfilter);
#endif
