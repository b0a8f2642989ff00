#include "progress.h"
#include "json.h"
#include "options.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void progress_begin(struct console *console, int when, const char *task) {
    pthread_mutex_lock(&console->lock);
    console->progress = !console->quiet && (when == WHEN_ALWAYS || (when == WHEN_AUTO && console->terminal));
    /* Without a cursor to move, a line for every tenth. */
    console->progress_lines = !console->terminal;
    console->began = console->last = now();
    console->last_tenth = 0;
    console->task = task;
    pthread_mutex_unlock(&console->lock);
}

void progress_update(struct console *console, double done) {
    pthread_mutex_lock(&console->lock);
    double time = now(), passed = time - console->began;
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

void progress_end(struct console *console) {
    pthread_mutex_lock(&console->lock);
    console_clear_line(console);
    console->progress = false;
    fflush(stderr);
    pthread_mutex_unlock(&console->lock);
}

static const char *type_name(imgpipe_type type) {
    return type == IMGPIPE_U8 ? "u8" : type == IMGPIPE_U16 ? "u16" : "f32";
}

/* The steps in the order of the work; the contract names them. */
static int steps(const imgpipe_report *report, const char *names[8], double seconds[8]) {
    const char *const all[8] = {"read", "decode", "upload", "compute", "download", "encode", "write", "total"};
    const double values[8] = {report->seconds.read,     report->seconds.decode, report->seconds.upload, report->seconds.compute,
                              report->seconds.download, report->seconds.encode, report->seconds.write,  report->seconds.total};
    memcpy(names, all, sizeof all);
    memcpy(seconds, values, sizeof values);
    return 8;
}

static void timings_json(const imgpipe_report *report, const char *in, const char *out) {
    const char *names[8];
    double seconds[8];
    fputs("{\"input\":", stderr);
    json_string(stderr, in);
    fputs(",\"output\":", stderr);
    json_string(stderr, out);
    fprintf(stderr, ",\"status\":\"ok\",\"error\":null,\"width\":%lld,\"height\":%lld,\"channels\":%d,\"type\":\"%s\"",
            (long long)report->in.width, (long long)report->in.height, report->in.format.channels,
            type_name(report->in.format.type));
    fprintf(stderr, ",\"bytes_in\":%llu,\"bytes_out\":%llu,\"device\":", (unsigned long long)report->bytes_in,
            (unsigned long long)report->bytes_out);
    json_string(stderr, report->device);
    fputs(",\"seconds\":{", stderr);
    for (int i = 0, count = steps(report, names, seconds); i < count; i++) {
        fprintf(stderr, "%s\"%s\":", i ? "," : "", names[i]);
        json_number(stderr, seconds[i]);
    }
    fputs("}}\n", stderr);
}

static void show_image(const char *what, const imgpipe_info *info, uint64_t bytes) {
    fprintf(stderr, "%-9s %lld x %lld, %d channel%s %s, %llu bytes\n", what, (long long)info->width, (long long)info->height,
            info->format.channels, info->format.channels == 1 ? "" : "s", type_name(info->format.type), (unsigned long long)bytes);
}

void progress_timings(struct console *console, const imgpipe_report *report, const char *in, const char *out, bool json) {
    const char *names[8];
    double seconds[8];
    pthread_mutex_lock(&console->lock);
    console_clear_line(console);
    if (json) {
        timings_json(report, in, out);
    } else {
        show_image("input", &report->in, report->bytes_in);
        show_image("output", &report->out, report->bytes_out);
        fprintf(stderr, "%-9s %s\n", "device", report->device);
        for (int i = 0, count = steps(report, names, seconds); i < count; i++)
            fprintf(stderr, "%-9s %10.3f s%s\n", names[i], seconds[i],
                    strcmp(names[i], "total") == 0 ? "  (by the clock; the others add up all threads)" : "");
    }
    fflush(stderr);
    pthread_mutex_unlock(&console->lock);
}
