/* The chain parser: what it accepts, where it puts the values, and which place and advice its errors give. Uses the real
 * filters; options are found through their tables. Prints what failed; exit status 1 if anything did. */
#include "chain.h"
#include "param.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, checks;

static void check(bool right, const char *chain, const char *what) {
    checks++;
    if (right) return;
    failures++;
    printf("FAIL  %s: %s\n", chain, what);
}

static const void *option(const imgpipe_chain *chain, int stage, const char *name, imgpipe_param_type *type) {
    if (stage >= chain->count) return NULL;
    const imgpipe_filter *filter = chain->stages[stage].filter;
    for (int i = 0; i < filter->param_count; i++) {
        if (strcmp(filter->params[i].name, name) != 0) continue;
        *type = filter->params[i].type;
        return (const char *)chain->stages[stage].options + filter->params[i].offset;
    }
    return NULL;
}

/* The option as text, in a form that all types share. */
static void show(const imgpipe_chain *chain, int stage, const char *name, char buf[256]) {
    imgpipe_param_type type = IMGPIPE_PARAM_INT;
    const void *at = option(chain, stage, name, &type);
    snprintf(buf, 256, "(none)");
    if (!at) return;
    switch (type) {
    case IMGPIPE_PARAM_INT:
    case IMGPIPE_PARAM_ODD:
        if (*(const int64_t *)at != INT64_MIN) snprintf(buf, 256, "%lld", (long long)*(const int64_t *)at);
        break;
    case IMGPIPE_PARAM_NUMBER: snprintf(buf, 256, "%.17g", *(const double *)at); break;
    case IMGPIPE_PARAM_SAMPLE: {
        const imgpipe_sample *sample = at;
        snprintf(buf, 256, "%.17g%s", sample->value, sample->percent ? "%" : "");
        break;
    }
    case IMGPIPE_PARAM_BOOL: snprintf(buf, 256, *(const bool *)at ? "yes" : "no"); break;
    case IMGPIPE_PARAM_CHOICE: snprintf(buf, 256, "%d", *(const int *)at); break;
    case IMGPIPE_PARAM_TEXT:
        if (*(const char *const *)at) snprintf(buf, 256, "%s", *(const char *const *)at);
        break;
    }
}

/* Parses `text` and compares one option of one stage; `count` is the number of stages. */
static void good(const char *text, int count, int stage, const char *name, const char *want) {
    imgpipe_error error = {0};
    imgpipe_chain *chain;
    char got[256], line[700];
    if (imgpipe_chain_parse(text, &chain, &error) != IMGPIPE_OK) {
        check(false, text, error.message);
        return;
    }
    snprintf(line, sizeof line, "%d stages, not %d", chain->count, count);
    check(chain->count == count, text, line);
    if (name) {
        show(chain, stage, name, got);
        snprintf(line, sizeof line, "%s is '%s', not '%s'", name, got, want);
        check(strcmp(got, want) == 0, text, line);
    }
    imgpipe_chain_free(&chain);
    check(chain == NULL, text, "the pointer is not NULL after free");
}

/* `text` must be refused, with `length` bytes from `place` marked, and `says` in the message. */
static void bad(const char *text, int place, int length, const char *says) {
    imgpipe_error error = {0};
    imgpipe_chain *chain = (imgpipe_chain *)1;
    char line[1400];
    imgpipe_status status = imgpipe_chain_parse(text, &chain, &error);
    check(status == IMGPIPE_ERROR_ARGUMENT && error.status == status && chain == NULL, text, "is not refused as an argument");
    if (status == IMGPIPE_OK) {
        imgpipe_chain_free(&chain);
        return;
    }
    snprintf(line, sizeof line, "place %d+%d, not %d+%d (%s)", error.place, error.length, place, length, error.message);
    check(error.place == place && error.length == length, text, line);
    snprintf(line, sizeof line, "the message lacks '%s': %s", says, error.message);
    check(strstr(error.message, says) != NULL, text, line);
    check(strchr(error.message, '\n') == NULL && strchr(error.message, ';') != NULL, text,
          "the message is not one line with advice");
    check(imgpipe_chain_parse(text, &chain, NULL) == IMGPIPE_ERROR_ARGUMENT, text, "differs without an error struct");
}

