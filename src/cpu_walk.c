#include "cpu_walk.h"
#include "layout.h"
#include "pixel.h"

#include <string.h>

/* ---- memory of a worker: the same function measures and hands out */

/* Both ends of a row take longer than as many columns elsewhere, so rows are at least so many times longer than an end; and no
 * shorter than the copies, in the small images of tests. */
#define SIDE_SHARE 16
#define SIDE_LEAST 4
#define ALIGN_UP(n, a) (((n) + (a)-1) / (a) * (a))

struct carver {
    unsigned char *base; /* NULL: only measure */
    size_t used;
};

static void *carve(struct carver *carver, size_t size) {
    void *at = carver->base ? carver->base + carver->used : NULL;
    carver->used += (size + 127) / 64 * 64;
    return at;
}

/* The most input rows that a step of node k reads. */
static int64_t window_rows(const struct pass *pass, int k) {
    int64_t height = pass->edges[k + 1].info.height, step = pass->step_rows < height ? pass->step_rows : height;
    int64_t most = 0;
    /* need() is monotonic and, for filters that change the size, nearly periodic: a few places tell the largest window. */
    for (int i = 0; i < 8; i++) {
        int64_t y = (height - step) * i / 7;
        imgpipe_rect need = node_need(&pass->nodes[k], &pass->edges[k + 1], y, y + step);
        if (need.y1 - need.y0 > most) most = need.y1 - need.y0;
    }
    return most + 1;
}

/* Rows of a bare image have no padding and no slack: point operations and gathers, which read a row and nothing beside it, take
 * them as they are, for all others each worker copies them into a ring. */
static bool copies_rows(const struct backend_pass *bp) {
    const struct pass *pass = bp->io.pass;
    if (!bp->io.bare) return false;
    return (pass->node_count > 0 && pass->nodes[0].kind == NODE_LOCAL) || !layout_plain(pass->edges[0].info.format, bp->io.in_layout);
}

/* Rows that a stage makes some columns of at a time are read where they are but for both ends, beside which the border must be: to
 * copy all of them takes a quarter of the time of a box mean. The pixels of either end that are made of copies: so many that what is
 * read beside all others lies within the row. 0: whole rows are copied. */
static int64_t side_columns(const struct backend_pass *bp) {
    const struct pass *pass = bp->io.pass;
    const struct edge *edge = &pass->edges[0];
    if (!copies_rows(bp) || !layout_plain(edge->info.format, bp->io.in_layout) || !pass->nodes[0].stage->columns) return 0;
    int64_t pixel = (int64_t)imgpipe_pixel_size(edge->info.format);
    int64_t pad = edge->pad_left > edge->pad_right ? edge->pad_left : edge->pad_right;
    int64_t side = ALIGN_UP(pad + (IMGPIPE_ROW_SLACK + pixel - 1) / pixel, 32);
    bool wide = edge->info.width >= (bp->io.poison ? SIDE_LEAST : SIDE_SHARE) * side;
    return wide && edge->info.width == pass->edges[1].info.width && !edge->gather_count ? side : 0;
}

void worker_ends(const struct backend_pass *bp, struct worker *worker) {
    const struct pass *pass = bp->io.pass;
    int last = pass->node_count;
    worker->edges[0].ring = copies_rows(bp) ? worker->edges[0].spare : NULL;
    if (last > 0 && bp->io.out.slots)
        worker->edges[last].ring =
            layout_plain(pass->edges[last].info.format, bp->io.out_layout) ? NULL : worker->edges[last].spare;
}

