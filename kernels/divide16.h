/* floor(t / n) for whole t < 2^16 - 1 and n from 3 to 2^16 - 1 that is no power of two: the high half of a product, shifted. With
 * 2^s < n < 2^(s+1) and k = 16 + s let M = ceil(2^k / n), which has 16 bits, and e = M n - 2^k. Then t M / 2^k = t / n + t e / (n 2^k),
 * which has the same floor if t e < 2^k; e <= 2^s is enough. Otherwise n - e < 2^s, and the same holds of M - 1 from below: its
 * product with t + 1 is less than (t + 1) / n by no more than 1 / n. So one of the two is right for every n. */
#ifndef DIVIDE16_H
#define DIVIDE16_H
#include <stdbool.h>
#include <stdint.h>

/* The quotient of t is ((t + add) * factor >> 16) >> shift. */
struct divide16 {
    uint16_t add, factor;
    int shift;
};

static inline struct divide16 divide16(uint32_t n) {
    int s = 31 - __builtin_clz(n);
    uint32_t scale = ((1u << (16 + s)) + n - 1) / n, error = scale * n - (1u << (16 + s));
    bool below = error > 1u << s;
    return (struct divide16){below ? 1 : 0, (uint16_t)(below ? scale - 1 : scale), s};
}
#endif
