/* The chart of what `hist` found: which part of the axis is shown, the curves' colours, the title. */
#include "chart.h"
#include "hist_data.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum chart_colour curve_colour(const char *name) {
    static const struct {
        const char *name;
        enum chart_colour colour;
    } colours[] = {{"gray", CHART_GRAY}, {"red", CHART_RED}, {"green", CHART_GREEN}, {"blue", CHART_BLUE}, {"alpha", CHART_ALPHA}};
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (!strcmp(name, colours[i].name)) return colours[i].colour;
    return CHART_EXTRA;
}

/* 16-bit images seldom fill their range: the axis is over the occupied part, alpha left out, with a little air. */
static void show_occupied(struct chart *chart, const struct hist_data *data) {
    int colours = data->job.channels - (data->image.format.alpha ? 1 : 0);
    int64_t first = chart->bins, last = 0;
    for (int c = 0; c < colours; c++)
        for (int64_t i = 0; i < chart->bins; i++)
            if (chart->curve[c].counts[i]) {
                first = i < first ? i : first;
                last = i >= last ? i + 1 : last;
            }
    if (first >= last) return;
    int64_t air = (last - first) / 50 > 4 ? (last - first) / 50 : 4;
    chart->first = first > air ? first - air : 0;
    chart->last = last + air < chart->bins ? last + air : chart->bins;
}

static void set_axis(struct chart *chart, const struct hist_data *data) {
    bool whole = chart->whole, given = data->min_given && data->max_given;
    chart->from = whole ? data->min - 0.5 : data->min; /* a value is drawn in the middle of its bin */
    chart->to = whole ? data->max + 0.5 : data->max;
    if (!whole && data->min == data->max) {
        double air = fabs(data->min) / 2 > 0.5 ? fabs(data->min) / 2 : 0.5;
        chart->bins = chart->last = 1;
        chart->from = data->min - air / 16;
        chart->to = data->min + air / 16;
        chart->axis_from = data->min - air;
        chart->axis_to = data->min + air;
        return;
    }
    if (data->image.format.type == IMGPIPE_U16 && !given) show_occupied(chart, data);
    double bin = (chart->to - chart->from) / (double)chart->bins;
    chart->axis_from = chart->from + (double)chart->first * bin;
    chart->axis_to = chart->from + (double)chart->last * bin;
}

/* "512 x 512 pixels, 8-bit RGB", and what the curves do not show. */
static void set_title(const struct hist_data *data, char *title, size_t size) {
    char format[64];
    uint64_t outside[3] = {0, 0, 0};
    static const char *const names[] = {"below", "above", "NaN"};
    for (int c = 0; c < data->job.channels; c++) {
        outside[0] += data->below[c];
        outside[1] += data->above[c];
        outside[2] += data->nan[c];
    }
    snprintf(title, size, "%lld x %lld, %s", (long long)data->image.width, (long long)data->image.height,
             text_format(data->image.format, format));
    for (int i = 0; i < 3; i++)
        if (outside[i]) text_append(title, size, ", %llu %s", (unsigned long long)outside[i], names[i]);
}

imgpipe_status hist_draw(const struct hist_data *data, bool log, const imgpipe_image *out, imgpipe_error *error) {
    bool whole = data->image.format.type != IMGPIPE_F32;
    char title[256];
    struct chart chart = {.title = title, .curves = data->job.channels, .bins = data->bins, .last = data->bins, .whole = whole};
    chart.log = log;
    for (int c = 0; c < chart.curves; c++) {
        const struct hist_moments *m = &data->moments[c];
        chart.curve[c] = (struct chart_curve){
            data->names[c], curve_colour(data->names[c]), data->counts + c * data->bins, whole, m->mean, m->least, m->greatest};
    }
    set_title(data, title, sizeof title);
    set_axis(&chart, data);
    return chart_draw(&chart, out, error);
}
