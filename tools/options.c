/* Reading the command line. One row of the table is the option's parser, its range check, and its line in --help. */
#include "options.h"
#include "cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_type {
    TYPE_FLAG,   /* bool */
    TYPE_TEXT,   /* const char * */
    TYPE_ONCE,   /* const char *, and a second time is an error */
    TYPE_NUMBER, /* int64_t from min to max */
    TYPE_SIZE,   /* uint64_t, with K, M or G behind it */
    TYPE_CHOICE, /* int: index into choices */
    TYPE_DEPTH,  /* int: 8, 16, 32 */
    TYPE_RATIO,  /* int: 444, 422, 420 */
    TYPE_STRIP,  /* int: 1, or 2 with the value `all` */
    TYPE_COLOUR, /* double[3] */
    TYPE_DEVICE, /* const char *, of the right form */
    TYPE_ACTION, /* enum action, in min */
    TYPE_LIST    /* struct option_list */
};

struct row {
    const char *heading;
    char letter;
    const char *name, *value;
    enum option_type type;
    size_t offset;
    int64_t min, max;
    const char *const *choices;
    const char *help;
};

static const char *const when_names[] = {"auto", "always", "never", NULL};
static const char *const overwrite_names[] = {"always", "never", "older", NULL};
static const char *const depth_names[] = {"8", "16", "f32", NULL};
static const char *const ratio_names[] = {"444", "422", "420", NULL};
static const char *const no_yes_names[] = {"no", "yes", NULL};
static const char *const strip_names[] = {"all", NULL};
static const char *const device_names[] = {"auto", "cpu", "cuda", "cuda:all", NULL};

