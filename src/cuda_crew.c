/* Who does the work of a pass on a GPU: two threads of a crew, or, where the image is one strip, so that nothing could go on beside it,
 * the thread that comes by. Crews and their events are kept from pass to pass, since making them takes longer than a small image. */
#include "cuda_pass.h"
#include "status.h"

#include <stdlib.h>

/* Called without the lock. */
static void fail(struct backend_pass *bp, imgpipe_status status, const imgpipe_error *error) {
    pthread_mutex_lock(&bp->crew->lock);
    if (!bp->status) {
        bp->status = status;
        bp->error = *error;
    }
    pthread_cond_signal(&bp->crew->work);
    pthread_mutex_unlock(&bp->crew->lock);
}

/* ---- the driver */

static imgpipe_status make_events(struct cuda_mark *mark, imgpipe_error *error) {
    if (mark->down1) return IMGPIPE_OK;
    cudaEvent_t *events[] = {&mark->up0, &mark->up1, &mark->compute0, &mark->compute1, &mark->down0};
    for (int k = 0; k < 5; k++)
        if (!*events[k]) CUDA_TRY(cudaEventCreate(events[k]));
    CUDA_TRY(cudaEventCreateWithFlags(&mark->down1, cudaEventBlockingSync));
    return IMGPIPE_OK;
}

static imgpipe_status drive_tile(struct backend_pass *bp, int64_t index, struct strip *last_of, imgpipe_error *error) {
    struct cuda_crew *crew = bp->crew;
    pthread_mutex_lock(&crew->lock);
    while (bp->tiles - bp->drained >= CUDA_MARKS && !bp->status) pthread_cond_wait(&crew->work, &crew->lock);
    imgpipe_status failed = bp->status;
    if (failed) *error = bp->error;
    pthread_mutex_unlock(&crew->lock);
    if (!failed) failed = make_events(&crew->marks[bp->tiles % CUDA_MARKS], error);
    if (!failed) failed = cuda_tile_enqueue(bp, index, last_of, error);
    if (failed) return failed;
    pthread_mutex_lock(&crew->lock);
    bp->tiles++;
    pthread_cond_signal(&crew->landed);
    pthread_mutex_unlock(&crew->lock);
    return IMGPIPE_OK;
}

/* After this nothing that was enqueued reads or writes rows any more. */
static void let_go(const struct cuda_backend *backend) {
    cudaStreamSynchronize(backend->up);
    cudaStreamSynchronize(backend->compute);
    cudaStreamSynchronize(backend->down);
    cudaGetLastError();
}

/* Enqueues all tiles of a strip; waits when too many tiles are under way. The pass may be gone when this returns. */
static void drive_strip(struct backend_pass *bp, struct strip *strip) {
    struct cuda_crew *crew = bp->crew;
    int64_t first = strip->y0 / bp->tiled.strip_rows, end = (strip->y1 + bp->tiled.strip_rows - 1) / bp->tiled.strip_rows;
    imgpipe_error error = crew->device_error;
    imgpipe_status failed = crew->device_status;
    for (int64_t index = first; index < end && !failed; index++) failed = drive_tile(bp, index, index + 1 == end ? strip : NULL, &error);
    if (!failed) return;
    fail(bp, failed, &error);
    let_go(crew->backend); /* the strip's rows may be used otherwise once it is reported */
    strip->done(strip, failed, &error);
}

