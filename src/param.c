/* Values of parameters: from text into the options struct, by the filter's table. */
#include "param.h"
#include "status.h"

#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that a message about one value is made of. */
struct reading {
    const imgpipe_filter *filter;
    const imgpipe_param *param;
    const char *text;
    imgpipe_error *error;
};

/* ------------------------------------------------------------------------------------------------ numbers */

static bool digit(char c) {
    return c >= '0' && c <= '9';
}

/* Steps over [+-]digits[.digits][e[+-]digits]; digits may be missing on one side of the point. Returns NULL if there is no
 * number at `text`. */
static const char *number_end(const char *text) {
    const char *p = text;
    if (*p == '+' || *p == '-') p++;
    int digits = 0;
    for (; digit(*p); p++) digits++;
    if (*p == '.') {
        p++;
        for (; digit(*p); p++) digits++;
    }
    if (digits == 0) return NULL;
    if (*p == 'e' || *p == 'E') {
        const char *q = p + 1;
        if (*q == '+' || *q == '-') q++;
        if (digit(*q)) {
            while (digit(*q)) q++;
            p = q;
        }
    }
    return p;
}

bool param_number(const char *text, const char **end, double *value) {
    const char *stop = number_end(text);
    *end = stop ? stop : text;
    *value = 0;
    if (!stop) return false;
    /* strtod_l() rounds correctly and agrees with the scan above but for hexadecimal, where it would read on behind the 0. */
    bool zero = stop[-1] == '0' && (stop - text == 1 || (stop - text == 2 && !digit(text[0]) && text[0] != '.'));
    if (zero && (*stop == 'x' || *stop == 'X')) return true;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return false;
    *value = strtod_l(text, NULL, plain);
    freelocale(plain);
    return isfinite(*value);
}

/* A double as the user would write it, with '.' in any locale. */
static const char *show_number(double value, char buf[40]) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    snprintf(buf, 40, fabs(value) < 1e15 && value == floor(value) ? "%.0f" : "%.9g", value);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return buf;
}

/* "a number from 0 to 1000": what would have been right. Bounds beyond any sense are not shown. */
static const char *show_range(const imgpipe_param *param, char buf[160]) {
    char low[40], high[40];
    const char *noun = param->type == IMGPIPE_PARAM_ODD   ? "an odd number"
                       : param->type == IMGPIPE_PARAM_INT ? "a whole number"
                                                          : "a number";
    bool has_low = param->min > -1e30, has_high = param->max < 1e30 && param->max < 9e18;
    show_number(param->min, low);
    show_number(param->max, high);
    buf[0] = 0;
    if (has_low && has_high) {
        text_append(buf, 160, "%s from %s to %s", noun, low, high);
    } else if (has_low || has_high) {
        text_append(buf, 160, "%s, %s %s", noun, has_low ? "at least" : "at most", has_low ? low : high);
    } else {
        text_append(buf, 160, "%s", noun);
    }
    if (param->type == IMGPIPE_PARAM_SAMPLE) text_append(buf, 160, ", or a part of the full range like 50%%");
    return buf;
}

/* At most 40 bytes of the text, cut between characters. */
static const char *show_text(const char *text, char buf[48]) {
    size_t length = strlen(text);
    if (length <= 40) {
        memcpy(buf, text, length + 1);
        return buf;
    }
    size_t cut = 37;
    while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80) cut--;
    memcpy(buf, text, cut);
    memcpy(buf + cut, "…", sizeof "…");
    return buf;
}

/* ----------------------------------------------------------------------------------------------- messages */

static imgpipe_status fail(const struct reading *r, int place, int length, const char *why, const char *advice) {
    if (length == 0) {
        place = 0;
        length = (int)strlen(r->text);
    }
    return error_at(r->error, IMGPIPE_ERROR_ARGUMENT, place, length, "%s %s: %s; %s", r->filter->name, r->param->name, why, advice);
}

/* The value `value` of this parameter as it would stand in a chain: `blur=8`, `blur=sigma_x=8`. */
static const char *show_stage(const struct reading *r, const char *value, char buf[160]) {
    buf[0] = 0;
    if (r->param == r->filter->params)
        text_append(buf, 160, "%s=%s", r->filter->name, value);
    else
        text_append(buf, 160, "%s=%s=%s", r->filter->name, r->param->name, value);
    return buf;
}

