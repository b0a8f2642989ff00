/* Running a plan: from the source through the passes to the sink. */
#ifndef RUN_H
#define RUN_H
#include "backend.h"
#include "sink.h"
#include "source.h"
#include "store.h"

struct run {
    struct plan *plan;
    struct source *source;
    struct sink *sink;              /* NULL: nothing is written */
    struct backend *backend;
    struct backend *fallback;       /* takes over when a pass cannot be opened on `backend`; NULL: that is an error */
    int in_flight;                  /* strips that may be under way at once */
    struct tasks *tasks;
    struct outfile_folders *folders;
    const struct log *log;
    uint64_t memory;
    bool poison;
    void (*progress)(void *user, double done);
    struct cancel cancel;
    void *user;
    const imgpipe_run_options *options; /* who takes the data of gathers */
    /* the result */
    bool absent;                    /* the device of `backend` is not there, and the fallback did the work */
    double decode, encode;          /* seconds of all threads */
    double backend_seconds[3];      /* upload, compute, download */
};

/* Runs all passes and writes the side data of gathers. On failure nothing has been committed to the sink's outfile that
 * its owner may keep. */
imgpipe_status run_plan(struct run *run, imgpipe_error *error);

/* The size, format and padding of the store that this pass writes, if it ends so. */
struct edge pass_stored(const struct pass *pass);
/* One pass (run_pass.c): reads from `from` if it is not NULL and from the run's source otherwise, and writes to `into`
 * or to the run's sink, as the pass ends. */
imgpipe_status run_pass(struct run *run, int index, struct store *from, struct store *into, imgpipe_error *error);

/* Once all passes are done: f32 that became integers. Says what was clamped, and refuses a result that holds nothing else. */
imgpipe_status run_check_range(const struct plan *plan, const struct log *log, imgpipe_error *error);
#endif
