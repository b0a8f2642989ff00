/* box and median: every window is gathered anew. */
#include "oracle.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t odd_random(struct rng *r) {
    if (rng_chance(r, 3)) return 255;
    if (rng_chance(r, 12)) return 2 * rng_range(r, 8, 30) + 1;
    return 2 * rng_range(r, 0, 7) + 1;
}

/* Large windows get small images, so that no case takes long. */
static void shrink(struct oracle_case *c, double limit) {
    for (;;) {
        double work = (double)(c->in.width * c->in.height * c->window_x * c->window_y) * c->in.format.channels;
        if (work <= limit || (c->in.width == 1 && c->in.height == 1)) return;
        if (c->in.width >= c->in.height)
            c->in.width = (c->in.width + 1) / 2;
        else
            c->in.height = (c->in.height + 1) / 2;
    }
}

/* ---- box */

static void box_make(struct oracle_case *c, struct rng *r) {
    int form = (int)rng_range(r, 0, 4);
    c->window_x = c->window_y = 3;
    chain_add(c, "box=");
    if (form == 0) chain_add(c, "size=3");
    if (form == 1 || form == 2) chain_add(c, form == 1 ? "%d" : "size=%d", (int)(c->window_x = c->window_y = odd_random(r)));
    if (form == 3) chain_add(c, "width=%d:height=%d", (int)(c->window_x = odd_random(r)), (int)(c->window_y = odd_random(r)));
    if (form == 4) {
        c->window_y = 2 * rng_range(r, 0, 6) + 1;
        chain_add(c, "%d:width=%d", (int)c->window_y, (int)(c->window_x = odd_random(r)));
    }
    border_make(c, r);
    shrink(c, 6e5);
}

/* The mean in integers, colour weighed by alpha where there is one. */
static double box_integer(const struct oracle_case *c, const imgpipe_image *in, int64_t x, int64_t y, int ch) {
    int64_t rx = c->window_x / 2, ry = c->window_y / 2, n = c->window_x * c->window_y, sum = 0, alpha_sum = 0;
    int last = in->info.format.channels - 1;
    bool weighed = in->info.format.alpha && ch != last;
    for (int64_t j = y - ry; j <= y + ry; j++)
        for (int64_t i = x - rx; i <= x + rx; i++) {
            int64_t v = (int64_t)edge_sample(&c->border, in, i, j, ch);
            int64_t a = weighed ? (int64_t)edge_sample(&c->border, in, i, j, last) : 1;
            sum += v * a, alpha_sum += a;
        }
    if (!weighed) return (double)((sum + n / 2) / n);
    if ((alpha_sum + n / 2) / n == 0) return 0;
    return (double)((sum + alpha_sum / 2) / alpha_sum);
}

/* Vertical sums, then horizontal, in float32 in order, over n. */
static double box_float(const struct oracle_case *c, const imgpipe_image *in, int64_t x, int64_t y, int ch) {
    int64_t rx = c->window_x / 2, ry = c->window_y / 2;
    float sum = 0;
    for (int64_t i = x - rx; i <= x + rx; i++) {
        float column = 0;
        for (int64_t j = y - ry; j <= y + ry; j++) column += (float)edge_sample(&c->border, in, i, j, ch);
        sum += column;
    }
    return (double)(sum / (float)(c->window_x * c->window_y));
}

/* Colour of f32 weighed by alpha: the contract fixes no order here, so this is in double with a tolerance. Returns false
 * where nothing is promised. */
static bool box_float_weighed(const struct oracle_case *c, const imgpipe_image *in, int64_t x, int64_t y, int ch, double *want,
                              double *tolerance) {
    int64_t rx = c->window_x / 2, ry = c->window_y / 2;
    int last = in->info.format.channels - 1;
    double sum = 0, alpha_sum = 0, magnitude = 0, n = (double)(c->window_x * c->window_y);
    for (int64_t j = y - ry; j <= y + ry; j++)
        for (int64_t i = x - rx; i <= x + rx; i++) {
            double v = edge_sample(&c->border, in, i, j, ch), a = edge_sample(&c->border, in, i, j, last);
            sum += v * a, alpha_sum += a, magnitude += fabs(v * a);
        }
    *want = alpha_sum == 0 ? 0 : sum / alpha_sum;
    *tolerance = alpha_sum == 0 ? 0 : 2e-7 * (n > 10 ? n : 10) * magnitude / alpha_sum + 1e-38;
    if (!isfinite(alpha_sum) || magnitude > 1e37 * (n > 1 ? 1 : 0) + 1e37) return isfinite(alpha_sum) && !isfinite(sum);
    if (alpha_sum == 0 && !isfinite(sum)) return false;
    return alpha_sum == 0 || alpha_sum / n >= 1.0 / 255;
}

