#include "serve.h"
#include "batch.h"
#include "cut.h"
#include "inputs.h"
#include "line_reader.h"
#include "names.h"
#include "paths.h"
#include "request.h"
#include "settings.h"
#include "signals.h"
#include "target.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Jobs that are to come, against which `auto` weighs the start of a GPU: a companion is kept for many. */
#define JOBS_TO_COME 100

struct worker {
    struct server *server;
    int number;
    bool started, busy;
    pthread_t thread;
    imgpipe_context *context;
    char *line; /* the job that it is given; NULL: none */
    size_t length;
    int64_t line_number;
    const char *in;         /* what it reads now, for messages; guarded by the server's lock where others look */
    struct notices notices; /* about that */
    bool regular;   /* and whether that, and what it writes, are files, which nobody waits for */
};

struct server {
    const struct options *options;
    struct plugins *plugins;
    struct console *console;
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct worker *workers;
    int count, active; /* active: at work, and not waiting to be alone */
    int waiting_alone;
    bool alone; /* one is */
    bool ending;
    struct worker wide; /* whose context may take all memory, for one job at a time */
    int64_t done, failed;
    int status;
};

/* ------------------------------------------------------------------------------------------------ contexts */

static void log_message(void *user, imgpipe_log_level level, const char *message) {
    struct worker *worker = user;
    struct subject subject = {.in = worker->in, .many = true};
    if (worker->in)
        notices_take(&worker->notices, worker->server->console, level, message, &subject);
    else
        console_log_about(worker->server->console, level, message, &subject);
}

/* As in a folder run: the first signal lets the images at work be finished, unless they wait for somebody else. */
static bool is_cancelled(void *user) {
    const struct worker *worker = user;
    return signals_caught() && (signals_count() > 1 || !worker->regular);
}

static imgpipe_status open_context(struct worker *worker, int threads, int share, imgpipe_error *error) {
    char device[24];
    if (worker->context) return IMGPIPE_OK;
    imgpipe_context_options settings = settings_context(worker->server->options, -1, device);
    settings.threads = threads;
    settings.turn = worker->number;
    settings.share = share;
    settings.runs = JOBS_TO_COME;
    settings.log = log_message;
    settings.cancelled = is_cancelled;
    settings.user = worker;
    return imgpipe_context_new(&settings, &worker->context, error);
}

/* ----------------------------------------------------------------------------------------------------- jobs */

/* One job and what becomes of it. */
struct answer {
    struct request request;
    struct target target;
    enum job_status status;
    int exit;
    imgpipe_error error;
    imgpipe_report report;
};

static void refuse(struct answer *a, int exit) {
    a->status = JOB_FAILED;
    a->exit = exit;
    a->error.place = -1;
}

/* Finds out what the names mean, by the rules of the command line. */
static bool find_target(struct answer *a) {
    struct request *r = &a->request;
    struct options *o = &r->options;
    struct roles roles;
    char message[TARGET_MESSAGE];
    r->operand = r->in;
    o->operands = &r->operand;
    o->operand_count = o->operands_before = 1;
    o->output = r->out;
    o->no_output = !r->out;
    if (!o->chain) o->chain = "";
    int failed = EXIT_USAGE;
    if (path_is_folder(r->in) || input_is_pattern(r->in))
        snprintf(message, sizeof message, "'%s' is a folder or a pattern; a job has one image", CUT(r->in, 200));
    else
        failed = roles_find(o, &roles, message);
    if (!failed) failed = target_find(o, &roles, &a->target, message);
    if (!failed && !request_check_out(a->target.out, message)) failed = EXIT_USAGE;
    if (!failed && access(r->in, R_OK) == 0) failed = target_make_folder(&a->target, message);
    if (!failed) return true;
    snprintf(a->error.message, sizeof a->error.message, "%.1000s", message);
    refuse(a, failed);
    if (a->target.kept) a->status = JOB_KEPT;
    return false;
}

