/* The command line, read by one table of options, of which `--help` is made as well. */
#ifndef OPTIONS_H
#define OPTIONS_H
#include "imgpipe.h"

/* From ACTION_FORMATS on nothing depends on filters. */
enum action { ACTION_RUN, ACTION_LIST, ACTION_HELP, ACTION_FORMATS, ACTION_DEVICES, ACTION_VERSION };
enum option_when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };
enum option_overwrite { OVERWRITE_DEFAULT = -1, OVERWRITE_ALWAYS, OVERWRITE_NEVER, OVERWRITE_OLDER };

/* The values of an option that may be given several times. */
struct option_list {
    const char **items;
    int count;
};

/* What the command line says. Strings are those of argv. */
struct options {
    const char **operands;
    int operand_count;
    int operands_before; /* how many of them stand before -f; all, if there is none */
    const char *chain;   /* the value of -f, or NULL */
    const char *output, *format;
    bool no_output;
    bool recursive, null, resume, in_place, dry_run, fail_fast;
    struct option_list include, exclude, plugins;
    const char *files_from, *name, *report, *shard, *merge_hist, *batch;
    const char *device, *isa;
    int64_t threads, strip_rows, level, quality, max_pixels, page;
    uint64_t memory, gpu_memory;
    int depth;     /* 8, 16, 32, or 0: the input's */
    int overwrite; /* enum option_overwrite */
    int subsampling, strip, alpha; /* as in imgpipe_run_options */
    bool auto_orient, allow_truncated;
    double background[3];
    int color, progress; /* enum option_when */
    bool timings, json, verbose, quiet;
    enum action action;
    const char *help_filter; /* of --help FILTER, or NULL */
    const char *check_filter; /* of --check-filter, or NULL */
};

#define OPTIONS_MESSAGE 600

/* Reads argv. On failure `message` holds what is wrong with it, and `options` need not be freed. */
bool options_read(int argc, char **argv, struct options *options, char message[OPTIONS_MESSAGE]);
/* Reads one more, written as --name or --name=value; strings are those of `argument`. */
bool options_add(struct options *options, char *argument, char message[OPTIONS_MESSAGE]);
void options_free(struct options *options);

/* Rows of --help in their order; false beyond. `heading` is not NULL where a group begins. */
struct option_help {
    const char *heading, *letter, *name, *value, *help;
    const char *const *choices; /* what the value may be, ended by NULL; or NULL */
};
bool options_help(int index, struct option_help *help);

/* The name nearest to `text` among `names` (ended by NULL), or NULL if none is near. */
const char *options_nearest(const char *text, const char *const *names);
#endif
