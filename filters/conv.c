/* conv: correlation with a mask. kernels/conv.h has the definition. */
#include "conv.h"
#include "filter.h"
#include "param.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conv_options {
    const char *mask;
    double div;
    imgpipe_sample bias;
    bool absolute, flip;
    int border;
    imgpipe_sample value;
};

static const imgpipe_param params[] = {
    {"mask", offsetof(struct conv_options, mask), IMGPIPE_PARAM_TEXT, NULL, 0, 0, NULL,
     "numbers separated by spaces or commas, rows by ';' or a newline, @FILE, or a name from the list; odd sizes to 63 x 63"},
    {"div", offsetof(struct conv_options, div), IMGPIPE_PARAM_NUMBER, NULL, -1e30, 1e30, NULL,
     "divides the sum; default: the sum of the weights if they are whole numbers and it is above 0, else 1"},
    {"bias", offsetof(struct conv_options, bias), IMGPIPE_PARAM_SAMPLE, "0", -1e30, 1e30, NULL, "added at the end"},
    {"abs", offsetof(struct conv_options, absolute), IMGPIPE_PARAM_BOOL, "no", 0, 0, NULL,
     "takes the magnitude before the bias is added"},
    {"flip", offsetof(struct conv_options, flip), IMGPIPE_PARAM_BOOL, "no", 0, 0, NULL,
     "turns the mask by 180 degrees: convolution instead of correlation"},
    FILTER_BORDER_PARAMS(struct conv_options),
};

/* The masks that have a name, once for the table and once for the help text. */
/* clang-format off */
#define CONV_MASKS(row) \
    row("sharpen", "0 -1 0; -1 5 -1; 0 -1 0") \
    row("unsharp", "-1 -4 -6 -4 -1; -4 -16 -24 -16 -4; -6 -24 476 -24 -6; -4 -16 -24 -16 -4; -1 -4 -6 -4 -1") \
    row("emboss", "-2 -1 0; -1 1 1; 0 1 2") \
    row("edge", "-1 -1 -1; -1 8 -1; -1 -1 -1") \
    row("laplacian", "0 1 0; 1 -4 1; 0 1 0") \
    row("sobel_x", "-1 0 1; -2 0 2; -1 0 1") \
    row("sobel_y", "-1 -2 -1; 0 0 0; 1 2 1") \
    row("prewitt_x", "-1 0 1; -1 0 1; -1 0 1") \
    row("prewitt_y", "-1 -1 -1; 0 0 0; 1 1 1") \
    row("scharr_x", "-3 0 3; -10 0 10; -3 0 3") \
    row("scharr_y", "-3 -10 -3; 0 0 0; 3 10 3") \
    row("gaussian3", "1 2 1; 2 4 2; 1 2 1") \
    row("gaussian5", "1 4 6 4 1; 4 16 24 16 4; 6 24 36 24 6; 4 16 24 16 4; 1 4 6 4 1") \
    row("box3", "1 1 1; 1 1 1; 1 1 1") \
    row("box5", "1 1 1 1 1; 1 1 1 1 1; 1 1 1 1 1; 1 1 1 1 1; 1 1 1 1 1")
/* clang-format on */
#define MASK_NAME(name, text) name,
#define MASK_TEXT(name, text) text,
#define MASK_HELP(name, text) "\n  " name ": " text
static const char *const mask_names[] = {CONV_MASKS(MASK_NAME) NULL};
static const char *const mask_texts[] = {CONV_MASKS(MASK_TEXT)};

/* A mask as it is read. */
struct mask {
    const imgpipe_stage *stage;
    const char *text, *file; /* file: where the text comes from, or NULL for the value itself */
    int width, height;
    double weights[CONV_TAPS];
};

#define WORD_MAX 40

/* Marks `length` bytes at `at` in the value, or names the line of the file. */
static imgpipe_status mask_fail(const struct mask *mask, imgpipe_error *error, const char *at, size_t length, const char *message) {
    if (!mask->file) return imgpipe_stage_fail(mask->stage, error, "mask", (int)(at - mask->text), (int)length, "%s", message);
    int line = 1;
    for (const char *p = mask->text; p < at; p++) line += *p == '\n';
    return imgpipe_stage_fail(mask->stage, error, "mask", 0, 0, "'%s', line %d: %s", mask->file, line, message);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}
static bool ends_row(char c) {
    return c == ';' || c == '\n' || c == 0;
}

