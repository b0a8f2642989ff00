/* The device's primary context, the caller's own current one, and device memory from whoever the caller named. */
#ifndef CUDA_CONTEXT_H
#define CUDA_CONTEXT_H
#include "imgpipe.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

/* Functions of the driver, found at run time because nothing links against libcuda, and the context that the runtime works in. */
struct cuda_driver {
    CUcontext primary;
    CUresult (*current)(CUcontext *context);
    CUresult (*make_current)(CUcontext context);
    CUresult (*device_of)(CUdevice *device);
    CUresult (*state)(CUdevice device, unsigned *flags, int *active);
    CUresult (*retain)(CUcontext *context, CUdevice device);
    CUresult (*release)(CUdevice device);
};

/* With the device's context current in this thread. */
imgpipe_status cuda_driver_find(struct cuda_driver *driver, imgpipe_error *error);

/* Work between these two is done in the device's context; the thread's own, or none, is then current again. */
struct cuda_guard {
    CUcontext before;
};
void cuda_enter(const struct cuda_driver *driver, struct cuda_guard *guard);
void cuda_leave(const struct cuda_driver *driver, const struct cuda_guard *guard);
/* Streams and pointers of a context other than a primary one are of no use in ours: refuses a thread that has one current. Call
 * between the two above. */
imgpipe_status cuda_check_caller(const struct cuda_driver *driver, const struct cuda_guard *guard, imgpipe_error *error);

/* Device memory, by the caller's functions where there are some. */
struct cuda_allocator {
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *block, size_t size);
    void *user;
};
cudaError_t cuda_take(const struct cuda_allocator *allocator, void **memory, size_t size);
void cuda_give(const struct cuda_allocator *allocator, void *memory, size_t size);
#endif
