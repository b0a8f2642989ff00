/* The grammar of chains:
 *     chain = stage { "," stage }     stage = name [ "=" value { ":" value } ]     value = [ key "=" ] text */
#include "chain.h"
#include "chain_lex.h"
#include "param.h"
#include "registry.h"
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one call of the parser holds. */
struct parser {
    struct chain_lex lex;
    imgpipe_chain *chain;
    imgpipe_error *error;
};

/* The stage whose values are being read. */
struct filling {
    struct chain_stage *stage;
    int next;   /* the parameter that the next unnamed value fills */
    bool named; /* a value with a key was seen, so that none without may follow */
};

#define MESSAGE_SIZE sizeof((imgpipe_error *)NULL)->message
#define NAMES_MAX 128

static imgpipe_status out_of_memory(const struct parser *p) {
    return error_set(p->error, IMGPIPE_ERROR_MEMORY, "chain: no memory for it; free some");
}

/* An error that marks a range of the text. */
IMGPIPE_PRINTF(3, 4)
static imgpipe_status fail(const struct parser *p, struct chain_range range, const char *format, ...) {
    char message[MESSAGE_SIZE];
    int place, length;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    chain_lex_place(&p->lex, range, &place, &length);
    return error_at(p->error, IMGPIPE_ERROR_ARGUMENT, place, length, "%s", message);
}

/* -------------------------------------------------------------------- names that are wrong, and why they are */

/* "a, b, c" */
static void append_names(char *buf, size_t size, const char *const *names) {
    for (int i = 0; names[i]; i++) text_append(buf, size, "%s%s", i == 0 ? "" : ", ", names[i]);
}

static void filter_names(const struct parser *p, const char *names[NAMES_MAX]) {
    int count = 0;
    const imgpipe_filter *filter;
    while (count + 1 < NAMES_MAX && (filter = imgpipe_registry_at(p->chain->registry, count))) names[count++] = filter->name;
    names[count] = NULL;
}

static void param_names(const imgpipe_filter *filter, const char *names[NAMES_MAX]) {
    int count = 0;
    for (; count < filter->param_count && count + 1 < NAMES_MAX; count++) names[count] = filter->params[count].name;
    names[count] = NULL;
}

/* What other programs call the filters of this one. */
static const char *habit_filter(const char *name) {
    static const char *const habits[][2] = {
        {"gaussian", "blur"},        {"gauss", "blur"},
        {"gblur", "blur"},           {"smooth", "blur"},
        {"boxblur", "box"},          {"mean", "box"},
        {"average", "box"},          {"avgblur", "box"},
        {"desaturate", "gray"},      {"grey", "gray"},
        {"monochrome", "gray"},      {"negate", "invert"},
        {"negative", "invert"},      {"binarize", "threshold"},
        {"kernel", "conv"},          {"correlate", "conv"},
        {"level", "levels"},         {"normalize", "levels"},
        {"sharpen", "conv=sharpen"}, {"emboss", "conv=emboss"},
        {"sobel", "conv=sobel_x"},   {"laplacian", "conv=laplacian"},
    };
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++) {
        char filter[16] = "";
        if (strcmp(name, habits[i][0]) != 0) continue;
        text_append(filter, sizeof filter, "%.*s", (int)strcspn(habits[i][1], "="), habits[i][1]);
        if (imgpipe_filter_find(filter)) return habits[i][1];
    }
    return NULL;
}

static bool digit(char c) {
    return c >= '0' && c <= '9';
}

