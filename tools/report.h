/* Reports in JSON: one object a line. */
#ifndef REPORT_H
#define REPORT_H
#include "console.h"
#include "jobs.h"
#include "options.h"

#include <stdio.h>

/* What all images of a run did together. */
struct totals {
    int64_t count[JOB_STATUSES];    /* how many inputs have which status */
    int64_t images;                 /* all of them that are images, of all parts */
    int64_t wanted;                 /* those of this part */
    int64_t current;                /* skipped ones whose output is no older than the input, which proves nothing of its content */
    uint64_t bytes_in, bytes_out;
    imgpipe_report sum;             /* seconds of all threads; `total` by the clock */
};

/* Opens --report, which may name none; returns 0, or the exit status of the fault that it told. `jobs` are not to be replaced by it. */
int report_open(const struct options *options, struct console *console, const struct jobs *jobs, FILE **report);
/* Returns 0, or 4 if it could not be written to its end; if that is not a byte the file goes. */
int report_close(const struct options *options, struct console *console, FILE *report);

/* Seconds of the steps in the order of the work; the contract names them. */
enum { REPORT_STEPS = 8 };
void report_steps(const imgpipe_report *report, const char *names[REPORT_STEPS], double seconds[REPORT_STEPS]);
/* "u8", "u16", "f32" */
const char *report_type_name(imgpipe_type type);

void report_header(FILE *to, const char *chain, const char *device);
/* The members that tell of one image, without braces. */
void report_image(FILE *to, const char *in, const char *out, enum job_status status, const char *error, const imgpipe_report *report);
/* One input. `report` holds what is known of it; `error` is NULL where nothing is wrong. */
void report_input(FILE *to, const char *in, const char *out, enum job_status status, const char *error, const imgpipe_report *report);
void report_total(FILE *to, const struct totals *totals);

/* Adds the seconds of an image to the sum. */
void report_add(struct totals *totals, const imgpipe_report *report);
#endif
