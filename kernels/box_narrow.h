/* 8-bit samples without alpha in windows of at most BOX_NARROW_MAX samples: everything fits 16 bits, which doubles the lanes of a
 * vector. Included by box.c. The steps are those of box_body.h.
 * The mean is floor(t / n) for t = S + floor(n / 2) <= 255 n + n / 2 < 2^16 - 1; n is odd. */
#include "divide16.h"

static void begin_narrow(void *state, const void *row, int64_t count, int channels) {
    uint16_t *restrict sums = state;
    const uint8_t *p = row;
    (void)channels;
    for (int64_t i = 0; i < count; i++) sums[i] = (uint16_t)(sums[i] + p[i]);
}

static void slide_narrow(void *state, const void *enter, const void *leave, void *columns, int64_t at, int64_t count,
                         int channels) {
    uint16_t *restrict sums = (uint16_t *)state + at;
    uint16_t *restrict out = (uint16_t *)columns + at;
    const uint8_t *in = (const uint8_t *)enter + at, *first = (const uint8_t *)leave + at;
    (void)channels;
    for (int64_t i = 0; i < count; i++) {
        uint16_t sum = (uint16_t)(sums[i] + in[i]);
        out[i] = sum;
        sums[i] = (uint16_t)(sum - first[i]);
    }
}

/* Division by n of sums to which n / 2 has yet to be added. */
static struct divide16 box_division(uint32_t n) {
    struct divide16 by = divide16(n);
    by.add = (uint16_t)(by.add + n / 2);
    return by;
}

static void finish_narrow(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels) {
    const uint16_t *restrict sums = totals;
    uint8_t *restrict p = out;
    const struct divide16 by = box_division(plan->n);
    (void)channels;
    for (int64_t i = 0; i < count; i++) {
        uint16_t t = (uint16_t)(sums[i] + by.add), high = (uint16_t)((uint32_t)t * by.factor >> 16);
        p[i] = (uint8_t)(high >> by.shift);
    }
}
