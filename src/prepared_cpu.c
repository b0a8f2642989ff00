/* Runs of a prepared plan on the CPU. What is little work is done by the calling thread alone, in one strip a pass; the rest is cut
 * into strips for the context's threads. */
#include "cpu_walk.h"
#include "prepared.h"
#include "run.h"
#include "status.h"

#include <stdatomic.h>
#include <string.h>

/* Seconds of one core. Handing strips to other threads and waiting for them takes some ten microseconds. */
#define INLINE_SECONDS 200e-6

/* An image kept between passes, or drawn for the next one. */
struct kept {
    unsigned char *memory;
    struct rows_view view;
};

struct cpu_pass {
    struct backend_pass walk;
    struct strip *strips;
    struct kept *from;        /* NULL: the caller's image */
    struct kept store, drawn; /* without a stride where the pass makes none */
    unsigned char *in, *out;  /* the caller's images */
};

struct cpu_plan {
    struct cpu_pass *passes;
};

static imgpipe_status make_workers(struct backend_pass *walk, int count, struct arena *arena, imgpipe_error *error) {
    size_t edges = (size_t)walk->io.pass->node_count + 1;
    walk->worker_count = count;
    walk->workers = arena_alloc(arena, (size_t)count * sizeof *walk->workers);
    for (int i = 0; walk->workers && i < count; i++) {
        struct worker *worker = &walk->workers[i];
        worker->edges = arena_alloc(arena, edges * sizeof *worker->edges);
        worker->nodes = arena_alloc(arena, edges * sizeof *worker->nodes);
        worker->rows = arena_alloc(arena, edges * sizeof *worker->rows);
        if (!worker->edges || !worker->nodes || !worker->rows) walk->workers = NULL;
    }
    return walk->workers ? IMGPIPE_OK : error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the workers of a prepared plan");
}

static struct rows_view whole_view(unsigned char *const *slot, const imgpipe_info *info) {
    return (struct rows_view){.slots = slot, .slot_count = 1, .band_rows = info->height};
}

static void kept_view(struct kept *kept, const struct edge *edge) {
    kept->view = whole_view(&kept->memory, &edge->info);
    kept->view.stride = (ptrdiff_t)row_stride(edge);
    kept->view.offset = row_offset(edge);
}

/* What the pass reads, makes and leaves for later ones. Returns what the next pass reads. */
static struct kept *join(const struct imgpipe_plan *plan, const struct pass *pass, struct cpu_pass *cp, struct kept *from) {
    struct pass_io *io = &cp->walk.io;
    const struct edge *last = &pass->edges[pass->node_count];
    io->pass = pass;
    io->cancel = &plan->context->cancel;
    io->next = pass->end == PASS_STORE && !pass->render_whole ? pass + 1 : NULL;
    cp->walk.backend = plan->context->cpu;
    cp->from = from;
    io->bare = !from;
    io->laid_out = !from || pass->end == PASS_SINK;
    io->in = from ? from->view : whole_view(&cp->in, &pass->edges[0].info);
    if (pass->end == PASS_SINK) io->out = whole_view(&cp->out, &last->info);
    if (pass->end == PASS_STORE) {
        kept_view(&cp->store, pass->render_whole ? last : &pass[1].edges[0]);
        io->out = cp->store.view;
    }
    if (pass->render) kept_view(&cp->drawn, &pass[1].edges[0]);
    if (pass->keeps_input) return from;
    return pass->render ? &cp->drawn : pass->end == PASS_STORE ? &cp->store : NULL;
}

static imgpipe_status make_strips(struct cpu_pass *cp, struct arena *arena, imgpipe_error *error) {
    const struct pass *pass = cp->walk.io.pass;
    int64_t height = pass->edges[pass->node_count].info.height;
    cp->strips = arena_alloc(arena, (size_t)pass->strip_count * sizeof *cp->strips);
    if (!cp->strips) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the strips of a prepared plan");
    for (int64_t i = 0; i < pass->strip_count; i++) {
        struct strip *strip = &cp->strips[i];
        strip->backend = &cp->walk;
        strip->index = i;
        strip->y0 = i * pass->strip_rows;
        strip->y1 = strip->y0 + pass->strip_rows < height ? strip->y0 + pass->strip_rows : height;
        strip_input(pass, i, &strip->in0, &strip->in1);
    }
    return IMGPIPE_OK;
}

