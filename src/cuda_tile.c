/* One tile through the three streams: rows that are not yet there go up, the nodes run, the rows of the output come down.
 * Nothing here waits; events order the streams. */
#include "cuda_pass.h"
#include "status.h"

#include <stdio.h>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define TRACE_BEGIN(name) nvtxRangePushA(name)
#define TRACE_END() nvtxRangePop()
#else
#define TRACE_BEGIN(name) ((void)0)
#define TRACE_END() ((void)0)
#endif

static int64_t row_bytes(const struct edge *edge) { return edge->info.width * (int64_t)imgpipe_pixel_size(edge->info.format); }

/* Rows [y0, y1) that lie together both in the ring, where row y0 has position `at`, and in the host's bands, as many as possible. */
static int64_t together(const struct rows_view *view, int64_t ring, int64_t at, int64_t y0, int64_t y1) {
    int64_t to = y1;
    if (ring && y0 + ring - at % ring < to) to = y0 + ring - at % ring;
    int64_t turn = view->slot_count * view->band_rows; /* slots of one block lie behind each other */
    if ((y0 / turn + 1) * turn < to) to = (y0 / turn + 1) * turn;
    return to;
}

static imgpipe_status upload(struct backend_pass *bp, int64_t until, imgpipe_error *error) {
    const struct edge *edge = &bp->io.pass->edges[0];
    const struct cuda_edge *ce = &bp->edges[0];
    while (bp->uploaded < until + bp->shift) {
        int64_t y = bp->uploaded - bp->shift, to = together(&bp->io.in, ce->rows, bp->uploaded, y, until);
        unsigned char *slot = ce->memory + bp->uploaded % ce->rows * ce->stride;
        CUDA_TRY(cudaMemcpy2DAsync(slot, (size_t)ce->stride, rows_at(&bp->io.in, y), (size_t)bp->io.in.stride, (size_t)row_bytes(edge),
                                   (size_t)(to - y), cudaMemcpyHostToDevice, bp->up));
        bp->uploaded = to + bp->shift;
    }
    if (bp->held < bp->uploaded - ce->rows) bp->held = bp->uploaded - ce->rows;
    return IMGPIPE_OK;
}

/* Where strips are shared out among several devices, one does not get them one behind the other: rows from `from` on then follow
 * those of the strip before in the ring, so that they can go up beside it. */
static void turn_ring(struct backend_pass *bp, int64_t from) {
    int64_t at = from + bp->shift;
    if (at >= bp->held && at <= bp->uploaded) return;
    bp->shift = bp->uploaded - from;
    bp->held = bp->uploaded;
}

/* The slots about to be overwritten may still be read by tiles under way: waits, on the upload stream, for the last of them. */
static imgpipe_status wait_for_slots(struct backend_pass *bp, int64_t until, imgpipe_error *error) {
    int64_t lost = until + bp->shift - bp->edges[0].rows; /* what is at positions below this is overwritten */
    int64_t oldest = bp->tiles > CUDA_MARKS ? bp->tiles - CUDA_MARKS : 0;
    for (int64_t t = bp->tiles - 1; t >= oldest && lost > 0; t--) {
        struct cuda_mark *mark = &bp->crew->marks[t % CUDA_MARKS];
        if (mark->at >= lost) continue;
        CUDA_TRY(cudaStreamWaitEvent(bp->up, mark->compute1, 0));
        break;
    }
    return IMGPIPE_OK;
}

/* A view of edge e's rows [rows.y0, rows.y1) of this tile as the input of a launch. */
static void view_in(const struct backend_pass *bp, int e, struct strip_rows held, int64_t out_slot, imgpipe_tile *tile) {
    const struct cuda_edge *ce = &bp->edges[e];
    bool last = e == bp->io.pass->node_count && e > 0;
    tile->in = ce->memory + (last ? out_slot * ce->rows * ce->stride : 0);
    tile->in_stride = ce->stride;
    tile->in_ring = ce->rows;
    tile->in_slot = e == 0 ? (held.y0 + bp->shift) % ce->rows : 0;
    tile->in_rect = (imgpipe_rect){0, held.y0, bp->io.pass->edges[e].info.width, held.y1};
}