static bool has_param(const imgpipe_filter *filter, const char *name) {
    for (int i = 0; i < filter->param_count; i++)
        if (strcmp(filter->params[i].name, name) == 0) return true;
    return false;
}

/* `0x8`, `3x5`, `7x7`, `0x1f`: ImageMagick's radius x sigma, width x height, or hexadecimal. True if it was one of them, and
 * `error` is filled. */
static bool fail_times(const struct reading *r, double before, const char *x) {
    char why[160] = "", advice[240] = "", part[160], number[40], shown[48], first[40];
    const char *end;
    double after;
    if (*x != 'x' && *x != 'X') return false;
    bool second = param_number(x + 1, &end, &after) && *end == 0;
    show_text(r->text, shown);
    if (second) {
        if (before == after) {
            text_append(why, sizeof why, "'%s' is two numbers", shown);
            text_append(advice, sizeof advice, "write %s", show_stage(r, show_number(after, number), part));
        } else if (has_param(r->filter, "width") && has_param(r->filter, "height")) {
            text_append(why, sizeof why, "'%s' is two numbers", shown);
            text_append(advice, sizeof advice, "write %s=width=%s:height=%s", r->filter->name, show_number(before, first),
                        show_number(after, number));
        } else {
            text_append(why, sizeof why, "'%s' is a radius and a value; the radius follows from the value", shown);
            text_append(advice, sizeof advice, "write %s", show_stage(r, show_number(after, number), part));
        }
    } else {
        char *stop;
        unsigned long long hex = strtoull(x + 1, &stop, 16);
        if (before != 0 || stop == x + 1 || *stop || strlen(x + 1) > 12) return false;
        text_append(why, sizeof why, "'%s' is hexadecimal, and numbers are decimal", shown);
        text_append(advice, sizeof advice, "write %s", show_stage(r, show_number((double)hex, number), part));
    }
    fail(r, 0, 0, why, advice);
    return true;
}

/* The text is not a number to its end: finds the habit behind it. `end` is where the number that begins it ends. */
static imgpipe_status fail_number(const struct reading *r, const char *end, double value) {
    char why[160] = "", advice[240] = "", range[160], number[40], shown[48], rest[48];
    show_text(r->text, shown);
    if (end == r->text || r->text[0] == 0) {
        text_append(why, sizeof why, "'%s' is not a number", shown);
        text_append(advice, sizeof advice, "write %s", show_range(r->param, range));
        return fail(r, 0, 0, why, advice);
    }
    if (!isfinite(value)) {
        text_append(why, sizeof why, "'%s' is too large", shown);
        text_append(advice, sizeof advice, "write %s", show_range(r->param, range));
        return fail(r, 0, 0, why, advice);
    }
    if (fail_times(r, value, end)) return IMGPIPE_ERROR_ARGUMENT;
    int at = (int)(end - r->text);
    if (*end == ',' && digit(end[1])) {
        text_append(why, sizeof why, "'%s' has a decimal comma", shown);
        text_append(advice, sizeof advice, "write %.*s.%.*s with a dot", at, r->text, (int)strspn(end + 1, "0123456789"), end + 1);
        return fail(r, 0, 0, why, advice);
    }
    if (strcmp(end, "%") == 0) {
        text_append(why, sizeof why, "it is not measured in per cent");
        text_append(advice, sizeof advice, "write %s without %%", show_range(r->param, range));
        return fail(r, at, 1, why, advice);
    }
    text_append(why, sizeof why, "'%s' follows the number %s", show_text(end, rest), show_number(value, number));
    text_append(advice, sizeof advice, "write %s", show_range(r->param, range));
    return fail(r, at, (int)strlen(end), why, advice);
}

static imgpipe_status fail_range(const struct reading *r) {
    char why[160] = "", advice[240] = "", range[160], shown[48];
    text_append(why, sizeof why, "%s is out of range", show_text(r->text, shown));
    text_append(advice, sizeof advice, "write %s", show_range(r->param, range));
    return fail(r, 0, 0, why, advice);
}

/* ------------------------------------------------------------------------------------------ one for a type */

