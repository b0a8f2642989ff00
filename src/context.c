#include "context.h"
#include "backend_group.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Memory of the machine or of the cgroup, whichever is less. */
static uint64_t machine_memory(void) {
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(limits[i], "r");
        unsigned long long limit;
        if (file && fscanf(file, "%llu", &limit) == 1 && limit < memory) memory = limit;
        if (file) fclose(file);
    }
    return memory;
}

imgpipe_context_options imgpipe_context_options_default(void) {
    return (imgpipe_context_options){.struct_size = sizeof(imgpipe_context_options), .device = "auto"};
}

static imgpipe_status read_device(imgpipe_context *context, const char *device, imgpipe_error *error) {
    if (!device || strcmp(device, "auto") == 0) return IMGPIPE_OK;
    if (strcmp(device, "cpu") == 0) {
        context->wish = DEVICE_CPU;
        return IMGPIPE_OK;
    }
    int end = 0;
    context->wish = DEVICE_CUDA;
    if (strcmp(device, "cuda") == 0) return IMGPIPE_OK;
    context->gpus = strcmp(device, "cuda:all") == 0 ? 0 : 1;
    if (!context->gpus) return IMGPIPE_OK;
    if (sscanf(device, "cuda:%d%n", &context->cuda_options.device, &end) == 1 && device[end] == 0 && context->cuda_options.device >= 0) return IMGPIPE_OK;
    context->wish = DEVICE_AUTO;
    if (sscanf(device, "auto:%d%n", &context->cuda_options.device, &end) == 1 && device[end] == 0 && context->cuda_options.device >= 0) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_ARGUMENT, "device '%s' is unknown; the choices are auto, auto:N, cpu, cuda, cuda:N and "
                                                        "cuda:all", device);
}

static imgpipe_status read_isa(imgpipe_context *context, const char *isa, imgpipe_error *error) {
    context->isa = kernel_isa_best();
    if (!isa) return IMGPIPE_OK;
    char names[200] = "";
    for (int i = 0; imgpipe_isa_name(i); i++) {
        if (strcmp(isa, imgpipe_isa_name(i)) == 0) {
            context->isa = i;
            return IMGPIPE_OK;
        }
        text_append(names, sizeof names, "%s%s", i ? ", " : "", imgpipe_isa_name(i));
    }
    return error_set(error, IMGPIPE_ERROR_ARGUMENT, "instruction set '%s' is not one that this build and this CPU have; the choices are %s",
                     isa, names);
}

/* The CPU's backend, with memory from where the caller wants it. */
static imgpipe_status make_cpu(imgpipe_context *context, const imgpipe_context_options *options, imgpipe_error *error) {
    struct pool *pool = pool_new(options->allocate, options->release, options->user);
    if (!pool) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a context");
    imgpipe_status failed = backend_cpu_new(context->tasks, context->isa, pool, &context->cpu, error);
    if (failed) pool_free(pool);
    return failed;
}

static imgpipe_status make_gpu(void *user, int index, struct pool *pool, struct backend **backend, imgpipe_error *error) {
    imgpipe_context *context = user;
    struct cuda_options options = context->cuda_options;
    options.device = index;
    options.pool = pool;
    return backend_cuda_new(context->tasks, &options, &context->log, backend, error);
}

/* The device that was named, or all of them. One of many contexts works on one GPU, so that each image is copied and started once; the
 * contexts take the GPUs in turn, and another one where theirs fails. */
static imgpipe_status make_named(imgpipe_context *context, imgpipe_error *error) {
    char why[160];
    if (context->gpus) return backend_cuda_new(context->tasks, &context->cuda_options, &context->log, &context->cuda, error);
    struct backend_group_options options = {.count = backend_cuda_devices(NULL, 0, why, sizeof why), .name = "cuda:all",
                                            .log = &context->log, .make = make_gpu, .user = context};
    if (!options.count) return error_set(error, IMGPIPE_ERROR_DEVICE, "device cuda:all: %s; %s", why, backend_cuda_advice);
    options.first = context->turn % options.count;
    options.width = context->gpus = context->share > 1 ? 1 : options.count;
    imgpipe_status failed = backend_group_new(&options, &context->group, error);
    if (!failed) context->cuda = backend_group_first(context->group);
    return failed;
}

