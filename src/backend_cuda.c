/* The CUDA backend: strips are cut into tiles that fit device memory; a driver thread enqueues their copies and kernels on
 * three streams, a completer thread waits for them and reports. Host memory of the passes is pinned once per block. */
#include "backend_cuda.h"
#include "clock.h"
#include "cuda_pass.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

imgpipe_status cuda_check(cudaError_t code, const char *call, imgpipe_error *error) {
    if (code == cudaSuccess) return IMGPIPE_OK;
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(call, "("), call);
    return error_set(error, IMGPIPE_ERROR_DEVICE, "the GPU failed in %s: %s (%s); use --device cpu", name, cudaGetErrorString(code),
                     cudaGetErrorName(code));
}

int backend_cuda_devices(imgpipe_device_info *devices, int capacity, char *why, size_t why_size) {
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0) {
        bool none = code == cudaErrorInsufficientDriver || code == cudaErrorNoDevice || code == cudaSuccess;
        if (why) snprintf(why, why_size, "%s", none ? "no CUDA driver or device was found" : cudaGetErrorString(code));
        cudaGetLastError();
        return 0;
    }
    for (int i = 0; i < count && i < capacity; i++) {
        struct cudaDeviceProp prop;
        snprintf(devices[i].name, sizeof devices[i].name, "cuda:%d", i);
        if (cudaGetDeviceProperties(&prop, i) == cudaSuccess)
            snprintf(devices[i].about, sizeof devices[i].about, "%.80s, %.1f GiB, compute capability %d.%d", prop.name,
                     (double)prop.totalGlobalMem / (1 << 30), prop.major, prop.minor);
        else
            snprintf(devices[i].about, sizeof devices[i].about, "does not answer");
    }
    return count;
}

/* ---- the context */

static imgpipe_status start(struct cuda_backend *backend, imgpipe_error *error) {
    CUDA_TRY(cudaSetDevice(backend->device));
    CUDA_TRY(cudaFree(NULL)); /* makes the context */
    imgpipe_status failed = cuda_driver_find(&backend->driver, error);
    if (failed) return failed;
    CUDA_TRY(cudaStreamCreateWithFlags(&backend->up, cudaStreamNonBlocking));
    CUDA_TRY(cudaStreamCreateWithFlags(&backend->compute, cudaStreamNonBlocking));
    CUDA_TRY(cudaStreamCreateWithFlags(&backend->down, cudaStreamNonBlocking));
    return IMGPIPE_OK;
}

static void *starter_main(void *argument) {
    struct cuda_backend *backend = argument;
    backend->start_status = start(backend, &backend->start_error);
    return NULL;
}

imgpipe_status cuda_backend_started(struct cuda_backend *backend, imgpipe_error *error) {
    pthread_mutex_lock(&backend->lock);
    if (backend->starting) {
        pthread_join(backend->starter, NULL);
        backend->starting = false;
    }
    pthread_mutex_unlock(&backend->lock);
    if (backend->start_status && error) *error = backend->start_error;
    return backend->start_status;
}

static void release_pinned(void *user, void *block, size_t size) {
    (void)user;
    if (cudaHostUnregister(block) != cudaSuccess) cudaGetLastError(); /* it may never have been pinned */
    munmap(block, size);
}

static cudaError_t pin_bytes(struct cuda_backend *backend, void *block, size_t size) {
    pthread_mutex_lock(&backend->lock);
    bool fits = !backend->pinned_ceiling || backend->pinned + size <= backend->pinned_ceiling;
    if (fits) backend->pinned += size;
    pthread_mutex_unlock(&backend->lock);
    if (!fits) return cudaErrorMemoryAllocation;
    cudaError_t code = cudaHostRegister(block, size, cudaHostRegisterPortable);
    pthread_mutex_lock(&backend->lock);
    if (code != cudaSuccess) backend->pinned -= size;
    pthread_mutex_unlock(&backend->lock);
    if (code != cudaSuccess) cudaGetLastError();
    return code;
}

/* Pins the block behind `view`, or as much of its beginning as the system allows: pageable memory is slower, not wrong. */
static void pin(struct cuda_backend *backend, const struct rows_view *view) {
    struct cudaPointerAttributes attributes;
    size_t size = view->slots ? pool_size(backend->base.pool, view->slots[0]) : 0;
    if (size == 0) return; /* the caller's own memory, pinned or not */
    if (cudaPointerGetAttributes(&attributes, view->slots[0]) == cudaSuccess && attributes.type == cudaMemoryTypeHost) return;
    cudaGetLastError();
    cudaError_t code = pin_bytes(backend, view->slots[0], size);
    for (size_t part = size / 2; code != cudaSuccess && part >= size / 8 && part >= 4096; part /= 2)
        if (pin_bytes(backend, view->slots[0], part / 4096 * 4096) == cudaSuccess) break;
    char text[32];
    if (code != cudaSuccess && !backend->told_pageable)
        log_line(backend->log, IMGPIPE_LOG_NOTICE, "not all of %s of memory could be pinned (%s): copies to the GPU are slower",
                 text_bytes(size, text), cudaGetErrorString(code));
    if (code != cudaSuccess) backend->told_pageable = true;
}

