/* The exported functions that run chains on pixels in memory and on rows that come and go. */
#include "clock.h"
#include "job.h"
#include "layout.h"
#include "range.h"
#include "row_ends.h"
#include "status.h"

static bool same_info(const imgpipe_info *a, const imgpipe_info *b) {
    return a->width == b->width && a->height == b->height && layout_same_format(a->format, b->format);
}

static imgpipe_status check_out(const imgpipe_info *out, const imgpipe_info *made, imgpipe_error *error) {
    if (same_info(out, made)) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                     "the output image has not the size and format that the chain makes; ask "
                     "imgpipe_chain_output()");
}

/* Whether each pixel of the result depends on the one at its place alone. */
static bool pointwise(const struct plan *plan) {
    for (int i = 0; i < plan->pass_count; i++) {
        if (plan->passes[i].render) return false;
        for (int k = 0; k < plan->passes[i].node_count; k++)
            if (plan->passes[i].nodes[k].kind == NODE_LOCAL) return false;
    }
    return true;
}

imgpipe_status job_check_overlap(const struct plan *plan, const imgpipe_image *in, const imgpipe_image *out, bool *shared,
                                 imgpipe_error *error) {
    *shared = false;
    if (!layout_overlap(in, out)) return IMGPIPE_OK;
    if (!layout_same_place(in, out))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "the memory of the input and the output overlap, and pixels would be overwritten "
                         "before they are read; give the output memory of its own");
    *shared = pointwise(plan);
    if (*shared) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                     "the output is the memory of the input, and the chain has stages that read more than "
                     "the pixel at the same place; give the output memory of its own");
}

static imgpipe_status make_plan(struct job *job, const imgpipe_chain *chain, const imgpipe_info *in, bool no_output,
                                imgpipe_error *error) {
    struct plan_options wishes = job_plan_options(job, no_output);
    plan_free(job->plan);
    job->plan = NULL;
    return plan_make(chain, in, &wishes, &job->plan, error);
}

imgpipe_status imgpipe_run_image(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_image *in,
                                 const imgpipe_image *out, const imgpipe_run_options *options, imgpipe_report *report,
                                 imgpipe_error *error) {
    imgpipe_run_options defaults = imgpipe_run_options_default();
    struct job job = {.context = context, .options = options ? options : &defaults, .began = clock_now()};
    bool shared = false;
    imgpipe_status failed = job_check(context, job.options, error);
    if (!failed && !in) failed = error_set(error, IMGPIPE_ERROR_ARGUMENT, "no input image was given");
    if (!failed) failed = layout_check_image(in, "input", error);
    if (!failed && out) failed = layout_check_image(out, "output", error);
    if (report) job_clear_report(report);
    if (!failed) failed = make_plan(&job, chain, &in->info, !out, error);
    if (!failed && out) failed = check_out(&out->info, &job.plan->out, error);
    if (!failed && out) failed = job_check_overlap(job.plan, in, out, &shared, error);
    if (!failed) failed = source_memory(in, shared, &job.source, error);
    if (!failed && out) failed = sink_memory(out, &job.plan->out, 0, 0, &job.sink, error);
    if (!failed) failed = job_run(&job, report, error);
    return job_end(&job, failed, report, error);
}

/* ---- a part of an image */

static int64_t clip(int64_t at, int64_t low, int64_t high) {
    return at < low ? low : at > high ? high : at;
}

static imgpipe_status refuse(const imgpipe_stage *stage, const char *why, imgpipe_error *error) {
    return imgpipe_stage_fail(stage, error, NULL, 0, 0,
                              "%s, which a region of an image cannot have; run the chain on the whole image", why);
}

/* The part of the input that the region depends on. It holds the region itself, and touches the image's edge wherever a stage looks
 * beyond that: so that the chain makes of this part alone, at the place of the region, what it makes there of the whole image. */
static imgpipe_status region_input(const struct plan *plan, imgpipe_rect region, imgpipe_rect *part, imgpipe_error *error) {
    const struct pass *pass = &plan->passes[0];
    const imgpipe_info *in = &plan->in;
    for (int i = 0; i < plan->stage_count; i++) {
        const imgpipe_stage *stage = &plan->stages[i];
        if (stage == plan->range)
            return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                             "a depth that makes integers of f32 looks at all pixels, which a region of an "
                             "image does not have; write f32, or run the chain on the whole image");
        if (stage->identity) continue;
        if (stage->filter->kind == IMGPIPE_GATHER) return refuse(stage, "it looks at all pixels", error);
        if (stage->filter->kind == IMGPIPE_WHOLE) return refuse(stage, "it needs all pixels at once", error);
        if (stage->filter->kind == IMGPIPE_LOCAL && stage->border == IMGPIPE_BORDER_WRAP)
            return refuse(stage, "its border is the other side of the image", error);
        if (stage->out.width != in->width || stage->out.height != in->height) return refuse(stage, "it changes the size", error);
    }
    *part = region;
    for (int k = pass->node_count - 1; k >= 0; k--) {
        const imgpipe_stage *stage = pass->nodes[k].stage;
        if (pass->nodes[k].kind != NODE_LOCAL || !stage->filter->need) continue;
        imgpipe_rect need = stage->filter->need(stage, *part);
        part->x0 = clip(need.x0, 0, part->x0);
        part->y0 = clip(need.y0, 0, part->y0);
        part->x1 = clip(need.x1, part->x1, in->width);
        part->y1 = clip(need.y1, part->y1, in->height);
    }
    return IMGPIPE_OK;
}

