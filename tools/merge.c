#include "merge.h"
#include "atomic_file.h"
#include "exit_status.h"
#include "paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A histogram of four channels of 16 bits takes less than a tenth of it. */
#define LARGEST ((size_t)64 << 20)

int merge_check(const struct options *o, const imgpipe_chain *chain, char message[HIST_SUM_MESSAGE]) {
    int count = 0;
    for (int i = 0; imgpipe_chain_filter_at(chain, i); i++) count += strcmp(imgpipe_chain_filter_at(chain, i)->name, "hist") == 0;
    const char *why = NULL;
    if (strcmp(o->merge_hist, "-") == 0)
        why = "standard output has its own uses in a run; name a file";
    else if (o->resume)
        why = "what --resume skips would not be in it; let the chain write a file for each image (hist=data={relpath}.json), and "
              "add those "
              "up by imgpipe --merge-hist FILE part.json...";
    else if (count != 1)
        why = count ? "the chain has several hist stages, and which one is meant is not clear; leave one"
                    : "the chain has no hist; add it, for example as hist=pass, which lets the image through";
    else if (o->report && path_compare(o->report, o->merge_hist) == 0)
        why = "it is the file of --report; name another one";
    if (why) snprintf(message, HIST_SUM_MESSAGE, "--merge-hist: %s", why);
    return why ? EXIT_USAGE : EXIT_DONE;
}

static int fail_write(const struct options *o, struct console *console, int fault) {
    if (fault != EPIPE)
        console_error(console, "--merge-hist: cannot write '%s': %s; name another place", o->merge_hist, strerror(fault));
    return EXIT_OUTPUT;
}

int merge_begin(struct merge *merge, const struct options *o, struct console *console, const struct jobs *jobs) {
    *merge = (struct merge){.options = o, .console = console};
    const char *role = jobs_role_of(jobs, o->merge_hist);
    if (role) {
        console_error(console, "--merge-hist: '%s' is an %s of this run; name another file", o->merge_hist, role);
        return EXIT_USAGE;
    }
    int fault = atomic_probe(o->merge_hist);
    return fault ? fail_write(o, console, fault) : EXIT_DONE;
}

bool merge_take(void *user, const imgpipe_filter *filter, const char *json, size_t length) {
    struct merge_image *image = user;
    struct hist_sum one;
    if (strcmp(filter->name, "hist") != 0 || image->misfit[0]) return true;
    if (hist_sum_read(json, length, &one, image->misfit)) hist_sum_add(&image->sum, &one, image->misfit);
    hist_sum_free(&one);
    return true;
}

bool merge_add(struct merge *merge, const char *in, struct merge_image *image) {
    char message[HIST_SUM_MESSAGE];
    if (merge->misfit) return false;
    snprintf(message, sizeof message, "%s", image->misfit);
    snprintf(image->sum.first, sizeof image->sum.first, "%s", in);
    if (!message[0] && hist_sum_add(&merge->sum, &image->sum, message)) return true;
    console_error(merge->console, "--merge-hist: the histogram of '%s' cannot be added, and '%s' is not written: %s", in,
                  merge->options->merge_hist, message);
    merge->misfit = true;
    return false;
}

/* Writes the sum and frees it. */
static int write_sum(const struct options *o, struct console *console, struct hist_sum *sum) {
    struct atomic_file file;
    int fault = atomic_open(&file, strcmp(o->merge_hist, "-") == 0 ? "/dev/stdout" : o->merge_hist);
    if (!fault) {
        hist_sum_write(sum, file.to);
        fault = atomic_commit(&file);
    }
    hist_sum_free(sum);
    return fault ? fail_write(o, console, fault) : EXIT_DONE;
}

static int say_lacks(const struct options *o, struct console *console, const char *lacks) {
    console_error(console, "--merge-hist: '%s' is not the whole; it lacks %s", o->merge_hist, lacks);
    return EXIT_SOME_FAILED;
}

