/* One pass: rows are decoded band by band in order, in two halves side by side where the source can; strips whose input is
 * there are computed in any order; pieces whose rows are complete are encoded in any order and committed in order.
 * Everything waits for memory, never for time: a band is decoded when its slot is free, a strip starts when the slots of its
 * output are free. Strips and bands take their slots in order, and there are always enough slots for one strip, so the oldest
 * strip can always go on. */
#include "clock.h"
#include "pass_run.h"
#include "status.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void strip_done(struct strip *strip, imgpipe_status status, const imgpipe_error *error);

/* ---- everything below, down to the tasks, is called with the lock held */

static void fail(struct pass_run *pr, imgpipe_status status, const imgpipe_error *error) {
    if (pr->failed) return;
    pr->failed = true;
    pr->status = status;
    if (error) pr->error = *error;
}

static int64_t strips_using(const struct pass_run *pr, int64_t band) {
    int64_t y0 = band * pr->io.in.band_rows, y1 = y0 + pr->io.in.band_rows, count = 0;
    /* Strips need rows in order, so those that use a band are neighbours: find the first by bisection. */
    int64_t low = 0, high = pr->pass->strip_count;
    while (low < high) {
        int64_t middle = (low + high) / 2, a, b;
        strip_input(pr->pass, middle, &a, &b);
        if (b > y0)
            high = middle;
        else
            low = middle + 1;
    }
    for (int64_t i = low; i < pr->pass->strip_count; i++, count++) {
        int64_t a, b;
        strip_input(pr->pass, i, &a, &b);
        if (a >= y1) break;
    }
    return count;
}

static bool slot_free(const struct pass_run *pr, int64_t band) {
    return band < pr->io.in.slot_count || pr->users[band % pr->io.in.slot_count] == 0;
}

static bool can_fetch(const struct pass_run *pr) {
    return pr->ahead > 0 && !pr->failed && pr->fetched < pr->in_bands && pr->fetched - pr->decoded < pr->ahead;
}

static void start_fetching(struct pass_run *pr) {
    if (pr->fetching || !can_fetch(pr)) return;
    pr->fetching = true;
    pr->busy++;
    tasks_add(pr->run->tasks, TASK_DECODE, &pr->fetch_task);
}

static void start_decoding(struct pass_run *pr) {
    if (pr->decoding || pr->decoded >= pr->in_bands || !slot_free(pr, pr->decoded)) return;
    if (pr->ahead && pr->decoded >= pr->fetched) return;
    pr->decoding = true;
    pr->busy++;
    tasks_add(pr->run->tasks, TASK_DECODE, &pr->decode_task);
}

/* The slots of the pieces that rows [y0, y1) fall into are free or already these pieces'. */
static bool pieces_free(const struct pass_run *pr, int64_t y1) {
    return pr->pieces_total == 0 || (y1 - 1) / pr->io.out.band_rows < pr->committed + pr->io.out.slot_count;
}

static void start_strips(struct pass_run *pr) {
    while (pr->backend && pr->started < pr->pass->strip_count) {
        struct strip_slot *slot = &pr->strips[pr->started % pr->strip_slots];
        if (slot->busy) return;
        int64_t height = pr->pass->edges[pr->pass->node_count].info.height;
        struct strip *strip = &slot->strip;
        strip->index = pr->started;
        strip->y0 = pr->started * pr->pass->strip_rows;
        strip->y1 = strip->y0 + pr->pass->strip_rows < height ? strip->y0 + pr->pass->strip_rows : height;
        strip_input(pr->pass, strip->index, &strip->in0, &strip->in1);
        if (pr->in_bands && (strip->in1 - 1) / pr->io.in.band_rows >= pr->decoded) return;
        if (!pieces_free(pr, strip->y1)) return;
        slot->busy = true;
        strip->done = strip_done;
        pr->started++;
        pr->busy++;
        pr->run->backend->ops->submit(pr->backend, strip);
    }
}

static void start_commit(struct pass_run *pr) {
    if (pr->committing || pr->committed >= pr->pieces_total) return;
    struct piece *piece = &pr->pieces[pr->committed % pr->io.out.slot_count];
    if (piece->state != PIECE_ENCODED || piece->sink.y != pr->committed * pr->io.out.band_rows) return;
    pr->committing = true;
    pr->busy++;
    tasks_add(pr->run->tasks, TASK_ENCODE, &pr->commit_task);
}

/* Starts whatever can be started, or ends the pass. */
static void advance(struct pass_run *pr) {
    if (!pr->failed && cancel_asked(&pr->run->cancel)) {
        fail(pr, IMGPIPE_ERROR_CANCELLED, NULL);
        error_set(&pr->error, IMGPIPE_ERROR_CANCELLED, "stopped");
    }
    if (!pr->failed) {
        start_commit(pr);
        start_strips(pr);
        start_fetching(pr); /* first, since bands are fetched one after another while all else can be shared out */
        start_decoding(pr);
    }
    bool complete = pr->finished == pr->pass->strip_count && pr->committed == pr->pieces_total && pr->decoded == pr->in_bands;
    if (pr->busy == 0 && (pr->failed || complete)) tasks_finish(pr->run->tasks, &pr->done);
}

