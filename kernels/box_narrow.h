/* 8-bit samples without alpha in windows of at most BOX_NARROW_MAX samples: everything fits 16 bits, which doubles the lanes of a
 * vector. Included by box.c. The steps are those of box_body.h.
 *
 * floor(t / n) for t = S + floor(n / 2) <= 255 n + n / 2 < 2^16 is the high half of a product, shifted. With 2^s <= n < 2^(s+1) and
 * k = 16 + s let M = ceil(2^k / n), which has 16 bits as n is odd, and e = M n - 2^k. Then t M / 2^k = t / n + t e / (n 2^k),
 * which has the same floor if t e < 2^k; e <= 2^s is enough. Otherwise n - e < 2^s, and the same holds of M - 1 from below: its
 * product with t + 1 is less than (t + 1) / n by no more than 1 / n. So one of the two is right for every n. */
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

/* The mean of sum S is ((S + add) * factor >> 16) >> shift. */
struct box_division {
    uint16_t add, factor;
    int shift;
};

static struct box_division box_division(uint32_t n) {
    int s = 31 - __builtin_clz(n);
    uint32_t scale = ((1u << (16 + s)) + n - 1) / n, error = scale * n - (1u << (16 + s));
    bool below = error > 1u << s;
    return (struct box_division){(uint16_t)(n / 2 + (below ? 1 : 0)), (uint16_t)(below ? scale - 1 : scale), s};
}

static void finish_narrow(const struct box_plan *plan, const void *totals, void *out, int64_t count, int channels) {
    const uint16_t *restrict sums = totals;
    uint8_t *restrict p = out;
    const struct box_division by = box_division(plan->n);
    (void)channels;
    for (int64_t i = 0; i < count; i++) {
        uint16_t t = (uint16_t)(sums[i] + by.add), high = (uint16_t)((uint32_t)t * by.factor >> 16);
        p[i] = (uint8_t)(high >> by.shift);
    }
}