/* Cuts the memory at `base`; NULL only measures. */
static size_t lay_out(const struct bound *bound, unsigned char *base) {
    size_t used = 0;
    for (int i = 0; i < bound->plan->pass_count; i++) {
        struct cpu_pass *cp = &bound->cpu->passes[i];
        struct kept *kept[] = {&cp->store, &cp->drawn};
        for (int k = 0; k < 2; k++) {
            size_t size = (size_t)kept[k]->view.stride * (size_t)kept[k]->view.band_rows;
            kept[k]->memory = base && size ? base + used : NULL;
            used += size ? size + 64 : 0;
        }
        for (int w = 0; w < cp->walk.worker_count; w++)
            used += worker_lay_out(&cp->walk, &cp->walk.workers[w], base ? base + used : NULL);
    }
    return used + 64;
}

imgpipe_status cpu_plan_make(struct imgpipe_plan *plan, struct bound *bound, size_t *need, imgpipe_error *error) {
    const struct plan *p = bound->plan;
    int threads = tasks_threads(plan->context->tasks);
    bool alone = threads == 1 || plan_cpu_seconds(p, 1) < INLINE_SECONDS;
    struct plan_options strips = {.threads = threads, .strip_rows = alone ? INT32_MAX : 0, .memory = plan->context->memory};
    plan_strips(bound->plan, &strips);
    bound->cpu = arena_alloc(&bound->arena, sizeof *bound->cpu);
    if (bound->cpu) bound->cpu->passes = arena_alloc(&bound->arena, (size_t)p->pass_count * sizeof *bound->cpu->passes);
    if (!bound->cpu || !bound->cpu->passes) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a prepared plan");
    struct kept *from = NULL;
    for (int i = 0; i < p->pass_count; i++) {
        struct cpu_pass *cp = &bound->cpu->passes[i];
        from = join(plan, &p->passes[i], cp, from);
        imgpipe_status failed = make_workers(&cp->walk, alone ? 1 : threads, &bound->arena, error);
        if (!failed) failed = make_strips(cp, &bound->arena, error);
        if (failed) return failed;
    }
    *need = lay_out(bound, NULL);
    return IMGPIPE_OK;
}

void cpu_plan_place(struct bound *bound, unsigned char *memory) {
    lay_out(bound, memory);
    for (int i = 0; i < bound->plan->pass_count; i++) {
        struct backend_pass *walk = &bound->cpu->passes[i].walk;
        for (int w = 0; w < walk->worker_count; w++) worker_begin(walk, &walk->workers[w]);
    }
}

/* ---- a run */

struct strips_run {
    struct tasks *tasks;
    atomic_long left;
    bool done;
};

static void strip_task(struct task *task, int index) {
    struct strip *strip = (struct strip *)task;
    struct strips_run *run = strip->owner;
    struct worker *worker = &strip->backend->workers[index];
    if (!worker->stopped) worker_walk(strip->backend, worker, strip);
    if (atomic_fetch_sub(&run->left, 1) == 1) tasks_finish(run->tasks, &run->done);
}

static void walk_strips(struct cpu_pass *cp, struct tasks *tasks) {
    int64_t count = cp->walk.io.pass->strip_count;
    if (count == 1) {
        worker_walk(&cp->walk, &cp->walk.workers[0], &cp->strips[0]);
        return;
    }
    struct strips_run run = {.tasks = tasks};
    atomic_init(&run.left, count);
    for (int64_t i = 0; i < count; i++) {
        cp->strips[i].owner = &run;
        cp->strips[i].task.run = strip_task;
        tasks_add(tasks, TASK_COMPUTE, &cp->strips[i].task);
    }
    tasks_run(tasks, &run.done);
}