/* `blur=1,5` and `gray=0.3,0.6,0.1`: a comma that was meant to stand inside a number or a list. True if that is what happened. */
static bool fail_comma(const struct parser *p, struct chain_range name) {
    const struct chain_lex *lex = &p->lex;
    if (p->chain->count == 0) return false;
    const struct chain_stage *before = &p->chain->stages[p->chain->count - 1];
    if (before->value_count == 0) return false;
    const struct chain_value *value = &before->values[before->value_count - 1];
    const imgpipe_param *param = &before->filter->params[value->param];
    /* The comma stands behind the last stage; the digits before it are the whole part of the number. */
    int comma = name.from;
    while (comma > 0 && (lex->text[comma] != ',' || lex->literal[comma])) comma--;
    int start = comma, end = name.from;
    while (start > 0 && digit(lex->text[start - 1]) && !lex->literal[start - 1]) start--;
    while (end < name.to && digit(lex->text[end])) end++;
    char shown[48];
    double number;
    const char *after;
    chain_lex_show(lex, name, shown);
    bool dotted = start > 0 && lex->text[start - 1] == '.';
    if (start < comma && end > name.from && !dotted && param->type != IMGPIPE_PARAM_TEXT) {
        fail(p, (struct chain_range){start, end},
             "chain: the comma begins a new stage, and '%s' is no filter; write %.*s.%.*s with a dot", shown, comma - start,
             lex->text + start, end - name.from, lex->text + name.from);
        return true;
    }
    if (param->type == IMGPIPE_PARAM_TEXT && param_number(shown, &after, &number)) {
        fail(p, (struct chain_range){name.from, name.to},
             "chain: the comma begins a new stage, and '%s' is no filter; separate numbers by spaces, or write %s='…' in quotes",
             shown, param->name);
        return true;
    }
    return false;
}

/* `blur:2`, `blur 2`, `gray;blur`, `'gray,blur'`: a filter's name, and then a wrong sign. True if that is what happened. */
static bool fail_sign(const struct parser *p, struct chain_range name) {
    char head[48], shown[48], tail[48];
    int end = name.from;
    while (end < name.to && strchr("abcdefghijklmnopqrstuvwxyz0123456789_", p->lex.text[end])) end++;
    if (end == name.to || end == name.from || end - name.from >= (int)sizeof head) return false;
    snprintf(head, sizeof head, "%.*s", end - name.from, p->lex.text + name.from);
    if (!imgpipe_registry_find(p->chain->registry, head)) return false;
    struct chain_range rest = chain_lex_trim(&p->lex, (struct chain_range){end, name.to}), value = rest;
    char sign = p->lex.text[rest.from];
    chain_lex_show(&p->lex, name, shown);
    if (p->lex.literal[rest.from]) {
        fail(p, name, "chain: '%s' is no filter: what is quoted is one name; leave out the quotes around stages", shown);
    } else if (sign == ':' || sign == '(' || sign == '@' || digit(sign)) {
        value.from += sign == ':' || sign == '(';
        if (value.to > value.from && p->lex.text[value.to - 1] == ')') value.to--;
        fail(p, rest, "chain: '%s' is no filter: values follow '='; write %s=%s", shown, head,
             value.to > value.from ? chain_lex_show(&p->lex, value, tail) : "…");
    } else {
        fail(p, (struct chain_range){end, rest.from + 1}, "chain: '%s' is no filter: a comma separates stages; write %s,…", shown,
             head);
    }
    return true;
}

static imgpipe_status fail_filter(const struct parser *p, struct chain_range name) {
    const char *names[NAMES_MAX];
    char shown[48], message[MESSAGE_SIZE] = "";
    if (fail_comma(p, name) || fail_sign(p, name)) return IMGPIPE_ERROR_ARGUMENT;
    filter_names(p, names);
    chain_lex_show(&p->lex, name, shown);
    const char *near = habit_filter(shown);
    if (!near) near = param_nearest(shown, names);
    text_append(message, sizeof message, "chain: '%s' is no filter; ", shown);
    if (near) text_append(message, sizeof message, "did you mean %s? ", near);
    text_append(message, sizeof message, near ? "The filters are " : "write one of ");
    append_names(message, sizeof message, names);
    return fail(p, name, "%s", message);
}

