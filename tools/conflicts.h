/* What must not be: two outputs under one name, outputs outside of OUTDIR, inputs that outputs of the same run would replace. */
#ifndef CONFLICTS_H
#define CONFLICTS_H
#include "console.h"
#include "jobs.h"
#include "options.h"
#include "records.h"

/* Looks at all jobs that are to be done, and at the disk. Says what is wrong, at most some lines of it, and returns 2, or 0 if
 * nothing is. Sets in_place and replace of the jobs. `chain` names the side data. With --in-place --resume an input that the records
 * (else NULL may be given) prove to be the output of another one is skipped: it is done. */
int conflicts_check(const struct options *options, const char *outdir, const imgpipe_chain *chain, const struct records *records,
                    struct console *console, struct jobs *jobs);
#endif
