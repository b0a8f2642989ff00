/* A prepared plan: a chain bound to sizes up to a largest one, with all memory that its runs need. imgpipe.h has the interface.
 *
 * Sizes and parameters are bound by making the plan anew in one of two arenas, while the other holds the binding in use: what fails
 * leaves everything as it was, and nothing is taken from the heap. */
#ifndef PREPARED_H
#define PREPARED_H
#include "arena.h"
#include "context.h"
#include "plan.h"

struct cpu_plan;
struct device_chain;
struct device_plan;

/* The chain bound to one size. */
struct bound {
    struct arena arena;          /* holds all of what follows */
    struct imgpipe_chain chain;  /* the stages with options of their own */
    struct plan *plan;           /* NULL: nothing is bound */
    struct cpu_plan *cpu;        /* where the plan runs on the CPU */
    struct device_chain *device; /* where it is enqueued */
};

/* Where a `hist` stage counts to, of the host's memory for runs and of the device's where they are enqueued. */
struct count_target {
    uint64_t *counts;
    bool add;
};

struct imgpipe_plan {
    imgpipe_context *context;
    struct imgpipe_registry *registry; /* of the chain, kept for its plug-ins */
    imgpipe_info largest;
    int depth;
    bool no_output;
    struct bound bounds[2], *now;
    struct count_target *targets; /* one for each stage of the chain */
    unsigned char *memory;        /* rows, rings and stores of runs on the CPU */
    size_t memory_size;
    struct device_plan *device; /* where runs are enqueued; NULL: on the CPU */
};

/* What both kinds of runs ask: the input is of the plan's format and not too large; the plan is then bound to its size. */
imgpipe_status prepared_input(struct imgpipe_plan *plan, const imgpipe_info *in, imgpipe_error *error);
/* The output is what the bound plan makes. NULL where nothing is written. */
imgpipe_status prepared_output(const struct imgpipe_plan *plan, const imgpipe_info *out, imgpipe_error *error);
/* After a run on the CPU: hands out what `hist` stages counted (prepared_count.c). */
void prepared_count(const struct imgpipe_plan *plan);

/* ---- runs on the CPU (prepared_cpu.c) */

/* Makes bound->cpu in the arena, and says how many bytes of rows it needs. */
imgpipe_status cpu_plan_make(struct imgpipe_plan *plan, struct bound *bound, size_t *need, imgpipe_error *error);
/* Gives it its memory. */
void cpu_plan_place(struct bound *bound, unsigned char *memory);
imgpipe_status cpu_plan_run(struct imgpipe_plan *plan, const imgpipe_image *in, const imgpipe_image *out, imgpipe_error *error);
#endif