static void test_grammar(void) {
    good(NULL, 0, 0, NULL, NULL);
    good("", 0, 0, NULL, NULL);
    good(" \t\n ", 0, 0, NULL, NULL);
    good("invert", 1, 0, NULL, NULL);
    good("gray,blur,hist", 3, 1, "sigma", "2");
    good(" gray , blur = 3 , hist ", 3, 1, "sigma", "3");
    good("blur=2", 1, 0, "sigma", "2");
    good("blur=sigma=2", 1, 0, "sigma", "2");
    good("blur= sigma = 2.5 : border = mirror", 1, 0, "sigma", "2.5");
    good("blur= sigma = 2.5 : border = mirror", 1, 0, "border", "2");
    good("blur=1:2:3", 1, 0, "sigma_y", "3");
    good("blur=1:sigma_y=3", 1, 0, "sigma_x", "nan");
    good("levels=10:200:5%:250", 1, 0, "in_low", "10");
    good("levels=10:200:5%:250", 1, 0, "out_low", "5%");
    good("levels=10:200:5 %:250", 1, 0, "out_high", "250");
    good("gray=0.3 0.6 0.1", 1, 0, "weights", "0.3 0.6 0.1");
    good("conv=0 -1 0;-1 5 -1;0 -1 0", 1, 0, "mask", "0 -1 0;-1 5 -1;0 -1 0");
    good("conv=  1  2  ,gray", 2, 0, "mask", "1  2");
    good("hist=data=a=b.csv", 1, 0, "data", "a=b.csv");
    good("conv=@a=b.txt", 1, 0, "mask", "@a=b.txt");
}

static void test_quotes(void) {
    good("conv='0,-1,0;-1,5,-1;0,-1,0',gray", 2, 0, "mask", "0,-1,0;-1,5,-1;0,-1,0");
    good("conv='1 2\n3 4'", 1, 0, "mask", "1 2\n3 4");
    good("conv=1 2\n3 4\n", 1, 0, "mask", "1 2\n3 4");
    good("hist=data='it''s'", 1, 0, "data", "it's");
    good("hist=data=''''", 1, 0, "data", "'");
    good("hist=data=it\\'s", 1, 0, "data", "it's");
    good("hist=data=a\\,b\\:c\\\\d", 1, 0, "data", "a,b:c\\d");
    good("hist=data=' a '", 1, 0, "data", " a ");
    good("hist=data= \\ a\\  ", 1, 0, "data", " a ");
    good("hist=data=a'b,c'd", 1, 0, "data", "ab,cd");
    good("hist=data='\\n'", 1, 0, "data", "\\n");
    good("conv='div=2'", 1, 0, "mask", "div=2");
    good("conv=div\\=2", 1, 0, "mask", "div=2");
    good("conv='abs'", 1, 0, "mask", "abs");
    good("blur='2'", 1, 0, "sigma", "2");
    bad("gray,conv='1 2", 10, 4, "not closed");
    bad("hist=data=x\\", 11, 1, "nothing follows");
    bad("'gray,blur'", 1, 9, "quotes");
}

static void test_bools(void) {
    good("hist=pass", 1, 0, "pass", "yes");
    good("hist", 1, 0, "pass", "no");
    good("hist=pass=no", 1, 0, "pass", "no");
    good("hist=pass=true:width=100", 1, 0, "pass", "yes");
    good("hist=pass:100", 1, 0, "width", "100");
    good("hist=width=100:pass", 1, 0, "pass", "yes");
    good("conv=sobel_x:abs", 1, 0, "abs", "yes");
    good("conv=sobel_x:abs", 1, 0, "mask", "sobel_x");
    good("conv=abs:sobel_x:2", 1, 0, "div", "2");
    good("conv=abs:sobel_x:2:50%", 1, 0, "bias", "50%");
    bad("hist=pass:pass", 10, 4, "given twice");
    bad("hist=pass=maybe", 10, 5, "neither yes nor no");
}

static void test_structure(void) {
    bad("gray,,blur", 4, 1, "no stage");
    bad(",gray", 0, 1, "before the comma");
    bad("gray,", 4, 1, "behind the comma");
    bad("gray, ,blur", 4, 1, "no stage");
    bad("=2", 0, 1, "before '='");
    bad("blur=", 4, 1, "no value");
    bad("levels=1::3", 8, 1, "no value");
    bad("blur=sigma=", 5, 6, "sigma has no value");
    bad("blur=''", 4, 1, "no value");
    bad("gray,blur=sigma=2:sigma=3", 18, 7, "given twice");
    bad("blur=2:sigma=3", 7, 7, "given twice");
    bad("blur=sigma=2:3", 13, 1, "sigma_x");
    bad("invert=3", 7, 1, "no parameters");
    bad("invert=a=3", 7, 1, "no parameters");
    bad("threshold=1:2", 12, 1, "too many");
}

