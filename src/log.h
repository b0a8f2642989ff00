/* Notices, warnings and details on their way to the context's log callback. */
#ifndef LOG_H
#define LOG_H
#include "imgpipe.h"

struct log {
    void (*call)(void *user, imgpipe_log_level level, const char *message);
    void *user;
};

#define LOG_HELD_MAX 16

/* Notices and warnings that wait until it is known whether the work can begin at all: an error is to be one line, without those of
 * an output that never comes. `log` is what is logged to meanwhile. Not to be moved. */
struct log_hold {
    struct log log;
    const struct log *to; /* NULL: nothing waits */
    int count;
    struct {
        imgpipe_log_level level;
        char *message;
    } held[LOG_HELD_MAX];
};

/* `to` must live as long as the hold. */
void log_hold_begin(struct log_hold *hold, const struct log *to);
/* Hands on what waited, or drops it; from here on all goes through. Does nothing the second time, or if it was never begun. */
void log_hold_end(struct log_hold *hold, bool show);

/* Formats one line and hands it to the callback; `log` may be NULL or without a callback. Any thread. */
void log_line(const struct log *log, imgpipe_log_level level, const char *format, ...) IMGPIPE_PRINTF(3, 4);
#endif
