#include "inputs.h"
#include "cut.h"
#include "exit_status.h"
#include "paths.h"
#include "signals.h"
#include "text_mark.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool input_is_pattern(const char *name) {
    return strpbrk(name, "*?[") && strcmp(name, "-") != 0 && access(name, F_OK) != 0 && errno == ENOENT;
}

/* A name that a pattern has found may be that of a pipe, or of a device, which nobody meant and which might wait for ever. */
static void add_named(struct walk *walk, const char *path, const char *rel, bool literal) {
    if (!walk_wants(walk->options, rel, false)) return;
    struct job *job = jobs_add(walk->jobs, path, rel);
    if (!job) return;
    job->named = true;
    job_look(job);
    if (!literal && job->mode && !S_ISREG(job->mode)) job->status = JOB_IGNORED;
}

static void take_operand(struct walk *walk, const char *name, bool literal) {
    struct stat st;
    struct job *job = NULL;
    if (path_is_folder(name))
        walk_folder(walk, name);
    else if (*path_base(name))
        add_named(walk, name, path_base(name), literal);
    else /* a slash behind what is no folder */
        job = jobs_add_failed(walk->jobs, name, name, "cannot open '%s': %s; check the name", name,
                              strerror(stat(name, &st) != 0 ? errno : ENOTDIR));
    if (job) job->named = true;
}

/* What matches is as good as named, as if a shell had expanded the pattern; but for what is no regular file. */
static void take_pattern(struct walk *walk, const char *pattern) {
    glob_t found = {0};
    int failed = glob(pattern, GLOB_NOSORT, NULL, &found);
    for (size_t i = 0; !failed && i < found.gl_pathc; i++) take_operand(walk, found.gl_pathv[i], false);
    globfree(&found);
    if (failed == GLOB_NOSPACE) walk->jobs->no_memory = true;
    if (failed != GLOB_NOMATCH && failed != GLOB_ABORTED) return;
    struct job *job = jobs_add_failed(walk->jobs, pattern, path_base(pattern), "no file matches '%s'; check the pattern", pattern);
    if (job) job->named = true;
}

/* ------------------------------------------------------------------------------------------------- lists */

/* The path of a line below an output folder: without what leads out of it. To be freed. */
static char *inner_path(const char *line) {
    char *path = malloc(strlen(line) + 2), *end = path;
    for (const char *part = line; path && *part;) {
        size_t length = strcspn(part, "/");
        bool up = length == 2 && memcmp(part, "..", 2) == 0;
        if (up) {
            while (end > path && *--end != '/') continue;
        } else if (length > 0 && !(length == 1 && part[0] == '.')) {
            if (end > path) *end++ = '/';
            memcpy(end, part, length);
            end += length;
        }
        part += length;
        while (*part == '/') part++;
    }
    if (path) *end = 0;
    return path;
}

/* Lists that come from other systems end their lines with CR LF, and may begin with a mark of the encoding. Both are parts of a name
 * only where there is a file of that name. */
static char *clean_line(char *line, bool first) {
    size_t length = strlen(line);
    struct stat st;
    size_t mark = first ? mark_utf8(line, length) : 0;
    bool cr = length && line[length - 1] == '\r';
    if ((!mark && !cr) || lstat(line, &st) == 0) return line;
    if (cr) line[length - 1] = 0;
    return line + mark;
}

static void take_line(struct walk *walk, const char *line) {
    if (!*line) return;
    char *rel = inner_path(line), *path = NULL;
    /* `-` is a name like any other here. */
    bool made = rel && (strcmp(line, "-") == 0 ? asprintf(&path, "./%s", line) >= 0 : (path = strdup(line)) != NULL);
    if (!made) {
        walk->jobs->no_memory = true;
    } else if (path_is_folder(path)) {
        jobs_add_failed(walk->jobs, path, rel, "'%s' is a folder; --files-from takes the names of files", path);
    } else {
        add_named(walk, path, rel, true);
    }
    free(rel);
    free(path);
}

/* Text of two bytes a character, as PowerShell writes it: by its mark, or every second byte is zero. */
static bool is_utf16(const char *line, size_t length) {
    if (mark_is_utf16(line, length)) return true;
    return length >= 4 && ((line[0] && !line[1] && line[2] && !line[3]) || (!line[0] && line[1] && !line[2] && line[3]));
}