static void *driver_main(void *argument) {
    struct cuda_crew *crew = argument;
    crew->device_status = cuda_check(cudaSetDevice(crew->backend->device), "cudaSetDevice", &crew->device_error);
    pthread_mutex_lock(&crew->lock);
    while (!crew->ending) {
        struct backend_pass *bp = crew->pass;
        struct strip *strip = bp ? (struct strip *)bp->queue : NULL;
        if (!strip) {
            pthread_cond_wait(&crew->work, &crew->lock);
            continue;
        }
        bp->queue = strip->task.next;
        if (!bp->queue) bp->queue_end = &bp->queue;
        crew->busy++;
        pthread_mutex_unlock(&crew->lock);
        drive_strip(bp, strip);
        pthread_mutex_lock(&crew->lock);
        crew->busy--;
        pthread_cond_signal(&crew->idle);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* ---- the completer */

/* With -v: when the first tiles went through each stream, in milliseconds, so that one sees what overlaps. */
#define TRACED_TILES 12

static void trace_tile(const struct backend_pass *bp, const struct cuda_mark *mark) {
    const cudaEvent_t events[6] = {mark->up0, mark->up1, mark->compute0, mark->compute1, mark->down0, mark->down1};
    float at[6];
    if (bp->drained >= TRACED_TILES || !bp->io.log || !bp->io.log->call) return;
    for (int i = 0; i < 6; i++)
        if (cudaEventElapsedTime(&at[i], bp->crew->origin, events[i]) != cudaSuccess) return;
    log_line(bp->io.log, IMGPIPE_LOG_DETAIL, "tile %2lld: upload %7.3f to %7.3f ms, compute %7.3f to %7.3f, download %7.3f to %7.3f",
             (long long)bp->drained, (double)at[0], (double)at[1], (double)at[2], (double)at[3], (double)at[4], (double)at[5]);
}

static imgpipe_status await_tile(struct backend_pass *bp, struct cuda_mark *mark, imgpipe_error *error) {
    float up, compute, down;
    CUDA_TRY(cudaEventSynchronize(mark->down1));
    CUDA_TRY(cudaEventElapsedTime(&up, mark->up0, mark->up1));
    CUDA_TRY(cudaEventElapsedTime(&compute, mark->compute0, mark->compute1));
    CUDA_TRY(cudaEventElapsedTime(&down, mark->down0, mark->down1));
    bp->seconds[BACKEND_UPLOAD] += up * 1e-3;
    bp->seconds[BACKEND_COMPUTE] += compute * 1e-3;
    bp->seconds[BACKEND_DOWNLOAD] += down * 1e-3;
    trace_tile(bp, mark);
    return IMGPIPE_OK;
}

/* The pass may be gone when this returns. */
static void complete_tile(struct backend_pass *bp) {
    struct cuda_crew *crew = bp->crew;
    struct cuda_mark *mark = &crew->marks[bp->drained % CUDA_MARKS];
    imgpipe_error error;
    imgpipe_status failed = await_tile(bp, mark, &error);
    struct strip *strip = mark->strip;
    if (failed) fail(bp, failed, &error);
    pthread_mutex_lock(&crew->lock);
    bp->drained++;
    pthread_cond_signal(&crew->work);
    pthread_mutex_unlock(&crew->lock);
    if (strip) strip->done(strip, failed, failed ? &error : NULL);
}

static void *completer_main(void *argument) {
    struct cuda_crew *crew = argument;
    cudaSetDevice(crew->backend->device); /* if it fails the driver says so */
    pthread_mutex_lock(&crew->lock);
    while (!crew->ending) {
        struct backend_pass *bp = crew->pass;
        if (!bp || bp->drained == bp->tiles) {
            pthread_cond_wait(&crew->landed, &crew->lock);
            continue;
        }
        crew->busy++;
        pthread_mutex_unlock(&crew->lock);
        complete_tile(bp);
        pthread_mutex_lock(&crew->lock);
        crew->busy--;
        pthread_cond_signal(&crew->idle);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* ---- one strip alone */

static imgpipe_status do_alone(struct backend_pass *bp, struct strip *strip, imgpipe_error *error) {
    struct cuda_mark *mark = &bp->crew->marks[0];
    imgpipe_status failed = make_events(mark, error);
    if (!failed) failed = cuda_tile_enqueue(bp, 0, strip, error);
    if (!failed) failed = await_tile(bp, mark, error);
    if (!failed) return IMGPIPE_OK;
    bp->status = failed;
    let_go(bp->backend);
    return failed;
}

static void alone_run(struct task *task, int worker) {
    (void)worker;
    struct strip *strip = (struct strip *)task;
    struct backend_pass *bp = strip->backend;
    struct cuda_guard guard;
    imgpipe_error error;
    cuda_enter(&bp->backend->driver, &guard);
    imgpipe_status failed = do_alone(bp, strip, &error);
    cuda_leave(&bp->backend->driver, &guard);
    strip->done(strip, failed, failed ? &error : NULL);
}

/* ---- the crew */

static void end_threads(struct cuda_crew *crew) {
    pthread_mutex_lock(&crew->lock);
    crew->ending = true;
    pthread_cond_broadcast(&crew->work);
    pthread_cond_broadcast(&crew->landed);
    pthread_mutex_unlock(&crew->lock);
    if (crew->threads > 0) pthread_join(crew->driver, NULL);
    if (crew->threads > 1) pthread_join(crew->completer, NULL);
}

static void free_crew(struct cuda_crew *crew) {
    end_threads(crew);
    for (int i = 0; i < CUDA_MARKS; i++) {
        struct cuda_mark *mark = &crew->marks[i];
        cudaEvent_t events[] = {mark->up0, mark->up1, mark->compute0, mark->compute1, mark->down0, mark->down1};
        for (int k = 0; k < 6; k++)
            if (events[k]) cudaEventDestroy(events[k]);
    }
    if (crew->origin) cudaEventDestroy(crew->origin);
    pthread_cond_destroy(&crew->work);
    pthread_cond_destroy(&crew->landed);
    pthread_cond_destroy(&crew->idle);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}

static imgpipe_status make_crew(struct cuda_backend *backend, struct cuda_crew **made, imgpipe_error *error) {
    struct cuda_crew *crew = calloc(1, sizeof *crew);
    if (!crew) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a pass");
    crew->backend = backend;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->work, NULL);
    pthread_cond_init(&crew->landed, NULL);
    pthread_cond_init(&crew->idle, NULL);
    imgpipe_status failed = cuda_check(cudaEventCreate(&crew->origin), "cudaEventCreate", error);
    if (failed)
        free_crew(crew);
    else
        *made = crew;
    return failed;
}

static imgpipe_status start_threads(struct cuda_crew *crew, imgpipe_error *error) {
    if (crew->threads == 0) crew->threads += pthread_create(&crew->driver, NULL, driver_main, crew) == 0;
    if (crew->threads == 1) crew->threads += pthread_create(&crew->completer, NULL, completer_main, crew) == 0;
    return crew->threads == 2 ? IMGPIPE_OK : error_set(error, IMGPIPE_ERROR_MEMORY, "no thread for the GPU could be started");
}

imgpipe_status cuda_crew_take(struct backend_pass *bp, imgpipe_error *error) {
    struct cuda_backend *backend = bp->backend;
    pthread_mutex_lock(&backend->lock);
    struct cuda_crew *crew = backend->idle;
    if (crew) backend->idle = crew->next;
    pthread_mutex_unlock(&backend->lock);
    imgpipe_status failed = crew ? IMGPIPE_OK : make_crew(backend, &crew, error);
    if (failed) return failed;
    bp->crew = crew;
    pthread_mutex_lock(&crew->lock);
    crew->pass = bp;
    pthread_mutex_unlock(&crew->lock);
    return bp->alone ? IMGPIPE_OK : start_threads(crew, error);
}

void cuda_crew_give(struct backend_pass *bp) {
    struct cuda_crew *crew = bp->crew;
    struct cuda_backend *backend = bp->backend;
    pthread_mutex_lock(&crew->lock);
    while (crew->busy || bp->drained < bp->tiles) pthread_cond_wait(&crew->idle, &crew->lock);
    crew->pass = NULL;
    pthread_mutex_unlock(&crew->lock);
    if (bp->status) let_go(backend);
    pthread_mutex_lock(&backend->lock);
    crew->next = backend->idle;
    backend->idle = crew;
    pthread_mutex_unlock(&backend->lock);
}

void cuda_crew_submit(struct backend_pass *bp, struct strip *strip) {
    if (bp->alone) {
        strip->backend = bp;
        strip->task.run = alone_run;
        tasks_add(bp->backend->base.tasks, TASK_COMPUTE, &strip->task);
        return;
    }
    pthread_mutex_lock(&bp->crew->lock);
    strip->task.next = NULL;
    *bp->queue_end = &strip->task;
    bp->queue_end = &strip->task.next;
    pthread_cond_signal(&bp->crew->work);
    pthread_mutex_unlock(&bp->crew->lock);
}

void cuda_crews_free(struct cuda_backend *backend) {
    while (backend->idle) {
        struct cuda_crew *crew = backend->idle;
        backend->idle = crew->next;
        free_crew(crew);
    }
}