static imgpipe_status copy_node(const struct backend_pass *bp, int k, const imgpipe_tile *tile, imgpipe_error *error) {
    const struct edge *edge = &bp->io.pass->edges[k];
    for (int64_t y = tile->out_rect.y0; y < tile->out_rect.y1;) {
        int64_t slot = tile->in_slot + (y - tile->in_rect.y0), to = tile->out_rect.y1;
        if (slot >= tile->in_ring) slot -= tile->in_ring;
        if (to - y > tile->in_ring - slot) to = y + tile->in_ring - slot;
        CUDA_TRY(cudaMemcpy2DAsync((unsigned char *)tile->out + (y - tile->out_rect.y0) * tile->out_stride, (size_t)tile->out_stride,
                                   (const unsigned char *)tile->in + slot * tile->in_stride, (size_t)tile->in_stride,
                                   (size_t)row_bytes(edge), (size_t)(to - y), cudaMemcpyDeviceToDevice, bp->backend->compute));
        y = to;
    }
    return IMGPIPE_OK;
}

static imgpipe_status run_gathers(const struct backend_pass *bp, int e, struct strip_rows held, int64_t out_slot,
                                  imgpipe_error *error) {
    const struct edge *edge = &bp->io.pass->edges[e];
    for (int g = 0; g < edge->gather_count; g++) {
        const imgpipe_stage *stage = edge->gathers[g].stage;
        imgpipe_tile tile = {.state = bp->edges[e].gather_state[g]};
        view_in(bp, e, held, out_slot, &tile);
        tile.in_slot = (tile.in_slot + held.own0 - held.y0) % tile.in_ring;
        tile.in_rect.y0 = held.own0;
        tile.in_rect.y1 = held.own1;
        tile.out_rect = tile.in_rect;
        if (held.own0 < held.own1) {
            imgpipe_status failed = cuda_check((cudaError_t)stage->cuda(stage, &tile, 1, bp->backend->compute), stage->filter->name, error);
            if (failed) return failed;
        }
    }
    return IMGPIPE_OK;
}

static imgpipe_status run_node(const struct backend_pass *bp, int k, imgpipe_tile *tile, imgpipe_error *error) {
    const struct node *node = &bp->io.pass->nodes[k];
    const struct cuda_node *cn = &bp->nodes[k];
    tile->constants = cn->constants;
    tile->scratch = cn->scratch;
    if (node->kind == NODE_COPY) return copy_node(bp, k, tile, error);
    if (node->kind == NODE_POINT)
        return cuda_check((cudaError_t)point_cuda(&node->program, cn->tables, tile, 1, bp->backend->compute), "point kernel", error);
    return cuda_check((cudaError_t)node->stage->cuda(node->stage, tile, 1, bp->backend->compute), node->stage->filter->name, error);
}

static imgpipe_status compute(struct backend_pass *bp, int64_t out_slot, imgpipe_error *error) {
    const struct pass *pass = bp->io.pass;
    struct strip_rows held = bp->rows[0];
    if (cuda_pass_whole(bp)) held.y0 = 0, held.y1 = bp->edges[0].rows;
    imgpipe_status failed = run_gathers(bp, 0, held, out_slot, error);
    for (int k = 0; !failed && k < pass->node_count; k++) {
        imgpipe_tile tile = {0};
        view_in(bp, k, held, out_slot, &tile);
        const struct cuda_edge *out = &bp->edges[k + 1];
        struct strip_rows made = bp->rows[k + 1];
        tile.out = out->memory + (k + 1 == pass->node_count ? out_slot * out->rows * out->stride : 0);
        tile.out_stride = out->stride;
        tile.out_rect = (imgpipe_rect){0, made.y0, pass->edges[k + 1].info.width, made.y1};
        failed = run_node(bp, k, &tile, error);
        held = made;
        if (!failed) failed = run_gathers(bp, k + 1, held, out_slot, error);
    }
    return failed;
}