static imgpipe_image cut_out(const imgpipe_image *image, imgpipe_rect rect) {
    imgpipe_image part = *image;
    part.info.width = rect.x1 - rect.x0;
    part.info.height = rect.y1 - rect.y0;
    part.pixels = (unsigned char *)image->pixels + rect.y0 * image->stride +
                  rect.x0 * (int64_t)imgpipe_layout_pixel_size(image->info.format, image->layout);
    return part;
}

static imgpipe_status check_region(const imgpipe_image *in, imgpipe_rect r, const imgpipe_image *out, imgpipe_error *error) {
    if (!in || !out) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "an input and an output image are needed");
    imgpipe_status failed = layout_check_image(in, "input", error);
    if (!failed) failed = layout_check_image(out, "output", error);
    if (failed) return failed;
    if (r.x0 >= 0 && r.y0 >= 0 && r.x0 < r.x1 && r.y0 < r.y1 && r.x1 <= in->info.width && r.y1 <= in->info.height)
        return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                     "the region, columns %lld to %lld and rows %lld to %lld, is empty or not within the image of "
                     "%lld x %lld pixels",
                     (long long)r.x0, (long long)r.x1, (long long)r.y0, (long long)r.y1, (long long)in->info.width,
                     (long long)in->info.height);
}

imgpipe_status imgpipe_run_region(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_image *in,
                                  imgpipe_rect region, const imgpipe_image *out, const imgpipe_run_options *options,
                                  imgpipe_report *report, imgpipe_error *error) {
    imgpipe_run_options defaults = imgpipe_run_options_default();
    struct job job = {.context = context, .options = options ? options : &defaults, .began = clock_now()};
    imgpipe_image part;
    imgpipe_rect need;
    bool shared;
    imgpipe_status failed = job_check(context, job.options, error);
    if (report) job_clear_report(report);
    if (!failed) failed = check_region(in, region, out, error);
    if (!failed) failed = make_plan(&job, chain, &in->info, false, error);
    if (!failed) failed = region_input(job.plan, region, &need, error);
    if (!failed) {
        imgpipe_info want = {region.x1 - region.x0, region.y1 - region.y0, job.plan->out.format};
        failed = check_out(&out->info, &want, error);
    }
    if (!failed) {
        part = cut_out(in, need);
        failed = job_check_overlap(job.plan, &part, out, &shared, error);
    }
    if (!failed) failed = make_plan(&job, chain, &part.info, false, error);
    if (!failed) failed = source_memory(&part, shared, &job.source, error);
    if (!failed) failed = sink_memory(out, &job.plan->out, region.x0 - need.x0, region.y0 - need.y0, &job.sink, error);
    if (!failed) failed = job_run(&job, report, error);
    return job_end(&job, failed, report, error);
}

/* ---- rows that come and go */

imgpipe_row_stream imgpipe_row_stream_default(void) {
    return (imgpipe_row_stream){.struct_size = sizeof(imgpipe_row_stream)};
}

static imgpipe_status check_stream(const imgpipe_row_stream *stream, imgpipe_error *error) {
    if (!stream || stream->struct_size != sizeof *stream)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "imgpipe_row_stream: struct_size is not that of this library; use "
                         "imgpipe_row_stream_default()");
    if (!stream->read) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_row_stream: there is no function that reads rows");
    return layout_check(&stream->in, stream->in_layout, "input", error);
}

imgpipe_status imgpipe_run_rows(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_row_stream *stream,
                                const imgpipe_run_options *options, imgpipe_report *report, imgpipe_error *error) {
    imgpipe_run_options defaults = imgpipe_run_options_default();
    struct job job = {.context = context, .options = options ? options : &defaults, .began = clock_now()};
    struct row_ends ends = {.stream = stream, .lock = PTHREAD_MUTEX_INITIALIZER};
    imgpipe_status failed = job_check(context, job.options, error);
    if (report) job_clear_report(report);
    if (!failed) failed = check_stream(stream, error);
    if (!failed) failed = make_plan(&job, chain, &stream->in, !stream->write, error);
    if (!failed && stream->write) failed = layout_check(&job.plan->out, stream->out_layout, "output", error);
    if (!failed) failed = source_rows(&ends, &job.source, error);
    if (!failed && stream->write) failed = sink_rows(&ends, &job.plan->out, &job.sink, error);
    if (!failed) failed = job_run(&job, report, error);
    return job_end(&job, failed, report, error);
}
