/* A chain as text, in one way of the many in which it can be written. */
#include "chain.h"
#include "param.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What must be quoted, so that it means itself wherever the text goes: separators, quotes, and what a file of a chain takes
 * otherwise. */
static bool must_quote(const char *text) {
    size_t length = strlen(text);
    return length > 0 && (strpbrk(text, ",:'\\#\n\r\t") || text[0] == ' ' || text[length - 1] == ' ');
}

static void write_quoted(FILE *to, const char *text) {
    if (!must_quote(text)) {
        fputs(text, to);
        return;
    }
    fputc('\'', to);
    for (; *text; text++) fputs(*text == '\'' ? "''" : (char[]){*text, 0}, to);
    fputc('\'', to);
}

const char *chain_number_text(double value, char text[CHAIN_NUMBER]) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
    /* The fewest digits that give the same number again. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, CHAIN_NUMBER, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return text;
}

/* Whether the value at `a` is that at `b`; what is absent is equal to what is absent. */
static bool same_value(const imgpipe_param *param, const void *a, const void *b) {
    switch (param->type) {
    case IMGPIPE_PARAM_INT:
    case IMGPIPE_PARAM_ODD: return *(const int64_t *)a == *(const int64_t *)b;
    case IMGPIPE_PARAM_NUMBER: {
        double x = *(const double *)a, y = *(const double *)b;
        return x == y || (isnan(x) && isnan(y));
    }
    case IMGPIPE_PARAM_SAMPLE: {
        imgpipe_sample x = *(const imgpipe_sample *)a, y = *(const imgpipe_sample *)b;
        return (isnan(x.value) && isnan(y.value)) || (x.value == y.value && x.percent == y.percent);
    }
    case IMGPIPE_PARAM_BOOL: return *(const bool *)a == *(const bool *)b;
    case IMGPIPE_PARAM_CHOICE: return *(const int *)a == *(const int *)b;
    case IMGPIPE_PARAM_TEXT: {
        const char *x = *(const char *const *)a, *y = *(const char *const *)b;
        return x == y || (x && y && strcmp(x, y) == 0);
    }
    }
    return false;
}

static void write_value(FILE *to, const imgpipe_param *param, const void *value) {
    char text[CHAIN_NUMBER];
    switch (param->type) {
    case IMGPIPE_PARAM_INT:
    case IMGPIPE_PARAM_ODD: fprintf(to, "%lld", (long long)*(const int64_t *)value); break;
    case IMGPIPE_PARAM_NUMBER: fputs(chain_number_text(*(const double *)value, text), to); break;
    case IMGPIPE_PARAM_SAMPLE:
        fputs(chain_number_text(((const imgpipe_sample *)value)->value, text), to);
        if (((const imgpipe_sample *)value)->percent) fputc('%', to);
        break;
    case IMGPIPE_PARAM_BOOL: fputs(*(const bool *)value ? "yes" : "no", to); break;
    case IMGPIPE_PARAM_CHOICE: write_quoted(to, param->choices[*(const int *)value]); break;
    case IMGPIPE_PARAM_TEXT: write_quoted(to, *(const char *const *)value); break;
    }
}

static bool write_stage(FILE *to, const struct chain_stage *stage, int param, const char *value) {
    const imgpipe_filter *filter = stage->filter;
    void *defaults = calloc(1, filter->options_size ? filter->options_size : 1);
    bool right = defaults && param_defaults(filter, defaults, NULL) == IMGPIPE_OK;
    char sign = '=';
    fputs(filter->name, to);
    for (int i = 0; right && i < filter->param_count; i++) {
        const imgpipe_param *p = &filter->params[i];
        const char *held = (const char *)stage->options + p->offset;
        if (i != param && same_value(p, held, (const char *)defaults + p->offset)) continue;
        fprintf(to, "%c%s=", sign, p->name);
        if (i == param)
            write_quoted(to, value);
        else
            write_value(to, p, held);
        sign = ':';
    }
    free(defaults);
    return right;
}

char *chain_write(const struct imgpipe_chain *chain, int stage, int param, const char *value, const char *added) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    bool right = to != NULL;
    for (int i = 0; right && i < chain->count; i++) {
        if (i) fputc(',', to);
        right = write_stage(to, &chain->stages[i], i == stage ? param : -1, value);
    }
    if (right && added) fprintf(to, "%s%s", chain->count ? "," : "", added);
    if (to) right = (fflush(to) == 0 && !ferror(to)) && right;
    if (to) right = fclose(to) == 0 && right;
    if (right && text) return text;
    free(text);
    return NULL;
}

const char *imgpipe_chain_text(const imgpipe_chain *chain) {
    return chain ? chain->canonical : "";
}

const imgpipe_filter *imgpipe_chain_filter_at(const imgpipe_chain *chain, int index) {
    return chain && index >= 0 && index < chain->count ? chain->stages[index].filter : NULL;
}

bool imgpipe_chain_origin_at(const imgpipe_chain *chain, int index, imgpipe_origin *origin) {
    return chain && imgpipe_registry_origin(chain->registry, imgpipe_chain_filter_at(chain, index), origin);
}

bool imgpipe_chain_value_at(const imgpipe_chain *chain, int index, imgpipe_chain_value *value) {
    for (int i = 0; chain && index >= 0 && i < chain->count; i++) {
        const struct chain_stage *s = &chain->stages[i];
        if (index < s->value_count) {
            const struct chain_value *v = &s->values[index];
            *value = (imgpipe_chain_value){s->filter, &s->filter->params[v->param], v->text, v->place, v->length};
            return true;
        }
        index -= s->value_count;
    }
    return false;
}
