/* Filtering needs unfiltered bytes alone, so every byte of a row can be computed at once. Everything stays in 8 bits, which
 * is four times as many lanes as the definition's integers would have. */
#include "png_filter.h"
#include <string.h>

static inline uint8_t distance(uint8_t a, uint8_t b) {
    uint8_t high = a > b ? a : b, low = a > b ? b : a;
    return (uint8_t)(high - low);
}

/* The definition compares pa = |b - c|, pb = |a - c| and pc = |(b - c) + (a - c)|. If both differences have one sign, pc is
 * the sum of the other two, thus never the least alone, and any large number does for it; else it is the distance of the two. */
static inline uint8_t paeth(uint8_t a, uint8_t b, uint8_t c) {
    uint8_t pa = distance(b, c), pb = distance(a, c);
    uint8_t one_sign = (uint8_t)((b > c ? 255 : 0) ^ (c > a ? 255 : 0));
    uint8_t pc = (uint8_t)(distance(pa, pb) | one_sign);
    uint8_t nearer = pb <= pc ? b : c;
    uint8_t least = pb < pc ? pb : pc;
    return pa <= least ? a : nearer;
}

static inline uint8_t average(uint8_t a, uint8_t b) {
    return (uint8_t)((a & b) + ((a ^ b) >> 1));
}

static void sub(const uint8_t *restrict row, size_t n, size_t bpp, uint8_t *restrict out) {
    for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(row[i + bpp] - row[i]);
}

static void up(const uint8_t *restrict row, const uint8_t *restrict above, size_t n, uint8_t *restrict out) {
    for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(row[i] - above[i]);
}

static void average_rest(const uint8_t *restrict row, const uint8_t *restrict above, size_t n, size_t bpp, uint8_t *restrict out) {
    for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(row[i + bpp] - average(row[i], above[i + bpp]));
}

static void paeth_rest(const uint8_t *restrict row, const uint8_t *restrict above, size_t n, size_t bpp, uint8_t *restrict out) {
    for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(row[i + bpp] - paeth(row[i], above[i + bpp], above[i]));
}

/* Left of the first pixel all is zero. */
static void apply(int filter, const unsigned char *row, const unsigned char *above, size_t n, size_t bpp, unsigned char *out) {
    size_t rest = n - bpp;
    switch (filter) {
    case PNG_NONE: memcpy(out, row, n); break;
    case PNG_SUB:
        memcpy(out, row, bpp);
        sub(row, rest, bpp, out + bpp);
        break;
    case PNG_UP: up(row, above, n, out); break;
    case PNG_AVERAGE:
        for (size_t i = 0; i < bpp; i++) out[i] = (uint8_t)(row[i] - (above[i] >> 1));
        average_rest(row, above, rest, bpp, out + bpp);
        break;
    default:
        up(row, above, bpp, out);
        paeth_rest(row, above, rest, bpp, out + bpp);
    }
}

enum { LOOK = 64, ALL_BELOW = 4096 };

static inline uint32_t size(const uint8_t *bytes, size_t n) {
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t negated = (uint8_t)-bytes[i];
        sum += bytes[i] < negated ? bytes[i] : negated;
    }
    return sum;
}

/* `n` bytes from `row` on, all of which have a pixel to the left. */
static inline void measure_part(const uint8_t *row, const uint8_t *above, size_t n, size_t bpp, uint64_t sizes[PNG_FILTERS]) {
    uint8_t rests[LOOK];
    const uint8_t *left = row - bpp;
    for (size_t i = 0; i < n; i++) rests[i] = (uint8_t)(row[i] - left[i]);
    sizes[PNG_SUB] += size(rests, n);
    if (!above) return;
    for (size_t i = 0; i < n; i++) rests[i] = (uint8_t)(row[i] - above[i]);
    sizes[PNG_UP] += size(rests, n);
    for (size_t i = 0; i < n; i++) rests[i] = (uint8_t)(row[i] - average(left[i], above[i]));
    sizes[PNG_AVERAGE] += size(rests, n);
    const uint8_t *corner = above - bpp;
    for (size_t i = 0; i < n; i++) rests[i] = (uint8_t)(row[i] - paeth(left[i], above[i], corner[i]));
    sizes[PNG_PAETH] += size(rests, n);
}

static void measure(const unsigned char *row, const unsigned char *above, size_t n, size_t bpp, uint64_t sizes[PNG_FILTERS]) {
    size_t step = n < ALL_BELOW ? LOOK : 4 * LOOK, i = bpp;
    memset(sizes, 0, PNG_FILTERS * sizeof *sizes);
    for (; i + LOOK <= n; i += step) measure_part(row + i, above ? above + i : NULL, LOOK, bpp, sizes);
    if (i < n && step == LOOK) measure_part(row + i, above ? above + i : NULL, n - i, bpp, sizes);
}

static void swap(const uint16_t *restrict samples, size_t n, uint16_t *restrict out) {
    for (size_t i = 0; i < n; i++) {
        out[i] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint16_t)(samples[i] << 8 | samples[i] >> 8) : samples[i];
    }
}

const struct png_filter_kernels KERNEL_NAME(png_filter_kernels) = {apply, measure, swap};
