/* A run of point operations, compiled by the plan into a program that one kernel executes in one go. Shared by
 * kernels/point.c and kernels/point.cu.
 *
 * point_compile() turns neighbouring operations on integer samples into one table, drops what does nothing, and leaves
 * the rest as steps. Steps work on whole pixels of a block; between steps the block has the step's `out` format. */
#ifndef POINT_H
#define POINT_H
#include "kernel.h"

struct arena;

#define POINT_MAX_STEPS 32

enum point_step_code {
    POINT_TABLE,     /* sample map by table: integer samples in, samples of any type out */
    POINT_AFFINE,    /* f32: fmaf(scale, v - pivot, offset) */
    POINT_THRESHOLD, /* f32: v >= pivot ? high : low, NaN: low */
    POINT_MIX,       /* three colours to one */
    POINT_NARROW,    /* f32 to integers */
    POINT_FLATTEN,   /* blend over the background, dropping alpha */
    POINT_EXPAND     /* gray to three equal channels */
};

/* Many tables are better computed than looked up: a compiled TABLE step says what its entries are. All give the bytes of
 * the table. */
enum point_map {
    POINT_LOOKUP,    /* nothing simpler is known: color_table and alpha_table */
    POINT_BITS,      /* integers: (v & mask) * widen ^ flip: the identity, max - v, constants, and u8 to u16 */
    POINT_LEVEL,     /* integers of one type: v >= level ? level_high : level_low; alpha stays */
    POINT_SHRINK,    /* u16 to u8, all channels: (v + 128) / 257 */
    POINT_UNIT       /* integers to f32, all channels: v / max in float32 */
};

struct point_step {
    enum point_step_code code;
    imgpipe_format in, out;
    /* TABLE: byte offsets into the program's tables, for colour and for alpha; only for LOOKUP. With alpha_identity, or
     * without alpha, there is no second table and alpha_table equals color_table. */
    uint32_t color_table, alpha_table;
    bool alpha_identity;            /* TABLE with in.type == out.type: alpha is copied */
    enum point_map map;             /* TABLE */
    uint32_t color_mask, color_flip, alpha_mask, alpha_flip, widen; /* BITS; widen is 257 for u8 to u16, else 1 */
    uint32_t level, level_high, level_low;                          /* LEVEL */
    float scale, pivot, offset;     /* AFFINE; THRESHOLD uses pivot, and high, low below */
    float high, low;
    int64_t weights[3], round, divisor; /* MIX on integers */
    bool mix_u32;                   /* MIX: weights not negative, divisor 65536 and no sum beyond 32 bits */
    bool mix_third;                 /* MIX: weights 2, 2, 2, round 3, divisor 6, which is (R + G + B + 1) / 3 */
    float float_weights[3];
    float background[3];            /* FLATTEN, in sample units; integers hold whole numbers */
};

struct point_program {
    imgpipe_format in, out;
    int step_count;
    struct point_step steps[POINT_MAX_STEPS];
    unsigned char *tables;          /* owned; every table starts at a multiple of 64 */
    size_t tables_size;
    struct arena *arena;            /* that the tables lie in; NULL: the heap */
};

/* Compiles `count` operations for pixels of format `in`. Free with point_free(). `arena`: where memory comes from; NULL: the heap. */
imgpipe_status point_compile(const imgpipe_point_op *ops, int count, imgpipe_format in, struct arena *arena,
                             struct point_program *program, imgpipe_error *error);
void point_free(struct point_program *program);
/* How many of the first operations certainly fit into one program: at least 15 where there are as many; less only if the
 * operation after them does not apply to its format. */
int point_fit(const imgpipe_point_op *ops, int count, imgpipe_format in);
/* The format that an operation makes of `in`; false if it does not apply to it. */
bool point_op_format(const imgpipe_point_op *op, imgpipe_format in, imgpipe_format *out);

struct point_kernels {
    /* Runs the program over `width` pixels. `in` and `out` may be the same only if pixels do not grow. `scratch` is
     * POINT_SCRATCH bytes, aligned to 64. */
    void (*run)(const struct point_program *program, const void *in, void *out, int64_t width, void *scratch);
};
#define POINT_SCRATCH 65536
KERNEL_TABLE(point);

/* CUDA: `program` is on the host (steps travel as a kernel parameter), `tables` in device memory. */
#ifdef __cplusplus
extern "C"
#endif
int point_cuda(const struct point_program *program, const void *tables, const imgpipe_tile *tiles, int count, void *stream);
#endif
