/* Whether a filter's descriptor keeps to what imgpipe.h says of it. Those of the build do (a test proves it); those of plug-ins and
 * programs are looked at here, so that a mistake is told by its name, and does not end in a crash. */
#include "param.h"
#include "registry.h"
#include "status.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parser cuts longer names. */
#define NAME_MOST 63
#define PARAMS_MOST 100
#define OPTIONS_MOST ((size_t)1 << 20)

struct checking {
    const imgpipe_filter *filter;
    const char *source;
    imgpipe_error *error;
};

IMGPIPE_PRINTF(2, 3)
static imgpipe_status wrong(const struct checking *c, const char *format, ...) {
    char what[600];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return error_set(c->error, IMGPIPE_ERROR_ARGUMENT, "%s%s%s", c->source ? c->source : "", c->source ? ": " : "", what);
}

static bool is_name(const char *text) {
    if (!text || *text < 'a' || *text > 'z') return false;
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return text[length] == 0 && length <= NAME_MOST;
}

bool filter_is_line(const char *text) {
    for (const char *p = text; p && *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) return false;
    return text && *text;
}

/* ------------------------------------------------------------------------------------------------- parameters */

/* Size and alignment of the member that a parameter fills. */
static size_t member_size(imgpipe_param_type type, size_t *alignment) {
    static const struct {
        size_t size, alignment;
    } members[] = {
        [IMGPIPE_PARAM_INT] = {sizeof(int64_t), alignof(int64_t)},
        [IMGPIPE_PARAM_ODD] = {sizeof(int64_t), alignof(int64_t)},
        [IMGPIPE_PARAM_NUMBER] = {sizeof(double), alignof(double)},
        [IMGPIPE_PARAM_SAMPLE] = {sizeof(imgpipe_sample), alignof(imgpipe_sample)},
        [IMGPIPE_PARAM_BOOL] = {sizeof(bool), alignof(bool)},
        [IMGPIPE_PARAM_CHOICE] = {sizeof(int), alignof(int)},
        [IMGPIPE_PARAM_TEXT] = {sizeof(const char *), alignof(const char *)},
    };
    *alignment = members[type].alignment;
    return members[type].size;
}

static imgpipe_status check_choices(const struct checking *c, const imgpipe_param *param) {
    if (!param->choices || !param->choices[0])
        return wrong(c, "%s: parameter '%s' has no choices; name at least one, and NULL behind the last", c->filter->name,
                     param->name);
    for (int i = 0; param->choices[i]; i++) {
        if (!filter_is_line(param->choices[i]))
            return wrong(c, "%s: choice %d of parameter '%s' has no name, or one of several lines; give it one", c->filter->name, i,
                         param->name);
        for (int k = 0; k < i; k++)
            if (strcmp(param->choices[i], param->choices[k]) == 0)
                return wrong(c, "%s: parameter '%s' has the choice '%.60s' twice; leave one out", c->filter->name, param->name,
                             param->choices[i]);
    }
    return IMGPIPE_OK;
}

/* One row of the table, and that it fills no member of an earlier one. */
static imgpipe_status check_param(const struct checking *c, int index) {
    const imgpipe_filter *filter = c->filter;
    const imgpipe_param *param = &filter->params[index];
    size_t alignment, size, other;
    if (!is_name(param->name))
        return wrong(
            c, "%s: the name of parameter %d is '%.80s', and names are [a-z][a-z0-9_]* of at most %d letters; give it another",
            filter->name, index, param->name ? param->name : "", NAME_MOST);
    if (param->type > IMGPIPE_PARAM_TEXT)
        return wrong(c, "%s: parameter '%s' has type %d, which does not exist; use an imgpipe_param_type", filter->name,
                     param->name, (int)param->type);
    size = member_size(param->type, &alignment);
    if (size > filter->options_size || param->offset > filter->options_size - size || param->offset % alignment)
        return wrong(c,
                     "%s: parameter '%s' lies at bytes %zu to %zu, and that is no member of an options struct of %zu bytes; write "
                     "offsetof(), and the struct's own size",
                     filter->name, param->name, param->offset, param->offset + size, filter->options_size);
    for (int i = 0; i < index; i++) {
        const imgpipe_param *before = &filter->params[i];
        if (strcmp(before->name, param->name) == 0)
            return wrong(c, "%s: two parameters are named '%s'; rename one", filter->name, param->name);
        other = member_size(before->type, &alignment);
        if (param->offset < before->offset + other && before->offset < param->offset + size)
            return wrong(c, "%s: parameters '%s' and '%s' lie in the same bytes; give each its member", filter->name, before->name,
                         param->name);
    }
    if (!filter_is_line(param->help))
        return wrong(c, "%s: parameter '%s' has no line of help; write one", filter->name, param->name);
    if (param->type <= IMGPIPE_PARAM_SAMPLE && !(param->min <= param->max))
        return wrong(c, "%s: the range of parameter '%s' is %g to %g, which is empty; set min and max", filter->name, param->name,
                     param->min, param->max);
    return param->type == IMGPIPE_PARAM_CHOICE ? check_choices(c, param) : IMGPIPE_OK;
}

