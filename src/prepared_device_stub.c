/* Stands for prepared plans on CUDA devices in a build without it: no context has such a device, so none of this is reached but the
 * last. */
#include "prepared_device.h"
#include "status.h"

imgpipe_status device_plan_new(struct imgpipe_plan *plan, const imgpipe_prepare_options *options, struct device_plan **device,
                               imgpipe_error *error) {
    (void)plan, (void)options, (void)device;
    return device_plan_missing(error);
}

void device_plan_free(struct device_plan *device) {
    (void)device;
}

imgpipe_status device_plan_bind(struct device_plan *device, struct bound *bound, size_t *need, imgpipe_error *error) {
    (void)device, (void)bound, (void)need;
    return device_plan_missing(error);
}

imgpipe_status device_plan_memory(struct device_plan *device, size_t *size, imgpipe_error *error) {
    (void)device, (void)size;
    return device_plan_missing(error);
}

void device_plan_use(struct device_plan *device, const struct bound *bound) {
    (void)device, (void)bound;
}

void device_plan_warm_size(const struct imgpipe_plan *plan, imgpipe_info *info) {
    *info = plan->largest;
}

imgpipe_status device_plan_warm(struct device_plan *device, const struct bound *bound, bool wait, imgpipe_error *error) {
    (void)device, (void)bound, (void)wait;
    return device_plan_missing(error);
}

imgpipe_status device_plan_enqueue(struct imgpipe_plan *plan, const imgpipe_device_image *in, const imgpipe_device_image *out,
                                   void *stream, imgpipe_error *error) {
    (void)plan, (void)in, (void)out, (void)stream;
    return device_plan_missing(error);
}

imgpipe_status device_plan_missing(imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_DEVICE,
                     "the plan runs on the CPU, as this imgpipe was built without CUDA: run it by imgpipe_plan_run(), "
                     "or build with -Dcuda=enabled");
}
