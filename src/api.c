/* The exported functions that run chains: check the arguments, call inward. */
#include "clock.h"
#include "context.h"
#include "filter.h"
#include "metadata_carry.h"
#include "outfile.h"
#include "outfile_path.h"
#include "run.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

imgpipe_run_options imgpipe_run_options_default(void) {
    return (imgpipe_run_options){.struct_size = sizeof(imgpipe_run_options),  .level = -1, .alpha = -1, .max_pixels = (uint64_t)16 << 30,
                                 .background = {1, 1, 1}};
}

imgpipe_report imgpipe_report_default(void) { return (imgpipe_report){.struct_size = sizeof(imgpipe_report)}; }

const imgpipe_filter *imgpipe_filter_at(int index) {
    for (int i = 0; filter_table[i]; i++)
        if (i == index) return filter_table[i];
    return NULL;
}

const imgpipe_filter *imgpipe_filter_find(const char *name) {
    for (int i = 0; name && filter_table[i]; i++)
        if (strcmp(filter_table[i]->name, name) == 0) return filter_table[i];
    return NULL;
}

const imgpipe_codec_info *imgpipe_codec_at(int index) {
    const struct encoder *encoder = encoder_at(index);
    return encoder ? &encoder->info : NULL;
}

/* One call of a run function: everything that has to be closed again. */
struct job {
    bool later;     /* there was an image before this one in the same input and output */
    double read_before, write_before;
    imgpipe_context *context;
    const imgpipe_run_options *options;
    struct source *source;
    struct plan *plan;
    const struct encoder *encoder;
    struct outfile *out;
    struct sink *sink;
    double began;
};

static imgpipe_status check_options(const imgpipe_context *context, const imgpipe_run_options *options, imgpipe_error *error) {
    if (!context) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "no context was given");
    if (options->struct_size != sizeof *options)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_run_options: struct_size is not that of this library; use "
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

/* What the source leaves of the budget. */
static uint64_t memory_left(const struct job *job) {
    uint64_t all = job->context->memory, held = job->source ? job->source->held : 0;
    return all > held ? all - held : 1;
}

static struct plan_options plan_options(const struct job *job, bool no_output) {
    struct plan_options options = {.log = &job->context->log, .isa = job->context->isa, .threads = tasks_threads(job->context->tasks),
                                   .depth = job->options->depth, .no_output = no_output, .take_data = job->options->take_data, .strip_rows = job->options->strip_rows,
                                   .step_rows = job->options->step_rows, .memory = memory_left(job)};
    memcpy(options.background, job->options->background, sizeof options.background);
    if (job->encoder) {
        options.accept = job->encoder->accept;
        options.kind = job->encoder->info.name;
        if (job->source && carry_must_turn(&job->source->metadata, job->encoder->carries, job->options->strip, job->options->auto_orient))
            options.orientation = job->source->metadata.orientation;
    }
    return options;
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
    struct source_options options = {.log = &job->context->log, .max_pixels = job->options->max_pixels, .memory = job->context->memory,
                                     .page = job->options->page, .alpha = job->options->alpha,
                                     .allow_truncated = job->options->allow_truncated};
    return source_open(input, &options, &job->source, error);
}

/* From here on the source's metadata are what the output carries. */
static imgpipe_status carry_metadata(struct job *job, imgpipe_error *error) {
    const struct plan *plan = job->plan;
    struct carry carry = {.in = plan->in, .out = plan->out, .changed = plan->changed, .chart = plan->chart, .turned = plan->turned,
                          .strip = job->options->strip, .carries = job->encoder->carries, .kind = job->encoder->info.name,
                          .log = &job->context->log};
    if (metadata_carry(&job->source->metadata, &carry)) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for what the file says beside its pixels; free some");
}

