/* The chart of a histogram: where things stand, axes and grid, title and legend, and the curves' points. */
#include "chart.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct chart_rgb paper = {{255, 255, 255}}, ground = {{250, 251, 252}}, grid = {{229, 232, 236}};
static const struct chart_rgb faint = {{241, 243, 245}}, axis = {{148, 156, 166}}, ink = {{33, 37, 43}}, muted = {{92, 101, 112}};

/* By enum chart_colour. A strength of 0 means a line alone. */
static const struct curve_style {
    struct chart_rgb line, fill;
    int strength;
} styles[] = {
    [CHART_GRAY] = {{{52, 58, 64}}, {{73, 80, 87}}, 150},     [CHART_RED] = {{{214, 40, 57}}, {{255, 82, 82}}, 110},
    [CHART_GREEN] = {{{32, 150, 74}}, {{64, 200, 110}}, 110}, [CHART_BLUE] = {{{44, 104, 214}}, {{74, 140, 255}}, 110},
    [CHART_ALPHA] = {{{140, 82, 196}}, {{140, 82, 196}}, 0},  [CHART_EXTRA] = {{{222, 120, 20}}, {{222, 120, 20}}, 0},
};

struct canvas {
    const struct chart *chart;
    struct chart_plot plot;
    bool x_labels, y_labels;
    int64_t group;         /* bins that make one point of a curve */
    int64_t first, points; /* groups shown */
    double most;           /* pixels of the highest point, at least 1 */
    double top;            /* what the upper edge stands for: pixels, or in a log chart the logarithm above that of 1/2 */
};

#define LOG_HALF 0.3010299956639812 /* log10(2): a log chart starts at half a pixel, so that 1 is not nothing */

static void rectangle(const imgpipe_image *image, int64_t x, int64_t y, int64_t width, int64_t height, struct chart_rgb colour) {
    for (int64_t v = y < 0 ? 0 : y; v < y + height && v < image->info.height; v++) {
        uint8_t *row = (uint8_t *)image->pixels + v * image->stride;
        for (int64_t u = x < 0 ? 0 : x; u < x + width && u < image->info.width; u++)
            for (int c = 0; c < 3; c++) row[u * 3 + c] = colour.rgb[c];
    }
}

/* ----------------------------------------------------------------------------------------------- points */

static int64_t greatest_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Values of a 16-bit image that was made from 8 bits are multiples of 257, and the like. Points of other than a multiple
 * of that many bins would show a comb that is not in the image. 1 if there is no such step. */
static int64_t lattice(const struct chart *chart) {
    int64_t step = 0, start = -1, end = 0, occupied = 0;
    for (int64_t i = chart->first; i < chart->last; i++) {
        bool any = false;
        for (int c = 0; c < chart->curves; c++) any |= chart->curve[c].counts[i] != 0;
        if (!any) continue;
        if (start < 0) start = i;
        step = greatest_divisor(i - start, step);
        end = i;
        occupied++;
    }
    return occupied >= 16 && (end - start) / step < 2 * occupied ? step : 1;
}

static uint64_t group_pixels(const struct canvas *canvas, const uint64_t *counts, int64_t point) {
    int64_t begin = (canvas->first + point) * canvas->group, end = begin + canvas->group;
    uint64_t pixels = 0;
    for (int64_t i = begin; i < end && i < canvas->chart->bins; i++) pixels += counts[i];
    return pixels;
}

static void choose_points(struct canvas *canvas) {
    const struct chart *chart = canvas->chart;
    int64_t shown = chart->last - chart->first, room = canvas->plot.width > 32 ? canvas->plot.width : 32;
    canvas->group = 1;
    if (shown > room) {
        canvas->group = lattice(chart);
        while (shown / canvas->group > room / 2) canvas->group *= 2;
    }
    canvas->first = chart->first / canvas->group;
    canvas->points = (chart->last - 1) / canvas->group + 1 - canvas->first;
}

/* The highest curve at a point. Alpha, which most often is one spike, counts only if there is nothing else. */
static double highest(const struct canvas *canvas, int64_t point, bool with_alpha) {
    const struct chart *chart = canvas->chart;
    double most = 0;
    for (int c = 0; c < chart->curves; c++) {
        if (chart->curve[c].colour == CHART_ALPHA && !with_alpha && chart->curves > 1) continue;
        double pixels = (double)group_pixels(canvas, chart->curve[c].counts, point);
        most = pixels > most ? pixels : most;
    }
    return most;
}