static void test_names(void) {
    bad("gray,blr,hist", 5, 3, "did you mean blur?");
    bad("Blur", 0, 4, "did you mean blur?");
    bad("meidan=3", 0, 6, "did you mean median?");
    bad("histogram", 0, 9, "did you mean hist?");
    bad("gaussian=2", 0, 8, "did you mean blur?");
    bad("zzzzzz", 0, 6, "gray, blur, box");
    bad("\xc3\xa9t\xc3\xa9", 0, 5, "is no filter");
    bad("blur=sgima=2", 5, 5, "did you mean sigma?");
    bad("blur=Sigma=2", 5, 5, "did you mean sigma?");
    bad("blur=qqq=2", 5, 3, "sigma, sigma_x, sigma_y");
    bad("blur=2:border=clmap", 14, 5, "did you mean clamp?");
    bad("blur=2:border=symmetric", 14, 9, "did you mean reflect?");
    bad("blur=2:border=qqqqqq", 14, 6, "clamp, reflect, mirror, wrap, constant");
    bad("blur:2", 4, 2, "write blur=2");
    bad("blur 2", 5, 1, "write blur=2");
    bad("blur(2)", 4, 3, "write blur=2");
    bad("gray;blur", 4, 1, "a comma separates");
    bad("gray blur", 4, 2, "a comma separates");
    bad("gray|blur", 4, 1, "a comma separates");
}

static void test_values(void) {
    bad("gray,blur=0x8", 10, 3, "write blur=8");
    bad("blur=sigma=0x8", 11, 3, "write blur=8");
    bad("blur=2:sigma_x=0x8", 15, 3, "write blur=sigma_x=8");
    bad("median=3x3", 7, 3, "write median=3");
    bad("box=3x5", 4, 3, "write box=width=3:height=5");
    bad("blur=0x1F", 5, 4, "write blur=31");
    bad("blur=1,5", 5, 3, "1.5 with a dot");
    bad("blur=1,5:2", 5, 3, "1.5 with a dot");
    bad("gray,blur='1,5'", 11, 3, "1.5 with a dot");
    bad("gray=0.3,0.6,0.1", 9, 3, "separate numbers by spaces");
    bad("conv=0,-1,0", 7, 2, "separate numbers by spaces");
    bad("median=4", 7, 1, "write 3 or 5 (a radius of 4 is size 9)");
    bad("median=257", 7, 3, "from 1 to 255");
    bad("median=0", 7, 1, "from 1 to 255");
    bad("median=2.5", 7, 3, "not whole");
    bad("blur=-1", 5, 2, "from 0 to 1000");
    bad("blur=1001", 5, 4, "from 0 to 1000");
    bad("blur=1e999", 5, 5, "too large");
    bad("median=99999999999999999999", 7, 20, "out of range");
    bad("blur=nan", 5, 3, "not a number");
    bad("blur=inf", 5, 3, "not a number");
    bad("blur=1.5px", 8, 2, "'px' follows");
    bad("blur=50%", 7, 1, "not measured in per cent");
    bad("blur='1\\5'", 7, 2, "follows");
    bad("threshold=x", 10, 1, "50%");
    bad("blur=\x1b[2J", 5, 4, "\\x1b");
}

static void test_numbers(void) {
    static const struct {
        const char *text;
        bool number;
        int used;
        double value;
    } rows[] = {
        {"1", true, 1, 1},    {"-1.5e2x", true, 6, -150}, {"+.5", true, 3, 0.5},
        {"5.", true, 2, 5},   {"1e", true, 1, 1},         {"1e+", true, 1, 1},
        {"0x10", true, 1, 0}, {"10x2", true, 2, 10},      {"-0x1", true, 2, 0},
        {".", false, 0, 0},   {"", false, 0, 0},          {"e5", false, 0, 0},
        {"nan", false, 0, 0}, {"infinity", false, 0, 0},  {"1e999", false, 5, INFINITY},
        {"1,5", true, 1, 1},  {"0.1", true, 3, 0.1},      {" 1", false, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *end = NULL;
        double value = -7;
        bool number = param_number(rows[i].text, &end, &value);
        check(number == rows[i].number && end == rows[i].text + rows[i].used && value == rows[i].value, rows[i].text,
              "param_number");
    }
    /* A locale with a decimal comma changes nothing. Not every machine has one. */
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
    for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
        if (!setlocale(LC_ALL, locales[i])) continue;
        imgpipe_chain *chain;
        check(imgpipe_chain_parse("blur=1.5", &chain, NULL) == IMGPIPE_OK, "blur=1.5", "in a locale with a comma");
        imgpipe_chain_free(&chain);
        setlocale(LC_ALL, "C");
    }
}

