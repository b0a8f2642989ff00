/* Prepared plans on CUDA devices (prepared_cuda.c), or what takes their place in a build without CUDA. */
#ifndef PREPARED_DEVICE_H
#define PREPARED_DEVICE_H
#include "prepared.h"

/* Takes the context's device for the plan; fails where it is absent. */
imgpipe_status device_plan_new(struct imgpipe_plan *plan, const imgpipe_prepare_options *options, struct device_plan **device,
                               imgpipe_error *error);
void device_plan_free(struct device_plan *device);
/* Refuses what cannot be enqueued, and says how many bytes of scratch the binding needs. */
imgpipe_status device_plan_bind(struct device_plan *device, struct bound *bound, size_t *need, imgpipe_error *error);
/* Takes scratch of *size bytes, or the caller's, whose size it then gives. */
imgpipe_status device_plan_memory(struct device_plan *device, size_t *size, imgpipe_error *error);
/* From now on runs are those of this binding. */
void device_plan_use(struct device_plan *device, const struct bound *bound);
/* A small size, for a binding that only serves to load kernels: which they are depends on formats and parameters alone. */
void device_plan_warm_size(const struct imgpipe_plan *plan, imgpipe_info *info);
/* Loads every kernel of such a binding by running it, in memory and on a stream of its own; `wait`: until that is done. */
imgpipe_status device_plan_warm(struct device_plan *device, const struct bound *bound, bool wait, imgpipe_error *error);
imgpipe_status device_plan_enqueue(struct imgpipe_plan *plan, const imgpipe_device_image *in, const imgpipe_device_image *out,
                                   void *stream, imgpipe_error *error);
/* Why a plan without a device cannot enqueue. */
imgpipe_status device_plan_missing(imgpipe_error *error);
#endif