size_t worker_lay_out(struct backend_pass *bp, struct worker *worker, unsigned char *base) {
    const struct pass *pass = bp->io.pass;
    struct carver in_base = {.base = base}, *carver = &in_base;
    size_t gather_scratch = 0;
    for (int e = 0; e <= pass->node_count; e++) {
        const struct edge *edge = &pass->edges[e];
        struct walk_edge *we = &worker->edges[e];
        we->stride = row_stride(edge);
        we->offset = row_offset(edge);
        bool banded = e == 0 ? !copies_rows(bp) && !(bp->io.bare && bp->io.laid_out)
                             : e == pass->node_count && bp->io.out.slots && !bp->io.laid_out;
        if (!banded) {
            int64_t rows = e < pass->node_count ? window_rows(pass, e) : 0;
            we->ring_rows = rows > pass->step_rows ? rows : pass->step_rows;
            we->ring = we->spare = carve(carver, we->stride * (size_t)we->ring_rows);
        }
        for (int g = 0; g < edge->gather_count; g++) {
            const imgpipe_stage *stage = edge->gathers[g].stage;
            we->gather_state[g] = carve(carver, stage->gather_size);
            if (stage->scratch_size > gather_scratch) gather_scratch = stage->scratch_size;
        }
    }
    worker->gather_scratch = carve(carver, gather_scratch);
    for (int k = 0; k < pass->node_count; k++) {
        const struct node *node = &pass->nodes[k];
        struct walk_node *wn = &worker->nodes[k];
        wn->in_capacity = window_rows(pass, k);
        wn->in = carve(carver, sizeof(void *) * (size_t)wn->in_capacity);
        wn->ahead = carve(carver, sizeof(void *) * (size_t)pass->step_rows);
        wn->out = carve(carver, sizeof(void *) * (size_t)pass->step_rows);
        wn->constant_row = carve(carver, worker->edges[k].stride);
        bool parts = k == 0 && bp->io.bare && node->kind == NODE_LOCAL && node->stage->columns;
        wn->state_size = node->kind == NODE_LOCAL ? ALIGN_UP(node->stage->state_size, (size_t)IMGPIPE_ROW_ALIGN) : 0;
        wn->state = carve(carver, wn->state_size * (parts ? 3 : 1));
        wn->scratch = carve(carver, node->kind == NODE_LOCAL ? node->stage->scratch_size : POINT_SCRATCH);
    }
    return carver->used;
}

static void fill_constant_row(const struct pass *pass, int k, struct walk_node *wn, const struct walk_edge *we) {
    const struct node *node = &pass->nodes[k];
    const struct edge *edge = &pass->edges[k];
    unsigned char value[16];
    size_t pixel = imgpipe_pixel_size(edge->info.format);
    if (node->kind != NODE_LOCAL) return;
    border_pixel(node->stage, edge->info.format, value);
    unsigned char *row = wn->constant_row + we->offset;
    for (int64_t x = -edge->pad_left; x < edge->info.width + edge->pad_right; x++) memcpy(row + x * (int64_t)pixel, value, pixel);
}

void worker_forget(struct backend_pass *bp, struct worker *worker) {
    const struct pass *pass = bp->io.pass;
    for (int e = 0; e <= pass->node_count; e++)
        for (int g = 0; g < pass->edges[e].gather_count; g++)
            memset(worker->edges[e].gather_state[g], 0, pass->edges[e].gathers[g].stage->gather_size);
}

void worker_begin(struct backend_pass *bp, struct worker *worker) {
    const struct pass *pass = bp->io.pass;
    for (int k = 0; k < pass->node_count; k++) fill_constant_row(pass, k, &worker->nodes[k], &worker->edges[k]);
    worker_forget(bp, worker);
}

/* ---- the walk */

static unsigned char *edge_row(const struct backend_pass *bp, const struct worker *worker, int e, int64_t y) {
    const struct walk_edge *we = &worker->edges[e];
    if (!we->ring) return rows_at(e == 0 ? &bp->io.in : &bp->io.out, y);
    return we->ring + (size_t)(y % we->ring_rows) * we->stride + we->offset;
}

static void run_gathers(struct backend_pass *bp, struct worker *worker, int e, int64_t y0, int64_t y1) {
    const struct edge *edge = &bp->io.pass->edges[e];
    struct walk_edge *we = &worker->edges[e];
    if (y0 < we->own0) y0 = we->own0;
    if (y1 > we->own1) y1 = we->own1;
    while (edge->gather_count && y0 < y1) {
        const void *in[32];
        int count = y1 - y0 < 32 ? (int)(y1 - y0) : 32;
        for (int i = 0; i < count; i++) in[i] = edge_row(bp, worker, e, y0 + i);
        imgpipe_rows rows = {.in = in,
                             .y = y0,
                             .in_y = y0,
                             .count = count,
                             .in_count = count,
                             .in_width = edge->info.width,
                             .out_width = edge->info.width,
                             .scratch = worker->gather_scratch};
        for (int g = 0; g < edge->gather_count; g++)
            edge->gathers[g].stage->gather(edge->gathers[g].stage, &rows, we->gather_state[g]);
        y0 += count;
    }
}

/* Pads finished rows for whoever reads them next, and shows them to the gathers. */
static void finish_rows(struct backend_pass *bp, struct worker *worker, int e, int64_t y0, int64_t y1) {
    const struct pass *pass = bp->io.pass;
    bool last = e == pass->node_count;
    for (int64_t y = y0; y < y1; y++) {
        if (!last)
            edge_pad(pass, e, edge_row(bp, worker, e, y));
        else if (bp->io.next)
            edge_pad(bp->io.next, 0, edge_row(bp, worker, e, y));
        else if (worker->edges[e].ring && bp->io.out.slots)
            layout_write(pass->edges[e].info.format, bp->io.out_layout, edge_row(bp, worker, e, y), rows_at(&bp->io.out, y),
                         pass->edges[e].info.width);
    }
    run_gathers(bp, worker, e, y0, y1);
}