/* ---- tasks */

/* How many rows the band has. */
static int band_height(const struct pass_run *pr, int64_t band) {
    int64_t left = pr->in_height - band * pr->io.in.band_rows;
    return (int)(left < pr->io.in.band_rows ? left : pr->io.in.band_rows);
}

/* The sequential half of decoding, where the source has two: the next band's bytes, while the one before is unpacked. A thread goes on
 * for as long as it can: all else can be shared out, and what the decoder keeps stays in one core's cache. */
static void fetch_run(struct task *task, int worker) {
    (void)worker;
    struct pass_run *pr = (struct pass_run *)((char *)task - offsetof(struct pass_run, fetch_task));
    pthread_mutex_lock(&pr->lock);
    while (can_fetch(pr)) {
        const int count = band_height(pr, pr->fetched);
        pthread_mutex_unlock(&pr->lock);
        imgpipe_error error;
        double start = clock_now();
        imgpipe_status status = source_fetch(pr->run->source, count, &error);
        double spent = clock_now() - start;
        pthread_mutex_lock(&pr->lock);
        pr->run->decode += spent;
        if (status) fail(pr, status, &error);
        pr->fetched++;
        start_decoding(pr);
    }
    pr->fetching = false;
    pr->busy--;
    advance(pr);
    pthread_mutex_unlock(&pr->lock);
}

static void decode_run(struct task *task, int worker) {
    (void)worker;
    struct pass_run *pr = (struct pass_run *)((char *)task - offsetof(struct pass_run, decode_task));
    const struct rows_view *in = &pr->io.in;
    int64_t band = pr->decoded;
    const int count = band_height(pr, band);
    imgpipe_error error;
    double start = clock_now();
    if (pr->io.poison) memset(in->slots[band % in->slot_count], 0xa5, (size_t)(in->band_rows * in->stride));
    for (int i = 0; i < count; i++) pr->rows[i] = rows_at(in, band * in->band_rows + i);
    imgpipe_status status = pr->ahead ? source_unpack(pr->run->source, pr->rows, count, &error)
                                      : source_read(pr->run->source, pr->rows, count, &error);
    for (int i = 0; i < count && !status; i++)
        if (pr->pass->node_count) edge_pad(pr->pass, 0, pr->rows[i]);
    double spent = clock_now() - start;
    pthread_mutex_lock(&pr->lock);
    pr->run->decode += spent;
    pr->decoding = false;
    pr->busy--;
    if (status) fail(pr, status, &error);
    pr->users[band % in->slot_count] = strips_using(pr, band);
    pr->decoded++;
    advance(pr);
    pthread_mutex_unlock(&pr->lock);
}

static void encode_run(struct task *task, int worker) {
    (void)worker;
    struct piece *piece = (struct piece *)task;
    struct pass_run *pr = piece->pr;
    struct sink *sink = pr->run->sink;
    imgpipe_error error;
    double start = clock_now();
    imgpipe_status status = sink->ops->encode(sink, &piece->sink, &error);
    double spent = clock_now() - start;
    pthread_mutex_lock(&pr->lock);
    pr->run->encode += spent;
    pr->busy--;
    piece->state = PIECE_ENCODED;
    if (status) fail(pr, status, &error);
    advance(pr);
    pthread_mutex_unlock(&pr->lock);
}

static void commit_run(struct task *task, int worker) {
    (void)worker;
    struct pass_run *pr = (struct pass_run *)((char *)task - offsetof(struct pass_run, commit_task));
    struct piece *piece = &pr->pieces[pr->committed % pr->io.out.slot_count];
    struct sink *sink = pr->run->sink;
    imgpipe_error error;
    double start = clock_now();
    imgpipe_status status = sink->ops->commit(sink, &piece->sink, &error);
    double spent = clock_now() - start;
    pthread_mutex_lock(&pr->lock);
    pr->run->encode += spent;
    pr->busy--;
    pr->committing = false;
    if (status) fail(pr, status, &error);
    piece_begin(pr, pr->committed + pr->io.out.slot_count);
    pr->committed++;
    advance(pr);
    pthread_mutex_unlock(&pr->lock);
}

/* Called with the lock held: counts the rows of a finished strip off its pieces, and has full pieces encoded. */
static void fill_pieces(struct pass_run *pr, const struct strip *strip) {
    for (int64_t y = strip->y0; pr->pieces_total && y < strip->y1;) {
        int64_t index = y / pr->io.out.band_rows, end = (index + 1) * pr->io.out.band_rows;
        struct piece *piece = &pr->pieces[index % pr->io.out.slot_count];
        if (end > strip->y1) end = strip->y1;
        piece->rows_left -= end - y;
        y = end;
        if (piece->rows_left > 0) continue;
        piece->state = pr->run->sink->ops->encode ? PIECE_ENCODING : PIECE_ENCODED;
        if (piece->state == PIECE_ENCODED || pr->failed) continue;
        pr->busy++;
        piece->task.run = encode_run;
        tasks_add(pr->run->tasks, TASK_ENCODE, &piece->task);
    }
}

