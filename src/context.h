/* What lives from run to run: threads, backends, memory. */
#ifndef CONTEXT_H
#define CONTEXT_H
#include "backend.h"

enum device_wish { DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA };

struct imgpipe_context {
    struct log log;
    struct tasks *tasks;
    struct backend *cpu;
    struct backend *cuda;       /* NULL until a run wants it */
    enum device_wish wish;
    int cuda_device;
    int isa;
    uint64_t memory, gpu_memory;
    void (*progress)(void *user, double done);
    bool (*cancelled)(void *user);
    void *user;
};

/* The backend for a run of `plan`, and one line that says which and why. */
imgpipe_status context_backend(imgpipe_context *context, const struct plan *plan, struct backend **backend, char *why, size_t why_size,
                               imgpipe_error *error);
#endif