/* Images of less are often in the L2 cache, because they were made just before. */
#define AHEAD_BYTES (1 << 20)

/* Rows of the caller's memory that the steps to come begin with, for the first node to have fetched while it computes. A step reads
 * as many rows as it makes. NULL where there are none. */
static const void *const *rows_ahead(const struct backend_pass *bp, const struct worker *worker, int k, int count, size_t shift) {
    const struct pass *pass = bp->io.pass;
    int64_t y = worker->edges[k].made, end = worker->edges[k].end;
    /* Behind the strip's end other threads go on. */
    if (bp->worker_count == 1) end = pass->edges[k].info.height;
    if (!bp->io.bare || k > 0 || y >= end) return NULL;
    if ((double)bp->io.in.stride * (double)bp->io.in.band_rows < AHEAD_BYTES) return NULL;
    for (int i = 0; i < count; i++) worker->nodes[k].ahead[i] = rows_at(&bp->io.in, y + i < end ? y + i : end - 1) + shift;
    return worker->nodes[k].ahead;
}

/* A part of the columns of what a node makes in a step. */
struct columns {
    int part;       /* of which there are three at most, each with a state of its own */
    int64_t x0, x1; /* of the output; those of the input are the same but for nodes that make the whole width at once */
    bool in_place;  /* the rows of the caller's image are read */
};

/* Points at the rows of a step of node k: [y, y + count) of what it makes and those that it needs for them. */
static void set_rows(const struct backend_pass *bp, const struct worker *worker, int k, int64_t y, int count,
                     const imgpipe_rect *need, const struct columns *columns) {
    const struct node *node = &bp->io.pass->nodes[k];
    const struct edge *edges = &bp->io.pass->edges[k];
    const struct walk_node *wn = &worker->nodes[k];
    imgpipe_border border = node->kind == NODE_LOCAL ? node->stage->border : IMGPIPE_BORDER_CLAMP;
    size_t in_shift = (size_t)columns->x0 * imgpipe_pixel_size(edges[0].info.format);
    size_t out_shift = (size_t)columns->x0 * imgpipe_pixel_size(edges[1].info.format);
    for (int64_t i = need->y0; i < need->y1; i++) {
        int64_t from = border_index(border, i, edges[0].info.height);
        const unsigned char *row = from < 0            ? wn->constant_row + worker->edges[k].offset
                                   : columns->in_place ? rows_at(&bp->io.in, from)
                                                       : edge_row(bp, worker, k, from);
        wn->in[i - need->y0] = row + in_shift;
    }
    for (int i = 0; i < count; i++) wn->out[i] = edge_row(bp, worker, k + 1, y + i) + out_shift;
}

static void run_local(struct backend_pass *bp, struct worker *worker, int k, int64_t y, int count, const imgpipe_rect *need) {
    const imgpipe_stage *stage = bp->io.pass->nodes[k].stage;
    const struct edge *edges = &bp->io.pass->edges[k];
    struct walk_node *wn = &worker->nodes[k];
    const int64_t width = edges[1].info.width, side = k == 0 ? worker->side : 0;
    const struct columns whole = {0, 0, width, false};
    const struct columns parts[3] = {{0, 0, side, false}, {1, side, width - side, true}, {2, width - side, width, false}};
    for (int i = 0; i < (side ? 3 : 1); i++) {
        const struct columns *columns = side ? &parts[i] : &whole;
        set_rows(bp, worker, k, y, count, need, columns);
        imgpipe_rows rows = {.in = wn->in,
                             .out = wn->out,
                             .y = y,
                             .in_y = need->y0,
                             .count = count,
                             .in_count = (int)(need->y1 - need->y0),
                             .in_width = side ? columns->x1 - columns->x0 : edges[0].info.width,
                             .out_width = columns->x1 - columns->x0,
                             .first = !wn->started,
                             .state = wn->state + (size_t)columns->part * wn->state_size,
                             .scratch = wn->scratch};
        rows.ahead = rows_ahead(bp, worker, k, count, (size_t)columns->x0 * imgpipe_pixel_size(edges[0].info.format));
        stage->rows(stage, &rows);
    }
    wn->started = true;
}

