/* A stage: a filter bound to its options and to the image that arrives. What is behind imgpipe_stage.engine, and how the plan
 * makes and frees stages. What filters call stands in imgpipe.h, and leads back here. */
#ifndef STAGE_H
#define STAGE_H
#include "arena.h"
#include "chain.h"
#include "log.h"

struct stage_block;

struct stage_engine {
    const imgpipe_stage_calls *calls; /* first: filters find it here */
    struct arena *arena;        /* where all memory of the stage comes from; NULL: the heap */
    struct stage_block *blocks; /* what imgpipe_stage_alloc() gave out */
    imgpipe_point_op *ops;      /* POINT: what imgpipe_stage_point() added */
    int op_count, op_capacity;
    const struct log *log;
    const struct imgpipe_chain *chain;
    int index;                  /* of the chain's stage; -1: made by the plan */
};

/* Presets every field as imgpipe.h says, then calls filter->setup(), and refuses what the engine could not run. `filter` may be NULL for a POINT stage of the plan's own,
 * which adds its operations itself; `log`, `chain` and `arena` may be NULL. After a failure the stage is already freed. */
imgpipe_status stage_init(imgpipe_stage *stage, const imgpipe_filter *filter, const void *options, int isa, imgpipe_info in,
                          const struct log *log, const struct imgpipe_chain *chain, int index, struct arena *arena,
                          imgpipe_error *error);
/* Calls filter->teardown(), frees what belongs to the stage and zeroes it. A zeroed stage is allowed. */
void stage_free(imgpipe_stage *stage);
#endif
