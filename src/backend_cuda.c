/* The CUDA backend: strips are cut into tiles that fit device memory, whose copies and kernels go to three streams; the two threads
 * of a crew (cuda_crew.c) enqueue them, wait for them and report. Host memory of the passes is pinned once per block. */
#include "backend_cuda.h"
#include "cuda_pass.h"
#include "status.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

const char backend_cuda_advice[] = "use --device cpu or auto";

/* ---- the context */

/* Known at once, unlike all that the driver must be asked for; the runtime would begin with that. */
static bool has_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library) dlclose(library);
    return library != NULL;
}

/* How many devices the system shows, without asking the driver, which may still think otherwise of them. */
static int devices_seen(void) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int count = 0, most = 1;
    for (int i = 0; i < 64; i++) {
        char name[32];
        snprintf(name, sizeof name, "/dev/nvidia%d", i);
        count += access(name, F_OK) == 0;
    }
    if (!visible) return count;
    if (!isalnum((unsigned char)*visible)) return 0; /* empty or -1: none */
    for (const char *at = visible; (at = strchr(at, ',')); at++) most++;
    return count < most ? count : most;
}

/* Whether the device is there; the first question to the driver takes 0.2 s. */
static imgpipe_status find_device(int device, imgpipe_error *error) {
    char why[160];
    int count = backend_cuda_devices(NULL, 0, why, sizeof why);
    if (device < count) return IMGPIPE_OK;
    if (count == 0)
        error_set(error, IMGPIPE_ERROR_DEVICE, "device cuda:%d: %s; %s", device, why, backend_cuda_advice);
    else
        error_set(error, IMGPIPE_ERROR_DEVICE, "device cuda:%d is absent: this machine has %d GPU%s; see --list-devices", device, count,
                  count == 1 ? "" : "s");
    if (error) error->fault = ENODEV;
    return IMGPIPE_ERROR_DEVICE;
}

static imgpipe_status start(struct cuda_backend *backend, imgpipe_error *error) {
    struct cudaDeviceProp prop;
    imgpipe_status failed = find_device(backend->device, error);
    if (failed) return failed;
    CUDA_TRY(cudaGetDeviceProperties(&prop, backend->device));
    snprintf(backend->full, sizeof backend->full, "%s, %.60s", backend->base.about, prop.name);
    CUDA_TRY(cudaSetDevice(backend->device));
    CUDA_TRY(cudaFree(NULL)); /* makes the context */
    failed = cuda_driver_find(&backend->driver, error);
    if (failed) return failed;
    CUDA_TRY(cudaStreamCreateWithFlags(&backend->up, cudaStreamNonBlocking));
    CUDA_TRY(cudaStreamCreateWithFlags(&backend->compute, cudaStreamNonBlocking));
    CUDA_TRY(cudaStreamCreateWithFlags(&backend->down, cudaStreamNonBlocking));
    return IMGPIPE_OK;
}

static void *starter_main(void *argument) {
    struct cuda_backend *backend = argument;
    backend->start_status = start(backend, &backend->start_error);
    atomic_store(&backend->started, true);
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

static bool is_pinned(const void *block) {
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, block) == cudaSuccess) return attributes.type == cudaMemoryTypeHost;
    cudaGetLastError();
    return false;
}

