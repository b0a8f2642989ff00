/* A gather of the engine's own: the smallest and greatest finite sample, and how many samples lie outside 0 … 1. The
 * plan puts it before the step that turns f32 into integers. */
#ifndef RANGE_H
#define RANGE_H
#include "imgpipe.h"

extern const imgpipe_filter filter_range;

/* The state; all zero when nothing has been seen. Keys keep the order of floats: range_key(). */
struct range_state {
    uint64_t samples, outside, nans;
    uint32_t low_inverted, high; /* ~key of the smallest, key of the greatest */
};

/* Once the walk is done: what was found. */
struct range_result {
    uint64_t samples, outside, nans;
    float low, high;
};
struct range_result range_found(const imgpipe_stage *stage);
#endif
