#include "batch.h"
#include "names.h"
#include "paths.h"
#include "progress.h"
#include "settings.h"
#include "signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int batch_graver(int a, int b) {
    /* The order of the contract: a signal, then 2, 3, 4, 1. */
    static const int order[] = {0, 1, 4, 3, 2};
    int x = a >= EXIT_SIGNAL ? 5 : order[a], y = b >= EXIT_SIGNAL ? 5 : order[b];
    return x >= y ? a : b;
}

/* ------------------------------------------------------------------------------------------------ contexts */

static void log_message(void *user, imgpipe_log_level level, const char *message) {
    struct lane *lane = user;
    struct subject subject = work_subject(lane);
    if (lane->job)
        notices_take(&lane->notices, lane->batch->console, level, message, &subject);
    else
        console_log_about(lane->batch->console, level, message, &subject);
}

static void show_progress(void *user, double done) {
    const struct lane *lane = user;
    if (lane->progress) progress_update(lane->batch->console, done);
}

/* In a run over many images the first signal lets the images in flight be finished, but for those that may never come to an
 * end because they wait for somebody else; the second ends them as well. */
bool batch_is_cancelled(const struct lane *lane) {
    if (!signals_caught()) return false;
    return !lane->batch->many || signals_count() > 1 || !lane->job || lane->job->waits;
}

/* What the first signal means. Images may take long, and who waits would think that it was not heard. */
static void tell_signal(struct batch *batch, int images) {
    char message[160];
    if (batch->signal_told || images == 0 || signals_count() != 1) return;
    batch->signal_told = true;
    snprintf(message, sizeof message, "stopping: the image%s at work %s finished first; a second signal (Ctrl-C) ends %s too",
             images == 1 ? "" : "s", images == 1 ? "is" : "are", images == 1 ? "it" : "these");
    console_log(batch->console, IMGPIPE_LOG_NOTICE, message);
}

static bool is_cancelled(void *user) {
    struct lane *lane = user;
    bool cancelled = batch_is_cancelled(lane);
    if (!cancelled && lane->batch->many && !lane->shared && signals_caught()) {
        pthread_mutex_lock(&lane->batch->lock);
        tell_signal(lane->batch, 1);
        pthread_mutex_unlock(&lane->batch->lock);
    }
    return cancelled;
}

static int open_context(struct lane *lane, int threads, int turn, int share, int64_t runs) {
    struct batch *batch = lane->batch;
    imgpipe_error error = {.place = -1};
    char device[24];
    imgpipe_context_options settings = settings_context(batch->options, batch->local, device);
    settings.threads = threads;
    settings.turn = turn;
    settings.device_later = lane->shared || !batch->many; /* found out beside the lanes, or told by the one image */
    settings.cpu_meanwhile = lane->shared;
    settings.share = share;
    settings.runs = runs;
    settings.log = log_message;
    settings.progress = show_progress;
    settings.cancelled = is_cancelled;
    settings.user = lane;
    if (imgpipe_context_new(&settings, &lane->context, &error) == IMGPIPE_OK) return EXIT_DONE;
    console_error(batch->console, "%s", error.message);
    return error.status == IMGPIPE_ERROR_ARGUMENT ? EXIT_USAGE : error.status == IMGPIPE_ERROR_DEVICE ? EXIT_DEVICE : EXIT_SOME_FAILED;
}

/* --------------------------------------------------------------------------------------------------- lanes */

/* What a job is about may have changed since it was found; an input that is to be replaced must not. */
static void look_at(const struct batch *batch, struct job *job) {
    if (!job->in_place) job_look(job);
    job->waits = !S_ISREG(job->mode) || path_may_wait(job->out) || name_may_wait(batch->options, batch->chain, job);
}

/* The next job, or NULL when there is none or none is to be begun. */
static struct job *next_job(struct batch *batch, struct lane *lane) {
    pthread_mutex_lock(&batch->lock);
    struct job *job = NULL;
    if (!batch->stop && !signals_caught() && batch->next < batch->queued) job = batch->queue[batch->next++];
    if (job) look_at(batch, job);
    lane->job = job;
    pthread_mutex_unlock(&batch->lock);
    return job;
}