static int falling(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The scale of counts. A few spikes, as black and white often are, would press all else against the axis: where one point
 * in fifty is more than three times as high as the rest, these run out at the top and have their height written beside. */
static imgpipe_status choose_top(struct canvas *canvas, imgpipe_error *error) {
    int64_t count = canvas->points, few = count / 50 + 1;
    double *heights = malloc((size_t)count * sizeof *heights);
    if (!heights) return error_set(error, IMGPIPE_ERROR_MEMORY, "hist: out of memory for the chart");
    for (int64_t i = 0; i < count; i++) heights[i] = highest(canvas, i, false);
    qsort(heights, (size_t)count, sizeof *heights, falling);
    double rest = count > 32 ? heights[few] : 0;
    canvas->most = heights[0] > 1 ? heights[0] : 1;
    canvas->top = canvas->most * 1.06;
    if (rest >= 1 && canvas->most > 3 * rest) canvas->top = rest * 1.5;
    if (canvas->chart->log) canvas->top = (chart_log10(canvas->most) + LOG_HALF) * 1.04;
    free(heights);
    return IMGPIPE_OK;
}

static double height_of(const struct canvas *canvas, double pixels) {
    double share = pixels / canvas->top;
    if (canvas->chart->log) share = pixels > 0 ? (chart_log10(pixels) + LOG_HALF) / canvas->top : 0;
    return (share < 1 ? share : 1) * (double)canvas->plot.height;
}

static double column_of(const struct canvas *canvas, double sample) {
    const struct chart *chart = canvas->chart;
    return (sample - chart->axis_from) / (chart->axis_to - chart->axis_from) * (double)canvas->plot.width;
}

/* Wide groups are drawn as steps, narrow ones as a line through their middles. Returns the number of points. */
static int64_t trace(const struct canvas *canvas, const uint64_t *counts, struct chart_point *points) {
    const struct chart *chart = canvas->chart;
    double bin = (chart->to - chart->from) / (double)chart->bins, size = bin * (double)canvas->group;
    bool steps = column_of(canvas, chart->axis_from + size) >= 5.0 * canvas->plot.scale;
    int64_t n = 0;
    for (int64_t i = 0; i < canvas->points; i++) {
        double y = height_of(canvas, (double)group_pixels(canvas, counts, i));
        double left = chart->from + (double)(canvas->first + i) * size, right = left + size;
        double x0 = column_of(canvas, left), x1 = column_of(canvas, right < chart->to ? right : chart->to);
        if (i == 0) points[n++] = (struct chart_point){x0, steps ? 0 : y};
        if (steps) points[n++] = (struct chart_point){x0, y};
        if (!steps) points[n++] = (struct chart_point){(x0 + x1) / 2, y};
        if (steps || i == canvas->points - 1) points[n++] = (struct chart_point){x1, y};
        if (steps && i == canvas->points - 1) points[n++] = (struct chart_point){x1, 0};
    }
    return n;
}

static imgpipe_status draw_curves(const struct canvas *canvas, imgpipe_error *error) {
    const struct chart *chart = canvas->chart;
    int64_t room = 2 * canvas->points + 2, count = 0;
    struct chart_point *points = malloc((size_t)(room * chart->curves) * sizeof *points);
    if (!points) return error_set(error, IMGPIPE_ERROR_MEMORY, "hist: out of memory for the chart's curves");
    for (int c = 0; c < chart->curves; c++) {
        const struct curve_style *style = &styles[chart->curve[c].colour];
        count = trace(canvas, chart->curve[c].counts, points + c * room);
        if (style->strength) chart_fill(&canvas->plot, points + c * room, count, style->fill, style->strength);
    }
    int64_t scale = canvas->plot.scale;
    for (int c = chart->curves - 1; c >= 0; c--) {
        enum chart_colour colour = chart->curve[c].colour;
        chart_line(&canvas->plot, points + c * room, count, styles[colour].line, 1.15 * (double)scale,
                   colour == CHART_ALPHA ? 4 * scale : 0);
    }
    free(points);
    return IMGPIPE_OK;
}

/* Writes the height of what runs out at the top beside it, for each run of such points where there is room. */
static void mark_spikes(const struct canvas *canvas) {
    const struct chart_plot *plot = &canvas->plot;
    int scale = plot->scale;
    double point = (double)plot->width / (double)canvas->points, spike = 0;
    int64_t taken = 0;
    for (int64_t i = 0; i <= canvas->points; i++) {
        double pixels = i < canvas->points ? highest(canvas, i, true) : 0;
        bool cut = pixels > canvas->top;
        if (cut && pixels > spike) spike = pixels;
        if (cut || spike <= 0) continue;
        char label[CHART_LABEL];
        chart_rounded_count((int64_t)spike, label);
        int64_t width = chart_text_width(label, scale), right = (int64_t)((double)i * point);
        int64_t left =
            right + 5 * scale + width < plot->width ? right + 5 * scale : plot->width - (int64_t)(2 * point) - 6 * scale - width;
        if (left >= taken) chart_text(plot->image, plot->x + left, plot->y + 4 * scale, scale, muted, label);
        if (left >= taken) taken = left + width + 4 * scale;
        spike = 0;
    }
}

/* ------------------------------------------------------------------------------------------------- axes */

static int64_t round_down(double v) {
    return (int64_t)floor(v);
}

/* Ticks of the sample axis whose labels do not touch; 0 if not even two fit. */
static int fit_sample_ticks(const struct canvas *canvas, struct chart_tick *ticks) {
    const struct chart *chart = canvas->chart;
    int scale = canvas->plot.scale;
    for (int wanted = (int)(canvas->plot.width / (40 * scale)) + 1; wanted > 0; wanted--) {
        int n = chart_sample_ticks(chart->axis_from, chart->axis_to, wanted, chart->whole, ticks);
        int64_t widest = 0;
        for (int i = 0; i < n; i++) {
            int64_t width = chart_text_width(ticks[i].label, scale);
            widest = width > widest ? width : widest;
        }
        if (n == 1) return 1;
        if (n > 1 && column_of(canvas, ticks[1].value) - column_of(canvas, ticks[0].value) >= (double)(widest + 10 * scale))
            return n;
    }
    return 0;
}

static void draw_sample_axis(const struct canvas *canvas) {
    const struct chart_plot *plot = &canvas->plot;
    struct chart_tick ticks[CHART_TICKS];
    int n = fit_sample_ticks(canvas, ticks), scale = plot->scale;
    int64_t bottom = plot->y + plot->height;
    for (int i = 0; i < n; i++) {
        int64_t x = plot->x + round_down(column_of(canvas, ticks[i].value));
        rectangle(plot->image, x - (scale - 1) / 2, plot->y, scale, plot->height, grid);
        if (!canvas->x_labels) continue;
        rectangle(plot->image, x - (scale - 1) / 2, bottom, scale, 4 * scale, axis);
        int64_t width = chart_text_width(ticks[i].label, scale), left = x - width / 2 + (scale > 1 ? 0 : 1);
        int64_t over = left + width + 2 - plot->image->info.width;
        if (over > 4 * scale || left < 2) continue;
        chart_text(plot->image, over > 0 ? left - over : left, bottom + 7 * scale, scale, muted, ticks[i].label);
    }
}

/* Faint lines between the decades where there is room. */
static void draw_decade_parts(const struct canvas *canvas, double decade) {
    const struct chart_plot *plot = &canvas->plot;
    double above = height_of(canvas, decade * 10) - height_of(canvas, decade);
    for (int part = 2; part < 10 && above >= 30.0 * plot->scale && decade * part < canvas->most; part++) {
        int64_t y = plot->y + plot->height - round_down(height_of(canvas, decade * part)) - 1;
        rectangle(plot->image, plot->x, y, plot->width, plot->scale, faint);
    }
}

static void draw_count_axis(const struct canvas *canvas) {
    const struct chart_plot *plot = &canvas->plot;
    struct chart_tick ticks[CHART_TICKS];
    int scale = plot->scale, n, every = 1;
    int wanted = (int)(plot->height / (32 * scale)) + 1;
    if (canvas->chart->log) {
        n = chart_decade_ticks(canvas->most * 1.1, ticks);
        double decade = (double)plot->height / canvas->top;
        while (decade * every < 13.0 * scale) every++;
        for (int i = 0; i < n && every == 1; i++) draw_decade_parts(canvas, ticks[i].value);
    } else {
        n = chart_count_ticks(canvas->top, wanted, ticks);
    }
    for (int i = 0; i < n; i += every) {
        int64_t y = plot->y + plot->height - round_down(height_of(canvas, ticks[i].value)) - (scale + 1) / 2;
        if (ticks[i].value > 0) rectangle(plot->image, plot->x, y, plot->width, scale, grid);
        if (!canvas->y_labels) continue;
        int64_t width = chart_text_width(ticks[i].label, scale);
        int64_t text_y = y - CHART_TEXT_HEIGHT * scale / 2 + (scale + 1) / 2 - (scale == 1 ? 0 : 1);
        chart_text(plot->image, plot->x - 6 * scale - width, text_y, scale, muted, ticks[i].label);
    }
}

/* Over the curves, so that the edges stay sharp. */
static void draw_frame(const struct canvas *canvas) {
    const struct chart_plot *plot = &canvas->plot;
    int64_t line = plot->scale;
    rectangle(plot->image, plot->x - line, plot->y, line, plot->height + line, axis);
    rectangle(plot->image, plot->x, plot->y + plot->height, plot->width, line, axis);
}

/* ----------------------------------------------------------------------------------------- title, legend */

static void legend_text(const struct chart_curve *curve, bool full, char *text, size_t size) {
    char mean[CHART_LABEL], least[CHART_LABEL], greatest[CHART_LABEL];
    snprintf(text, size, "%s", curve->name);
    if (!full || !curve->has_moments) return;
    chart_number(round_down(curve->mean * 10 + 0.5), -1, mean);
    chart_number((int64_t)curve->least, 0, least);
    chart_number((int64_t)curve->greatest, 0, greatest);
    text_append(text, size, "  mean %s, %s - %s", mean, least, greatest);
}

/* Draws the legend, or measures it. */
static int64_t legend(const struct canvas *canvas, bool full, bool draw, int64_t x, int64_t y) {
    const struct chart *chart = canvas->chart;
    int64_t scale = canvas->plot.scale, start = x;
    for (int c = 0; c < chart->curves; c++) {
        char text[256];
        legend_text(&chart->curve[c], full, text, sizeof text);
        if (draw) {
            rectangle(canvas->plot.image, x, y, 7 * scale, 7 * scale, styles[chart->curve[c].colour].line);
            chart_text(canvas->plot.image, x + 11 * scale, y, canvas->plot.scale, muted, text);
        }
        x += 11 * scale + chart_text_width(text, canvas->plot.scale) + 16 * scale;
    }
    return x - 16 * scale - start;
}

/* What a point of a curve counts. */
static void caption_text(const struct canvas *canvas, char *text, size_t size) {
    const struct chart *chart = canvas->chart;
    const char *unit = chart->whole && (double)chart->bins == chart->to - chart->from ? "value" : "bin";
    if (canvas->group == 1)
        snprintf(text, size, "pixels per %s", unit);
    else
        snprintf(text, size, "pixels per %lld %ss", (long long)canvas->group, unit);
}

static void draw_head(const struct canvas *canvas, bool with_legend) {
    const struct chart *chart = canvas->chart;
    const imgpipe_image *image = canvas->plot.image;
    int scale = canvas->plot.scale;
    int64_t left = canvas->plot.x - scale, right = canvas->plot.x + canvas->plot.width, room = right - left, y = 9 * scale;
    int64_t title = chart_text_width(chart->title, scale);
    if (title <= room) chart_text(image, left, y, scale, ink, chart->title);
    char caption[64];
    caption_text(canvas, caption, sizeof caption);
    int64_t width = chart_text_width(caption, scale);
    if (title + 24 * scale + width <= room) chart_text(image, right - width, y, scale, muted, caption);
    if (!with_legend) return;
    bool full = legend(canvas, true, false, 0, 0) <= room;
    if (full || legend(canvas, false, false, 0, 0) <= room) legend(canvas, full, true, left, y + 15 * scale);
}

/* Small pictures do without labels, legend and title, in this order of importance: what is left fits. */
imgpipe_status chart_draw(const struct chart *chart, const imgpipe_image *out, imgpipe_error *error) {
    int64_t width = out->info.width, height = out->info.height;
    int64_t scale = width / 480 < height / 300 ? width / 480 : height / 300;
    if (scale < 1) scale = 1;
    struct canvas canvas = {.chart = chart};
    canvas.x_labels = height >= 90 && width >= 100;
    canvas.y_labels = width >= 120 && height >= 64;
    bool title = height >= 140 && width >= 160, with_legend = title && height >= 180;
    int64_t pad = (width < 160 || height < 120 ? 4 : 10) * scale;
    int64_t left = canvas.y_labels ? pad + chart_text_width("888k", (int)scale) + 6 * scale : pad;
    int64_t right = canvas.x_labels ? 14 * scale : pad, bottom = canvas.x_labels ? 21 * scale : pad;
    int64_t head = with_legend ? 40 * scale : title ? 25 * scale : pad;
    canvas.plot = (struct chart_plot){out, (int)scale, left, head, width - left - right, height - head - bottom};
    rectangle(out, 0, 0, width, height, paper);
    rectangle(out, left, head, canvas.plot.width, canvas.plot.height, ground);
    choose_points(&canvas);
    imgpipe_status status = choose_top(&canvas, error);
    if (status != IMGPIPE_OK) return status;
    draw_count_axis(&canvas);
    draw_sample_axis(&canvas);
    status = draw_curves(&canvas, error);
    draw_frame(&canvas);
    if (canvas.y_labels && !chart->log) mark_spikes(&canvas);
    if (title) draw_head(&canvas, with_legend);
    return status;
}
