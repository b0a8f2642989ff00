/* A plug-in with one local stage on the CPU and on CUDA: crisp adds to each sample its difference from its four neighbours. The
 * CUDA half is crisp.cu; without -DCRISP_CUDA chains with crisp run on the CPU. */
#include "crisp.h"

struct options {
    double amount;
};

static const imgpipe_param params[] = {
    {"amount", offsetof(struct options, amount), IMGPIPE_PARAM_NUMBER, "0.5", 0, 8, NULL,
     "how much of the difference is added, in steps of 1/256"},
};

static bool is_alpha(imgpipe_format format, int64_t sample) {
    return format.alpha && sample % format.channels == format.channels - 1;
}

static void crisp_u8(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    int64_t step = stage->in.format.channels, n = rows->out_width * step;
    int amount = ((const struct crisp *)stage->data)->amount;
    for (int i = 0; i < rows->count; i++) {
        const uint8_t *a = rows->in[i], *v = rows->in[i + 1], *b = rows->in[i + 2];
        uint8_t *out = rows->out[i];
        for (int64_t x = 0; x < n; x++)
            out[x] = is_alpha(stage->in.format, x) ? v[x] : crisp_of_u8(v[x], a[x], b[x], v[x - step], v[x + step], amount);
    }
}

static void crisp_u16(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    int64_t step = stage->in.format.channels, n = rows->out_width * step;
    int amount = ((const struct crisp *)stage->data)->amount;
    for (int i = 0; i < rows->count; i++) {
        const uint16_t *a = rows->in[i], *v = rows->in[i + 1], *b = rows->in[i + 2];
        uint16_t *out = rows->out[i];
        for (int64_t x = 0; x < n; x++)
            out[x] = is_alpha(stage->in.format, x) ? v[x] : crisp_of_u16(v[x], a[x], b[x], v[x - step], v[x + step], amount);
    }
}

static void crisp_f32(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    int64_t step = stage->in.format.channels, n = rows->out_width * step;
    int amount = ((const struct crisp *)stage->data)->amount;
    for (int i = 0; i < rows->count; i++) {
        const float *a = rows->in[i], *v = rows->in[i + 1], *b = rows->in[i + 2];
        float *out = rows->out[i];
        for (int64_t x = 0; x < n; x++)
            out[x] = is_alpha(stage->in.format, x) ? v[x] : crisp_of_f32(v[x], a[x], b[x], v[x - step], v[x + step], amount);
    }
}

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    static const imgpipe_rows_function functions[] = {crisp_u8, crisp_u16, crisp_f32};
    const struct options *options = stage->options;
    struct crisp *crisp = imgpipe_stage_alloc(stage, sizeof *crisp, error);
    if (!crisp) return IMGPIPE_ERROR_MEMORY;
    crisp->amount = (int)(options->amount * 256 + 0.5);
    stage->data = crisp;
    stage->identity = crisp->amount == 0;
    stage->rows = functions[stage->in.format.type];
#ifdef CRISP_CUDA
    stage->cuda = crisp_cuda;
#endif
    return IMGPIPE_OK;
}

static imgpipe_rect need(const imgpipe_stage *stage, imgpipe_rect out) {
    (void)stage;
    return imgpipe_grow(out, 1, 1);
}

static const imgpipe_filter crisp = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "crisp",
    .summary = "add to each sample its difference from its four neighbours",
    .description = "v + amount (4 v - above - below - left - right), rounded and clamped for integers. Alpha is kept.",
    .kind = IMGPIPE_LOCAL,
    .options_size = sizeof(struct options),
    .params = params,
    .param_count = 1,
    .setup = setup,
    .need = need,
};

static const imgpipe_filter *const filters[] = {&crisp, NULL};
const imgpipe_plugin_info imgpipe_plugin = {sizeof(imgpipe_plugin_info), IMGPIPE_ABI, "crisp", "1.0", filters};
