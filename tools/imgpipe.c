/* The command: reads the command line, finds out what the operands mean, and runs the chain through the public header. */
#include "batch.h"
#include "check_filter.h"
#include "chain_text.h"
#include "console.h"
#include "cut.h"
#include "folder.h"
#include "listing.h"
#include "look.h"
#include "names.h"
#include "options.h"
#include "plugins.h"
#include "progress.h"
#include "reads.h"
#include "serve.h"
#include "signals.h"
#include "target.h"
#include "trial.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A file opened later must not become standard output because the caller closed that. */
static void open_standard_files(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) == -1) _exit(EXIT_SOME_FAILED);
}

/* Decoders and encoders take the same memory for one image after another. Left alone, glibc gives it back between them, and each page
 * is filled with zeros anew: a fifth of the system's time for a hundred images of 512 x 512. */
static void keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

/* -------------------------------------------------------------------------------------------------- a run */

/* One image, which the user sees nothing of but its result. */
static int run_image(const struct options *o, struct console *console, const struct target *target, const imgpipe_chain *chain,
                     const struct chain_text *text) {
    struct jobs jobs = {0};
    struct job *job = jobs_add(&jobs, target->in, target->in);
    if (job && target->out) job->out = strdup(target->out);
    if (!job || (target->out && !job->out)) {
        console_error(console, "no memory for a name; free some");
        jobs_free(&jobs);
        return EXIT_SOME_FAILED;
    }
    job->format = target->format;
    if (target->kept) job->status = JOB_KEPT;
    if (target->current) job->status = JOB_SKIPPED;
    job_look(job);
    struct batch batch = {.options = o, .console = console, .chain = chain, .text = text, .jobs = &jobs, .local = -1};
    batch.totals.wanted = batch.totals.images = 1;
    batch.totals.sum = imgpipe_report_default();
    FILE *report;
    int status = report_open(o, console, &jobs, &report);
    if (!status) {
        batch.report = report;
        struct merge merge = {0};
        if (o->merge_hist) status = merge_begin(&merge, o, console, &jobs);
        if (o->merge_hist && !status) batch.merge = &merge;
        if (!status) status = batch_run(&batch);
        if (batch.merge) status = batch_graver(status, merge_end(&merge, &batch.totals, NULL));
        status = batch_graver(status, report_close(o, console, report));
    }
    if (o->timings && job->status == JOB_OK && o->json)
        report_input(stderr, job->in, job->out, job->status, NULL, &batch.totals.sum);
    else if (o->timings && job->status == JOB_OK)
        progress_timings(console, &batch.totals.sum);
    if (signals_caught() && job->status != JOB_OK) console_error(console, "stopped by a signal");
    jobs_free(&jobs);
    return status;
}

static int run_target(const struct options *o, struct console *console, const struct target *target, const imgpipe_chain *chain,
                      const struct chain_text *text) {
    char message[TARGET_MESSAGE];
    if (target->current) {
        snprintf(message, sizeof message, "'%s' is no older than '%s': nothing to do", CUT(target->out, 200), CUT(target->in, 200));
        console_log(console, IMGPIPE_LOG_NOTICE, message);
    }
    if (o->dry_run && !target->kept && !target->current) {
        struct look look = {0};
        bool opens = look_open(&look, target->in);
        if (!opens) console_error(console, "%s", look.error.message);
        look_end(&look);
        if (!opens) return EXIT_SOME_FAILED;
    }
    if (o->dry_run) {
        if (!target->kept && !target->current) folder_show(o, target->in, target->out);
        return target->kept ? EXIT_SOME_FAILED : console_flush_output(console);
    }
    /* A folder for an image that cannot be read would stay empty; the run says what is wrong with the image. */
    bool readable = strcmp(target->in, "-") == 0 || access(target->in, R_OK) == 0;
    int status = readable && !target->kept && !target->current ? target_make_folder(target, message) : EXIT_DONE;
    if (status == EXIT_DONE) return run_image(o, console, target, chain, text);
    console_error(console, "%s", message);
    return status;
}

/* A run without outputs from which nothing is left; it may be for the time that it takes. */
static void tell_nothing_written(const struct options *o, struct console *console, const imgpipe_chain *chain) {
    imgpipe_chain_value value;
    int at = 0;
    if (!o->no_output || o->report || o->merge_hist || o->timings || name_next_data(chain, &at, &value)) return;
    console_log(console, IMGPIPE_LOG_NOTICE,
                "nothing is written: with --no-output that takes hist=data=FILE, --report FILE or --merge-hist FILE");
}