static imgpipe_status download(struct backend_pass *bp, int64_t index, int64_t out_slot, imgpipe_error *error) {
    int last = bp->io.pass->node_count;
    const struct edge *edge = &bp->io.pass->edges[last];
    const struct cuda_edge *ce = &bp->edges[last];
    int64_t y0 = index * bp->tiled.strip_rows, y1 = y0 + bp->tiled.strip_rows;
    if (y1 > edge->info.height) y1 = edge->info.height;
    int64_t first = bp->rows[last].y0;
    for (int64_t y = y0; y < y1;) {
        int64_t to = together(&bp->io.out, 0, 0, y, y1);
        const unsigned char *from = ce->memory + (out_slot * ce->rows + (y - first)) * ce->stride;
        CUDA_TRY(cudaMemcpy2DAsync(rows_at(&bp->io.out, y), (size_t)bp->io.out.stride, from, (size_t)ce->stride, (size_t)row_bytes(edge),
                                   (size_t)(to - y), cudaMemcpyDeviceToHost, bp->down));
        y = to;
    }
    return IMGPIPE_OK;
}

/* What the kernels of this tile must wait for: its rows, and the download of the tile that had its slot of the output. */
static imgpipe_status order_compute(const struct backend_pass *bp, const struct cuda_mark *mark, imgpipe_error *error) {
    if (bp->alone) return IMGPIPE_OK;
    CUDA_TRY(cudaStreamWaitEvent(bp->backend->compute, mark->up1, 0));
    if (bp->tiles >= CUDA_OUT_TILES)
        CUDA_TRY(cudaStreamWaitEvent(bp->backend->compute, bp->crew->marks[(bp->tiles - CUDA_OUT_TILES) % CUDA_MARKS].down1, 0));
    return IMGPIPE_OK;
}

imgpipe_status cuda_tile_enqueue(struct backend_pass *bp, int64_t index, struct strip *last_of, imgpipe_error *error) {
    struct cuda_mark *mark = &bp->crew->marks[bp->tiles % CUDA_MARKS];
    strip_rows(&bp->tiled, 0, index, bp->rows);
    int64_t out_slot = bp->tiles % CUDA_OUT_TILES, in1 = bp->rows[0].y1;
    mark->strip = last_of;
    if (cuda_pass_whole(bp)) /* the window may read any of it */
        in1 = bp->edges[0].rows;
    else
        turn_ring(bp, bp->rows[0].y0);
    mark->at = cuda_pass_whole(bp) ? 0 : bp->rows[0].y0 + bp->shift;
    imgpipe_status failed = wait_for_slots(bp, in1, error);
    if (failed) return failed;
    if (bp->tiles == 0) CUDA_TRY(cudaEventRecord(bp->crew->origin, bp->up));
    CUDA_TRY(cudaEventRecord(mark->up0, bp->up));
    if ((failed = upload(bp, in1, error))) return failed;
    CUDA_TRY(cudaEventRecord(mark->up1, bp->up));
    if ((failed = order_compute(bp, mark, error))) return failed;
    CUDA_TRY(cudaEventRecord(mark->compute0, bp->backend->compute));
    TRACE_BEGIN("imgpipe tile");
    failed = compute(bp, out_slot, error);
    TRACE_END();
    if (failed) return failed;
    CUDA_TRY(cudaEventRecord(mark->compute1, bp->backend->compute));
    if (!bp->alone) CUDA_TRY(cudaStreamWaitEvent(bp->down, mark->compute1, 0));
    CUDA_TRY(cudaEventRecord(mark->down0, bp->down));
    if (bp->io.out.slots && (failed = download(bp, index, out_slot, error))) return failed;
    CUDA_TRY(cudaEventRecord(mark->down1, bp->down));
    return IMGPIPE_OK;
}