/* Reads one number and the comma or blanks behind it. */
static imgpipe_status read_number(struct mask *mask, const char **at, double *value, imgpipe_error *error) {
    const char *begin = *at, *end = begin;
    char message[160];
    size_t word = strcspn(begin, " \t\r\n,;");
    int shown = filter_text_fit(begin, word < WORD_MAX ? word : WORD_MAX);
    const char *more = (size_t)shown < word ? "…" : "";
    bool number = param_number(begin, &end, value) && end == begin + word;
    snprintf(message, sizeof message, "'%.*s%s' is not a number; numbers are decimal, like -1.5", shown, begin, more);
    if (word == 0) return mask_fail(mask, error, begin, *begin ? 1 : 0, "a number is missing here");
    if (!number) return mask_fail(mask, error, begin, word, message);
    snprintf(message, sizeof message, "'%.*s%s' is too large; weights go from -1e30 to 1e30", shown, begin, more);
    if (!(fabs(*value) <= 1e30)) return mask_fail(mask, error, begin, word, message);
    while (is_blank(*end)) end++;
    if (*end == ',') {
        end++;
        while (is_blank(*end)) end++;
        if (ends_row(*end)) return mask_fail(mask, error, end - 1, 1, "a number is missing behind this comma");
    }
    *at = end;
    return IMGPIPE_OK;
}

/* Reads one row up to its end; a blank line gives none. */
static imgpipe_status read_row(struct mask *mask, const char **at, imgpipe_error *error) {
    char message[160];
    while (is_blank(**at)) (*at)++;
    const char *begin = *at;
    if (*begin == '\n' || *begin == 0) return IMGPIPE_OK;
    if (mask->height == CONV_MAX) return mask_fail(mask, error, begin, strcspn(begin, ";\n"), "more than 63 rows");
    int n = 0;
    while (n == 0 || !ends_row(**at)) {
        double value;
        const char *number = *at;
        imgpipe_status status = read_number(mask, at, &value, error);
        if (status) return status;
        if (n == CONV_MAX) return mask_fail(mask, error, number, strcspn(number, ";\n"), "more than 63 numbers in a row");
        if (!mask->height || n < mask->width) mask->weights[mask->height * mask->width + n] = value;
        n++;
    }
    size_t length = (size_t)(*at - begin);
    while (length && is_blank(begin[length - 1])) length--;
    snprintf(message, sizeof message, "row %d has %s numbers than row 1, which has %d", mask->height + 1,
             n > mask->width ? "more" : "fewer", mask->width);
    if (mask->height && n != mask->width) return mask_fail(mask, error, begin, length, message);
    snprintf(message, sizeof message, "%d numbers in a row have no middle; take %d or %d", n, n - 1, n + 1);
    if (n % 2 == 0) return mask_fail(mask, error, begin, length, message);
    mask->width = n;
    mask->height++;
    return IMGPIPE_OK;
}

static imgpipe_status mask_parse(struct mask *mask, imgpipe_error *error) {
    char message[160];
    const char *at = mask->text;
    for (;; at++) {
        imgpipe_status status = read_row(mask, &at, error);
        if (status) return status;
        if (*at == 0) break;
    }
    if (!mask->height) return mask_fail(mask, error, mask->text, 0, "the mask is empty; write numbers like 0 -1 0;-1 5 -1;0 -1 0");
    snprintf(message, sizeof message, "%d rows have no middle; take %d or %d", mask->height, mask->height - 1, mask->height + 1);
    return mask->height % 2 ? IMGPIPE_OK : mask_fail(mask, error, mask->text, strlen(mask->text), message);
}

/* 3,969 numbers of any sensible length fit; a file that is larger is no mask. */
#define FILE_MAX ((size_t)256 * 1024)

static imgpipe_status mask_from_file(struct mask *mask, const char *name, imgpipe_error *error) {
    FILE *file = fopen(name, "rb");
    if (!file) return imgpipe_stage_fail(mask->stage, error, "mask", 0, 0, "cannot open '%s': %s", name, strerror(errno));
    char *text = malloc(FILE_MAX + 1);
    size_t size = text ? fread(text, 1, FILE_MAX + 1, file) : 0;
    bool broken = ferror(file) != 0;
    int fault = errno;
    fclose(file);
    imgpipe_status status;
    if (!text) {
        status = imgpipe_stage_fail(mask->stage, error, "mask", 0, 0, "not enough memory to read '%s'", name);
    } else if (broken) {
        status = imgpipe_stage_fail(mask->stage, error, "mask", 0, 0, "cannot read '%s': %s", name, strerror(fault));
    } else if (size > FILE_MAX || memchr(text, 0, size)) {
        status = imgpipe_stage_fail(mask->stage, error, "mask", 0, 0, "'%s' is not a mask: it must be text of numbers", name);
    } else {
        text[size] = 0;
        mask->text = text;
        mask->file = name;
        status = mask_parse(mask, error);
    }
    free(text);
    return status;
}

