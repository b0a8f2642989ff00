/* blur: normalised Gaussian weights, the product of a vertical and a horizontal sum, all in double. */
#include "prover.h"
#include "oracle.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double sigma_random(struct rng *r) {
    if (rng_chance(r, 5)) return 0;
    if (rng_chance(r, 2)) return prover_options.small ? 40 : 1000;
    if (rng_chance(r, 8)) return (double)rng_range(r, 9, 60);
    return (double)rng_range(r, 3, 80) / 10;
}

static void blur_make(struct oracle_case *c, struct rng *r) {
    int form = (int)rng_range(r, 0, 5);
    c->sigma_x = c->sigma_y = 2;
    chain_add(c, "blur=");
    if (form == 0) chain_add(c, "sigma=2");
    if (form == 1 || form == 2)
        c->sigma_x = c->sigma_y = sigma_random(r), chain_add(c, form == 1 ? "%.1f" : "sigma=%.1f", c->sigma_x);
    if (form == 3) c->sigma_x = sigma_random(r), chain_add(c, "sigma_x=%.1f", c->sigma_x);
    if (form == 4) c->sigma_y = sigma_random(r), chain_add(c, "2:sigma_y=%.1f", c->sigma_y);
    if (form == 5)
        c->sigma_x = sigma_random(r), c->sigma_y = sigma_random(r),
        chain_add(c, "sigma_x=%.1f:sigma_y=%.1f", c->sigma_x, c->sigma_y);
    border_make(c, r);
    if (c->sigma_x > 100 || c->sigma_y > 100) c->in.width = (c->in.width + 3) / 4, c->in.height = (c->in.height + 3) / 4;
}

static int64_t blur_radius(double sigma, imgpipe_type type) {
    return (int64_t)ceil((type == IMGPIPE_U8 ? 3 : 4) * sigma);
}

/* 2 radius + 1 weights that add up to 1. */
static double *blur_weights(double sigma, int64_t radius) {
    double *w = malloc((size_t)(2 * radius + 1) * sizeof *w), sum = 0;
    if (!w) exit(99);
    for (int64_t i = -radius; i <= radius; i++)
        sum += w[i + radius] = sigma > 0 ? exp(-0.5 * (double)(i * i) / (sigma * sigma)) : 1;
    for (int64_t i = 0; i <= 2 * radius; i++) w[i] /= sum;
    return w;
}

struct axis {
    int64_t n, radius;
    double *weights;
    int64_t *index; /* of the samples -radius ... n - 1 + radius */
};

static struct axis axis_new(double sigma, imgpipe_type type, int edge, int64_t n) {
    int64_t radius = blur_radius(sigma, type);
    struct axis axis = {n, radius, blur_weights(sigma, radius), malloc((size_t)(n + 2 * radius) * sizeof(int64_t))};
    if (!axis.index) exit(99);
    for (int64_t i = -radius; i < n + radius; i++) axis.index[i + radius] = edge_index(edge, i, n);
    return axis;
}

/* What is done with the samples of a window along one axis. */
typedef double (*line_function)(const struct axis *axis, const double *in, int64_t i, int64_t step, double value);

/* The sum of w times the sample at i + t. `step` leads from one sample of the axis to the next. The value beyond the edge stays
 * what it is in the second direction, as the weights add up to 1. */
static double weighted_sum(const struct axis *axis, const double *in, int64_t i, int64_t step, double value) {
    double sum = 0;
    for (int64_t t = 0; t <= 2 * axis->radius; t++) {
        int64_t at = axis->index[i + t];
        sum += axis->weights[t] * (at < 0 ? value : in[at * step]);
    }
    return sum;
}

/* The largest finite magnitude. */
static double largest_magnitude(const struct axis *axis, const double *in, int64_t i, int64_t step, double value) {
    double largest = 0;
    for (int64_t t = 0; t <= 2 * axis->radius; t++) {
        int64_t at = axis->index[i + t];
        double v = fabs(at < 0 ? value : in[at * step]);
        if (v > largest && isfinite(v)) largest = v;
    }
    return largest;
}

/* Down, then across. */
static void filter_plane(const struct oracle_case *c, double *plane, int64_t width, int64_t height, double value,
                         line_function function) {
    struct axis down = axis_new(c->sigma_y, c->in.format.type, c->border.edge, height);
    struct axis across = axis_new(c->sigma_x, c->in.format.type, c->border.edge, width);
    double *between = malloc((size_t)(width * height) * sizeof *between);
    if (!between) exit(99);
    for (int64_t i = 0; i < width * height; i++) between[i] = function(&down, plane + i % width, i / width, width, value);
    for (int64_t i = 0; i < width * height; i++) plane[i] = function(&across, between + i / width * width, i % width, 1, value);
    free(down.weights), free(down.index), free(across.weights), free(across.index), free(between);
}

/* A channel, or the product of it and alpha, through `function`. */
static double *plane_new(const struct oracle_case *c, const imgpipe_image *in, int ch, bool weighed, line_function function) {
    int64_t width = in->info.width, height = in->info.height;
    double *plane = malloc((size_t)(width * height) * sizeof *plane), value = c->border.value;
    if (!plane) exit(99);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            double v = sample_get(in, x, y, ch);
            if (weighed) v *= sample_get(in, x, y, in->info.format.channels - 1);
            plane[y * width + x] = v;
        }
    filter_plane(c, plane, width, height, weighed ? value * value : value, function);
    return plane;
}

