/* Rows in memory as bands, and the strip: the unit of work that a backend gets. */
#ifndef STRIP_H
#define STRIP_H
#include "plan.h"
#include "tasks.h"

/* Rows of an image kept in bands of `band_rows` consecutive rows; band i is in slot i % slot_count. A store is one band
 * of the image's height. */
struct rows_view {
    unsigned char *const *slots;
    int64_t slot_count, band_rows;
    ptrdiff_t stride;
    size_t offset;                  /* bytes from a row's start to its column 0 */
};

static inline unsigned char *rows_at(const struct rows_view *view, int64_t y) {
    int64_t band = y / view->band_rows;
    return view->slots[band % view->slot_count] + (y - band * view->band_rows) * view->stride + view->offset;
}

/* The layout of a padded row: slack and padding before column 0 such that it is aligned, padding and slack behind. */
size_t row_offset(const struct edge *edge);
size_t row_stride(const struct edge *edge);
/* Fills the pixels beyond both ends of a row as `border` says; `value` is one pixel, for CONSTANT. */
void row_pad(unsigned char *row, const struct edge *edge, imgpipe_border border, const unsigned char *value);
/* One pixel of the border value of `stage`, at most 16 bytes. */
void border_pixel(const imgpipe_stage *stage, imgpipe_format format, unsigned char pixel[16]);
/* Pads `row` of edge `e` for the node that reads it, if that needs padding. */
void edge_pad(const struct pass *pass, int e, unsigned char *row);

struct strip {
    struct task task;               /* for the backend's use */
    struct backend_pass *backend;
    int64_t index, y0, y1;          /* output rows */
    int64_t in0, in1;               /* input rows, within the image */
    /* Called by the backend, on any thread, exactly once. `error` is filled if status is not OK. */
    void (*done)(struct strip *strip, imgpipe_status status, const imgpipe_error *error);
    void *owner;
};

/* Rows of one edge in one strip. */
struct strip_rows {
    int64_t y0, y1;                 /* made: what later nodes need, and what gathers own */
    int64_t own0, own1;             /* for gathers: every row of an edge belongs to one strip and no other */
};

/* The rows of edges `e` and above of strip `index`; rows[0] is edge e. */
void strip_rows(const struct pass *pass, int e, int64_t index, struct strip_rows *rows);
/* The rows of the input that the strip needs. */
void strip_input(const struct pass *pass, int64_t index, int64_t *y0, int64_t *y1);
/* The most rows of edge `e` that any strip of the pass makes. */
int64_t strip_most(const struct pass *pass, int e);
#endif