/* A worker that left a strip takes no other of the pass, so that its reason stays. */
static imgpipe_status worker_result(const struct worker *worker, imgpipe_error *error) {
    if (!worker->stopped) return IMGPIPE_OK;
    if (!worker->status) return error_set(error, IMGPIPE_ERROR_CANCELLED, "stopped");
    if (error) *error = worker->error;
    return worker->status;
}

/* Hands the merged state of every gather of the pass to its stage. */
static imgpipe_status finish_gathers(struct cpu_pass *cp, imgpipe_error *error) {
    const struct pass *pass = cp->walk.io.pass;
    imgpipe_status failed = IMGPIPE_OK;
    for (int e = 0; !failed && e <= pass->node_count; e++)
        for (int g = 0; !failed && g < pass->edges[e].gather_count; g++) {
            imgpipe_stage *stage = pass->edges[e].gathers[g].stage;
            struct worker *workers = cp->walk.workers;
            unsigned char *state = workers[0].edges[e].gather_state[g];
            for (int w = 1; w < cp->walk.worker_count; w++) stage->filter->merge(stage, state, workers[w].edges[e].gather_state[g]);
            failed = stage->filter->finish(stage, state, error);
        }
    return failed;
}

static imgpipe_status draw(struct cpu_pass *cp, imgpipe_error *error) {
    const struct pass *pass = cp->walk.io.pass;
    const imgpipe_stage *stage = pass->render;
    const struct rows_view *view = &cp->drawn.view;
    imgpipe_image out = {.info = stage->out, .pixels = rows_at(view, 0), .stride = view->stride}, in = {.info = stage->in};
    if (pass->render_whole) {
        in.pixels = rows_at(&cp->store.view, 0);
        in.stride = cp->store.view.stride;
    }
    imgpipe_status failed = stage->filter->render(stage, pass->render_whole ? &in : NULL, &out, error);
    for (int64_t y = 0; !failed && y < stage->out.height; y++)
        if (pass[1].node_count) edge_pad(&pass[1], 0, rows_at(view, y));
    return failed;
}

static imgpipe_status run_pass_of(struct imgpipe_plan *plan, struct cpu_pass *cp, imgpipe_error *error) {
    const struct pass *pass = cp->walk.io.pass;
    bool gathers = false;
    for (int e = 0; e <= pass->node_count; e++)
        for (int g = 0; g < pass->edges[e].gather_count; g++) {
            pass->edges[e].gathers[g].stage->walk = pass->edges[e].gathers[g].walk;
            gathers = true;
        }
    for (int w = 0; w < cp->walk.worker_count; w++) {
        struct worker *worker = &cp->walk.workers[w];
        worker->stopped = false;
        if (gathers) worker_forget(&cp->walk, worker);
        if (cp->walk.io.laid_out) worker_ends(&cp->walk, worker);
    }
    walk_strips(cp, plan->context->tasks);
    imgpipe_status failed = IMGPIPE_OK;
    for (int w = 0; !failed && w < cp->walk.worker_count; w++) failed = worker_result(&cp->walk.workers[w], error);
    if (!failed && gathers) failed = finish_gathers(cp, error);
    if (!failed && pass->render) failed = draw(cp, error);
    return failed;
}

imgpipe_status cpu_plan_run(struct imgpipe_plan *plan, const imgpipe_image *in, const imgpipe_image *out, imgpipe_error *error) {
    const struct bound *bound = plan->now;
    imgpipe_status failed = IMGPIPE_OK;
    for (int i = 0; !failed && i < bound->plan->pass_count; i++) {
        struct cpu_pass *cp = &bound->cpu->passes[i];
        if (!cp->from) {
            cp->in = in->pixels;
            cp->walk.io.in.stride = in->stride;
            cp->walk.io.in_layout = in->layout;
        }
        if (cp->walk.io.pass->end == PASS_SINK) {
            cp->out = out->pixels;
            cp->walk.io.out.stride = out->stride;
            cp->walk.io.out_layout = out->layout;
        }
        failed = run_pass_of(plan, cp, error);
    }
    return failed ? failed : run_check_range(bound->plan, &plan->context->log, error);
}
