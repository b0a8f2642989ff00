/* threshold: black or white. */
#include "filter.h"

#include <math.h>

struct threshold_options {
    imgpipe_sample value;
};

static const imgpipe_param threshold_params[] = {
    {"value", offsetof(struct threshold_options, value), IMGPIPE_PARAM_SAMPLE, NULL, -1e30, 1e30, NULL,
     "samples from here on become the full intensity, those below 0"},
};

static imgpipe_status threshold_setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct threshold_options *options = stage->options;
    imgpipe_type type = stage->in.format.type;
    double value = imgpipe_sample_units(options->value, type), max = imgpipe_type_max(type);
    if (isnan(value))
        return imgpipe_stage_fail(stage, error, "value", 0, 0, "is missing; write threshold=128 or threshold=50%%");
    if (type != IMGPIPE_F32 && (value > max || value <= 0))
        imgpipe_stage_notice(stage, "value=%g makes every sample %g: samples here go from 0 to %g; per cent suit every depth",
                             value, value > max ? 0 : max, max);
    imgpipe_point_op op = {.code = IMGPIPE_POINT_THRESHOLD, .pivot = value, .mul = max, .offset = 0};
    return imgpipe_stage_point(stage, &op, error);
}

const imgpipe_filter filter_threshold = {
    FILTER_HEAD,
    .name = "threshold",
    .summary = "make samples full or zero",
    .description =
        "Every channel by itself: a sample of at least value becomes the full intensity (1 for floating point), any other, and "
        "NaN, becomes 0. In sample units, or per cent of the full range. Alpha is kept.",
    .kind = IMGPIPE_POINT,
    FILTER_PARAMS(struct threshold_options, threshold_params),
    .setup = threshold_setup,
};
