#include "folder.h"
#include "atomic_file.h"
#include "conflicts.h"
#include "inputs.h"
#include "look.h"
#include "names.h"
#include "paths.h"
#include "progress.h"
#include "settings.h"
#include "signals.h"
#include "summary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------- dry run */

/* With -0 names come as they are; otherwise what would break lines or move cursors is escaped. */
void folder_show(const struct options *o, const char *in, const char *out) {
    if (o->null) {
        printf("%s\t%s%c", in, out ? out : "", 0);
        return;
    }
    char text[2][4 * 4096 + 16];
    console_escape(text[0], sizeof text[0], in);
    console_escape(text[1], sizeof text[1], out ? out : "");
    printf("%s\t%s\n", text[0], text[1]);
}

/* ----------------------------------------------------------------------------------------------- the plan */

struct plan {
    const struct options *options;
    const struct roles *roles;
    struct console *console;
    struct shard shard;
    struct jobs jobs;
    struct records *records;
    int64_t images;
};

static int fail(struct plan *plan, int status, const char *message) {
    console_error(plan->console, "%s", message);
    return status;
}

static int name_all(struct plan *plan) {
    char message[NAMES_MESSAGE];
    const char *template = plan->options->name;
    if (template && *template == '/') return fail(plan, EXIT_USAGE, "--name: the template begins with a slash; names are below OUT");
    if (template && !name_check(template, "--name", NULL, message)) return fail(plan, EXIT_USAGE, message);
    for (int64_t i = 0; plan->roles->out && i < plan->jobs.count; i++)
        if (plan->jobs.list[i].status == JOB_TODO && !name_output(plan->options, plan->roles->out, &plan->jobs.list[i], message))
            return fail(plan, EXIT_USAGE, message);
    return EXIT_DONE;
}

static int open_records(struct plan *plan, const imgpipe_chain *chain) {
    if (!plan->roles->out) return EXIT_DONE;
    char *settings = settings_text(plan->options, chain);
    plan->records = settings ? records_open(plan->roles->out, settings, plan->options->resume) : NULL;
    free(settings);
    return plan->records ? EXIT_DONE : fail(plan, EXIT_SOME_FAILED, "no memory for what is done already; free some");
}

/* Leaves out what other parts do. Files that are no images are the business of the part that they would belong to. */
static void take_part(struct plan *plan) {
    int64_t kept = 0;
    for (int64_t i = 0; i < plan->jobs.count; i++) {
        struct job *job = &plan->jobs.list[i];
        if (job->status != JOB_IGNORED) plan->images++;
        if (shard_has(&plan->shard, job->rel))
            plan->jobs.list[kept++] = *job;
        else
            job_free(job);
    }
    plan->jobs.count = kept;
}

static bool is_data_missing(const struct plan *plan, const imgpipe_chain *chain, const struct job *job) {
    imgpipe_chain_value value;
    bool missing = false;
    for (int at = 0; !missing && name_next_data(chain, &at, &value);) {
        struct stat st;
        char *path = name_data(plan->options, job, value.text);
        missing = !path || stat(path, &st) != 0;
        free(path);
    }
    return missing;
}

static void refuse_protected(struct job *job) {
    job->status = JOB_FAILED;
    if (asprintf(&job->error, PATH_PROTECTED, job->in) < 0) job->error = NULL;
}

/* What is there already: replaced, kept, or proven done. */
static void decide(struct plan *plan, const imgpipe_chain *chain) {
    const struct options *o = plan->options;
    for (int64_t i = 0; i < plan->jobs.count; i++) {
        struct job *job = &plan->jobs.list[i];
        struct stat st;
        if (job->status != JOB_TODO || !job->replace || stat(job->out, &st) != 0) continue;
        bool older = o->overwrite == OVERWRITE_OLDER && path_is_older(&st.st_mtim, &job->mtime);
        bool resumes = o->resume && o->overwrite == OVERWRITE_DEFAULT;
        if (o->resume && records_hold(plan->records, job, &st) && !is_data_missing(plan, chain, job))
            job->status = JOB_SKIPPED;
        else if (resumes && records_replaced(plan->records, job, &st))
            job->status = JOB_KEPT, job->filtered = true;
        else if (o->overwrite == OVERWRITE_OLDER && !older)
            job->status = JOB_SKIPPED, job->current = true;
        else if (!job->in_place && o->overwrite != OVERWRITE_ALWAYS && !older && !resumes)
            job->status = JOB_KEPT;
        else if (job->in_place && o->overwrite != OVERWRITE_ALWAYS && path_is_protected(job->out))
            refuse_protected(job);
    }
}

