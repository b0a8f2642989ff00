/* Stands for the CUDA backend in a build without it. */
#include "backend_cuda.h"
#include "status.h"

#include <stdio.h>

const char backend_cuda_advice[] = "use --device cpu or auto, or build with -Dcuda=enabled";

static const char reason[] = "this imgpipe was built without CUDA (nvcc was not found)";

int backend_cuda_devices(imgpipe_device_info *devices, int capacity, char *why, size_t why_size) {
    (void)devices;
    (void)capacity;
    if (why) snprintf(why, why_size, "%s", reason);
    return 0;
}

imgpipe_status backend_cuda_new(struct tasks *tasks, const struct cuda_options *options, const struct log *log, struct backend **backend,
                                imgpipe_error *error) {
    (void)tasks;
    (void)log;
    (void)backend;
    char number[16] = ""; /* the first one has most likely been named without it */
    if (options->device > 0) snprintf(number, sizeof number, ":%d", options->device);
    return error_set(error, IMGPIPE_ERROR_DEVICE, "device cuda%s: %s; %s", number, reason, backend_cuda_advice);
}
