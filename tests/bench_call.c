/* What one call costs beside its kernel: CPU time of a run on an image of one pixel, where the kernel costs next to nothing, and on one of
 * 64 x 64, by imgpipe_run_image() and by a prepared plan. Microseconds, the least and the median of many.
 *
 * usage: bench_call [CHAIN...] */
#include "imgpipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 3000, SIDE = 64 };

static imgpipe_context *context;
static imgpipe_error error;
static unsigned char source[SIDE * SIDE], result[SIDE * SIDE];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(const char *text, int side) {
    static double whole[ROUNDS], planned[ROUNDS];
    imgpipe_image in = {.info = {side, side, {IMGPIPE_U8, 1, false}}, .pixels = source, .stride = SIDE}, out = in;
    imgpipe_chain *chain = NULL;
    imgpipe_plan *plan = NULL;
    out.pixels = result;
    imgpipe_status failed = imgpipe_chain_parse(text, &chain, &error);
    if (!failed) failed = imgpipe_prepare(context, chain, &in.info, NULL, &plan, &error);
    for (int i = 0; i < ROUNDS && !failed; i++) {
        double start = now();
        failed = imgpipe_run_image(context, chain, &in, &out, NULL, NULL, &error);
        double middle = now();
        if (!failed) failed = imgpipe_plan_run(plan, &in, &out, &error);
        whole[i] = middle - start;
        planned[i] = now() - middle;
    }
    qsort(whole, ROUNDS, sizeof *whole, by_size);
    qsort(planned, ROUNDS, sizeof *planned, by_size);
    if (!failed)
        printf("%-24s %2d x %-2d  run_image %6.2f %6.2f  plan_run %6.2f %6.2f\n", text, side, side, whole[0] * 1e6,
               whole[ROUNDS / 2] * 1e6, planned[0] * 1e6, planned[ROUNDS / 2] * 1e6);
    imgpipe_plan_free(&plan);
    imgpipe_chain_free(&chain);
    return !failed;
}

int main(int count, char **arguments) {
    static const char *const usual[] = {"box=3", "invert", "blur=2", "median=3"};
    imgpipe_context_options options = imgpipe_context_options_default();
    options.device = "cpu";
    options.threads = 1;
    bool right = imgpipe_context_new(&options, &context, &error) == IMGPIPE_OK;
    for (int i = 0; i < SIDE * SIDE; i++) source[i] = (unsigned char)(i * 37);
    for (int i = 0; i < (count > 1 ? count - 1 : 4) && right; i++)
        for (int side = 1; side <= SIDE && right; side += SIDE - 1) right = measure(count > 1 ? arguments[i + 1] : usual[i], side);
    if (!right) fprintf(stderr, "bench_call: %s\n", error.message);
    imgpipe_context_free(&context);
    return !right;
}