#define AT(member) offsetof(struct options, member)
#define PLAIN 0, 0, NULL
/* clang-format off */
static const struct row rows[] = {
    {"What to do", 'f', "filters", "CHAIN", TYPE_ONCE, AT(chain), PLAIN,
     "the filters, separated by commas; @FILE reads them from a file, where a new line separates them too and # starts a comment"},
    {NULL, 'o', "output", "OUT", TYPE_ONCE, AT(output), PLAIN, "the image to write, or a folder for it; - is standard output"},
    {NULL, 0, "format", "KIND", TYPE_TEXT, AT(format), PLAIN,
     "the kind of file to write to standard output or into a folder (--list-formats); otherwise the extension of OUT says it"},
    {NULL, 0, "no-output", NULL, TYPE_FLAG, AT(no_output), PLAIN, "write no image, only what filters write (hist=data=FILE)"},
    {NULL, 0, "overwrite", "WHEN", TYPE_CHOICE, AT(overwrite), 0, 0, overwrite_names,
     "always or never replace an existing image, or if it is older than its input (else it is up to date); by default an OUT named by -o, or that stands "
     "alone on its side of -f, is replaced, and what is in a folder is kept"},
    {"Many images (OUT is a folder)", 'r', "recursive", NULL, TYPE_FLAG, AT(recursive), PLAIN,
     "take the images in the folders of a folder too, not only its own"},
    {NULL, 0, "include", "GLOB", TYPE_LIST, AT(include), PLAIN,
     "only files whose name, or whose path below IN if GLOB has a slash, matches; may be given several times"},
    {NULL, 0, "exclude", "GLOB", TYPE_LIST, AT(exclude), PLAIN, "leave out files and folders that match; a GLOB with a slash at its end means a folder and all in it"},
    {NULL, 0, "files-from", "FILE", TYPE_ONCE, AT(files_from), PLAIN, "take the names of inputs from FILE, one a line (which may end with CR LF); - is standard input"},
    {NULL, '0', "null", NULL, TYPE_FLAG, AT(null), PLAIN, "names in --files-from and --dry-run end with a zero byte, not with a new line"},
    {NULL, 0, "name", "TEMPLATE", TYPE_ONCE, AT(name), PLAIN,
     "names below OUT, from {stem} {ext} {dir} {relpath} {index} {index:05} {{ }} (default: {relpath}); {index} counts the inputs of "
     "this run, and changes when one is added or removed"},
    {NULL, 0, "resume", NULL, TYPE_FLAG, AT(resume), PLAIN, "skip what OUT/.imgpipe/ proves done by an earlier run: input, output, chain, options and version are the same; do the rest again"},
    {NULL, 0, "in-place", NULL, TYPE_FLAG, AT(in_place), PLAIN, "let outputs replace their own inputs: OUT is IN"},
    {NULL, 0, "dry-run", NULL, TYPE_FLAG, AT(dry_run), PLAIN, "do nothing, show which input would be written to which output, and which inputs cannot be opened"},
    {NULL, 0, "fail-fast", NULL, TYPE_FLAG, AT(fail_fast), PLAIN, "stop at the first image that fails"},
    {NULL, 0, "shard", "I/N|auto[/N]", TYPE_ONCE, AT(shard), PLAIN,
     "do part I of N only; auto asks MPI, Slurm or Kubernetes which one this is"},
    {NULL, 0, "report", "FILE", TYPE_ONCE, AT(report), PLAIN, "write a line of JSON for each input"},
    {NULL, 0, "merge-hist", "FILE", TYPE_ONCE, AT(merge_hist), PLAIN,
     "add up the histograms that the chain's hist finds, as JSON; without -f: those in the files that are named"},
    {NULL, 0, "batch", "-", TYPE_ONCE, AT(batch), PLAIN,
     "do the jobs that come from standard input, a line of JSON each, and answer each with such a line"},
    {"The image", 0, "depth", "8|16|f32", TYPE_DEPTH, AT(depth), 0, 0, depth_names,
     "type of the output's samples; the chain runs in the wider of the input's type and this one (default: the input's)"},
    {NULL, 0, "level", "0...9", TYPE_NUMBER, AT(level), 0, 9, NULL,
     "how hard to compress PNG: 0 stores, 9 is smallest (default: 4)"},
    {NULL, 0, "quality", "1...100", TYPE_NUMBER, AT(quality), 1, 100, NULL, "of JPEG (default: 90)"},
    {NULL, 0, "background", "COLOUR", TYPE_COLOUR, AT(background), PLAIN,
     "white, black or #rrggbb: what alpha is blended over where the output has none (default: white)"},
    {NULL, 0, "subsampling", "444|422|420", TYPE_RATIO, AT(subsampling), 0, 0, ratio_names,
     "resolution of JPEG's colours: full, half the width, half of both (default: 420 if the input is such a JPEG, else 444)"},
    {NULL, 0, "strip", NULL, TYPE_STRIP, AT(strip), 0, 0, strip_names,
     "carry nothing over beside the pixels but the ICC profile; --strip=all drops that too"},
    {NULL, 0, "auto-orient", NULL, TYPE_FLAG, AT(auto_orient), PLAIN,
     "turn the pixels as EXIF says, instead of carrying its orientation over"},
    {NULL, 0, "page", "N", TYPE_NUMBER, AT(page), 1, INT32_MAX - 1, NULL, "which page or frame to read where there are several"},
    {NULL, 0, "alpha", "yes|no", TYPE_CHOICE, AT(alpha), 0, 0, no_yes_names,
     "whether the last of two or four channels is alpha (default: as the file says)"},
    {NULL, 0, "allow-truncated", NULL, TYPE_FLAG, AT(allow_truncated), PLAIN,
     "read what there is of a file that ends early, with a warning; the rest is 0"},
    {NULL, 0, "max-pixels", "N", TYPE_NUMBER, AT(max_pixels), 0, INT64_MAX, NULL,
     "refuse larger images; 0 is no limit (default: 17179869184)"},
    {"How to run (none of these changes the result)", 0, "device", "NAME", TYPE_DEVICE, AT(device), 0, 0, device_names,
     "auto, cpu, cuda, cuda:N, or cuda:all for all GPUs together; auto takes a GPU where there is one and the work is worth it "
     "(default: auto)"},
    {NULL, 'j', "threads", "N", TYPE_NUMBER, AT(threads), 1, 1024, NULL,
     "working threads (default: the CPUs that this process may use)"},
    {NULL, 0, "memory", "SIZE", TYPE_SIZE, AT(memory), PLAIN, "host memory to plan with, such as 512M or 2G (default: half of it)"},
    {NULL, 0, "gpu-memory", "SIZE", TYPE_SIZE, AT(gpu_memory), PLAIN, "the same on the GPU (default: half of what is free)"},
    {NULL, 0, "strip-rows", "N", TYPE_NUMBER, AT(strip_rows), 1, INT32_MAX, NULL, "rows of a strip, the unit of work"},
    {NULL, 0, "isa", "NAME", TYPE_TEXT, AT(isa), PLAIN, "instruction set of the CPU (default: the best that it has)"},
    {"What to say", 0, "timings", NULL, TYPE_FLAG, AT(timings), PLAIN, "show where the time went (with --json as JSON)"},
    {NULL, 'v', "verbose", NULL, TYPE_FLAG, AT(verbose), PLAIN, "show details: the plan, and which device runs it and why"},
    {NULL, 'q', "quiet", NULL, TYPE_FLAG, AT(quiet), PLAIN, "show errors only"},
    {NULL, 0, "color", "WHEN", TYPE_CHOICE, AT(color), 0, 0, when_names, "auto, always or never (default: auto)"},
    {NULL, 0, "progress", "WHEN", TYPE_CHOICE, AT(progress), 0, 0, when_names,
     "auto (on a terminal), always or never (default: auto)"},
    {"What there is (each also with --json)", 0, "list", NULL, TYPE_ACTION, AT(action), ACTION_LIST, 0, NULL, "the filters"},
    {NULL, 0, "list-formats", NULL, TYPE_ACTION, AT(action), ACTION_FORMATS, 0, NULL, "the kinds of files"},
    {NULL, 0, "list-devices", NULL, TYPE_ACTION, AT(action), ACTION_DEVICES, 0, NULL, "the CPU, and the GPUs that can be used"},
    {NULL, 'h', "help", "[FILTER]", TYPE_ACTION, AT(action), ACTION_HELP, 0, NULL, "this text, or all about one filter or option"},
    {NULL, 0, "version", NULL, TYPE_ACTION, AT(action), ACTION_VERSION, 0, NULL, "the version, and the kinds of files of this build"},
    {NULL, 0, "json", NULL, TYPE_FLAG, AT(json), PLAIN, "as JSON, for programs"},
    {"More filters", 0, "plugin", "FILE", TYPE_LIST, AT(plugins), PLAIN,
     "load the filters of a plug-in, named by a path with a slash; may be given several times (those in IMGPIPE_PLUGINS and in the "
     "folder of the installation are found without it)"},
    {NULL, 0, "check-filter", "NAME", TYPE_ONCE, AT(check_filter), PLAIN,
     "prove that a filter makes the same bytes however it is run, and reads no more than it says; values may follow that are not to "
     "be varied (conv=sharpen)"},
};
/* clang-format on */
#define ROW_COUNT ((int)(sizeof rows / sizeof rows[0]))

