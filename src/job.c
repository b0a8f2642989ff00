/* What all functions that run a chain share: options, the choice of a backend, the report, the end. */
#include "job.h"
#include "hist_data.h"
#include "clock.h"
#include "metadata_carry.h"
#include "outfile.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

imgpipe_status job_check(const imgpipe_context *context, const imgpipe_run_options *options, imgpipe_error *error) {
    if (!context) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "no context was given");
    if (options->struct_size != sizeof *options)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "imgpipe_run_options: struct_size is not that of this library; use "
                         "imgpipe_run_options_default()");
    int depth = options->depth;
    if (depth != 0 && depth != 8 && depth != 16 && depth != 32)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "depth %d: the choices are 8, 16 and 32 (f32)", depth);
    if (options->level < -1 || options->level > 9)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "level %d: the range is 0 (store) to 9 (smallest)", options->level);
    if (options->quality < 0 || options->quality > 100)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "quality %d: the range is 1 to 100", options->quality);
    int sampling = options->subsampling;
    if (sampling != 0 && sampling != 444 && sampling != 422 && sampling != 420)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "subsampling %d: the choices are 444, 422 and 420", sampling);
    if (options->page < 0) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "page %d: pages are counted from 1", options->page);
    if (options->alpha < -1 || options->alpha > 1 || options->strip < 0 || options->strip > 2)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "alpha %d, strip %d: the ranges are -1 to 1 and 0 to 2", options->alpha,
                         options->strip);
    if (options->strip_rows < 0 || options->step_rows < 0)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "rows of a strip or step: the number must not be negative");
    for (int c = 0; c < 3; c++)
        if (!(options->background[c] >= 0 && options->background[c] <= 1))
            return error_set(error, IMGPIPE_ERROR_ARGUMENT, "background: each colour must lie in 0...1");
    return IMGPIPE_OK;
}

const struct log *job_log(const struct job *job) { return job->log ? job->log : &job->context->log; }

uint64_t job_memory(const struct job *job) {
    uint64_t all = job->context->memory, held = job->source ? job->source->held : 0, left = all > held ? all - held : 1;
    /* An encoder's pieces are as large as the image makes them; however small the budget, rows have half of it. */
    uint64_t encoder = job->sink ? job->sink->held * (uint64_t)tasks_threads(job->context->tasks) : 0;
    return left - (encoder < left / 2 ? encoder : left / 2);
}

struct plan_options job_plan_options(const struct job *job, bool no_output) {
    struct plan_options options = {.log = job_log(job),
                                   .isa = job->context->isa,
                                   .threads = tasks_threads(job->context->tasks),
                                   .depth = job->options->depth,
                                   .no_output = no_output,
                                   .take_data = job->options->take_data,
                                   .coded = job->source && !job->source->pixels,
                                   .strip_rows = job->options->strip_rows,
                                   .step_rows = job->options->step_rows,
                                   .memory = job_memory(job)};
    memcpy(options.background, job->options->background, sizeof options.background);
    if (job->encoder) {
        options.accept = job->encoder->accept;
        options.kind = job->encoder->info.name;
        if (job->source &&
            carry_must_turn(&job->source->metadata, job->encoder->carries, job->options->strip, job->options->auto_orient))
            options.orientation = job->source->metadata.orientation;
    }
    return options;
}

/* A decoder that looks ahead and comes back takes some bytes twice. */
static uint64_t bytes_in(const struct input *input) {
    uint64_t taken = input_taken(input), size = input_size(input);
    return size && taken > size ? size : taken;
}

/* Copies of 16 MiB reach 99 % of the link, those of 4 MiB 96 %, and where many images are under way at once the memory that must be
 * pinned for them matters more. */
#define GPU_STRIP_BYTES ((int64_t)16 << 20)
#define GPU_STRIP_SHARED ((int64_t)4 << 20)
#define GPU_STRIPS 4

void job_clear_report(imgpipe_report *report) {
    size_t size = report->struct_size;
    memset(report, 0, sizeof *report);
    report->struct_size = size;
}

/* Times of images that follow each other are added up. */
static void add_report(struct job *job, const struct run *run, const char *why, imgpipe_report *report) {
    const struct input *input = job->source->input;
    double read = input ? input_seconds(input) - job->read_before : 0,
           write = job->out ? outfile_seconds(job->out) - job->write_before : 0;
    job->read_before += read;
    job->write_before += write;
    if (!report) return;
    report->in = job->plan->in;
    report->out = job->plan->out;
    report->images++;
    report->bytes_in = input ? bytes_in(input) : 0;
    report->seconds.read += read;
    report->seconds.decode += run->decode > read ? run->decode - read : 0;
    report->seconds.upload += run->backend_seconds[BACKEND_UPLOAD];
    report->seconds.compute += run->backend_seconds[BACKEND_COMPUTE];
    report->seconds.download += run->backend_seconds[BACKEND_DOWNLOAD];
    report->seconds.encode += run->encode > write ? run->encode - write : 0;
    snprintf(report->device, sizeof report->device, "%s", why);
}