/* What a run could not open, a dry run does not promise. */
static void look_at_all(struct plan *plan) {
    struct look look = {0};
    for (int64_t i = 0; i < plan->jobs.count && !signals_caught(); i++) {
        struct job *job = &plan->jobs.list[i];
        if (job->status != JOB_TODO || look_open(&look, job->in)) continue;
        job->status = JOB_FAILED;
        job->error = strdup(look.error.message);
    }
    look_end(&look);
}

/* Finds out all that there is to do, before anything is done. */
static int make_plan(struct plan *plan, const imgpipe_chain *chain) {
    const struct options *o = plan->options;
    char message[SHARD_MESSAGE];
    if (!shard_find(o->shard, &plan->shard, message)) return fail(plan, EXIT_USAGE, message);
    int status = inputs_collect(o, plan->roles, plan->console, &plan->jobs);
    if (!status) status = name_all(plan);
    if (!status) status = open_records(plan, chain);
    if (!status) status = conflicts_check(o, plan->roles->out, chain, plan->records, plan->console, &plan->jobs);
    if (status) return status;
    if (plan->jobs.folders_left) {
        bool one = plan->jobs.folders_left == 1;
        snprintf(message, sizeof message, "%lld folder%s in the input %s not entered; -r enters %s", (long long)plan->jobs.folders_left,
                 one ? "" : "s", one ? "was" : "were", one ? "it" : "them");
        console_log(plan->console, IMGPIPE_LOG_NOTICE, message);
    }
    take_part(plan);
    decide(plan, chain);
    if (o->dry_run) look_at_all(plan);
    return EXIT_DONE;
}

/* ------------------------------------------------------------------------------------------------ the run */

static void count_all(struct plan *plan, struct batch *batch) {
    batch->totals.images = plan->images;
    batch->totals.sum = imgpipe_report_default();
    for (int64_t i = 0; i < plan->jobs.count; i++) {
        if (plan->jobs.list[i].status != JOB_IGNORED) batch->totals.wanted++;
        if (plan->jobs.list[i].current) batch->totals.current++;
        if (plan->options->dry_run) batch->totals.count[plan->jobs.list[i].status]++;
    }
}

static int show_all(struct plan *plan, struct batch *batch) {
    for (int64_t i = 0; i < plan->jobs.count; i++) {
        const struct job *job = &plan->jobs.list[i];
        if (job->status == JOB_TODO) folder_show(plan->options, job->in, job->out);
        struct subject subject = {.in = job->in, .out = job->out, .many = true};
        if (job->status == JOB_FAILED && job->error && console_wants(plan->console, job->error, &subject, CONSOLE_FAILURES_SHOWN))
            console_error(plan->console, "%s", job->error);
    }
    int status = console_flush_output(plan->console);
    return batch_graver(status, batch->totals.count[JOB_FAILED] || batch->totals.count[JOB_KEPT] ? EXIT_SOME_FAILED : EXIT_DONE);
}

static bool has_work(const struct plan *plan) {
    for (int64_t i = 0; i < plan->jobs.count; i++)
        if (plan->jobs.list[i].status == JOB_TODO) return true;
    return false;
}

static int refuse_out(const struct plan *plan, int fault) {
    console_error(plan->console,
                  "cannot write into the folder '%s': %s; ask for the right to write there, or name another place", plan->roles->out,
                  strerror(fault));
    return EXIT_OUTPUT;
}

