#include "range.h"
#include "filter.h"

#include <string.h>

#ifdef IMGPIPE_WITH_CUDA
int range_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream);
#endif

/* Maps floats to integers of the same order: flips all bits of negative ones, the sign bit of the others. */
static uint32_t range_key(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static float range_value(uint32_t key) {
    uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void range_gather(const imgpipe_stage *stage, const imgpipe_rows *rows, void *state_pointer) {
    struct range_state *state = state_pointer;
    int64_t n = rows->in_width * stage->in.format.channels;
    for (int i = 0; i < rows->count; i++) {
        const float *row = rows->in[i];
        uint64_t outside = 0, nans = 0;
        for (int64_t x = 0; x < n; x++) {
            outside += !(row[x] >= 0.0f && row[x] <= 1.0f);
            nans += row[x] != row[x];
        }
        state->samples += (uint64_t)n;
        state->outside += outside;
        state->nans += nans;
        for (int64_t x = 0; x < n; x++) {
            if (row[x] != row[x]) continue;
            uint32_t key = range_key(row[x]);
            if (key > state->high) state->high = key;
            if (~key > state->low_inverted) state->low_inverted = ~key;
        }
    }
}

static void range_merge(const imgpipe_stage *stage, void *into_pointer, const void *from_pointer) {
    (void)stage;
    struct range_state *into = into_pointer;
    const struct range_state *from = from_pointer;
    into->samples += from->samples;
    into->outside += from->outside;
    into->nans += from->nans;
    if (from->high > into->high) into->high = from->high;
    if (from->low_inverted > into->low_inverted) into->low_inverted = from->low_inverted;
}

static imgpipe_status range_finish(imgpipe_stage *stage, const void *state, imgpipe_error *error) {
    (void)error;
    memcpy(stage->data, state, sizeof(struct range_state));
    return IMGPIPE_OK;
}

static imgpipe_status range_setup(imgpipe_stage *stage, imgpipe_error *error) {
    stage->gather = range_gather;
    stage->cuda = FILTER_CUDA(range_cuda);
    stage->gather_size = sizeof(struct range_state);
    stage->data = imgpipe_stage_alloc(stage, sizeof(struct range_state), error);
    return stage->data ? IMGPIPE_OK : IMGPIPE_ERROR_MEMORY;
}

struct range_result range_found(const imgpipe_stage *stage) {
    const struct range_state *state = stage->data;
    return (struct range_result){state->samples, state->outside, state->nans, range_value(~state->low_inverted),
                                 range_value(state->high)};
}

const imgpipe_filter filter_range = {
    FILTER_HEAD,
    .name = "range",
    .summary = "finds what lies outside 0 … 1",
    .kind = IMGPIPE_GATHER,
    .setup = range_setup,
    .merge = range_merge,
    .finish = range_finish,
};
