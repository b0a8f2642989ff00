/* conv: the sum over the mask, exact where the contract says so, else in double. */
#include "oracle.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mask_size(struct oracle_case *c, struct rng *r) {
    int64_t largest = rng_chance(r, 2) ? ORACLE_MASK_MAX : rng_chance(r, 15) ? 15 : 5;
    c->mask_width = (int)(2 * rng_range(r, 0, largest / 2) + 1);
    c->mask_height = rng_chance(r, 60) ? c->mask_width : (int)(2 * rng_range(r, 0, largest / 2) + 1);
}

/* Weights as text that says exactly what the oracle computes with. */
static void mask_random(struct oracle_case *c, struct rng *r) {
    double column[ORACLE_MASK_MAX], row[ORACLE_MASK_MAX];
    bool product = rng_chance(r, 40), positive = rng_chance(r, 40), large = rng_chance(r, 10);
    for (int i = 0; i < ORACLE_MASK_MAX; i++) {
        column[i] = (double)rng_range(r, positive ? 0 : -4, 6), row[i] = (double)rng_range(r, positive ? 0 : -4, 6);
        if (!c->integers) column[i] += (double)rng_range(r, 0, 15) / 16, row[i] += (double)rng_range(r, 0, 15) / 16;
    }
    for (int i = 0; i < c->mask_width * c->mask_height; i++) {
        double w = (double)(large ? rng_range(r, positive ? 0 : -130, 130) : rng_range(r, positive ? 0 : -9, 12));
        if (!c->integers) w += (double)rng_range(r, 0, 999) / 1000;
        if (rng_chance(r, 10)) w = 0;
        c->mask[i] = product ? column[i / c->mask_width] * row[i % c->mask_width] : w;
    }
}

static void mask_text(struct oracle_case *c, struct rng *r, char *text, size_t size) {
    const char *between = rng_chance(r, 30) ? "," : " ", *line = rng_chance(r, 20) ? "\n" : ";";
    size_t used = 0;
    for (int j = 0; j < c->mask_height; j++)
        for (int i = 0; i < c->mask_width; i++) {
            double *w = &c->mask[j * c->mask_width + i];
            used += (size_t)snprintf(text + used, size - used, "%s%.10g", i ? between : j ? line : "", *w);
        }
}

static bool mask_file(struct oracle_case *c, const char *text) {
    strcpy(c->temporary, "/tmp/imgpipe-check-XXXXXX");
    int fd = mkstemp(c->temporary);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) return c->temporary[0] = 0, false;
    fputs(text, f);
    return fclose(f) == 0;
}

static void mask_named(struct oracle_case *c, const char *name, const double weights[9]) {
    c->mask_width = c->mask_height = 3, c->integers = true;
    memcpy(c->mask, weights, 9 * sizeof *weights);
    chain_add(c, "conv=%s", name);
}

/* The divisor that is used where none is given. */
static double default_div(const struct oracle_case *c) {
    double sum = 0;
    for (int i = 0; i < c->mask_width * c->mask_height; i++) {
        sum += c->mask[i];
        if (c->mask[i] != floor(c->mask[i])) return 1;
    }
    return sum > 0 ? sum : 1;
}

static void shrink(struct oracle_case *c) {
    while ((double)(c->in.width * c->in.height * c->mask_width * c->mask_height) * c->in.format.channels > 6e5) {
        if (c->in.width >= c->in.height)
            c->in.width = (c->in.width + 1) / 2;
        else
            c->in.height = (c->in.height + 1) / 2;
    }
}

static void extras_make(struct oracle_case *c, struct rng *r) {
    bool single = c->in.format.type == IMGPIPE_F32;
    c->div = default_div(c);
    if (rng_chance(r, 30)) {
        c->div = c->integers ? (double)rng_range(r, 1, 30) : (double)rng_range(r, 1, 300) / 10;
        if (rng_chance(r, 15)) c->div = -c->div;
        chain_add(c, ":div=%.10g", c->div);
    }
    if (rng_chance(r, 25)) chain_add(c, ":abs"), c->absolute = true;
    if (rng_chance(r, 25)) {
        c->bias = single ? (double)rng_range(r, -8, 8) / 8 : (double)rng_range(r, -200, 300);
        if (!c->integers && !single) c->bias += 0.25;
        chain_add(c, ":bias=%.10g", c->bias);
    }
    if (rng_chance(r, 20)) chain_add(c, ":flip"), c->flip = true;
    border_make(c, r);
    if (c->div != floor(c->div) || c->bias != floor(c->bias)) c->integers = false;
}

