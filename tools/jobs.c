#include "jobs.h"
#include "paths.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const job_status_names[JOB_STATUSES] = {"not_done", "ok", "kept", "skipped", "ignored", "failed"};

struct job *jobs_add(struct jobs *jobs, const char *in, const char *rel) {
    if (jobs->count == jobs->capacity) {
        int64_t capacity = jobs->capacity ? 2 * jobs->capacity : 64;
        struct job *list = realloc(jobs->list, sizeof *list * (size_t)capacity);
        if (!list) {
            jobs->no_memory = true;
            return NULL;
        }
        jobs->list = list;
        jobs->capacity = capacity;
    }
    struct job *job = &jobs->list[jobs->count];
    *job = (struct job){.in = strdup(in), .rel = strdup(rel)};
    if (!job->in || !job->rel) {
        job_free(job);
        jobs->no_memory = true;
        return NULL;
    }
    jobs->count++;
    return job;
}

struct job *jobs_add_failed(struct jobs *jobs, const char *in, const char *rel, const char *format, ...) {
    struct job *job = jobs_add(jobs, in, rel);
    va_list args;
    if (!job) return NULL;
    job->status = JOB_FAILED;
    va_start(args, format);
    if (vasprintf(&job->error, format, args) < 0) job->error = NULL;
    va_end(args);
    return job;
}

bool job_look(struct job *job) {
    struct stat st;
    if (strcmp(job->in, "-") == 0 || stat(job->in, &st) != 0) return false;
    job->mode = st.st_mode;
    job->size = S_ISREG(st.st_mode) ? st.st_size : 0;
    job->mtime = st.st_mtim;
    job->device = st.st_dev;
    job->inode = st.st_ino;
    return true;
}

/* What was found to be no image comes last and has no place in the order. */
static int compare(const void *a, const void *b) {
    const struct job *x = a, *y = b;
    bool image_x = x->status == JOB_TODO, image_y = y->status == JOB_TODO;
    if (image_x != image_y) return image_x ? -1 : 1;
    int order = strcmp(x->in, y->in);
    return order ? order : strcmp(x->rel, y->rel);
}

void jobs_sort(struct jobs *jobs) {
    int64_t kept = 0;
    if (jobs->count > 1) qsort(jobs->list, (size_t)jobs->count, sizeof *jobs->list, compare);
    for (int64_t i = 0; i < jobs->count; i++) {
        struct job *job = &jobs->list[i], *last = kept ? &jobs->list[kept - 1] : NULL;
        if (last && compare(last, job) == 0) {
            job_free(job);
            continue;
        }
        jobs->list[kept] = *job;
        if (job->status == JOB_TODO) jobs->list[kept].index = kept + 1;
        kept++;
    }
    jobs->count = kept;
}

const char *jobs_role_of(const struct jobs *jobs, const char *path) {
    struct stat st;
    bool there = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
    for (int64_t i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->list[i];
        if (there && job->mode && st.st_dev == job->device && st.st_ino == job->inode) return "input";
        if (job->out && path_compare(job->out, path) == 0) return "output";
    }
    return NULL;
}

void job_free(struct job *job) {
    free(job->in);
    free(job->rel);
    free(job->out);
    free(job->error);
}

void jobs_free(struct jobs *jobs) {
    for (int64_t i = 0; i < jobs->count; i++) job_free(&jobs->list[i]);
    free(jobs->list);
    *jobs = (struct jobs){0};
}
