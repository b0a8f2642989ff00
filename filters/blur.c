/* blur: Gaussian with normalised weights. kernels/blur.h says how the sums run. */
#include "blur.h"
#include "filter.h"
#include <math.h>

struct blur_options {
    double sigma, sigma_x, sigma_y;
    int border;
    imgpipe_sample value;
};

static const imgpipe_param params[] = {
    {"sigma", offsetof(struct blur_options, sigma), IMGPIPE_PARAM_NUMBER, "2", 0, 1000, NULL, "standard deviation in pixels"},
    {"sigma_x", offsetof(struct blur_options, sigma_x), IMGPIPE_PARAM_NUMBER, NULL, 0, 1000, NULL,
     "along the rows, instead of sigma; 0: not at all"},
    {"sigma_y", offsetof(struct blur_options, sigma_y), IMGPIPE_PARAM_NUMBER, NULL, 0, 1000, NULL,
     "along the columns, instead of sigma; 0: not at all"},
    FILTER_BORDER_PARAMS(struct blur_options),
};

/* exp(-t) for t >= 0 by + - * / alone, so that no libm decides over a pixel: the whole part of t by binary powers of 1 / e,
 * the fraction by the Taylor series, whose terms are below 2^-53 after 1 / 20!. The powers lose half a unit in the last
 * place at each squaring and so double the error: the relative error stays below 1e-12 down to the smallest normal number. */
static double exp_minus(double t) {
    if (!(t < 708.0)) return 0.0;
    int whole = (int)t;
    double fraction = t - whole, result = 1.0;
    for (int k = 20; k >= 1; k--) result = 1.0 - fraction * result / k;
    for (double power = 0.36787944117144232; whole > 0; whole >>= 1) {
        if (whole & 1) result *= power;
        power *= power;
    }
    return result;
}

static int blur_radius(double sigma, imgpipe_type type) {
    double reach = (type == IMGPIPE_U8 ? 3.0 : 4.0) * sigma;
    int radius = (int)reach;
    return radius < reach ? radius + 1 : radius;
}

/* 2 radius + 1 weights; sigma 0 has the one weight 1. */
static void blur_weights(double sigma, int radius, float *weights) {
    if (radius == 0) {
        weights[0] = 1.0f;
        return;
    }
    double sum = 0.0;
    for (int i = radius; i >= 0; i--) {
        double distance = i / sigma, w = exp_minus(distance * distance / 2.0);
        sum += i > 0 ? 2.0 * w : w;
    }
    for (int i = 0; i <= radius; i++) {
        double distance = i / sigma;
        weights[radius - i] = weights[radius + i] = (float)(exp_minus(distance * distance / 2.0) / sum);
    }
}

/* The sum over rows where all of them hold x, in the order of blur.h. */
static float blur_constant(float x, const float *weights, int taps) {
    float total = 0.0f;
    for (int at = 0; at < taps; at += BLUR_GROUP) {
        float acc = weights[at] * x;
        for (int k = at + 1; k < taps && k < at + BLUR_GROUP; k++) acc = fmaf(weights[k], x, acc);
        total = at == 0 ? acc : total + acc;
    }
    return total;
}

/* The weights of the first definition in blur.h. Each is rounded together with what rounding the ones further out left over,
 * so that the sum over any number of outer taps stays right. Returns the sum of the errors of one sign, the greater one. */
static double fixed_weights(double sigma, int radius, uint16_t *weights) {
    double exact[BLUR_FIXED_RADIUS + 1], sum = 0.0, left = 0.0, above = 0.0, below = 0.0;
    int32_t rest = 65536;
    for (int k = radius; k >= 0; k--) {
        double distance = radius ? k / sigma : 0.0;
        exact[k] = exp_minus(distance * distance / 2.0);
        sum += k > 0 ? 2.0 * exact[k] : exact[k];
    }
    for (int k = radius; k >= 0; k--) {
        double w = exact[k] / sum * 65536.0;
        int32_t whole = (int32_t)(w + left + 0.5);
        if (k == 0) whole = rest < 65535 ? rest : 65535;
        left += w - whole;
        rest -= 2 * whole;
        weights[k] = (uint16_t)whole;
        double error = (k > 0 ? 2.0 : 1.0) * (whole - w) / 65536.0;
        if (error > 0.0) above += error;
        if (error < 0.0) below -= error;
    }
    return above > below ? above : below;
}