static imgpipe_status fill_context(imgpipe_context *context, const imgpipe_context_options *options, imgpipe_error *error) {
    context->log = (struct log){options->log, options->user};
    context->progress = options->progress;
    context->cancel = (struct cancel){options->cancelled, options->user};
    context->user = options->user;
    context->share = options->share > 1 ? options->share : 1;
    context->runs = options->runs > 1 ? options->runs : 1;
    context->turn = options->turn > 0 ? options->turn : 0;
    context->cuda_options.later = options->device_later;
    context->cpu_meanwhile = options->cpu_meanwhile;
    context->gpus = 1;
    uint64_t parts = (uint64_t)context->share;
    context->memory = (options->memory ? options->memory : machine_memory() / 2);
    if (parts > 1) context->memory = context->memory / parts + 1;
    /* Without a number it is half of what is free when it is asked for, which sharing makes less by itself. */
    if (!options->allocate != !options->release)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "allocate and release belong together; give both or neither");
    context->cuda_options.memory = options->gpu_memory ? options->gpu_memory / parts + 1 : 0;
    context->cuda_options.pinned = options->pinned_memory ? options->pinned_memory / parts + 1 : 0;
    context->cuda_options.allocate = options->device_allocate;
    context->cuda_options.release = options->device_release;
    context->cuda_options.user = options->user;
    if (!options->device_allocate != !options->device_release)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "device_allocate and device_release belong together; give both or neither");
    if (options->threads < 0 || options->threads > 4096)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%d threads: the range is 1 to 4096", options->threads);
    imgpipe_status failed = read_device(context, options->device, error);
    if (!failed) failed = read_isa(context, options->isa, error);
    if (!failed) failed = tasks_new(options->threads ? options->threads : tasks_default_threads(), &context->tasks, error);
    if (!failed) failed = make_cpu(context, options, error);
    /* A device that was named must be there, whatever is run on it later. */
    if (!failed && context->wish == DEVICE_CUDA) failed = make_named(context, error);
    return failed;
}

imgpipe_status imgpipe_context_new(const imgpipe_context_options *options, imgpipe_context **context, imgpipe_error *error) {
    imgpipe_context_options defaults = imgpipe_context_options_default();
    if (!context) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_context_new: no place for the context was given");
    *context = NULL;
    if (!options) options = &defaults;
    if (options->struct_size != sizeof *options)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_context_options: struct_size is not that of this library; use "
                                                        "imgpipe_context_options_default()");
    imgpipe_context *made = calloc(1, sizeof *made);
    if (!made) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a context");
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->folders.lock, NULL);
    imgpipe_status failed = fill_context(made, options, error);
    if (failed)
        imgpipe_context_free(&made);
    else
        *context = made;
    return failed;
}

int imgpipe_default_threads(void) { return tasks_default_threads(); }

void imgpipe_context_free(imgpipe_context **context) {
    if (!context || !*context) return;
    tasks_free((*context)->tasks); /* first: its threads may still use the rest */
    struct backend *gpu = (*context)->group ? (*context)->group : (*context)->cuda;
    if (gpu) gpu->ops->free(gpu);
    if ((*context)->cpu) (*context)->cpu->ops->free((*context)->cpu);
    pthread_mutex_destroy(&(*context)->lock);
    pthread_mutex_destroy(&(*context)->folders.lock);
    free(*context);
    *context = NULL;
}

/* Seconds: measured on an H200, whose context takes 0.35 s; other GPUs and drivers take as long or longer. */
#define AUTO_START 0.4
/* Bytes a second of copies in both directions, low enough for any PCIe link of today. */
#define AUTO_COPY 10e9

static double copy_seconds(const struct plan *plan) {
    double bytes = 0;
    for (int i = 0; i < plan->pass_count; i++) {
        const struct pass *pass = &plan->passes[i];
        const struct edge *ends[] = {&pass->edges[0], pass->end == PASS_DROP ? NULL : &pass->edges[pass->node_count]};
        for (int k = 0; k < 2; k++)
            if (ends[k]) bytes += (double)ends[k]->info.width * (double)ends[k]->info.height * (double)imgpipe_pixel_size(ends[k]->info.format);
    }
    return bytes / AUTO_COPY;
}