/* ---- threads of a pass */

static void fail(struct backend_pass *bp, imgpipe_status status, const imgpipe_error *error) {
    pthread_mutex_lock(&bp->lock);
    if (!bp->status) {
        bp->status = status;
        bp->error = *error;
    }
    pthread_cond_broadcast(&bp->wake);
    pthread_mutex_unlock(&bp->lock);
}

/* The device of a thread is its own; a failure here fails every strip. */
static void choose_device(struct backend_pass *bp) {
    imgpipe_error error;
    imgpipe_status failed = cuda_check(cudaSetDevice(bp->backend->device), "cudaSetDevice", &error);
    if (failed) fail(bp, failed, &error);
}

/* Enqueues all tiles of a strip; waits when too many tiles are under way. */
static imgpipe_status drive_strip(struct backend_pass *bp, struct strip *strip, imgpipe_error *error) {
    int64_t first = strip->y0 / bp->tiled.strip_rows, end = (strip->y1 + bp->tiled.strip_rows - 1) / bp->tiled.strip_rows;
    for (int64_t index = first; index < end; index++) {
        pthread_mutex_lock(&bp->lock);
        while (bp->tiles - bp->drained >= CUDA_MARKS && !bp->status) pthread_cond_wait(&bp->wake, &bp->lock);
        imgpipe_status failed = bp->status;
        if (failed) *error = bp->error;
        pthread_mutex_unlock(&bp->lock);
        if (!failed) failed = cuda_tile_enqueue(bp, index, index + 1 == end ? strip : NULL, error);
        if (failed) return failed;
        pthread_mutex_lock(&bp->lock);
        bp->tiles++;
        pthread_cond_broadcast(&bp->wake);
        pthread_mutex_unlock(&bp->lock);
    }
    return IMGPIPE_OK;
}

static void *driver_main(void *argument) {
    struct backend_pass *bp = argument;
    imgpipe_error error;
    choose_device(bp);
    pthread_mutex_lock(&bp->lock);
    while (!bp->closing) {
        struct strip *strip = (struct strip *)bp->queue;
        if (!strip) {
            pthread_cond_wait(&bp->wake, &bp->lock);
            continue;
        }
        bp->queue = strip->task.next;
        if (!bp->queue) bp->queue_end = &bp->queue;
        pthread_mutex_unlock(&bp->lock);
        imgpipe_status failed = drive_strip(bp, strip, &error);
        if (failed) {
            fail(bp, failed, &error);
            strip->done(strip, failed, &error);
        }
        pthread_mutex_lock(&bp->lock);
    }
    pthread_mutex_unlock(&bp->lock);
    return NULL;
}

/* With -v: when the first tiles went through each stream, in milliseconds, so that one sees what overlaps. */
#define TRACED_TILES 12

