#include "conflicts.h"
#include "exit_status.h"
#include "names.h"
#include "paths.h"
#include "reads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHOWN_MOST = 20 };

/* A name that is to be written, and for whom. */
struct claim {
    char *path;
    char *real; /* where that is behind symlinks */
    const struct job *job;
    const imgpipe_filter *filter; /* whose side data it is; then `path` belongs to the claim, not to the job. NULL: the image */
};

struct check {
    const struct options *options;
    const imgpipe_chain *chain;
    struct console *console;
    struct jobs *jobs;
    const struct job **inputs; /* by identity */
    struct claim *claims;
    int64_t input_count, claim_count, found;
    int per_job;
    ptrdiff_t outdir; /* length of its name: folders up to there are no images */
};

#define SAY(check, ...)                                                                                                            \
    do {                                                                                                                           \
        if ((check)->found++ < SHOWN_MOST) console_error((check)->console, __VA_ARGS__);                                           \
    } while (0)

static int compare_claims(const void *a, const void *b) {
    const struct claim *x = a, *y = b;
    int order = path_compare(x->path, y->path);
    return order ? order : strcmp(x->job->in, y->job->in);
}

static int compare_places(const void *a, const void *b) {
    const struct claim *x = *(const struct claim *const *)a, *y = *(const struct claim *const *)b;
    int order = strcmp(x->real, y->real);
    return order ? order : compare_claims(x, y);
}

static int compare_inputs(const void *a, const void *b) {
    const struct job *x = *(const struct job *const *)a, *y = *(const struct job *const *)b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode) return x->inode < y->inode ? -1 : 1;
    return 0;
}

/* The image that `path` would replace, or NULL. One that another input is a hard link of is not replaced. */
static const struct job *find_input(const struct check *check, const char *path, const struct stat *st) {
    struct job key = {.device = st->st_dev, .inode = st->st_ino};
    const struct job *wanted = &key, *const *end = check->inputs + check->input_count;
    const struct job **at = bsearch(&wanted, check->inputs, (size_t)check->input_count, sizeof *check->inputs, compare_inputs);
    while (at && at > check->inputs && compare_inputs(at - 1, &wanted) == 0) at--;
    for (; at && at < (const struct job **)end && compare_inputs(at, &wanted) == 0; at++)
        if ((*at)->status == JOB_TODO && path_is_same_file((*at)->in, path)) return *at;
    return NULL;
}

static void check_output(struct check *check, const char *outdir, struct job *job) {
    struct stat st;
    if (!name_is_inside(name_below(outdir, job))) {
        SAY(check, "'%s' would become '%s', which is not inside '%s'; change --name", job->in, name_below(outdir, job), outdir);
        return;
    }
    job->replace = stat(job->out, &st) == 0;
    const char *role = job->replace ? reads_role(check->options, check->chain, job->out) : NULL;
    if (role) SAY(check, "'%s' would become '%s', which is %s; name another OUT", job->in, job->out, role);
    const struct job *input = job->replace && S_ISREG(st.st_mode) ? find_input(check, job->out, &st) : NULL;
    /* By its name, too: another run may just have put another file there. */
    bool own = job->replace && (input || check->options->in_place) && path_is_same_file(job->in, job->out);
    if (!input && !own) return;
    job->in_place = own;
    if (!job->in_place)
        SAY(check, "'%s' would become '%s', which is an input of this run; name another OUT", job->in, job->out);
    else if (!check->options->in_place)
        SAY(check, "'%s' would be replaced by its own output; name another OUT, or add --in-place", job->in);
}

static void check_data(struct check *check, const char *path, const struct job *job, const imgpipe_filter *filter) {
    struct stat st;
    const struct job *input = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? find_input(check, path, &st) : NULL;
    const char *role = reads_role(check->options, check->chain, path);
    if (input) role = "an input";
    if (role)
        SAY(check, "the data of '%s' would replace '%s', which is %s; choose other names (%s=data=)", job->in, path, role,
            filter->name);
}

/* The side data that the chain names, whose names must have fields. */
static bool claim_data(struct check *check, const imgpipe_chain *chain, const struct job *job, bool *usage) {
    imgpipe_chain_value value;
    char message[NAMES_MESSAGE];
    for (int at = 0; name_next_data(chain, &at, &value);) {
        int fields = 0;
        if (!name_check(value.text, "data", &fields, message)) {
            console_error(check->console, "%s", message);
            return !(*usage = true);
        }
        if (fields == 0) {
            console_error(check->console, "data: '%s' is one name for all images; write one with fields, such as {relpath}.csv",
                          value.text);
            return !(*usage = true);
        }
        char *path = name_data(check->options, job, value.text);
        if (!path) return false;
        check_data(check, path, job, value.filter);
        check->claims[check->claim_count++] = (struct claim){.path = path, .job = job, .filter = value.filter};
    }
    return true;
}

static int count_data(const imgpipe_chain *chain) {
    imgpipe_chain_value value;
    int count = 0;
    for (int at = 0; name_next_data(chain, &at, &value);) count++;
    return count;
}

/* Whether a claim lies in a folder that has the name of a file to be written. */
static const struct claim *find_folder(struct check *check, const struct claim *claim) {
    char *path = strdup(claim->path), *slash;
    struct claim *found = NULL;
    while (path && !found && (slash = strrchr(path, '/')) && slash - path > (claim->filter ? 0 : check->outdir)) {
        *slash = 0;
        int64_t low = 0, high = check->claim_count;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            int order = path_compare(check->claims[middle].path, path);
            if (order == 0) found = &check->claims[middle];
            if (order == 0) break;
            if (order < 0)
                low = middle + 1;
            else
                high = middle;
        }
    }
    free(path);
    return found;
}