/* Whether the first definition keeps its bound; see blur.h. */
static bool blur_fixed_holds(const imgpipe_stage *stage, struct blur_plan *plan, double sigma_x, double sigma_y) {
    if (stage->in.format.type != IMGPIPE_U8 || stage->in.format.alpha) return false;
    if (plan->rx > BLUR_FIXED_RADIUS || plan->ry > BLUR_FIXED_RADIUS) return false;
    double error = fixed_weights(sigma_y, plan->ry, plan->fixed_y) + fixed_weights(sigma_x, plan->rx, plan->fixed_x);
    uint32_t v = (uint32_t)stage->border_value << BLUR_FIXED_BITS, sum = blur_fixed_start(plan->ry);
    for (int k = 0; k <= plan->ry; k++) sum += blur_fixed_product(plan->fixed_y[k], k ? 2 * v : v);
    plan->fixed_outside = (uint16_t)sum;
    return (plan->rx + plan->ry + 4) / 256.0 + 255.0 * error < 0.49;
}

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct blur_options *options = stage->options;
    double sigma_x = isnan(options->sigma_x) ? options->sigma : options->sigma_x;
    double sigma_y = isnan(options->sigma_y) ? options->sigma : options->sigma_y;
    filter_set_border(stage, options->border, options->value);
    struct blur_plan *plan = imgpipe_stage_alloc(stage, sizeof(*plan), error);
    if (!plan) return IMGPIPE_ERROR_MEMORY;
    stage->data = plan;
    stage->identity = sigma_x == 0.0 && sigma_y == 0.0;
    plan->rx = blur_radius(sigma_x, stage->in.format.type);
    plan->ry = blur_radius(sigma_y, stage->in.format.type);
    int taps_x = 2 * plan->rx + 1, taps_y = 2 * plan->ry + 1;
    float *weights = imgpipe_stage_alloc(stage, (size_t)(taps_x + taps_y) * sizeof(float), error);
    if (!weights) return IMGPIPE_ERROR_MEMORY;
    blur_weights(sigma_y, plan->ry, weights);
    blur_weights(sigma_x, plan->rx, weights + taps_y);
    plan->wy = weights;
    plan->wx = weights + taps_y;
    float value = (float)stage->border_value;
    plan->outside[0] = blur_constant(stage->in.format.alpha ? value * value : value, plan->wy, taps_y);
    plan->outside[1] = blur_constant(value, plan->wy, taps_y);

    plan->fixed = blur_fixed_holds(stage, plan, sigma_x, sigma_y);

    /* The sums over rows are made of the columns beside the image, too. */
    const double taps = taps_x + taps_y * (1 + 2.0 * plan->rx / (double)stage->in.width);
    stage->cost = plan->fixed ? 0.05 + 0.017 * taps : 0.2 + 0.05 * taps;
    stage->step = BLUR_ROWS;
    stage->rows = KERNEL_PICK(blur, stage->isa)->rows;
    stage->columns = blur_is_small(plan, stage->in.format); /* others have long blocks, and compute for longer than copies take */
    stage->scratch_size = (size_t)(plan->fixed && blur_is_small(plan, stage->in.format) ? BLUR_SMALL_SCRATCH
                                   : plan->fixed ? blur_fixed_layout(plan, stage->in.format.channels, stage->in.width).total
                                                 : blur_layout(plan, stage->in.format.channels, stage->in.width).total);
    stage->cuda = FILTER_CUDA(blur_cuda);
    stage->constants = weights;
    stage->constants_size = (size_t)(taps_x + taps_y) * sizeof(float);
    if (plan->rx > BLUR_FUSED_RADIUS || plan->ry > BLUR_FUSED_RADIUS)
        stage->device_scratch = (size_t)stage->in.width * (size_t)stage->in.format.channels * sizeof(float);
    return IMGPIPE_OK;
}

static imgpipe_rect need(const imgpipe_stage *stage, imgpipe_rect out) {
    const struct blur_plan *plan = stage->data;
    return imgpipe_grow(out, plan->rx, plan->ry);
}

const imgpipe_filter filter_blur = {
    FILTER_HEAD,
    .name = "blur",
    .summary = "Gaussian blur",
    .description =
        "Weights exp(-d^2 / (2 sigma^2)) out to ceil(3 sigma) pixels (8 bit) or ceil(4 sigma) (16 bit, float), normalised.\n"
        "Colour is weighed by alpha, so that the colour of transparent pixels does not show.",
    .kind = IMGPIPE_LOCAL,
    FILTER_PARAMS(struct blur_options, params),
    .setup = setup,
    .need = need,
};