static imgpipe_status check_default(const struct checking *c, const imgpipe_param *param, void *options) {
    imgpipe_error inner;
    if (!param->initial || param_parse(c->filter, param, param->initial, options, &inner) == IMGPIPE_OK) return IMGPIPE_OK;
    return wrong(c, "the default of a parameter is not valid: %.500s", inner.message);
}

static imgpipe_status check_params(const struct checking *c) {
    const imgpipe_filter *filter = c->filter;
    if (filter->param_count < 0 || filter->param_count > PARAMS_MOST || (filter->param_count && !filter->params))
        return wrong(c, "%s: %d parameters and a table at %p do not fit; a filter has up to %d", filter->name, filter->param_count,
                     (const void *)filter->params, PARAMS_MOST);
    if (filter->options_size > OPTIONS_MOST)
        return wrong(c, "%s: options of %zu bytes are more than any filter needs; set options_size to the struct's size",
                     filter->name, filter->options_size);
    for (int i = 0; i < filter->param_count; i++) {
        imgpipe_status failed = check_param(c, i);
        if (failed) return failed;
    }
    void *options = calloc(1, filter->options_size + 1);
    if (!options) return error_set(c->error, IMGPIPE_ERROR_MEMORY, "no memory for the options of %s; free some", filter->name);
    imgpipe_status failed = IMGPIPE_OK;
    for (int i = 0; !failed && i < filter->param_count; i++) failed = check_default(c, &filter->params[i], options);
    free(options);
    return failed;
}

/* -------------------------------------------------------------------------------------------------- functions */

static imgpipe_status check_functions(const struct checking *c) {
    const imgpipe_filter *filter = c->filter;
    const char *lacks = NULL;
    if (filter->kind > IMGPIPE_WHOLE)
        return wrong(c, "%s: kind %d does not exist; use an imgpipe_kind", filter->name, (int)filter->kind);
    if (filter->kind == IMGPIPE_WHOLE && !filter->render) lacks = "render";
    if (filter->kind == IMGPIPE_GATHER && !filter->finish) lacks = "finish";
    if (filter->kind == IMGPIPE_GATHER && !filter->merge) lacks = "merge";
    if (filter->kind != IMGPIPE_WHOLE && !filter->setup) lacks = "setup";
    if (!lacks) return IMGPIPE_OK;
    static const char *const kinds[] = {"point", "local", "gather", "whole"};
    return wrong(c, "%s: it has no function %s(), which a %s filter needs; write one", filter->name, lacks, kinds[filter->kind]);
}

imgpipe_status filter_check(const imgpipe_filter *filter, const char *source, imgpipe_error *error) {
    const struct checking c = {filter, source, error};
    if (filter->abi != IMGPIPE_ABI)
        return wrong(&c,
                     "a filter was built for version %lu of the interface for filters, and imgpipe " IMGPIPE_VERSION
                     " has version %d; build it again with this imgpipe.h",
                     (unsigned long)filter->abi, IMGPIPE_ABI);
    if (filter->struct_size != sizeof *filter)
        return wrong(&c,
                     "a filter says that its descriptor has %zu bytes, and it must have %zu; set struct_size to "
                     "sizeof(imgpipe_filter)",
                     filter->struct_size, sizeof *filter);
    if (!is_name(filter->name))
        return wrong(&c, "a filter is named '%.80s', and names are [a-z][a-z0-9_]* of at most %d letters; give it another",
                     filter->name ? filter->name : "", NAME_MOST);
    if (!filter_is_line(filter->summary)) return wrong(&c, "%s: it has no summary of one line; write one", filter->name);
    imgpipe_status failed = check_functions(&c);
    return failed ? failed : check_params(&c);
}
