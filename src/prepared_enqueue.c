/* The prepared plan on a CUDA device: its memory, and the way onto the caller's stream. */
#include "hist_data.h"
#include "layout.h"
#include "prepared_cuda.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN256(n) (((size_t)(n) + 255) / 256 * 256)

imgpipe_status device_plan_missing(imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_DEVICE,
                     "the plan is one for the CPU: run it by imgpipe_plan_run(), or prepare it on a context whose device "
                     "is cuda");
}

/* ---- memory */

imgpipe_status device_plan_new(struct imgpipe_plan *plan, const imgpipe_prepare_options *options, struct device_plan **result,
                               imgpipe_error *error) {
    struct cuda_backend *backend = (struct cuda_backend *)plan->context->cuda;
    imgpipe_status failed = cuda_backend_started(backend, error);
    if (failed) return failed;
    if (options->device_scratch && (uintptr_t)options->device_scratch % 256)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "device_scratch must be aligned to 256 bytes");
    struct device_plan *device = calloc(1, sizeof *device);
    if (!device) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a prepared plan");
    device->plan = plan;
    device->backend = backend;
    device->scratch = options->device_scratch;
    device->scratch_size = options->device_scratch_size;
    device->reserve = options->reserve;
    *result = device;
    return IMGPIPE_OK;
}

void device_plan_free(struct device_plan *device) {
    if (!device) return;
    struct cuda_guard guard;
    cuda_enter(&device->backend->driver, &guard);
    if (device->warm) cudaStreamSynchronize(device->backend->compute); /* runs that load kernels */
    cuda_give(&device->backend->allocator, device->own, device->scratch_size);
    cuda_give(&device->backend->allocator, device->tables, device->tables_size);
    cuda_give(&device->backend->allocator, device->warm, device->warm_size);
    cuda_leave(&device->backend->driver, &guard);
    free(device);
}

static imgpipe_status take(struct device_plan *device, unsigned char **memory, size_t size, imgpipe_error *error) {
    char text[32];
    uint64_t ceiling = device->backend->memory;
    void *taken = NULL;
    cudaError_t code = ceiling && size > ceiling ? cudaErrorMemoryAllocation : cuda_take(&device->backend->allocator, &taken, size);
    *memory = taken;
    if (code == cudaSuccess) return IMGPIPE_OK;
    if (code == cudaErrorMemoryAllocation) cudaGetLastError();
    return error_set(error, IMGPIPE_ERROR_DEVICE, "no %s of device memory for a prepared plan: %s", text_bytes(size, text),
                     cudaGetErrorString(code));
}

/* Runs that only load kernels are of this size, and their nodes' scratch no larger than that. */
enum { WARM_WIDTH = 40, WARM_HEIGHT = 20, WARM_SCRATCH = 1 << 20 };
#define WARM_COUNTS ((65536 + HIST_OUTSIDE) * 4 * sizeof(uint64_t) + 256)

static imgpipe_status take_all(struct device_plan *device, size_t *size, imgpipe_error *error) {
    const struct device_chain *chain = device->plan->now->device;
    char need[32], have[32];
    size_t least = device_chain_scratch(chain);
    if (device->scratch && device->scratch_size < least)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "device_scratch has %s, and the plan needs %s; ask imgpipe_prepare_scratch()",
                         text_bytes(device->scratch_size, have), text_bytes(least, need));
    imgpipe_status failed = IMGPIPE_OK;
    if (!device->scratch) {
        failed = take(device, &device->own, *size, error);
        device->scratch = device->own;
        device->scratch_size = *size;
    }
    *size = device->scratch_size;
    device->tables_size = ALIGN256(2 * chain->tables_size + device->reserve + 256);
    device->warm_size = WARM_SCRATCH + device->tables_size + WARM_COUNTS;
    if (!failed) failed = take(device, &device->tables, device->tables_size, error);
    if (!failed) failed = take(device, &device->warm, device->warm_size, error);
    if (!failed) failed = cuda_check(cudaMemset(device->warm, 0, device->warm_size), "cudaMemset", error);
    return failed;
}

imgpipe_status device_plan_memory(struct device_plan *device, size_t *size, imgpipe_error *error) {
    struct cuda_guard guard;
    cuda_enter(&device->backend->driver, &guard);
    imgpipe_status failed = take_all(device, size, error);
    cuda_leave(&device->backend->driver, &guard);
    return failed;
}

imgpipe_status device_plan_bind(struct device_plan *device, struct bound *bound, size_t *need, imgpipe_error *error) {
    imgpipe_status failed = device_chain_make(bound, error);
    if (failed) return failed;
    *need = device_chain_scratch(bound->device);
    if (device->tables && bound->device->tables_size > device->tables_size)
        return error_set(error, IMGPIPE_ERROR_MEMORY,
                         "these parameters need larger tables in device memory than were prepared; prepare the plan again "
                         "with them, or with a larger `reserve`");
    return IMGPIPE_OK;
}

void device_plan_use(struct device_plan *device, const struct bound *bound) {
    device->tables_stale = bound->device->tables_size > 0;
}

/* ---- loading */

