/* Stages that change the size, which no filter of the build does: halve, a local one, and transpose, which needs the whole
 * image. */
#include <imgpipe.h>
#include <string.h>

static void halve_rows(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    int64_t pixel = (int64_t)imgpipe_pixel_size(stage->in.format);
    for (int i = 0; i < rows->count; i++) {
        const char *in = rows->in[2 * i + 1];
        char *out = rows->out[i];
        for (int64_t x = 0; x < rows->out_width; x++) memcpy(out + x * pixel, in + (2 * x + 1) * pixel, (size_t)pixel);
    }
}

static imgpipe_status halve_setup(imgpipe_stage *stage, imgpipe_error *error) {
    (void)error;
    stage->out.width = (stage->in.width + 1) / 2;
    stage->out.height = (stage->in.height + 1) / 2;
    stage->rows = halve_rows;
    return IMGPIPE_OK;
}

static imgpipe_rect halve_need(const imgpipe_stage *stage, imgpipe_rect out) {
    (void)stage;
    return (imgpipe_rect){2 * out.x0, 2 * out.y0, 2 * out.x1, 2 * out.y1};
}

static const imgpipe_filter halve = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "halve",
    .summary = "every second pixel of every second row",
    .kind = IMGPIPE_LOCAL,
    .setup = halve_setup,
    .need = halve_need,
};

static imgpipe_status transpose_setup(imgpipe_stage *stage, imgpipe_error *error) {
    (void)error;
    stage->out.width = stage->in.height;
    stage->out.height = stage->in.width;
    return IMGPIPE_OK;
}

static imgpipe_status transpose_render(const imgpipe_stage *stage, const imgpipe_image *in, const imgpipe_image *out,
                                       imgpipe_error *error) {
    int64_t pixel = (int64_t)imgpipe_pixel_size(stage->in.format);
    (void)error;
    for (int64_t y = 0; y < out->info.height; y++)
        for (int64_t x = 0; x < out->info.width; x++)
            memcpy((char *)out->pixels + y * out->stride + x * pixel, (const char *)in->pixels + x * in->stride + y * pixel,
                   (size_t)pixel);
    return IMGPIPE_OK;
}

static const imgpipe_filter transpose = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "transpose",
    .summary = "rows become columns",
    .kind = IMGPIPE_WHOLE,
    .setup = transpose_setup,
    .render = transpose_render,
};

static const imgpipe_filter *const filters[] = {&halve, &transpose, NULL};
const imgpipe_plugin_info imgpipe_plugin = {sizeof(imgpipe_plugin_info), IMGPIPE_ABI, "shapes", "1.0", filters};
