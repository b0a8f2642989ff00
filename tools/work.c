/* One job: running it, and what its result means for the run. */
#include "batch.h"
#include "cut.h"
#include "names.h"
#include "paths.h"
#include "progress.h"
#include "settings.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICE_TEXT 160 /* as much as imgpipe_report has */
/* After so many failures of the device in a row it is lost, and all that follows would fail as well. */
#define DEVICE_FAILURES 8

void work_stop(struct batch *batch, int status) {
    pthread_mutex_lock(&batch->lock);
    batch->stop = true;
    batch->status = batch_graver(batch->status, status);
    pthread_mutex_unlock(&batch->lock);
}

/* True if who read our standard output is gone: then there is nobody to tell about it. */
static bool is_reader_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

static int exit_status(const struct batch *batch, const imgpipe_error *error) {
    switch (error->status) {
    case IMGPIPE_OK: return EXIT_DONE;
    case IMGPIPE_ERROR_ARGUMENT: return EXIT_USAGE;
    case IMGPIPE_ERROR_DEVICE: return EXIT_DEVICE;
    case IMGPIPE_ERROR_OUTPUT:
        return !batch->many || error->fault == ENOSPC || error->fault == EDQUOT ? EXIT_OUTPUT : EXIT_SOME_FAILED;
    case IMGPIPE_ERROR_INPUT:
    case IMGPIPE_ERROR_MEMORY:
    case IMGPIPE_ERROR_CANCELLED:
    case IMGPIPE_ERROR_INTERNAL: break;
    }
    return EXIT_SOME_FAILED;
}

/* ------------------------------------------------------------------------------------------------- telling */

/* The device as it is told of all images: of the CPU a lane only knows its own thread. */
static const char *device_of_all(const struct batch *batch, const char *device, char buf[DEVICE_TEXT]) {
    static const char one[] = "cpu, 1 thread,";
    if (batch->lanes < 2 || strncmp(device, one, strlen(one)) != 0) return device;
    snprintf(buf, DEVICE_TEXT, "cpu, %d threads with an image each,%.80s", batch->lanes, device + strlen(one));
    return buf;
}

/* Called with the lock held. */
static void write_report(struct batch *batch, const struct job *job, const char *error, const imgpipe_report *report) {
    if (!batch->report) return;
    const char *device = report->device[0] ? report->device : batch->options->device ? batch->options->device : "auto";
    /* The device is known with the first image that ran; what was decided before that waits for nothing. */
    char all[DEVICE_TEXT];
    if (!batch->header_written) report_header(batch->report, batch->text->text, device_of_all(batch, device, all));
    batch->header_written = true;
    imgpipe_report line = *report;
    line.device[0] = 0;
    report_input(batch->report, job->in, job->out, job->status, error, &line);
    if (fflush(batch->report) == 0) return;
    int fault = errno;
    batch->report = NULL;
    batch->stop = true;
    batch->status = batch_graver(batch->status, EXIT_OUTPUT);
    if (fault != EPIPE) console_error(batch->console, "cannot write the report: %s; check the disk", strerror(fault));
}

void work_report_rest(struct batch *batch, const struct job *job) {
    imgpipe_report nothing = imgpipe_report_default();
    pthread_mutex_lock(&batch->lock);
    write_report(batch, job, NULL, &nothing);
    pthread_mutex_unlock(&batch->lock);
}

struct subject work_subject(const struct lane *lane) {
    const struct job *job = lane->job;
    return (struct subject){.in = job ? job->in : NULL, .out = job ? job->out : NULL, .many = lane->batch->many};
}

static void show_failure(struct batch *batch, const struct job *job, const imgpipe_error *error) {
    if (!batch->many) {
        chain_text_error(batch->console, batch->text, error);
        return;
    }
    const char *name = job->in;
    struct subject subject = {.in = name, .out = job->out, .many = true};
    bool named = strstr(error->message, name) != NULL, marked = error->place >= 0;
    if (!console_wants(batch->console, error->message, &subject, marked ? 1 : CONSOLE_FAILURES_SHOWN)) return;
    if (marked) {
        console_error(batch->console, "'%s' failed:", name);
        chain_text_error(batch->console, batch->text, error);
    } else if (named) {
        console_error(batch->console, "%s", error->message);
    } else {
        console_error(batch->console, "'%s': %s", name, error->message);
    }
}

