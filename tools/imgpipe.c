/* The command: reads the command line, finds out what the operands mean, and runs the chain through the public header. */
#include "chain_text.h"
#include "console.h"
#include "listing.h"
#include "options.h"
#include "progress.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_DEVICE = 3, STATUS_OUTPUT = 4, STATUS_SIGNAL = 128 };

/* ---------------------------------------------------------------------------------------------- signals */

/* The signal that came, or 0. The only state outside the functions: a handler has no other way to say anything. Atomic, because
 * the handler runs on any thread, and all threads read it. */
static atomic_int caught;

/* The first signal asks the run to end; the second ends the program at once. */
static void on_signal(int number) {
    if (caught) {
        signal(number, SIG_DFL);
        raise(number);
    }
    caught = number;
}

static void handle_signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A closed pipe is an error of write(), so that the temporary files are removed. */
    signal(SIGPIPE, SIG_IGN);
    /* So is a file that grows beyond `ulimit -f`. */
    signal(SIGXFSZ, SIG_IGN);
}

/* A file opened later must not become standard output because the caller closed that. */
static void open_standard_files(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) == -1) _exit(STATUS_FAILED);
}

/* ---------------------------------------------------------------------------------------------- callbacks */

static void log_message(void *user, imgpipe_log_level level, const char *message) {
    console_log(user, level, message);
}
static void show_progress(void *user, double done) {
    progress_update(user, done);
}
static bool is_cancelled(void *user) {
    (void)user;
    return caught != 0;
}

/* -------------------------------------------------------------------------------------------------- a run */

static int exit_status(imgpipe_status status) {
    switch (status) {
    case IMGPIPE_OK: return STATUS_DONE;
    case IMGPIPE_ERROR_ARGUMENT: return STATUS_USAGE;
    case IMGPIPE_ERROR_OUTPUT: return STATUS_OUTPUT;
    case IMGPIPE_ERROR_DEVICE: return STATUS_DEVICE;
    case IMGPIPE_ERROR_INPUT:
    case IMGPIPE_ERROR_MEMORY:
    case IMGPIPE_ERROR_CANCELLED:
    case IMGPIPE_ERROR_INTERNAL: break;
    }
    return STATUS_FAILED;
}

/* True if who read our standard output is gone: then there is nobody to tell about it. */
static bool is_reader_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

static imgpipe_context_options context_options(const struct options *o, struct console *console) {
    imgpipe_context_options c = imgpipe_context_options_default();
    if (o->device) c.device = o->device;
    c.threads = (int)o->threads;
    c.memory = o->memory;
    c.gpu_memory = o->gpu_memory;
    c.isa = o->isa;
    c.log = log_message;
    c.progress = show_progress;
    c.cancelled = is_cancelled;
    c.user = console;
    return c;
}

static imgpipe_run_options run_options(const struct options *o, const struct target *target) {
    imgpipe_run_options r = imgpipe_run_options_default();
    r.format = target->format;
    r.depth = o->depth;
    r.level = (int)o->level;
    r.quality = (int)o->quality;
    r.max_pixels = (uint64_t)o->max_pixels;
    r.overwrite = o->overwrite == OVERWRITE_NEVER ? IMGPIPE_OVERWRITE_NEVER : IMGPIPE_OVERWRITE_ALWAYS;
    r.strip_rows = o->strip_rows;
    r.page = (int)o->page;
    r.alpha = o->alpha;
    r.subsampling = o->subsampling;
    r.strip = o->strip;
    r.auto_orient = o->auto_orient;
    r.allow_truncated = o->allow_truncated;
    memcpy(r.background, o->background, sizeof r.background);
    return r;
}

