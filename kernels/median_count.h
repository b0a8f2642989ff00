/* Medians of bytes in constant time for any size of window: every column of a block of results has a histogram that moves down row by
 * row, and a window's histogram moves to the right by adding one column and taking one away (Perreault and Hebert, "Median filtering
 * in constant time", 2007). Included by median_large.c.
 *
 * The 256 values are 16 segments of 16. A column has, for each segment, how many of its samples lie below the segment (`below`), and
 * for each value how many of the segment's samples are at most that value (`fine`), all in bytes: a sample coming or going changes
 * two vectors of 16. A window carries the first wholly, but of the second only a zone of two segments: with the counts below added
 * they are the number of samples up to each value of the zone, and as many values as there are such numbers not above half of the
 * window lie below the median. When it leaves the zone another one is added up anew. All vectors of 16 run backwards, so that what a
 * sample adds is found in `count_ones` at its own number. */
#include "median_lanes.h"

/* Bytes from one column's fine counts to the next's; an odd number of lines, so that the same segment of many columns is not in the
 * same place of the cache. The 16 bytes before the first segment are zero: a zone may begin one segment early. */
#define COUNT_STRIDE 320
#define COUNT_BEFORE 64
/* Columns of results in a block; the columns of a window beside it are counted twice, by this block and by the next. */
static inline ptrdiff_t count_columns(int size) {
    return size < 64 ? 256 : size < 128 ? 512 : 1024;
}
static inline size_t count_scratch(int size) {
    const size_t columns = (size_t)(count_columns(size) + size + 3);
    return COUNT_BEFORE + columns * COUNT_STRIDE + columns * 16 + 64;
}

struct count_block {
    uint8_t *fine, *below; /* of the first column */
    int size, zone;        /* the first segment of the last zone; -1 for the empty one before segment 0 */
};

static const uint8_t count_ones[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const uint8_t count_starts[16] = {240, 224, 208, 192, 176, 160, 144, 128, 112, 96, 80, 64, 48, 32, 16, 0};

static inline void fine_add(uint8_t *fine, unsigned v) {
    store16(fine + (v & 0xf0), load16(fine + (v & 0xf0)) + load16(count_ones + (v & 15)));
}
static inline void fine_remove(uint8_t *fine, unsigned v) {
    store16(fine + (v & 0xf0), load16(fine + (v & 0xf0)) - load16(count_ones + (v & 15)));
}

/* Changes `below` of columns x to x + 3 by the samples that come and go (NULL: none go), which are `c` bytes apart. */
#if defined(__AVX512BW__)
static inline __mmask64 below_mask(const uint8_t *from, __m512i places, __m512i starts) {
    const __m512i four = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)from));
    return _mm512_cmplt_epu8_mask(_mm512_shuffle_epi8(four, places), starts);
}
static inline void below_update(uint8_t *below, const uint8_t *gone, const uint8_t *come, ptrdiff_t c) {
    const __m512i starts = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)count_starts)), one = _mm512_set1_epi8(1);
    const __m512i places =
        _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_inserti128_si256(_mm256_setzero_si256(), _mm_set1_epi8((char)c), 1)),
                           _mm256_inserti128_si256(_mm256_set1_epi8((char)(2 * c)), _mm_set1_epi8((char)(3 * c)), 1), 1);
    __m512i v = _mm512_loadu_si512(below);
    v = _mm512_mask_add_epi8(v, below_mask(come, places, starts), v, one);
    if (gone) v = _mm512_mask_sub_epi8(v, below_mask(gone, places, starts), v, one);
    _mm512_storeu_si512(below, v);
}
#else
static inline void below_update(uint8_t *below, const uint8_t *gone, const uint8_t *come, ptrdiff_t c) {
    const bytes16 starts = load16(count_starts);
    for (int k = 0; k < 4; k++) {
        bytes16 v = load16(below + 16 * k) - (bytes16)((bytes16){0} + come[k * c] < starts);
        if (gone) v += (bytes16)((bytes16){0} + gone[k * c] < starts);
        store16(below + 16 * k, v);
    }
}
#endif

/* One sample comes into each of `m` columns and one goes (NULL: none). Columns are taken by fours: up to three samples behind the last
 * are looked at, but counted only where nobody asks. */