static imgpipe_status run_chain(struct worker *worker, struct answer *a, const imgpipe_chain *chain) {
    struct subject subject = {.in = a->request.in, .out = a->target.out, .many = true};
    imgpipe_run_options options = settings_run(&a->request.options);
    options.format = a->target.format;
    if (a->request.options.overwrite == OVERWRITE_NEVER) options.overwrite = IMGPIPE_OVERWRITE_NEVER;
    imgpipe_status status = imgpipe_run_file(worker->context, chain, a->request.in, a->target.out, &options, &a->report, &a->error);
    notices_end(&worker->notices, worker->server->console, &subject, status == IMGPIPE_OK);
    return status;
}

/* `chain` may be NULL as long as it is not known. */
static void look(struct worker *worker, const struct answer *a, const imgpipe_chain *chain) {
    const char *in = a->request.in;
    bool regular = !path_may_wait(in) && !path_may_wait(a->target.out);
    if (chain && name_may_wait(worker->server->options, chain, NULL)) regular = false;
    pthread_mutex_lock(&worker->server->lock);
    worker->regular = regular;
    worker->in = in;
    pthread_mutex_unlock(&worker->server->lock);
}

/* What needs more memory than a worker has is tried again while nobody else works. */
static imgpipe_status run_alone(struct server *server, struct answer *a, const imgpipe_chain *chain) {
    pthread_mutex_lock(&server->lock);
    server->active--;
    server->waiting_alone++;
    pthread_cond_broadcast(&server->change);
    while (server->active > 0 || server->alone) pthread_cond_wait(&server->change, &server->lock);
    server->alone = true;
    pthread_mutex_unlock(&server->lock);
    look(&server->wide, a, chain);
    imgpipe_status status = open_context(&server->wide, server->count, 1, &a->error);
    if (!status) status = run_chain(&server->wide, a, chain);
    server->wide.in = NULL;
    pthread_mutex_lock(&server->lock);
    server->alone = false;
    server->active++;
    server->waiting_alone--;
    pthread_cond_broadcast(&server->change);
    pthread_mutex_unlock(&server->lock);
    return status;
}

static void run(struct worker *worker, struct answer *a, const imgpipe_chain *chain) {
    static const int exits[] = {[IMGPIPE_ERROR_ARGUMENT] = EXIT_USAGE,      [IMGPIPE_ERROR_INPUT] = EXIT_SOME_FAILED,
                                [IMGPIPE_ERROR_OUTPUT] = EXIT_OUTPUT,       [IMGPIPE_ERROR_MEMORY] = EXIT_SOME_FAILED,
                                [IMGPIPE_ERROR_DEVICE] = EXIT_DEVICE,       [IMGPIPE_ERROR_CANCELLED] = EXIT_SOME_FAILED,
                                [IMGPIPE_ERROR_INTERNAL] = EXIT_SOME_FAILED};
    struct server *server = worker->server;
    look(worker, a, chain);
    /* The first worker, which gets the jobs that come one by one, has all threads; jobs at once have one each. */
    imgpipe_status status = open_context(worker, worker->number == 0 ? server->count : 1, server->count, &a->error);
    if (!status) status = run_chain(worker, a, chain);
    if (status == IMGPIPE_ERROR_MEMORY && server->count > 1) status = run_alone(server, a, chain);
    a->exit = exits[status];
    a->status = status == IMGPIPE_OK ? JOB_OK : JOB_FAILED;
    if (status && is_cancelled(worker)) snprintf(a->error.message, sizeof a->error.message, "stopped by a signal");
}