static imgpipe_status read_int(const struct reading *r, int64_t *to) {
    char why[160] = "", advice[240] = "", range[160], shown[48];
    const char *end;
    double value;
    bool number = param_number(r->text, &end, &value);
    if (!number || *end) return fail_number(r, end, value);
    if (value < r->param->min || value > r->param->max || fabs(value) > 9e15) return fail_range(r);
    if (value != floor(value)) {
        text_append(why, sizeof why, "%s is not whole", show_text(r->text, shown));
        text_append(advice, sizeof advice, "write %s", show_range(r->param, range));
        return fail(r, 0, 0, why, advice);
    }
    /* Whole and below 2^53, so the double holds it exactly. */
    int64_t whole = (int64_t)value;
    if (r->param->type == IMGPIPE_PARAM_ODD && whole % 2 == 0) {
        text_append(why, sizeof why, "%lld is even, and a window needs a middle", (long long)whole);
        text_append(advice, sizeof advice, "write %lld or %lld (a radius of %lld is size %lld)", (long long)whole - 1,
                    (long long)whole + 1, (long long)whole, 2 * (long long)whole + 1);
        return fail(r, 0, 0, why, advice);
    }
    *to = whole;
    return IMGPIPE_OK;
}

static imgpipe_status read_number(const struct reading *r, double *to) {
    const char *end;
    double value;
    bool number = param_number(r->text, &end, &value);
    if (!number || *end) return fail_number(r, end, value);
    if (value < r->param->min || value > r->param->max) return fail_range(r);
    *to = value;
    return IMGPIPE_OK;
}

static imgpipe_status read_sample(const struct reading *r, imgpipe_sample *to) {
    const char *end;
    double value;
    bool number = param_number(r->text, &end, &value);
    const char *sign = end + strspn(end, " ");
    bool percent = number && strcmp(sign, "%") == 0;
    if (!number || (*end && !percent)) return fail_number(r, end, value);
    /* The range is in sample units of the widest integer type; per cent are of its full range. */
    double units = percent ? value / 100 * 65535 : value;
    if (units < r->param->min || units > r->param->max) return fail_range(r);
    to->value = value;
    to->percent = percent;
    return IMGPIPE_OK;
}

static imgpipe_status read_bool(const struct reading *r, bool *to) {
    static const char *const words[] = {"no", "yes", "false", "true", "0", "1", "off", "on", NULL};
    for (int i = 0; words[i]; i++) {
        if (strcmp(r->text, words[i]) == 0) {
            *to = i & 1;
            return IMGPIPE_OK;
        }
    }
    char why[160] = "", advice[240] = "", shown[48];
    text_append(why, sizeof why, "'%s' is neither yes nor no", show_text(r->text, shown));
    text_append(advice, sizeof advice, "write %s=yes or %s=no", r->param->name, r->param->name);
    return fail(r, 0, 0, why, advice);
}

/* What other programs call the choices of this one. */
static const char *habit_choice(const char *text, const char *const *choices) {
    static const char *const habits[][2] = {
        {"symmetric", "reflect"}, {"reflect101", "mirror"}, {"reflect_101", "mirror"}, {"replicate", "clamp"},
        {"nearest", "clamp"},     {"edge", "clamp"},        {"extend", "clamp"},       {"zero", "constant"},
        {"fill", "constant"},     {"tile", "wrap"},         {"periodic", "wrap"},      {"logarithmic", "log"},
    };
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++) {
        if (strcmp(text, habits[i][0]) != 0) continue;
        for (int c = 0; choices[c]; c++)
            if (strcmp(choices[c], habits[i][1]) == 0) return choices[c];
    }
    return NULL;
}

static imgpipe_status read_choice(const struct reading *r, int *to) {
    char why[160] = "", advice[400] = "", shown[48];
    for (int i = 0; r->param->choices[i]; i++) {
        if (strcmp(r->text, r->param->choices[i]) == 0) {
            *to = i;
            return IMGPIPE_OK;
        }
    }
    const char *near = habit_choice(r->text, r->param->choices);
    if (!near) near = param_nearest(r->text, r->param->choices);
    text_append(why, sizeof why, "'%s' is not a choice", show_text(r->text, shown));
    if (near) text_append(advice, sizeof advice, "did you mean %s? ", near);
    text_append(advice, sizeof advice, near ? "The choices are " : "write one of ");
    for (int i = 0; r->param->choices[i]; i++) text_append(advice, sizeof advice, "%s%s", i == 0 ? "" : ", ", r->param->choices[i]);
    return fail(r, 0, 0, why, advice);
}

