#include "cuda_context.h"
#include "cuda_pass.h"
#include "status.h"

#include <string.h>

/* `version` is the oldest CUDA whose driver has the function in this form. */
static bool find(const char *name, unsigned version, void *function, size_t size) {
    enum cudaDriverEntryPointQueryResult result;
    void *found = NULL;
#if CUDART_VERSION >= 12050
    cudaError_t code = cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#elif CUDART_VERSION >= 12000
    (void)version;
    cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#else
    (void)version, (void)result;
    cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif
    if (code != cudaSuccess) cudaGetLastError();
    if (code != cudaSuccess || !found) return false;
    memcpy(function, &found, size);
    return true;
}
#define FIND(name, version, member) find(name, version, &driver->member, sizeof driver->member)

imgpipe_status cuda_driver_find(struct cuda_driver *driver, imgpipe_error *error) {
    bool found = FIND("cuCtxGetCurrent", 4000, current) && FIND("cuCtxSetCurrent", 4000, make_current) &&
                 FIND("cuCtxGetDevice", 2000, device_of) && FIND("cuDevicePrimaryCtxGetState", 7000, state) &&
                 FIND("cuDevicePrimaryCtxRetain", 7000, retain) && FIND("cuDevicePrimaryCtxRelease", 11000, release);
    if (found && driver->current(&driver->primary) == CUDA_SUCCESS && driver->primary) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_DEVICE,
                     "the CUDA driver lacks functions for contexts; install a newer one, or use --device cpu");
}

void cuda_enter(const struct cuda_driver *driver, struct cuda_guard *guard) {
    guard->before = NULL;
    driver->current(&guard->before);
    if (guard->before != driver->primary) driver->make_current(driver->primary);
}

void cuda_leave(const struct cuda_driver *driver, const struct cuda_guard *guard) {
    if (guard->before != driver->primary) driver->make_current(guard->before);
}

imgpipe_status cuda_check_caller(const struct cuda_driver *driver, const struct cuda_guard *guard, imgpipe_error *error) {
    CUdevice device;
    CUcontext primary = NULL;
    unsigned flags;
    int active = 0;
    if (!guard->before || guard->before == driver->primary) return IMGPIPE_OK;
    driver->make_current(guard->before);
    bool known = driver->device_of(&device) == CUDA_SUCCESS;
    driver->make_current(driver->primary);
    /* Another device's primary context is the runtime's own way to have that device current. */
    if (known && driver->state(device, &flags, &active) == CUDA_SUCCESS && active &&
        driver->retain(&primary, device) == CUDA_SUCCESS)
        driver->release(device);
    if (primary == guard->before) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                     "the CUDA context that is current in this thread is not a device's primary one, in which imgpipe "
                     "works; use cuDevicePrimaryCtxRetain() instead of cuCtxCreate()");
}

cudaError_t cuda_take(const struct cuda_allocator *allocator, void **memory, size_t size) {
    *memory = NULL;
    if (!allocator->allocate) return cudaMalloc(memory, size);
    *memory = allocator->allocate(allocator->user, size, 256);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

void cuda_give(const struct cuda_allocator *allocator, void *memory, size_t size) {
    if (!memory) return;
    if (allocator->release)
        allocator->release(allocator->user, memory, size);
    else
        cudaFree(memory);
}