static imgpipe_status fail_param(const struct parser *p, const imgpipe_filter *filter, struct chain_range key) {
    const char *names[NAMES_MAX];
    char shown[48], message[MESSAGE_SIZE] = "";
    chain_lex_show(&p->lex, key, shown);
    param_names(filter, names);
    if (!names[0]) return fail(p, key, "%s: it has no parameters; leave out '%s='", filter->name, shown);
    const char *near = param_nearest(shown, names);
    text_append(message, sizeof message, "%s: '%s' is no parameter of it; ", filter->name, shown);
    if (near) text_append(message, sizeof message, "did you mean %s? ", near);
    text_append(message, sizeof message, near ? "It has " : "write one of ");
    append_names(message, sizeof message, names);
    return fail(p, key, "%s", message);
}

/* ------------------------------------------------------------------------------------------------ values */

/* Keeps the range as the stage's next value, and reads it; `given` is what to read instead of the text, or NULL. */
static imgpipe_status add_value(const struct parser *p, struct filling *f, int param, struct chain_range whole,
                                struct chain_range text, const char *given) {
    struct chain_stage *stage = f->stage;
    const imgpipe_filter *filter = stage->filter;
    for (int i = 0; i < stage->value_count; i++)
        if (stage->values[i].param == param)
            return fail(p, whole, "%s: %s is given twice; leave one out", filter->name, filter->params[param].name);
    struct chain_value *value = &stage->values[stage->value_count++];
    int length = text.to - text.from;
    value->param = param;
    value->text = malloc((size_t)length + 1);
    value->offsets = malloc(((size_t)length + 1) * sizeof *value->offsets);
    if (!value->text || !value->offsets) return out_of_memory(p);
    memcpy(value->text, p->lex.text + text.from, (size_t)length);
    value->text[length] = 0;
    memcpy(value->offsets, p->lex.at + text.from, (size_t)length * sizeof *value->offsets);
    value->offsets[length] = value->offsets[length - 1] + 1;
    chain_lex_place(&p->lex, whole, &value->place, &value->length);
    imgpipe_status status = param_parse(filter, &filter->params[param], given ? given : value->text, stage->options, p->error);
    if (status == IMGPIPE_OK || !p->error || p->error->place < 0) return status;
    int from = p->error->place, to = from + p->error->length;
    if (from > length) from = length;
    if (to > length || to <= from) to = length;
    p->error->place = value->offsets[from];
    p->error->length = to > from ? value->offsets[to - 1] + 1 - value->offsets[from] : 0;
    return status;
}

static int find_param(const struct parser *p, const imgpipe_filter *filter, struct chain_range name, bool only_bool) {
    for (int i = 0; i < filter->param_count; i++) {
        if (only_bool && filter->params[i].type != IMGPIPE_PARAM_BOOL) continue;
        if (chain_lex_equals(&p->lex, name, filter->params[i].name)) return i;
    }
    return -1;
}

static bool is_given(const struct chain_stage *stage, int param) {
    for (int i = 0; i < stage->value_count; i++)
        if (stage->values[i].param == param) return true;
    return false;
}

static imgpipe_status add_unnamed(const struct parser *p, struct filling *f, struct chain_range range) {
    const imgpipe_filter *filter = f->stage->filter;
    char shown[48], names[512] = "";
    const char *list[NAMES_MAX];
    if (chain_lex_is_key(&p->lex, range)) {
        int param = find_param(p, filter, range, true);
        if (param >= 0) return add_value(p, f, param, range, range, "yes");
    }
    chain_lex_show(&p->lex, range, shown);
    param_names(filter, list);
    append_names(names, sizeof names, list);
    if (filter->param_count == 0) return fail(p, range, "%s: it has no parameters; leave out '=%s'", filter->name, shown);
    if (f->named)
        return fail(p, range, "%s: '%s' has no name and follows one that has; put it first, or name it: %s", filter->name, shown,
                    names);
    /* A yes/no parameter that was set by its bare name has had its turn. */
    while (f->next < filter->param_count && filter->params[f->next].type == IMGPIPE_PARAM_BOOL && is_given(f->stage, f->next))
        f->next++;
    if (f->next >= filter->param_count)
        return fail(p, range, "%s: '%s' is one value too many; its values in order are %s", filter->name, shown, names);
    return add_value(p, f, f->next++, range, range, NULL);
}

