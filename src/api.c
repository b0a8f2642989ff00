/* The exported functions that run chains on files, and those that tell what there is: check the arguments, call inward. */
#include "clock.h"
#include "job.h"
#include "metadata_carry.h"
#include "outfile.h"
#include "outfile_path.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

imgpipe_run_options imgpipe_run_options_default(void) {
    return (imgpipe_run_options){.struct_size = sizeof(imgpipe_run_options),  .level = -1, .alpha = -1, .max_pixels = (uint64_t)16 << 30,
                                 .background = {1, 1, 1}};
}

imgpipe_report imgpipe_report_default(void) { return (imgpipe_report){.struct_size = sizeof(imgpipe_report)}; }

const imgpipe_codec_info *imgpipe_codec_at(int index) {
    const struct encoder *encoder = encoder_at(index);
    return encoder ? &encoder->info : NULL;
}

static imgpipe_status find_encoder(struct job *job, const char *path, imgpipe_error *error) {
    const char *format = job->options->format;
    job->encoder = format ? encoder_find(format) : encoder_for_path(path);
    if (job->encoder && job->encoder->open) return IMGPIPE_OK;
    char kinds[200] = "";
    for (int i = 0; encoder_at(i); i++)
        if (encoder_at(i)->open) text_append(kinds, sizeof kinds, "%s%s", *kinds ? ", " : "", encoder_at(i)->info.name);
    if (job->encoder && job->encoder->info.package)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: this build does not write %s; install the package %s and build again, or choose "
                                                        "one of %s", path, job->encoder->info.name, job->encoder->info.package, kinds);
    if (job->encoder)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: %s is read but not written; the kinds that are written are %s", path,
                         job->encoder->info.name, kinds);
    if (format) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "format '%s' is unknown; the kinds that are written are %s", format, kinds);
    return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: the kind of output is not known from this name; name it by --format or by an "
                                                    "extension: %s", strcmp(path, "-") == 0 ? "standard output" : path, kinds);
}

static imgpipe_status open_source(struct job *job, const char *path, imgpipe_error *error) {
    struct input *input;
    imgpipe_status failed = input_open(path, &job->context->cancel, &input, error);
    if (failed) return failed;
    struct source_options options = {.log = job_log(job), .max_pixels = job->options->max_pixels, .memory = job->context->memory,
                                     .page = job->options->page, .alpha = job->options->alpha,
                                     .allow_truncated = job->options->allow_truncated, .isa = job->context->isa};
    return source_open(input, &options, &job->source, error);
}

/* From here on the source's metadata are what the output carries. */
static imgpipe_status carry_metadata(struct job *job, imgpipe_error *error) {
    const struct plan *plan = job->plan;
    struct carry carry = {.in = plan->in, .out = plan->out, .changed = plan->changed, .chart = plan->chart, .turned = plan->turned,
                          .strip = job->options->strip, .carries = job->encoder->carries, .kind = job->encoder->info.name,
                          .log = job_log(job)};
    if (metadata_carry(&job->source->metadata, &carry)) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for what the file says beside its pixels; free some");
}

static imgpipe_status open_sink(struct job *job, const char *path, imgpipe_error *error) {
    const imgpipe_info *info = &job->plan->out;
    if (job->encoder->size_fits && !job->encoder->size_fits(info->width, info->height))
        return error_set(error, IMGPIPE_ERROR_INPUT, "%s: %s cannot hold an image of %lld x %lld pixels; choose png", path,
                         job->encoder->info.name, (long long)info->width, (long long)info->height);
    imgpipe_status failed = carry_metadata(job, error);
    if (!failed && !job->out)
        failed = outfile_open_among(&job->context->folders, path, job->options->overwrite == IMGPIPE_OVERWRITE_NEVER, &job->out, error);
    if (failed) return failed;
    outfile_cancel(job->out, &job->context->cancel);
    /* How the input was stored says something to an output of the same kind only. */
    bool same = job->source->codec && strcmp(job->source->codec, job->encoder->info.name) == 0;
    int sampling = job->options->subsampling;
    struct sink_options options = {.log = job_log(job),
                                   .isa = job->context->isa, .level = job->options->level < 0 ? 4 : job->options->level,
                                   .quality = job->options->quality ? job->options->quality : 90,
                                   .subsampling = sampling ? sampling : same && job->source->storage.subsampling == 420 ? 420 : 444,
                                   .memory = job_memory(job), .metadata = &job->source->metadata, .storage = same ? &job->source->storage : NULL};
    return job->encoder->open(job->out, info, &options, &job->sink, error);
}

/* Gives the side data of this image their own names. */
static imgpipe_status name_side_data(struct job *job, imgpipe_error *error) {
    for (int i = 0; i < job->plan->stage_count; i++) {
        imgpipe_stage *stage = &job->plan->stages[i];
        if (!stage->side_data) continue;
        char *name = job->options->data_name(job->options->data_user, stage->side_data);
        char *kept = name ? imgpipe_stage_alloc(stage, strlen(name) + 1, error) : NULL;
        if (kept) strcpy(kept, name);
        free(name);
        if (!kept) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the name of side data; free some");
        stage->side_data = kept;
    }
    return IMGPIPE_OK;
}

