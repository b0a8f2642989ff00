/* Names of outputs and of side data, made from their inputs. */
#ifndef NAMES_H
#define NAMES_H
#include "jobs.h"
#include "options.h"

#define NAMES_MESSAGE 600

/* Checks a template's fields; false with `message` filled. `fields` (may be NULL): how many there are. */
bool name_check(const char *template, const char *what, int *fields, char message[NAMES_MESSAGE]);
/* The name that a checked template gives for an input; to be freed. NULL without memory. `ext`: the output's extension. */
char *name_expand(const char *template, const struct job *job, const char *ext);
/* The extension of a job's output, or of what it would be. `buf` may hold it. */
const char *name_extension(const struct options *options, const struct job *job, char buf[32]);
/* The next file of side data that the chain names, from value `*at` on, which moves behind it; false where there is none. */
bool name_next_data(const imgpipe_chain *chain, int *at, imgpipe_chain_value *value);
/* What its name, as the chain says it, becomes for an input; as name_expand(). Without an output the fields are the input's. */
char *name_data(const struct options *options, const struct job *job, const char *name);
/* Whether one of the files that the chain names, for the job (or as they stand there, if that is NULL), may be waited for. */
bool name_may_wait(const struct options *options, const imgpipe_chain *chain, const struct job *job);
/* Sets job->out and job->format below OUTDIR; false with `message` filled. A name that leads out of OUTDIR is not refused here. */
bool name_output(const struct options *options, const char *outdir, struct job *job, char message[NAMES_MESSAGE]);
/* Whether the part of an output's path below OUTDIR stays in it and out of what is imgpipe's own there. */
bool name_is_inside(const char *rel);
/* The part of job->out below OUTDIR. */
const char *name_below(const char *outdir, const struct job *job);
#endif
