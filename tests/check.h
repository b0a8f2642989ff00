/* The driver of the tests of pixels: cases made from one seed, and the ways in which a chain may be run. */
#ifndef CHECK_H
#define CHECK_H
#include "content.h"

struct check_options {
    uint64_t seed;
    long only_case; /* -1: all */
    long chains;    /* random chains to try; -1: the usual number */
    bool quick, verbose;
    bool small;          /* small images and windows, few cases: for slow checkers of memory */
    const char *device; /* "cpu", or the device whose results are compared with the CPU's */
    int isa;            /* index, or -1: any */
};
extern struct check_options check_options;

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

struct check_test {
    char name[48];
    enum outcome (*run)(const void *of, struct rng *r, struct story *story);
    const void *of;
    long quick, full; /* cases */
};
/* The tests that each file has; returns how many. */
int oracle_tests(struct check_test *tests, int capacity);
int prover_tests(struct check_test *tests, int capacity);

/* Random parameters for `filter`, made from its table, appended to `text`. */
void random_stage(const imgpipe_filter *filter, struct rng *r, char *text, size_t size);
/* One to six random stages. */
void random_chain(struct rng *r, char *text, size_t size);

int bench_run(char **patterns, int count);
bool name_matches(const char *name, char **patterns, int count);
#endif
