/* Reports in JSON: one object a line. */
#ifndef REPORT_H
#define REPORT_H
#include "jobs.h"

#include <stdio.h>

/* What all images of a run did together. */
struct totals {
    int64_t count[JOB_STATUSES];    /* how many inputs have which status */
    int64_t images;                 /* all of them that are images, of all parts */
    int64_t wanted;                 /* those of this part */
    uint64_t bytes_in, bytes_out;
    imgpipe_report sum;             /* seconds of all threads; `total` by the clock */
};

void report_header(FILE *to, const char *chain, const char *device);
/* One input. `report` holds what is known of it; `error` is NULL where nothing is wrong. */
void report_input(FILE *to, const char *in, const char *out, enum job_status status, const char *error, const imgpipe_report *report);
void report_total(FILE *to, const struct totals *totals);

/* Adds the seconds of an image to the sum. */
void report_add(struct totals *totals, const imgpipe_report *report);
#endif
