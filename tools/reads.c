#include "reads.h"
#include "cut.h"
#include "exit_status.h"
#include "names.h"
#include "paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the regular file at `path`, of which `st` tells, is the one that the run reads under this name. */
static bool is_file(const char *name, const char *path, const struct stat *st) {
    struct stat other;
    if (strcmp(name, "-") == 0) return path_is_open_as(path, STDIN_FILENO);
    return stat(name, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

const char *reads_role(const struct options *o, const imgpipe_chain *chain, const char *path) {
    struct stat st;
    imgpipe_chain_value value;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return NULL;
    if (o->files_from && is_file(o->files_from, path, &st)) return "the list of --files-from";
    if (o->chain && o->chain[0] == '@' && is_file(o->chain + 1, path, &st)) return "the file of the chain (-f)";
    for (int i = 0; imgpipe_chain_value_at(chain, i, &value); i++)
        if (value.text[0] == '@' && is_file(value.text + 1, path, &st)) return "a file that the chain reads";
    for (int i = 0; i < o->operand_count; i++)
        if (strcmp(o->operands[i], "-") == 0 && is_file("-", path, &st)) return "an input of this run";
    return NULL;
}

/* OUT/.imgpipe and what is in it. */
static bool is_record(const struct roles *roles, const char *path) {
    static const char records[] = ".imgpipe";
    char *out = roles->many && roles->out ? path_real(roles->out) : NULL, *real = out ? path_real(path) : NULL;
    const char *below = real ? path_below(real, out) : NULL;
    size_t length = strlen(records);
    bool inside = below && strncmp(below, records, length) == 0 && (below[length] == 0 || below[length] == '/');
    free(out);
    free(real);
    return inside;
}

static bool check_one(const struct options *o, const struct roles *roles, const imgpipe_chain *chain, const char *what,
                      const char *path, char message[READS_MESSAGE]) {
    const char *role = path ? reads_role(o, chain, path) : NULL;
    if (!role && path && is_record(roles, path)) role = "where it is noted what is done";
    if (role) snprintf(message, READS_MESSAGE, "%s: '%s' is %s; name another file", what, CUT(path, 400), role);
    return !role;
}

int reads_check(const struct options *o, const struct roles *roles, const char *out, const imgpipe_chain *chain,
                char message[READS_MESSAGE]) {
    imgpipe_chain_value value;
    bool right = check_one(o, roles, chain, "--report", o->report, message) &&
                 check_one(o, roles, chain, "--merge-hist", o->merge_hist, message) &&
                 check_one(o, roles, chain, "the output", out, message);
    for (int at = 0; right && name_next_data(chain, &at, &value);) right = check_one(o, roles, chain, "data", value.text, message);
    return right ? EXIT_DONE : EXIT_USAGE;
}