int merge_end(struct merge *merge, const struct totals *totals, const struct shard *shard) {
    struct hist_sum *sum = &merge->sum;
    char lacks[200];
    sum->failed = (uint64_t)totals->count[JOB_FAILED];
    sum->missing = (uint64_t)(totals->count[JOB_KEPT] + totals->count[JOB_SKIPPED] + totals->count[JOB_TODO]);
    hist_sum_lacks(sum, lacks, sizeof lacks); /* that other parts are not in it is as it should be */
    bool part = !shard || hist_sum_set_part(sum, (uint64_t)shard->index + 1, (uint64_t)shard->count);
    if (!part)
        console_error(merge->console, "--merge-hist: no memory for the sum; '%s' is not written", merge->options->merge_hist);
    if (!part || merge->misfit) {
        hist_sum_free(sum);
        return EXIT_SOME_FAILED;
    }
    int status = write_sum(merge->options, merge->console, sum);
    return status || !lacks[0] ? status : say_lacks(merge->options, merge->console, lacks);
}

/* -------------------------------------------------------------------------------------------------------------- files */

static char *read_file(const char *name, size_t *length, char message[HIST_SUM_MESSAGE]) {
    errno = 0;
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rbe");
    char *text = NULL;
    size_t capacity = 0;
    *length = 0;
    while (file && !ferror(file) && !feof(file) && *length <= LARGEST) {
        if (*length == capacity) {
            char *more = realloc(text, capacity = capacity ? 2 * capacity : 65536);
            if (!more) break;
            text = more;
        }
        *length += fread(text + *length, 1, capacity - *length, file);
    }
    bool whole = file && !ferror(file) && feof(file);
    snprintf(message, HIST_SUM_MESSAGE, "%s",
             *length > LARGEST ? "it is too large for a histogram"
             : errno           ? strerror(errno)
                               : "it cannot be read");
    if (file && file != stdin) fclose(file);
    if (whole) return text;
    free(text);
    return NULL;
}

static bool add_file(struct hist_sum *sum, const char *name, char message[HIST_SUM_MESSAGE]) {
    struct hist_sum one;
    size_t length;
    char *text = read_file(name, &length, message);
    bool added = text && hist_sum_read(text, length, &one, message);
    free(text);
    if (!added) return false;
    snprintf(one.first, sizeof one.first, "%s", name);
    added = hist_sum_add(sum, &one, message);
    hist_sum_free(&one);
    return added;
}

/* A pattern of the shell may have put one of the parts into FILE's place. */
static bool may_write(const struct options *o) {
    struct stat st;
    return o->overwrite == OVERWRITE_ALWAYS || strcmp(o->merge_hist, "-") == 0 || stat(o->merge_hist, &st) != 0 ||
           !S_ISREG(st.st_mode);
}

int merge_files(const struct options *o, struct console *console) {
    struct hist_sum sum = {0};
    char message[HIST_SUM_MESSAGE];
    if (o->operand_count == 0) {
        console_error(console,
                      "--merge-hist: there is nothing to add up; name files that hist or --merge-hist wrote, or a run with -f");
        return EXIT_USAGE;
    }
    if (!may_write(o)) {
        console_error(
            console,
            "--merge-hist: '%s' exists, and may be one of the files to add up; name another one, or add --overwrite always",
            o->merge_hist);
        return EXIT_USAGE;
    }
    for (int i = 0; i < o->operand_count; i++) {
        if (add_file(&sum, o->operands[i], message)) continue;
        console_error(console, "--merge-hist: cannot add '%s': %s; nothing was written", o->operands[i], message);
        hist_sum_free(&sum);
        return EXIT_SOME_FAILED;
    }
    char lacks[200];
    hist_sum_lacks(&sum, lacks, sizeof lacks);
    int status = write_sum(o, console, &sum);
    return status || !lacks[0] ? status : say_lacks(o, console, lacks);
}
