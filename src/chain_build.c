/* Chains built stage by stage. Every change is written as text and parsed, so that what the parser checks, and what it says, holds
 * here too, and a change that fails changes nothing. */
#include "chain.h"
#include "param.h"
#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static imgpipe_status no_memory(imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_MEMORY, "chain: no memory for it; free some");
}

/* A place in a text that the caller never saw would mislead. */
static imgpipe_status parse(imgpipe_registry *registry, const char *text, imgpipe_chain **chain, imgpipe_error *error) {
    imgpipe_status failed = imgpipe_chain_parse_with(registry, text, chain, error);
    if (failed && error) error->place = -1, error->length = 0;
    return failed;
}

/* Makes `chain` what `text` says, which it frees. */
static imgpipe_status become(imgpipe_chain *chain, char *text, imgpipe_error *error) {
    imgpipe_chain *made = NULL;
    if (!text) return no_memory(error);
    imgpipe_status failed = parse(chain->registry, text, &made, error);
    if (!failed && strcmp(made->canonical, text) != 0) { /* a value that is the default again is left out */
        imgpipe_chain *again = NULL;
        failed = parse(chain->registry, made->canonical, &again, error);
        imgpipe_chain_free(&made);
        made = again;
    }
    free(text);
    if (failed) return failed;
    imgpipe_chain old = *chain;
    *chain = *made;
    *made = old;
    imgpipe_chain_free(&made);
    return IMGPIPE_OK;
}

imgpipe_status imgpipe_chain_new(imgpipe_chain **chain, imgpipe_error *error) {
    return imgpipe_chain_parse("", chain, error);
}

imgpipe_status imgpipe_chain_new_with(imgpipe_registry *registry, imgpipe_chain **chain, imgpipe_error *error) {
    return imgpipe_chain_parse_with(registry, "", chain, error);
}

static bool is_name(const char *text) {
    if (*text < 'a' || *text > 'z') return false;
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] == 0;
}

imgpipe_status imgpipe_chain_add(imgpipe_chain *chain, const char *filter, imgpipe_error *error) {
    char shown[48];
    if (!chain || !filter) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "chain: a chain and the name of a filter are needed");
    if (!is_name(filter)) {
        snprintf(shown, sizeof shown, "%.40s", filter);
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "chain: '%s' is no filter; give its name alone, and set its parameters afterwards", shown);
    }
    return become(chain, chain_write(chain, -1, -1, NULL, filter), error);
}

/* What the parser says of a parameter that the filter has not. */
static imgpipe_status unknown_param(imgpipe_registry *registry, const imgpipe_filter *filter, const char *param,
                                    imgpipe_error *error) {
    char text[200];
    imgpipe_chain *none = NULL;
    if (!is_name(param) || strlen(param) > 60 || strlen(filter->name) > 60)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: '%.40s' is no parameter of it", filter->name, param);
    snprintf(text, sizeof text, "%s=%s=0", filter->name, param);
    imgpipe_status failed = parse(registry, text, &none, error);
    imgpipe_chain_free(&none);
    return failed;
}

/* The setter of each type. */
static const char *const setters[] = {
    [IMGPIPE_PARAM_INT] = "int",       [IMGPIPE_PARAM_ODD] = "int",   [IMGPIPE_PARAM_NUMBER] = "number",
    [IMGPIPE_PARAM_SAMPLE] = "sample", [IMGPIPE_PARAM_BOOL] = "bool", [IMGPIPE_PARAM_CHOICE] = "choice",
    [IMGPIPE_PARAM_TEXT] = "text",
};

static imgpipe_status set(imgpipe_chain *chain, int stage, const char *param, const char *setter, const char *value,
                          imgpipe_error *error) {
    if (!chain || !param || !value)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "chain: a chain, a parameter and a value are needed");
    int at = stage == -1 ? chain->count - 1 : stage;
    if (at < 0 || at >= chain->count)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "chain: there is no stage %d; it has %d, counted from 0", stage,
                         chain->count);
    const imgpipe_filter *filter = chain->stages[at].filter;
    int found = 0;
    while (found < filter->param_count && strcmp(filter->params[found].name, param) != 0) found++;
    if (found == filter->param_count) return unknown_param(chain->registry, filter, param, error);
    const char *right = setters[filter->params[found].type];
    if (strcmp(right, setter) != 0)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "%s %s: imgpipe_chain_set_%s() does not fit its type; use imgpipe_chain_set_%s()", filter->name, param,
                         setter, right);
    return become(chain, chain_write(chain, at, found, value, NULL), error);
}

imgpipe_status imgpipe_chain_set_int(imgpipe_chain *chain, int stage, const char *param, int64_t value, imgpipe_error *error) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return set(chain, stage, param, "int", text, error);
}

imgpipe_status imgpipe_chain_set_number(imgpipe_chain *chain, int stage, const char *param, double value, imgpipe_error *error) {
    char text[CHAIN_NUMBER];
    return set(chain, stage, param, "number", chain_number_text(value, text), error);
}

imgpipe_status imgpipe_chain_set_sample(imgpipe_chain *chain, int stage, const char *param, imgpipe_sample value,
                                        imgpipe_error *error) {
    char text[CHAIN_NUMBER + 1];
    chain_number_text(value.value, text);
    if (value.percent) strcat(text, "%");
    return set(chain, stage, param, "sample", text, error);
}

imgpipe_status imgpipe_chain_set_bool(imgpipe_chain *chain, int stage, const char *param, bool value, imgpipe_error *error) {
    return set(chain, stage, param, "bool", value ? "yes" : "no", error);
}

imgpipe_status imgpipe_chain_set_choice(imgpipe_chain *chain, int stage, const char *param, const char *value,
                                        imgpipe_error *error) {
    return set(chain, stage, param, "choice", value, error);
}

imgpipe_status imgpipe_chain_set_text(imgpipe_chain *chain, int stage, const char *param, const char *value, imgpipe_error *error) {
    return set(chain, stage, param, "text", value, error);
}