static void *lane_main(void *argument) {
    struct lane *lane = argument;
    struct batch *batch = lane->batch;
    struct job *job;
    while ((job = next_job(batch, lane))) {
        if (work_do(lane, job)) continue;
        pthread_mutex_lock(&batch->lock);
        batch->deferred[batch->deferred_count++] = job;
        pthread_mutex_unlock(&batch->lock);
    }
    imgpipe_context_free(&lane->context); /* giving pinned memory back takes long, and others are still at work */
    pthread_mutex_lock(&batch->lock);
    batch->lanes_running--;
    pthread_cond_signal(&batch->change);
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

/* Nanoseconds between looks at signals. */
#define TICK 200000000

/* Once a signal came, lanes that wait for somebody else are woken, again and again, since they may just be about to wait. */
static void await_lanes(struct batch *batch, struct lane *lanes, int count) {
    pthread_mutex_lock(&batch->lock);
    while (batch->lanes_running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&batch->change, &batch->lock, &until);
        int files = 0;
        for (int i = 0; signals_caught() && i < count; i++) files += lanes[i].job && !lanes[i].job->waits;
        tell_signal(batch, files);
        for (int i = 0; signals_caught() && i < count; i++)
            if (lanes[i].job && (signals_count() > 1 || lanes[i].job->waits)) signals_wake(lanes[i].thread);
    }
    pthread_mutex_unlock(&batch->lock);
    for (int i = 0; i < count; i++) pthread_join(lanes[i].thread, NULL);
}

