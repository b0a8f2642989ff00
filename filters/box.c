/* box: mean of a rectangle. kernels/box.h has the definition. */
#include "box.h"
#include "filter.h"

struct box_options {
    int64_t size, width, height;
    int border;
    imgpipe_sample value;
};

static const imgpipe_param params[] = {
    {"size", offsetof(struct box_options, size), IMGPIPE_PARAM_ODD, "3", 1, BOX_MAX, NULL,
     "width and height of the window in pixels, odd; to 4095, so that sums stay exact"},
    {"width", offsetof(struct box_options, width), IMGPIPE_PARAM_ODD, NULL, 1, BOX_MAX, NULL, "instead of size"},
    {"height", offsetof(struct box_options, height), IMGPIPE_PARAM_ODD, NULL, 1, BOX_MAX, NULL, "instead of size"},
    FILTER_BORDER_PARAMS(struct box_options),
};

/* What all columns beyond a constant border sum to. */
static void box_outside(struct box_plan *plan, imgpipe_format format, double border_value) {
    if (format.type == IMGPIPE_F32) {
        float alpha = (float)border_value, colour = format.alpha ? alpha * alpha : alpha;
        plan->outside_f32[0] = colour;
        plan->outside_f32[1] = alpha;
        for (int k = 1; k < plan->height; k++) {
            plan->outside_f32[0] += colour;
            plan->outside_f32[1] += alpha;
        }
    } else {
        uint64_t alpha = (uint64_t)border_value;
        plan->outside[0] = (uint64_t)plan->height * (format.alpha ? alpha * alpha : alpha);
        plan->outside[1] = (uint64_t)plan->height * alpha;
    }
}

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct box_options *options = stage->options;
    imgpipe_format format = stage->in.format;
    filter_set_border(stage, options->border, options->value);
    struct box_plan *plan = imgpipe_stage_alloc(stage, sizeof(*plan), error);
    if (!plan) return IMGPIPE_ERROR_MEMORY;
    stage->data = plan;
    plan->width = (int)(options->width == INT64_MIN ? options->size : options->width);
    plan->height = (int)(options->height == INT64_MIN ? options->size : options->height);
    plan->rx = plan->width / 2;
    plan->ry = plan->height / 2;
    plan->n = (uint32_t)plan->width * (uint32_t)plan->height;
    stage->identity = plan->n == 1;
    box_outside(plan, format, stage->border_value);

    stage->cost = format.type == IMGPIPE_F32                               ? 0.2 + 0.04 * (plan->width + plan->height)
                  : format.type == IMGPIPE_U8 && plan->n <= BOX_NARROW_MAX ? 0.5
                                                                           : 0.8;
    stage->rows = KERNEL_PICK(box, stage->isa)->rows;
    stage->step = 2; /* some rows are made by twos */
    stage->columns = true;
    size_t samples = (size_t)format.channels * (size_t)(stage->in.width + 2 * plan->rx);
    if (format.type != IMGPIPE_F32)
        stage->state_size = (samples + BOX_AHEAD) * (format.type == IMGPIPE_U16 && format.alpha ? 8 : 4);
    stage->scratch_size = (size_t)box_layout(plan, format.channels, stage->in.width).total;
    stage->cuda = FILTER_CUDA(box_cuda);
    stage->device_scratch = (size_t)stage->in.width * (size_t)format.channels * sizeof(uint64_t);
    return IMGPIPE_OK;
}

static imgpipe_rect need(const imgpipe_stage *stage, imgpipe_rect out) {
    const struct box_plan *plan = stage->data;
    return imgpipe_grow(out, plan->rx, plan->ry);
}

const imgpipe_filter filter_box = {
    FILTER_HEAD,
    .name = "box",
    .summary = "mean of a rectangle",
    .description = "Integers: floor((sum + floor(n / 2)) / n) of the n samples of the window, exactly.\n"
                   "Colour is weighed by alpha, so that the colour of transparent pixels does not show.",
    .kind = IMGPIPE_LOCAL,
    FILTER_PARAMS(struct box_options, params),
    .setup = setup,
    .need = need,
};