/* What the user can change for two claims to have different names. */
static const char *place_of_names(const struct claim *a, const struct claim *b, char buf[80]) {
    const struct claim *data = a->filter ? a : b;
    if (!data->filter) return "--name";
    snprintf(buf, 80, "%s%.40s=data=", a->filter && b->filter ? "" : "--name, ", data->filter->name);
    return buf;
}

static void check_claims(struct check *check) {
    char names[80];
    if (check->claim_count > 1) qsort(check->claims, (size_t)check->claim_count, sizeof *check->claims, compare_claims);
    for (int64_t i = 1; i < check->claim_count; i++) {
        const struct claim *a = &check->claims[i - 1], *b = &check->claims[i];
        if (path_compare(a->path, b->path) == 0)
            SAY(check, "'%s' and '%s' would both be written to '%s'; choose names that differ (%s)", a->job->in, b->job->in,
                a->path, place_of_names(a, b, names));
    }
    for (int64_t i = 0; i < check->claim_count; i++) {
        const struct claim *inner = &check->claims[i], *folder = find_folder(check, inner);
        if (folder)
            SAY(check, "'%s' would be written to '%s', and '%s' needs a folder of that name; choose other names (%s)",
                folder->job->in, folder->path, inner->job->in, place_of_names(folder, inner, names));
    }
}

/* Two names that symlinks lead to one file: of the two images only one would be left, or one would be filtered twice. */
static bool check_places(struct check *check) {
    struct claim **places = calloc((size_t)check->claim_count + 1, sizeof *places);
    bool enough = places != NULL;
    for (int64_t i = 0; enough && i < check->claim_count; i++) {
        places[i] = &check->claims[i];
        places[i]->real = path_real(places[i]->path);
        enough = places[i]->real != NULL;
    }
    if (enough && check->claim_count > 1) qsort(places, (size_t)check->claim_count, sizeof(struct claim *), compare_places);
    for (int64_t i = 1; enough && i < check->claim_count; i++) {
        const struct claim *a = places[i - 1], *b = places[i];
        if (strcmp(a->real, b->real) == 0 && path_compare(a->path, b->path) != 0)
            SAY(check, "'%s' and '%s' would both be written to '%s', where symlinks lead; leave one out, or remove the symlink",
                a->job->in, b->job->in, a->real);
    }
    free(places);
    return enough;
}

static bool prepare(struct check *check, const imgpipe_chain *chain) {
    size_t count = (size_t)check->jobs->count + 1;
    check->per_job = 1 + count_data(chain);
    check->inputs = calloc(count, sizeof *check->inputs);
    check->claims = calloc(count * (size_t)check->per_job, sizeof *check->claims);
    if (!check->inputs || !check->claims) return false;
    for (int64_t i = 0; i < check->jobs->count; i++)
        if (check->jobs->list[i].status == JOB_TODO && check->jobs->list[i].mode)
            check->inputs[check->input_count++] = &check->jobs->list[i];
    if (check->input_count > 1) qsort(check->inputs, (size_t)check->input_count, sizeof *check->inputs, compare_inputs);
    return true;
}

/* An earlier run in place made g.png of g.gif, and both are inputs now: the pair is done. */
static void skip_made(struct check *check, const struct records *records) {
    struct stat st;
    for (int64_t i = 0; i < check->jobs->count; i++) {
        const struct job *job = &check->jobs->list[i];
        if (job->status != JOB_TODO || !job->out || stat(job->out, &st) != 0) continue;
        const struct job *made = find_input(check, job->out, &st);
        if (made && made != job && records_hold(records, job, &st)) check->jobs->list[made - check->jobs->list].status = JOB_SKIPPED;
    }
}

int conflicts_check(const struct options *o, const char *outdir, const imgpipe_chain *chain, const struct records *records,
                    struct console *console, struct jobs *jobs) {
    struct check check = {.options = o, .chain = chain, .console = console, .jobs = jobs, .outdir = outdir ? (ptrdiff_t)strlen(outdir) : 0};
    bool enough = prepare(&check, chain), usage = false;
    if (enough && records && o->in_place && o->resume) skip_made(&check, records);
    for (int64_t i = 0; enough && !usage && i < jobs->count; i++) {
        struct job *job = &jobs->list[i];
        if (job->status != JOB_TODO) continue;
        if (job->out) {
            check_output(&check, outdir, job);
            check.claims[check.claim_count++] = (struct claim){.path = job->out, .job = job};
        }
        enough = claim_data(&check, chain, job, &usage) || usage;
    }
    if (enough && !usage) check_claims(&check);
    if (enough && !usage) enough = check_places(&check);
    if (check.found > SHOWN_MOST) console_error(console, "... and %lld more of these", (long long)(check.found - SHOWN_MOST));
    if (check.found) console_error(console, "nothing was done");
    if (!enough)
        console_error(console, "no memory for the names of %lld inputs; free some, or use --shard", (long long)jobs->count);
    for (int64_t i = 0; i < check.claim_count; i++) {
        free(check.claims[i].real);
        if (check.claims[i].filter) free(check.claims[i].path);
    }
    free(check.claims);
    free(check.inputs);
    return usage || check.found ? EXIT_USAGE : enough ? 0 : EXIT_SOME_FAILED;
}