static int run_image(const struct options *o, struct console *console, const struct target *target, const imgpipe_chain *chain,
                     const struct chain_text *text) {
    imgpipe_error error = {.place = -1};
    imgpipe_context *context = NULL;
    imgpipe_context_options settings = context_options(o, console);
    imgpipe_run_options run = run_options(o, target);
    imgpipe_report report = imgpipe_report_default();
    imgpipe_status status = imgpipe_context_new(&settings, &context, &error);
    if (status == IMGPIPE_OK) {
        progress_begin(console, o->progress, target->in);
        status = imgpipe_run_file(context, chain, target->in, target->out, &run, &report, &error);
        progress_end(console);
    }
    imgpipe_context_free(&context);
    /* An image or side data: only the message knows which output failed. */
    bool standard_output = strstr(error.message, "cannot write 'standard output'");
    bool quiet_end = status == IMGPIPE_ERROR_OUTPUT && standard_output && is_reader_gone();
    if (status == IMGPIPE_OK && o->timings) progress_timings(console, &report, target->in, target->out, o->json);
    if (status != IMGPIPE_OK && !caught && !quiet_end) chain_text_error(console, text, &error);
    if (caught && status != IMGPIPE_OK) console_error(console, "stopped by a signal");
    return caught ? STATUS_SIGNAL + caught : exit_status(status);
}

static int run(const struct options *o, struct console *console) {
    char message[TARGET_MESSAGE];
    struct chain_text text = {0};
    struct target target = {0};
    imgpipe_chain *chain = NULL;
    imgpipe_error error = {.place = -1};
    /* What is wrong with the command line comes first, before anything is read or made. */
    int status = STATUS_DONE, found = target_find(o, &target, message);
    if (found == STATUS_USAGE) {
        console_error(console, "%s", message);
        status = found;
    } else if (!chain_text_read(o->chain, &text, error.message, sizeof error.message)) {
        console_error(console, "%s", caught ? "stopped by a signal" : error.message);
        status = caught ? STATUS_SIGNAL + caught : STATUS_USAGE;
    } else if (imgpipe_chain_parse(text.text, &chain, &error) != IMGPIPE_OK) {
        chain_text_error(console, &text, &error);
        status = exit_status(error.status);
    } else if (found != STATUS_DONE) {
        console_error(console, "%s", message);
        status = found;
    } else {
        /* A folder for an image that cannot be read would stay empty; the run says what is wrong with the image. */
        bool readable = strcmp(target.in, "-") == 0 || access(target.in, R_OK) == 0;
        if (readable) status = target_make_folder(&target, message);
        if (status != STATUS_DONE)
            console_error(console, "%s", message);
        else
            status = run_image(o, console, &target, chain, &text);
    }
    imgpipe_chain_free(&chain);
    chain_text_free(&text);
    target_free(&target);
    return status;
}

static int list(const struct options *o, struct console *console) {
    char message[OPTIONS_MESSAGE], note[OPTIONS_MESSAGE];
    if (o->operand_count > 0 && o->action != ACTION_HELP) {
        console_error(console, "'%.200s' is one name too many; listings take none", o->operands[0]);
        return STATUS_USAGE;
    }
    int status = listing_print(o, message, note);
    if (status != STATUS_DONE) {
        console_error(console, "%s", message);
        return status;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        int fault = errno;
        if (fault != EPIPE) console_error(console, "cannot write standard output: %s; check where it goes", strerror(fault));
        return STATUS_OUTPUT;
    }
    if (note[0]) console_log(console, IMGPIPE_LOG_NOTICE, note);
    return status;
}

int main(int argc, char **argv) {
    struct options options;
    struct console console;
    char message[OPTIONS_MESSAGE];
    open_standard_files();
    handle_signals();
    if (!options_read(argc, argv, &options, message)) {
        console_init(&console, WHEN_AUTO, false, false);
        console_error(&console, "%s", message);
        console_end(&console);
        return STATUS_USAGE;
    }
    console_init(&console, options.color, options.quiet, options.verbose);
    int status = STATUS_USAGE;
    if (argc <= 1)
        console_error(&console, "nothing to do; write imgpipe IN -f CHAIN OUT, or imgpipe --help");
    else if (options.action != ACTION_RUN)
        status = list(&options, &console);
    else if (options.json && !options.timings)
        console_error(&console, "--json: there is nothing to show as JSON; add --timings, or leave it out");
    else
        status = run(&options, &console);
    console_end(&console);
    options_free(&options);
    return status;
}
