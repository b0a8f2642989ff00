#include "roles.h"
#include "cut.h"
#include "exit_status.h"
#include "inputs.h"
#include "kinds.h"
#include "paths.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAY(...) (snprintf(message, ROLES_MESSAGE, __VA_ARGS__), EXIT_USAGE)

static bool is_folder(const char *name) {
    return strcmp(name, "-") != 0 && path_is_folder(name);
}

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

/* Without -o and --no-output: OUT is an operand. */
static int find_out(const struct options *o, struct roles *roles, char message[ROLES_MESSAGE]) {
    int before = o->operands_before, after = o->operand_count - before;
    roles->alone = o->chain && after > 0 && (before > 0 || (o->files_from && after == 1));
    if (before > 0 && after > 1)
        return SAY("'%s' is one name too many behind the chain; exactly one, OUT, may stand there",
                   CUT(o->operands[o->operand_count - 1], 200));
    if (o->operand_count < (o->files_from ? 1 : 2)) {
        bool is_in = before > 0 || !o->chain || o->files_from;
        return SAY("%s is missing; write imgpipe IN -f CHAIN OUT",
                   o->operand_count == 0 && !o->files_from ? "the input" : (is_in ? "the output" : "the input or the output"));
    }
    roles->input_count = o->operand_count - 1;
    roles->out = o->operands[o->operand_count - 1];
    return 0;
}

/* What only a run over many images can mean. */
static const char *many_option(const struct options *o) {
    return o->name ? "--name" : o->resume ? "--resume" : o->shard ? "--shard" : o->in_place ? "--in-place" : NULL;
}

/* Many inputs, or few that have to be looked for, want a folder. */
static int find_extent(const struct options *o, struct roles *roles, char message[ROLES_MESSAGE]) {
    const char *first = roles->input_count ? o->operands[0] : NULL, *option = many_option(o);
    bool searched = o->files_from || roles->input_count != 1 || is_folder(first) || input_is_pattern(first);
    roles->folder = roles->out && strcmp(roles->out, "-") != 0 && (roles->out[strlen(roles->out) - 1] == '/' || is_folder(roles->out));
    /* A file that replaces itself under its own name needs no folder. */
    if (o->in_place && roles->out && !roles->folder && !searched && option && strcmp(option, "--in-place") == 0) option = NULL;
    roles->many = searched || option;
    if (!roles->many || roles->folder) return 0;
    if (o->in_place || o->resume || (!roles->out && o->name))
        if (!roles->out) return SAY("%s needs an OUT; leave out --no-output", o->in_place ? "--in-place" : o->resume ? "--resume" : "--name");
    if (!roles->out) return 0;
    char why[900];
    if (!searched)
        snprintf(why, sizeof why, "%s needs a folder", option);
    else if (o->files_from)
        snprintf(why, sizeof why, "--files-from needs a folder");
    else if (roles->input_count > 1)
        snprintf(why, sizeof why, "%d inputs are named ('%s', '%s'%s)", roles->input_count, CUT(first, 80), CUT(o->operands[1], 80),
                 roles->input_count > 2 ? ", ..." : "");
    else
        snprintf(why, sizeof why, "the input '%s' is %s", CUT(first, 200), is_folder(first) ? "a folder" : "a pattern");
    if (access(roles->out, F_OK) == 0 || strcmp(roles->out, "-") == 0)
        return SAY("%s, and OUT, '%s', is no folder; name one", why, CUT(roles->out, 200));
    return SAY("%s, so OUT must be a folder; write '%s/' to have it made", why, CUT(roles->out, 200));
}

static int check_options(const struct options *o, char message[ROLES_MESSAGE]) {
    for (int i = 0; i < o->operand_count; i++)
        if (o->operands[i][0] == 0) return SAY("the name of a file is empty; check the quotes on the command line");
    if (o->output && o->output[0] == 0) return SAY("-o: the name of the file is empty; check the quotes on the command line");
    if (o->output && o->no_output) return SAY("-o and --no-output contradict each other; leave one out");
    const char *forgotten = forgotten_chain(o);
    if (forgotten) return SAY("'%s' is a chain; put -f before it", CUT(forgotten, 200));
    if (o->null && !o->files_from && !o->dry_run) return SAY("-0: there are no names to read or show; add --files-from or --dry-run");
    if (o->in_place && o->overwrite != OVERWRITE_DEFAULT && o->overwrite != OVERWRITE_ALWAYS)
        return SAY("--in-place replaces what is there, which --overwrite %s contradicts; leave one out",
                   o->overwrite == OVERWRITE_NEVER ? "never" : "older");
    return 0;
}

int roles_find(const struct options *o, struct roles *roles, char message[ROLES_MESSAGE]) {
    *roles = (struct roles){.alone = true, .input_count = o->operand_count, .out = o->output};
    int failed = check_options(o, message);
    if (!failed && o->format && !kind_check_format(o->format, message, ROLES_MESSAGE)) failed = EXIT_USAGE;
    if (failed) return failed;
    if (!o->output && !o->no_output) {
        failed = find_out(o, roles, message);
    } else {
        if (o->operand_count == 0 && !o->files_from) return SAY("the input is missing; write imgpipe IN -f CHAIN -o OUT");
        if (o->no_output && o->chain && o->operand_count == 2 && o->operands_before == 1)
            return SAY("with --no-output there is no OUT; leave out '%s'", CUT(o->operands[1], 200));
    }
    return failed ? failed : find_extent(o, roles, message);
}
