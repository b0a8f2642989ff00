/* One call of a function that runs a chain: what it opened and has to close again. */
#ifndef JOB_H
#define JOB_H
#include "context.h"
#include "run.h"

struct job {
    bool later; /* there was an image before this one in the same input and output */
    double read_before, write_before;
    imgpipe_context *context;
    const imgpipe_run_options *options;
    struct source *source;
    struct plan *plan;
    const struct encoder *encoder;
    struct outfile *out;
    struct sink *sink;
    double began;
    const struct log *log;  /* NULL: the context's */
    struct log_hold hold;
};

/* Where the job's messages go. */
const struct log *job_log(const struct job *job);

/* Checks the context and every option. */
imgpipe_status job_check(const imgpipe_context *context, const imgpipe_run_options *options, imgpipe_error *error);
/* What the source leaves of the budget. */
uint64_t job_memory(const struct job *job);
struct plan_options job_plan_options(const struct job *job, bool no_output);
void job_clear_report(imgpipe_report *report);
/* Prepares a run of the job's plan: chooses the backend, with one line that says which and why, and the strips that suit it. */
imgpipe_status job_begin(struct job *job, struct run *run, char *why, size_t why_size, imgpipe_error *error);
/* Runs the plan of a job whose ends are open. */
imgpipe_status job_run(struct job *job, imgpipe_report *report, imgpipe_error *error);
/* Whether `out` may be written while `in` is read. `*shared`: the output replaces the input pixel by pixel. */
imgpipe_status job_check_overlap(const struct plan *plan, const imgpipe_image *in, const imgpipe_image *out, bool *shared,
                                 imgpipe_error *error);
/* Closes everything; the output is kept only if nothing failed. */
imgpipe_status job_end(struct job *job, imgpipe_status failed, imgpipe_report *report, imgpipe_error *error);
#endif