/* ------------------------------------------------------------------------------------------------ values */

/* What one value is read with; `shown` is the option as it was written. */
struct reading {
    const struct row *row;
    const char *shown, *text;
    void *to;
    char *message;
};

#define SAY(r, ...) (snprintf((r)->message, OPTIONS_MESSAGE, __VA_ARGS__), false)

/* Digits only. False if there are none, or something else, or 2^64 is reached; *rest is where the digits end. */
static bool read_digits(const char *text, uint64_t *value, const char **rest) {
    const char *p = text;
    bool fits = true;
    *value = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        fits = fits && !__builtin_mul_overflow(*value, (uint64_t)10, value) &&
               !__builtin_add_overflow(*value, (uint64_t)(*p - '0'), value);
    }
    *rest = p;
    return fits && p > text;
}

static bool read_number(const struct reading *r) {
    const struct row *row = r->row;
    uint64_t value;
    const char *rest;
    bool number = read_digits(r->text, &value, &rest) && *rest == 0;
    if (!number || value < (uint64_t)row->min || value > (uint64_t)row->max) {
        char most[40] = "";
        if (row->max < INT32_MAX) snprintf(most, sizeof most, " to %lld", (long long)row->max);
        return SAY(r, "%s: '%s' is %s; write a whole number from %lld%s", r->shown, CUT(r->text, 60),
                   number ? "out of range" : "not a whole number", (long long)row->min, most[0] ? most : " on");
    }
    *(int64_t *)r->to = (int64_t)value;
    return true;
}

static bool read_size(const struct reading *r) {
    static const char units[] = "KMG";
    uint64_t value;
    const char *rest, *unit = NULL;
    bool right = read_digits(r->text, &value, &rest);
    if (right && *rest) {
        unit = strchr(units, *rest >= 'a' && *rest <= 'z' ? *rest - 32 : *rest);
        right = unit && (rest[1] == 0 || strcmp(rest + 1, "iB") == 0);
    }
    if (right && unit) right = !__builtin_mul_overflow(value, (uint64_t)1 << (10 * (unit - units + 1)), &value);
    if (!right || value == 0)
        return SAY(r, "%s: '%s' is no size; write a whole number of bytes, or one with K, M or G behind it, such as 512M",
                   r->shown, CUT(r->text, 60));
    *(uint64_t *)r->to = value;
    return true;
}

