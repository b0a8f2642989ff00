/* The prover: whatever a filter computes, it must compute the same bytes however it is run. It knows no filter and no kernel;
 * all that it sees is the public header. `imgpipe --check-filter` and tests/check use it. */
#ifndef PROVER_H
#define PROVER_H
#include "content.h"

/* A program proves on one device at a time. */
struct prover_options {
    bool quick, small;          /* fewer ways to run each case; small images, for slow checkers of memory */
    const char *device;         /* "cpu", or the device whose results are compared with the CPU's */
    int isa;                    /* index, or -1: any */
    imgpipe_registry *registry; /* whose filters chains may name; NULL: those of the build */
};
extern struct prover_options prover_options;

/* A way to run a chain. None of it may change the result. */
struct variant {
    const char *device;
    int threads, isa;
    int64_t strip_rows, step_rows;
    bool poison;
};
/* Everything the plain way: the CPU, one thread, the least instruction set, the whole image as one strip. */
struct variant variant_plain(void);
struct variant variant_random(struct rng *r);
/* How many instruction sets there are here. */
int isa_count(void);

enum outcome { PASSED, FAILED, REFUSED };

/* What a case says about itself; both are printed on failure. */
struct story {
    char what[4096];
    char why[4096];
};
void story_add(struct story *s, const char *format, ...) IMGPIPE_PRINTF(2, 3);
void story_variant(struct story *s, const struct variant *v);

/* The context for a variant; it is kept for later cases. NULL with `error` filled if there is none. */
imgpipe_context *engine(const struct variant *v, imgpipe_error *error);
void engines_free(void);

/* Makes `out` and runs the chain into it. REFUSED: setup does not accept the image (not a failure in itself). FAILED: an
 * error where there should be none, guard bytes overwritten, or the input changed. `out` must be freed if PASSED. `r` NULL:
 * an output without padding. `out` NULL: side data only. */
enum outcome chain_run(const imgpipe_chain *chain, const struct variant *v, const struct picture *in, struct picture *out,
                       struct rng *r, struct story *story);

/* What is proved of a filter: all parameters are random but those that `given`, a stage of it, has; `text` is that stage as it was
 * written. Both may be NULL. */
struct proof {
    const imgpipe_filter *filter;
    const imgpipe_chain *given;
    const char *text;
};
/* How many cases make a quick proof of a filter, and a full one. */
void proof_cases(const imgpipe_filter *filter, long *quick, long *full);
/* One case: random parameters on a random image, in every way. */
enum outcome prove_filter(const struct proof *proof, struct rng *r, struct story *story);
/* The same of a random chain of the filters of the build, which is also compared with its stages one by one. */
enum outcome prove_chain(struct rng *r, struct story *story);

/* Parses a chain of one stage of `filter`, with `values` behind its name, that is watched while it runs: whether it keeps to the laws
 * of its kind that results need not show. need() is a pure function, and grows with the rectangle; merge() is commutative and
 * associative; rows() and gather() use no other rows than they get, do not write into those, nor beyond their scratch and state. The
 * chain is the only one that is watched, and writes no side data. */
imgpipe_status watch_parse(const imgpipe_filter *filter, const char *values, imgpipe_chain **chain, imgpipe_error *error);
/* Whether a law was broken since then; story->why says which. */
bool watch_broken(struct story *story);
/* For the handler of a crash: whether the address is that of a row beyond the `count` that rows() got in this thread, and which. */
bool watch_guard(const void *address, int *index, int *count);

/* A stage with random parameters, made from the filter's table alone, appended to `text`; `all`: with all that have no default.
 * False if one of these was left out. */
bool random_stage(const struct proof *proof, bool all, struct rng *r, char *text, size_t size);
/* One to six random stages. */
void random_chain(struct rng *r, char *text, size_t size);
#endif
