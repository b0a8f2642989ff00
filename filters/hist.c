/* hist: the histogram as a picture, and as numbers. Integers are counted by value and the counts folded into bins at the
 * end; float32 needs its range first, so the image passes twice unless both ends are given. */
#include "filter.h"
#include "hist.h"
#include "hist_data.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { SCALE_LINEAR, SCALE_LOG };

struct hist_options {
    int64_t width, height;
    int scale;
    int64_t bins;
    imgpipe_sample min, max;
    const char *data;
    bool pass;
};

static const char *const scale_names[] = {"linear", "log", NULL};

static const imgpipe_param params[] = {
    {"width", offsetof(struct hist_options, width), IMGPIPE_PARAM_INT, "640", 64, 16384, NULL, "width of the picture in pixels"},
    {"height", offsetof(struct hist_options, height), IMGPIPE_PARAM_INT, "400", 64, 16384, NULL, "height of the picture in pixels"},
    {"scale", offsetof(struct hist_options, scale), IMGPIPE_PARAM_CHOICE, "linear", 0, 0, scale_names,
     "how counts are drawn: linear, log"},
    {"bins", offsetof(struct hist_options, bins), IMGPIPE_PARAM_INT, NULL, 1, HIST_BINS_MAX, NULL,
     "number of bins; by default one for each value, 256 for float"},
    {"min", offsetof(struct hist_options, min), IMGPIPE_PARAM_SAMPLE, NULL, -3e38, 3e38, NULL,
     "least sample counted in a bin; by default 0, for float the least of the image"},
    {"max", offsetof(struct hist_options, max), IMGPIPE_PARAM_SAMPLE, NULL, -3e38, 3e38, NULL,
     "greatest sample counted in a bin; by default the full range, for float the greatest of the image"},
    {"data", offsetof(struct hist_options, data), IMGPIPE_PARAM_TEXT, NULL, 0, 0, NULL,
     "file for the counts: name.csv, name.json, or - for CSV on standard output; from the current folder on, not from OUT. For many "
     "images with fields of --name ({relpath}.csv)"},
    {"pass", offsetof(struct hist_options, pass), IMGPIPE_PARAM_BOOL, "no", 0, 0, NULL,
     "let the image through unchanged instead of drawing the picture"},
};

/* ------------------------------------------------------------------------------------------------ setup */

static bool ends_with(const char *name, const char *extension) {
    size_t n = strlen(name), m = strlen(extension);
    return n > m && !strcasecmp(name + n - m, extension);
}

static const char *channel_name(imgpipe_format format, int c) {
    static const char *const colours[] = {"red", "green", "blue", "extra"}, *const grays[] = {"gray", "extra"};
    if (format.alpha && c == format.channels - 1) return "alpha";
    int others = format.channels - (format.alpha ? 1 : 0);
    return others >= 3 ? colours[c] : grays[c];
}

/* Both ends in sample units; NaN where the image decides. */
static imgpipe_status set_range(imgpipe_stage *stage, struct hist_data *data, imgpipe_error *error) {
    const struct hist_options *o = stage->options;
    imgpipe_type type = stage->in.format.type;
    data->min = imgpipe_sample_units(o->min, type);
    data->max = imgpipe_sample_units(o->max, type);
    data->min_given = !isnan(data->min);
    data->max_given = !isnan(data->max);
    if (type == IMGPIPE_F32) {
        data->min = (float)data->min + 0.0f; /* no negative zero */
        data->max = (float)data->max + 0.0f;
    } else {
        data->min = data->min_given ? floor(data->min + 0.5) : 0;
        data->max = data->max_given ? floor(data->max + 0.5) : imgpipe_type_max(type);
        if (fabs(data->min) > 1e6)
            return imgpipe_stage_fail(stage, error, "min", 0, 0, "is beyond a million; write a smaller one");
        if (fabs(data->max) > 1e6)
            return imgpipe_stage_fail(stage, error, "max", 0, 0, "is beyond a million; write a smaller one");
    }
    if (data->min > data->max)
        return imgpipe_stage_fail(stage, error, data->max_given ? "max" : "min", 0, 0,
                                  "the range from %.9g to %.9g is empty; let min be the smaller", data->min, data->max);
    return IMGPIPE_OK;
}

static void set_job(imgpipe_stage *stage, struct hist_data *data) {
    imgpipe_type type = stage->in.format.type;
    data->job.channels = stage->in.format.channels;
    data->job.bins = type == IMGPIPE_U8 ? 256 : type == IMGPIPE_U16 ? 65536 : (int32_t)data->bins;
    data->job.low = (float)data->min;
    data->job.high = (float)data->max;
    data->job.span = data->max > data->min ? data->max - data->min : 1.0;
}

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct hist_options *o = stage->options;
    imgpipe_format format = stage->in.format;
    if (o->data && strcmp(o->data, "-") && !ends_with(o->data, ".csv") && !ends_with(o->data, ".json"))
        return imgpipe_stage_fail(
            stage, error, "data", 0, 0,
            "cannot tell the format of '%s'; let the name end in .csv or .json, or write - for standard output", o->data);
    struct hist_data *data = imgpipe_stage_alloc(stage, sizeof *data, error);
    if (!data) return IMGPIPE_ERROR_MEMORY;
    imgpipe_status status = set_range(stage, data, error);
    if (status != IMGPIPE_OK) return status;
    data->image = stage->in;
    data->pixels = (uint64_t)stage->in.width * (uint64_t)stage->in.height;
    for (int c = 0; c < format.channels; c++) data->names[c] = channel_name(format, c);
    data->bins = o->bins;
    if (o->bins == INT64_MIN && format.type == IMGPIPE_F32) data->bins = 256;
    if (o->bins == INT64_MIN && format.type != IMGPIPE_F32) data->bins = (int64_t)fmin(data->max - data->min + 1, HIST_BINS_MAX);
    data->counts = imgpipe_stage_alloc(stage, (size_t)format.channels * (size_t)data->bins * sizeof *data->counts, error);
    if (!data->counts) return IMGPIPE_ERROR_MEMORY;
    set_job(stage, data);
    stage->data = data;
    stage->walks = format.type == IMGPIPE_F32 && !(data->min_given && data->max_given) ? 2 : 1;
    stage->gather = KERNEL_PICK(hist, stage->isa)->count[format.type];
    stage->gather_size = hist_state_size(&data->job);
    stage->scratch_size = hist_scratch_size(&data->job, format.type);
    stage->cuda = FILTER_CUDA(hist_cuda);
    stage->side_data = o->data;
    stage->renders = !o->pass;
    if (!o->pass) stage->out = (imgpipe_info){o->width, o->height, {IMGPIPE_U8, 3, false}};
    return IMGPIPE_OK;
}