static bool read_choice(const struct reading *r, int *index) {
    const char *const *choices = r->row->choices;
    char all[100] = "";
    for (int i = 0; choices[i]; i++) {
        if (strcmp(r->text, choices[i]) == 0) {
            *index = i;
            return true;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", choices[i]);
    }
    const char *near = options_nearest(r->text, choices);
    if (near) return SAY(r, "%s: '%s' is not a choice; did you mean %s? The choices are %s", r->shown, CUT(r->text, 60), near, all);
    return SAY(r, "%s: '%s' is not a choice; write %s%s", r->shown, CUT(r->text, 60), choices[1] ? "one of " : "nothing or ", all);
}

static bool read_colour(const struct reading *r) {
    double *to = r->to;
    unsigned value = strcmp(r->text, "white") == 0 ? 0xffffff : 0;
    bool hex = r->text[0] == '#' && strlen(r->text) == 7 && strspn(r->text + 1, "0123456789abcdefABCDEF") == 6;
    if (hex)
        value = (unsigned)strtoul(r->text + 1, NULL, 16);
    else if (value == 0 && strcmp(r->text, "black") != 0)
        return SAY(r, "%s: '%s' is no colour; write white, black or #rrggbb (quoted from the shell)", r->shown, CUT(r->text, 60));
    for (int i = 0; i < 3; i++) to[i] = (double)(value >> (16 - 8 * i) & 255) / 255.0;
    return true;
}

static bool read_device(const struct reading *r) {
    uint64_t number;
    const char *rest;
    bool right = strncmp(r->text, "cuda:", 5) == 0 && read_digits(r->text + 5, &number, &rest) && *rest == 0 && number <= 9999;
    for (int i = 0; device_names[i]; i++) right = right || strcmp(r->text, device_names[i]) == 0;
    if (!right) {
        const char *near = options_nearest(r->text, device_names);
        return SAY(r, "%s: '%s' is no device; %s%s%swrite auto, cpu, cuda, cuda:N or cuda:all (see --list-devices)", r->shown, CUT(r->text, 60),
                   near ? "did you mean " : "", near ? near : "", near ? "? Else " : "");
    }
    *(const char **)r->to = r->text;
    return true;
}

static bool add_to_list(const struct reading *r) {
    struct option_list *list = r->to;
    const char **items = realloc(list->items, sizeof *items * (size_t)(list->count + 1));
    if (!items) return SAY(r, "%s: no memory for it; free some", r->shown);
    list->items = items;
    list->items[list->count++] = r->text;
    return true;
}

static bool read_value(const struct reading *r) {
    int index = 0;
    switch (r->row->type) {
    case TYPE_FLAG: *(bool *)r->to = true; return true;
    case TYPE_ONCE:
        if (*(const char **)r->to)
            return SAY(r, "%s: it is given twice; give it once%s", r->shown,
                       r->row->letter == 'f' ? " (a chain takes several filters: gray,blur)" : "");
        *(const char **)r->to = r->text;
        return true;
    case TYPE_TEXT: *(const char **)r->to = r->text; return true;
    case TYPE_NUMBER: return read_number(r);
    case TYPE_SIZE: return read_size(r);
    case TYPE_CHOICE:
        if (!read_choice(r, &index)) return false;
        *(int *)r->to = index;
        return true;
    case TYPE_DEPTH:
        if (!read_choice(r, &index)) return false;
        *(int *)r->to = 8 << index;
        return true;
    case TYPE_RATIO:
        if (!read_choice(r, &index)) return false;
        *(int *)r->to = atoi(ratio_names[index]);
        return true;
    case TYPE_STRIP:
        if (r->text && !read_choice(r, &index)) return false;
        *(int *)r->to = r->text ? 2 : 1;
        return true;
    case TYPE_LIST: return add_to_list(r);
    case TYPE_COLOUR: return read_colour(r);
    case TYPE_DEVICE: return read_device(r);
    case TYPE_ACTION: *(enum action *)r->to = (enum action)r->row->min; return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------- the command line */

/* Where in argv the reader is. */
struct walk {
    int argc, at;
    char **argv;
    struct options *options;
    char *message;
};

static bool fail_unknown(const struct walk *w, const char *name) {
    const char *names[ROW_COUNT + 1];
    for (int i = 0; i < ROW_COUNT; i++) names[i] = rows[i].name;
    names[ROW_COUNT] = NULL;
    const char *near = options_nearest(name, names);
    if (near)
        snprintf(w->message, OPTIONS_MESSAGE, "%s: there is no such option; did you mean --%s?", CUT(w->argv[w->at], 80), near);
    else
        snprintf(w->message, OPTIONS_MESSAGE, "%s: there is no such option; imgpipe --help shows them all", CUT(w->argv[w->at], 80));
    return false;
}

/* One option whose value, if it takes one, is `value`, or the next argument if that is NULL. */
static bool read_option(struct walk *w, const struct row *row, const char *shown, const char *value) {
    struct options *o = w->options;
    bool help = row->type == TYPE_ACTION && row->value;
    if (row->value && !help && !value) {
        if (w->at + 1 >= w->argc) {
            snprintf(w->message, OPTIONS_MESSAGE, "%s: its value is missing; write %s %s", shown, shown, row->value);
            return false;
        }
        value = w->argv[++w->at];
    }
    if (!row->value && value && row->type != TYPE_STRIP) {
        snprintf(w->message, OPTIONS_MESSAGE, "%s: it takes no value; leave out '=%s'", shown, CUT(value, 60));
        return false;
    }
    if (help) {
        if (!value && w->at + 1 < w->argc && w->argv[w->at + 1][0] != '-') value = w->argv[++w->at];
        if (value) o->help_filter = value;
    }
    if (row->offset == AT(chain) && row->type == TYPE_ONCE && !o->chain) o->operands_before = o->operand_count;
    struct reading r = {row, shown, value, (char *)o + row->offset, w->message};
    return read_value(&r);
}

static bool read_long(struct walk *w) {
    char name[40], shown[48];
    const char *arg = w->argv[w->at] + 2, *equals = strchr(arg, '=');
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - arg) : 39, arg);
    for (int i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        snprintf(shown, sizeof shown, "--%s", name);
        return read_option(w, &rows[i], shown, equals ? equals + 1 : NULL);
    }
    return fail_unknown(w, name);
}

/* `-vq`, `-j4`, `-f CHAIN`. */
static bool read_short(struct walk *w) {
    const char *arg = w->argv[w->at];
    /* `-output x` would otherwise write to a file named `utput`. */
    for (int i = 0; arg[2] && i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, arg + 1) == 0) return fail_unknown(w, arg + 1);
    for (const char *p = arg + 1; *p; p++) {
        const struct row *row = NULL;
        for (int i = 0; i < ROW_COUNT && !row; i++)
            if (rows[i].letter == *p) row = &rows[i];
        if (!row) return fail_unknown(w, p == arg + 1 && p[1] ? p : "");
        char shown[3] = {'-', *p, 0};
        bool takes = row->value && row->type != TYPE_ACTION;
        if (!read_option(w, row, shown, takes && p[1] ? p + 1 : NULL)) return false;
        if (takes) break;
    }
    return true;
}