static void test_defaults(void) {
    const imgpipe_filter *filter;
    for (int i = 0; (filter = imgpipe_filter_at(i)); i++) {
        imgpipe_error error = {0};
        void *options = calloc(1, filter->options_size + 1);
        check(param_defaults(filter, options, &error) == IMGPIPE_OK, filter->name, error.message);
        free(options);
    }
    check(imgpipe_filter_at(0) != NULL, "filters", "there are none");
}

/* Maps a part of a value, quotes and all, back into the chain. */
static void place(const char *text, int stage, const char *param, int at, int length, int want, int want_length) {
    imgpipe_chain *chain;
    char line[100];
    int got, got_length, index = -1;
    if (imgpipe_chain_parse(text, &chain, NULL) != IMGPIPE_OK) {
        check(false, text, "does not parse");
        return;
    }
    const imgpipe_filter *filter = chain->stages[stage].filter;
    for (int i = 0; param && i < filter->param_count; i++)
        if (strcmp(filter->params[i].name, param) == 0) index = i;
    chain_place(chain, stage, index, at, length, &got, &got_length);
    snprintf(line, sizeof line, "chain_place %d+%d is %d+%d, not %d+%d", at, length, got, got_length, want, want_length);
    check(got == want && got_length == want_length, text, line);
    imgpipe_chain_free(&chain);
}

static void test_places(void) {
    place("gray,conv='1,x':abs", 1, "mask", 2, 1, 13, 1);
    place("gray,conv='1,x':abs", 1, "mask", 0, 0, 11, 3);
    place("gray,conv=mask=1''''2", 1, "mask", 0, 3, 15, 6);
    place("gray, blur=2 ,hist", 1, "sigma_x", 0, 0, 6, 6);
    place("gray, blur=2 ,hist", 1, NULL, 0, 0, 6, 6);
    place("gray, blur=2 ,hist", 1, "sigma", 99, 99, 11, 1);
    place("gray, blur=sigma= 2 ,hist", 1, "sigma", 0, INT_MAX, 18, 1);
    place("conv=a\\,b", 0, "mask", 1, 2, 7, 2);
}

/* Any text must be refused or parsed, and what is parsed must be freed; sanitizers and the place watch over it. */
static void test_noise(void) {
    static const char *const parts[] = {"gray", "blur",  "hist", "conv", "=",   ":",        ",", "'",  "\\",
                                        " ",    "sigma", "2",    "1.5",  "abs", "\xc3\xa9", "x", "\n", "%"};
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 20000; round++) {
        char text[128] = "";
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        uint64_t bits = seed;
        for (int i = (int)(bits % 12); i >= 0; i--) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            strcat(text, parts[(bits >> 40) % (sizeof parts / sizeof parts[0])]);
        }
        imgpipe_error error = {0};
        imgpipe_chain *chain;
        if (imgpipe_chain_parse(text, &chain, &error) != IMGPIPE_OK) {
            bool inside = error.place >= 0 && error.length >= 1 && error.place + error.length <= (int)strlen(text);
            if (!inside) check(false, text, error.message);
        }
        imgpipe_chain_free(&chain);
    }
    char *huge = malloc(3000001);
    memset(huge, '\'', 3000000);
    huge[3000000] = 0;
    check(imgpipe_chain_parse(huge, &(imgpipe_chain *){NULL}, NULL) == IMGPIPE_ERROR_ARGUMENT, "3 MB of quotes", "is accepted");
    /* A thousand stages, and no more. */
    for (int i = 0; i < 1000; i++) memcpy(huge + 7 * i, ",invert", 7);
    huge[7000] = 0;
    imgpipe_error error = {0};
    imgpipe_chain *chain;
    check(imgpipe_chain_parse(huge + 1, &chain, &error) == IMGPIPE_OK, "1000 stages", error.message);
    check(chain && imgpipe_chain_add(chain, "invert", &error) == IMGPIPE_ERROR_ARGUMENT, "a stage is added to 1000", "is accepted");
    imgpipe_chain_free(&chain);
    memcpy(huge + 7000, ",invert", 8);
    bool refused =
        imgpipe_chain_parse(huge + 1, &chain, &error) == IMGPIPE_ERROR_ARGUMENT && strstr(error.message, "more than 1000 stages");
    check(refused && error.place == 6999 && error.length == 1, "1001 stages", error.message);
    free(huge);
}

int main(void) {
    test_grammar();
    test_quotes();
    test_bools();
    test_structure();
    test_names();
    test_values();
    test_numbers();
    test_defaults();
    test_places();
    test_noise();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