static void show_progress(struct batch *batch) {
    const struct totals *t = &batch->totals;
    if (!batch->many) return;
    struct progress_run now = {.done = t->wanted - t->count[JOB_TODO], .total = t->wanted, .failed = t->count[JOB_FAILED],
                               .images = t->count[JOB_OK], .bytes = t->bytes_in, .bytes_done = batch->bytes_done,
                               .bytes_total = batch->bytes_total};
    progress_run_update(batch->console, &now);
}

/* Puts the job's new status into the books. Called with the lock held. */
static void enter(struct batch *batch, struct job *job, enum job_status status, const char *error, const imgpipe_report *report) {
    batch->totals.count[job->status]--;
    job->status = status;
    batch->totals.count[status]++;
    batch->bytes_done += (uint64_t)job->size;
    if (status == JOB_FAILED || status == JOB_KEPT) batch->status = batch_graver(batch->status, EXIT_SOME_FAILED);
    write_report(batch, job, error, report);
    show_progress(batch);
}

void work_tell(struct batch *batch, struct job *job) {
    imgpipe_report report = imgpipe_report_default();
    pthread_mutex_lock(&batch->lock);
    enum job_status status = job->status;
    const char *kept = job->filtered ? "an earlier run with another chain, options or version has filtered it already" : "the output exists";
    struct subject subject = {.in = job->in, .out = job->out, .many = true};
    if (status == JOB_FAILED && job->error && console_wants(batch->console, job->error, &subject, CONSOLE_FAILURES_SHOWN))
        console_error(batch->console, "%s", job->error);
    if (status == JOB_FAILED && batch->options->fail_fast) batch->stop = true;
    enter(batch, job, status, status == JOB_KEPT ? kept : job->error, &report);
    pthread_mutex_unlock(&batch->lock);
}

/* ------------------------------------------------------------------------------------------------- running */

/* The name of side data for the lane's image; its folder is made as the image's is. */
static char *data_name(void *user, const char *name) {
    const struct lane *lane = user;
    char *path = name_data(lane->batch->options, lane->job, name);
    if (path) path_make_folder_of(path); /* what is wrong with it the writer will say */
    return path;
}

static bool may_replace(const struct options *o, const struct job *job) {
    if (job->in_place || o->overwrite == OVERWRITE_ALWAYS) return true;
    if (o->overwrite == OVERWRITE_OLDER) return job->replace;
    return o->resume && o->overwrite == OVERWRITE_DEFAULT;
}

static imgpipe_status fail(imgpipe_error *error, imgpipe_status status, int fault, const char *what, const char *name) {
    *error = (imgpipe_error){.status = status, .place = -1, .fault = fault};
    snprintf(error->message, sizeof error->message, "%s '%s': %s; name another place", what, CUT(name, 400), strerror(fault));
    return status;
}

/* Of several runs that replace their inputs one alone may do an image: the next one would filter the result of the first. So the
 * input is locked, and must be what it was when the run began. Returns the descriptor that holds the lock, or -1 if there is none. */
static int hold_input(const struct lane *lane, const struct job *job, imgpipe_error *error) {
    struct stat st;
    int fd = open(job->in, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    /* Where locks do not work, the rest must do. */
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR && !batch_is_cancelled(lane)) continue;
    if (fd < 0 || stat(job->in, &st) != 0) return fd; /* the run says why */
    if (st.st_ino != job->inode || st.st_dev != job->device || st.st_size != job->size || st.st_mtim.tv_sec != job->mtime.tv_sec ||
        st.st_mtim.tv_nsec != job->mtime.tv_nsec) {
        *error = (imgpipe_error){.status = IMGPIPE_ERROR_INPUT, .place = -1};
        snprintf(error->message, sizeof error->message,
                 "'%s' has changed since the run began, maybe by another run; add --resume to leave out what is done",
                 CUT(job->in, 400));
    }
    return fd;
}

