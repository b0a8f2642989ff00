/* Medians of small windows by networks (tools/median_network.py explains them) over lines of samples: two rows at a time share
 * the sorted columns, and all columns are shared by the windows beside each other. Integers in windows of 3 x 3 and 5 x 5 are taken
 * by rows instead (median_roll.h). */
#include "median.h"
#include "median_network.h"
#include "median_vector.h"
#include "median_wires.h"

#define MEDIAN_LINE 64    /* bytes that the innermost loops make at a time */
#define MEDIAN_BLOCK 1024 /* bytes of a row that go through all networks before the next, so that the lists stay in the L1 cache */
#define MEDIAN_LANES(key) (MEDIAN_LINE / sizeof(key))
/* From one list of keys in scratch to the next: a block, the columns beside it (at most 8 pixels of 4 samples), and the rest of a
 * line twice; an odd number of lines, so that lists do not compete for the same places in the cache. */
#define MEDIAN_LINES(key) (((MEDIAN_BLOCK + 32 * sizeof(key)) / MEDIAN_LINE + 2) | 1)
#define MEDIAN_STRIDE(key) (MEDIAN_LINES(key) * MEDIAN_LINE / sizeof(key))
/* Two rows of results, a ring of keys, sorted columns, joined lists. */
#define MEDIAN_LISTS (2 + (MEDIAN_NETWORK_SIZE + 1) + 8 + 24)
#define MEDIAN_SCRATCH(key) (MEDIAN_LISTS * MEDIAN_STRIDE(key) * sizeof(key))

#define SAMPLE uint8_t
#define KEY uint8_t
#define SUFFIX u8
#include "median_body.h"
#undef SAMPLE
#undef KEY
#undef SUFFIX

#define SAMPLE uint16_t
#define KEY uint16_t
#define SUFFIX u16
#include "median_body.h"
#undef SAMPLE
#undef KEY
#undef SUFFIX

#define SAMPLE float
#define KEY int32_t
#define SUFFIX f32
#define FLOATS
#include "median_body.h"
#undef FLOATS

const struct median_kernels KERNEL_NAME(median_kernels) = {
    .rows = {median_u8, median_u16, median_f32},
    .scratch = {MEDIAN_SCRATCH(uint8_t), MEDIAN_SCRATCH(uint16_t), MEDIAN_SCRATCH(int32_t)},
};
