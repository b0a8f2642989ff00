/* Chains made from nothing but the filters' tables of parameters, so that a filter added tomorrow is tested tomorrow. */
#include "prover.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Texts no table can suggest. A parameter listed here with `needed` is always given. */
struct example {
    const char *filter, *param;
    bool needed;
    const char *values[6];
};
static const struct example examples[] = {
    {"conv",
     "mask",
     true,
     {"1 2 1;2 4 2;1 2 1", "-1 0 1", "'0.1,0.2,1;0.3,-0.4,0;1,0.25,2'", "sobel_x", "0.5 -0.3 0.1 0.2 0.5", "1;-2;3;0;1"}},
    {"gray", "weights", false, {"601", "709", "average", "0.3 0.6 0.1", "0.5 0.75 -0.25", "1 0 0"}},
    {"threshold", "value", true, {"50%", "0.5", "100", "0", "20%", "3000"}},
    {"hist", "data", false, {NULL}},
};

static const struct example *example_of(const imgpipe_filter *filter, const imgpipe_param *param) {
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (!strcmp(examples[i].filter, filter->name) && !strcmp(examples[i].param, param->name)) return &examples[i];
    return NULL;
}

static void add(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* Mostly small numbers, as they are windows as a rule and the images are small too; now and then far larger ones. */
static int64_t random_integer(const imgpipe_param *p, struct rng *r, int64_t step) {
    int64_t lo = p->min < -1e9 ? -1000 : (int64_t)p->min, hi = p->max > 1e9 ? 1000000000 : (int64_t)p->max,
            span = rng_chance(r, 4) ? 300 : 12;
    if (lo < 0 && hi > 0) lo = 0;
    if (span * step > hi - lo) span = (hi - lo) / step;
    return lo + step * rng_range(r, 0, span > 0 ? span : 0);
}

static double random_number(const imgpipe_param *p, struct rng *r) {
    double usual = 2, v;
    if (p->initial && (sscanf(p->initial, "%lf", &usual) != 1 || usual == 0)) usual = 1;
    v = rng_chance(r, 5) ? 0 : usual * rng_unit(r) * (rng_chance(r, 5) ? 20 : 3);
    if (p->min < 0 && rng_chance(r, 20)) v = -v;
    return fmin(fmax(v, p->min), p->max);
}

static void add_value(const imgpipe_param *p, const struct example *example, struct rng *r, char *text, size_t size) {
    int count = 0;
    if (example) {
        const char *value = NULL;
        while (count < 6 && example->values[count]) count++;
        value = example->values[rng_range(r, 0, count - 1)];
        add(text, size, "%s=%s", p->name, value);
        return;
    }
    switch (p->type) {
    case IMGPIPE_PARAM_INT: add(text, size, "%s=%lld", p->name, (long long)random_integer(p, r, 1)); break;
    case IMGPIPE_PARAM_ODD: add(text, size, "%s=%lld", p->name, (long long)(random_integer(p, r, 2) | 1)); break;
    case IMGPIPE_PARAM_NUMBER: add(text, size, "%s=%.3f", p->name, random_number(p, r)); break;
    case IMGPIPE_PARAM_BOOL: add(text, size, "%s", p->name); break;
    case IMGPIPE_PARAM_TEXT: break;
    case IMGPIPE_PARAM_SAMPLE:
        if (rng_chance(r, 50))
            add(text, size, "%s=%d%%", p->name, (int)rng_range(r, p->min < 0 ? -20 : 0, 110));
        else
            add(text, size, "%s=%.2f", p->name, rng_chance(r, 40) ? rng_unit(r) : rng_unit(r) * 255);
        break;
    case IMGPIPE_PARAM_CHOICE:
        while (p->choices[count]) count++;
        add(text, size, "%s=%s", p->name, p->choices[rng_range(r, 0, count - 1)]);
        break;
    }
}

static bool is_given(const imgpipe_chain *chain, const imgpipe_param *param) {
    imgpipe_chain_value value;
    for (int i = 0; imgpipe_chain_value_at(chain, i, &value); i++)
        if (value.param == param) return true;
    return false;
}

bool random_stage(const struct proof *proof, bool all, struct rng *r, char *text, size_t size) {
    const imgpipe_filter *filter = proof->filter;
    int percent = (int)rng_range(r, 10, 70), given = 0;
    bool complete = true;
    add(text, size, "%s", proof->text ? proof->text : filter->name);
    for (imgpipe_chain_value value; imgpipe_chain_value_at(proof->given, given, &value);) given++;
    for (int i = 0; i < filter->param_count; i++) {
        const imgpipe_param *p = &filter->params[i];
        const struct example *example = example_of(filter, p);
        if (p->type == IMGPIPE_PARAM_TEXT && (!example || !example->values[0])) continue;
        if (is_given(proof->given, p)) continue;
        bool absent = !p->initial && p->type != IMGPIPE_PARAM_BOOL;
        if (!(example && example->needed) && !(all && absent) && !rng_chance(r, percent)) {
            complete = complete && !absent;
            continue;
        }
        add(text, size, "%s", given++ ? ":" : "=");
        add_value(p, example, r, text, size);
    }
    return complete;
}

void random_chain(struct rng *r, char *text, size_t size) {
    int filters = 0, stages = (int)rng_range(r, 1, 6);
    while (imgpipe_filter_at(filters)) filters++;
    text[0] = 0;
    for (int i = 0; i < stages; i++) {
        const imgpipe_filter *filter = imgpipe_filter_at((int)rng_range(r, 0, filters - 1));
        /* Charts are large and take the image away, so a chain has one seldom. */
        if (!strcmp(filter->name, "hist") && rng_chance(r, 80)) filter = imgpipe_filter_at(0);
        if (i) add(text, size, ",");
        random_stage(&(const struct proof){.filter = filter}, false, r, text, size);
    }
}
