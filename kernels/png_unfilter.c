/* Undoing the filters of PNG rows: groups of rows as a wavefront (png_wave.h), or row by row where no row needs its left. */
#include "png_unfilter.h"

#include <string.h>

/* Unsigned bytes, which C has no vector minimum for. */
#if defined(__AVX2__)
#include <immintrin.h>
#define VECTOR 32
typedef uint8_t vector __attribute__((vector_size(VECTOR)));
#define MIN(x, y) ((vector)_mm256_min_epu8((__m256i)(x), (__m256i)(y)))
#define MAX(x, y) ((vector)_mm256_max_epu8((__m256i)(x), (__m256i)(y)))
#else
#define VECTOR 16
typedef uint8_t vector __attribute__((vector_size(VECTOR)));
#ifdef __SSE2__
#include <emmintrin.h>
#define MIN(x, y) ((vector)_mm_min_epu8((__m128i)(x), (__m128i)(y)))
#define MAX(x, y) ((vector)_mm_max_epu8((__m128i)(x), (__m128i)(y)))
#else
static vector MIN(vector x, vector y) { return (x & (vector)(x < y)) | (y & ~(vector)(x < y)); }
static vector MAX(vector x, vector y) { return (y & (vector)(x < y)) | (x & ~(vector)(x < y)); }
#endif
#endif
#define GROUP (VECTOR / 4)

/* As many rows as a vector has lanes. */
struct group {
    const unsigned char *raw[GROUP];
    unsigned char *to[GROUP];
    enum png_filter filter[GROUP];
    const unsigned char *above;
    ptrdiff_t width, pixel; /* pixels; bytes */
};

#define LANE 4
#define LANE_TYPE uint32_t
#define LANES (VECTOR / 4)
#define SUFFIX u32
#if VECTOR == 32
#define DOWN 8, 0, 1, 2, 3, 4, 5, 6
#else
#define DOWN 4, 0, 1, 2
#endif
#include "png_wave.h"
#undef DOWN
#undef LANE
#undef LANE_TYPE
#undef LANES
#undef SUFFIX

#define LANE 8
#define LANE_TYPE uint64_t
#define LANES (VECTOR / 8)
#define SUFFIX u64
#if VECTOR == 32
#define DOWN 4, 0, 1, 2
#else
#define DOWN 2, 0
#endif
#include "png_wave.h"

/* None and Up. */
static void unfilter_row(const unsigned char *restrict raw, const unsigned char *restrict above, unsigned char *restrict to, size_t size,
                         enum png_filter filter) {
    if (filter == PNG_NONE) {
        memcpy(to, raw, size);
        return;
    }
    for (size_t i = 0; i < size; i++) to[i] = (unsigned char)(raw[i] + above[i]);
}

/* The rows behind `count` are the spare one, with itself. */
static void unfilter_group(const struct png_rows *rows, int first, int count) {
    const int lanes = rows->pixel > 4 ? VECTOR / 8 : VECTOR / 4;
    struct group g = {.above = first ? rows->to[first - 1] : rows->above,
                      .width = (ptrdiff_t)(rows->size / rows->pixel),
                      .pixel = (ptrdiff_t)rows->pixel};
    bool left = false;
    for (int r = 0; r < lanes; r++) {
        const unsigned char *raw = rows->raw + (size_t)(first + r) * (rows->size + 1);
        g.raw[r] = r < count ? raw + 1 : rows->spare;
        g.to[r] = r < count ? rows->to[first + r] : rows->spare;
        g.filter[r] = r < count ? (enum png_filter)*raw : PNG_NONE;
        left = left || (g.filter[r] != PNG_NONE && g.filter[r] != PNG_UP);
    }
    if (!left)
        for (int r = 0; r < count; r++) unfilter_row(g.raw[r], r ? g.to[r - 1] : g.above, g.to[r], rows->size, g.filter[r]);
    else if (lanes == VECTOR / 4)
        unfilter_u32(&g);
    else
        unfilter_u64(&g);
}

static void unfilter_rows(const struct png_rows *rows) {
    const int lanes = rows->pixel > 4 ? VECTOR / 8 : VECTOR / 4;
    for (int first = 0; first < rows->count; first += lanes)
        unfilter_group(rows, first, rows->count - first < lanes ? rows->count - first : lanes);
}

const struct png_unfilter_kernels KERNEL_NAME(png_unfilter_kernels) = {.rows = unfilter_rows};
