/* gray, invert, levels, threshold. */
#include "oracle.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- gray */

/* Two colours are no colour image, so the contract says nothing about them. */
static bool gray_accepts(imgpipe_format f) {
    return f.channels == 1 || (f.channels == 2 && f.alpha) || (f.channels == 3 && !f.alpha) || f.channels == 4;
}

static void gray_make(struct oracle_case *c, struct rng *r) {
    static const int64_t standard[2][3] = {{19595, 38470, 7471}, {13933, 46871, 4732}};
    int choice = (int)rng_range(r, 0, 4);
    const char *key = rng_chance(r, 30) ? "weights=" : "";
    c->round = 32768, c->divisor = 65536;
    if (choice <= 2) {
        memcpy(c->weights, standard[choice == 2], sizeof c->weights);
        chain_add(c, choice == 0 ? "gray" : "gray=%s%s", key, choice == 1 ? "601" : "709");
    } else if (choice == 3) {
        chain_add(c, "gray=%saverage", key);
        for (int i = 0; i < 3; i++) c->weights[i] = 2;
        c->round = 3, c->divisor = 6;
    } else {
        chain_add(c, "gray=%s", key);
        for (int i = 0; i < 3; i++) {
            /* For f32 only weights that are whole 65536ths, so that it does not matter how they are rounded. */
            double w =
                c->in.format.type == IMGPIPE_F32 ? (double)rng_range(r, -4, 24) / 16 : (double)rng_range(r, -200, 1500) / 1000;
            c->weights[i] = (int64_t)floor(65536 * w + 0.5);
            chain_add(c, "%s%.4f", i ? " " : "", w);
        }
    }
    for (int i = 0; i < 3; i++) c->float_weights[i] = (double)((float)c->weights[i] / (float)c->divisor);
}

static imgpipe_info gray_output(const struct oracle_case *c) {
    imgpipe_info out = c->in;
    if (out.format.channels >= 3) out.format.channels = out.format.alpha ? 2 : 1;
    return out;
}

static double floor_divided(int64_t a, int64_t b) {
    int64_t q = a / b;
    return (double)(a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
}

static double gray_value(const struct oracle_case *c, const imgpipe_image *in, int64_t x, int64_t y) {
    double rgb[3];
    for (int i = 0; i < 3; i++) rgb[i] = sample_get(in, x, y, i);
    if (in->info.format.type == IMGPIPE_F32) {
        const double *w = c->float_weights;
        float v = (float)w[0] * (float)rgb[0];
        return (double)fmaf((float)w[2], (float)rgb[2], fmaf((float)w[1], (float)rgb[1], v));
    }
    int64_t sum = c->round;
    for (int i = 0; i < 3; i++) sum += c->weights[i] * (int64_t)rgb[i];
    double max = imgpipe_type_max(in->info.format.type), v = floor_divided(sum, c->divisor);
    return v < 0 ? 0 : v > max ? max : v;
}

static bool gray_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                        size_t why_size) {
    if (in->info.format.channels <= 2) return oracle_identity(in, out, why, why_size);
    for (int64_t y = 0; y < in->info.height; y++)
        for (int64_t x = 0; x < in->info.width; x++) {
            double want = gray_value(c, in, x, y);
            if (!close_to(sample_get(out, x, y, 0), want, 0)) return oracle_differs(out, x, y, 0, want, 0, why, why_size);
            if (in->info.format.alpha && sample_bits(out, x, y, 1) != sample_bits(in, x, y, 3))
                return oracle_differs(out, x, y, 1, sample_get(in, x, y, 3), 0, why, why_size);
        }
    return true;
}

const struct oracle oracle_gray = {"gray", 120, 70, gray_accepts, gray_make, gray_output, gray_verify};

/* ---- invert, levels, threshold: a function of one sample, alpha kept */

/* The wanted value and how far a result may be from it. */
typedef double (*sample_function)(const struct oracle_case *c, imgpipe_type type, double v, double *tolerance);

static bool samples_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, sample_function function,
                           char *why, size_t why_size) {
    for (int64_t y = 0; y < in->info.height; y++)
        for (int64_t x = 0; x < in->info.width; x++)
            for (int ch = 0; ch < in->info.format.channels; ch++) {
                double v = sample_get(in, x, y, ch), tolerance = 0;
                if (is_alpha(in->info.format, ch)) {
                    if (sample_bits(in, x, y, ch) != sample_bits(out, x, y, ch))
                        return oracle_differs(out, x, y, ch, v, 0, why, why_size);
                    continue;
                }
                double want = function(c, in->info.format.type, v, &tolerance);
                if (!close_to(sample_get(out, x, y, ch), want, tolerance))
                    return oracle_differs(out, x, y, ch, want, tolerance, why, why_size);
            }
    return true;
}