static void conv_make(struct oracle_case *c, struct rng *r) {
    static const double sobel_x[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1}, sharpen[9] = {0, -1, 0, -1, 5, -1, 0, -1, 0};
    static char text[65536]; /* the driver makes one case after the other */
    if (rng_chance(r, 5))
        mask_named(c, "sobel_x", sobel_x);
    else if (rng_chance(r, 5))
        mask_named(c, "sharpen", sharpen);
    else {
        c->integers = rng_chance(r, 55);
        mask_size(c, r);
        mask_random(c, r);
        mask_text(c, r, text, sizeof text);
        if (rng_chance(r, 5) && mask_file(c, text))
            chain_add(c, "conv=@%s", c->temporary);
        else if (strpbrk(text, ",\n") || rng_chance(r, 30))
            chain_add(c, rng_chance(r, 50) ? "conv='%s'" : "conv=mask='%s'", text);
        else
            chain_add(c, "conv=%s", text);
    }
    extras_make(c, r);
    shrink(c);
}

/* What one window comes to. `doubtful`: a sample that is not finite stands under a weight of 0. */
struct window_sum {
    double sum, magnitude, weights;
    __int128 exact;
    bool doubtful;
};

static struct window_sum conv_sum(const struct oracle_case *c, const imgpipe_image *in, int64_t x, int64_t y, int ch) {
    struct window_sum s = {0, 0, 0, 0, false};
    int n = c->mask_width * c->mask_height, rx = c->mask_width / 2, ry = c->mask_height / 2;
    for (int i = 0; i < n; i++) {
        double w = c->mask[c->flip ? n - 1 - i : i];
        double v = edge_sample(&c->border, in, x - rx + i % c->mask_width, y - ry + i / c->mask_width, ch);
        s.weights += fabs(w);
        if (w == 0 && !isfinite(v)) s.doubtful = true;
        if (w == 0) continue;
        s.sum += w * v, s.magnitude += fabs(w * v);
        if (c->integers && in->info.format.type != IMGPIPE_F32) s.exact += (__int128)(int64_t)w * (int64_t)v;
    }
    return s;
}

/* floor(v + 1/2) + bias of the rational v = sum / div, within 0 … max. */
static double conv_exact(const struct oracle_case *c, __int128 sum, double max) {
    __int128 div = (int64_t)c->div;
    if (div < 0) div = -div, sum = -sum;
    if (c->absolute && sum < 0) sum = -sum;
    __int128 num = 2 * sum + div, den = 2 * div, q = num / den;
    if (num % den != 0 && num < 0) q--;
    q += (int64_t)c->bias;
    return q < 0 ? 0 : q > (int64_t)max ? max : (double)(int64_t)q;
}

static bool conv_pixel(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, int64_t x, int64_t y, int ch,
                       char *why, size_t why_size) {
    bool single = in->info.format.type == IMGPIPE_F32;
    double max = imgpipe_type_max(in->info.format.type), found = sample_get(out, x, y, ch), tolerance = 0;
    struct window_sum s = conv_sum(c, in, x, y, ch);
    double v = s.sum / c->div;
    if (c->absolute) v = fabs(v);
    v += c->bias;
    if (c->integers && !single)
        v = conv_exact(c, s.exact, max);
    else if (!single) {
        tolerance = 1 + 0x1p-20 * s.weights * max / fabs(c->div);
        v = v < 0 ? 0 : v > max ? max : v;
    } else {
        if (s.doubtful && !isfinite(found)) return true;
        /* What a float32 sum may leave by overflow is nobody's promise. */
        if (isfinite(s.magnitude) && s.magnitude * fmax(1, 1 / fabs(c->div)) > 1e37) return true;
        /* Adding the bias rounds once more, and below the least normal number an absolute amount is lost. */
        tolerance = 1e-6 * s.magnitude / fabs(c->div) + 1.2e-7 * fabs(c->bias) + 1e-42 * s.weights * fmax(1, 1 / fabs(c->div));
    }
    return close_to(found, v, tolerance) || oracle_differs(out, x, y, ch, v, tolerance, why, why_size);
}

static bool conv_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                        size_t why_size) {
    for (int64_t y = 0; y < in->info.height; y++)
        for (int64_t x = 0; x < in->info.width; x++)
            for (int ch = 0; ch < in->info.format.channels; ch++) {
                if (!is_alpha(in->info.format, ch)) {
                    if (!conv_pixel(c, in, out, x, y, ch, why, why_size)) return false;
                } else if (sample_bits(in, x, y, ch) != sample_bits(out, x, y, ch))
                    return oracle_differs(out, x, y, ch, sample_get(in, x, y, ch), 0, why, why_size);
            }
    return true;
}

const struct oracle oracle_conv = {"conv", 240, 60, NULL, conv_make, NULL, conv_verify};
