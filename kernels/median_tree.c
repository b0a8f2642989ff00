/* Medians of 11 x 11 to 15 x 15 samples by the networks of median_tree.h, whose maker explains them, over vectors of tiles.
 *
 * Minima and maxima a result: 275 for 11 x 11, 418 for 13 x 13, 515 for 15 x 15. Floor by them on a processor that makes 7.4 G of
 * 512 bits a second, u8 15 x 15: 0.92 Gsamples/s. Measured there, one thread, 24 Mpix, 15 x 15: gray8 509 Mpix/s of a photograph
 * and 502 of noise, RGB8 156 and 130: 11.7, 17, 12.4 and 15 times OpenCV 4.6 in the same run on a busy machine. Before that
 * histograms (median_count.h) did it. The cores, with 300 stores of 64 bytes a vector of tiles, two clocks each, are what is far
 * from the floor. */
#include "median.h"
#include "median_tree.h"
#include "median_wires.h"

#define TREE_LINE 64   /* bytes that the innermost loops make at a time */
#define TREE_LANES 384 /* lanes of a block with the lanes beside it; with 128 it took a sixth longer */
#define TREE_KEYS(key) (TREE_LINE / sizeof(key))
/* From one list of keys in scratch to the next. Loops may begin up to 4 pixels of 4 samples further right and go on to the end of a
 * line; an odd number of lines, so that lists do not compete for the same places in the cache. */
#define TREE_PITCH(key) ((TREE_LANES * sizeof(key) / TREE_LINE + 1) * TREE_KEYS(key))
#define TREE_CORE_MOST MEDIAN_CORE_15
/* A ring of rows and two rows of results in four planes each; of a pair of rows the sorted columns in four planes, the joined
 * lists, the cores, the sorted rows. */
#define TREE_LISTS (4 * (MEDIAN_TREE_SIZE + 1) + 8 + 8 * (MEDIAN_TREE_SIZE - 1) + TREE_CORE_MOST + 2 * (MEDIAN_TREE_SIZE - 3))
#define TREE_SCRATCH(key) (TREE_LISTS * TREE_PITCH(key) * sizeof(key))

/* Networks touch scratch alone, with constant distances; checked by sanitizers they would take the compiler minutes. */
#define TREE_NETWORK static __attribute__((noinline, no_sanitize("address", "undefined", "thread"))) void

#define TREE_MIN3(a, b, c) MEDIAN_MIN(a, b) MEDIAN_MIN(a, c)
#define TREE_COPY(to, from) v[to] = v[from];

#define SAMPLE uint8_t
#define KEY uint8_t
#define SUFFIX u8
#include "median_tree_body.h"
#undef SAMPLE
#undef KEY
#undef SUFFIX

#define SAMPLE uint16_t
#define KEY uint16_t
#define SUFFIX u16
#include "median_tree_body.h"
#undef SAMPLE
#undef KEY
#undef SUFFIX

#define SAMPLE float
#define KEY int32_t
#define SUFFIX f32
#define FLOATS
#include "median_tree_body.h"

const struct median_kernels KERNEL_NAME(median_tree_kernels) = {
    .rows = {tree_u8, tree_u16, tree_f32},
    .scratch = {TREE_SCRATCH(uint8_t), TREE_SCRATCH(uint16_t), TREE_SCRATCH(int32_t)},
};