static void invert_make(struct oracle_case *c, struct rng *r) {
    (void)r;
    chain_add(c, "invert");
}

static double invert_sample(const struct oracle_case *c, imgpipe_type type, double v, double *tolerance) {
    (void)c, (void)tolerance;
    return type == IMGPIPE_F32 ? (double)(1.0f - (float)v) : imgpipe_type_max(type) - v;
}

static bool invert_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                          size_t why_size) {
    return samples_verify(c, in, out, invert_sample, why, why_size);
}

const struct oracle oracle_invert = {"invert", 60, 70, NULL, invert_make, NULL, invert_verify};

/* A value in sample units, written in one of the forms a user may choose; returns what the text says. */
static double sample_text(struct rng *r, imgpipe_type type, bool whole, char text[32]) {
    double max = imgpipe_type_max(type);
    if (rng_chance(r, 30)) {
        int percent = (int)rng_range(r, 0, 5) * 20;
        snprintf(text, 32, "%d%%", percent);
        return max * percent / 100;
    }
    if (type == IMGPIPE_F32)
        snprintf(text, 32, "%.3f", rng_unit(r) * 1.5 - 0.25);
    else
        snprintf(text, 32, whole ? "%.0f" : "%.2f", rng_unit(r) * max);
    return strtod(text, NULL);
}

static void levels_make(struct oracle_case *c, struct rng *r) {
    static const char *const names[4] = {"in_low", "in_high", "out_low", "out_high"};
    imgpipe_type type = c->in.format.type;
    double max = imgpipe_type_max(type), values[4] = {0, max, 0, max};
    char text[4][32];
    c->integers = type != IMGPIPE_F32 && rng_chance(r, 60);
    do {
        for (int i = 0; i < 4; i++) values[i] = sample_text(r, type, c->integers, text[i]);
    } while (values[0] >= values[1]);
    chain_add(c, "levels=");
    if (rng_chance(r, 50))
        chain_add(c, "%s:%s:%s:%s", text[0], text[1], text[2], text[3]);
    else
        for (int i = 0; i < 4; i++) chain_add(c, "%s%s=%s", i ? ":" : "", names[i], text[i]);
    c->in_low = values[0], c->in_high = values[1], c->out_low = values[2], c->out_high = values[3];
}

static double levels_sample(const struct oracle_case *c, imgpipe_type type, double v, double *tolerance) {
    double max = imgpipe_type_max(type), scale = (c->out_high - c->out_low) / (c->in_high - c->in_low);
    if (type == IMGPIPE_F32) {
        *tolerance = 1e-6 * (fabs(scale) * (fabs(v) + fabs(c->in_low)) + fabs(c->out_low));
        return (v - c->in_low) * scale + c->out_low;
    }
    if (c->integers) {
        int64_t den = 2 * (int64_t)(c->in_high - c->in_low);
        int64_t num = 2 * (int64_t)(v - c->in_low) * (int64_t)(c->out_high - c->out_low) + den / 2;
        double w = floor_divided(num, den) + c->out_low;
        return w < 0 ? 0 : w > max ? max : w;
    }
    double w = (v - c->in_low) * scale + c->out_low;
    *tolerance = 0.5 + 1e-6;
    return w < 0 ? 0 : w > max ? max : w;
}

static bool levels_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                          size_t why_size) {
    return samples_verify(c, in, out, levels_sample, why, why_size);
}

const struct oracle oracle_levels = {"levels", 120, 70, NULL, levels_make, NULL, levels_verify};

static void threshold_make(struct oracle_case *c, struct rng *r) {
    char text[32];
    c->threshold = sample_text(r, c->in.format.type, rng_chance(r, 50), text);
    chain_add(c, rng_chance(r, 50) ? "threshold=%s" : "threshold=value=%s", text);
}

static double threshold_sample(const struct oracle_case *c, imgpipe_type type, double v, double *tolerance) {
    double limit = type == IMGPIPE_F32 ? (double)(float)c->threshold : c->threshold;
    (void)tolerance;
    return v >= limit ? imgpipe_type_max(type) : 0;
}

static bool threshold_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                             size_t why_size) {
    return samples_verify(c, in, out, threshold_sample, why, why_size);
}

const struct oracle oracle_threshold = {"threshold", 80, 70, NULL, threshold_make, NULL, threshold_verify};