/* A range such as "Sigma" that is no key by the grammar, but was clearly meant as one. */
static bool is_near_key(const struct parser *p, const imgpipe_filter *filter, struct chain_range range) {
    const char *names[NAMES_MAX];
    char shown[48];
    for (int i = range.from; i < range.to; i++)
        if (p->lex.literal[i] || (unsigned char)p->lex.text[i] <= ' ') return false;
    param_names(filter, names);
    return param_nearest(chain_lex_show(&p->lex, range, shown), names) != NULL;
}

static imgpipe_status read_value(const struct parser *p, struct filling *f, struct chain_range raw) {
    const imgpipe_filter *filter = f->stage->filter;
    struct chain_range range = chain_lex_trim(&p->lex, raw);
    if (range.from == range.to) {
        struct chain_range sign = {raw.from - 1, raw.from};
        return fail(p, sign, "%s: no value stands behind '%c'; write one, or leave out the '%c'", filter->name,
                    p->lex.text[sign.from], p->lex.text[sign.from]);
    }
    int equals = chain_lex_find(&p->lex, range, '=');
    struct chain_range key = chain_lex_trim(&p->lex, (struct chain_range){range.from, equals});
    if (equals == range.to || !(chain_lex_is_key(&p->lex, key) || is_near_key(p, filter, key))) return add_unnamed(p, f, range);
    struct chain_range text = chain_lex_trim(&p->lex, (struct chain_range){equals + 1, range.to});
    int param = find_param(p, filter, key, false);
    if (param < 0) return fail_param(p, filter, key);
    if (text.from == text.to)
        return fail(p, range, "%s: %s has no value; write one behind '='", filter->name, filter->params[param].name);
    f->named = true;
    return add_value(p, f, param, range, text, NULL);
}

/* ------------------------------------------------------------------------------------------------ stages */

static imgpipe_status read_stage(const struct parser *p, struct chain_range raw) {
    struct chain_range range = chain_lex_trim(&p->lex, raw);
    if (range.from == range.to) {
        bool first = raw.from == 0;
        struct chain_range comma = {first ? raw.to : raw.from - 1, first ? raw.to + 1 : raw.from};
        return fail(p, comma, "chain: no stage stands %s the comma; leave out the comma, or write a filter there",
                    first ? "before" : "behind");
    }
    int equals = chain_lex_find(&p->lex, range, '=');
    struct chain_range name = chain_lex_trim(&p->lex, (struct chain_range){range.from, equals});
    char text[64] = "";
    if (name.to - name.from < (int)sizeof text) snprintf(text, sizeof text, "%.*s", name.to - name.from, p->lex.text + name.from);
    if (name.from == name.to)
        return fail(p, (struct chain_range){equals, equals + 1}, "chain: no filter stands before '='; write its name there");
    const imgpipe_filter *filter = imgpipe_registry_find(p->chain->registry, text);
    if (!filter) return fail_filter(p, name);
    struct chain_stage *stage = &p->chain->stages[p->chain->count++];
    struct filling f = {.stage = stage};
    stage->filter = filter;
    stage->options = calloc(1, filter->options_size ? filter->options_size : 1);
    stage->values = calloc((size_t)filter->param_count + 1, sizeof *stage->values);
    if (!stage->options || !stage->values) return out_of_memory(p);
    chain_lex_place(&p->lex, range, &stage->place, &stage->length);
    int name_place;
    chain_lex_place(&p->lex, name, &name_place, &stage->name_length);
    imgpipe_status status = param_defaults(filter, stage->options, p->error);
    while (status == IMGPIPE_OK && equals < range.to) {
        struct chain_range value = {equals + 1, raw.to};
        equals = value.to = chain_lex_find(&p->lex, value, ':');
        status = read_value(p, &f, value);
    }
    return status;
}