static void release_pinned(void *user, void *block, size_t size) {
    (void)user;
    if (is_pinned(block) && cudaHostUnregister(block) != cudaSuccess) cudaGetLastError();
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

/* How many bytes behind `view` are still to be pinned; 0 for the caller's own memory, pinned or not. */
static size_t pageable_bytes(struct cuda_backend *backend, const struct rows_view *view) {
    size_t size = view->slots ? pool_size(backend->base.pool, view->slots[0]) : 0;
    return size > 0 && !is_pinned(view->slots[0]) ? size : 0;
}

/* Pins the block behind `view`, or as much of its beginning as the system allows: pageable memory is slower, not wrong. */
static void pin(struct cuda_backend *backend, const struct rows_view *view) {
    size_t size = pageable_bytes(backend, view);
    if (size == 0) return;
    cudaError_t code = pin_bytes(backend, view->slots[0], size);
    for (size_t part = size / 2; code != cudaSuccess && part >= size / 8 && part >= 4096; part /= 2)
        if (pin_bytes(backend, view->slots[0], part / 4096 * 4096) == cudaSuccess) break;
    char text[32];
    if (code != cudaSuccess && !backend->told_pageable)
        log_line(backend->log, IMGPIPE_LOG_NOTICE, "not all of %s of memory could be pinned (%s): copies to the GPU are slower",
                 text_bytes(size, text), cudaGetErrorString(code));
    if (code != cudaSuccess) backend->told_pageable = true;
}

/* ---- the interface */

static void cuda_close(struct backend_pass *bp, double seconds[3]) {
    struct cuda_guard guard;
    cuda_enter(&bp->backend->driver, &guard);
    if (bp->crew) cuda_crew_give(bp);
    cuda_pass_release(bp);
    cuda_leave(&bp->backend->driver, &guard);
    for (int i = 0; i < 3; i++) seconds[i] += bp->seconds[i];
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

static imgpipe_status fill_pass(struct backend_pass *bp, imgpipe_error *error) {
    imgpipe_status failed = check_stages(bp->io.pass, error);
    if (!failed) failed = cuda_pass_memory(bp, error);
    if (failed) return failed;
    pin(bp->backend, &bp->io.in);
    pin(bp->backend, &bp->io.out);
    return cuda_crew_take(bp, error);
}

static imgpipe_status cuda_open(struct backend *base, const struct pass_io *io, struct backend_pass **out, imgpipe_error *error) {
    struct cuda_backend *backend = (struct cuda_backend *)base;
    imgpipe_status failed = cuda_backend_started(backend, error);
    if (failed) return failed;
    struct backend_pass *bp = calloc(1, sizeof *bp);
    if (!bp) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a pass");
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
    cudaStream_t stream = bp->backend->compute;
    cudaError_t code = cudaMemcpyAsync(found, bp->edges[e].gather_state[g], stage->gather_size, cudaMemcpyDeviceToHost, stream);
    imgpipe_status failed = cuda_check(code, "cudaMemcpyAsync", error);
    if (!failed) failed = cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", error);
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
        cuda_crews_free(backend);
        if (!backend->pool_shared) pool_free(backend->base.pool);
        cuda_give(&backend->allocator, backend->arena, backend->arena_size);
        cudaStreamDestroy(backend->up);
        cudaStreamDestroy(backend->compute);
        cudaStreamDestroy(backend->down);
        cuda_leave(&backend->driver, &guard);
    } else if (!backend->pool_shared) {
        pool_free(backend->base.pool);
    }
    pthread_mutex_destroy(&backend->lock);
    free(backend);
}

/* Opening waits for the start of the device and for pages to be pinned; else it is quicker than a thread for it would be. */
#define QUICK_BYTES ((size_t)1 << 20)
static bool cuda_opens_slowly(struct backend *base, const struct pass_io *io) {
    struct cuda_backend *backend = (struct cuda_backend *)base;
    if (!atomic_load(&backend->started) || backend->start_status) return true;
    struct cuda_guard guard;
    cuda_enter(&backend->driver, &guard);
    size_t size = pageable_bytes(backend, &io->in) + pageable_bytes(backend, &io->out);
    cuda_leave(&backend->driver, &guard);
    return size > QUICK_BYTES;
}

static const char *cuda_describe(const struct backend *base) {
    const struct cuda_backend *backend = (const struct cuda_backend *)base;
    return atomic_load(&backend->started) && *backend->full ? backend->full : base->about;
}

static bool cuda_starts(const struct backend *base) {
    const struct cuda_backend *backend = (const struct cuda_backend *)base;
    return backend->seen && !atomic_load(&backend->started);
}

static const struct backend_ops cuda_ops = {"cuda", cuda_opens_slowly, cuda_open, cuda_crew_submit, cuda_collect, cuda_close, cuda_free,
                                            cuda_pass_bytes, cuda_describe, cuda_starts};

imgpipe_status backend_cuda_new(struct tasks *tasks, const struct cuda_options *options, const struct log *log, struct backend **out,
                                imgpipe_error *error) {
    int device = options->device;
    bool later = options->later && has_driver();
    imgpipe_status failed = later ? IMGPIPE_OK : find_device(device, error);
    if (failed) return failed;
    struct cuda_backend *backend = calloc(1, sizeof *backend);
    if (backend) backend->base.pool = options->pool ? options->pool : pool_new(pool_pages, release_pinned, NULL);
    if (!backend || !backend->base.pool) {
        free(backend);
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the CUDA backend");
    }
    pthread_mutex_init(&backend->lock, NULL);
    backend->base.ops = &cuda_ops;
    backend->base.tasks = tasks;
    backend->pool_shared = options->pool != NULL;
    backend->device = device;
    backend->seen = !later || device < devices_seen();
    backend->memory = options->memory;
    backend->pinned_ceiling = options->pinned;
    backend->allocator = (struct cuda_allocator){options->allocate, options->release, options->user};
    backend->log = log;
    snprintf(backend->base.about, sizeof backend->base.about, "cuda:%d", device);
    backend->starting = pthread_create(&backend->starter, NULL, starter_main, backend) == 0;
    if (!backend->starting) starter_main(backend);
    *out = &backend->base;
    return IMGPIPE_OK;
}
