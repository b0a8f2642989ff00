/* A plug-in with one filter: the greatest sample of a square window less
 * the least one, each channel by itself. */
#include <imgpipe.h>

struct options { /* a member for each parameter, of its type's C type */
    int64_t size;
    int border;
};

static const char *const borders[] = { /* in imgpipe_border's order */
    "clamp", "reflect", "mirror", "wrap", NULL};

/* Name, place, type, default, least, greatest, choices, help. */
static const imgpipe_param params[] = {
    {"size", offsetof(struct options, size), IMGPIPE_PARAM_ODD, "3",
     1, 31, NULL, "width and height of the window, odd"},
    {"border", offsetof(struct options, border), IMGPIPE_PARAM_CHOICE,
     "clamp", 0, 0, borders, "what lies beyond the edge"},
};

static int64_t radius_of(const imgpipe_stage *stage) {
    return ((const struct options *)stage->options)->size / 2;
}

/* For output row i the window's rows are in[i] ... in[i + 2 radius].
 * Each is a pointer to column 0, and what lies beyond the edges is
 * filled in, so that there is no border here. A row is width times
 * channels samples, and the next sample of the same channel is `step`
 * further on. */
#define SPREAD(name, type)                                              \
    static void name(const imgpipe_stage *stage,                        \
                     const imgpipe_rows *rows) {                        \
        int64_t radius = radius_of(stage);                              \
        int64_t step = stage->in.format.channels;                       \
        for (int i = 0; i < rows->count; i++) {                         \
            const type *const *in = (const type *const *)rows->in + i;  \
            type *out = rows->out[i];                                   \
            for (int64_t x = 0; x < rows->out_width * step; x++) {      \
                type low = in[0][x - radius * step], high = low;        \
                for (int64_t k = 0; k <= 2 * radius; k++)               \
                    for (int64_t d = -radius; d <= radius; d++) {       \
                        type v = in[k][x + d * step];                   \
                        if (v < low) low = v;                           \
                        if (v > high) high = v;                         \
                    }                                                   \
                out[x] = (type)(high - low);                            \
            }                                                           \
        }                                                               \
    }
SPREAD(spread_u8, uint8_t)
SPREAD(spread_u16, uint16_t)
SPREAD(spread_f32, float)

/* Looks at the options and at what arrives (stage->in), and fills the
 * stage. stage->out is preset to the same size and format. */
static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    static const imgpipe_rows_function functions[] = { /* imgpipe_type */
        spread_u8, spread_u16, spread_f32};
    const struct options *options = stage->options;
    (void)error; /* for imgpipe_stage_fail(), if values make no sense */
    stage->border = (imgpipe_border)options->border;
    stage->rows = functions[stage->in.format.type];
    return IMGPIPE_OK;
}

/* The halo: which part of the input a part of the output depends on. */
static imgpipe_rect need(const imgpipe_stage *stage, imgpipe_rect out) {
    return imgpipe_grow(out, radius_of(stage), radius_of(stage));
}

static const imgpipe_filter spread = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "spread",
    .summary = "greatest less least sample of a square window",
    .description = "Each channel by itself, alpha too.",
    .kind = IMGPIPE_LOCAL,
    .options_size = sizeof(struct options),
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .setup = setup,
    .need = need,
};

static const imgpipe_filter *const filters[] = {&spread, NULL};
const imgpipe_plugin_info imgpipe_plugin = {
    sizeof(imgpipe_plugin_info), IMGPIPE_ABI, "spread", "1.0", filters};