static imgpipe_status read_chain(const struct parser *p) {
    struct chain_range all = {0, p->lex.count}, trimmed = chain_lex_trim(&p->lex, all);
    if (trimmed.from == trimmed.to) return IMGPIPE_OK;
    size_t stages = 1;
    for (int i = 0; i < p->lex.count; i++) {
        stages += p->lex.text[i] == ',' && !p->lex.literal[i];
        if (stages > CHAIN_STAGES_MOST)
            return fail(p, (struct chain_range){i, i + 1}, "chain: there are more than %d stages; filter in several runs",
                        CHAIN_STAGES_MOST);
    }
    p->chain->stages = calloc(stages, sizeof *p->chain->stages);
    if (!p->chain->stages) return out_of_memory(p);
    for (struct chain_range range = {0, 0}; range.from <= p->lex.count; range.from = range.to + 1) {
        range.to = chain_lex_find(&p->lex, (struct chain_range){range.from, p->lex.count}, ',');
        imgpipe_status status = read_stage(p, range);
        if (status != IMGPIPE_OK) return status;
    }
    return IMGPIPE_OK;
}

imgpipe_status imgpipe_chain_parse(const char *text, imgpipe_chain **chain, imgpipe_error *error) {
    return imgpipe_chain_parse_with(NULL, text, chain, error);
}

imgpipe_status imgpipe_chain_parse_with(imgpipe_registry *registry, const char *text, imgpipe_chain **chain, imgpipe_error *error) {
    struct parser p = {.error = error};
    if (!chain) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "chain: no place for the result; pass a pointer");
    *chain = NULL;
    if (!text) text = "";
    imgpipe_status status = chain_lex_read(text, &p.lex, error);
    if (status != IMGPIPE_OK) return status;
    p.chain = calloc(1, sizeof *p.chain);
    if (p.chain) p.chain->registry = registry_keep(registry);
    if (p.chain) p.chain->text = strdup(text);
    status = p.chain && p.chain->text ? read_chain(&p) : out_of_memory(&p);
    if (status == IMGPIPE_OK && !(p.chain->canonical = chain_write(p.chain, -1, -1, NULL, NULL))) status = out_of_memory(&p);
    chain_lex_free(&p.lex);
    if (status != IMGPIPE_OK) imgpipe_chain_free(&p.chain);
    *chain = p.chain;
    return status;
}

void imgpipe_chain_free(imgpipe_chain **chain) {
    if (!chain || !*chain) return;
    for (int i = 0; i < (*chain)->count; i++) {
        struct chain_stage *stage = &(*chain)->stages[i];
        for (int k = 0; k < stage->value_count; k++) {
            free(stage->values[k].text);
            free(stage->values[k].offsets);
        }
        free(stage->values);
        free(stage->options);
    }
    free((*chain)->stages);
    free((*chain)->text);
    free((*chain)->canonical);
    imgpipe_registry_free(&(*chain)->registry);
    free(*chain);
    *chain = NULL;
}

void chain_place(const struct imgpipe_chain *chain, int stage, int param, int at, int length, int *place, int *place_length) {
    *place = -1;
    *place_length = 0;
    if (!chain || stage < 0 || stage >= chain->count) return;
    const struct chain_stage *s = &chain->stages[stage];
    *place = s->place;
    *place_length = s->length;
    for (int i = 0; i < s->value_count; i++) {
        const struct chain_value *value = &s->values[i];
        if (value->param != param) continue;
        int size = (int)strlen(value->text);
        *place = value->place;
        *place_length = value->length;
        if (size == 0) return;
        if (length <= 0 || at < 0 || at >= size) at = 0, length = size;
        int to = length > size - at ? size : at + length;
        *place = value->offsets[at];
        *place_length = value->offsets[to - 1] + 1 - *place;
    }
}
