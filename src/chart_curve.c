/* Curves. Everything goes column by column: of the curve only the few points near a column count for it. */
#include "chart.h"

#include <math.h>

#define SAMPLES 4 /* heights taken in each column of a fill */

static uint8_t *plot_pixel(const struct chart_plot *plot, int64_t column, int64_t row) {
    int64_t y = plot->y + plot->height - 1 - row;
    return (uint8_t *)plot->image->pixels + y * plot->image->stride + (plot->x + column) * 3;
}

static double clamp01(double v) {
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

/* The height of the segment from `p` to `p + 1` at x, which lies in it. */
static double height_at(const struct chart_point *p, double x) {
    double dx = p[1].x - p[0].x;
    return dx > 0 ? p[0].y + (p[1].y - p[0].y) * ((x - p[0].x) / dx) : p[1].y;
}

/* A sample under a colour whose share is in 255ths. */
static uint8_t filled(uint8_t sample, uint8_t colour, int share) {
    int factor = 255 * 255 - share * (255 - colour);
    return (uint8_t)((sample * factor + 255 * 255 / 2) / (255 * 255));
}

void chart_fill(const struct chart_plot *plot, const struct chart_point *points, int64_t count, struct chart_rgb colour,
                int strength) {
    int64_t at = 0;
    uint8_t whole[3][256]; /* what becomes of samples that are covered wholly */
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++) whole[c][v] = filled((uint8_t)v, colour.rgb[c], strength);
    for (int64_t column = 0; column < plot->width; column++) {
        double heights[SAMPLES], most = 0, least = (double)plot->height;
        for (int s = 0; s < SAMPLES; s++) {
            double x = (double)column + (s + 0.5) / SAMPLES;
            while (at + 2 < count && points[at + 1].x <= x) at++;
            bool covered = x >= points[0].x && x <= points[count - 1].x;
            heights[s] = covered ? height_at(points + at, x) : 0;
            most = heights[s] > most ? heights[s] : most;
            least = heights[s] < least ? heights[s] : least;
        }
        int64_t row = 0;
        for (; (double)(row + 1) <= least; row++) {
            uint8_t *pixel = plot_pixel(plot, column, row);
            for (int c = 0; c < 3; c++) pixel[c] = whole[c][pixel[c]];
        }
        for (; row < plot->height && (double)row < most; row++) {
            double cover = 0;
            for (int s = 0; s < SAMPLES; s++) cover += clamp01(heights[s] - (double)row);
            int share = (int)(cover / SAMPLES * strength + 0.5);
            uint8_t *pixel = plot_pixel(plot, column, row);
            for (int c = 0; c < 3; c++) pixel[c] = filled(pixel[c], colour.rgb[c], share);
        }
    }
}

/* Square of the distance of (x, y) from the segment from `p` to `p + 1`. */
static double distance_square(const struct chart_point *p, double x, double y) {
    double dx = p[1].x - p[0].x, dy = p[1].y - p[0].y, length = dx * dx + dy * dy;
    double t = length > 0 ? clamp01(((x - p[0].x) * dx + (y - p[0].y) * dy) / length) : 0;
    double ex = x - (p[0].x + t * dx), ey = y - (p[0].y + t * dy);
    return ex * ex + ey * ey;
}

/* A segment along the bottom shows nothing. */
static bool flat(const struct chart_point *p) {
    return p[0].y <= 0 && p[1].y <= 0;
}

/* Rows that the segment may touch in columns [x0, x1]. */
static void segment_rows(const struct chart_point *p, double x0, double x1, double *low, double *high) {
    double y0 = p[0].x < x0 ? height_at(p, x0) : p[0].y, y1 = p[1].x > x1 ? height_at(p, x1) : p[1].y;
    double least = y0 < y1 ? y0 : y1, most = y0 < y1 ? y1 : y0;
    *low = least < *low ? least : *low;
    *high = most > *high ? most : *high;
}

static void blend(uint8_t *pixel, struct chart_rgb colour, double cover) {
    int share = (int)(cover * 256 + 0.5);
    for (int c = 0; c < 3; c++) pixel[c] = (uint8_t)((pixel[c] * (256 - share) + colour.rgb[c] * share + 128) >> 8);
}

static void line_column(const struct chart_plot *plot, const struct chart_point *points, int64_t begin, int64_t end, int64_t column,
                        struct chart_rgb colour, double reach) {
    double x = (double)column + 0.5, low = 1e300, high = -1e300;
    for (int64_t i = begin; i < end; i++)
        if (!flat(points + i)) segment_rows(points + i, x - reach, x + reach, &low, &high);
    if (low > high) return;
    int64_t from = low - reach > 0 ? (int64_t)(low - reach) : 0;
    int64_t to = high + reach < (double)plot->height ? (int64_t)(high + reach) + 1 : plot->height;
    for (int64_t row = from; row < to && row < plot->height; row++) {
        double square = reach * reach;
        for (int64_t i = begin; i < end; i++) {
            double d = flat(points + i) ? square : distance_square(points + i, x, (double)row + 0.5);
            square = d < square ? d : square;
        }
        double cover = clamp01(reach - sqrt(square));
        if (cover > 0) blend(plot_pixel(plot, column, row), colour, cover);
    }
}

void chart_line(const struct chart_plot *plot, const struct chart_point *points, int64_t count, struct chart_rgb colour,
                double line_width, int64_t dash) {
    double reach = line_width / 2 + 0.5;
    int64_t begin = 0;
    for (int64_t column = 0; column < plot->width; column++) {
        double x = (double)column + 0.5;
        while (begin + 1 < count && points[begin + 1].x < x - reach) begin++;
        int64_t end = begin;
        while (end + 1 < count && points[end].x <= x + reach) end++;
        if (dash && column / dash % 2) continue;
        line_column(plot, points, begin, end, column, colour, reach);
    }
}