static bool is_constant(const struct oracle_case *c, const imgpipe_image *in) {
    for (int ch = 0; ch < in->info.format.channels; ch++) {
        double first = sample_get(in, 0, 0, ch);
        if (c->border.edge == EDGE_CONSTANT && first != c->border.value) return false;
        for (int64_t y = 0; y < in->info.height; y++)
            for (int64_t x = 0; x < in->info.width; x++)
                if (sample_get(in, x, y, ch) != first) return false;
    }
    return true;
}

/* The blurred channels, and the largest magnitude in each window of f32. */
struct planes {
    double *blurred[4], *magnitude[4];
};

static double blur_tolerance(const struct oracle_case *c, const struct planes *planes, int ch, int64_t at) {
    imgpipe_type type = c->in.format.type;
    if (type != IMGPIPE_F32) return 1;
    int64_t rx = blur_radius(c->sigma_x, type), ry = blur_radius(c->sigma_y, type), taps = 2 * (rx > ry ? rx : ry) + 1;
    /* Below the least normal number every product may lose the same absolute amount. */
    return 2e-6 * planes->magnitude[ch][at] * fmax(1, (double)taps / 33) + 1e-42 * (double)taps;
}

static bool blur_pixel(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, const struct planes *planes,
                       int64_t x, int64_t y, int ch, char *why, size_t why_size) {
    imgpipe_format f = in->info.format;
    int64_t at = y * in->info.width + x;
    double want = planes->blurred[ch][at], found = sample_get(out, x, y, ch), tolerance = blur_tolerance(c, planes, ch, at);
    if (f.alpha && ch < f.channels - 1) {
        double alpha = planes->blurred[f.channels - 1][at], alpha_found = sample_get(out, x, y, f.channels - 1);
        if (!isfinite(alpha) || (alpha_found == 0 && !isfinite(want))) return true;
        if (alpha_found == 0) return found == 0 || oracle_differs(out, x, y, ch, 0, 0, why, why_size);
        if (alpha < (f.type == IMGPIPE_F32 ? 1.0 / 255 : 1)) return true;
        want /= alpha;
        if (!isfinite(want) && !isfinite(found)) return true; /* infinity times an alpha of 0 is NaN */
    }
    if (fabs(want) > 1e37 && isfinite(want)) return true;
    return close_to(found, want, tolerance) || oracle_differs(out, x, y, ch, want, tolerance, why, why_size);
}

static bool blur_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                        size_t why_size) {
    imgpipe_format f = in->info.format;
    if (c->sigma_x <= 0 && c->sigma_y <= 0) return oracle_identity(in, out, why, why_size);
    /* Transparent pixels have no colour, so a constant stays only where there is something to see. */
    if (f.type != IMGPIPE_F32 && is_constant(c, in) && (!f.alpha || sample_get(in, 0, 0, f.channels - 1) > 0))
        return oracle_identity(in, out, why, why_size);
    struct planes planes = {{NULL}, {NULL}};
    bool right = true;
    for (int ch = 0; ch < f.channels; ch++) {
        planes.blurred[ch] = plane_new(c, in, ch, f.alpha && ch < f.channels - 1, weighted_sum);
        if (f.type == IMGPIPE_F32) planes.magnitude[ch] = plane_new(c, in, ch, false, largest_magnitude);
    }
    for (int64_t y = 0; right && y < in->info.height; y++)
        for (int64_t x = 0; right && x < in->info.width; x++)
            for (int ch = 0; right && ch < f.channels; ch++) right = blur_pixel(c, in, out, &planes, x, y, ch, why, why_size);
    for (int ch = 0; ch < 4; ch++) free(planes.blurred[ch]), free(planes.magnitude[ch]);
    return right;
}

const struct oracle oracle_blur = {"blur", 160, 48, NULL, blur_make, NULL, blur_verify};

/* ---- the mean error on random content, which only a larger image can show */

static bool mean_accepts(imgpipe_format f) {
    return f.type != IMGPIPE_F32 && !f.alpha;
}

static void mean_make(struct oracle_case *c, struct rng *r) {
    c->in.width = 173, c->in.height = 120, c->content = CONTENT_RANDOM;
    c->sigma_x = c->sigma_y = (double)rng_range(r, 5, 80) / 10;
    chain_add(c, "blur=%.1f", c->sigma_x);
    border_make(c, r);
    /* A large share of constant surroundings would be a constant, whose rounding error is one number. */
    if (c->border.edge == EDGE_CONSTANT) c->border.edge = EDGE_CLAMP, strcpy(strchr(c->chain, ':'), "");
}

static bool mean_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                        size_t why_size) {
    double sum = 0, worst = 0;
    int64_t n = in->info.width * in->info.height;
    for (int ch = 0; ch < in->info.format.channels; ch++) {
        double *plane = plane_new(c, in, ch, false, weighted_sum);
        for (int64_t i = 0; i < n; i++) {
            double d = fabs(plane[i] - sample_get(out, i % in->info.width, i / in->info.width, ch));
            sum += d, worst = fmax(worst, d);
        }
        free(plane);
    }
    double mean = sum / (double)(n * in->info.format.channels);
    if (mean <= 0.27 && worst <= 1) return true;
    snprintf(why, why_size, "mean absolute difference %.4f (at most 0.27), largest %.4f (at most 1)", mean, worst);
    return false;
}

const struct oracle oracle_blur_mean = {"blur_mean", 12, 48, mean_accepts, mean_make, NULL, mean_verify};