static void do_job(struct worker *worker, struct answer *a) {
    struct server *server = worker->server;
    char message[REQUEST_MESSAGE];
    struct chain_text text = {0};
    imgpipe_chain *chain = NULL;
    *a = (struct answer){.error = {.place = -1}, .report = imgpipe_report_default()};
    if (!worker->line || !request_read(worker->line, worker->length, server->options, &a->request, message)) {
        if (!worker->line) snprintf(message, sizeof message, "the line is longer than %d bytes", LINE_LONGEST);
        snprintf(a->error.message, sizeof a->error.message, "%s", message);
        refuse(a, EXIT_USAGE);
        return;
    }
    const char *wanted = a->request.chain ? a->request.chain : server->options->chain;
    if (!find_target(a)) return;
    if (a->target.current) {
        a->status = JOB_SKIPPED;
        return;
    }
    look(worker, a, NULL);
    if (!chain_text_read(wanted, &text, a->error.message, sizeof a->error.message) ||
        plugins_parse(server->plugins, text.text, &chain, &a->error) != IMGPIPE_OK)
        a->status = JOB_FAILED, a->exit = EXIT_USAGE;
    else if (!request_check_data(chain, &a->error))
        a->status = JOB_FAILED, a->exit = EXIT_USAGE;
    else
        run(worker, a, chain);
    imgpipe_chain_free(&chain);
    chain_text_free(&text);
    worker->in = NULL;
}

/* -------------------------------------------------------------------------------------------------- answers */

static void end_serving(struct server *server, int status) {
    server->ending = true;
    server->status = batch_graver(server->status, status);
}

/* Called with the lock held, which keeps lines whole. */
static void tell(struct worker *worker, const struct answer *a) {
    struct server *server = worker->server;
    printf("{\"id\":%s,\"line\":%lld,", a->request.id ? a->request.id : "null", (long long)worker->line_number);
    report_image(stdout, a->request.in, a->target.out ? a->target.out : a->request.out, a->status,
                 a->exit ? a->error.message : NULL, &a->report);
    if (a->exit && a->error.place >= 0) printf(",\"place\":%d,\"length\":%d", a->error.place, a->error.length);
    printf(",\"exit\":%d}\n", a->exit);
    server->done += a->exit == EXIT_DONE;
    server->failed += a->exit != EXIT_DONE;
    if (a->exit) server->status = batch_graver(server->status, a->exit == EXIT_DEVICE ? EXIT_DEVICE : EXIT_SOME_FAILED);
    int status = console_flush_output(server->console);
    if (status) end_serving(server, status);
}

static void *worker_main(void *argument) {
    struct worker *worker = argument;
    struct server *server = worker->server;
    pthread_mutex_lock(&server->lock);
    for (;;) {
        while (!worker->busy && !server->ending) pthread_cond_wait(&server->change, &server->lock);
        if (!worker->busy) break;
        pthread_mutex_unlock(&server->lock);
        struct answer answer;
        do_job(worker, &answer);
        pthread_mutex_lock(&server->lock);
        tell(worker, &answer);
        request_free(&answer.request);
        target_free(&answer.target);
        free(worker->line);
        worker->line = NULL;
        worker->busy = false;
        server->active--;
        pthread_cond_broadcast(&server->change);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- the lines */

/* Waits a moment for a change; once a signal came, workers that wait for somebody else are woken. The lock is held. */
static void wait_a_moment(struct server *server) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&server->change, &server->lock, &until);
    for (int i = 0; signals_caught() && i < server->count; i++) {
        const struct worker *worker = &server->workers[i];
        if (worker->busy && (signals_count() > 1 || !worker->regular)) signals_wake(worker->thread);
    }
}

/* The idle worker with the least number, started if need be, or NULL when no job is to be begun any more. The lock is held. */
static struct worker *await_worker(struct server *server) {
    for (; !server->ending && !signals_caught(); wait_a_moment(server)) {
        for (int i = 0; i < server->count && !server->waiting_alone; i++) {
            struct worker *worker = &server->workers[i];
            if (worker->busy) continue;
            if (!worker->started) worker->started = pthread_create(&worker->thread, NULL, worker_main, worker) == 0;
            if (worker->started) return worker;
            if (i > 0) break; /* fewer do the same work */
            console_error(server->console, "no thread can be started; free some memory");
            end_serving(server, EXIT_SOME_FAILED);
        }
    }
    return NULL;
}

