/* Counting for `hist`: what both backends share. Compiles as C and under nvcc.
 *
 * The state of a walk is, for each channel, `bins` counters and then one each for values below, above, and NaN; after the
 * channels two 32-bit keys, the least value (inverted) and the greatest. All-zero is the empty state. */
#ifndef HIST_H
#define HIST_H
#include "kernel.h"
#include "pixel.h"
#include <string.h>

#define HIST_OUTSIDE 3 /* below, above, NaN */
#define HIST_BINS_MAX 65536
/* Up to so many bins the CPU counts into several small tables first. */
#define HIST_SMALL 1024

/* The first member of stage->data. Integers are counted by value, whatever bins were asked for: 256 or 65536 counters. */
struct hist_job {
    int32_t channels, bins;
    float low, high; /* f32: the range, ends included */
    double span;     /* high - low; 1 if they are equal, so that the one value in range falls into bin 0 */
};

PIXEL_FN int64_t hist_slots(const struct hist_job *job) { return (int64_t)job->bins + HIST_OUTSIDE; }
PIXEL_FN size_t hist_state_size(const struct hist_job *job) {
    return (size_t)(job->channels * hist_slots(job)) * sizeof(uint64_t) + 2 * sizeof(uint32_t);
}

/* The first of two walks over f32 finds the range. */
PIXEL_FN bool hist_finds_range(const imgpipe_stage *stage) { return stage->walk + 1 < stage->walks; }

/* The counter of a float32. The product comes before the division: where both are exact so is the bin, which a
 * multiplication by a rounded bins / span does not give. */
PIXEL_FN int32_t hist_slot(float v, const struct hist_job *job) {
    bool inside = (v >= job->low) & (v <= job->high);
    float w = inside ? v : job->low;
    int32_t bin = (int32_t)(((double)w - (double)job->low) * (double)job->bins / job->span);
    bin = bin < job->bins ? bin : job->bins - 1;
    int32_t outside = v < job->low ? job->bins : v > job->high ? job->bins + 1 : job->bins + 2;
    return inside ? bin : outside;
}

/* Finite float32 in an order-preserving form that is never 0, nor is its complement; 0 for what is not finite. Thus
 * both the greatest key and the greatest complement start from zeroed memory. */
PIXEL_FN uint32_t hist_key(uint32_t bits) {
    uint32_t key = (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
    return (bits & 0x7fffffffu) < 0x7f800000u ? key : 0u;
}
PIXEL_FN uint32_t hist_key_inverse(uint32_t key) { return key ? ~key : 0u; }
PIXEL_FN float hist_key_value(uint32_t key) {
    union {
        uint32_t bits;
        float value;
    } u = {(key & 0x80000000u) ? key & 0x7fffffffu : ~key};
    return u.value;
}

struct hist_kernels {
    imgpipe_gather_function count[3]; /* by sample type */
};
KERNEL_TABLE(hist);

/* Tables on the CPU for `channels`: a multiple of it, so that sample i of a row always belongs to channel
 * (i % tables) % channels. */
PIXEL_FN int32_t hist_tables(int32_t channels) { return channels == 3 ? 12 : 8; }
/* Memory of the kernel that counts bytes by their bits. */
#define HIST_BLOCK 6144 /* samples that are sorted into parts at a time */
#define HIST_GROUP 512  /* samples of a plane of bits */
#define HIST_GROUPS 8   /* at most so many are counted together, and at least HIST_WAIT but at the end */
#define HIST_WAIT 3
struct hist_bits {
    uint64_t sets[4][256]; /* by channel */
    uint64_t planes[HIST_GROUPS][9][HIST_GROUP / 64];
    uint8_t *end[4][4]; /* of the parts of each channel, where samples wait to be counted */
    uint8_t part[4][4][HIST_BLOCK + (HIST_WAIT + 1) * HIST_GROUP];
};

/* rows->scratch that the CPU kernels need; 0 where they count into the state. */
PIXEL_FN size_t hist_scratch_size(const struct hist_job *job, imgpipe_type type) {
    if (type == IMGPIPE_U8) return sizeof(struct hist_bits); /* tables are smaller */
    int64_t pitch = type == IMGPIPE_F32 && job->bins <= HIST_SMALL ? hist_slots(job) : 0;
    return (size_t)(hist_tables(job->channels) * pitch) * sizeof(uint32_t);
}

#ifdef __cplusplus
extern "C"
#endif
int hist_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream);
#endif