static bool box_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why, size_t why_size) {
    bool single = in->info.format.type == IMGPIPE_F32;
    if (c->window_x == 1 && c->window_y == 1) return oracle_identity(in, out, why, why_size);
    for (int64_t y = 0; y < in->info.height; y++)
        for (int64_t x = 0; x < in->info.width; x++)
            for (int ch = 0; ch < in->info.format.channels; ch++) {
                double want, tolerance = 0, found = sample_get(out, x, y, ch);
                bool weighed = in->info.format.alpha && !is_alpha(in->info.format, ch);
                if (!single)
                    want = box_integer(c, in, x, y, ch);
                else if (!weighed)
                    want = box_float(c, in, x, y, ch);
                else if (!box_float_weighed(c, in, x, y, ch, &want, &tolerance))
                    continue;
                /* An infinite colour times an alpha of 0 is NaN, so any value that is not finite will do here. */
                if (weighed && single && !isfinite(want) && !isfinite(found)) continue;
                if (!close_to(found, want, tolerance)) return oracle_differs(out, x, y, ch, want, tolerance, why, why_size);
            }
    return true;
}

const struct oracle oracle_box = {"box", 160, 60, NULL, box_make, NULL, box_verify};

/* ---- median */

/* Every size at which another method or block begins, and those on either side. */
static int64_t median_size(struct rng *r) {
    static const int sizes[] = {3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 51, 61, 63, 65, 75, 125, 127, 129, 253, 255};
    if (rng_chance(r, 60)) return odd_random(r);
    return sizes[rng_range(r, 0, (int64_t)(sizeof sizes / sizeof *sizes) - 1)];
}

static void median_make(struct oracle_case *c, struct rng *r) {
    c->window_x = median_size(r);
    if (rng_chance(r, 10))
        c->window_x = 3, chain_add(c, "median=size=3");
    else
        chain_add(c, "median=%d", (int)c->window_x);
    c->window_y = c->window_x;
    border_make(c, r);
    shrink(c, c->window_x > 100 ? 5e5 : 4e5);
}

static int compare_samples(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    if (x != x || y != y) return (x != x) - (y != y);
    return (x > y) - (x < y);
}

static uint32_t median_bits(const struct oracle_case *c, const imgpipe_image *in, int64_t x, int64_t y, int ch, float *window) {
    int64_t radius = c->window_x / 2, n = 0;
    for (int64_t j = y - radius; j <= y + radius; j++)
        for (int64_t i = x - radius; i <= x + radius; i++) window[n++] = (float)edge_sample(&c->border, in, i, j, ch);
    qsort(window, (size_t)n, sizeof *window, compare_samples);
    float median = window[n / 2];
    uint32_t bits;
    if (in->info.format.type != IMGPIPE_F32) return (uint32_t)median;
    if (median != median) return 0x7fc00000;
    if (median == 0) return 0;
    memcpy(&bits, &median, 4);
    return bits;
}

static bool median_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                          size_t why_size) {
    if (c->window_x == 1) return oracle_identity(in, out, why, why_size);
    float *window = malloc((size_t)(c->window_x * c->window_x) * sizeof *window);
    bool right = window != NULL;
    for (int64_t y = 0; right && y < in->info.height; y++)
        for (int64_t x = 0; right && x < in->info.width; x++)
            for (int ch = 0; right && ch < in->info.format.channels; ch++) {
                uint32_t want = median_bits(c, in, x, y, ch, window), found = sample_bits(out, x, y, ch);
                if (want == found) continue;
                snprintf(why, why_size, "x %lld y %lld channel %d: bits %08x, wanted %08x", (long long)x, (long long)y, ch, found,
                         want);
                right = false;
            }
    free(window);
    return right;
}

const struct oracle oracle_median = {"median", 160, 50, NULL, median_make, NULL, median_verify};
