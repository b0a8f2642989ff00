/* The exact median of a square window, each channel by itself. Compiles as C and under nvcc.
 *
 * Floating-point samples are ordered by integer keys, so that every method is one of integers and the order is total. */
#ifndef MEDIAN_H
#define MEDIAN_H
#include <string.h>
#include "kernel.h"
#include "pixel.h"

#define MEDIAN_MAX_SIZE 255 /* counts of a window must fit 16 bits: 255 * 255 = 65025 */

struct median_data {
    int size;
};

/* int32 keys in the order of the contract: negative floats have their magnitude's bits flipped, -0 is +0, and every NaN is the
 * positive quiet one, which lies above infinity. So the way back needs no special cases. */
PIXEL_FN int32_t median_key(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint32_t size = bits & 0x7fffffffu;
    int32_t key = (int32_t)(bits >> 31 ? 0u - size : size);
    return size > 0x7f800000u ? 0x7fc00000 : key;
}
PIXEL_FN float median_from_key(int32_t key) {
    uint32_t bits = key < 0 ? 0x80000000u | (0u - (uint32_t)key) : (uint32_t)key;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Sizes from 3 to MEDIAN_NETWORK_SIZE, by networks. Functions and bytes of scratch by imgpipe_type. */
struct median_kernels {
    imgpipe_rows_function rows[3];
    size_t scratch[3];
};
KERNEL_TABLE(median);
#define MEDIAN_NETWORK_SIZE 9

/* Sizes above that up to MEDIAN_TREE_SIZE, by larger networks. */
#define MEDIAN_TREE_SIZE 15
extern const struct median_kernels median_tree_kernels_base, median_tree_kernels_avx2, median_tree_kernels_avx512;

/* Any odd size from 3 to MEDIAN_MAX_SIZE, by histograms. */
struct median_large_kernels {
    imgpipe_rows_function rows[3];
    size_t (*scratch)(imgpipe_type type, int size);
};
KERNEL_TABLE(median_large);

#ifdef __cplusplus
extern "C"
#endif
int median_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream);
#ifdef __cplusplus
/* What launchers return where the device has not enough shared memory for the size: another method must do it. */
#define MEDIAN_NO_ROOM (-1)
/* By networks in files of their own; `outside` is the key of the constant border. */
int median_three_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
int median_tree_cuda_7(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
int median_tree_cuda_9(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
int median_tree_cuda_11(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
int median_tree_cuda_13(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
int median_tree_cuda_15(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
/* u16 from 17, f32 from 17 to 127. */
int median_planes_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
/* u8, sizes from 9; `outside` is the sample of the constant border. */
int median_slices_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
int median_slices_cuda_huge(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
int median_slices_cuda_vast(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream);
#endif
#endif
