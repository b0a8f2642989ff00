/* Chains built stage by stage: the same checks, words and text as the parser's. Only the public header. */
#include "checks.h"
#include "imgpipe.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

static imgpipe_error error;

static imgpipe_chain *parsed(const char *text) {
    imgpipe_chain *chain = NULL;
    if (!CHECK(imgpipe_chain_parse(text, &chain, &error) == IMGPIPE_OK)) printf("      '%s': %s\n", text, error.message);
    return chain;
}

static void same_text(const imgpipe_chain *chain, const char *want, int line) {
    bool same = strcmp(imgpipe_chain_text(chain), want) == 0;
    if (!check(same, want, line)) printf("      is %s\n", imgpipe_chain_text(chain));
}
#define SAME_TEXT(chain, want) same_text(chain, want, __LINE__)

/* One text for all ways of writing a chain, which parses to itself. */
static void canonical(void) {
    static const char *const pairs[][2] = {
        {"", ""},
        {"gray", "gray"},
        {"gray=601", "gray"},
        {"gray=709,blur=2.50", "gray=weights=709,blur=sigma=2.5"},
        {" blur = 2 , blur=sigma_y=3:border=mirror ", "blur,blur=border=mirror:sigma_y=3"},
        {"gray=0.3 0.6 0.1", "gray=weights=0.3 0.6 0.1"},
        {"conv='1,2,1;2,4,2;1,2,1':abs", "conv=mask='1,2,1;2,4,2;1,2,1':abs=yes"},
        {"conv=0 -1 0;-1 5 -1;0 -1 0", "conv=mask=0 -1 0;-1 5 -1;0 -1 0"},
        {"threshold=50%,threshold=0.1", "threshold=value=50%,threshold=value=0.1"},
        {"levels=0:100%:10:90%", "levels=out_low=10:out_high=90%"},
        {"hist=pass:data='a ''b'', c\\d.csv'", "hist=data='a ''b'', c\\d.csv':pass=yes"},
        {"hist=scale=log:bins=7", "hist=scale=log:bins=7"},
        {"blur=0.1,blur=1e-3,blur=123.456", "blur=sigma=0.1,blur=sigma=0.001,blur=sigma=123.456"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        imgpipe_chain *chain = parsed(pairs[i][0]), *again = parsed(imgpipe_chain_text(chain));
        /* The order of the table need not be guessed here: both sides are compared by what they parse to. */
        imgpipe_chain *want = parsed(pairs[i][1]);
        SAME_TEXT(chain, imgpipe_chain_text(want));
        SAME_TEXT(again, imgpipe_chain_text(chain));
        CHECK(strlen(imgpipe_chain_text(chain)) == strlen(pairs[i][1]));
        imgpipe_chain_free(&chain), imgpipe_chain_free(&again), imgpipe_chain_free(&want);
    }
}

static void built(void) {
    imgpipe_chain *chain = NULL;
    if (!CHECK(imgpipe_chain_new(&chain, &error) == IMGPIPE_OK)) return;
    SAME_TEXT(chain, "");
    CHECK(imgpipe_chain_filter_at(chain, 0) == NULL);
    CHECK(imgpipe_chain_add(chain, "gray", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_add(chain, "blur", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_number(chain, -1, "sigma", 0.1, &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_number(chain, 1, "sigma", 1.0 / 3, &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_choice(chain, 1, "border", "reflect", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_text(chain, 0, "weights", "709", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_add(chain, "median", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_int(chain, -1, "size", 7, &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_add(chain, "threshold", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_sample(chain, 3, "value", (imgpipe_sample){12.5, true}, &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_add(chain, "hist", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_bool(chain, 4, "pass", true, &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_text(chain, 4, "data", " it's, a:b ", &error) == IMGPIPE_OK);
    SAME_TEXT(chain, "gray=weights=709,blur=sigma=0.3333333333333333:border=reflect,median=size=7,threshold=value=12.5%,"
                     "hist=data=' it''s, a:b ':pass=yes");
    CHECK(strcmp(imgpipe_chain_filter_at(chain, 4)->name, "hist") == 0 && imgpipe_chain_filter_at(chain, 5) == NULL);
    /* What is the default again is left out. */
    CHECK(imgpipe_chain_set_choice(chain, 1, "border", "clamp", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_text(chain, 0, "weights", "601", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_bool(chain, 4, "pass", false, &error) == IMGPIPE_OK);
    SAME_TEXT(chain, "gray,blur=sigma=0.3333333333333333,median=size=7,threshold=value=12.5%,hist=data=' it''s, a:b '");
    imgpipe_chain_value value;
    bool found = false;
    for (int i = 0; imgpipe_chain_value_at(chain, i, &value); i++) found = found || strcmp(value.text, " it's, a:b ") == 0;
    CHECK(found);
    imgpipe_chain_free(&chain);
}

/* A change that fails says what the parser says of `text`, and changes nothing. */
static void refused(imgpipe_chain *chain, imgpipe_status status, const char *text, int line) {
    imgpipe_error said = error;
    imgpipe_chain *none = NULL;
    bool right = status == IMGPIPE_ERROR_ARGUMENT && imgpipe_chain_parse(text, &none, &error) == IMGPIPE_ERROR_ARGUMENT &&
                 strcmp(said.message, error.message) == 0 && said.place == -1;
    if (!check(right, text, line)) printf("      says %s\n      not %s\n", said.message, error.message);
    same_text(chain, "blur=sigma=3,median,conv,threshold", line);
    imgpipe_chain_free(&none);
}
#define REFUSED(call, text) refused(chain, imgpipe_chain_##call, text, __LINE__)

static void failures_of_values(void) {
    imgpipe_chain *chain = parsed("blur=3,median,conv,threshold");
    REFUSED(add(chain, "blr", &error), "blur=sigma=3,blr");
    REFUSED(add(chain, "gaussian", &error), "gaussian");
    REFUSED(set_number(chain, 0, "sigma", -1, &error), "blur=sigma=-1");
    REFUSED(set_number(chain, 0, "sigma", 1e9, &error), "blur=sigma=1000000000");
    REFUSED(set_number(chain, 0, "sigma", NAN, &error), "blur=sigma=nan");
    REFUSED(set_number(chain, 0, "sigma", -INFINITY, &error), "blur=sigma=-inf");
    REFUSED(set_number(chain, 0, "sigmer", 1, &error), "blur=sigmer=1");
    REFUSED(set_int(chain, 1, "size", 4, &error), "median=size=4");
    REFUSED(set_int(chain, 1, "size", INT64_MIN, &error), "median=size=-9223372036854775808");
    REFUSED(set_choice(chain, 1, "border", "replicate", &error), "median=border=replicate");
    REFUSED(set_choice(chain, 1, "border", "a,b", &error), "median=border='a,b'");
    REFUSED(set_text(chain, 2, "mask", "", &error), "conv=mask=");
    REFUSED(set_sample(chain, 3, "value", (imgpipe_sample){1e30, true}, &error), "threshold=value=1e+30%");
    imgpipe_chain_free(&chain);
}

static void said(imgpipe_status status, const char *words, int line) {
    if (!check(status == IMGPIPE_ERROR_ARGUMENT && strstr(error.message, words), words, line))
        printf("      says %s\n", error.message);
}
#define SAID(call, words) said(imgpipe_chain_##call, words, __LINE__)

static void failures_of_calls(void) {
    imgpipe_chain *chain = parsed("blur=3"), *empty = NULL;
    SAID(set_int(chain, 0, "sigma", 1, &error), "use imgpipe_chain_set_number()");
    SAID(set_text(chain, 0, "border", "clamp", &error), "use imgpipe_chain_set_choice()");
    SAID(set_number(chain, 1, "sigma", 1, &error), "no stage 1");
    SAID(set_number(chain, -2, "sigma", 1, &error), "no stage -2");
    SAID(set_number(chain, 0, "a:b", 1, &error), "'a:b' is no parameter");
    SAID(set_number(chain, 0, NULL, 1, &error), "needed");
    SAID(set_text(chain, 0, "sigma", NULL, &error), "needed");
    SAID(set_number(NULL, 0, "sigma", 1, &error), "needed");
    SAID(add(chain, "gray,blur", &error), "'gray,blur' is no filter");
    SAID(add(chain, NULL, &error), "needed");
    SAID(new (NULL, &error), "no place");
    CHECK(imgpipe_chain_new(&empty, NULL) == IMGPIPE_OK);
    SAID(set_number(empty, -1, "sigma", 1, &error), "it has 0");
    CHECK(imgpipe_chain_add(empty, "nothing", NULL) == IMGPIPE_ERROR_ARGUMENT);
    SAME_TEXT(chain, "blur=sigma=3");
    imgpipe_chain_free(&chain), imgpipe_chain_free(&empty);
}

/* What a stage says at the start of a run is marked in the chain's text. */
static void places(void) {
    imgpipe_chain *chain = NULL;
    imgpipe_context *context = NULL;
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_info in = {9, 9, {IMGPIPE_U8, 1, false}}, out;
    options.device = "cpu", options.threads = 1;
    CHECK(imgpipe_context_new(&options, &context, &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_new(&chain, &error) == IMGPIPE_OK && imgpipe_chain_add(chain, "gray", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_add(chain, "conv", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_output(context, chain, &in, NULL, &out, &error) == IMGPIPE_ERROR_ARGUMENT);
    CHECK(imgpipe_chain_set_text(chain, -1, "mask", "1 2 1;2 x 2;1 2 1", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_output(context, chain, &in, NULL, &out, &error) == IMGPIPE_ERROR_ARGUMENT);
    CHECK(error.place >= 0 && imgpipe_chain_text(chain)[error.place] == 'x');
    CHECK(imgpipe_chain_set_text(chain, -1, "mask", "1,2,1;2,4,2;1,2,1", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_output(context, chain, &in, NULL, &out, &error) == IMGPIPE_OK);
    imgpipe_chain_free(&chain), imgpipe_context_free(&context);
}

/* Each status has words of its own, and a number that is none does no harm. */
static void statuses(void) {
    for (int i = IMGPIPE_OK; i <= IMGPIPE_ERROR_INTERNAL + 1; i++)
        for (int k = -1; k < i; k++)
            CHECK(strcmp(imgpipe_status_text((imgpipe_status)i), imgpipe_status_text((imgpipe_status)k)) != 0 ||
                  (i > IMGPIPE_ERROR_INTERNAL && k < 0));
}

int main(void) {
    statuses();
    canonical();
    built();
    if (setlocale(LC_ALL, "de_DE.UTF-8")) built(); /* a decimal comma, where that locale is installed */
    failures_of_values();
    failures_of_calls();
    places();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