static void run_node(struct backend_pass *bp, struct worker *worker, int k, int64_t y, int count, const imgpipe_rect *need) {
    const struct node *node = &bp->io.pass->nodes[k];
    struct walk_node *wn = &worker->nodes[k];
    int64_t out_width = bp->io.pass->edges[k + 1].info.width;
    if (node->kind == NODE_LOCAL) {
        run_local(bp, worker, k, y, count, need);
        return;
    }
    set_rows(bp, worker, k, y, count, need, &(struct columns){0, 0, out_width, false});
    for (int i = 0; i < count; i++) {
        if (node->kind == NODE_COPY)
            memcpy(wn->out[i], wn->in[i], (size_t)out_width * imgpipe_pixel_size(node->program.out));
        else
            bp->backend->point->run(&node->program, wn->in[i], wn->out[i], out_width, wn->scratch);
    }
}

/* Copies a row of a bare image, or what the columns at its ends need of it. */
static imgpipe_status copy_row(const struct backend_pass *bp, struct worker *worker, int64_t y, unsigned char *row) {
    const struct edge *edge = &bp->io.pass->edges[0];
    const unsigned char *from = rows_at(&bp->io.in, y);
    size_t pixel = imgpipe_pixel_size(edge->info.format), size = (size_t)edge->info.width * pixel;
    size_t end = 2 * (size_t)worker->side * pixel;
    if (!worker->side) return layout_read(edge->info.format, bp->io.in_layout, from, row, edge->info.width, y, &worker->error);
    memcpy(row, from, end);
    memcpy(row + size - end, from + size - end, end);
    return IMGPIPE_OK;
}

/* Copies rows of a bare image up to `until`. */
static void copy_rows(struct backend_pass *bp, struct worker *worker, int64_t until) {
    const struct pass *pass = bp->io.pass;
    struct walk_edge *we = &worker->edges[0];
    while (we->made < until && !worker->stopped) {
        int64_t y = we->made, next = y + pass->step_rows < until ? y + pass->step_rows : until;
        for (int64_t i = y; i < next; i++) {
            unsigned char *row = edge_row(bp, worker, 0, i);
            if (bp->io.poison) memset(row - we->offset, 0xa5, we->stride);
            worker->status = copy_row(bp, worker, i, row);
            if (worker->status) break;
        }
        finish_rows(bp, worker, 0, y, next);
        we->made = next;
        worker->stopped = worker->status || cancel_asked(bp->io.cancel);
    }
}

/* Makes the rows of edge e up to `until` from those of the edge before it, which it makes first. */
static void make_rows(struct backend_pass *bp, struct worker *worker, int e, int64_t until) {
    const struct pass *pass = bp->io.pass;
    struct walk_edge *we = &worker->edges[e];
    if (until > we->end) until = we->end;
    if (e == 0 && we->ring) copy_rows(bp, worker, until);
    while (e > 0 && we->made < until) {
        const struct node *node = &pass->nodes[e - 1];
        int64_t y = we->made, next = y + pass->step_rows < until ? y + pass->step_rows : until;
        imgpipe_rect need = node_need(node, &pass->edges[e], y, next);
        make_rows(bp, worker, e - 1, need.y1 > 0 ? need.y1 : 1);
        worker->stopped = worker->stopped || cancel_asked(bp->io.cancel);
        if (worker->stopped) return;
        for (int64_t i = y; i < next && bp->io.poison && we->ring; i++)
            memset(edge_row(bp, worker, e, i) - we->offset, 0xa5, we->stride);
        run_node(bp, worker, e - 1, y, (int)(next - y), &need);
        finish_rows(bp, worker, e, y, next);
        we->made = next;
    }
}

void worker_walk(struct backend_pass *bp, struct worker *worker, const struct strip *strip) {
    const struct pass *pass = bp->io.pass;
    worker->stopped = false;
    worker->status = IMGPIPE_OK;
    worker->side = side_columns(bp);
    strip_rows(pass, 0, strip->index, worker->rows);
    for (int e = 0; e <= pass->node_count; e++) {
        struct walk_edge *we = &worker->edges[e];
        we->made = worker->rows[e].y0;
        we->end = worker->rows[e].y1;
        we->own0 = worker->rows[e].own0;
        we->own1 = worker->rows[e].own1;
    }
    for (int k = 0; k < pass->node_count; k++) {
        worker->nodes[k].started = false;
        memset(worker->nodes[k].state, 0, worker->nodes[k].state_size * (k == 0 && worker->side ? 3 : 1));
    }
    if (!worker->edges[0].ring) run_gathers(bp, worker, 0, strip->in0, strip->in1);
    /* The last edge pulls what it needs; rows that only a gather wants come after, when no later node needs the rings. */
    for (int e = pass->node_count; e >= 0; e--)
        if (e == pass->node_count || pass->edges[e].gather_count) make_rows(bp, worker, e, worker->edges[e].end);
}