/* Every image reads the files that the chain names, but all are to be filtered alike, and as it is noted. */
static bool is_chain_changed(const struct batch *batch, imgpipe_error *error) {
    char *files = batch->files ? settings_files(batch->chain) : NULL;
    bool changed = batch->files && (!files || strcmp(files, batch->files) != 0);
    free(files);
    if (!changed) return false;
    *error = (imgpipe_error){.status = IMGPIPE_ERROR_INPUT, .place = -1};
    snprintf(error->message, sizeof error->message,
             "a file that the chain names by '@' has changed since the run began; run it again");
    return true;
}

/* What a run in place writes is noted before it is there: after a kill between the two it would be filtered once more. Until the
 * image is replaced the note speaks of nothing that is there. */
static void note_early(void *user, uint64_t bytes, int64_t seconds, long nanoseconds) {
    struct lane *lane = user;
    imgpipe_error error;
    if (is_chain_changed(lane->batch, &error)) return;
    struct stat st = {.st_size = (off_t)bytes, .st_mtim = {.tv_sec = (time_t)seconds, .tv_nsec = nanoseconds}};
    if (records_add(lane->batch->records, lane->job, &st) == 0) lane->noted = st.st_mtim;
}

static imgpipe_status run(struct lane *lane, struct job *job, imgpipe_report *report, imgpipe_error *error) {
    struct batch *batch = lane->batch;
    imgpipe_run_options options = settings_run(batch->options);
    options.format = job->format;
    if (lane->found) {
        options.take_data = merge_take;
        options.take_user = lane->found;
    }
    if (batch->many) {
        if (batch->chain) options.data_name = data_name;
        options.data_user = lane;
        if (batch->records && batch->options->in_place) options.output_whole = note_early, options.whole_user = lane;
        lane->noted = (struct timespec){0};
        options.overwrite = may_replace(batch->options, job) ? IMGPIPE_OVERWRITE_ALWAYS : IMGPIPE_OVERWRITE_NEVER;
        /* A folder for an image that cannot be read would stay empty; the run says what is wrong with the image. */
        int fault = job->out && access(job->in, R_OK) == 0 ? path_make_folder_of(job->out) : 0;
        if (fault) return fail(error, IMGPIPE_ERROR_OUTPUT, fault, "cannot make the folder of", job->out);
    } else if (batch->options->overwrite == OVERWRITE_NEVER) {
        options.overwrite = IMGPIPE_OVERWRITE_NEVER;
    }
    if (is_chain_changed(batch, error)) return error->status;
    imgpipe_status status = imgpipe_run_file(lane->context, batch->chain, job->in, job->out, &options, report, error);
    return status == IMGPIPE_OK && is_chain_changed(batch, error) ? error->status : status;
}