/* Whether a line may be read: true; false at the end, on signals, and when nobody is there to read answers. */
static bool await_input(void *user) {
    struct server *server = user;
    for (;;) {
        struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = STDOUT_FILENO}};
        int found = poll(ends, 2, 200);
        pthread_mutex_lock(&server->lock);
        if (found > 0 && (ends[1].revents & POLLERR)) end_serving(server, EXIT_OUTPUT);
        bool ending = server->ending || signals_caught();
        pthread_mutex_unlock(&server->lock);
        if (ending) return false;
        if (found > 0 && ends[0].revents) return true;
    }
}

static void serve_lines(struct server *server) {
    struct line_reader reader = {.await = await_input, .user = server};
    pthread_mutex_lock(&server->lock);
    while (await_worker(server)) {
        pthread_mutex_unlock(&server->lock);
        char *line = NULL;
        size_t length = 0;
        bool got = line_read(&reader, &line, &length);
        pthread_mutex_lock(&server->lock);
        /* Chosen only now: whoever did the job before is idle again, if its answer brought this one. On a signal there is none,
         * for a line may be a part of one. */
        struct worker *worker = got ? await_worker(server) : NULL;
        if (!worker) {
            free(line);
            break;
        }
        worker->line = line;
        worker->length = length;
        worker->line_number = reader.number;
        worker->busy = true;
        server->active++;
        pthread_cond_broadcast(&server->change);
    }
    if (reader.fault) {
        console_error(server->console, "cannot read standard input: %s", strerror(reader.fault));
        server->status = batch_graver(server->status, EXIT_SOME_FAILED);
    }
    while (server->active + server->waiting_alone > 0) wait_a_moment(server);
    server->ending = true;
    pthread_cond_broadcast(&server->change);
    pthread_mutex_unlock(&server->lock);
    line_reader_free(&reader);
}

/* ---------------------------------------------------------------------------------------------------- all */

static int begin(struct server *server) {
    imgpipe_error error = {.place = -1};
    server->count = server->options->threads ? (int)server->options->threads : imgpipe_default_threads();
    server->workers = calloc((size_t)server->count, sizeof *server->workers);
    if (!server->workers) {
        console_error(server->console, "no memory for %d threads; free some", server->count);
        return EXIT_SOME_FAILED;
    }
    for (int i = 0; i < server->count; i++)
        server->workers[i] = (struct worker){.server = server, .number = i, .notices = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    server->wide = (struct worker){.server = server, .notices = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    /* A device that is named and absent is found before the first job. */
    imgpipe_status status = open_context(&server->workers[0], server->count, server->count, &error);
    if (!status) return EXIT_DONE;
    console_error(server->console, "%s", error.message);
    return status == IMGPIPE_ERROR_ARGUMENT ? EXIT_USAGE : status == IMGPIPE_ERROR_DEVICE ? EXIT_DEVICE : EXIT_SOME_FAILED;
}

int serve_run(const struct options *o, struct plugins *plugins, struct console *console) {
    struct server server = {.options = o, .plugins = plugins, .console = console};
    int status = request_check_options(o, plugins, console);
    if (status) return status;
    signals_handle(3); /* as in a folder run */
    pthread_mutex_init(&server.lock, NULL);
    pthread_cond_init(&server.change, NULL);
    status = begin(&server);
    if (!status) serve_lines(&server);
    for (int i = 0; server.workers && i < server.count; i++) {
        if (server.workers[i].started) pthread_join(server.workers[i].thread, NULL);
        imgpipe_context_free(&server.workers[i].context);
    }
    imgpipe_context_free(&server.wide.context);
    free(server.workers);
    pthread_cond_destroy(&server.change);
    pthread_mutex_destroy(&server.lock);
    if (status) return status;
    if (!o->quiet && server.status != EXIT_OUTPUT)
        console_error(console, "%lld of %lld job%s done%s", (long long)server.done, (long long)(server.done + server.failed),
                      server.done + server.failed == 1 ? "" : "s", signals_caught() ? "; stopped by a signal" : "");
    return signals_caught() ? EXIT_SIGNAL + signals_caught() : server.status;
}
