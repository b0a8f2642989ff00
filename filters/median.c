/* median: the exact median of a square window, each channel by itself. */
#include "filter.h"
#include "median.h"

struct median_options {
    int64_t size;
    int border;
    imgpipe_sample value;
};

static const imgpipe_param median_params[] = {
    {"size", offsetof(struct median_options, size), IMGPIPE_PARAM_ODD, "3", 1, MEDIAN_MAX_SIZE, NULL,
     "width and height of the window, odd"},
    FILTER_BORDER_PARAMS(struct median_options),
};

static imgpipe_status median_setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct median_options *options = stage->options;
    filter_set_border(stage, options->border, options->value);
    if (options->size == 1) {
        stage->identity = true;
        return IMGPIPE_OK;
    }
    struct median_data *data = imgpipe_stage_alloc(stage, sizeof *data, error);
    if (!data) return IMGPIPE_ERROR_MEMORY;
    data->size = (int)options->size;
    stage->data = data;
    const imgpipe_type type = stage->in.format.type;
    if (data->size <= MEDIAN_NETWORK_SIZE) {
        const struct median_kernels *kernels = KERNEL_PICK(median, stage->isa);
        stage->rows = kernels->rows[type];
        stage->scratch_size = kernels->scratch[type];
        stage->step = 2; /* rows are made by twos */
        stage->columns = true;
        stage->cost = 0.023 * data->size * data->size * (double)imgpipe_sample_size(type); /* one core with AVX2, as below */
    } else if (data->size <= MEDIAN_TREE_SIZE) {
        const struct median_kernels *kernels = KERNEL_PICK(median_tree, stage->isa);
        stage->rows = kernels->rows[type];
        stage->scratch_size = kernels->scratch[type];
        stage->step = 32; /* every call splits the first rows anew */
        stage->cost = 4 * (double)imgpipe_sample_size(type);
    } else {
        const struct median_large_kernels *kernels = KERNEL_PICK(median_large, stage->isa);
        stage->rows = kernels->rows[type];
        stage->scratch_size = kernels->scratch(type, data->size);
        stage->step = 4 * data->size; /* every call counts the first windows anew, which takes as long as `size` rows */
        stage->cost = type == IMGPIPE_U8 ? 10 : type == IMGPIPE_U16 ? 40 : 50;
    }
    stage->cuda = FILTER_CUDA(median_cuda);
    return IMGPIPE_OK;
}

static imgpipe_rect median_need(const imgpipe_stage *stage, imgpipe_rect out) {
    const struct median_options *options = stage->options;
    return imgpipe_grow(out, options->size / 2, options->size / 2);
}

const imgpipe_filter filter_median = {
    FILTER_HEAD,
    .name = "median",
    .summary = "exact median of a square window",
    .description = "Each channel by itself, alpha like any other. In f32 NaN sorts last, and a result that is zero or NaN has its "
                   "one form: +0 and 0x7fc00000. Size 1 changes nothing.",
    .kind = IMGPIPE_LOCAL,
    FILTER_PARAMS(struct median_options, median_params),
    .setup = median_setup,
    .need = median_need,
};
