/* What prepared plans on CUDA devices are made of: the chain as a list of steps (prepared_cuda.c), and the plan that owns memory
 * and meets the caller's streams (prepared_enqueue.c). */
#ifndef PREPARED_CUDA_H
#define PREPARED_CUDA_H
#include "cuda_pass.h"
#include "prepared_device.h"

enum step_kind { STEP_POINT, STEP_LOCAL, STEP_COUNT };

struct device_step {
    enum step_kind kind;
    const imgpipe_stage *stage;          /* LOCAL, COUNT */
    const struct point_program *program; /* POINT */
    int edge;                            /* the image that it reads; it makes the next one */
    int target;                          /* COUNT: the stage's index in the chain */
    const void *table;                   /* constants in host memory … */
    size_t table_size, table_at;         /* … and their place in the tables in device memory */
};

/* The bound chain, in the binding's arena. */
struct device_chain {
    struct device_step *steps;
    int step_count, node_count; /* nodes: the steps that make an image */
    imgpipe_info *edges;        /* the input, and what each node makes */
    int edge_count;
    size_t slot_size, scratch_size, tables_size, state_size;
};

/* Device memory that a run uses. */
struct device_memory {
    unsigned char *scratch;      /* two slots for images … */
    unsigned char *node_scratch; /* … and what nodes use by themselves */
    unsigned char *tables;
};

struct device_plan {
    struct imgpipe_plan *plan;
    struct cuda_backend *backend;
    unsigned char *scratch, *tables, *own; /* own: the scratch, where it is not the caller's */
    size_t scratch_size, tables_size, reserve;
    unsigned char *warm; /* memory of its own for runs that only load kernels … */
    size_t warm_size;
    bool tables_stale; /* the tables in device memory are not those of the binding in use */
    bool captured;     /* a graph writes its own tables whenever it is launched */
};

/* Lists the steps; refuses what the host would have to do in between. */
imgpipe_status device_chain_make(struct bound *bound, imgpipe_error *error);
/* Bytes of scratch: slots and what nodes need. */
size_t device_chain_scratch(const struct device_chain *chain);
/* Enqueues the writing of all tables. */
imgpipe_status device_chain_tables(const struct device_chain *chain, const struct device_memory *memory, cudaStream_t stream,
                                   imgpipe_error *error);
/* Enqueues the steps. Without `in` or `out` they work in the slots alone. Counts go where `targets`, by stage, says, or all of them
 * to `all` if that is not NULL. */
imgpipe_status device_chain_run(const struct device_chain *chain, const struct device_memory *memory,
                                const imgpipe_device_image *in, const imgpipe_device_image *out, const struct count_target *targets,
                                const struct count_target *all, cudaStream_t stream, imgpipe_error *error);
/* Enqueues what converts layouts, in the first and the last image of a run: only so that it is loaded. */
imgpipe_status device_chain_layouts(const struct device_chain *chain, const struct device_memory *memory, cudaStream_t stream,
                                    imgpipe_error *error);
#endif
