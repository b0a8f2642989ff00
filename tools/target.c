#include "target.h"
#include "cut.h"
#include "exit_status.h"
#include "kinds.h"
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAY(status, ...) (snprintf(message, TARGET_MESSAGE, __VA_ARGS__), (status))

static bool is_standard(const char *name) {
    return strcmp(name, "-") == 0;
}

/* -------------------------------------------------------------------------------------------------- OUT */

/* The file in the folder: the base name of the input, with the extension of what is written. */
static int find_in_folder(const struct options *o, const struct roles *roles, struct target *t, char message[TARGET_MESSAGE]) {
    char kinds[400];
    if (is_standard(t->in))
        return SAY(EXIT_USAGE, "standard input has no name for a file in '%s'; name the file to write", CUT(roles->out, 200));
    const char *base = path_base(t->in), *ext = kind_extension(t->in);
    int stem = ext ? (int)(ext - base) - 1 : (int)strlen(base);
    if (base[0] == 0)
        return SAY(EXIT_SOME_FAILED, "cannot open '%s': %s; check the name", CUT(t->in, 200),
                   strerror(access(t->in, F_OK) != 0 ? errno : EISDIR));
    char written[32];
    if (!o->format && !kind_of_extension(ext) && access(t->in, F_OK) != 0)
        return SAY(EXIT_SOME_FAILED, "cannot open '%s': %s; check the name", CUT(t->in, 200), strerror(errno));
    if (!o->format && !kind_of_extension(ext))
        return SAY(EXIT_USAGE, "which kind of file to write for '%s' is not clear from its name; add --format, with one of %s",
                   CUT(t->in, 200), kinds_written(kinds));
    ext = kind_output_extension(ext, o->format, written);
    bool separated = roles->out[strlen(roles->out) - 1] == '/';
    if (asprintf(&t->out, "%s%s%.*s.%s", roles->out, separated ? "" : "/", stem, base, ext) < 0) {
        t->out = NULL;
        return SAY(EXIT_SOME_FAILED, "no memory for a name; free some");
    }
    t->folder = strdup(roles->out);
    return t->folder ? 0 : SAY(EXIT_SOME_FAILED, "no memory for a name; free some");
}

static bool is_terminal(const char *path) {
    struct stat st;
    int fd = stat(path, &st) == 0 && S_ISCHR(st.st_mode) ? open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
    bool terminal = fd >= 0 && isatty(fd);
    if (fd >= 0) close(fd);
    return terminal;
}

static int find_standard_output(const struct options *o, char message[TARGET_MESSAGE]) {
    char kinds[400];
    if (isatty(STDOUT_FILENO))
        return SAY(EXIT_USAGE, "standard output is a terminal, and an image is no text; redirect it, or name a file");
    if (!o->format)
        return SAY(EXIT_USAGE, "which kind of file to write to standard output is not clear; add --format, with one of %s",
                   kinds_written(kinds));
    return 0;
}

/* An input that is protected is not replaced by its output unless that is said in so many words. */
static int check_protected(struct target *t, char message[TARGET_MESSAGE]) {
    if (!path_is_same_file(t->in, t->out) || !path_is_protected(t->out)) return 0;
    return SAY(EXIT_SOME_FAILED, PATH_PROTECTED, t->out);
}

/* Whether an image that is already there may be replaced. Devices and pipes are written into in any case. */
static int check_existing(const struct options *o, const struct roles *roles, struct target *t, char message[TARGET_MESSAGE]) {
    struct stat st;
    if (stat(t->out, &st) != 0 || !S_ISREG(st.st_mode)) return 0;
    if (o->in_place) return o->overwrite == OVERWRITE_ALWAYS ? 0 : check_protected(t, message);
    bool same = path_is_same_file(t->in, t->out);
    /* As in a run over many: who names a folder may not know that the image lies there. */
    if (same && t->folder)
        return SAY(EXIT_USAGE, "'%s' would be replaced by its own output; name another OUT, or %s if that is meant", CUT(t->in, 200),
                   o->batch ? "the file itself" : "add --in-place");
    if (o->overwrite == OVERWRITE_ALWAYS) return 0;
    struct stat in;
    if (o->overwrite == OVERWRITE_OLDER && stat(t->in, &in) == 0) {
        t->current = !path_is_older(&st.st_mtim, &in.st_mtim);
        return 0;
    }
    if (!roles->alone && same)
        return SAY(EXIT_USAGE, "'%s' is both input and output, so it would be replaced; add --in-place if that is meant", CUT(t->in, 200));
    if (!roles->alone && !t->folder)
        return SAY(EXIT_USAGE,
                   "'%s' exists, and all names stand on one side of the chain, so it may be an input; write IN -f CHAIN OUT, "
                   "name it by "
                   "-o, or add --overwrite always",
                   CUT(t->out, 200));
    if (!t->folder && o->overwrite == OVERWRITE_DEFAULT) return check_protected(t, message);
    t->kept = true;
    if (same) return SAY(EXIT_SOME_FAILED, "'%s' is the input itself and is kept, as --overwrite never says", CUT(t->out, 200));
    return SAY(EXIT_SOME_FAILED, "'%s' exists and is kept; add --overwrite always to replace it", CUT(t->out, 200));
}

int target_find(const struct options *o, const struct roles *roles, struct target *t, char message[TARGET_MESSAGE]) {
    const imgpipe_codec_info *format = o->format ? kind_find(o->format) : NULL;
    int failed = 0;
    *t = (struct target){.in = o->operands[0], .format = format ? format->name : NULL};
    if (!roles->out) return 0;
    if (is_standard(roles->out))
        failed = find_standard_output(o, message);
    else if (roles->folder)
        failed = find_in_folder(o, roles, t, message);
    else if (is_terminal(roles->out))
        failed = SAY(EXIT_USAGE, "'%s' is a terminal, and an image is no text; name a file", CUT(roles->out, 200));
    else if (!kind_check_output(roles->out, format, message, TARGET_MESSAGE))
        failed = EXIT_USAGE;
    if (!failed && !t->out) t->out = strdup(roles->out);
    if (!failed && !t->out) failed = SAY(EXIT_SOME_FAILED, "no memory for a name; free some");
    const imgpipe_codec_info *kind = failed ? NULL : format ? format : kind_of_extension(kind_extension(t->out));
    if (!failed && !kind_check_depth(kind, o->depth, t->out, message, TARGET_MESSAGE)) failed = EXIT_USAGE;
    if (!failed && !is_standard(t->out)) failed = check_existing(o, roles, t, message);
    return failed;
}

int target_make_folder(const struct target *t, char message[TARGET_MESSAGE]) {
    int fault = t->folder ? path_make_folder(t->folder) : 0;
    if (fault) return SAY(EXIT_OUTPUT, "cannot make the folder '%s': %s; name another place", CUT(t->folder, 200), strerror(fault));
    return 0;
}

void target_free(struct target *t) {
    free(t->out);
    free(t->folder);
    t->out = t->folder = NULL;
}
