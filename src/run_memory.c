/* Memory of a pass: slots for the bands of its input and the pieces of its output, enough that every thread has a strip and
 * the next is being decoded, and no more. */
#include "pass_run.h"
#include "status.h"

#include <stdlib.h>

void piece_begin(struct pass_run *pr, int64_t index) {
    struct piece *piece = &pr->pieces[index % pr->io.out.slot_count];
    int64_t height = pr->pass->edges[pr->pass->node_count].info.height, y = index * pr->io.out.band_rows;
    if (y >= height) return;
    piece->pr = pr;
    piece->state = PIECE_FILLING;
    piece->rows_left = height - y < pr->io.out.band_rows ? height - y : pr->io.out.band_rows;
    piece->sink = (struct sink_piece){.y = y, .count = (int)piece->rows_left, .stride = pr->io.out.stride,
                                      .rows = pr->out_slots[index % pr->io.out.slot_count] + pr->io.out.offset};
}

/* All slots lie behind each other in one block, so that neighbouring bands can be copied together. */
static imgpipe_status slots_new(struct pass_run *pr, unsigned char ***slots, int64_t count, size_t size, imgpipe_error *error) {
    char text[32];
    *slots = calloc((size_t)count, sizeof **slots);
    unsigned char *block = *slots ? pool_take(pr->pool, size * (size_t)count) : NULL;
    if (!block)
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for rows: %s; use fewer threads (-j) or lower strips (--strip-rows)",
                         text_bytes(size * (size_t)count, text));
    for (int64_t i = 0; i < count; i++) (*slots)[i] = block + (size_t)i * size;
    return IMGPIPE_OK;
}

static void slots_free(struct pass_run *pr, unsigned char **slots) {
    if (slots) pool_give(pr->pool, slots[0]);
    free(slots);
}

/* Bands of about 256 KiB: large enough to copy well, small enough to be filled while the strip before is computed. */
#define BAND_BYTES (256 << 10)
/* Sources that work on several rows at once like whole groups of them. */
#define BAND_GROUP 8

static imgpipe_status open_input(struct pass_run *pr, const struct store *from, imgpipe_error *error) {
    const struct edge *edge = &pr->pass->edges[0];
    pr->in_height = edge->info.height;
    if (from) {
        pr->io.in = from->view;
        return IMGPIPE_OK;
    }
    struct rows_view *in = &pr->io.in;
    const struct source *source = pr->run->source;
    if (source->pixels && !pr->run->fallback) {
        pr->direct_in = (unsigned char *)source->pixels; /* only read */
        pr->io.bare = true;
        *in = (struct rows_view){&pr->direct_in, 1, pr->in_height, source->stride, 0};
        return IMGPIPE_OK;
    }
    in->stride = (ptrdiff_t)row_stride(edge);
    in->offset = row_offset(edge);
    in->band_rows = BAND_BYTES / in->stride;
    if (in->band_rows > BAND_GROUP) in->band_rows = (in->band_rows + BAND_GROUP / 2) / BAND_GROUP * BAND_GROUP;
    if (source->fetch_rows > 0 && in->band_rows > source->fetch_rows) in->band_rows = source->fetch_rows;
    if (in->band_rows < 1) in->band_rows = 1;
    if (in->band_rows > pr->in_height) in->band_rows = pr->in_height;
    pr->in_bands = (pr->in_height + in->band_rows - 1) / in->band_rows;
    int64_t rows = strip_most(pr->pass, 0) + pr->pass->strip_rows * pr->run->in_flight;
    in->slot_count = rows / in->band_rows + 3;
    if (in->slot_count > pr->in_bands) in->slot_count = pr->in_bands;
    pr->users = calloc((size_t)in->slot_count, sizeof *pr->users);
    pr->rows = calloc((size_t)in->band_rows, sizeof *pr->rows);
    /* With one thread nothing runs beside, and what was fetched is best used while it is in a cache. */
    if (source->fetch_rows > 0) pr->ahead = tasks_threads(pr->run->tasks) > 1 ? SOURCE_AHEAD : 1;
    if (!pr->users || !pr->rows) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for rows");
    imgpipe_status failed = slots_new(pr, &pr->in_slots, in->slot_count, (size_t)(in->band_rows * in->stride), error);
    in->slots = pr->in_slots;
    return failed;
}

static imgpipe_status open_output(struct pass_run *pr, const struct store *into, imgpipe_error *error) {
    const struct edge *edge = &pr->pass->edges[pr->pass->node_count];
    if (pr->pass->end == PASS_DROP) return IMGPIPE_OK;
    if (into) {
        pr->io.out = into->view;
        return IMGPIPE_OK;
    }
    struct rows_view *out = &pr->io.out;
    int64_t height = edge->info.height;
    if (pr->run->sink->pixels) {
        pr->direct_out = pr->run->sink->pixels;
        *out = (struct rows_view){&pr->direct_out, 1, height, pr->run->sink->stride, 0};
        return IMGPIPE_OK;
    }
    out->stride = (ptrdiff_t)row_stride(edge);
    out->offset = row_offset(edge);
    out->band_rows = pr->run->sink->piece_rows < height ? pr->run->sink->piece_rows : height;
    pr->pieces_total = (height + out->band_rows - 1) / out->band_rows;
    int64_t rows = pr->pass->strip_rows * (pr->run->in_flight + 2);
    out->slot_count = rows / out->band_rows + 2 + pr->run->in_flight;
    if (out->slot_count > pr->pieces_total) out->slot_count = pr->pieces_total;
    pr->pieces = calloc((size_t)out->slot_count, sizeof *pr->pieces);
    if (!pr->pieces) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for rows");
    imgpipe_status failed = slots_new(pr, &pr->out_slots, out->slot_count, (size_t)(out->band_rows * out->stride), error);
    out->slots = pr->out_slots;
    for (int64_t i = 0; !failed && i < out->slot_count; i++) piece_begin(pr, i);
    return failed;
}

imgpipe_status pass_run_open(struct pass_run *pr, struct store *from, struct store *into, imgpipe_error *error) {
    pr->pool = pr->run->backend->pool;
    imgpipe_status failed = open_input(pr, from, error);
    if (!failed) failed = open_output(pr, into, error);
    pr->strip_slots = 2 * pr->run->in_flight + 2;
    pr->io.strips = pr->strip_slots;
    pr->strips = calloc((size_t)pr->strip_slots, sizeof *pr->strips);
    if (!failed && !pr->strips) failed = error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for strips");
    for (int64_t i = 0; !failed && i < pr->strip_slots; i++) pr->strips[i].strip.owner = pr;
    return failed;
}

void pass_run_close(struct pass_run *pr) {
    for (int64_t i = 0; pr->pieces && i < pr->io.out.slot_count; i++)
        if (pr->pieces[i].sink.encoded && pr->run->sink->ops->discard) pr->run->sink->ops->discard(pr->run->sink, &pr->pieces[i].sink);
    if (pr->backend) pr->run->backend->ops->close(pr->backend, pr->run->backend_seconds);
    slots_free(pr, pr->in_slots);
    slots_free(pr, pr->out_slots);
    free(pr->users);
    free(pr->rows);
    free(pr->pieces);
    free(pr->strips);
    pthread_mutex_destroy(&pr->lock);
}