/* Notes a finished output, if it still is what was written. */
static void note(const struct lane *lane, const struct job *job, const imgpipe_report *report) {
    struct batch *batch = lane->batch;
    struct stat st;
    if (!batch->records || !job->out || !job->mode) return;
    if (stat(job->out, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != report->bytes_out) return;
    if (st.st_mtim.tv_sec == lane->noted.tv_sec && st.st_mtim.tv_nsec == lane->noted.tv_nsec) return;
    int fault = records_add(batch->records, job, &st);
    if (!fault) return;
    if (fault == ENOSPC || fault == EDQUOT) work_stop(batch, EXIT_OUTPUT);
    struct subject subject = {.in = job->in, .many = true};
    char message[200];
    snprintf(message, sizeof message, "what is done cannot be noted for --resume: %s", strerror(fault));
    console_log_about(batch->console, IMGPIPE_LOG_WARNING, message, &subject);
}

/* Called with the lock held. */
static void book_failure(struct batch *batch, struct job *job, const imgpipe_error *error, const imgpipe_report *report) {
    int status = exit_status(batch, error);
    /* An image or side data: only the message knows which output failed. */
    bool standard_output = strstr(error->message, "cannot write 'standard output'");
    bool quiet_end = status == EXIT_OUTPUT && standard_output && is_reader_gone();
    batch->device_failures = status == EXIT_DEVICE ? batch->device_failures + 1 : 0;
    if (batch->options->fail_fast || status == EXIT_OUTPUT || batch->device_failures >= DEVICE_FAILURES) batch->stop = true;
    if (!quiet_end) show_failure(batch, job, error);
    enter(batch, job, JOB_FAILED, error->message, report);
    batch->status = batch_graver(status == EXIT_SOME_FAILED ? EXIT_DONE : status, batch->status);
}

/* Adds the image's histogram to those of the run. Called with the lock held. */
static void add_histogram(struct batch *batch, const struct job *job, struct merge_image *found) {
    if (merge_add(batch->merge, job->in, found)) return;
    batch->status = batch_graver(batch->status, EXIT_SOME_FAILED);
    /* If nothing else is to come of the run, it is not worth going on. */
    imgpipe_chain_value value;
    int at = 0;
    if (!job->out && !name_next_data(batch->chain, &at, &value)) batch->stop = true;
}

static bool is_device_absent(struct batch *batch) {
    pthread_mutex_lock(&batch->lock);
    while (batch->device_sought) pthread_cond_wait(&batch->change, &batch->lock);
    bool absent = batch->device_absent;
    pthread_mutex_unlock(&batch->lock);
    return absent;
}

/* Of all images the totals name one device: a GPU if there was one, though the CPU may have begun. */
static void keep_device(struct batch *batch, const imgpipe_report *report) {
    imgpipe_report *sum = &batch->totals.sum;
    char all[DEVICE_TEXT];
    if (!sum->device[0] || (settings_is_gpu(report->device) && !settings_is_gpu(sum->device)))
        snprintf(sum->device, sizeof sum->device, "%s", device_of_all(batch, report->device, all));
}

/* What a run's result means for the job and the batch. False if the job should be tried again alone. */
static bool end_job(struct lane *lane, struct job *job, imgpipe_status status, const imgpipe_error *error, const imgpipe_report *report) {
    struct batch *batch = lane->batch;
    if (status == IMGPIPE_ERROR_MEMORY && lane->shared) return false;
    if (status == IMGPIPE_ERROR_DEVICE && is_device_absent(batch)) return true; /* told once; the job stays to be done */
    if (status == IMGPIPE_OK && batch->many) note(lane, job, report);
    pthread_mutex_lock(&batch->lock);
    if (status == IMGPIPE_OK) {
        batch->device_failures = 0;
        report_add(&batch->totals, report);
        keep_device(batch, report);
        enter(batch, job, JOB_OK, NULL, report);
        if (!batch->many) batch->totals.sum = *report;
        if (lane->found) add_histogram(batch, job, lane->found);
    } else if (status == IMGPIPE_ERROR_CANCELLED || batch_is_cancelled(lane)) {
        batch->stop = true; /* the job stays to be done */
    } else if (batch->many && status == IMGPIPE_ERROR_OUTPUT && error->fault == EEXIST) {
        enter(batch, job, JOB_KEPT, error->message, report); /* another run has written it meanwhile */
    } else {
        book_failure(batch, job, error, report);
    }
    pthread_mutex_unlock(&batch->lock);
    return true;
}

/* With a GPU goes what hist had counted there, so that another must begin with the image anew; at most once for each of them. */
static bool may_go_elsewhere(const struct batch *batch, const struct job *job, int times) {
    const char *device = batch->options->device;
    return device && strcmp(device, "cuda:all") == 0 && S_ISREG(job->mode) && times < imgpipe_devices(NULL, 0, NULL, 0) - 1;
}

bool work_do(struct lane *lane, struct job *job) {
    struct batch *batch = lane->batch;
    imgpipe_error error = {.place = -1};
    imgpipe_report report = imgpipe_report_default();
    struct merge_image found = {.misfit = ""};
    lane->found = batch->merge ? &found : NULL;
    int hold = job->in_place ? hold_input(lane, job, &error) : -1;
    imgpipe_status status = error.status ? error.status : run(lane, job, &report, &error);
    struct subject subject = work_subject(lane);
    for (int i = 1; status == IMGPIPE_ERROR_DEVICE && may_go_elsewhere(batch, job, i); i++) {
        hist_sum_free(&found.sum);
        found = (struct merge_image){.misfit = ""};
        notices_end(&lane->notices, batch->console, &subject, false);
        status = run(lane, job, &report, &error);
    }
    notices_end(&lane->notices, batch->console, &subject, status == IMGPIPE_OK);
    bool done = end_job(lane, job, status, &error, &report);
    if (hold >= 0) close(hold);
    hist_sum_free(&found.sum);
    return done;
}
