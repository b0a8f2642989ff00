/* Drawing the chart of a histogram into an 8-bit RGB image. The same chart gives the same bytes everywhere: nothing but
 * + - * / and sqrt in double, and integers, decides about a pixel. */
#ifndef CHART_H
#define CHART_H
#include "imgpipe.h"

enum chart_colour { CHART_GRAY, CHART_RED, CHART_GREEN, CHART_BLUE, CHART_ALPHA, CHART_EXTRA };

struct chart_curve {
    const char *name;
    enum chart_colour colour;
    const uint64_t *counts; /* [bins] */
    bool has_moments;       /* the legend shows the next three */
    double mean, least, greatest;
};

struct chart {
    const char *title;
    int curves;
    struct chart_curve curve[4];
    int64_t bins;
    int64_t first, last;       /* the bins shown, half-open */
    double from, to;           /* where bin 0 begins and the last bin ends, in sample units */
    double axis_from, axis_to; /* the part of the axis shown */
    bool whole;                /* samples are whole numbers */
    bool log;
};

/* Fills `out`, 8-bit RGB of any size. */
imgpipe_status chart_draw(const struct chart *chart, const imgpipe_image *out, imgpipe_error *error);

/* ---- chart_curve.c: curves as fills and lines with soft edges */

struct chart_rgb {
    uint8_t rgb[3];
};

/* The area between the axes in the image. */
struct chart_plot {
    const imgpipe_image *image;
    int scale;
    int64_t x, y, width, height;
};

/* In pixels from the lower left corner of the plot; x never falls along a curve. */
struct chart_point {
    double x, y;
};

/* Shades the area below the curve. Fills multiply, so their order does not matter; `strength` is 0 to 255. */
void chart_fill(const struct chart_plot *plot, const struct chart_point *points, int64_t count, struct chart_rgb colour,
                int strength);
/* `dash` is the length of dashes and gaps in columns, 0: none. */
void chart_line(const struct chart_plot *plot, const struct chart_point *points, int64_t count, struct chart_rgb colour,
                double line_width, int64_t dash);

/* ---- chart_font.c: text. Glyphs are drawn by us, and scaled by whole numbers. */

#define CHART_TEXT_HEIGHT 7 /* of digits and capitals, at scale 1 */
int64_t chart_text_width(const char *text, int scale);
/* (x, y) is the upper left corner of the capitals; what lies outside the image is cut. */
void chart_text(const imgpipe_image *image, int64_t x, int64_t y, int scale, struct chart_rgb colour, const char *text);

/* ---- chart_axis.c: numbers */

#define CHART_LABEL 64 /* bytes of a label */
#define CHART_TICKS 64
struct chart_tick {
    double value;
    char label[CHART_LABEL];
};
/* Ticks at multiples of 1, 2 or 5 times a power of ten in [from, to], `wanted` of them or fewer (at most CHART_TICKS).
 * `whole`: no step below 1. */
int chart_sample_ticks(double from, double to, int wanted, bool whole, struct chart_tick *ticks);
/* The same from 0 to `top`, with labels like 1.5k. */
int chart_count_ticks(double top, int wanted, struct chart_tick *ticks);
/* Powers of ten up to `top`. */
int chart_decade_ticks(double top, struct chart_tick *ticks);
/* `digits` times ten to the power of `exponent`, in plain or scientific notation. */
void chart_number(int64_t digits, int exponent, char label[CHART_LABEL]);
/* The same with k, M, G, … after numbers of four digits and more. */
void chart_count(int64_t digits, int exponent, char label[CHART_LABEL]);
/* To three digits: 29.4k. */
void chart_rounded_count(int64_t count, char label[CHART_LABEL]);
/* The base-10 logarithm of a positive finite number. */
double chart_log10(double value);
#endif
