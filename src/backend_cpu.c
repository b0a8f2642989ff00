/* The CPU backend: strips are tasks of the context's threads, each of which walks its strip (cpu_walk.c). */
#include "clock.h"
#include "cpu_walk.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

static imgpipe_status worker_new(struct backend_pass *bp, struct worker *worker, imgpipe_error *error) {
    const struct pass *pass = bp->io.pass;
    char size[32], budget[32];
    worker->edges = calloc((size_t)pass->node_count + 1, sizeof *worker->edges);
    worker->nodes = calloc((size_t)pass->node_count + 1, sizeof *worker->nodes);
    worker->rows = calloc((size_t)pass->node_count + 1, sizeof *worker->rows);
    if (!worker->edges || !worker->nodes || !worker->rows) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a worker");
    size_t used = worker_lay_out(bp, worker, NULL);
    if ((double)used * bp->worker_count > (double)bp->io.memory)
        return error_set(error, IMGPIPE_ERROR_MEMORY, "the chain needs %s a thread for its rows, and %s may be used; use fewer threads (-j) or "
                                                      "raise --memory", text_bytes(used, size), text_bytes(bp->io.memory, budget));
    worker->memory = pool_take(bp->backend->pool, used + 64);
    if (!worker->memory)
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory: a worker needs %s for its rows; use fewer threads (-j)",
                         text_bytes(used, size));
    if (bp->io.poison) memset(worker->memory, 0xa5, used + 64);
    worker_lay_out(bp, worker, worker->memory);
    worker_begin(bp, worker);
    return IMGPIPE_OK;
}

static void strip_task(struct task *task, int index) {
    struct strip *strip = (struct strip *)task;
    struct backend_pass *bp = strip->backend;
    struct worker *worker = &bp->workers[index];
    imgpipe_error error;
    double start = clock_now();
    worker_walk(bp, worker, strip);
    worker->seconds += clock_now() - start;
    strip->done(strip, worker->stopped ? error_set(&error, IMGPIPE_ERROR_CANCELLED, "stopped") : IMGPIPE_OK, &error);
}

/* ---- the interface */

static void cpu_submit(struct backend_pass *bp, struct strip *strip) {
    strip->backend = bp;
    strip->task.run = strip_task;
    tasks_add(bp->backend->tasks, TASK_COMPUTE, &strip->task);
}

static void cpu_close(struct backend_pass *bp, double seconds[3]) {
    for (int i = 0; i < bp->worker_count; i++) {
        seconds[BACKEND_COMPUTE] += bp->workers[i].seconds;
        pool_give(bp->backend->pool, bp->workers[i].memory);
        free(bp->workers[i].edges);
        free(bp->workers[i].nodes);
        free(bp->workers[i].rows);
    }
    free(bp->workers);
    free(bp);
}

static imgpipe_status cpu_open(struct backend *backend, const struct pass_io *io, struct backend_pass **out, imgpipe_error *error) {
    struct backend_pass *bp = calloc(1, sizeof *bp);
    if (!bp) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a pass");
    bp->backend = backend;
    bp->io = *io;
    bp->worker_count = tasks_threads(backend->tasks);
    bp->workers = calloc((size_t)bp->worker_count, sizeof *bp->workers);
    imgpipe_status failed = bp->workers ? IMGPIPE_OK : error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the workers");
    for (int i = 0; !failed && i < bp->worker_count; i++) failed = worker_new(bp, &bp->workers[i], error);
    if (failed) {
        if (!bp->workers) bp->worker_count = 0;
        cpu_close(bp, (double[3]){0});
        return failed;
    }
    *out = bp;
    return IMGPIPE_OK;
}

static imgpipe_status cpu_collect(struct backend_pass *bp, int e, int g, void *state, imgpipe_error *error) {
    (void)error;
    const imgpipe_stage *stage = bp->io.pass->edges[e].gathers[g].stage;
    for (int i = 0; i < bp->worker_count; i++) stage->filter->merge(stage, state, bp->workers[i].edges[e].gather_state[g]);
    return IMGPIPE_OK;
}

static void cpu_free(struct backend *backend) {
    pool_free(backend->pool);
    free(backend);
}

static const struct backend_ops cpu_ops = {"cpu", NULL, cpu_open, cpu_submit, cpu_collect, cpu_close, cpu_free, NULL, NULL, NULL};

imgpipe_status backend_cpu_new(struct tasks *tasks, int isa, struct pool *pool, struct backend **out, imgpipe_error *error) {
    struct backend *backend = calloc(1, sizeof *backend);
    if (!backend) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the CPU backend");
    backend->pool = pool;
    backend->ops = &cpu_ops;
    backend->tasks = tasks;
    backend->point = KERNEL_PICK(point, isa);
    *out = backend;
    return IMGPIPE_OK;
}
