/* What the command says on standard error: messages, notices, and the progress line that has to make way for them. */
#ifndef CONSOLE_H
#define CONSOLE_H
#include "imgpipe.h"

#include <pthread.h>

/* A notice or failure that was shown, how often it came, and how often it was shown. */
struct notice {
    char *text;
    int64_t count, shown;
};

/* Safe to use from any thread after console_init(). */
struct console {
    pthread_mutex_t lock;
    bool color, quiet, verbose;
    bool terminal; /* standard error is one that can move its cursor */
    int columns;
    struct notice *notices;
    int notice_count;
    /* The progress line, see progress.h. */
    bool line_shown;
    bool progress, progress_lines, progress_rare;
    double began, last;
    const char *task;
    int last_tenth;
};

/* `color`: enum option_when. */
void console_init(struct console *console, int color, bool quiet, bool verbose);
/* Says how often the messages came that were no longer shown, and begins to count anew. */
void console_tell_counts(struct console *console);
/* The same at the end, and frees. */
void console_end(struct console *console);

/* "imgpipe: message"; control characters are escaped. */
void console_error(struct console *console, const char *format, ...) IMGPIPE_PRINTF(2, 3);
/* A message of the library; the same one is shown three times, then counted. */
void console_log(struct console *console, imgpipe_log_level level, const char *message);
/* What a message is about; the names may be NULL. `many`: one of many images, so that the message must say which. */
struct subject {
    const char *in, *out;
    bool many;
};
/* The same about an image: messages that differ only in its names count as the same. */
void console_log_about(struct console *console, imgpipe_log_level level, const char *message, const struct subject *subject);

/* Whether a failure is to be shown: the first `most` of those that differ only in the names of the image; the rest is counted. */
bool console_wants(struct console *console, const char *message, const struct subject *subject, int most);
#define CONSOLE_FAILURES_SHOWN 3

/* The end of what goes to standard output: 0, or 4 with the fault told, unless nobody reads it any more. */
int console_flush_output(struct console *console);
/* Seconds by a clock that only goes on. */
double console_now(void);

/* For progress.c: takes the progress line away. The lock is held. */
void console_clear_line(struct console *console);
/* Copies `from` with control characters, and bytes that are no UTF-8, as \xNN. */
void console_escape(char *buf, size_t size, const char *from);
#endif
