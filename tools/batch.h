/* Doing the jobs: a few threads, each with a context of its own and one image at a time, take them from one queue. Few large images
 * are done one after another by all threads together. */
#ifndef BATCH_H
#define BATCH_H
#include "chain_text.h"
#include "console.h"
#include "exit_status.h"
#include "merge.h"
#include "notices.h"
#include "options.h"
#include "records.h"
#include "report.h"

#include <pthread.h>

struct batch {
    /* ---- what is to be done; set by who runs it */
    const struct options *options;
    struct console *console;
    const imgpipe_chain *chain;
    const struct chain_text *text;
    struct jobs *jobs;
    bool many;                  /* a run over many images: failures are counted; otherwise one image, named by the user */
    int64_t local;              /* rank among the processes of this machine, or -1 */
    struct records *records;    /* NULL: nothing is noted */
    char *files;                /* what settings_files() told when the run began */
    FILE *report;               /* NULL: none */
    struct merge *merge;        /* NULL: histograms are not added up */
    /* ---- the state, guarded by `lock` once lanes run */
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct job **queue;         /* largest first */
    int64_t queued, next;
    struct job **deferred;      /* need more memory than a lane has */
    int64_t deferred_count;
    int lanes_running;
    bool device_sought;         /* whether the device that was named is there is being found out … */
    bool device_absent;         /* … and it is not */
    bool stop;                  /* no job is to be begun any more */
    bool header_written;
    bool signal_told;           /* what the first signal lets be finished */
    int lanes;                  /* so many images at once, a thread each; 0: one after another */
    int device_failures;
    int status;                 /* enum exit_status: the gravest so far */
    struct totals totals;
    uint64_t bytes_total, bytes_done;
    double began;
};

/* A thread with a context, and the job that it is about. */
struct lane {
    struct batch *batch;
    imgpipe_context *context;
    struct job *job;
    bool shared;                /* one of several: with more memory, alone, an image may still succeed */
    bool progress;              /* of the image itself is shown */
    struct merge_image *found;  /* the histogram of the image at work; NULL: nobody wants it */
    struct notices notices;     /* about the image at work */
    struct timespec noted;      /* the change of the output that is noted already */
    pthread_t thread;
};

/* Does all jobs with status JOB_TODO. Returns what becomes the exit status; batch->totals says more. `lock` and `change` are made
 * and destroyed here. */
int batch_run(struct batch *batch);
/* Of two exit statuses the one that counts. */
int batch_graver(int a, int b);

/* One job (work.c), with the results told and noted. False if it should be tried again alone. */
bool work_do(struct lane *lane, struct job *job);
/* Tells of a job that was decided without running it: kept, skipped, ignored, failed. The lock need not be held. */
void work_tell(struct batch *batch, struct job *job);
/* Whom the lane's messages are about. */
struct subject work_subject(const struct lane *lane);
/* Puts a job that was not reached into the report. */
void work_report_rest(struct batch *batch, const struct job *job);
/* Whether a signal ends the image that the lane is at, too. */
bool batch_is_cancelled(const struct lane *lane);
/* Ends the run with this status: nothing is begun any more. */
void work_stop(struct batch *batch, int status);
#endif