static void trace_tile(const struct backend_pass *bp, const struct cuda_mark *mark) {
    const cudaEvent_t events[6] = {mark->up0, mark->up1, mark->compute0, mark->compute1, mark->down0, mark->down1};
    float at[6];
    if (bp->drained >= TRACED_TILES || !bp->io.log) return;
    for (int i = 0; i < 6; i++)
        if (cudaEventElapsedTime(&at[i], bp->origin, events[i]) != cudaSuccess) return;
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

static void *completer_main(void *argument) {
    struct backend_pass *bp = argument;
    choose_device(bp);
    pthread_mutex_lock(&bp->lock);
    for (;;) {
        if (bp->drained == bp->tiles) {
            if (bp->closing) break;
            pthread_cond_wait(&bp->wake, &bp->lock);
            continue;
        }
        struct cuda_mark *mark = &bp->marks[bp->drained % CUDA_MARKS];
        pthread_mutex_unlock(&bp->lock);
        imgpipe_error error;
        imgpipe_status failed = await_tile(bp, mark, &error);
        struct strip *strip = mark->strip;
        if (failed) fail(bp, failed, &error);
        pthread_mutex_lock(&bp->lock);
        bp->drained++;
        pthread_cond_broadcast(&bp->wake);
        pthread_mutex_unlock(&bp->lock);
        if (strip) strip->done(strip, failed, failed ? &error : NULL);
        pthread_mutex_lock(&bp->lock);
    }
    pthread_mutex_unlock(&bp->lock);
    return NULL;
}

/* ---- the interface */

static void cuda_submit(struct backend_pass *bp, struct strip *strip) {
    pthread_mutex_lock(&bp->lock);
    strip->task.next = NULL;
    *bp->queue_end = &strip->task;
    bp->queue_end = &strip->task.next;
    pthread_cond_broadcast(&bp->wake);
    pthread_mutex_unlock(&bp->lock);
}

static void cuda_close(struct backend_pass *bp, double seconds[3]) {
    pthread_mutex_lock(&bp->lock);
    bp->closing = true;
    pthread_cond_broadcast(&bp->wake);
    pthread_mutex_unlock(&bp->lock);
    if (bp->threads_started > 0) pthread_join(bp->driver, NULL);
    if (bp->threads_started > 1) pthread_join(bp->completer, NULL);
    struct cuda_guard guard;
    cuda_enter(&bp->backend->driver, &guard);
    if (bp->threads_started > 0) cudaDeviceSynchronize(); /* after a failure work may still be on its way */
    for (int i = 0; i < CUDA_MARKS; i++) {
        struct cuda_mark *mark = &bp->marks[i];
        cudaEvent_t events[] = {mark->up0, mark->up1, mark->compute0, mark->compute1, mark->down0, mark->down1};
        for (int k = 0; k < 6; k++)
            if (events[k]) cudaEventDestroy(events[k]);
    }
    if (bp->origin) cudaEventDestroy(bp->origin);
    cuda_pass_release(bp);
    cuda_leave(&bp->backend->driver, &guard);
    for (int i = 0; i < 3; i++) seconds[i] += bp->seconds[i];
    pthread_cond_destroy(&bp->wake);
    pthread_mutex_destroy(&bp->lock);
    free(bp->edges);
    free(bp->nodes);
    free(bp->rows);
    free(bp);
}

/* Every stage must have a launcher; a plug-in may lack one. */
static imgpipe_status check_stages(const struct pass *pass, imgpipe_error *error) {
    for (int e = 0; e <= pass->node_count; e++) {
        const imgpipe_stage *missing = NULL;
        for (int g = 0; g < pass->edges[e].gather_count; g++)
            if (!pass->edges[e].gathers[g].stage->cuda) missing = pass->edges[e].gathers[g].stage;
        if (e < pass->node_count && pass->nodes[e].kind == NODE_LOCAL && !pass->nodes[e].stage->cuda) missing = pass->nodes[e].stage;
        if (missing)
            return error_set(error, IMGPIPE_ERROR_DEVICE, "filter '%s' has no CUDA kernel; use --device cpu", missing->filter->name);
    }
    return IMGPIPE_OK;
}

static imgpipe_status make_events(struct backend_pass *bp, imgpipe_error *error) {
    CUDA_TRY(cudaEventCreate(&bp->origin));
    for (int i = 0; i < CUDA_MARKS; i++) {
        struct cuda_mark *mark = &bp->marks[i];
        cudaEvent_t *events[] = {&mark->up0, &mark->up1, &mark->compute0, &mark->compute1, &mark->down0, &mark->down1};
        for (int k = 0; k < 6; k++) CUDA_TRY(cudaEventCreateWithFlags(events[k], k == 5 ? cudaEventBlockingSync : cudaEventDefault));
    }
    return IMGPIPE_OK;
}

static imgpipe_status fill_pass(struct backend_pass *bp, imgpipe_error *error) {
    imgpipe_status failed = check_stages(bp->io.pass, error);
    if (!failed) failed = cuda_pass_memory(bp, error);
    if (!failed) failed = make_events(bp, error);
    if (failed) return failed;
    pin(bp->backend, &bp->io.in);
    pin(bp->backend, &bp->io.out);
    if (pthread_create(&bp->driver, NULL, driver_main, bp) == 0) bp->threads_started++;
    if (bp->threads_started == 1 && pthread_create(&bp->completer, NULL, completer_main, bp) == 0) bp->threads_started++;
    return bp->threads_started == 2 ? IMGPIPE_OK : error_set(error, IMGPIPE_ERROR_MEMORY, "no thread for the GPU could be started");
}

static imgpipe_status cuda_open(struct backend *base, const struct pass_io *io, struct backend_pass **out, imgpipe_error *error) {
    struct cuda_backend *backend = (struct cuda_backend *)base;
    imgpipe_status failed = cuda_backend_started(backend, error);
    if (failed) return failed;
    struct backend_pass *bp = calloc(1, sizeof *bp);
    if (!bp) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a pass");
    pthread_mutex_init(&bp->lock, NULL);
    pthread_cond_init(&bp->wake, NULL);
    bp->queue_end = &bp->queue;
    bp->backend = backend;
    bp->io = *io;
    bp->edges = calloc((size_t)io->pass->node_count + 1, sizeof *bp->edges);
    bp->nodes = calloc((size_t)io->pass->node_count + 1, sizeof *bp->nodes);
    bp->rows = calloc((size_t)io->pass->node_count + 1, sizeof *bp->rows);
    struct cuda_guard guard;
    cuda_enter(&backend->driver, &guard);
    failed = bp->edges && bp->nodes && bp->rows ? fill_pass(bp, error) : error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a pass");
    cuda_leave(&backend->driver, &guard);
    if (failed)
        cuda_close(bp, (double[3]){0});
    else
        *out = bp;
    return failed;
}

static imgpipe_status cuda_collect(struct backend_pass *bp, int e, int g, void *state, imgpipe_error *error) {
    const imgpipe_stage *stage = bp->io.pass->edges[e].gathers[g].stage;
    struct cuda_guard guard;
    void *found = malloc(stage->gather_size);
    if (!found) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the result of '%s'", stage->filter->name);
    cuda_enter(&bp->backend->driver, &guard);
    imgpipe_status failed = cuda_check(cudaStreamSynchronize(bp->backend->compute), "cudaStreamSynchronize", error);
    if (!failed)
        failed = cuda_check(cudaMemcpy(found, bp->edges[e].gather_state[g], stage->gather_size, cudaMemcpyDeviceToHost), "cudaMemcpy", error);
    cuda_leave(&bp->backend->driver, &guard);
    if (!failed) stage->filter->merge(stage, state, found);
    free(found);
    return failed;
}

static void cuda_free(struct backend *base) {
    struct cuda_backend *backend = (struct cuda_backend *)base;
    if (cuda_backend_started(backend, NULL) == IMGPIPE_OK) {
        struct cuda_guard guard;
        cuda_enter(&backend->driver, &guard);
        pool_free(backend->base.pool);
        cuda_give(&backend->allocator, backend->arena, backend->arena_size);
        cudaStreamDestroy(backend->up);
        cudaStreamDestroy(backend->compute);
        cudaStreamDestroy(backend->down);
        cuda_leave(&backend->driver, &guard);
    } else {
        pool_free(backend->base.pool);
    }
    pthread_mutex_destroy(&backend->lock);
    free(backend);
}

static const struct backend_ops cuda_ops = {"cuda", true, cuda_open, cuda_submit, cuda_collect, cuda_close, cuda_free, cuda_pass_bytes};

imgpipe_status backend_cuda_new(struct tasks *tasks, const struct cuda_options *options, const struct log *log, struct backend **out,
                                imgpipe_error *error) {
    char why[160];
    int device = options->device;
    int count = backend_cuda_devices(NULL, 0, why, sizeof why);
    if (count == 0) return error_set(error, IMGPIPE_ERROR_DEVICE, "device cuda:%d: %s; use --device cpu or auto", device, why);
    if (device >= count)
        return error_set(error, IMGPIPE_ERROR_DEVICE, "device cuda:%d is absent: this machine has %d GPU%s; see --list-devices", device,
                         count, count == 1 ? "" : "s");
    struct cuda_backend *backend = calloc(1, sizeof *backend);
    if (backend) backend->base.pool = pool_new(pool_pages, release_pinned, NULL);
    if (!backend || !backend->base.pool) {
        free(backend);
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the CUDA backend");
    }
    pthread_mutex_init(&backend->lock, NULL);
    backend->base.ops = &cuda_ops;
    backend->base.tasks = tasks;
    backend->device = device;
    backend->memory = options->memory;
    backend->pinned_ceiling = options->pinned;
    backend->allocator = (struct cuda_allocator){options->allocate, options->release, options->user};
    backend->log = log;
    struct cudaDeviceProp prop;
    bool named = cudaGetDeviceProperties(&prop, device) == cudaSuccess;
    snprintf(backend->base.about, sizeof backend->base.about, "cuda:%d, %.60s", device, named ? prop.name : "a GPU");
    backend->starting = pthread_create(&backend->starter, NULL, starter_main, backend) == 0;
    if (!backend->starting) starter_main(backend);
    *out = &backend->base;
    return IMGPIPE_OK;
}