void device_plan_warm_size(const struct imgpipe_plan *plan, imgpipe_info *info) {
    *info = plan->largest;
    if (info->width > WARM_WIDTH) info->width = WARM_WIDTH;
    if (info->height > WARM_HEIGHT) info->height = WARM_HEIGHT;
}

static imgpipe_status warm(struct device_plan *device, const struct device_chain *chain, imgpipe_error *error) {
    struct device_memory memory = {device->warm + WARM_COUNTS, device->warm + WARM_COUNTS + 2 * chain->slot_size,
                                   device->warm + WARM_COUNTS + WARM_SCRATCH};
    cudaStream_t stream = device->backend->compute;
    if (device_chain_scratch(chain) > WARM_SCRATCH || chain->state_size > WARM_COUNTS)
        return error_set(error, IMGPIPE_ERROR_INTERNAL, "a stage needs more memory for a small image than was thought");
    imgpipe_status failed = device_chain_tables(chain, &memory, stream, error);
    struct count_target target = {(uint64_t *)(void *)device->warm, false};
    if (!failed) failed = device_chain_run(chain, &memory, NULL, NULL, NULL, &target, stream, error);
    if (!failed) failed = device_chain_layouts(chain, &memory, stream, error);
    return failed;
}

imgpipe_status device_plan_warm(struct device_plan *device, const struct bound *bound, bool wait, imgpipe_error *error) {
    struct cuda_guard guard;
    cuda_enter(&device->backend->driver, &guard);
    imgpipe_status failed = warm(device, bound->device, error);
    if (!failed && wait) failed = cuda_check(cudaStreamSynchronize(device->backend->compute), "cudaStreamSynchronize", error);
    cuda_leave(&device->backend->driver, &guard);
    return failed;
}

/* ---- enqueueing */

/* Asking the driver costs a few hundred nanoseconds, and a pointer of the host or of another device would end the process's CUDA
 * context. */
static imgpipe_status check_pointer(const struct device_plan *device, const void *pointer, const char *name, imgpipe_error *error) {
    struct cudaPointerAttributes attributes;
    CUDA_TRY(cudaPointerGetAttributes(&attributes, pointer));
    if (attributes.type == cudaMemoryTypeManaged ||
        (attributes.type == cudaMemoryTypeDevice && attributes.device == device->backend->device))
        return IMGPIPE_OK;
    if (attributes.type == cudaMemoryTypeDevice)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s is in the memory of device %d, and the plan is for device %d", name,
                         attributes.device, device->backend->device);
    return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s is in host memory; enqueue images in the memory of device %d", name,
                     device->backend->device);
}

static imgpipe_status check_pointers(const struct device_plan *device, const imgpipe_device_image *in,
                                     const imgpipe_device_image *out, imgpipe_error *error) {
    const struct device_chain *chain = device->plan->now->device;
    imgpipe_status failed = check_pointer(device, in->pixels, "the input", error);
    if (!failed && out) failed = check_pointer(device, out->pixels, "the output", error);
    for (int i = 0; !failed && i < chain->step_count; i++) {
        const struct device_step *step = &chain->steps[i];
        const uint64_t *counts = step->kind == STEP_COUNT ? device->plan->targets[step->target].counts : NULL;
        if (counts) failed = check_pointer(device, counts, "the place of a histogram", error);
    }
    return failed;
}

static imgpipe_status enqueue(struct device_plan *device, const imgpipe_device_image *in, const imgpipe_device_image *out,
                              cudaStream_t stream, imgpipe_error *error) {
    const struct imgpipe_plan *plan = device->plan;
    const struct device_chain *chain = plan->now->device;
    struct device_memory memory = {device->scratch, device->scratch + 2 * chain->slot_size, device->tables};
    /* The legacy default stream cannot be captured. */
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (stream && chain->tables_size) CUDA_TRY(cudaStreamIsCapturing(stream, &capture));
    if (capture == cudaStreamCaptureStatusActive) device->captured = true;
    imgpipe_status failed = IMGPIPE_OK;
    if (chain->tables_size && (device->tables_stale || device->captured))
        failed = device_chain_tables(chain, &memory, stream, error);
    if (!failed) failed = device_chain_run(chain, &memory, in, out, plan->targets, NULL, stream, error);
    if (!failed) device->tables_stale = false;
    return failed;
}

imgpipe_status device_plan_enqueue(struct imgpipe_plan *plan, const imgpipe_device_image *in, const imgpipe_device_image *out,
                                   void *stream, imgpipe_error *error) {
    struct device_plan *device = plan->device;
    struct cuda_guard guard;
    imgpipe_status failed = layout_check_image(in, "input", error);
    if (!failed && out) failed = layout_check_image(out, "output", error);
    if (failed) return failed;
    if (out && layout_overlap(in, out))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "input and output overlap in device memory; give the plan an output of its own");
    cuda_enter(&device->backend->driver, &guard);
    failed = cuda_check_caller(&device->backend->driver, &guard, error);
    if (!failed) failed = check_pointers(device, in, out, error);
    if (!failed) failed = enqueue(device, in, out, stream, error);
    cuda_leave(&device->backend->driver, &guard);
    return failed;
}
