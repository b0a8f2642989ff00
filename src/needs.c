/* What a run would take, found by preparing it without an image: every pass is opened as a run opens it, on memory that is asked
 * for and never touched, and closed again. */
#include "job.h"
#include "pass_run.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

imgpipe_needs imgpipe_needs_default(void) {
    return (imgpipe_needs){.struct_size = sizeof(imgpipe_needs)};
}

/* How far the chain reads around a pixel, stage by stage from the last to the first. */
static void find_reach(const struct plan *plan, imgpipe_needs *needs) {
    int64_t x = plan->in.width / 2, y = plan->in.height / 2;
    imgpipe_rect rect = {x, y, x + 1, y + 1};
    for (int i = plan->stage_count - 1; i >= 0; i--) {
        const imgpipe_stage *stage = &plan->stages[i];
        if (stage->identity || stage == plan->range || !stage->filter) continue;
        bool local = stage->filter->kind == IMGPIPE_LOCAL;
        bool resized = stage->out.width != stage->in.width || stage->out.height != stage->in.height;
        if (resized || stage->filter->kind == IMGPIPE_GATHER || stage->filter->kind == IMGPIPE_WHOLE) needs->whole = true;
        if (local && stage->border == IMGPIPE_BORDER_WRAP) needs->whole = true;
        if (local && stage->filter->need) rect = stage->filter->need(stage, rect);
    }
    if (needs->whole) return;
    needs->left = x - rect.x0 > 0 ? x - rect.x0 : 0;
    needs->top = y - rect.y0 > 0 ? y - rect.y0 : 0;
    needs->right = rect.x1 - x - 1 > 0 ? rect.x1 - x - 1 : 0;
    needs->bottom = rect.y1 - y - 1 > 0 ? rect.y1 - y - 1 : 0;
}

/* Bytes of rows that a pass takes beside its stores. */
static imgpipe_status pass_bytes(struct run *run, int index, bool stored, uint64_t *host, uint64_t *device, imgpipe_error *error) {
    const struct pass *pass = &run->plan->passes[index];
    struct store from = {.view = {.slot_count = 1, .band_rows = pass->edges[0].info.height}};
    struct store into = {.view = {.slot_count = 1, .band_rows = pass->edges[pass->node_count].info.height, .slots = &into.memory}};
    struct pool *pool = pool_new(NULL, NULL, NULL);
    if (!pool) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a pass");
    struct backend measured = *run->backend, *backend = run->backend;
    struct pass_run pr;
    measured.pool = pool;
    run->backend = &measured;
    pass_run_begin(&pr, run, index);
    imgpipe_status failed = pass_run_open(&pr, stored ? &from : NULL, pass->end == PASS_STORE ? &into : NULL, error);
    if (!failed && backend->ops->device_bytes) /* opening would take them */
        *device = backend->ops->device_bytes(backend, &pr.io);
    else if (!failed)
        failed = backend->ops->open(&measured, &pr.io, &pr.backend, error);
    pass_run_close(&pr);
    run->backend = backend;
    *host = pool_most(pool);
    pool_free(pool);
    return failed;
}

/* A store takes whole blocks of memory, or none where it goes to a file. */
static uint64_t store_bytes(const struct run *run, const struct edge *edge) {
    uint64_t bytes = store_size(edge);
    return bytes > run->memory ? 0 : (bytes + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN;
}

static uint64_t greater(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* The passes one after another, as run_plan() has them. */
static imgpipe_status find_bytes(struct run *run, imgpipe_needs *needs, imgpipe_error *error) {
    const struct plan *plan = run->plan;
    uint64_t from = 0;
    bool stored = false;
    for (int i = 0; i < plan->pass_count; i++) {
        const struct pass *pass = &plan->passes[i];
        uint64_t into = 0, drawn = 0, host = 0, device = 0;
        if (pass->end == PASS_STORE) {
            struct edge edge = pass_stored(pass);
            into = store_bytes(run, &edge);
        }
        imgpipe_status failed = pass_bytes(run, i, stored, &host, &device, error);
        if (failed) return failed;
        if (pass->render) drawn = store_bytes(run, &pass[1].edges[0]);
        needs->host_bytes = greater(needs->host_bytes, from + into + greater(host, drawn));
        needs->device_bytes = greater(needs->device_bytes, device);
        if (pass->keeps_input) continue;
        from = pass->render ? drawn : into;
        stored = pass->render || pass->end == PASS_STORE;
    }
    return IMGPIPE_OK;
}

/* The ends of a run on images in memory, whose pixels are there but for this. */
static imgpipe_status measure(struct job *job, imgpipe_needs *needs, imgpipe_error *error) {
    unsigned char nothing[16];
    const struct plan *plan = job->plan;
    struct source source = {
        .info = plan->in, .pixels = nothing, .stride = (ptrdiff_t)((size_t)plan->in.width * imgpipe_pixel_size(plan->in.format))};
    struct sink sink = {.info = plan->out,
                        .pixels = nothing,
                        .stride = (ptrdiff_t)((size_t)plan->out.width * imgpipe_pixel_size(plan->out.format))};
    struct run run;
    job->source = &source;
    job->sink = &sink;
    imgpipe_status failed = job_begin(job, &run, needs->device, sizeof needs->device, error);
    if (!failed) failed = find_bytes(&run, needs, error);
    job->source = NULL;
    job->sink = NULL;
    return failed;
}

imgpipe_status imgpipe_chain_needs(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *in,
                                   const imgpipe_run_options *options, imgpipe_needs *needs, imgpipe_error *error) {
    imgpipe_run_options defaults = imgpipe_run_options_default();
    struct job job = {.context = context, .options = options ? options : &defaults};
    imgpipe_needs found = imgpipe_needs_default();
    imgpipe_status failed = job_check(context, job.options, error);
    if (!failed && (!in || !needs || needs->struct_size != sizeof *needs))
        failed = error_set(error, IMGPIPE_ERROR_ARGUMENT,
                           "imgpipe_chain_needs: an image's size and format, and imgpipe_needs of this library's "
                           "struct_size are needed; use imgpipe_needs_default()");
    if (failed) return failed;
    struct plan_options wishes = job_plan_options(&job, false);
    failed = plan_make(chain, in, &wishes, &job.plan, error);
    if (!failed) {
        found.out = job.plan->out;
        found.passes = job.plan->pass_count;
        find_reach(job.plan, &found);
        failed = measure(&job, &found, error);
    }
    if (!failed) *needs = found;
    plan_free(job.plan);
    return failed;
}
