/* A plug-in with two stages: exposure, a point stage, which makes an image brighter or darker by f-stops, and extremes, a gather,
 * which finds the least and the greatest sample of each channel and writes them into a file.
 *
 *     cc -shared -fPIC -O3 -ffp-contract=off $(pkg-config --cflags imgpipe) exposure.c -o exposure.so
 *     imgpipe --plugin ./exposure.so in.png -f exposure=-0.5,extremes=out.json out.png */
#include <imgpipe.h>
#include <stdio.h>
#include <string.h>

/* ---- exposure: an operation that the engine knows. It runs wherever the engine does, fused with its neighbours. */

struct exposure_options {
    double stops;
};

static const imgpipe_param exposure_params[] = {
    {"stops", offsetof(struct exposure_options, stops), IMGPIPE_PARAM_NUMBER, "1", -16, 16, NULL,
     "by how many f-stops; each doubles"},
};

/* 2^stops with nothing but + - * /, which give the same bits on every processor; functions of libm need not. */
static double power_of_two(double stops) {
    double whole = (double)(int64_t)stops, rest = (stops - whole) * 0.69314718055994530942, sum = 1, term = 1;
    for (int i = 1; i < 24; i++) sum += term *= rest / i;
    for (; whole > 0; whole--) sum *= 2;
    for (; whole < 0; whole++) sum /= 2;
    return sum;
}

static imgpipe_status exposure_setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct exposure_options *options = stage->options;
    imgpipe_point_op op = {.code = IMGPIPE_POINT_AFFINE, .mul = power_of_two(options->stops), .div = 1};
    return imgpipe_stage_point(stage, &op, error);
}

static const imgpipe_filter exposure = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "exposure",
    .summary = "make the image brighter or darker by f-stops",
    .description = "Samples are multiplied by 2 to the power of stops; integers are clamped to their range. Alpha is kept.",
    .kind = IMGPIPE_POINT,
    .options_size = sizeof(struct exposure_options),
    .params = exposure_params,
    .param_count = 1,
    .setup = exposure_setup,
};

/* ---- extremes */

struct extremes_options {
    const char *data;
};

static const imgpipe_param extremes_params[] = {
    {"data", offsetof(struct extremes_options, data), IMGPIPE_PARAM_TEXT, NULL, 0, 0, NULL,
     "the file that gets them, as JSON; - is standard output"},
};

/* Each thread has a state of its own, zero at first; they are merged in any order. Zero must hence mean 'nothing yet'. */
struct extremes_state {
    uint64_t seen[4];
    double least[4], greatest[4];
};

static void take(struct extremes_state *state, int c, double v) {
    v += 0.0; /* -0 becomes 0: which of them comes first must not matter */
    if (v != v) return;
    if (!state->seen[c] || v < state->least[c]) state->least[c] = v;
    if (!state->seen[c] || v > state->greatest[c]) state->greatest[c] = v;
    state->seen[c] = 1;
}

static double sample(const void *row, imgpipe_type type, int64_t i) {
    return type == IMGPIPE_U8    ? ((const uint8_t *)row)[i]
           : type == IMGPIPE_U16 ? ((const uint16_t *)row)[i]
                                 : ((const float *)row)[i];
}

static void extremes_gather(const imgpipe_stage *stage, const imgpipe_rows *rows, void *state) {
    int channels = stage->in.format.channels;
    for (int i = 0; i < rows->count; i++)
        for (int64_t x = 0; x < rows->in_width * channels; x++)
            take(state, (int)(x % channels), sample(rows->in[i], stage->in.format.type, x));
}

static void extremes_merge(const imgpipe_stage *stage, void *into, const void *from) {
    const struct extremes_state *other = from;
    for (int c = 0; c < stage->in.format.channels; c++) {
        if (!other->seen[c]) continue;
        take(into, c, other->least[c]);
        take(into, c, other->greatest[c]);
    }
}

static imgpipe_status extremes_setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct extremes_options *options = stage->options;
    stage->data = imgpipe_stage_alloc(stage, sizeof(struct extremes_state), error);
    if (!stage->data) return IMGPIPE_ERROR_MEMORY;
    stage->gather = extremes_gather;
    stage->gather_size = sizeof(struct extremes_state);
    stage->side_data = options->data;
    return IMGPIPE_OK;
}

static imgpipe_status extremes_finish(imgpipe_stage *stage, const void *state, imgpipe_error *error) {
    (void)error;
    memcpy(stage->data, state, sizeof(struct extremes_state));
    return IMGPIPE_OK;
}

/* With a dot, whatever the locale of the program. */
static const char *number(double v, char text[32]) {
    snprintf(text, 32, "%.9g", v);
    for (char *p = text; *p; p++)
        if (*p == ',') *p = '.';
    return text;
}

static void extremes_write(const imgpipe_stage *stage, bool (*write)(void *to, const char *text, size_t length), void *to) {
    const struct extremes_state *found = stage->data;
    char line[80], least[32], greatest[32];
    bool more = write(to, "[", 1);
    for (int c = 0; more && c < stage->in.format.channels; c++) {
        if (found->seen[c])
            snprintf(line, sizeof line, "%s[%s,%s]", c ? "," : "", number(found->least[c], least),
                     number(found->greatest[c], greatest));
        else
            snprintf(line, sizeof line, "%snull", c ? "," : "");
        more = write(to, line, strlen(line));
    }
    if (more) write(to, "]\n", 2);
}

static const imgpipe_filter extremes = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "extremes",
    .summary = "write the least and the greatest sample of each channel",
    .description = "The image goes on unchanged. A pair for each channel, alpha too; null where all samples are NaN.",
    .kind = IMGPIPE_GATHER,
    .options_size = sizeof(struct extremes_options),
    .params = extremes_params,
    .param_count = 1,
    .setup = extremes_setup,
    .merge = extremes_merge,
    .finish = extremes_finish,
    .side_data = extremes_write,
};

static const imgpipe_filter *const filters[] = {&exposure, &extremes, NULL};
const imgpipe_plugin_info imgpipe_plugin = {sizeof(imgpipe_plugin_info), IMGPIPE_ABI, "exposure", "1.0", filters};
