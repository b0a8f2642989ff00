#include "log.h"
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

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
