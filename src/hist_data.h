/* What `hist` found, and writing it as CSV or JSON. */
#ifndef HIST_DATA_H
#define HIST_DATA_H
#include "imgpipe.h"
#include "hist.h"

/* stage->data of `hist`. Belongs to the stage; final once the last walk is finished. */
struct hist_data {
    struct hist_job job; /* first: the kernels read it there */
    imgpipe_info image;
    uint64_t pixels;
    const char *names[4]; /* of the channels */
    int64_t bins;
    double min, max; /* the range; whole numbers for integers, exact float32 otherwise */
    bool min_given, max_given;
    uint64_t *counts; /* [channel][bins] */
    uint64_t below[4], above[4], nan[4];
    struct hist_moments {
        double mean, least, greatest;
    } moments[4]; /* integers only: of all values, in the range or not */
};

extern const imgpipe_filter filter_hist;

/* The counts as numbers, in the layout of imgpipe_histogram. */
imgpipe_histogram hist_describe(const struct hist_data *data);
void hist_export(const struct hist_data *data, uint64_t *counts, bool add);

/* The least value that belongs to `bin`; hist_edge(bin + 1) ends it. A bin that no value of the type falls into has equal
 * edges. The last bin of f32 holds its upper edge, too. */
double hist_edge(const struct hist_data *data, int64_t bin);

typedef bool hist_write(void *to, const char *text, size_t length);
/* Both stop when write() returns false. Numbers do not depend on the locale. */
void hist_write_csv(const struct hist_data *data, hist_write *write, void *to);
void hist_write_json(const struct hist_data *data, hist_write *write, void *to);

/* Draws the chart into `out`, 8-bit RGB; `log` makes the axis of counts logarithmic. */
imgpipe_status hist_draw(const struct hist_data *data, bool log, const imgpipe_image *out, imgpipe_error *error);
#endif