/* Hands the counts of every hist stage of the chain to the caller. */
static imgpipe_status tell_histograms(const struct job *job, imgpipe_error *error) {
    for (int i = 0; i < job->plan->stage_count; i++) {
        const imgpipe_stage *stage = &job->plan->stages[i];
        if (stage->filter != &filter_hist) continue;
        imgpipe_histogram histogram = hist_describe(stage->data);
        uint64_t *counts = malloc(histogram.size);
        if (!counts) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the numbers of a histogram; free some");
        hist_export(stage->data, counts, false);
        job->options->histogram(job->options->histogram_user, i, &histogram, counts);
        free(counts);
    }
    return IMGPIPE_OK;
}

imgpipe_status job_begin(struct job *job, struct run *run, char *why, size_t why_size, imgpipe_error *error) {
    imgpipe_context *context = job->context;
    *run = (struct run){.plan = job->plan,
                        .source = job->source,
                        .sink = job->sink,
                        .tasks = context->tasks,
                        .folders = &context->folders,
                        .log = &context->log,
                        .in_flight = tasks_threads(context->tasks),
                        .memory = job_memory(job),
                        .poison = job->options->poison,
                        .progress = context->progress,
                        .cancel = context->cancel,
                        .user = context->user,
                        .options = job->options};
    imgpipe_status failed = context_backend(context, job->plan, &run->backend, why, why_size, error);
    if (failed || run->backend == context->cpu) return failed;
    /* Large copies, few of them under way: the GPU works on one tile at a time. */
    struct plan_options wishes = job_plan_options(job, !job->sink);
    wishes.strip_bytes = context->share > 1 ? GPU_STRIP_SHARED : GPU_STRIP_BYTES;
    plan_strips(job->plan, &wishes);
    run->in_flight = GPU_STRIPS * context->gpus;
    if (context->wish == DEVICE_AUTO) run->fallback = context->cpu;
    return IMGPIPE_OK;
}

/* A device that was still being started when it was chosen has a name by now. */
static void tell_name(const struct backend *backend, char *why, size_t size) {
    const char *full = backend->ops->describe ? backend->ops->describe(backend) : backend->about;
    char rest[sizeof((imgpipe_report *)0)->device];
    size_t known = strcspn(full, ",");
    if (strncmp(why, full, known) != 0 || (why[known] != 0 && why[known] != ' ')) return;
    snprintf(rest, sizeof rest, "%s", why + known);
    snprintf(why, size, "%s", full);
    text_append(why, size, "%s", rest);
}

imgpipe_status job_run(struct job *job, imgpipe_report *report, imgpipe_error *error) {
    imgpipe_context *context = job->context;
    struct run run;
    char why[sizeof((imgpipe_report *)0)->device] = "";
    imgpipe_status failed = job_begin(job, &run, why, sizeof why, error);
    if (failed) return failed;
    if (!job->later) {
        plan_print(job->plan, &context->log);
        log_line(&context->log, IMGPIPE_LOG_DETAIL, "device: %s", why);
    }
    const struct backend *chosen = run.backend;
    failed = run_plan(&run, error);
    if (!failed && job->options->histogram) failed = tell_histograms(job, error);
    tell_name(chosen, why, sizeof why);
    if (run.absent) context_without_gpu(context);
    if (run.backend != chosen) snprintf(why, sizeof why, "%s (took over from the GPU)", run.backend->ops->name);
    add_report(job, &run, why, report);
    return failed;
}

imgpipe_status job_end(struct job *job, imgpipe_status failed, imgpipe_report *report, imgpipe_error *error) {
    sink_close(job->sink);
    struct input *input = job->source ? job->source->input : NULL;
    if (!failed && input && input_changed(input))
        failed = error_set(error, IMGPIPE_ERROR_INPUT,
                           "cannot read '%s': it changed while it was read; run again once nobody writes to it", input_name(input));
    if (job->out && failed) outfile_abort(job->out);
    if (job->out && !failed) {
        double write = outfile_seconds(job->out);
        if (report) report->bytes_out = outfile_bytes(job->out), report->seconds.write = write;
        outfile_on_whole(job->out, job->options->output_whole, job->options->whole_user);
        failed = outfile_commit(job->out, error);
    }
    source_close(job->source);
    plan_free(job->plan);
    if (report) report->seconds.total = clock_now() - job->began;
    return failed;
}
