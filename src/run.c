/* A run: the passes of the plan one after another, with stores or drawn images between them, and what gathers write. */
#include "run.h"
#include "outfile.h"
#include "range.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The image that a gather or a whole stage draws after its pass becomes the input of the next one. */
static imgpipe_status render(struct run *run, const struct pass *pass, const struct store *from, struct store **drawn,
                             imgpipe_error *error) {
    const imgpipe_stage *stage = pass->render;
    imgpipe_status failed = store_new(&pass[1].edges[0], run->backend->pool, run->memory, drawn, error);
    if (failed) return failed;
    struct rows_view *view = &(*drawn)->view;
    imgpipe_image out = {.info = stage->out, .pixels = rows_at(view, 0), .stride = view->stride};
    imgpipe_image in = {.info = stage->in};
    if (from) {
        in.pixels = rows_at(&from->view, 0);
        in.stride = from->view.stride;
    }
    failed = stage->filter->render(stage, from ? &in : NULL, &out, error);
    for (int64_t y = 0; !failed && y < stage->out.height; y++)
        if (pass[1].node_count) edge_pad(&pass[1], 0, rows_at(view, y));
    return failed;
}

static bool write_text(void *to, const char *text, size_t length) { return outfile_write(to, text, length); }

static bool write_stream(void *to, const char *text, size_t length) { return fwrite(text, 1, length, to) == length; }

/* Hands the data of a gather, as the filter writes them into a file with this ending, to who asked for them. */
static imgpipe_status hand_over_data(const struct run *run, const imgpipe_stage *stage, imgpipe_error *error) {
    imgpipe_stage as_json = *stage;
    as_json.side_data = "data.json";
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (to) stage->filter->side_data(&as_json, write_stream, to);
    bool taken = to && !ferror(to);
    if (to && fclose(to) != 0) taken = false;
    taken = taken && run->options->take_data(run->options->take_user, stage->filter, text, length);
    free(text);
    return taken ? IMGPIPE_OK : error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the data of %s; free some", stage->filter->name);
}

static imgpipe_status write_side_data(const struct run *run, imgpipe_error *error) {
    const struct plan *plan = run->plan;
    for (int i = 0; i < plan->stage_count; i++) {
        const imgpipe_stage *stage = &plan->stages[i];
        struct outfile *out = NULL;
        imgpipe_status failed = IMGPIPE_OK;
        if (stage->filter->kind != IMGPIPE_GATHER || !stage->filter->side_data) continue;
        if (run->options->take_data) failed = hand_over_data(run, stage, error);
        if (!failed && !stage->side_data) continue;
        if (!failed) failed = outfile_open_among(run->folders, stage->side_data, false, &out, error);
        if (failed) return failed;
        outfile_cancel(out, &run->cancel);
        stage->filter->side_data(stage, write_text, out);
        failed = outfile_commit(out, error);
        if (failed) return failed;
    }
    return IMGPIPE_OK;
}

imgpipe_status run_check_range(const struct plan *plan, const struct log *log, imgpipe_error *error) {
    if (!plan->range) return IMGPIPE_OK;
    struct range_result found = range_found(plan->range);
    if (found.outside == 0) return IMGPIPE_OK;
    if (found.nans == found.samples)
        return error_set(error, IMGPIPE_ERROR_INPUT, "every sample is NaN, so nothing would be left as integers; write a kind that "
                                                     "holds f32 (pfm)");
    if (found.outside == found.samples && found.low == found.high)
        return error_set(error, IMGPIPE_ERROR_INPUT, "every sample is %.9g, outside 0...1, so nothing would be left as integers; write a "
                                                     "kind that holds f32 (pfm)", (double)found.low);
    if (found.outside == found.samples)
        return error_set(error, IMGPIPE_ERROR_INPUT, "every sample lies outside 0...1 (%.9g to %.9g), so nothing would be left as integers; "
                                                     "add the stage levels=%.9g:%.9g:0:1, or write a kind that holds f32 (pfm)",
                         (double)found.low, (double)found.high, (double)found.low, (double)found.high);
    log_line(log, IMGPIPE_LOG_NOTICE, "%llu of %llu samples lie outside 0...1 (%.9g to %.9g) and were clamped",
             (unsigned long long)found.outside, (unsigned long long)found.samples, (double)found.low, (double)found.high);
    return IMGPIPE_OK;
}

struct edge pass_stored(const struct pass *pass) {
    return pass->render_whole ? pass->edges[pass->node_count] : pass[1].edges[0];
}

imgpipe_status run_plan(struct run *run, imgpipe_error *error) {
    struct plan *plan = run->plan;
    struct store *from = NULL;
    imgpipe_status failed = IMGPIPE_OK;
    for (int i = 0; i < plan->pass_count && !failed; i++) {
        const struct pass *pass = &plan->passes[i];
        struct store *into = NULL, *drawn = NULL;
        if (pass->end == PASS_STORE) {
            struct edge edge = pass_stored(pass);
            failed = store_new(&edge, run->backend->pool, run->memory, &into, error);
        }
        if (!failed) failed = run_pass(run, i, from, into, error);
        if (!failed && i == 0 && run->source) failed = source_finish(run->source, error);
        if (!failed && pass->render) failed = render(run, pass, into, &drawn, error);
        if (pass->keeps_input && !failed) continue;
        store_free(from);
        from = drawn ? drawn : into;
        if (drawn && into) store_free(into);
    }
    store_free(from);
    if (!failed) failed = run_check_range(plan, run->log, error);
    if (!failed && run->sink && run->sink->ops->finish) failed = run->sink->ops->finish(run->sink, error);
    if (!failed) failed = write_side_data(run, error);
    return failed;
}