/* Whether `auto` takes the GPU; `why` gets the reason. */
static bool gpu_pays(imgpipe_context *context, const struct plan *plan, char *why, size_t why_size) {
    double cpu = plan_cpu_seconds(plan, tasks_threads(context->tasks));
    double gpu = copy_seconds(plan) * context->share + (context->cuda ? 0 : AUTO_START / (double)context->runs);
    if (cpu <= gpu) {
        snprintf(why, why_size, "%.2f s of work here, %.2f s to start and feed a GPU", cpu, gpu);
        return false;
    }
    imgpipe_error error;
    if (context->no_gpu) {
        snprintf(why, why_size, "no GPU");
        return false;
    }
    context->cuda_options.later = true; /* where there is none after all the CPU takes over */
    if (!context->cuda &&
        backend_cuda_new(context->tasks, &context->cuda_options, &context->log, &context->cuda, &error) != IMGPIPE_OK) {
        snprintf(why, why_size, "no GPU");
        return false;
    }
    snprintf(why, why_size, "%.2f s of work on the CPU, %.2f s to start and feed it", cpu, gpu);
    return true;
}

/* Whether the image is better done by the CPU than after the start of the GPU that is to do it. The file is read meanwhile, so that less
 * than the whole start would be waited for; and for long work it is worth waiting, though others use the CPU then. */
static bool cpu_is_sooner(const imgpipe_context *context, const struct backend *gpu, const struct plan *plan) {
    if (!context->cpu_meanwhile || !gpu->ops->starts || !gpu->ops->starts(gpu)) return false;
    return plan_cpu_seconds(plan, tasks_threads(context->tasks)) <= AUTO_START / 2;
}

void context_without_gpu(imgpipe_context *context) {
    pthread_mutex_lock(&context->lock);
    context->no_gpu = true;
    pthread_mutex_unlock(&context->lock);
}

imgpipe_status context_backend(imgpipe_context *context, const struct plan *plan, struct backend **backend, char *why, size_t why_size,
                               imgpipe_error *error) {
    (void)error;
    char reason[100] = "";
    bool gpu = context->wish == DEVICE_CUDA;
    pthread_mutex_lock(&context->lock);
    if (context->wish == DEVICE_AUTO) gpu = gpu_pays(context, plan, reason, sizeof reason);
    struct backend *device = !gpu ? NULL : context->group ? context->group : context->cuda;
    pthread_mutex_unlock(&context->lock);
    bool meanwhile = gpu && cpu_is_sooner(context, device, plan);
    *backend = gpu && !meanwhile ? device : context->cpu;
    if (*backend != context->cpu)
        snprintf(why, why_size, "%s", (*backend)->ops->describe ? (*backend)->ops->describe(*backend) : (*backend)->about);
    else
        snprintf(why, why_size, "cpu, %d thread%s, %s", tasks_threads(context->tasks), tasks_threads(context->tasks) == 1 ? "" : "s",
                 kernel_isa_names[context->isa]);
    if (meanwhile)
        text_append(why, why_size, " (while %s starts)", device->about);
    else if (*reason)
        text_append(why, why_size, " (auto: %s)", reason);
    return IMGPIPE_OK;
}

int imgpipe_devices(imgpipe_device_info *devices, int capacity, char *why_no_gpu, size_t why_size) {
    if (capacity > 0) {
        snprintf(devices[0].name, sizeof devices[0].name, "cpu");
        snprintf(devices[0].about, sizeof devices[0].about, "%d threads, %s", tasks_default_threads(), kernel_isa_names[kernel_isa_best()]);
    }
    if (why_no_gpu && why_size) why_no_gpu[0] = 0;
    int gpus = backend_cuda_devices(capacity > 1 ? devices + 1 : NULL, capacity > 1 ? capacity - 1 : 0, why_no_gpu, why_size);
    return 1 + gpus;
}
