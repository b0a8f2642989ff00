/* A plug-in with one local stage: dilate, the maximum of a square window, each channel by itself, with a border as the user wants it.
 *
 *     cc -shared -fPIC -O3 -ffp-contract=off $(pkg-config --cflags imgpipe) dilate.c -o dilate.so
 *     imgpipe --plugin ./dilate.so in.png -f dilate=7 out.png
 *     imgpipe --plugin ./dilate.so --check-filter dilate */
#include <imgpipe.h>

struct options {
    int64_t size;
    int border;
    imgpipe_sample value;
};

static const char *const borders[] = {"clamp", "reflect", "mirror", "wrap", "constant", NULL}; /* as imgpipe_border has them */

static const imgpipe_param params[] = {
    {"size", offsetof(struct options, size), IMGPIPE_PARAM_ODD, "3", 1, 255, NULL, "width and height of the window, odd"},
    {"border", offsetof(struct options, border), IMGPIPE_PARAM_CHOICE, "clamp", 0, 0, borders, "what lies beyond the edge"},
    {"value", offsetof(struct options, value), IMGPIPE_PARAM_SAMPLE, "0", -1e30, 1e30, NULL,
     "the sample there, for border=constant"},
};

/* Loops know no border and no channels: a row is `n` samples, the next one of the same channel is `step` samples on, and what lies
 * left and right of the row is filled in. The maximum of each column comes first, into scratch, then that of each row of those. A
 * comparison with NaN is false, so NaN counts for nothing, unless it is all there is: then it is stored in the one form that is the
 * same on all processors. */
#define DILATE(name, type, greater, store)                                                                                         \
    static void name(const imgpipe_stage *stage, const imgpipe_rows *rows) {                                                       \
        int64_t step = stage->in.format.channels, n = rows->out_width * step;                                                      \
        int radius = *(const int *)stage->data, window = 2 * radius + 1;                                                           \
        type *columns = (type *)rows->scratch + radius * step;                                                                     \
        for (int i = 0; i < rows->count; i++) {                                                                                    \
            for (int64_t x = -radius * step; x < n + radius * step; x++) columns[x] = ((const type *)rows->in[i])[x];              \
            for (int k = 1; k < window; k++) {                                                                                     \
                const type *in = rows->in[i + k];                                                                                  \
                for (int64_t x = -radius * step; x < n + radius * step; x++) columns[x] = greater(in[x], columns[x]);              \
            }                                                                                                                      \
            type *out = rows->out[i];                                                                                              \
            for (int64_t x = 0; x < n; x++) out[x] = columns[x - radius * step];                                                   \
            for (int k = 1; k < window; k++)                                                                                       \
                for (int64_t x = 0; x < n; x++) out[x] = greater(columns[x + (k - radius) * step], out[x]);                        \
            for (int64_t x = 0; x < n; x++) out[x] = store(out[x]);                                                                \
        }                                                                                                                          \
    }

#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define AS_IT_IS(v) (v)

static float greater_f32(float a, float b) {
    return a > b || b != b ? a : b;
}
static float store_f32(float v) {
    static const union {
        uint32_t bits;
        float value;
    } nan = {0x7fc00000u};
    return v != v ? nan.value : v + 0.0f; /* -0 and 0 are equal, so which is found depends on the order; 0 is stored for both */
}

DILATE(dilate_u8, uint8_t, GREATER, AS_IT_IS)
DILATE(dilate_u16, uint16_t, GREATER, AS_IT_IS)
DILATE(dilate_f32, float, greater_f32, store_f32)

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    static const imgpipe_rows_function functions[] = {dilate_u8, dilate_u16, dilate_f32};
    const struct options *options = stage->options;
    double units = imgpipe_sample_units(options->value, stage->in.format.type), max = imgpipe_type_max(stage->in.format.type);
    int *radius = imgpipe_stage_alloc(stage, sizeof *radius, error);
    if (!radius) return IMGPIPE_ERROR_MEMORY;
    *radius = (int)(options->size / 2);
    if (stage->in.format.type != IMGPIPE_F32) {
        units = units < 0 ? 0 : units > max ? max : units;
        units = (double)(int64_t)(units + 0.5);
    }
    stage->data = radius;
    stage->border = (imgpipe_border)options->border;
    stage->border_value = units;
    stage->identity = *radius == 0;
    stage->rows = functions[stage->in.format.type];
    stage->scratch_size = (size_t)(stage->in.width + 2 * *radius) * imgpipe_pixel_size(stage->in.format);
    stage->cost = 0.1 * (double)options->size;
    return IMGPIPE_OK;
}

/* All that rows() may read. */
static imgpipe_rect need(const imgpipe_stage *stage, imgpipe_rect out) {
    int radius = *(const int *)stage->data;
    return imgpipe_grow(out, radius, radius);
}

static const imgpipe_filter dilate = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "dilate",
    .summary = "maximum of a square window",
    .description = "Each channel by itself, alpha like any other. NaN counts for nothing, unless the window holds nothing else.",
    .kind = IMGPIPE_LOCAL,
    .options_size = sizeof(struct options),
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .setup = setup,
    .need = need,
};

static const imgpipe_filter *const filters[] = {&dilate, NULL};
const imgpipe_plugin_info imgpipe_plugin = {sizeof(imgpipe_plugin_info), IMGPIPE_ABI, "dilate", "1.0", filters};
