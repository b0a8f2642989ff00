/* The progress line, and where the time went. */
#ifndef PROGRESS_H
#define PROGRESS_H
#include "console.h"

/* `when`: enum option_when. `task` names the work, and must live until progress_end(). */
void progress_begin(struct console *console, int when, const char *task);
/* `done` is 0 … 1. Shows nothing during the first second, and then at most ten times a second. Any thread. */
void progress_update(struct console *console, double done);

/* How far a run over many images is. */
struct progress_run {
    int64_t done, total, failed;        /* inputs */
    int64_t images;                     /* that were run */
    uint64_t bytes;                     /* read of them */
    uint64_t bytes_done, bytes_total;   /* sizes of the inputs that are done with, and of all: what the time left follows from */
};

/* Likewise. Where standard error is no terminal, a line a minute, or every few seconds with --progress always. */
void progress_run_update(struct console *console, const struct progress_run *run);
void progress_end(struct console *console);

/* The report of one image as a table. */
void progress_timings(struct console *console, const imgpipe_report *report);
/* What `images` took together. */
void progress_totals(struct console *console, const imgpipe_report *sum, int64_t images, uint64_t bytes_in, uint64_t bytes_out);
#endif