/* Side data must not replace the input, the image or other data; two outputs into one pipe would be neither. */
static imgpipe_status check_side_data(const struct plan *plan, const char *in, const char *out, imgpipe_error *error) {
    for (int i = 0; i < plan->stage_count; i++) {
        const imgpipe_stage *stage = &plan->stages[i];
        const char *data = stage->side_data, *what = NULL;
        if (!data) continue;
        if (out && outfile_same_place(data, out)) what = "the image";
        for (int k = 0; k < i && !what; k++)
            if (plan->stages[k].side_data && outfile_same_place(data, plan->stages[k].side_data)) what = "the data of a stage before it";
        if (!what && strcmp(in, "-") != 0 && outfile_same_place(data, in))
            return imgpipe_stage_fail(stage, error, "data", 0, 0, "'%s' is the input, and data would replace it; name another file", data);
        if (what && strcmp(data, "-") == 0)
            return imgpipe_stage_fail(stage, error, "data", 0, 0, "standard output cannot carry two things, and %s goes there; write the "
                                                                  "image or the data to a file", what);
        if (what)
            return imgpipe_stage_fail(stage, error, "data", 0, 0, "'%s' is where %s goes; name another file", data, what);
    }
    return IMGPIPE_OK;
}

/* A stream is continued only where nothing of the images before would be lost: side data have one place for one image. */
static bool takes_several(const struct job *job) {
    for (int i = 0; i < job->plan->stage_count; i++)
        if (job->plan->stages[i].side_data) return false;
    return job->encoder && job->encoder->several;
}

/* Runs the chain on the image that stands next in the input. */
static imgpipe_status run_one(struct job *job, const imgpipe_chain *chain, const char *in, const char *out, imgpipe_report *report,
                              imgpipe_error *error) {
    struct plan_options wishes = job_plan_options(job, !out);
    imgpipe_status failed = plan_make(chain, &job->source->info, &wishes, &job->plan, error);
    if (!failed && job->options->data_name) failed = name_side_data(job, error);
    if (!failed) failed = check_side_data(job->plan, in, out, error);
    if (!failed && out) failed = open_sink(job, out, error);
    if (failed) return failed;
    wishes.memory = job_memory(job); /* the sink has its part of it now */
    plan_strips(job->plan, &wishes);
    job->source->options.several = takes_several(job);
    log_hold_end(&job->hold, true);
    return job_run(job, report, error);
}

/* Goes on to the image that follows in the same input. What it is, and so the plan, may differ from image to image. */
static imgpipe_status next_image(struct job *job, imgpipe_error *error) {
    struct source_options options = job->source->options;
    sink_close(job->sink);
    plan_free(job->plan);
    job->sink = NULL;
    job->plan = NULL;
    job->later = true;
    struct input *input = source_release(job->source);
    job->source = NULL;
    if (job->out && !outfile_flush(job->out)) {
        input_close(input);
        return outfile_fail(job->out, error);
    }
    return source_open(input, &options, &job->source, error);
}

imgpipe_status imgpipe_run_file(imgpipe_context *context, const imgpipe_chain *chain, const char *in, const char *out,
                                const imgpipe_run_options *options, imgpipe_report *report, imgpipe_error *error) {
    imgpipe_run_options defaults = imgpipe_run_options_default();
    struct job job = {.context = context, .options = options ? options : &defaults, .began = clock_now()};
    imgpipe_status failed = job_check(context, job.options, error);
    if (!failed && !in) failed = error_set(error, IMGPIPE_ERROR_ARGUMENT, "no input was named");
    if (!failed && out) failed = find_encoder(&job, out, error);
    if (report) job_clear_report(report);
    if (!failed) {
        log_hold_begin(&job.hold, &context->log);
        job.log = &job.hold.log;
        failed = open_source(&job, in, error);
    }
    if (!failed) failed = run_one(&job, chain, in, out, report, error);
    while (!failed && job.source->more) {
        failed = next_image(&job, error);
        if (!failed) failed = run_one(&job, chain, in, out, report, error);
    }
    log_hold_end(&job.hold, false);
    return job_end(&job, failed, report, error);
}

imgpipe_status imgpipe_chain_output(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *in,
                                    const imgpipe_run_options *options, imgpipe_info *out, imgpipe_error *error) {
    imgpipe_run_options defaults = imgpipe_run_options_default();
    struct job job = {.context = context, .options = options ? options : &defaults};
    imgpipe_status failed = job_check(context, job.options, error);
    if (!failed && (!in || !out)) failed = error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_chain_output: in and out are needed");
    if (failed) return failed;
    struct plan_options wishes = job_plan_options(&job, false);
    wishes.log = NULL;
    failed = plan_make(chain, in, &wishes, &job.plan, error);
    if (!failed) *out = job.plan->out;
    plan_free(job.plan);
    return failed;
}