static void count_move(struct count_block *b, const uint8_t *gone, const uint8_t *come, ptrdiff_t c, ptrdiff_t m) {
    for (ptrdiff_t x = 0; x < m; x += 4) {
        uint8_t *fine = b->fine + x * COUNT_STRIDE;
        below_update(b->below + 16 * x, gone ? gone + x * c : NULL, come + x * c, c);
        if (gone)
            for (int k = 0; k < 4; k++) {
                fine_remove(fine + k * COUNT_STRIDE, gone[(x + k) * c]);
                fine_add(fine + k * COUNT_STRIDE, come[(x + k) * c]);
            }
        else
            for (int k = 0; k < 4; k++) fine_add(fine + k * COUNT_STRIDE, come[(x + k) * c]);
    }
}

/* Empty histograms of `m` columns. */
static struct count_block count_begin(int size, ptrdiff_t m, uint8_t *scratch) {
    const ptrdiff_t columns = (m + 3) / 4 * 4;
    memset(scratch, 0, (size_t)(COUNT_BEFORE + columns * (COUNT_STRIDE + 16)));
    return (struct count_block){scratch + COUNT_BEFORE, scratch + COUNT_BEFORE + columns * COUNT_STRIDE, size, 7};
}

/* The zone of the window whose first column has its counts at `fine`. Columns are first added in bytes, as many as surely fit. */
static lanes32 zone_sum(const uint8_t *fine, int size) {
    const int together = 255 / size;
    lanes32 sum = lanes32_zero();
    for (int k = 0; k < size;) {
        const int end = k + together < size ? k + together : size;
        bytes16 low = {0}, high = {0};
        for (; k < end; k++) {
            low += load16(fine + k * COUNT_STRIDE);
            high += load16(fine + k * COUNT_STRIDE + 16);
        }
        sum = lanes32_add(sum, low, high);
    }
    return sum;
}

/* The first segment of the zone for a window with `under` whose median is not in the zone that starts at segment `zone`. A rising
 * median's segment shall be the upper one of its new zone and a falling median's the lower one, but not if it is at the very end. */
static inline int zone_choose(lanes16 under, unsigned half, int zone, bool rising) {
    const int segment = lanes16_at_most(under, half) - 1;
    return rising || zone == segment || segment == 15 ? segment - 1 : segment;
}

/* `n` medians, `step` apart, of the windows that start at the first column. `rest`, if there is one, gets how many samples of the
 * median's own value a sorted window has before its middle. */
static inline __attribute__((always_inline)) void count_row(struct count_block *b, ptrdiff_t n, uint8_t *out, ptrdiff_t step,
                                                            uint16_t *rest) {
    const int size = b->size;
    const unsigned half = (unsigned)(size * size / 2);
    const ptrdiff_t fine_ahead = (ptrdiff_t)size * COUNT_STRIDE, below_ahead = (ptrdiff_t)size * 16;
    static const uint8_t none[16];
    int zone = b->zone;
    const uint8_t *fine = b->fine + 16 * zone, *below = b->below; /* of the window's first column */
    lanes16 under = lanes16_zero();
    for (int k = 0; k < size; k++) under = lanes16_move(under, below + 16 * k, none);
    for (uint8_t *const end = out + n * step; out != end;) {
        lanes32 inside = zone_sum(fine, size);
        const lanes_place place = lanes_places(zone < 0 ? 15 : 15 - zone, 14 - zone);
        const int value = 16 * zone;
        int found;
        for (;;) {
            const lanes32 total = lanes_spread(inside, under, place);
            found = lanes32_at_most(total, half);
            if (__builtin_expect(found < 1 || found > 31, 0)) break;
            *out = (uint8_t)(value + found);
            if (rest) {
                uint16_t lane[32];
                memcpy(lane, &total, sizeof lane);
                *rest++ = (uint16_t)(half - lane[(found - 1) ^ 15]);
            }
            out += step;
            if (out == end) break;
            under = lanes16_move(under, below + below_ahead, below);
            inside = lanes32_move(inside, fine + fine_ahead, fine);
            below += 16;
            fine += COUNT_STRIDE;
        }
        if (out == end) break;
        fine -= 16 * zone;
        zone = zone_choose(under, half, zone, found > 0);
        fine += 16 * zone;
    }
    b->zone = zone;
}