/* Whether the device that was named is there. Lanes do not wait for that, but those whose image fails for its sake do. */
static int find_device(struct batch *batch) {
    struct lane lane = {.batch = batch, .notices = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    int status = open_context(&lane, 1, 0, 1, 1);
    imgpipe_context_free(&lane.context);
    pthread_mutex_lock(&batch->lock);
    batch->device_sought = false;
    batch->device_absent = status == EXIT_DEVICE;
    batch->stop = batch->stop || status;
    pthread_cond_broadcast(&batch->change);
    pthread_mutex_unlock(&batch->lock);
    return status;
}

/* Opens a context for the lane, and starts its thread at once, since a driver that is being started makes the next contexts slow. */
static int start_lane(struct batch *batch, struct lane *lane, int turn, int count, bool *started) {
    *lane = (struct lane){.batch = batch, .shared = true, .notices = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    int status = open_context(lane, 1, turn, count, batch->queued);
    if (status) return status;
    pthread_mutex_lock(&batch->lock);
    batch->lanes_running++;
    *started = pthread_create(&lane->thread, NULL, lane_main, lane) == 0;
    if (!*started) batch->lanes_running--;
    pthread_mutex_unlock(&batch->lock);
    return status;
}

static int run_lanes(struct batch *batch, int count) {
    struct lane *lanes = calloc((size_t)count, sizeof *lanes);
    const char *device = batch->options->device;
    int lane_count = 0, status = lanes ? EXIT_DONE : EXIT_SOME_FAILED;
    bool started = lanes != NULL;
    batch->device_sought = settings_is_gpu(device) && strcmp(device, "cuda:all") != 0;
    while (lane_count < count && started && !status) {
        status = start_lane(batch, &lanes[lane_count], lane_count, count, &started);
        lane_count += started && !status;
    }
    if (lane_count > 0) { /* fewer do the same work */
        if (!started) imgpipe_context_free(&lanes[lane_count].context);
        status = batch->device_sought ? find_device(batch) : EXIT_DONE;
    }
    await_lanes(batch, lanes, lane_count);
    batch->device_sought = false;
    if (!status && lane_count == 0) lane_main(&lanes[0]);
    free(lanes);
    return status;
}

/* ----------------------------------------------------------------------------------------------- one by one */

static int run_alone(struct batch *batch, struct job **jobs, int64_t count) {
    struct lane lane = {.batch = batch, .progress = !batch->many, .notices = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    int status = count ? open_context(&lane, (int)batch->options->threads, 0, 1, 1) : EXIT_DONE;
    for (int64_t i = 0; i < count && !status; i++) {
        pthread_mutex_lock(&batch->lock);
        bool stop = batch->stop || (signals_caught() && batch->many);
        pthread_mutex_unlock(&batch->lock);
        lane.job = jobs[i];
        if (!stop) look_at(batch, lane.job);
        if (!stop) work_do(&lane, jobs[i]);
    }
    imgpipe_context_free(&lane.context);
    return status;
}

/* Below this a file is not worth the threads' waiting for each other. */
#define LARGE ((int64_t)2 << 20)
/* What an image takes with N threads is at least this part of what it takes with one: a file is inflated by one thread. */
#define SERIAL 0.45

/* When lanes would be done that take jobs from `first` on, largest first, in bytes a thread. */
static double lanes_time(struct job **queue, int64_t first, int64_t count, int lanes, double *load) {
    double most = 0;
    memset(load, 0, sizeof *load * (size_t)lanes);
    for (int64_t i = first; i < count; i++) {
        int least = 0;
        for (int k = 1; k < lanes; k++)
            if (load[k] < load[least]) least = k;
        load[least] += (double)queue[i]->size;
        if (load[least] > most) most = load[least];
    }
    return most;
}

/* How many of the largest images are better done by all threads together, one after another, because with a thread each the
 * others would wait for the last. Sizes of files stand for the work. */
static int64_t count_alone(struct batch *batch, int lanes) {
    double alone = 0, best = 0, total = 0, part = 1.05 / lanes > SERIAL ? 1.05 / lanes : SERIAL;
    int64_t count = 0;
    double *load = calloc((size_t)lanes, sizeof *load);
    for (int64_t i = 0; i < batch->queued; i++) total += (double)batch->queue[i]->size;
    /* With many images of about the same size nobody waits long. */
    bool even = batch->queued > 16 * (int64_t)lanes && (double)batch->queue[0]->size * lanes < total;
    for (int64_t k = 0; load && !even && k <= lanes && k <= batch->queued; k++) {
        double time = alone + lanes_time(batch->queue, k, batch->queued, lanes, load);
        if (k == 0 || time < best) best = time, count = k;
        if (k == batch->queued || batch->queue[k]->size < LARGE) break;
        alone += part * (double)batch->queue[k]->size;
    }
    free(load);
    return count;
}

/* ----------------------------------------------------------------------------------------------------- all */

static int compare_size(const void *a, const void *b) {
    const struct job *x = *(struct job *const *)a, *y = *(struct job *const *)b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool fill_queue(struct batch *batch) {
    size_t size = (size_t)batch->jobs->count + 1;
    batch->queue = calloc(size, sizeof *batch->queue);
    batch->deferred = calloc(size, sizeof *batch->deferred);
    if (!batch->queue || !batch->deferred) return false;
    for (int64_t i = 0; i < batch->jobs->count; i++) {
        struct job *job = &batch->jobs->list[i];
        if (job->status != JOB_TODO) continue;
        batch->queue[batch->queued++] = job;
        batch->bytes_total += (uint64_t)job->size;
    }
    qsort(batch->queue, (size_t)batch->queued, sizeof *batch->queue, compare_size);
    return true;
}

static int run_all(struct batch *batch) {
    int threads = batch->options->threads ? (int)batch->options->threads : imgpipe_default_threads();
    int lanes = settings_lanes(batch->options, batch->queued ? batch->bytes_total / (uint64_t)batch->queued : 0);
    int64_t alone = batch->queued == 1 ? 1 : threads == 1 ? 0 : count_alone(batch, threads);
    int status = run_alone(batch, batch->queue, alone);
    batch->next = alone;
    int64_t rest = batch->queued - alone;
    batch->lanes = rest < lanes ? (int)rest : lanes;
    if (!status && rest > 0) status = run_lanes(batch, batch->lanes);
    if (!status) status = run_alone(batch, batch->deferred, batch->deferred_count);
    return status;
}

static void tell_decided(struct batch *batch) {
    for (int64_t i = 0; i < batch->jobs->count; i++)
        if (batch->jobs->list[i].decided) work_tell(batch, &batch->jobs->list[i]);
}

int batch_run(struct batch *batch) {
    pthread_mutex_init(&batch->lock, NULL);
    pthread_cond_init(&batch->change, NULL);
    batch->began = console_now();
    for (int64_t i = 0; i < batch->jobs->count; i++) {
        struct job *job = &batch->jobs->list[i];
        batch->totals.count[job->status]++;
        job->decided = job->status != JOB_TODO;
    }
    /* What was decided before any work is told of before it where it ends the run, and else behind it, when the device is known. */
    if (batch->options->fail_fast) tell_decided(batch);
    bool enough = fill_queue(batch);
    if (!enough) console_error(batch->console, "no memory for a queue of %lld inputs; free some, or use --shard", (long long)batch->jobs->count);
    progress_begin(batch->console, batch->options->progress, batch->many ? "" : batch->jobs->list[0].in);
    int status = !enough ? EXIT_SOME_FAILED : batch->stop ? EXIT_DONE : run_all(batch);
    if (!batch->options->fail_fast) tell_decided(batch);
    progress_end(batch->console);
    batch->status = batch_graver(status, batch->status);
    if (signals_caught()) batch->status = EXIT_SIGNAL + signals_caught();
    if (batch->many) batch->totals.sum.seconds.total = console_now() - batch->began;
    for (int64_t i = 0; i < batch->jobs->count; i++)
        if (batch->jobs->list[i].status == JOB_TODO) work_report_rest(batch, &batch->jobs->list[i]);
    if (batch->report) {
        if (!batch->header_written)
            report_header(batch->report, batch->text->text, batch->options->device ? batch->options->device : "auto");
        report_total(batch->report, &batch->totals);
    }
    free(batch->queue);
    free(batch->deferred);
    pthread_cond_destroy(&batch->change);
    pthread_mutex_destroy(&batch->lock);
    return batch->status;
}
