/* The progress line, and where the time went. */
#ifndef PROGRESS_H
#define PROGRESS_H
#include "console.h"

/* `when`: enum option_when. `task` names the work, and must live until progress_end(). */
void progress_begin(struct console *console, int when, const char *task);
/* `done` is 0 … 1. Shows nothing during the first second, and then at most ten times a second. Any thread. */
void progress_update(struct console *console, double done);
void progress_end(struct console *console);

/* The report as a table, or as one line of JSON. */
void progress_timings(struct console *console, const imgpipe_report *report, const char *in, const char *out, bool json);
#endif
