/* The sum of histograms: read from JSON as `hist` and --merge-hist write it, added up in exact 64-bit counts, and written. */
#ifndef HIST_SUM_H
#define HIST_SUM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HIST_CHANNELS 4
#define HIST_SUM_MESSAGE 600

/* All zero is the empty sum, which agrees with every histogram. */
struct hist_sum {
    /* ---- what must agree; only where there is an image */
    char type[8];
    int channels;
    char names[HIST_CHANNELS][16];
    uint64_t bins;
    char min[32], max[32]; /* as they are written */
    char first[200];       /* the file that this is of, or the first of several, for messages; may be empty */
    /* ---- the sum */
    uint64_t *counts; /* [channel][bins] */
    uint64_t below[HIST_CHANNELS], above[HIST_CHANNELS], nan[HIST_CHANNELS], pixels;
    /* ---- of what */
    uint64_t images;  /* that are in it */
    uint64_t failed;  /* images of the run that are not, because they failed */
    uint64_t missing; /* or because they were kept, were up to date, or were not reached */
    uint64_t shards;  /* the run had so many parts; 0: it had none, or all are in it */
    uint64_t *parts;  /* those that are in it, ascending, from 1 */
    uint64_t part_count;
};

/* Reads one; false with what is wrong with it in `message`. */
bool hist_sum_read(const char *text, size_t length, struct hist_sum *sum, char message[HIST_SUM_MESSAGE]);
/* Adds; false, with nothing changed, if they do not agree. */
bool hist_sum_add(struct hist_sum *into, const struct hist_sum *from, char message[HIST_SUM_MESSAGE]);
/* Says that the sum is of part `part` (from 1) of `shards`; false without memory. */
bool hist_sum_set_part(struct hist_sum *sum, uint64_t part, uint64_t shards);
/* Whether it holds every image of every part. */
bool hist_sum_complete(const struct hist_sum *sum);
/* What it lacks, for people; empty if nothing. */
void hist_sum_lacks(const struct hist_sum *sum, char *text, size_t size);
void hist_sum_write(const struct hist_sum *sum, FILE *to);
void hist_sum_free(struct hist_sum *sum);
#endif