bool options_read(int argc, char **argv, struct options *options, char message[OPTIONS_MESSAGE]) {
    *options =
        (struct options){.level = -1, .max_pixels = (int64_t)16 << 30, .overwrite = OVERWRITE_DEFAULT, .alpha = -1,
                         .background = {1, 1, 1}};
    options->operands = calloc((size_t)argc + 1, sizeof *options->operands);
    struct walk w = {argc, 1, argv, options, message};
    bool right = options->operands != NULL, ended = false;
    if (!right) snprintf(message, OPTIONS_MESSAGE, "no memory for the command line; free some");
    for (; right && w.at < argc; w.at++) {
        const char *arg = argv[w.at];
        if (ended || arg[0] != '-' || arg[1] == 0) {
            options->operands[options->operand_count++] = arg;
        } else if (arg[1] != '-') {
            right = read_short(&w);
        } else if (arg[2] == 0) {
            ended = true;
        } else {
            right = read_long(&w);
        }
    }
    if (!options->chain) options->operands_before = options->operand_count;
    if (!right) options_free(options);
    return right;
}

bool options_add(struct options *options, char *argument, char message[OPTIONS_MESSAGE]) {
    char *argv[] = {NULL, argument};
    struct walk w = {2, 1, argv, options, message};
    return read_long(&w);
}

void options_free(struct options *options) {
    free(options->operands);
    free(options->include.items);
    free(options->exclude.items);
    free(options->plugins.items);
    options->operands = options->include.items = options->exclude.items = options->plugins.items = NULL;
}

bool options_help(int index, struct option_help *help) {
    static const char letters[][3] = {"-f", "-o", "-r", "-0", "-j", "-v", "-q", "-h"};
    if (index < 0 || index >= ROW_COUNT) return false;
    const struct row *row = &rows[index];
    *help = (struct option_help){row->heading, NULL, row->name, row->value, row->help, row->choices};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (row->letter == letters[i][1]) help->letter = letters[i];
    return true;
}