/* Reads the mask by name, from a file, or as numbers. */
static imgpipe_status mask_read(struct mask *mask, const char *value, imgpipe_error *error) {
    if (!value)
        return imgpipe_stage_fail(mask->stage, error, NULL, 0, 0, "needs a mask, like conv=sharpen or conv=1 2 1;2 4 2;1 2 1");
    if (value[0] == '@') return mask_from_file(mask, value + 1, error);
    mask->text = value;
    if ((value[0] | 32) < 'a' || (value[0] | 32) > 'z') return mask_parse(mask, error);
    for (int i = 0; mask_names[i]; i++)
        if (!strcmp(value, mask_names[i])) {
            mask->text = mask_texts[i];
            return mask_parse(mask, error);
        }
    const char *near = param_nearest(value, mask_names);
    return imgpipe_stage_fail(mask->stage, error, "mask", 0, 0, "no mask is named '%.*s%s'%s%s%s",
                              filter_text_fit(value, 40), value, strlen(value) > 40 ? "…" : "", near ? "; did you mean " : "; --help conv lists the names", near ? near : "", near ? "?" : "");
}

/* ---------------------------------------------------------------------------------------------------- arithmetic */

static bool is_whole(double v) {
    return v == floor(v);
}

/* Puts taps together whose products fit 16 bits. False if too few fit to be worth it. */
static bool plan_groups(struct conv_plan *plan) {
    int64_t sum = 0, negative = 0;
    for (int i = 0; i < plan->tap_count; i++) {
        int64_t weight = plan->taps[i].weight, size = weight < 0 ? -weight : weight;
        if (size > CONV_GROUP_WEIGHT) return false;
        if (plan->group_count == 0 || sum + size > CONV_GROUP_WEIGHT) {
            plan->group_count++;
            sum = negative = 0;
        }
        sum += size;
        negative += weight < 0 ? size : 0;
        plan->groups[plan->group_count - 1].end = i + 1;
        plan->groups[plan->group_count - 1].raised = (uint16_t)(negative * 255);
    }
    for (int g = 0; g < plan->group_count; g++) plan->below += plan->groups[g].raised;
    return plan->tap_count > 2 * plan->group_count || plan->group_count <= 1;
}

/* What the pairs of a group weigh so far in each row of results: magnitudes, and those of negative weights. */
struct pairs_sum {
    int size[CONV_PAIR_ROWS], below[CONV_PAIR_ROWS];
};

/* Adds a pair that weighs anything to the plan, or only counts it as long as there is no room for pairs. */
static void pair_add(struct conv_plan *plan, struct pairs_sum *group, const struct conv_pair *pair, const struct pairs_sum *own) {
    bool fits = plan->pair_group_count > 0;
    int size = 0;
    for (int i = 0; i < CONV_PAIR_ROWS; i++) {
        size += own->size[i];
        fits = fits && group->size[i] + own->size[i] <= CONV_GROUP_WEIGHT;
    }
    if (size == 0) return;
    if (!fits) {
        plan->pair_group_count++;
        *group = (struct pairs_sum){0};
    }
    int k = plan->pair_count++;
    if (plan->pairs) plan->pairs[k] = *pair;
    for (int i = 0; i < CONV_PAIR_ROWS; i++) {
        group->size[i] += own->size[i];
        group->below[i] += own->below[i];
        if (plan->pairs) plan->pair_groups[plan->pair_group_count - 1].raised[i] = (uint16_t)(group->below[i] * 255);
    }
    if (plan->pairs) plan->pair_groups[plan->pair_group_count - 1].end = k + 1;
}

/* Of the samples of a row of pairs in column x the upper one (0), the lower one (1), or both (2). False if that is not one pair,
 * as its products may not fit 16 bits. */