static void strip_done(struct strip *strip, imgpipe_status status, const imgpipe_error *error) {
    struct pass_run *pr = strip->owner;
    pthread_mutex_lock(&pr->lock);
    pr->busy--;
    pr->finished++;
    if (status) fail(pr, status, error);
    for (int64_t band = strip->in0 / pr->io.in.band_rows; pr->in_bands && band <= (strip->in1 - 1) / pr->io.in.band_rows; band++)
        pr->users[band % pr->io.in.slot_count]--;
    fill_pieces(pr, strip);
    pr->strips[strip->index % pr->strip_slots].busy = false;
    if (pr->run->progress) pr->run->progress(pr->run->user, pr->progress_base + pr->progress_share * (double)pr->finished /
                                                                                (double)pr->pass->strip_count);
    advance(pr);
    pthread_mutex_unlock(&pr->lock);
}

/* Hands the merged state of every gather to its stage. */
static imgpipe_status finish_gathers(struct pass_run *pr, imgpipe_error *error) {
    imgpipe_status failed = IMGPIPE_OK;
    for (int e = 0; !failed && e <= pr->pass->node_count; e++)
        for (int g = 0; !failed && g < pr->pass->edges[e].gather_count; g++) {
            imgpipe_stage *stage = pr->pass->edges[e].gathers[g].stage;
            void *state = calloc(1, stage->gather_size);
            if (!state) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the result of '%s'", stage->filter->name);
            failed = pr->run->backend->ops->collect(pr->backend, e, g, state, error);
            if (!failed) failed = stage->filter->finish(stage, state, error);
            free(state);
        }
    return failed;
}

/* Opens the pass on the backend. Runs beside decoding where that takes long (a GPU's context). */
static void *open_backend(void *argument) {
    struct pass_run *pr = argument;
    struct run *run = pr->run;
    struct backend_pass *opened = NULL;
    imgpipe_error error;
    imgpipe_status status = run->backend->ops->open(run->backend, &pr->io, &opened, &error);
    if (status == IMGPIPE_ERROR_DEVICE && run->fallback) {
        /* That there is none is nothing that somebody who left the choice need know. */
        log_line(run->log, error.fault == ENODEV ? IMGPIPE_LOG_DETAIL : IMGPIPE_LOG_NOTICE, "%s; the CPU takes over", error.message);
        pthread_mutex_lock(&pr->lock);
        run->absent = error.fault == ENODEV;
        run->backend = run->fallback;
        run->fallback = NULL;
        pthread_mutex_unlock(&pr->lock);
        status = run->backend->ops->open(run->backend, &pr->io, &opened, &error);
    }
    pthread_mutex_lock(&pr->lock);
    pr->busy--;
    pr->backend = opened;
    if (status) fail(pr, status, &error);
    advance(pr);
    pthread_mutex_unlock(&pr->lock);
    return NULL;
}

static void work_off(struct pass_run *pr) {
    struct backend *backend = pr->run->backend;
    bool threaded = backend->ops->opens_slowly && backend->ops->opens_slowly(backend, &pr->io);
    pr->busy = 1;
    if (threaded) threaded = pthread_create(&pr->opener, NULL, open_backend, pr) == 0;
    if (threaded) {
        pthread_mutex_lock(&pr->lock);
        advance(pr);
        pthread_mutex_unlock(&pr->lock);
    } else {
        open_backend(pr);
    }
    tasks_run(pr->run->tasks, &pr->done);
    if (threaded) pthread_join(pr->opener, NULL);
    pthread_mutex_lock(&pr->lock); /* the task that ended the pass may still hold it */
    pthread_mutex_unlock(&pr->lock);
}

void pass_run_begin(struct pass_run *pr, struct run *run, int index) {
    *pr = (struct pass_run){.run = run, .pass = &run->plan->passes[index]};
    pthread_mutex_init(&pr->lock, NULL);
    pr->decode_task.run = decode_run;
    pr->fetch_task.run = fetch_run;
    pr->commit_task.run = commit_run;
    pr->io.pass = pr->pass;
    pr->io.next = pr->pass->end == PASS_STORE && !pr->pass->render_whole ? pr->pass + 1 : NULL;
    pr->io.log = run->log;
    pr->io.memory = run->memory;
    pr->io.cancel = &run->cancel;
    pr->io.poison = run->poison;
    pr->progress_share = 1.0 / run->plan->pass_count;
    pr->progress_base = index * pr->progress_share;
}

imgpipe_status run_pass(struct run *run, int index, struct store *from, struct store *into, imgpipe_error *error) {
    struct pass_run pr;
    pass_run_begin(&pr, run, index);
    for (int e = 0; e <= pr.pass->node_count; e++)
        for (int g = 0; g < pr.pass->edges[e].gather_count; g++) pr.pass->edges[e].gathers[g].stage->walk = pr.pass->edges[e].gathers[g].walk;
    imgpipe_status status = pass_run_open(&pr, from, into, error);
    if (!status) {
        work_off(&pr);
        status = pr.status;
        if (status && error) *error = pr.error;
        if (!status) status = finish_gathers(&pr, error);
    }
    pass_run_close(&pr);
    return status;
}
