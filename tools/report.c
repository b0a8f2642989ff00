#include "report.h"
#include "exit_status.h"
#include "json.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int report_open(const struct options *o, struct console *console, const struct jobs *jobs, FILE **report) {
    *report = NULL;
    if (!o->report) return EXIT_DONE;
    const char *role = jobs_role_of(jobs, o->report);
    if (role) {
        console_error(console, "--report: '%s' is an %s of this run; name another file", o->report, role);
        return EXIT_USAGE;
    }
    *report = strcmp(o->report, "-") == 0 ? stdout : fopen(o->report, "we");
    if (!*report) console_error(console, "--report: cannot write '%s': %s; name another file", o->report, strerror(errno));
    return *report ? EXIT_DONE : EXIT_OUTPUT;
}

/* What a full disk left of a report that has not a byte of it. Called once `file` is closed; `st` is of the time before. */
static void remove_empty(const char *file, const struct stat *st) {
    struct stat now;
    if (S_ISREG(st->st_mode) && lstat(file, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino && now.st_size == 0)
        unlink(file);
}

int report_close(const struct options *o, struct console *console, FILE *report) {
    if (!report) return EXIT_DONE;
    bool told = ferror(report), failed = fflush(report) != 0 || told; /* an earlier fault was told when it was found */
    int fault = errno;
    struct stat st;
    bool known = report != stdout && fstat(fileno(report), &st) == 0;
    if (report != stdout && fclose(report) != 0 && !failed) failed = true, fault = errno;
    if (failed && known) remove_empty(o->report, &st);
    if (failed && !told && fault != EPIPE)
        console_error(console, "--report: cannot write '%s': %s; check the disk", o->report, strerror(fault));
    return failed ? EXIT_OUTPUT : EXIT_DONE;
}

const char *report_type_name(imgpipe_type type) {
    return type == IMGPIPE_U8 ? "u8" : type == IMGPIPE_U16 ? "u16" : "f32";
}

void report_steps(const imgpipe_report *report, const char *names[REPORT_STEPS], double seconds[REPORT_STEPS]) {
    const char *const all[REPORT_STEPS] = {"read", "decode", "upload", "compute", "download", "encode", "write", "total"};
    const double values[REPORT_STEPS] = {report->seconds.read,    report->seconds.decode,   report->seconds.upload,
                                         report->seconds.compute, report->seconds.download, report->seconds.encode,
                                         report->seconds.write,   report->seconds.total};
    memcpy(names, all, sizeof all);
    memcpy(seconds, values, sizeof values);
}

static void put_text(FILE *to, const char *name, const char *text) {
    fprintf(to, "\"%s\":", name);
    json_string(to, text);
}

/* The name of a file may be any bytes, which JSON has no texts for: what is no UTF-8 is there once more, as hexadecimal digits. */
static void put_name(FILE *to, const char *name, const char *file) {
    const char *at = file;
    put_text(to, name, file);
    while (at && *at && utf8_next(&at) >= 0) continue;
    if (!at || !*at) return;
    fprintf(to, ",\"%s_bytes\":\"", name);
    for (at = file; *at; at++) fprintf(to, "%02x", (unsigned char)*at);
    putc('"', to);
}

static void put_seconds(FILE *to, const imgpipe_report *report) {
    const char *names[REPORT_STEPS];
    double seconds[REPORT_STEPS];
    report_steps(report, names, seconds);
    fputs("\"seconds\":{", to);
    for (int i = 0; i < REPORT_STEPS; i++) {
        fprintf(to, "%s\"%s\":", i ? "," : "", names[i]);
        json_number(to, seconds[i]);
    }
    putc('}', to);
}

void report_header(FILE *to, const char *chain, const char *device) {
    fputs("{\"version\":\"" IMGPIPE_VERSION "\",", to);
    put_text(to, "chain", chain);
    putc(',', to);
    put_text(to, "device", device);
    fputs("}\n", to);
}

void report_image(FILE *to, const char *in, const char *out, enum job_status status, const char *error,
                  const imgpipe_report *report) {
    put_name(to, "input", in);
    putc(',', to);
    put_name(to, "output", out);
    putc(',', to);
    put_text(to, "status", job_status_names[status]);
    putc(',', to);
    put_text(to, "error", error);
    if (report->in.width)
        fprintf(to, ",\"width\":%lld,\"height\":%lld,\"channels\":%d,\"type\":\"%s\"", (long long)report->in.width,
                (long long)report->in.height, report->in.format.channels, report_type_name(report->in.format.type));
    else
        fputs(",\"width\":null,\"height\":null,\"channels\":null,\"type\":null", to);
    fprintf(to, ",\"bytes_in\":%llu,\"bytes_out\":%llu,", (unsigned long long)report->bytes_in,
            (unsigned long long)(status == JOB_OK ? report->bytes_out : 0));
    if (report->device[0]) {
        put_text(to, "device", report->device);
        putc(',', to);
    }
    put_seconds(to, report);
}

void report_input(FILE *to, const char *in, const char *out, enum job_status status, const char *error,
                  const imgpipe_report *report) {
    putc('{', to);
    report_image(to, in, out, status, error, report);
    fputs("}\n", to);
}

void report_total(FILE *to, const struct totals *t) {
    fprintf(to, "{\"total\":{\"images\":%lld", (long long)t->wanted);
    for (int i = JOB_OK; i < JOB_STATUSES; i++) fprintf(to, ",\"%s\":%lld", job_status_names[i], (long long)t->count[i]);
    fprintf(to, ",\"%s\":%lld,\"bytes_in\":%llu,\"bytes_out\":%llu,", job_status_names[JOB_TODO], (long long)t->count[JOB_TODO],
            (unsigned long long)t->bytes_in, (unsigned long long)t->bytes_out);
    put_seconds(to, &t->sum);
    fputs("}}\n", to);
}

void report_add(struct totals *t, const imgpipe_report *report) {
    double *sum = &t->sum.seconds.read;
    const double *one = &report->seconds.read;
    /* `total` is set by who looks at the clock. */
    for (int i = 0; i < 7; i++) sum[i] += one[i];
    t->bytes_in += report->bytes_in;
    t->bytes_out += report->bytes_out;
}