static bool pair_make(const struct conv_params *p, int row, int x, int which, struct conv_pair *pair, struct pairs_sum *own) {
    *own = (struct pairs_sum){0};
    for (int i = 0; i < CONV_PAIR_ROWS; i++) {
        uint32_t bytes = 0;
        for (int k = 0; k < 2; k++) {
            int y = 2 * row + k - i, weight = y < 0 || y >= p->height || which == 1 - k ? 0 : p->weights.whole[y * p->width + x];
            own->size[i] += weight < 0 ? -weight : weight;
            own->below[i] += weight < 0 ? -weight : 0;
            bytes |= ((uint32_t)weight & 255) << 8 * k;
        }
        pair->weights[i] = bytes | bytes << 16;
        if (own->below[i] > CONV_PAIR_WEIGHT || own->size[i] - own->below[i] > CONV_PAIR_WEIGHT) return false;
    }
    return true;
}

/* Puts the weights to pairs and those to groups, or counts them. */
static void pairs_walk(struct conv_plan *plan, int channels) {
    const struct conv_params *p = &plan->params;
    struct pairs_sum group = {0}, own;
    plan->pair_count = plan->pair_group_count = 0;
    for (int row = 0; row < CONV_PAIR_SLOTS(p->height); row++) {
        if (row == CONV_PAIR_SLOTS(p->height) - 1) plan->pairs_last = plan->pair_count;
        for (int x = 0; x < p->width; x++) {
            struct conv_pair pair = {.pair = (int16_t)row, .at = (int16_t)(x * channels)};
            if (pair_make(p, row, x, 2, &pair, &own)) {
                pair_add(plan, &group, &pair, &own);
                continue;
            }
            for (int which = 0; which < 2; which++) {
                pair_make(p, row, x, which, &pair, &own); /* a weight alone always fits */
                pair_add(plan, &group, &pair, &own);
            }
        }
        if (row == 0) plan->pairs_first_end = plan->pair_count;
    }
}

/* There are no pairs if a weight is too large or the mask has one row. */
static imgpipe_status plan_pairs(imgpipe_stage *stage, struct conv_plan *plan, imgpipe_error *error) {
    for (int i = 0; i < plan->tap_count; i++)
        if (plan->taps[i].weight > 127 || plan->taps[i].weight < -128) return IMGPIPE_OK;
    if (plan->params.height == 1 || plan->tap_count == 0) return IMGPIPE_OK;
    pairs_walk(plan, stage->in.format.channels);
    plan->pair_groups = imgpipe_stage_alloc(stage, (size_t)plan->pair_group_count * sizeof *plan->pair_groups, error);
    plan->pairs = plan->pair_groups ? imgpipe_stage_alloc(stage, (size_t)plan->pair_count * sizeof *plan->pairs, error) : NULL;
    if (!plan->pairs) return IMGPIPE_ERROR_MEMORY;
    pairs_walk(plan, stage->in.format.channels);
    stage->scratch_size = (size_t)CONV_PAIR_SLOTS(plan->params.height) * CONV_PAIRS_STRIDE * sizeof(uint16_t);
    stage->step = CONV_PAIR_ROWS;
    return IMGPIPE_OK;
}

/* Chooses integer arithmetic for whole weights; div and bias are whole too. */
static imgpipe_status plan_whole(imgpipe_stage *stage, struct conv_plan *plan, const struct mask *mask, double div, double bias,
                                 imgpipe_error *error) {
    struct conv_params *p = &plan->params;
    int64_t max = stage->in.format.type == IMGPIPE_U8 ? 255 : 65535, sum = 0;
    for (int i = 0; i < mask->width * mask->height; i++) {
        if (fabs(mask->weights[i]) > INT32_MAX)
            return imgpipe_stage_fail(stage, error, "mask", 0, 0, "weights beyond 2147483647 are too large; divide all of them");
        int32_t weight = (int32_t)(div < 0 ? -mask->weights[i] : mask->weights[i]);
        p->weights.whole[i] = weight;
        sum += weight < 0 ? -(int64_t)weight : weight;
        if (weight)
            plan->taps[plan->tap_count++] = (struct conv_tap){weight, (int16_t)(i % mask->width), (int16_t)(i / mask->width)};
    }
    sum *= max;
    /* Any div above 2 * sum makes 0 of every sum. */
    p->div = fabs(div) > 2.0 * (double)sum + 1 ? 2 * sum + 1 : (int64_t)fabs(div);
    if (p->div > (int64_t)1 << 45)
        return imgpipe_stage_fail(stage, error, "div", 0, 0, "may be at most 35184372088832 for weights as large as these");
    /* Any bias beyond `most` makes the result all 0 or all full. */
    double most = (double)(sum / p->div + max + 2);
    int64_t added = (int64_t)(bias > most ? most : bias < -most ? -most : bias) * p->div;
    p->offset = p->div / 2 + added;
    p->shift = p->div & (p->div - 1) ? -1 : __builtin_ctzll((unsigned long long)p->div);
    bool narrow = sum + p->div / 2 + (added < 0 ? -added : added) <= INT32_MAX && p->div <= INT32_MAX;
    p->arithmetic = narrow ? max == 255 && plan_groups(plan) ? CONV_GROUPS : CONV_INT32 : CONV_INT64;
    return p->arithmetic == CONV_GROUPS ? plan_pairs(stage, plan, error) : IMGPIPE_OK;
}

