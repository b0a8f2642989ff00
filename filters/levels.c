/* levels: a linear map of one range onto another. */
#include "filter.h"

struct levels_options {
    imgpipe_sample in_low, in_high, out_low, out_high;
};

#define LEVEL(name, initial, text)                                                                                                 \
    { #name, offsetof(struct levels_options, name), IMGPIPE_PARAM_SAMPLE, initial, -1e30, 1e30, NULL, text }

static const imgpipe_param levels_params[] = {
    LEVEL(in_low, "0", "the sample that becomes out_low"),
    LEVEL(in_high, "100%", "the sample that becomes out_high"),
    LEVEL(out_low, "0", "what in_low becomes"),
    LEVEL(out_high, "100%", "what in_high becomes"),
};

static imgpipe_status levels_setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct levels_options *options = stage->options;
    imgpipe_type type = stage->in.format.type;
    double in_low = imgpipe_sample_units(options->in_low, type), in_high = imgpipe_sample_units(options->in_high, type);
    double out_low = imgpipe_sample_units(options->out_low, type), out_high = imgpipe_sample_units(options->out_high, type);
    if (in_low == in_high)
        return imgpipe_stage_fail(stage, error, "in_high", 0, 0,
                                  "in_high: the input range from %g to %g is empty; to split at one value write threshold=%g",
                                  in_low, in_high, in_low);
    /* A range mapped onto itself changes nothing, also where float32 arithmetic would. */
    if (in_low == out_low && in_high == out_high) {
        stage->identity = true;
        return IMGPIPE_OK;
    }
    imgpipe_point_op op = {
        .code = IMGPIPE_POINT_AFFINE, .pivot = in_low, .mul = out_high - out_low, .div = in_high - in_low, .offset = out_low};
    return imgpipe_stage_point(stage, &op, error);
}

const imgpipe_filter filter_levels = {
    FILTER_HEAD,
    .name = "levels",
    .summary = "map one range of samples onto another",
    .description =
        "Linear: in_low becomes out_low, in_high becomes out_high, and what lies beyond goes on along the same line, clamped to "
        "the full range for integers. A range may run downwards. Values are in sample units, or per cent of the full range. "
        "Alpha is kept.",
    .kind = IMGPIPE_POINT,
    FILTER_PARAMS(struct levels_options, levels_params),
    .setup = levels_setup,
};
