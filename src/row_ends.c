/* Source and sink of an image that comes and goes row by row through functions of the caller's. */
#include "row_ends.h"
#include "layout.h"
#include "sink.h"
#include "source.h"
#include "status.h"

#include <stdlib.h>

struct row_source {
    struct source base;
    struct row_ends *ends;
    void *row; /* as the caller writes it, where that is not how the chain takes it; else NULL */
};

struct row_sink {
    struct sink base;
    struct row_ends *ends;
    void *row;
};

/* Whether the run has been ended, by whichever of the two it was first; then with its reason. */
static imgpipe_status ended(struct row_ends *ends, imgpipe_error *error) {
    pthread_mutex_lock(&ends->lock);
    imgpipe_status failed = ends->failed;
    if (failed && error) *error = ends->error;
    pthread_mutex_unlock(&ends->lock);
    return failed;
}

static imgpipe_status end(struct row_ends *ends, imgpipe_status failed, const imgpipe_error *why, imgpipe_error *error) {
    pthread_mutex_lock(&ends->lock);
    if (!ends->failed) {
        ends->failed = failed;
        ends->error = *why;
    }
    pthread_mutex_unlock(&ends->lock);
    return ended(ends, error);
}

/* What becomes of the answer `status` to row y; `said` was cleared before the call. */
static imgpipe_status answer(struct row_ends *ends, const char *what, int64_t y, imgpipe_status status, const imgpipe_error *said,
                             imgpipe_error *error) {
    imgpipe_error why;
    if (status == IMGPIPE_OK) return IMGPIPE_OK;
    if ((int)status < 0 || status > IMGPIPE_ERROR_INTERNAL)
        status =
            error_set(&why, IMGPIPE_ERROR_ARGUMENT, "the function that %s rows answered %d to row %lld, which is no imgpipe_status",
                      what, (int)status, (long long)y);
    else if (said->message[0])
        error_set(&why, status, "%s", said->message);
    else
        error_set(&why, status, "the function that %s rows ended the run at row %lld, and did not say why", what, (long long)y);
    why.fault = said->fault;
    return end(ends, status, &why, error);
}

static imgpipe_status rows_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    struct row_source *from = (struct row_source *)source;
    const imgpipe_row_stream *stream = from->ends->stream;
    imgpipe_status failed = IMGPIPE_OK;
    for (int i = 0; i < count && !failed; i++) {
        int64_t y = source->next_row + i;
        imgpipe_error said = {0};
        if ((failed = ended(from->ends, error))) break;
        failed =
            answer(from->ends, "reads", y, stream->read(stream->user, y, from->row ? from->row : rows[i], &said), &said, error);
        if (failed || !from->row) continue;
        failed = layout_read(stream->in.format, stream->in_layout, from->row, rows[i], stream->in.width, y, &said);
        if (failed) end(from->ends, failed, &said, error);
    }
    return failed;
}

static void rows_source_close(struct source *source) {
    free(((struct row_source *)source)->row);
    free(source);
}

static imgpipe_status rows_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    struct row_sink *to = (struct row_sink *)sink;
    const imgpipe_row_stream *stream = to->ends->stream;
    imgpipe_status failed = IMGPIPE_OK;
    for (int i = 0; i < piece->count && !failed; i++) {
        int64_t y = piece->y + i;
        const void *row = piece->rows + i * piece->stride;
        imgpipe_error said = {0};
        if ((failed = ended(to->ends, error))) break;
        if (to->row) layout_write(sink->info.format, stream->out_layout, row, to->row, sink->info.width);
        failed = answer(to->ends, "writes", y, stream->write(stream->user, y, to->row ? to->row : row, &said), &said, error);
    }
    return failed;
}

static void rows_sink_close(struct sink *sink) {
    free(((struct row_sink *)sink)->row);
    free(sink);
}

static const struct source_ops source_ops = {.name = "rows", .read = rows_read, .close = rows_source_close};
static const struct sink_ops sink_ops = {.name = "rows", .commit = rows_commit, .close = rows_sink_close};

/* A row for the caller, or NULL where it may have the chain's own. Returns false if there is no memory. */
static bool row_new(const imgpipe_info *info, imgpipe_layout layout, void **row) {
    *row = NULL;
    if (layout_plain(info->format, layout)) return true;
    size_t bytes = (size_t)info->width * imgpipe_layout_pixel_size(info->format, layout);
    *row = aligned_alloc(64, (bytes + 63) / 64 * 64);
    return *row != NULL;
}

imgpipe_status source_rows(struct row_ends *ends, struct source **result, imgpipe_error *error) {
    *result = NULL;
    struct row_source *source = calloc(1, sizeof *source);
    if (!source || !row_new(&ends->stream->in, ends->stream->in_layout, &source->row)) {
        free(source);
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for reading rows; free some");
    }
    source->ends = ends;
    source->base.ops = &source_ops;
    source->base.info = ends->stream->in;
    metadata_init(&source->base.metadata);
    *result = &source->base;
    return IMGPIPE_OK;
}

imgpipe_status sink_rows(struct row_ends *ends, const imgpipe_info *info, struct sink **result, imgpipe_error *error) {
    *result = NULL;
    struct row_sink *sink = calloc(1, sizeof *sink);
    if (!sink || !row_new(info, ends->stream->out_layout, &sink->row)) {
        free(sink);
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for writing rows; free some");
    }
    sink->ends = ends;
    sink->base.ops = &sink_ops;
    sink->base.info = *info;
    sink->base.piece_rows = sink_piece_rows(info);
    *result = &sink->base;
    return IMGPIPE_OK;
}