/* ----------------------------------------------------------------------------------------------- counts */

static void merge(const imgpipe_stage *stage, void *into, const void *from) {
    const struct hist_job *job = &((const struct hist_data *)stage->data)->job;
    int64_t slots = job->channels * hist_slots(job);
    uint64_t *to = into;
    const uint64_t *add = from;
    for (int64_t i = 0; i < slots; i++) to[i] += add[i];
    uint32_t *keys = (uint32_t *)(to + slots);
    const uint32_t *others = (const uint32_t *)(add + slots);
    for (int i = 0; i < 2; i++) keys[i] = others[i] > keys[i] ? others[i] : keys[i];
}

static void take_range(struct hist_data *data, const uint32_t *keys) {
    float least = keys[0] ? hist_key_value(~keys[0]) + 0.0f : 0.0f; /* the sum makes a negative zero positive */
    float greatest = keys[1] ? hist_key_value(keys[1]) + 0.0f : 1.0f;
    if (!data->min_given) data->min = data->max_given && least > data->max ? data->max : least;
    if (!data->max_given) data->max = greatest < data->min ? data->min : greatest;
}

/* Folds counters by value into bins, and takes the moments of all values on the way. */
static void take_integers(struct hist_data *data, int c, const uint64_t *state) {
    uint64_t *counts = data->counts + c * data->bins;
    int64_t min = (int64_t)data->min, max = (int64_t)data->max;
    struct hist_moments *moments = &data->moments[c];
    double sum = 0;
    bool any = false;
    for (int64_t v = 0; v < data->job.bins; v++) {
        uint64_t count = state[v];
        if (!count) continue;
        if (v < min)
            data->below[c] += count;
        else if (v > max)
            data->above[c] += count;
        else
            counts[(v - min) * data->bins / (max + 1 - min)] += count;
        sum += (double)count * (double)v;
        if (!any) moments->least = (double)v;
        moments->greatest = (double)v;
        any = true;
    }
    moments->mean = sum / (double)data->pixels;
}

static imgpipe_status finish(imgpipe_stage *stage, const void *state, imgpipe_error *error) {
    (void)error;
    struct hist_data *data = stage->data;
    int64_t slots = hist_slots(&data->job);
    const uint64_t *counts = state;
    if (hist_finds_range(stage)) {
        take_range(data, (const uint32_t *)(counts + data->job.channels * slots));
        set_job(stage, data);
        return IMGPIPE_OK;
    }
    memset(data->counts, 0, (size_t)data->job.channels * (size_t)data->bins * sizeof *data->counts);
    for (int c = 0; c < data->job.channels; c++) {
        const uint64_t *from = counts + c * slots;
        data->below[c] = from[data->job.bins];
        data->above[c] = from[data->job.bins + 1];
        data->nan[c] = from[data->job.bins + 2];
        if (stage->in.format.type == IMGPIPE_F32)
            memcpy(data->counts + c * data->bins, from, (size_t)data->bins * sizeof *from);
        else
            take_integers(data, c, from);
    }
    return IMGPIPE_OK;
}

static void side_data(const imgpipe_stage *stage, hist_write *write, void *to) {
    if (ends_with(stage->side_data, ".json"))
        hist_write_json(stage->data, write, to);
    else
        hist_write_csv(stage->data, write, to);
}

static imgpipe_status render(const imgpipe_stage *stage, const imgpipe_image *in, const imgpipe_image *out, imgpipe_error *error) {
    (void)in;
    const struct hist_options *o = stage->options;
    return hist_draw(stage->data, o->scale == SCALE_LOG, out, error);
}

const imgpipe_filter filter_hist = {
    FILTER_HEAD,
    .name = "hist",
    .summary = "picture of the histogram, and its counts as CSV or JSON",
    .description =
        "Counts are exact: a bin for each value of an integer image, 256 bins over the finite minimum to maximum of a "
        "float one. Alpha is counted as a channel. What lies outside min and max is counted as below, above and nan.\n"
        "\n"
        "The picture is 8-bit RGB with a curve for each channel. With `pass` the image goes on unchanged, and data=FILE "
        "is the only result.",
    .kind = IMGPIPE_GATHER,
    FILTER_PARAMS(struct hist_options, params),
    .setup = setup,
    .merge = merge,
    .finish = finish,
    .side_data = side_data,
    .render = render,
};
