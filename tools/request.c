#include "request.h"
#include "chain_text.h"
#include "cut.h"
#include "exit_status.h"
#include "json_read.h"
#include "kinds.h"
#include "names.h"
#include "paths.h"
#include "text_mark.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAY(...) (snprintf(message, REQUEST_MESSAGE, __VA_ARGS__), false)

static const char *const members[] = {"id", "in", "out", "chain", "options", NULL};
/* What may differ from image to image; the rest belongs to the process. */
static const char *const image_options[] = {"format",     "overwrite",       "depth",      "level",       "quality",
                                            "background", "subsampling",     "strip",      "auto-orient", "page",
                                            "alpha",      "allow-truncated", "max-pixels", "strip-rows",  NULL};
/* Those that take no value. */
static const char *const flags[] = {"auto-orient", "allow-truncated", "strip", NULL};

static bool has(const char *const *names, const char *name) {
    while (*names && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

/* Says that there is no such name, which is the nearest, and which there are. */
static bool fail_name(const char *what, const char *name, const char *const *names, char message[REQUEST_MESSAGE]) {
    const char *near = options_nearest(name, names);
    int at = snprintf(message, REQUEST_MESSAGE, "'%s' is no %s of a job; %s%s%s", CUT(name, 60), what, near ? "did you mean " : "",
                      near ? near : "", near ? "? There are" : "there are");
    for (; *names; names++) at += snprintf(message + at, REQUEST_MESSAGE - (size_t)at, " %s", *names);
    return false;
}

/* ------------------------------------------------------------------------------------------------- options */

/* The option as the command line would say it. */
static bool add_option(struct request *r, const char *name, enum json_type type, const char *value, char message[REQUEST_MESSAGE]) {
    char why[OPTIONS_MESSAGE];
    bool flag = type == JSON_TRUE || type == JSON_FALSE;
    if (!has(image_options, name)) return fail_name("option", name, image_options, message);
    if ((flag && !has(flags, name)) || type == JSON_NULL || type == JSON_ARRAY || type == JSON_OBJECT)
        return SAY("options: the value of '%s' is %s; write a text or a number", name, flag ? value : "none");
    if (type == JSON_FALSE) return true; /* as if it were not there */
    if (r->argument_count == REQUEST_OPTIONS) return SAY("options: there are more than %d", REQUEST_OPTIONS);
    char *argument = NULL;
    if (asprintf(&argument, "--%s%s%s", name, flag ? "" : "=", flag ? "" : value) < 0)
        return SAY("no memory for the options; free some");
    r->arguments[r->argument_count++] = argument;
    if (options_add(&r->options, argument, why)) return true;
    return SAY("options: %s", why[0] == '-' && why[1] == '-' ? why + 2 : why);
}

static bool read_options(const struct json *json, const struct json_node *object, struct request *r,
                         char message[REQUEST_MESSAGE]) {
    if (object->type == JSON_NULL) return true;
    if (object->type != JSON_OBJECT) return SAY("options is no object; write {\"depth\":8}");
    for (const struct json_node *at = NULL; (at = json_next(json, object, at));) {
        const struct json_node *value = json_value(json, at);
        char *name = json_text(json, at), *text = json_text(json, value);
        bool right = name && text ? add_option(r, name, value->type, text, message) : SAY("options: a text holds U+0000");
        free(name);
        free(text);
        if (!right) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- members */

static bool take_text(const struct json *json, const struct json_node *value, const char *name, char **to,
                      char message[REQUEST_MESSAGE]) {
    if (*to) return SAY("'%s' is there twice", name);
    if (value->type == JSON_NULL) return true;
    if (value->type != JSON_STRING) return SAY("'%s' is no text; write it in quotes", name);
    *to = json_text(json, value);
    return *to ? true : SAY("'%s' holds U+0000, which no name and no chain can", name);
}

static bool take_member(const struct json *json, const struct json_node *value, const char *name, struct request *r,
                        char message[REQUEST_MESSAGE]) {
    if (strcmp(name, "in") == 0) return take_text(json, value, name, &r->in, message);
    if (strcmp(name, "out") == 0) return take_text(json, value, name, &r->out, message);
    if (strcmp(name, "chain") == 0) return take_text(json, value, name, &r->chain, message);
    if (strcmp(name, "options") == 0) return read_options(json, value, r, message);
    return strcmp(name, "id") == 0 || fail_name("member", name, members, message);
}

/* The id goes back as it came, whatever else is wrong. */
static bool take_id(const struct json *json, struct request *r, char message[REQUEST_MESSAGE]) {
    const struct json_node *id = json_member(json, json->nodes, "id");
    if (!id || id->type == JSON_NULL) return true;
    if (id->type == JSON_ARRAY || id->type == JSON_OBJECT) return SAY("'id' is neither a text nor a number");
    r->id = strndup(json->text + id->at, id->length);
    return r->id ? true : SAY("no memory for the job; free some");
}

/* By whatever name: /dev/stdout, or the file that the answers are written to. */
static bool is_answers(const char *name) {
    return strcmp(name, "-") == 0 || path_is_open_as(name, STDOUT_FILENO);
}

bool request_check_out(const char *out, char message[REQUEST_MESSAGE]) {
    return !out || !is_answers(out) || SAY("'out': standard output carries the answers; name another file than '%s'", CUT(out, 200));
}

static bool check_names(const struct request *r, char message[REQUEST_MESSAGE]) {
    if (!r->in) return SAY("'in' is missing");
    if (strcmp(r->in, "-") == 0 || path_is_open_as(r->in, STDIN_FILENO))
        return SAY("'in': standard input carries the jobs; name another file than '%s'", CUT(r->in, 200));
    if (!request_check_out(r->out, message)) return false;
    if (r->in[0] == 0 || (r->out && r->out[0] == 0)) return SAY("the name of a file is empty");
    return true;
}

bool request_read(const char *line, size_t length, const struct options *base, struct request *r, char message[REQUEST_MESSAGE]) {
    struct json json;
    char why[200];
    *r = (struct request){.options = *base};
    if (mark_is_utf16(line, length))
        return SAY("the line is no JSON: it is UTF-16, as PowerShell writes text; write the jobs as UTF-8");
    if (!json_parse(line, length, &json, why, sizeof why)) return SAY("the line is no JSON: %s", why);
    bool right =
        json.nodes[0].type == JSON_OBJECT ? take_id(&json, r, message) : SAY("the line is no object; write {\"id\":1,\"in\":...}");
    for (const struct json_node *at = NULL; right && (at = json_next(&json, json.nodes, at));) {
        char *name = json_text(&json, at);
        right = name ? take_member(&json, json_value(&json, at), name, r, message) : SAY("the name of a member holds U+0000");
        free(name);
    }
    json_free(&json);
    return right && check_names(r, message);
}

void request_free(struct request *r) {
    free(r->id);
    free(r->in);
    free(r->out);
    free(r->chain);
    for (int i = 0; i < r->argument_count; i++) free(r->arguments[i]);
    *r = (struct request){0};
}

/* The first option that makes no sense for all jobs, or NULL. */
static const char *misplaced(const struct options *o) {
    const struct {
        bool given;
        const char *name;
    } all[] = {{o->operand_count > 0, "a name of a file"},
               {o->output, "-o"},
               {o->no_output, "--no-output"},
               {o->recursive, "-r"},
               {o->include.count || o->exclude.count, "--include or --exclude"},
               {o->files_from || o->null, "--files-from or -0"},
               {o->name, "--name"},
               {o->resume, "--resume"},
               {o->in_place, "--in-place"},
               {o->dry_run, "--dry-run"},
               {o->fail_fast, "--fail-fast"},
               {o->shard, "--shard"},
               {o->report, "--report"},
               {o->merge_hist, "--merge-hist"},
               {o->timings, "--timings"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].given) return all[i].name;
    return NULL;
}

bool request_check_data(const imgpipe_chain *chain, imgpipe_error *error) {
    imgpipe_chain_value value;
    for (int at = 0; name_next_data(chain, &at, &value);) {
        if (!is_answers(value.text)) continue;
        *error = (imgpipe_error){.status = IMGPIPE_ERROR_ARGUMENT, .place = value.place, .length = value.length};
        snprintf(error->message, sizeof error->message, "data: standard output carries the answers; name another file");
        return false;
    }
    return true;
}

/* The chain of the command line, which is that of jobs without one. */
static int check_chain(const struct options *o, struct plugins *plugins, struct console *console) {
    struct chain_text text = {0};
    imgpipe_error error = {.status = IMGPIPE_ERROR_ARGUMENT, .place = -1};
    imgpipe_chain *chain = NULL;
    bool right = chain_text_read(o->chain, &text, error.message, sizeof error.message) &&
                 plugins_parse(plugins, text.text, &chain, &error) == IMGPIPE_OK && request_check_data(chain, &error) &&
                 trial_check(chain, &error);
    if (!right) chain_text_error(console, &text, &error);
    imgpipe_chain_free(&chain);
    chain_text_free(&text);
    return right ? EXIT_DONE : error.status == IMGPIPE_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_SOME_FAILED;
}

int request_check_options(const struct options *o, struct plugins *plugins, struct console *console) {
    char message[600];
    const char *wrong = misplaced(o);
    if (strcmp(o->batch, "-") != 0)
        console_error(console, "--batch: '%s' is not standard input; write --batch -", CUT(o->batch, 200));
    else if (wrong)
        console_error(console, "--batch: each job says its own files, and gets its own answer; leave out %s", wrong);
    else if (o->format && !kind_check_format(o->format, message, sizeof message))
        console_error(console, "%s", message);
    else
        return check_chain(o, plugins, console);
    return EXIT_USAGE;
}