static imgpipe_status open_sink(struct job *job, const char *path, imgpipe_error *error) {
    const imgpipe_info *info = &job->plan->out;
    if (job->encoder->size_fits && !job->encoder->size_fits(info->width, info->height))
        return error_set(error, IMGPIPE_ERROR_INPUT, "%s: %s cannot hold an image of %lld x %lld pixels; choose png", path,
                         job->encoder->info.name, (long long)info->width, (long long)info->height);
    imgpipe_status failed = carry_metadata(job, error);
    if (!failed && !job->out) failed = outfile_open(path, job->options->overwrite == IMGPIPE_OVERWRITE_NEVER, &job->out, error);
    if (failed) return failed;
    outfile_cancel(job->out, &job->context->cancel);
    /* How the input was stored says something to an output of the same kind only. */
    bool same = job->source->codec && strcmp(job->source->codec, job->encoder->info.name) == 0;
    int sampling = job->options->subsampling;
    struct sink_options options = {.log = &job->context->log,
                                   .isa = job->context->isa, .level = job->options->level < 0 ? 4 : job->options->level,
                                   .quality = job->options->quality ? job->options->quality : 90,
                                   .subsampling = sampling ? sampling : same && job->source->storage.subsampling == 420 ? 420 : 444,
                                   .memory = memory_left(job), .metadata = &job->source->metadata, .storage = same ? &job->source->storage : NULL};
    return job->encoder->open(job->out, info, &options, &job->sink, error);
}

/* A decoder that looks ahead and comes back takes some bytes twice. */
static uint64_t bytes_in(const struct input *input) {
    uint64_t taken = input_taken(input), size = input_size(input);
    return size && taken > size ? size : taken;
}

#define GPU_STRIP_BYTES ((int64_t)16 << 20)
#define GPU_STRIPS 4

static void clear_report(imgpipe_report *report) {
    size_t size = report->struct_size;
    memset(report, 0, sizeof *report);
    report->struct_size = size;
}

