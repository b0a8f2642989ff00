/* The exported functions that run chains on pixels in memory. */
#include "clock.h"
#include "job.h"
#include "layout.h"
#include "status.h"

static bool same_info(const imgpipe_info *a, const imgpipe_info *b) {
    return a->width == b->width && a->height == b->height && a->format.type == b->format.type &&
           a->format.channels == b->format.channels && a->format.alpha == b->format.alpha;
}

imgpipe_status imgpipe_run_image(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_image *in, const imgpipe_image *out,
                                 const imgpipe_run_options *options, imgpipe_report *report, imgpipe_error *error) {
    imgpipe_run_options defaults = imgpipe_run_options_default();
    struct job job = {.context = context, .options = options ? options : &defaults, .began = clock_now()};
    imgpipe_status failed = job_check(context, job.options, error);
    if (!failed && !in) failed = error_set(error, IMGPIPE_ERROR_ARGUMENT, "no input image was given");
    if (!failed) failed = layout_check_image(in, "input", error);
    if (!failed && out) failed = layout_check_image(out, "output", error);
    if (report) job_clear_report(report);
    if (!failed) failed = source_memory(in, &job.source, error);
    if (!failed) {
        struct plan_options wishes = job_plan_options(&job, !out);
        failed = plan_make(chain, &in->info, &wishes, &job.plan, error);
    }
    if (!failed && out && !same_info(&out->info, &job.plan->out))
        failed = error_set(error, IMGPIPE_ERROR_ARGUMENT, "the output image has not the size and format that the chain makes; ask "
                                                          "imgpipe_chain_output()");
    if (!failed && out) failed = sink_memory(out, &job.sink, error);
    if (!failed) failed = job_run(&job, report, error);
    return job_end(&job, failed, report, error);
}
