/* Seconds on a clock that never goes back. */
#ifndef CLOCK_H
#define CLOCK_H
#include <time.h>

static inline double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
#endif
