/* invert: the negative. */
#include "filter.h"

static imgpipe_status invert_setup(imgpipe_stage *stage, imgpipe_error *error) {
    imgpipe_point_op op = {.code = IMGPIPE_POINT_AFFINE, .mul = -1, .div = 1, .offset = imgpipe_type_max(stage->in.format.type)};
    return imgpipe_stage_point(stage, &op, error);
}

const imgpipe_filter filter_invert = {
    FILTER_HEAD,
    .name = "invert",
    .summary = "make the negative",
    .description = "Every sample v becomes the full intensity less v; floating-point samples become 1 - v. Alpha is kept.",
    .kind = IMGPIPE_POINT,
    .setup = invert_setup,
};
