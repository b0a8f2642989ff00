/* The last line is one that can be trusted: it says 'all' only if every image of the run has its output, made now from what the
 * input is, or proven to be made so by an earlier run. */
#include "summary.h"
#include "signals.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* So many names are shown; --report has them all. */
#define NAMES_SHOWN 20

static void show_names(struct batch *batch, enum job_status status, const char *what) {
    int64_t shown = 0, count = batch->totals.count[status];
    for (int64_t i = 0; i < batch->jobs->count && shown < NAMES_SHOWN; i++) {
        const struct job *job = &batch->jobs->list[i];
        if (job->status != status) continue;
        shown++;
        if (status == JOB_KEPT)
            console_error(batch->console, "%s: '%s', for '%s'", what, job->out, job->in);
        else
            console_error(batch->console, "%s: '%s'", what, job->in);
    }
    if (count > shown) console_error(batch->console, "%s: and %lld more; --report FILE names them all", what, (long long)(count - shown));
}

static void append(char *text, size_t size, const char *format, ...) IMGPIPE_PRINTF(3, 4);
static void append(char *text, size_t size, const char *format, ...) {
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

static void put_counts(const struct batch *batch, char *text, size_t size) {
    const int64_t *count = batch->totals.count;
    int64_t current = batch->totals.current, earlier = count[JOB_SKIPPED] - current;
    int64_t done = count[JOB_OK] + earlier, all = batch->totals.wanted;
    const char *dry = batch->options->dry_run ? " to do" : " done";
    if (batch->options->dry_run) done = count[JOB_TODO];
    if (done == all)
        append(text, size, "%s%lld image%s%s", all > 1 ? "all " : "", (long long)all, all == 1 ? "" : "s", dry);
    else
        append(text, size, "%lld of %lld image%s%s", (long long)done, (long long)all, all == 1 ? "" : "s", dry);
    if (earlier) append(text, size, ", %lld by earlier runs", (long long)earlier);
    if (current) append(text, size, ", %lld up to date (no older than the input)", (long long)current);
    if (current && current == all) append(text, size, ": nothing to do");
    if (count[JOB_FAILED]) append(text, size, ", %lld failed", (long long)count[JOB_FAILED]);
    if (count[JOB_KEPT]) append(text, size, ", %lld kept as they are", (long long)count[JOB_KEPT]);
    if (count[JOB_TODO] && !batch->options->dry_run) append(text, size, ", %lld not done", (long long)count[JOB_TODO]);
    if (count[JOB_IGNORED])
        append(text, size, "; %lld file%s that %s no image%s ignored%s", (long long)count[JOB_IGNORED], count[JOB_IGNORED] == 1 ? "" : "s",
               count[JOB_IGNORED] == 1 ? "is" : "are", count[JOB_IGNORED] == 1 ? "" : "s",
               batch->console->verbose ? "" : count[JOB_IGNORED] == 1 ? " (-v names it)" : " (-v names them)");
}

/* With -v, what else nobody would say. */
static void name_ignored(const struct batch *batch) {
    char message[4200];
    for (int64_t i = 0; batch->console->verbose && i < batch->jobs->count; i++) {
        if (batch->jobs->list[i].status != JOB_IGNORED) continue;
        snprintf(message, sizeof message, "ignored, since it is no image: '%s'", batch->jobs->list[i].in);
        console_log(batch->console, IMGPIPE_LOG_DETAIL, message);
    }
}

/* Why outputs were kept, and what to do. */
static void explain_kept(struct batch *batch) {
    int64_t filtered = 0;
    for (int64_t i = 0; i < batch->jobs->count; i++) filtered += batch->jobs->list[i].status == JOB_KEPT && batch->jobs->list[i].filtered;
    if (filtered)
        console_error(batch->console,
                      "%lld of these %s filtered already, in place, by an earlier run with another chain, options or version; "
                      "--overwrite always besides --resume filters what that made",
                      (long long)filtered, filtered == 1 ? "was" : "were");
    if (batch->totals.count[JOB_KEPT] > filtered)
        console_error(batch->console, "what is there already is kept; --overwrite always replaces it, --resume what is not proven done");
}

/* What to do after a signal. Without outputs nothing is noted, and what --resume skips would lack in a merged histogram. */
static const char *way_on(const struct batch *batch) {
    if (!batch->totals.count[JOB_TODO] || !batch->records || batch->merge) return "";
    return batch->options->resume ? "; the same command goes on" : "; add --resume to the same command to go on";
}

void summary_print(struct batch *batch, const struct shard *shard) {
    char text[600] = "";
    const struct totals *t = &batch->totals;
    double seconds = t->sum.seconds.total;
    console_tell_counts(batch->console); /* so that the last line is the summary */
    if (t->count[JOB_FAILED] > 1 || (t->count[JOB_FAILED] && batch->jobs->count > 1)) show_names(batch, JOB_FAILED, "failed");
    if (t->count[JOB_KEPT] && !batch->console->quiet) {
        show_names(batch, JOB_KEPT, "kept");
        explain_kept(batch);
    }
    if (batch->console->quiet) return;
    name_ignored(batch);
    if (shard->count > 1) append(text, sizeof text, "part %lld of %lld: ", (long long)shard->index + 1, (long long)shard->count);
    put_counts(batch, text, sizeof text);
    if (shard->count > 1) append(text, sizeof text, "; %lld image%s in all parts", (long long)t->images, t->images == 1 ? "" : "s");
    if (t->count[JOB_OK] && seconds > 0)
        append(text, sizeof text, "; %.2f s, %.1f images/s, %.1f MB/s", seconds, (double)t->count[JOB_OK] / seconds,
               (double)t->bytes_in / seconds * 1e-6);
    if (signals_caught()) append(text, sizeof text, "; stopped by a signal%s", way_on(batch));
    console_error(batch->console, "%s", text);
}
