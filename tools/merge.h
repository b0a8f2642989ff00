/* --merge-hist: one histogram over all images of a run, and over the files that several runs have made. */
#ifndef MERGE_H
#define MERGE_H
#include "console.h"
#include "hist_sum.h"
#include "options.h"
#include "report.h"
#include "shard.h"

/* That of a run. What an image adds is gathered by its lane first, for an image that fails adds nothing. */
struct merge {
    const struct options *options;
    struct console *console;
    struct hist_sum sum;
    bool misfit; /* told of; nothing is written */
};

/* What one image adds. */
struct merge_image {
    struct hist_sum sum;
    char misfit[HIST_SUM_MESSAGE]; /* what is wrong with it, or empty */
};

/* What is wrong with the command line, before any work: 0, or 2 with `message`. */
int merge_check(const struct options *options, const imgpipe_chain *chain, char message[HIST_SUM_MESSAGE]);
/* Looks whether the file can be written, which may be none of the jobs' files; returns 0, or the exit status of what it told. */
int merge_begin(struct merge *merge, const struct options *options, struct console *console, const struct jobs *jobs);
/* imgpipe_run_options.take_data of a lane; `user` is its struct merge_image. */
bool merge_take(void *user, const imgpipe_filter *filter, const char *json, size_t length);
/* Adds what an image has found; false if it does not agree with the others, which is told of the first time. The caller has the
 * lock of the batch. */
bool merge_add(struct merge *merge, const char *in, struct merge_image *image);
/* Writes the file, or not; returns the exit status of that. `totals` say what is not in it. */
int merge_end(struct merge *merge, const struct totals *totals, const struct shard *shard);

/* `imgpipe --merge-hist FILE part.json...`: adds up files. Returns the exit status. */
int merge_files(const struct options *options, struct console *console);
#endif