/* Times of images that follow each other are added up. */
static void add_report(struct job *job, const struct run *run, const char *why, imgpipe_report *report) {
    const struct input *input = job->source->input;
    double read = input ? input_seconds(input) - job->read_before : 0, write = job->out ? outfile_seconds(job->out) - job->write_before : 0;
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

/* Runs the plan of a job whose ends are open. */
static imgpipe_status run_job(struct job *job, imgpipe_report *report, imgpipe_error *error) {
    imgpipe_context *context = job->context;
    struct run run = {.plan = job->plan, .source = job->source, .sink = job->sink, .tasks = context->tasks, .log = &context->log,
                      .in_flight = tasks_threads(context->tasks), .memory = memory_left(job), .poison = job->options->poison, .progress = context->progress,
                      .cancel = context->cancel, .user = context->user, .options = job->options};
    char why[sizeof((imgpipe_report *)0)->device] = "";
    imgpipe_status failed = context_backend(context, job->plan, &run.backend, why, sizeof why, error);
    if (failed) return failed;
    if (run.backend != context->cpu) { /* large copies, few of them under way: the GPU works on one tile at a time */
        struct plan_options wishes = plan_options(job, !job->sink);
        wishes.strip_bytes = GPU_STRIP_BYTES;
        plan_strips(job->plan, &wishes);
        run.in_flight = GPU_STRIPS;
        if (context->wish == DEVICE_AUTO) run.fallback = context->cpu;
    }
    if (!job->later) {
        plan_print(job->plan, &context->log);
        log_line(&context->log, IMGPIPE_LOG_DETAIL, "device: %s", why);
    }
    const struct backend *chosen = run.backend;
    failed = run_plan(&run, error);
    if (run.backend != chosen) snprintf(why, sizeof why, "%s (took over from the GPU)", run.backend->ops->name);
    add_report(job, &run, why, report);
    return failed;
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

/* Closes everything; the output is kept only if nothing failed. */
static imgpipe_status end_job(struct job *job, imgpipe_status failed, imgpipe_report *report, imgpipe_error *error) {
    sink_close(job->sink);
    struct input *input = job->source ? job->source->input : NULL;
    if (!failed && input && input_changed(input))
        failed = error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': it changed while it was read; run again once nobody writes to it",
                           input_name(input));
    if (job->out && failed) outfile_abort(job->out);
    if (job->out && !failed) {
        double write = outfile_seconds(job->out);
        if (report) report->bytes_out = outfile_bytes(job->out), report->seconds.write = write;
        failed = outfile_commit(job->out, error);
    }
    source_close(job->source);
    plan_free(job->plan);
    if (report) report->seconds.total = clock_now() - job->began;
    return failed;
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
    struct plan_options wishes = plan_options(job, !out);
    imgpipe_status failed = plan_make(chain, &job->source->info, &wishes, &job->plan, error);
    if (!failed && job->options->data_name) failed = name_side_data(job, error);
    if (!failed) failed = check_side_data(job->plan, in, out, error);
    if (!failed && out) failed = open_sink(job, out, error);
    if (failed) return failed;
    job->source->options.several = takes_several(job);
    return run_job(job, report, error);
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
    imgpipe_status failed = check_options(context, job.options, error);
    if (!failed && !in) failed = error_set(error, IMGPIPE_ERROR_ARGUMENT, "no input was named");
    if (!failed && out) failed = find_encoder(&job, out, error);
    if (report) clear_report(report);
    if (!failed) failed = open_source(&job, in, error);
    if (!failed) failed = run_one(&job, chain, in, out, report, error);
    while (!failed && job.source->more) {
        failed = next_image(&job, error);
        if (!failed) failed = run_one(&job, chain, in, out, report, error);
    }
    return end_job(&job, failed, report, error);
}

imgpipe_status imgpipe_chain_output(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *in,
                                    const imgpipe_run_options *options, imgpipe_info *out, imgpipe_error *error) {
    imgpipe_run_options defaults = imgpipe_run_options_default();
    struct job job = {.context = context, .options = options ? options : &defaults};
    imgpipe_status failed = check_options(context, job.options, error);
    if (!failed && (!in || !out)) failed = error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_chain_output: in and out are needed");
    if (failed) return failed;
    struct plan_options wishes = plan_options(&job, false);
    wishes.log = NULL;
    failed = plan_make(chain, in, &wishes, &job.plan, error);
    if (!failed) *out = job.plan->out;
    plan_free(job.plan);
    return failed;
}

static bool same_info(const imgpipe_info *a, const imgpipe_info *b) {
    return a->width == b->width && a->height == b->height && a->format.type == b->format.type &&
           a->format.channels == b->format.channels && a->format.alpha == b->format.alpha;
}

imgpipe_status imgpipe_run_image(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_image *in, const imgpipe_image *out,
                                 const imgpipe_run_options *options, imgpipe_report *report, imgpipe_error *error) {
    imgpipe_run_options defaults = imgpipe_run_options_default();
    struct job job = {.context = context, .options = options ? options : &defaults, .began = clock_now()};
    imgpipe_status failed = check_options(context, job.options, error);
    if (!failed && !in) failed = error_set(error, IMGPIPE_ERROR_ARGUMENT, "no input image was given");
    if (report) clear_report(report);
    if (!failed) failed = source_memory(in, &job.source, error);
    if (!failed) {
        struct plan_options wishes = plan_options(&job, !out);
        failed = plan_make(chain, &in->info, &wishes, &job.plan, error);
    }
    if (!failed && out && !same_info(&out->info, &job.plan->out))
        failed = error_set(error, IMGPIPE_ERROR_ARGUMENT, "the output image has not the size and format that the chain makes; ask "
                                                          "imgpipe_chain_output()");
    if (!failed && out) failed = sink_memory(out, &job.sink, error);
    if (!failed) failed = run_job(&job, report, error);
    return end_job(&job, failed, report, error);
}