static int run(const struct options *o, struct plugins *plugins, struct console *console) {
    char message[TARGET_MESSAGE];
    struct chain_text text = {0};
    struct roles roles;
    struct target target = {0};
    imgpipe_chain *chain = NULL;
    imgpipe_error error = {.place = -1};
    /* What is wrong with the command line comes first, before anything is read or made. */
    if (o->batch) return serve_run(o, plugins, console);
    if (o->merge_hist && !o->chain) return merge_files(o, console);
    int status = EXIT_DONE, found = roles_find(o, &roles, message);
    if (!found && !roles.many) found = target_find(o, &roles, &target, message);
    if (found == EXIT_USAGE) {
        console_error(console, "%s", message);
        status = found;
    } else if (!chain_text_read(o->chain, &text, error.message, sizeof error.message)) {
        console_error(console, "%s", signals_caught() ? "stopped by a signal" : error.message);
        status = signals_caught() ? EXIT_SIGNAL + signals_caught() : EXIT_USAGE;
    } else if (plugins_parse(plugins, text.text, &chain, &error) != IMGPIPE_OK) {
        chain_text_error(console, &text, &error);
        status = error.status == IMGPIPE_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_SOME_FAILED;
    } else if (!trial_check(chain, &error)) {
        chain_text_error(console, &text, &error);
        status = EXIT_USAGE;
    } else if (o->merge_hist && (status = merge_check(o, chain, error.message))) {
        console_error(console, "%s", error.message);
    } else if ((status = reads_check(o, &roles, target.out, chain, error.message))) {
        console_error(console, "%s", error.message);
    } else if (tell_nothing_written(o, console, chain), roles.many) {
        status = folder_run(o, &roles, console, chain, &text);
    } else {
        if (found != EXIT_DONE) console_error(console, "%s", message);
        status = found != EXIT_DONE && !target.kept ? found : run_target(o, console, &target, chain, &text);
    }
    imgpipe_chain_free(&chain);
    chain_text_free(&text);
    target_free(&target);
    return status;
}

static int list(const struct options *o, struct plugins *plugins, struct console *console) {
    char message[OPTIONS_MESSAGE], note[OPTIONS_MESSAGE];
    if (o->operand_count > 0 && o->action != ACTION_HELP) {
        console_error(console, "'%s' is one name too many; listings take none", CUT(o->operands[0], 200));
        return EXIT_USAGE;
    }
    int status = listing_print(o, plugins, message, note);
    if (status != EXIT_DONE) {
        console_error(console, "%s", message);
        return status;
    }
    status = console_flush_output(console);
    if (status != EXIT_DONE) return status;
    if (note[0]) console_log(console, IMGPIPE_LOG_NOTICE, note);
    return status;
}

/* What needs to know the filters. Plug-ins stay out of all else. */
static int work(const struct options *o, struct console *console) {
    struct plugins plugins;
    int status = plugins_begin(&plugins, o, console);
    if (!status && o->action != ACTION_RUN)
        status = list(o, &plugins, console);
    else if (!status)
        status = o->check_filter ? check_filter(o, &plugins, console) : run(o, &plugins, console);
    plugins_end(&plugins);
    return status;
}

int main(int argc, char **argv) {
    struct options options;
    struct console console;
    char message[OPTIONS_MESSAGE];
    open_standard_files();
    keep_memory();
    signals_handle(2); /* the first ends the run, the second the program */
    if (!options_read(argc, argv, &options, message)) {
        console_init(&console, WHEN_AUTO, false, false);
        console_error(&console, "%s", message);
        console_end(&console);
        return EXIT_USAGE;
    }
    console_init(&console, options.color, options.quiet, options.verbose);
    int status = EXIT_USAGE;
    if (argc <= 1)
        console_error(&console, "nothing to do; write imgpipe IN -f CHAIN OUT, or imgpipe --help");
    else if (options.action >= ACTION_FORMATS)
        status = list(&options, &(struct plugins){0}, &console);
    else if (options.action == ACTION_RUN && options.json && !options.timings)
        console_error(&console, "--json: there is nothing to show as JSON; add --timings, or leave it out");
    else
        status = work(&options, &console);
    console_end(&console);
    options_free(&options);
    return status;
}