static imgpipe_status plan_make(imgpipe_stage *stage, struct conv_plan *plan, const struct mask *mask, imgpipe_error *error) {
    const struct conv_options *options = stage->options;
    struct conv_params *p = &plan->params;
    int n = mask->width * mask->height;
    double sum = 0, div = options->div, bias = imgpipe_sample_units(options->bias, stage->in.format.type);
    bool whole = true;
    for (int i = 0; i < n; i++) {
        sum += mask->weights[i];
        whole = whole && is_whole(mask->weights[i]);
    }
    if (isnan(div)) div = whole && sum > 0 ? sum : 1;
    if (div == 0)
        return imgpipe_stage_fail(stage, error, "div", 0, 0, "must not be 0; leave it away for the sum of the weights, or 1");
    if (fabs(div) < 1e-30)
        return imgpipe_stage_fail(stage, error, "div", 0, 0, "is too close to 0; its magnitude must be at least 1e-30");
    p->width = mask->width;
    p->height = mask->height;
    p->absolute = options->absolute;
    p->real_div = div;
    p->real_bias = bias;
    stage->identity = n == 1 && mask->weights[0] == div && bias == 0 && !p->absolute;
    if (stage->in.format.type != IMGPIPE_F32 && whole && is_whole(div) && is_whole(bias))
        return plan_whole(stage, plan, mask, div, bias, error);
    p->arithmetic = CONV_REAL;
    for (int i = 0; i < n; i++) p->weights.real[i] = (float)mask->weights[i];
    return IMGPIPE_OK;
}

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    const struct conv_options *options = stage->options;
    filter_set_border(stage, options->border, options->value);
    struct conv_plan *plan = imgpipe_stage_alloc(stage, sizeof *plan, error);
    struct mask *mask = plan ? imgpipe_stage_alloc(stage, sizeof *mask, error) : NULL;
    if (!mask) return IMGPIPE_ERROR_MEMORY;
    mask->stage = stage;
    imgpipe_status status = mask_read(mask, options->mask, error);
    if (status) return status;
    for (int i = 0, j = mask->width * mask->height - 1; options->flip && i < j; i++, j--) {
        double kept = mask->weights[i];
        mask->weights[i] = mask->weights[j];
        mask->weights[j] = kept;
    }
    stage->data = plan;
    stage->rows = KERNEL_PICK(conv, stage->isa)->rows;
    stage->columns = true;
    stage->cuda = FILTER_CUDA(conv_cuda);
    status = plan_make(stage, plan, mask, error);
    int n = mask->width * mask->height;
    stage->cost = plan->pair_count ? 0.1 + 0.016 * n : 0.2 + 0.04 * n; /* one core with AVX2 */
    return status;
}

static imgpipe_rect need(const imgpipe_stage *stage, imgpipe_rect out) {
    const struct conv_plan *plan = stage->data;
    return imgpipe_grow(out, plan->params.width / 2, plan->params.height / 2);
}

const imgpipe_filter filter_conv = {
    FILTER_HEAD,
    .name = "conv",
    .summary = "correlation with a mask",
    .description = "v = sum(weight * sample) / div; with abs |v|; then + bias. Whole weights, div and bias on integer samples are "
                   "computed exactly, everything else in floating point. Alpha is kept.\nMasks with a name:" CONV_MASKS(MASK_HELP),
    .kind = IMGPIPE_LOCAL,
    FILTER_PARAMS(struct conv_options, params),
    .setup = setup,
    .need = need,
};
