/* Notices, warnings and details on their way to the context's log callback. */
#ifndef LOG_H
#define LOG_H
#include "imgpipe.h"

struct log {
    void (*call)(void *user, imgpipe_log_level level, const char *message);
    void *user;
};

/* Formats one line and hands it to the callback; `log` may be NULL or without a callback. Any thread. */
void log_line(const struct log *log, imgpipe_log_level level, const char *format, ...) IMGPIPE_PRINTF(3, 4);
#endif
