/* The inputs of a run, and what becomes of each. */
#ifndef JOBS_H
#define JOBS_H
#include "imgpipe.h"

#include <sys/types.h>
#include <time.h>

enum job_status { JOB_TODO, JOB_OK, JOB_KEPT, JOB_SKIPPED, JOB_IGNORED, JOB_FAILED, JOB_STATUSES };
/* As reports say it, which have those that are still to be done at the end as not done. */
extern const char *const job_status_names[JOB_STATUSES];

struct job {
    char *in;           /* what is opened */
    char *rel;          /* the path below its root, which names the output and chooses the shard */
    char *out;          /* what is written, or NULL */
    const char *format; /* its kind */
    int64_t index;      /* from 1, by bytewise sorted path; 0: no image */
    int64_t size;       /* of the input in bytes; 0: not known */
    struct timespec mtime;
    dev_t device;
    ino_t inode;
    mode_t mode;        /* 0: the file is missing */
    enum job_status status;
    char *error;        /* why it failed before any work, or NULL */
    bool named;         /* by the user, so that it must be an image */
    bool in_place;      /* the output replaces the input */
    bool replace;       /* what is at the output's place */
    bool waits;         /* for somebody else, maybe: the input, or what is written, is a pipe or a device */
    bool decided;       /* before any work */
    bool filtered;      /* kept because the input is what other settings made in its place (--in-place --resume) */
    bool current;       /* skipped because the output is no older than the input (--overwrite older) */
};

struct jobs {
    struct job *list;
    int64_t count, capacity;
    int64_t folders_left;   /* folders that were not entered for want of -r */
    int64_t outputs_left;   /* images that were left out because earlier runs wrote them */
    bool no_memory;
};

/* Adds a job that owns copies of both names; NULL, with no_memory set, if there is no memory. */
struct job *jobs_add(struct jobs *jobs, const char *in, const char *rel);
/* The same for one that has failed before any work, with why. */
struct job *jobs_add_failed(struct jobs *jobs, const char *in, const char *rel, const char *format, ...) IMGPIPE_PRINTF(4, 5);
/* Learns what the file is (size, times, identity); false if it is not there. */
bool job_look(struct job *job);
/* Images by bytewise sorted path, then the rest; doubles removed; `index` set. */
void jobs_sort(struct jobs *jobs);
/* "input" or "output" if a job reads or writes this file, else NULL. */
const char *jobs_role_of(const struct jobs *jobs, const char *path);
void job_free(struct job *job);
void jobs_free(struct jobs *jobs);
#endif
