/* The driver of the tests of pixels: cases made from one seed. */
#ifndef CHECK_H
#define CHECK_H
#include "prover.h"

/* The seed of all cases. */
extern uint64_t check_seed;

struct check_test {
    char name[48];
    enum outcome (*run)(const void *of, struct rng *r, struct story *story);
    const void *of;
    long quick, full; /* cases */
};
int bench_run(char **patterns, int count);
bool name_matches(const char *name, char **patterns, int count);
#endif
