#include "progress.h"
#include "options.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

void progress_begin(struct console *console, int when, const char *task) {
    pthread_mutex_lock(&console->lock);
    console->progress = !console->quiet && (when == WHEN_ALWAYS || (when == WHEN_AUTO && console->terminal));
    console->progress_rare = !console->quiet && when == WHEN_AUTO && !console->terminal;
    /* Without a cursor to move, a line for every tenth. */
    console->progress_lines = !console->terminal;
    console->began = console->last = console_now();
    console->last_tenth = 0;
    console->task = task;
    pthread_mutex_unlock(&console->lock);
}

void progress_update(struct console *console, double done) {
    pthread_mutex_lock(&console->lock);
    double time = console_now(), passed = time - console->began;
    int tenth = (int)(done * 10);
    bool due = console->progress && passed >= 1 && done >= 0 && done <= 1;
    if (console->progress_lines)
        due = due && tenth > console->last_tenth;
    else
        due = due && time - console->last >= 0.1;
    if (due) {
        char name[64], left[40] = "";
        console_escape(name, sizeof name, console->task);
        if (done >= 0.02) snprintf(left, sizeof left, ", %.0f s left", passed / done - passed);
        console->last = time;
        console->last_tenth = tenth;
        if (console->progress_lines) {
            fprintf(stderr, "imgpipe: %s: %.0f %%%s\n", name, done * 100, left);
        } else {
            fprintf(stderr, "\r\x1b[K%s: %.0f %%%s", name, done * 100, left);
            console->line_shown = true;
        }
        fflush(stderr);
    }
    pthread_mutex_unlock(&console->lock);
}

/* Seconds between lines where there is no cursor to move. */
#define RARE 60
#define OFTEN 5

static void put_left(char buf[40], double seconds) {
    if (seconds < 100)
        snprintf(buf, 40, ", %.0f s left", seconds);
    else if (seconds < 6000)
        snprintf(buf, 40, ", %.0f min left", seconds / 60);
    else
        snprintf(buf, 40, ", %.1f h left", seconds / 3600);
}

void progress_run_update(struct console *console, const struct progress_run *run) {
    pthread_mutex_lock(&console->lock);
    double time = console_now(), passed = time - console->began;
    double pause = console->progress_rare ? RARE : console->progress_lines ? OFTEN : 0.1;
    if ((console->progress || console->progress_rare) && passed >= 1 && time - console->last >= pause) {
        char left[40] = "", failed[40] = "";
        double share = run->bytes_total ? (double)run->bytes_done / (double)run->bytes_total : (double)run->done / (double)run->total;
        if (share >= 0.01) put_left(left, passed / share - passed);
        if (run->failed) snprintf(failed, sizeof failed, ", %lld failed", (long long)run->failed);
        console->last = time;
        fprintf(stderr, "%s%lld of %lld, %.1f images/s, %.1f MB/s%s%s%s", console->progress_lines ? "imgpipe: " : "\r\x1b[K",
                (long long)run->done, (long long)run->total, (double)run->images / passed, (double)run->bytes / passed * 1e-6, left, failed,
                console->progress_lines ? "\n" : "");
        console->line_shown = !console->progress_lines;
        fflush(stderr);
    }
    pthread_mutex_unlock(&console->lock);
}

void progress_end(struct console *console) {
    pthread_mutex_lock(&console->lock);
    console_clear_line(console);
    console->progress = console->progress_rare = false;
    fflush(stderr);
    pthread_mutex_unlock(&console->lock);
}

static void show_image(const char *what, const imgpipe_info *info, uint64_t bytes) {
    fprintf(stderr, "%-9s %lld x %lld, %d channel%s %s, %llu bytes\n", what, (long long)info->width, (long long)info->height,
            info->format.channels, info->format.channels == 1 ? "" : "s", report_type_name(info->format.type), (unsigned long long)bytes);
}

static void show_steps(const imgpipe_report *report) {
    const char *names[REPORT_STEPS];
    double seconds[REPORT_STEPS];
    report_steps(report, names, seconds);
    fprintf(stderr, "%-9s %s\n", "device", report->device);
    for (int i = 0; i < REPORT_STEPS; i++)
        fprintf(stderr, "%-9s %10.3f s%s\n", names[i], seconds[i],
                strcmp(names[i], "total") == 0 ? "  (by the clock; the others add up all threads)" : "");
}

void progress_timings(struct console *console, const imgpipe_report *report) {
    pthread_mutex_lock(&console->lock);
    console_clear_line(console);
    show_image("input", &report->in, report->bytes_in);
    show_image("output", &report->out, report->bytes_out);
    show_steps(report);
    fflush(stderr);
    pthread_mutex_unlock(&console->lock);
}

void progress_totals(struct console *console, const imgpipe_report *sum, int64_t images, uint64_t bytes_in, uint64_t bytes_out) {
    pthread_mutex_lock(&console->lock);
    console_clear_line(console);
    fprintf(stderr, "%-9s %lld, %llu bytes read, %llu written\n", "images", (long long)images, (unsigned long long)bytes_in,
            (unsigned long long)bytes_out);
    show_steps(sum);
    fflush(stderr);
    pthread_mutex_unlock(&console->lock);
}
