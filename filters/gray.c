/* gray: three colours become one. The weights are whole 65536ths at every depth, so that a picture looks the same in each. */
#include "filter.h"

#include <math.h>
#include <string.h>

#include "param.h"

#define WEIGHT_LIMIT 1000

struct gray_options {
    const char *weights;
};

static const imgpipe_param gray_params[] = {
    {"weights", offsetof(struct gray_options, weights), IMGPIPE_PARAM_TEXT, "601", 0, 0, NULL,
     "601, 709, average, or the weights of red, green and blue: '0.3 0.6 0.1'"},
};

static const struct {
    const char *name;
    int64_t weights[3], round, divisor;
} gray_known[] = {
    {"601", {19595, 38470, 7471}, 32768, 65536},
    {"709", {13933, 46871, 4732}, 32768, 65536},
    {"average", {2, 2, 2}, 3, 6},
};

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == ',' || c == '\n';
}

static imgpipe_status parse_weights(const imgpipe_stage *stage, const char *text, int64_t weights[3], imgpipe_error *error) {
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        while (is_space(*at)) at++;
        const char *end = at;
        double value;
        if (!param_number(at, &end, &value) || (*end && !is_space(*end))) {
            int length = 0;
            while (at[length] && !is_space(at[length])) length++;
            if (!length)
                return imgpipe_stage_fail(stage, error, "weights", 0, 0,
                                          "weights: %d of 3 numbers; write one each for red, green and blue: gray='0.3 0.6 0.1'",
                                          i);
            return imgpipe_stage_fail(stage, error, "weights", (int)(at - text), length,
                                      "weights: '%.*s' is no weight; write 601, 709, average, or three numbers: gray='0.3 0.6 0.1'",
                                      length, at);
        }
        if (!(fabs(value) <= WEIGHT_LIMIT))
            return imgpipe_stage_fail(stage, error, "weights", (int)(at - text), (int)(end - at),
                                      "weights: %g is out of range; weights go from -%d to %d", value, WEIGHT_LIMIT, WEIGHT_LIMIT);
        weights[i] = (int64_t)floor(value * 65536 + 0.5);
        at = end;
    }
    while (is_space(*at)) at++;
    if (*at)
        return imgpipe_stage_fail(stage, error, "weights", (int)(at - text), (int)strlen(at),
                                  "weights: '%s' is too much; write three numbers, for red, green and blue", at);
    return IMGPIPE_OK;
}

static imgpipe_status gray_setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct gray_options *options = stage->options;
    imgpipe_point_op op = {.code = IMGPIPE_POINT_MIX, .round = 32768, .divisor = 65536};
    bool known = false;
    for (size_t i = 0; i < sizeof gray_known / sizeof gray_known[0]; i++)
        if (strcmp(options->weights, gray_known[i].name) == 0) {
            memcpy(op.weights, gray_known[i].weights, sizeof op.weights);
            op.round = gray_known[i].round;
            op.divisor = gray_known[i].divisor;
            known = true;
        }
    if (!known) {
        imgpipe_status status = parse_weights(stage, options->weights, op.weights, error);
        if (status != IMGPIPE_OK) return status;
    }
    for (int i = 0; i < 3; i++) op.float_weights[i] = (float)((double)op.weights[i] / (double)op.divisor);
    imgpipe_format in = stage->in.format;
    int colors = in.channels - (in.alpha ? 1 : 0);
    if (colors < 3) {
        if (colors == 2) imgpipe_stage_notice(stage, "an image of 2 channels has no red, green and blue; it is left as it is");
        stage->identity = true;
        return IMGPIPE_OK;
    }
    if (colors == 4) imgpipe_stage_notice(stage, "the fourth channel is not alpha and is dropped; --alpha yes keeps it");
    return imgpipe_stage_point(stage, &op, error);
}

const imgpipe_filter filter_gray = {
    FILTER_HEAD,
    .name = "gray",
    .summary = "turn colours into gray",
    .description =
        "One channel out; alpha is kept, a fourth channel that is not alpha is dropped, and a gray image stays as it is. 601 "
        "weighs red, green and blue by 0.299, 0.587 and 0.114, 709 by 0.2126, 0.7152 and 0.0722, average by a third each. "
        "Weights of your own are taken as they are, rounded to 65536ths, and may be negative.",
    .kind = IMGPIPE_POINT,
    FILTER_PARAMS(struct gray_options, gray_params),
    .setup = gray_setup,
};
