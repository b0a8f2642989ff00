#include "log.h"
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void log_line(const struct log *log, imgpipe_log_level level, const char *format, ...) {
    if (!log || !log->call) return;
    char raw[1024], line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    text_escape(line, sizeof line, raw);
    log->call(log->user, level, line);
}

static void keep(void *user, imgpipe_log_level level, const char *message) {
    struct log_hold *hold = user;
    bool waits = (level == IMGPIPE_LOG_WARNING || level == IMGPIPE_LOG_NOTICE) && hold->count < LOG_HELD_MAX;
    char *copy = waits ? strdup(message) : NULL;
    if (copy) {
        hold->held[hold->count].level = level;
        hold->held[hold->count++].message = copy;
    } else if (hold->to->call) {
        hold->to->call(hold->to->user, level, message);
    }
}

void log_hold_begin(struct log_hold *hold, const struct log *to) {
    *hold = (struct log_hold){.log = {keep, hold}, .to = to};
}

void log_hold_end(struct log_hold *hold, bool show) {
    if (!hold->to) return;
    hold->log = *hold->to;
    hold->to = NULL;
    for (int i = 0; i < hold->count; i++) {
        if (show && hold->log.call) hold->log.call(hold->log.user, hold->held[i].level, hold->held[i].message);
        free(hold->held[i].message);
    }
    hold->count = 0;
}
