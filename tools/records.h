/* What is proven done: lines in OUTDIR/.imgpipe/, one for each output, that hold only as long as the input and the output have the
 * size and time that they had then, and the chain, the options and the version are the same. Every process appends to a file of
 * its own, each line by one write, so that a kill leaves at most one torn line, which counts for nothing, and any number of
 * processes may work into one OUTDIR. */
#ifndef RECORDS_H
#define RECORDS_H
#include "jobs.h"

#include <sys/stat.h>

struct records;

/* `settings`: all that the output depends on beside the input. With `read`, what earlier runs proved is read, and what no
 * longer holds is cleared away if it has become much. NULL without memory. */
struct records *records_open(const char *outdir, const char *settings, bool read);
/* Whether the output that is there was made from the input that is there, both as job_look() and `out` saw them. */
bool records_hold(const struct records *records, const struct job *job, const struct stat *out);
/* Whether the input that is there is what an earlier run put in its place, with whatever settings: it is filtered already. */
bool records_replaced(const struct records *records, const struct job *job, const struct stat *out);
/* Notes that it was; of `out` the size and the time of the last change count. Any thread. Returns 0 or errno. */
int records_add(struct records *records, const struct job *job, const struct stat *out);
/* Opens what runs into a folder wrote there, for records_wrote() alone; changes nothing. NULL without memory. */
struct records *records_open_outputs(const char *outdir);
/* Whether the file that is there, at this path below OUTDIR, was written by a run, and not in place of its input. */
bool records_wrote(const struct records *records, const char *below, const struct stat *out);
void records_close(struct records *records);
#endif