/* Makes OUT, and looks whether it can be written into, before every single image fails for that. */
static int open_out(const struct plan *plan) {
    const char *out = plan->roles->out, *slash = out[strlen(out) - 1] == '/' ? "" : "/";
    char path[4200];
    struct stat st;
    int fault = path_make_folder(out);
    if (fault) {
        console_error(plan->console, "cannot make the folder '%s': %s; name another place", out, strerror(fault));
        return EXIT_OUTPUT;
    }
    if (faccessat(AT_FDCWD, out, W_OK | X_OK, AT_EACCESS) != 0) return refuse_out(plan, errno);
    /* The file system may still have no place for files, as /proc has none. A full disk is told of with the image that it stops. */
    snprintf(path, sizeof path, "%s%s.imgpipe-probe", out, slash);
    fault = atomic_probe(path);
    if (fault && fault != ENOSPC && fault != EDQUOT) return refuse_out(plan, fault);
    snprintf(path, sizeof path, "%s%s.imgpipe", out, slash);
    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode)) return EXIT_DONE;
    console_error(plan->console, "'%s' is no folder, and it is noted there what is done; remove it, or give it another name", path);
    return EXIT_OUTPUT;
}

/* Whether a file that the run writes beside the images, if there is one, is to lie in OUT. */
static bool lies_in_out(const struct plan *plan, const char *file) {
    char *folder = plan->roles->out && file ? path_real(plan->roles->out) : NULL, *path = folder ? path_real(file) : NULL;
    size_t length = folder ? strlen(folder) : 0;
    while (length > 1 && folder[length - 1] == '/') length--;
    bool inside = path && strncmp(path, folder, length) == 0 && path[length] == '/' && !jobs_role_of(&plan->jobs, file);
    free(folder);
    free(path);
    return inside;
}

static int execute(struct plan *plan, struct batch *batch) {
    const struct options *o = plan->options;
    bool works = plan->roles->out && has_work(plan);
    /* Nothing is made for a run that comes to nothing, unless it has to be there before that is known. */
    bool early = works && (lies_in_out(plan, o->report) || lies_in_out(plan, o->merge_hist));
    int made = early ? open_out(plan) : EXIT_DONE;
    int status = report_open(o, plan->console, &plan->jobs, &batch->report);
    if (status) return status;
    FILE *report = batch->report;
    struct merge merge = {0};
    status = made;
    if (!status && o->merge_hist) status = merge_begin(&merge, o, plan->console, &plan->jobs);
    if (!status && works && !early) status = open_out(plan);
    batch->merge = o->merge_hist && !status ? &merge : NULL;
    batch->status = status;
    batch->stop = status != EXIT_DONE; /* the report still says of each image that it was not done */
    status = batch_run(batch);
    if (batch->merge) status = batch_graver(status, merge_end(&merge, &batch->totals, &plan->shard));
    return batch_graver(status, report_close(o, plan->console, report));
}

int folder_run(const struct options *o, const struct roles *roles, struct console *console, const imgpipe_chain *chain,
               const struct chain_text *text) {
    struct plan plan = {.options = o, .roles = roles, .console = console};
    struct batch batch = {.options = o, .console = console, .chain = chain, .text = text, .jobs = &plan.jobs, .many = true};
    signals_handle(3); /* the first lets images in flight be finished, the second ends them, the third ends the program */
    batch.files = settings_files(chain);
    int status = make_plan(&plan, chain);
    batch.records = plan.records;
    batch.local = plan.shard.local;
    count_all(&plan, &batch);
    if (!status && plan.images == 0) {
        status = EXIT_SOME_FAILED;
        const char *why = plan.jobs.count ? "the files that there are hold none" : "check the names";
        if (!plan.jobs.count && (o->include.count || o->exclude.count)) why = "check the names, --include and --exclude";
        if (plan.jobs.outputs_left) why = "those that there are were written by an earlier run; name their folder to take them";
        console_error(console, "no image was found; %s", why);
    } else if (!status) {
        status = o->dry_run ? show_all(&plan, &batch) : execute(&plan, &batch);
        if (o->timings && !o->dry_run) {
            if (o->json)
                report_total(stderr, &batch.totals);
            else
                progress_totals(console, &batch.totals.sum, batch.totals.count[JOB_OK], batch.totals.bytes_in, batch.totals.bytes_out);
        }
        summary_print(&batch, &plan.shard);
    }
    records_close(plan.records);
    free(batch.files);
    jobs_free(&plan.jobs);
    return status;
}
