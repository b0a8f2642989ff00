#include "console.h"
#include "exit_status.h"
#include "json.h"
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* How often the same notice is shown. */
#define SHOWN_TIMES 3
#define NOTICES_MAX 1000
/* Room for two names of files as long as the system takes them, and what is said of them. */
#define TEXT_MOST 9000

void console_init(struct console *console, int color, bool quiet, bool verbose) {
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    struct winsize size = {0};
    *console = (struct console){.quiet = quiet, .verbose = verbose, .columns = 100};
    pthread_mutex_init(&console->lock, NULL);
    console->terminal = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    console->color = color == WHEN_ALWAYS || (color == WHEN_AUTO && console->terminal && !(no_color && *no_color));
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) console->columns = size.ws_col;
}

void console_escape(char *buf, size_t size, const char *from) {
    size_t at = 0;
    while (*from && at + 8 < size) {
        const char *begin = from;
        long code = utf8_next(&from);
        /* C1 controls move the cursor of some terminals as well, and so do the marks that turn the writing direction. */
        bool hidden = code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
                      (code >= 0x2066 && code <= 0x2069);
        if (!hidden) {
            memcpy(buf + at, begin, (size_t)(from - begin));
            at += (size_t)(from - begin);
            continue;
        }
        for (; begin < from && at + 8 < size; begin++)
            at += (size_t)snprintf(buf + at, size - at, "\\x%02x", (unsigned char)*begin);
    }
    buf[at] = 0;
    if (*from) strcpy(buf + at, "…"); /* the loop leaves room for it */
}

void console_clear_line(struct console *console) {
    if (console->line_shown) fputs("\r\x1b[K", stderr);
    console->line_shown = false;
}

/* One line on standard error, in one write where possible. */
static void print_line(struct console *console, const char *label, const char *message) {
    char text[2 * TEXT_MOST], shown[2 * TEXT_MOST]; /* some of it escaped */
    console_escape(text, sizeof text, message);
    console_escape(shown, sizeof shown, label);
    console_clear_line(console);
    const char *on = console->color ? "\x1b[1m" : "", *off = console->color ? "\x1b[0m" : "";
    fprintf(stderr, "%simgpipe:%s %s%s\n", on, off, shown, text);
    fflush(stderr);
}

void console_error(struct console *console, const char *format, ...) {
    char message[TEXT_MOST];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    pthread_mutex_lock(&console->lock);
    print_line(console, "", message);
    pthread_mutex_unlock(&console->lock);
}

/* Counts the message; true if it did not come more than `most` times. What cannot be remembered counts as new. */
static bool count_notice(struct console *console, const char *message, int most) {
    for (int i = 0; i < console->notice_count; i++) {
        struct notice *notice = &console->notices[i];
        if (strcmp(notice->text, message) != 0) continue;
        bool show = ++notice->count <= most;
        notice->shown += show;
        return show;
    }
    if (console->notice_count == NOTICES_MAX) return true;
    if (!console->notices) console->notices = calloc(NOTICES_MAX, sizeof *console->notices);
    char *copy = console->notices ? strdup(message) : NULL;
    if (copy) console->notices[console->notice_count++] = (struct notice){copy, 1, 1};
    return true;
}

/* What follows `name: ` or `'name': ` at the beginning of the message, or the message. */
static const char *behind_name(const char *message, const char *name) {
    size_t length = name ? strlen(name) : 0, quote = message[0] == '\'';
    if (!length || strncmp(message + quote, name, length) != 0 || (quote && message[1 + length] != '\'')) return message;
    const char *end = message + length + 2 * quote;
    return strncmp(end, ": ", 2) == 0 ? end + 2 : message;
}

/* The message with the name left out where it stands in quotes. */
static void without_name(char buf[TEXT_MOST], const char *message, const char *name) {
    char quoted[TEXT_MOST];
    snprintf(quoted, sizeof quoted, "'%s'", name ? name : "");
    const char *at = name ? strstr(message, quoted) : NULL;
    if (at)
        snprintf(buf, TEXT_MOST, "%.*sa file%s", (int)(at - message), message, at + strlen(quoted));
    else
        snprintf(buf, TEXT_MOST, "%s", message);
}

void console_log(struct console *console, imgpipe_log_level level, const char *message) {
    console_log_about(console, level, message, &(struct subject){.in = NULL});
}

void console_log_about(struct console *console, imgpipe_log_level level, const char *message, const struct subject *subject) {
    char general[TEXT_MOST], label[TEXT_MOST] = "";
    if (level == IMGPIPE_LOG_DETAIL && !console->verbose) return;
    if (level != IMGPIPE_LOG_ERROR && console->quiet) return;
    const char *text = subject->many && subject->in ? behind_name(behind_name(message, subject->in), subject->out) : message;
    if (subject->many && subject->in) snprintf(label, sizeof label - 16, "'%s': ", subject->in);
    if (level == IMGPIPE_LOG_WARNING) strcat(label, "warning: ");
    pthread_mutex_lock(&console->lock);
    without_name(general, text, subject->in);
    bool counts = level == IMGPIPE_LOG_WARNING || level == IMGPIPE_LOG_NOTICE;
    if (!counts || count_notice(console, general, SHOWN_TIMES)) print_line(console, label, text);
    pthread_mutex_unlock(&console->lock);
}

bool console_wants(struct console *console, const char *message, const struct subject *subject, int most) {
    char general[TEXT_MOST];
    without_name(general, behind_name(behind_name(message, subject->in), subject->out), subject->in);
    pthread_mutex_lock(&console->lock);
    bool show = count_notice(console, general, most);
    pthread_mutex_unlock(&console->lock);
    return show;
}

void console_tell_counts(struct console *console) {
    pthread_mutex_lock(&console->lock);
    console_clear_line(console);
    for (int i = 0; i < console->notice_count; i++) {
        struct notice *notice = &console->notices[i];
        char label[64];
        long long more = notice->count - notice->shown;
        snprintf(label, sizeof label, "%lld more time%s: ", more, more == 1 ? "" : "s");
        if (more > 0) print_line(console, label, notice->text);
        free(notice->text);
    }
    console->notice_count = 0;
    pthread_mutex_unlock(&console->lock);
}

void console_end(struct console *console) {
    console_tell_counts(console);
    free(console->notices);
    console->notices = NULL;
    pthread_mutex_destroy(&console->lock);
}

int console_flush_output(struct console *console) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_DONE;
    if (errno != EPIPE) console_error(console, "cannot write standard output: %s; check where it goes", strerror(errno));
    return EXIT_OUTPUT;
}

double console_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
