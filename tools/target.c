#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_SOME_FAILED = 1, EXIT_USAGE = 2, EXIT_OUTPUT = 4 };

/* Which operands are what; `alone` is false if all operands stand on one side of the chain, so that the last may well be an
 * input that a shell's pattern has put there. */
struct roles {
    const char *in, *out;
    bool alone;
};

#define SAY(status, ...) (snprintf(message, TARGET_MESSAGE, __VA_ARGS__), (status))

static bool is_standard(const char *name) {
    return strcmp(name, "-") == 0;
}

static bool is_folder(const char *name) {
    struct stat st;
    return !is_standard(name) && stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ------------------------------------------------------------------------------------------------- kinds */

/* The extension of a file's name without its dot, or NULL. A name that begins with its only dot has none. */
static const char *extension(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot > name && dot[1] ? dot + 1 : NULL;
}

/* The kind whose list of extensions holds this one. */
static const imgpipe_codec_info *codec_for(const char *ext) {
    const imgpipe_codec_info *codec;
    size_t length = ext ? strlen(ext) : 0;
    for (int i = 0; length && (codec = imgpipe_codec_at(i)); i++) {
        for (const char *p = codec->extensions; *p; p += strspn(p, " ")) {
            size_t size = strcspn(p, " ");
            if (size == length && strncasecmp(p, ext, size) == 0) return codec;
            p += size;
        }
    }
    return NULL;
}

/* By its name, or by one of its extensions: jpg. */
static const imgpipe_codec_info *codec_find(const char *name) {
    const imgpipe_codec_info *codec;
    for (int i = 0; (codec = imgpipe_codec_at(i)); i++)
        if (strcasecmp(codec->name, name) == 0) return codec;
    return codec_for(name);
}

/* The names of all kinds that can be written. */
static const char *written_kinds(char buf[400]) {
    const imgpipe_codec_info *codec;
    buf[0] = 0;
    for (int i = 0; (codec = imgpipe_codec_at(i)); i++)
        if (codec->writes) snprintf(buf + strlen(buf), 400 - strlen(buf), "%s%s", buf[0] ? ", " : "", codec->name);
    return buf;
}

static int check_format(const char *format, char message[TARGET_MESSAGE]) {
    char kinds[400];
    const char *names[64];
    int count = 0;
    const imgpipe_codec_info *codec = codec_find(format);
    if (codec && codec->writes) return 0;
    if (codec) return SAY(EXIT_USAGE, "--format: %s is read, but not written; write one of %s", codec->name, written_kinds(kinds));
    for (int i = 0; count < 63 && (codec = imgpipe_codec_at(i)); i++)
        if (codec->writes) names[count++] = codec->name;
    names[count] = NULL;
    const char *near = options_nearest(format, names);
    if (near)
        return SAY(EXIT_USAGE, "--format: '%.60s' is no kind; did you mean %s? The kinds are %s", format, near,
                   written_kinds(kinds));
    return SAY(EXIT_USAGE, "--format: '%.60s' is no kind; write one of %s", format, written_kinds(kinds));
}

/* ------------------------------------------------------------------------------------------------- roles */

/* A name that is no file but parses as a chain: then -f was forgotten. */
static bool is_chain(const char *text) {
    imgpipe_chain *chain = NULL;
    bool parses = access(text, F_OK) != 0 && imgpipe_chain_parse(text, &chain, NULL) == IMGPIPE_OK;
    imgpipe_chain_free(&chain);
    return parses;
}

/* The first operand from the second on that looks like a chain, or NULL. */
static const char *forgotten_chain(const struct options *o) {
    for (int i = 1; !o->chain && i < o->operand_count; i++)
        if (is_chain(o->operands[i])) return o->operands[i];
    return NULL;
}

static int one_image_only(char message[TARGET_MESSAGE], const char *why) {
    return SAY(EXIT_USAGE, "%s; imgpipe takes one image a run in this version", why);
}

/* Without -o and --no-output: OUT is an operand. */
static int find_roles_of_operands(const struct options *o, struct roles *roles, char message[TARGET_MESSAGE]) {
    int before = o->operands_before, after = o->operand_count - before, inputs = o->operand_count - 1;
    roles->alone = o->chain && before > 0 && after > 0;
    if (roles->alone && after > 1)
        return SAY(EXIT_USAGE, "'%.200s' is one name too many behind the chain; exactly one, OUT, may stand there",
                   o->operands[o->operand_count - 1]);
    if (inputs < 1) {
        bool is_in = before > 0 || !o->chain;
        return SAY(EXIT_USAGE, "%s is missing; write imgpipe IN -f CHAIN OUT",
                   o->operand_count == 0 ? "the input" : (is_in ? "the output" : "the input or the output"));
    }
    roles->in = o->operands[0];
    roles->out = o->operands[o->operand_count - 1];
    if (inputs > 1) {
        char why[300];
        snprintf(why, sizeof why, "%d inputs are named ('%.80s', '%.80s'%s)", inputs, o->operands[0], o->operands[1],
                 inputs > 2 ? ", ..." : "");
        return one_image_only(message, why);
    }
    return 0;
}

static int find_roles(const struct options *o, struct roles *roles, char message[TARGET_MESSAGE]) {
    *roles = (struct roles){.alone = true};
    for (int i = 0; i < o->operand_count; i++)
        if (o->operands[i][0] == 0) return SAY(EXIT_USAGE, "the name of a file is empty; check the quotes on the command line");
    if (o->output && o->output[0] == 0)
        return SAY(EXIT_USAGE, "-o: the name of the file is empty; check the quotes on the command line");
    if (o->output && o->no_output) return SAY(EXIT_USAGE, "-o and --no-output contradict each other; leave one out");
    int failed = 0;
    const char *forgotten = forgotten_chain(o);
    if (forgotten) return SAY(EXIT_USAGE, "'%.200s' is a chain; put -f before it", forgotten);
    if (!o->output && !o->no_output) {
        failed = find_roles_of_operands(o, roles, message);
    } else {
        if (o->operand_count == 0) return SAY(EXIT_USAGE, "the input is missing; write imgpipe IN -f CHAIN -o OUT");
        if (o->no_output && o->chain && o->operand_count == 2 && o->operands_before == 1)
            return SAY(EXIT_USAGE, "with --no-output there is no OUT; leave out '%.200s'", o->operands[1]);
        if (o->operand_count > 1) {
            char why[300];
            snprintf(why, sizeof why, "%d inputs are named ('%.80s', '%.80s'%s)", o->operand_count, o->operands[0],
                     o->operands[1], o->operand_count > 2 ? ", ..." : "");
            return one_image_only(message, why);
        }
        roles->in = o->operands[0];
        roles->out = o->output;
    }
    if (failed) return failed;
    if (is_folder(roles->in)) {
        char why[300];
        snprintf(why, sizeof why, "the input '%.200s' is a folder", roles->in);
        return one_image_only(message, why);
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------- OUT */

/* The file in the folder: the base name of the input, with the extension of what is written. */
static int find_in_folder(const struct options *o, const struct roles *roles, struct target *t, char message[TARGET_MESSAGE]) {
    char kinds[400];
    if (is_standard(roles->in))
        return SAY(EXIT_USAGE, "standard input has no name for a file in '%.200s'; name the file to write", roles->out);
    const char *slash = strrchr(roles->in, '/'), *base = slash ? slash + 1 : roles->in, *ext = extension(roles->in);
    int stem = ext ? (int)(ext - base) - 1 : (int)strlen(base);
    if (base[0] == 0) return SAY(EXIT_SOME_FAILED, "cannot open '%.200s': it is no file; check the name", roles->in);
    char written[32];
    const imgpipe_codec_info *codec = codec_for(ext);
    if (o->format) {
        const imgpipe_codec_info *kind = codec_find(o->format);
        /* An extension that already means this kind stays as it is (.jpeg). */
        if (codec != kind)
            snprintf(written, sizeof written, "%.*s", (int)strcspn(kind->extensions, " "), kind->extensions), ext = written;
    } else if (!codec) {
        return SAY(EXIT_USAGE, "which kind of file to write for '%.200s' is not clear from its name; add --format, with one of %s",
                   roles->in, written_kinds(kinds));
    } else if (!codec->writes) {
        ext = "png";
    }
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
                   written_kinds(kinds));
    return 0;
}

/* The kind of a named file: by its extension, unless --format says it. */
static int check_kind(const struct options *o, const char *out, char message[TARGET_MESSAGE]) {
    char kinds[400];
    const char *ext = extension(out);
    const imgpipe_codec_info *codec = codec_for(ext), *kind = o->format ? codec_find(o->format) : NULL;
    if (kind && codec && codec != kind)
        return SAY(EXIT_USAGE, "--format %s contradicts the extension of '%.200s'; leave one out", kind->name, out);
    if (kind) return 0;
    if (codec && !codec->writes)
        return SAY(EXIT_USAGE, "'%.200s': %s is read, but not written; the kinds that are written are %s", out, codec->name,
                   written_kinds(kinds));
    if (codec) return 0;
    if (ext)
        return SAY(EXIT_USAGE, "'%.200s': .%.20s is no kind of image that can be written; write one of %s, or add --format", out,
                   ext, written_kinds(kinds));
    return SAY(EXIT_USAGE, "'%.200s' has no extension that says which kind of file to write; add one, or --format, with one of %s",
               out, written_kinds(kinds));
}

/* Whether an image that is already there may be replaced. Devices and pipes are written into in any case. */
static int check_existing(const struct options *o, const struct roles *roles, struct target *t, char message[TARGET_MESSAGE]) {
    struct stat st;
    if (o->overwrite == OVERWRITE_ALWAYS || stat(t->out, &st) != 0 || !S_ISREG(st.st_mode)) return 0;
    if (!roles->alone && !t->folder)
        return SAY(EXIT_USAGE,
                   "'%.200s' exists, and all names stand on one side of the chain, so it may be an input; write IN -f CHAIN OUT, "
                   "name it by "
                   "-o, or add --overwrite always",
                   t->out);
    if (!t->folder && o->overwrite == OVERWRITE_DEFAULT) return 0;
    t->kept = true;
    return SAY(EXIT_SOME_FAILED, "'%.200s' exists and is kept; add --overwrite always to replace it", t->out);
}

int target_find(const struct options *o, struct target *t, char message[TARGET_MESSAGE]) {
    struct roles roles;
    *t = (struct target){0};
    int failed = o->format ? check_format(o->format, message) : 0;
    if (!failed) failed = find_roles(o, &roles, message);
    if (failed) return failed;
    t->in = roles.in;
    t->format = o->format ? codec_find(o->format)->name : NULL;
    if (!roles.out) return 0;
    size_t length = strlen(roles.out);
    if (is_standard(roles.out)) {
        failed = find_standard_output(o, message);
    } else if (roles.out[length - 1] == '/' || is_folder(roles.out)) {
        failed = find_in_folder(o, &roles, t, message);
    } else if (is_terminal(roles.out)) {
        failed = SAY(EXIT_USAGE, "'%.200s' is a terminal, and an image is no text; name a file", roles.out);
    } else {
        failed = check_kind(o, roles.out, message);
    }
    if (!failed && !t->out) t->out = strdup(roles.out);
    if (!failed && !t->out) failed = SAY(EXIT_SOME_FAILED, "no memory for a name; free some");
    if (!failed && !is_standard(t->out)) failed = check_existing(o, &roles, t, message);
    return failed;
}

int target_make_folder(const struct target *t, char message[TARGET_MESSAGE]) {
    struct stat st;
    if (!t->folder) return 0;
    for (char *p = t->folder + 1;; p++) {
        if (*p != '/' && *p != 0) continue;
        char sign = *p;
        *p = 0;
        /* Somebody else may make it at the same time, so only what is there afterwards counts. */
        int fault = mkdir(t->folder, 0777) == 0 ? 0 : errno;
        if (stat(t->folder, &st) != 0 || !S_ISDIR(st.st_mode)) {
            if (fault == 0 || fault == EEXIST) fault = ENOTDIR;
            return SAY(EXIT_OUTPUT, "cannot make the folder '%.200s': %s; name another place", t->folder, strerror(fault));
        }
        *p = sign;
        if (sign == 0) return 0;
    }
}

void target_free(struct target *t) {
    free(t->out);
    free(t->folder);
    t->out = t->folder = NULL;
}