imgpipe_status param_parse(const imgpipe_filter *filter, const imgpipe_param *param, const char *text, void *options,
                           imgpipe_error *error) {
    struct reading r = {filter, param, text, error};
    void *to = (char *)options + param->offset;
    switch (param->type) {
    case IMGPIPE_PARAM_INT:
    case IMGPIPE_PARAM_ODD: return read_int(&r, to);
    case IMGPIPE_PARAM_NUMBER: return read_number(&r, to);
    case IMGPIPE_PARAM_SAMPLE: return read_sample(&r, to);
    case IMGPIPE_PARAM_BOOL: return read_bool(&r, to);
    case IMGPIPE_PARAM_CHOICE: return read_choice(&r, to);
    case IMGPIPE_PARAM_TEXT: *(const char **)to = text; return IMGPIPE_OK;
    }
    return error_set(error, IMGPIPE_ERROR_INTERNAL, "%s %s: a parameter type that does not exist; this is a fault of imgpipe",
                     filter->name, param->name);
}

/* ------------------------------------------------------------------------------------------------ defaults */

static void set_absent(const imgpipe_param *param, void *to) {
    switch (param->type) {
    case IMGPIPE_PARAM_INT:
    case IMGPIPE_PARAM_ODD: *(int64_t *)to = INT64_MIN; break;
    case IMGPIPE_PARAM_NUMBER: *(double *)to = NAN; break;
    case IMGPIPE_PARAM_SAMPLE: *(imgpipe_sample *)to = (imgpipe_sample){NAN, false}; break;
    case IMGPIPE_PARAM_BOOL: *(bool *)to = false; break;
    case IMGPIPE_PARAM_CHOICE: *(int *)to = -1; break;
    case IMGPIPE_PARAM_TEXT: *(const char **)to = NULL; break;
    }
}

imgpipe_status param_defaults(const imgpipe_filter *filter, void *options, imgpipe_error *error) {
    for (int i = 0; i < filter->param_count; i++) {
        const imgpipe_param *param = &filter->params[i];
        if (!param->initial) {
            set_absent(param, (char *)options + param->offset);
            continue;
        }
        imgpipe_error inner;
        if (param_parse(filter, param, param->initial, options, &inner) != IMGPIPE_OK)
            return error_set(error, IMGPIPE_ERROR_INTERNAL, "%s: the default is not valid; this is a fault of the filter",
                             inner.message);
    }
    return IMGPIPE_OK;
}

/* ------------------------------------------------------------------------------------------- nearest names */

static int lower(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

/* Damerau-Levenshtein distance of the restricted kind (optimal string alignment; G. Navarro, "A guided tour to approximate
 * string matching", 2001), letter case ignored. Three rows of the table are kept. */
#define NAME_MAX_LENGTH 63
static int distance(const char *a, int a_length, const char *b, int b_length) {
    int rows[3][NAME_MAX_LENGTH + 2];
    for (int j = 0; j <= b_length; j++) rows[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int same = lower(a[i - 1]) == lower(b[j - 1]);
            int best = above[j - 1] + !same;
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped && second[j - 2] + 1 < best) best = second[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *param_nearest(const char *text, const char *const *names) {
    size_t length = strlen(text);
    const char *best = NULL;
    int best_distance = INT_MAX;
    if (length == 0 || length > NAME_MAX_LENGTH) return NULL;
    for (int i = 0; names[i]; i++) {
        size_t name_length = strlen(names[i]), shorter = length < name_length ? length : name_length;
        if (name_length == 0 || name_length > NAME_MAX_LENGTH) continue;
        int d = distance(text, (int)length, names[i], (int)name_length);
        /* Near is a third of the letters; or one is the beginning of the other, as in "histogram". */
        int allowed = shorter <= 2 ? 1 : (int)((name_length > length ? name_length : length) + 2) / 3;
        size_t common = 0;
        while (common < shorter && lower(text[common]) == lower(names[i][common])) common++;
        if (shorter >= 3 && common == shorter && d > 1) d = 1;
        if (d > allowed || (shorter <= 1 && d > 0)) continue;
        if (d < best_distance) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
