/* The CUDA backend, or the stub that takes its place in a build without nvcc. */
#ifndef BACKEND_CUDA_H
#define BACKEND_CUDA_H
#include "backend.h"

/* Lists up to `capacity` devices and returns how many there are; `why` (may be NULL) says in one line why there is none. */
int backend_cuda_devices(imgpipe_device_info *devices, int capacity, char *why, size_t why_size);

/* What to do where there is none. */
extern const char backend_cuda_advice[];

struct cuda_options {
    int device;
    bool later;             /* the device is looked for by the thread that starts it; what is wrong shows when a pass is opened */
    uint64_t memory;        /* ceiling of device memory in bytes; 0: half of what is free */
    struct pool *pool;      /* host memory, of another GPU's backend that is freed later; NULL: of its own */
    uint64_t pinned;        /* ceiling of pinned host memory; 0: none */
    /* The caller's functions for device memory, or NULL. */
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *block, size_t size);
    void *user;
};

/* Starts the backend. Fails with IMGPIPE_ERROR_DEVICE and the reason. */
imgpipe_status backend_cuda_new(struct tasks *tasks, const struct cuda_options *options, const struct log *log, struct backend **backend,
                                imgpipe_error *error);
#endif
