/* What the oracles share. */
#include "oracle.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct oracle *const oracles[] = {&oracle_gray,   &oracle_blur,   &oracle_blur_mean, &oracle_box,
                                        &oracle_conv,   &oracle_median, &oracle_hist,      &oracle_chart,
                                        &oracle_invert, &oracle_levels, &oracle_threshold, NULL};

int64_t edge_index(int edge, int64_t i, int64_t n) {
    while (i < 0 || i >= n) {
        if (edge == EDGE_CONSTANT) return -1;
        if (n == 1) return 0;
        if (edge == EDGE_CLAMP) i = i < 0 ? 0 : n - 1;
        if (edge == EDGE_WRAP) i += i < 0 ? n : -n;
        if (edge == EDGE_REFLECT) i = i < 0 ? -1 - i : 2 * n - 1 - i;
        if (edge == EDGE_MIRROR) i = i < 0 ? -i : 2 * n - 2 - i;
    }
    return i;
}

double edge_sample(const struct oracle_border *border, const imgpipe_image *in, int64_t x, int64_t y, int channel) {
    int64_t ix = edge_index(border->edge, x, in->info.width), iy = edge_index(border->edge, y, in->info.height);
    return ix < 0 || iy < 0 ? border->value : sample_get(in, ix, iy, channel);
}

void chain_add(struct oracle_case *c, const char *format, ...) {
    size_t used = strlen(c->chain);
    va_list args;
    va_start(args, format);
    vsnprintf(c->chain + used, sizeof c->chain - used, format, args);
    va_end(args);
}

void border_make(struct oracle_case *c, struct rng *r) {
    static const char *const names[] = {"clamp", "reflect", "mirror", "wrap", "constant"};
    double max = imgpipe_type_max(c->in.format.type);
    c->border.edge = (int)rng_range(r, 0, 4);
    c->border.value = 0;
    if (c->border.edge == EDGE_CLAMP && rng_chance(r, 60)) return;
    chain_add(c, ":border=%s", names[c->border.edge]);
    if (rng_chance(r, 40)) return;
    /* 20 % of 255 and of 65535 are whole numbers, so rounding is nobody's question. */
    if (rng_chance(r, 30)) {
        int percent = (int)rng_range(r, 0, 5) * 20;
        chain_add(c, ":value=%d%%", percent);
        c->border.value = c->in.format.type == IMGPIPE_F32 ? (double)(float)(percent / 100.0) : max * percent / 100;
    } else if (c->in.format.type == IMGPIPE_F32) {
        c->border.value = (double)rng_range(r, 0, 8) / 8;
        chain_add(c, ":value=%.3f", c->border.value);
    } else {
        c->border.value = (double)rng_range(r, 0, (int64_t)max);
        chain_add(c, ":value=%.0f", c->border.value);
    }
}

bool is_alpha(imgpipe_format format, int channel) {
    return format.alpha && channel == format.channels - 1;
}

double round_clamped(double v, double max) {
    double rounded = floor(v + 0.5);
    return rounded < 0 ? 0 : rounded > max ? max : rounded;
}

bool oracle_differs(const imgpipe_image *out, int64_t x, int64_t y, int channel, double want, double tolerance, char *why,
                    size_t why_size) {
    snprintf(why, why_size, "x %lld y %lld channel %d: %.9g, wanted %.12g (tolerance %.3g)", (long long)x, (long long)y, channel,
             sample_get(out, x, y, channel), want, tolerance);
    return false;
}

bool close_to(double a, double b, double tolerance) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= tolerance;
}

bool oracle_identity(const imgpipe_image *in, const imgpipe_image *out, char *why, size_t why_size) {
    return pictures_equal(in, out, why, why_size);
}