/* What is wrong with the line of a list that is no name; NULL: nothing. `number` is the line's, from 0. */
static const char *fault_of_line(const char *line, size_t length, int64_t number, bool null) {
    struct stat st;
    bool whole = strlen(line) == length;
    if (number == 0 && is_utf16(line, length) && lstat(line, &st) != 0)
        return "it is UTF-16, as PowerShell writes text; write the list as UTF-8 (Out-File -Encoding utf8)";
    /* The first name of UTF-16 without a mark is one character; so is the second. */
    if (null && number == 1 && length == 1 && lstat(line, &st) != 0)
        return "its names are single characters under which there is no file; if it is UTF-16, write it as UTF-8, and leave out -0";
    return whole ? NULL : "a name holds a zero byte; add -0, or check the list";
}

static int take_list(struct walk *walk) {
    const char *name = walk->options->files_from;
    bool standard = strcmp(name, "-") == 0;
    FILE *file = standard ? stdin : fopen(name, "rb");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    int end = walk->options->null ? 0 : '\n', fault = file ? 0 : errno;
    int64_t number = 0, single = 0;
    const char *why = NULL;
    while (!fault && !signals_caught() && (errno = 0, length = getdelim(&line, &capacity, end, file)) > 0) {
        if (line[length - 1] == (char)end) line[--length] = 0;
        single += length == 1;
        if (number == 1 && single < 2) single = -1;
        why = fault_of_line(line, (size_t)length, number, !end && single == 2);
        if (why) break;
        take_line(walk, end ? clean_line(line, number == 0) : line);
        number++;
    }
    if (why) console_error(walk->console, "--files-from: '%s': %s", CUT(name, 200), why);
    if (file && ferror(file) && !signals_caught()) fault = errno ? errno : EIO;
    free(line);
    if (file && !standard) fclose(file);
    if (fault) console_error(walk->console, "--files-from: cannot read '%s': %s; check the name", CUT(name, 200), strerror(fault));
    return fault || why ? EXIT_USAGE : 0;
}

/* --------------------------------------------------------------------------------------------------- all */

/* IN is OUTDIR: every output would replace an input. */
static bool is_out(const struct walk *walk, const char *name) {
    struct stat st;
    return walk->skips && stat(name, &st) == 0 && S_ISDIR(st.st_mode) && st.st_dev == walk->device && st.st_ino == walk->inode;
}

/* One line, however many folders there are. */
static void tell_outputs(struct walk *walk) {
    char message[700], more[60] = "";
    int64_t images = walk->jobs->outputs_left, others = walk->outputs_folders - 1;
    if (others > 0) snprintf(more, sizeof more, " and %lld other folder%s", (long long)others, others == 1 ? "" : "s");
    snprintf(message, sizeof message, "%lld image%s in '%.400s'%s that an earlier run wrote there %s left out; name the folder as an input to "
             "take them", (long long)images, images == 1 ? "" : "s", walk->outputs_folder ? walk->outputs_folder : "", more,
             images == 1 ? "is" : "are");
    if (images) console_log(walk->console, IMGPIPE_LOG_NOTICE, message);
    free(walk->outputs_folder);
}

int inputs_collect(const struct options *o, const struct roles *roles, struct console *console, struct jobs *jobs) {
    struct walk walk = {.options = o, .console = console, .jobs = jobs};
    struct stat st;
    int failed = 0;
    if (roles->out && !o->in_place && stat(roles->out, &st) == 0) {
        walk.skips = true;
        walk.device = st.st_dev;
        walk.inode = st.st_ino;
    }
    for (int i = 0; !failed && i < roles->input_count; i++) {
        const char *name = o->operands[i];
        if (strcmp(name, "-") == 0) {
            console_error(console, "standard input has no name for a file in a folder; name files, or run it by itself");
            failed = EXIT_USAGE;
        } else if (is_out(&walk, name)) {
            console_error(console,
                          o->name ? "'%s' is both input and output, so a later run would take outputs for inputs; name another "
                                    "OUT, or add --in-place if that is meant"
                                  : "'%s' is both input and output, so every image would be replaced; add --in-place if "
                                    "that is meant",
                          CUT(name, 200));
            failed = EXIT_USAGE;
        } else if (input_is_pattern(name)) {
            take_pattern(&walk, name);
        } else {
            take_operand(&walk, name, true);
        }
    }
    if (!failed && o->files_from) failed = take_list(&walk);
    tell_outputs(&walk);
    if (signals_caught()) {
        console_error(console, "stopped by a signal");
        return EXIT_SIGNAL + signals_caught();
    }
    if (!failed && jobs->no_memory) {
        console_error(console, "no memory for the names of %lld inputs; free some, or use --shard", (long long)jobs->count);
        failed = EXIT_SOME_FAILED;
    }
    jobs_sort(jobs);
    return failed;
}
