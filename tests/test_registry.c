/* Registries: filters of a program and of plug-ins beside those of the build, what is refused and why, and that everything may be
 * freed in any order.
 *
 * usage: test_registry FOLDER_OF_GOOD_PLUGINS FOLDER_OF_BROKEN_PLUGINS */
#include "checks.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static imgpipe_error error;
static const char *good, *broken;

static const char *path(const char *folder, const char *name) {
    static char text[4096];
    snprintf(text, sizeof text, "%s/%s.so", folder, name);
    return text;
}

/* Refused for the argument, with a message that says `what`. */
static void refused(imgpipe_status status, const char *what, int line) {
    bool right = status == IMGPIPE_ERROR_ARGUMENT && error.status == status && strstr(error.message, what);
    if (!check(right, what, line)) printf("      status %d: %s\n", (int)status, error.message);
    error = (imgpipe_error){0};
}
#define REFUSED(call, what) refused(call, what, __LINE__)

/* ------------------------------------------------------------------------------------------------ descriptors */

struct options {
    int64_t number;
    const char *text;
    int choice;
    bool yes;
};
static const char *const choices[] = {"one", "two", NULL}, *const twice[] = {"one", "one", NULL}, *const none[] = {NULL};
static const imgpipe_param right_params[] = {
    {"number", offsetof(struct options, number), IMGPIPE_PARAM_INT, "3", 0, 9, NULL, "a number"},
    {"text", offsetof(struct options, text), IMGPIPE_PARAM_TEXT, NULL, 0, 0, NULL, "a text"},
    {"choice", offsetof(struct options, choice), IMGPIPE_PARAM_CHOICE, "two", 0, 0, choices, "a choice"},
    {"yes", offsetof(struct options, yes), IMGPIPE_PARAM_BOOL, NULL, 0, 0, NULL, "yes or no"},
};

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *said) {
    const struct options *options = stage->options;
    imgpipe_point_op op = {.code = IMGPIPE_POINT_AFFINE, .mul = 1, .div = 1, .offset = (double)options->number};
    return imgpipe_stage_point(stage, &op, said);
}

static imgpipe_filter right_filter(void) {
    return (imgpipe_filter){.struct_size = sizeof(imgpipe_filter),
                            .abi = IMGPIPE_ABI,
                            .name = "own",
                            .summary = "add a number",
                            .kind = IMGPIPE_POINT,
                            .options_size = sizeof(struct options),
                            .params = right_params,
                            .param_count = 4,
                            .setup = setup};
}

static imgpipe_registry *registry;

/* The right descriptor with one member changed. */
#define WITH(member, value, what)                                                                                                  \
    do {                                                                                                                           \
        imgpipe_filter filter = right_filter();                                                                                    \
        filter.member = value;                                                                                                     \
        REFUSED(imgpipe_registry_add(registry, &filter, &error), what);                                                            \
    } while (0)

/* The right table with one member of one row changed. */
#define PARAM(row, member, value, what)                                                                                            \
    do {                                                                                                                           \
        imgpipe_param params[4];                                                                                                   \
        memcpy(params, right_params, sizeof params);                                                                               \
        params[row].member = value;                                                                                                \
        WITH(params, params, what);                                                                                                \
    } while (0)

static void test_descriptors(void) {
    CHECK(imgpipe_registry_new(&registry, &error) == IMGPIPE_OK);
    WITH(struct_size, sizeof(imgpipe_filter) - 8, "struct_size");
    WITH(abi, IMGPIPE_ABI + 5, "version 8 of the interface for filters, and imgpipe " IMGPIPE_VERSION " has version 3");
    WITH(name, NULL, "a filter is named ''");
    WITH(name, "Own", "a filter is named 'Own'");
    WITH(name, "o-n", "a filter is named 'o-n'");
    WITH(name, "a123456789b123456789c123456789d123456789e123456789f123456789g123", "of at most 63 letters");
    WITH(name, "gray", "gray: a filter of that name is there already");
    WITH(summary, "two\nlines", "own: it has no summary");
    WITH(kind, 17, "own: kind 17 does not exist");
    WITH(setup, NULL, "own: it has no function setup(), which a point filter needs");
    WITH(kind, IMGPIPE_GATHER, "own: it has no function merge(), which a gather filter needs");
    WITH(kind, IMGPIPE_WHOLE, "own: it has no function render(), which a whole filter needs");
    WITH(param_count, -1, "own: -1 parameters");
    WITH(params, NULL, "own: 4 parameters");
    WITH(options_size, 16, "own: parameter 'choice' lies at bytes 16 to 20");
    WITH(options_size, (size_t)1 << 40, "more than any filter needs");
    PARAM(1, name, "number", "own: two parameters are named 'number'");
    PARAM(1, name, "a b", "own: the name of parameter 1 is 'a b'");
    PARAM(1, name, NULL, "own: the name of parameter 1 is ''");
    PARAM(0, type, 40, "own: parameter 'number' has type 40");
    PARAM(0, offset, 3, "own: parameter 'number' lies at bytes 3 to 11");
    PARAM(3, offset, SIZE_MAX, "own: parameter 'yes' lies at bytes");
    PARAM(3, offset, 2, "own: parameters 'number' and 'yes' lie in the same bytes");
    PARAM(0, help, NULL, "own: parameter 'number' has no line of help");
    PARAM(0, min, 10, "own: the range of parameter 'number' is 10 to 9");
    PARAM(0, initial, "12", "own number: 12 is out of range");
    PARAM(0, initial, "many", "own number: 'many' is not a number");
    PARAM(2, initial, "three", "own choice: 'three' is not a choice");
    PARAM(2, choices, NULL, "own: parameter 'choice' has no choices");
    PARAM(2, choices, none, "own: parameter 'choice' has no choices");
    PARAM(2, choices, twice, "own: parameter 'choice' has the choice 'one' twice");
    const imgpipe_filter *built;
    for (int i = 0; (built = imgpipe_filter_at(i)); i++)
        if (!CHECK(filter_check(built, NULL, &error) == IMGPIPE_OK)) printf("      %s\n", error.message);
    CHECK(!imgpipe_registry_find(registry, "own"));
    imgpipe_filter filter = right_filter();
    REFUSED(imgpipe_registry_add(NULL, &filter, &error), "are needed");
    REFUSED(imgpipe_registry_add(registry, NULL, &error), "are needed");
    imgpipe_registry_free(&registry);
    CHECK(!registry);
}

/* ------------------------------------------------------------------------------------------------------- runs */

/* What the chain makes of one pixel of 7; -1: it does not run. */
static int run(imgpipe_context *context, const imgpipe_chain *chain) {
    uint8_t in[64], out[64];
    memset(in, 7, sizeof in);
    imgpipe_image from = {{8, 8, {IMGPIPE_U8, 1, false}}, in, 8, {0}}, to = {{8, 8, {IMGPIPE_U8, 1, false}}, out, 8, {0}};
    if (imgpipe_run_image(context, chain, &from, &to, NULL, NULL, &error)) return -1;
    return out[20];
}

/* The chain of the test's own filter with a number as its value. */
static int run_own(imgpipe_context *context, int number) {
    char text[16];
    imgpipe_chain *chain = NULL;
    snprintf(text, sizeof text, "own=%d", number);
    CHECK(imgpipe_chain_parse_with(registry, text, &chain, &error) == IMGPIPE_OK);
    int got = run(context, chain);
    imgpipe_chain_free(&chain);
    return got;
}

static imgpipe_context *new_context(void) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *context = NULL;
    options.device = "cpu";
    options.threads = 2;
    CHECK(imgpipe_context_new(&options, &context, &error) == IMGPIPE_OK);
    return context;
}

static void test_own(void) {
    imgpipe_context *context = new_context();
    imgpipe_filter own = right_filter();
    imgpipe_chain *chain = NULL, *built = NULL;
    CHECK(imgpipe_registry_new(&registry, &error) == IMGPIPE_OK && imgpipe_registry_add(registry, &own, &error) == IMGPIPE_OK);
    REFUSED(imgpipe_registry_add(registry, &own, &error),
            "own: a filter of that name is there already, one of imgpipe or of the program");
    int count = 0;
    while (imgpipe_filter_at(count)) count++;
    CHECK(imgpipe_registry_at(registry, count) == &own && !imgpipe_registry_at(registry, count + 1) &&
          !imgpipe_registry_at(registry, -1));
    CHECK(imgpipe_registry_at(registry, 0) == imgpipe_filter_at(0) && imgpipe_registry_find(registry, "own") == &own);
    CHECK(!imgpipe_filter_find("own") && !imgpipe_registry_origin(registry, &own, NULL));
    REFUSED(imgpipe_chain_parse("own=5", &chain, &error), "'own' is no filter");
    REFUSED(imgpipe_chain_parse_with(registry, "ovn=5", &chain, &error), "did you mean own?");
    CHECK(imgpipe_chain_parse_with(registry, "own=5,invert", &chain, &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_new_with(registry, &built, &error) == IMGPIPE_OK && imgpipe_chain_add(built, "own", &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_set_int(built, -1, "number", 9, &error) == IMGPIPE_OK);
    REFUSED(imgpipe_chain_set_int(built, -1, "numbers", 9, &error), "did you mean number?");
    imgpipe_registry_free(&registry);
    CHECK(run(context, chain) == 243 && run(context, built) == 16 && strcmp(imgpipe_chain_text(built), "own=number=9") == 0);
    CHECK(imgpipe_chain_add(built, "own", &error) == IMGPIPE_OK && run(context, built) == 19);
    imgpipe_chain_free(&chain);
    imgpipe_chain_free(&built);
    imgpipe_context_free(&context);
}

/* A filter that leaves what the engine could not run. */
static imgpipe_status wrong_setup(imgpipe_stage *stage, imgpipe_error *said) {
    const struct options *options = stage->options;
    (void)said;
    switch (options->number) {
    case 0: return IMGPIPE_OK; /* no rows() */
    case 1: return IMGPIPE_ERROR_ARGUMENT;
    case 2: stage->out.width = 0; return IMGPIPE_OK;
    case 3: stage->out.format.channels = 5; return IMGPIPE_OK;
    default:
        stage->identity = true;
        stage->out.width++;
        return IMGPIPE_OK;
    }
}

static void test_wrong_setup(void) {
    static const char *const said[] = {"own: its setup() sets no function rows()", "own: its setup() failed and gave no reason",
                                       "own: its setup() makes an image without pixels", "own: its setup() makes a format that",
                                       "own: its setup() says that nothing changes"};
    imgpipe_context *context = new_context();
    imgpipe_filter own = right_filter();
    own.setup = wrong_setup;
    own.kind = IMGPIPE_LOCAL;
    CHECK(imgpipe_registry_new(&registry, &error) == IMGPIPE_OK && imgpipe_registry_add(registry, &own, &error) == IMGPIPE_OK);
    for (int i = 0; i < 5; i++) {
        if (!CHECK(run_own(context, i) == -1 && strstr(error.message, said[i]))) printf("      %d: %s\n", i, error.message);
    }
    imgpipe_registry_free(&registry);
    imgpipe_context_free(&context);
}

/* However the author begins, the message names filter and parameter once, and the value is marked without its key. */
static imgpipe_status failing_setup(imgpipe_stage *stage, imgpipe_error *said) {
    static const char *const heads[] = {"", "own: ", "number: ", "own number: "};
    const struct options *options = stage->options;
    const char *param = options->number < 4 ? "number" : NULL;
    return imgpipe_stage_fail(stage, said, param, 0, 0, "%sis too much", heads[options->number % 4]);
}

static void test_failing_setup(void) {
    static const char *const said[] = {"own number: is too much", "own: is too much"};
    imgpipe_context *context = new_context();
    imgpipe_filter own = right_filter();
    own.setup = failing_setup;
    CHECK(imgpipe_registry_new(&registry, &error) == IMGPIPE_OK && imgpipe_registry_add(registry, &own, &error) == IMGPIPE_OK);
    for (int i = 0; i < 6; i++) {
        char text[32];
        imgpipe_chain *chain = NULL;
        snprintf(text, sizeof text, "gray,own=number=%d", i);
        CHECK(imgpipe_chain_parse_with(registry, text, &chain, &error) == IMGPIPE_OK);
        bool right = run(context, chain) == -1 && strcmp(error.message, said[i >= 4]) == 0;
        if (!CHECK(right && error.place == (i < 4 ? 16 : 5) && error.length == (i < 4 ? 1 : 12)))
            printf("      %d: %s, %d + %d\n", i, error.message, error.place, error.length);
        imgpipe_chain_free(&chain);
    }
    imgpipe_registry_free(&registry);
    imgpipe_context_free(&context);
}

/* A filter that takes the sample above, and leaves the value beyond the edge as it came. */
static void above(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    (void)stage;
    for (int i = 0; i < rows->count; i++) memcpy(rows->out[i], rows->in[i], (size_t)rows->out_width);
}

static imgpipe_rect need_above(const imgpipe_stage *stage, imgpipe_rect out) {
    (void)stage;
    return imgpipe_grow(out, 0, 8);
}

static imgpipe_status border_setup(imgpipe_stage *stage, imgpipe_error *said) {
    static const double values[] = {300, -1, 77.5, 1e300, 0.0 / 0.0};
    const struct options *options = stage->options;
    (void)said;
    stage->rows = above;
    stage->border = IMGPIPE_BORDER_CONSTANT;
    stage->border_value = values[options->number];
    return IMGPIPE_OK;
}

/* The value beyond the edge is one that samples can have, whatever setup() left. */
static void test_border_value(void) {
    static const int wanted[] = {255, 0, 78, 255, 0};
    imgpipe_context *context = new_context();
    imgpipe_filter own = right_filter();
    own.setup = border_setup;
    own.need = need_above;
    own.kind = IMGPIPE_LOCAL;
    CHECK(imgpipe_registry_new(&registry, &error) == IMGPIPE_OK && imgpipe_registry_add(registry, &own, &error) == IMGPIPE_OK);
    for (int i = 0; i < 5; i++) {
        int got = run_own(context, i);
        if (!CHECK(got == wanted[i])) printf("      %d: %d\n", i, got);
    }
    imgpipe_registry_free(&registry);
    imgpipe_context_free(&context);
}

/* --------------------------------------------------------------------------------------------------- plug-ins */

static void test_loading(void) {
    imgpipe_context *context = new_context();
    imgpipe_chain *chain = NULL;
    imgpipe_plan *plan = NULL;
    imgpipe_origin origin = {0};
    CHECK(imgpipe_registry_new(&registry, &error) == IMGPIPE_OK);
    const char *file = path(good, "dilate");
    if (!CHECK(imgpipe_registry_load(registry, file, &error) == IMGPIPE_OK)) printf("      %s\n", error.message);
    CHECK(imgpipe_registry_load(registry, file, &error) == IMGPIPE_OK); /* once more: nothing happens */
    const imgpipe_filter *filter = imgpipe_registry_find(registry, "dilate");
    CHECK(filter && imgpipe_registry_origin(registry, filter, &origin) && strcmp(origin.file, file) == 0);
    CHECK(strcmp(origin.plugin, "dilate") == 0 && strcmp(origin.version, "1.0") == 0);
    CHECK(imgpipe_chain_parse_with(registry, "invert,dilate=3", &chain, &error) == IMGPIPE_OK);
    CHECK(!imgpipe_chain_origin_at(chain, 0, &origin) && imgpipe_chain_origin_at(chain, 1, &origin) &&
          strcmp(origin.plugin, "dilate") == 0);
    imgpipe_info size = {8, 8, {IMGPIPE_U8, 1, false}};
    CHECK(imgpipe_prepare(context, chain, &size, NULL, &plan, &error) == IMGPIPE_OK);
    /* The code is still needed by the chain, then by the plan alone. */
    imgpipe_registry_free(&registry);
    CHECK(run(context, chain) == 248);
    imgpipe_chain_free(&chain);
    uint8_t pixels[64] = {0}, made[64];
    imgpipe_image in = {size, pixels, 8, {0}}, out = {size, made, 8, {0}};
    CHECK(imgpipe_plan_run(plan, &in, &out, &error) == IMGPIPE_OK && made[0] == 255);
    imgpipe_plan_free(&plan);
    imgpipe_context_free(&context);
}

static void count_refusal(void *user, const imgpipe_error *said) {
    *(int *)user += said->status == IMGPIPE_ERROR_ARGUMENT && strncmp(said->message, broken, strlen(broken)) == 0;
}

/* Beside the folders of plug-ins, which other tests look at meanwhile. */
static void test_no_object(imgpipe_registry *registry) {
    static const char text[] = "This is a text, which is longer than the head of any object that the loader would look at.\n";
    char file[] = "/tmp/imgpipe-registry-XXXXXX.so";
    int object = mkstemps(file, 3);
    if (!CHECK(object >= 0)) return;
    CHECK(write(object, text, sizeof text) == (ssize_t)sizeof text);
    close(object);
    REFUSED(imgpipe_registry_load(registry, file, &error), "it is no shared object of this machine");
    unlink(file);
}

static void test_refusals(void) {
    static const char *const says[][2] = {
        {"no_symbol", "it is no plug-in of imgpipe, as it has no symbol imgpipe_plugin"},
        {"other_abi", "it was built for version 4 of the interface for filters, and imgpipe " IMGPIPE_VERSION " has version 3"},
        {"other_size", "set struct_size to sizeof(imgpipe_plugin_info)"},
        {"no_version", "lacks a name or a version"},
        {"no_filters", "has no filters"},
        {"no_setup", "broken: it has no function setup()"},
        {"taken_name", "blur: a filter of that name is there already"},
        {"undefined_symbol", "undefined symbol: nobody_has_this); link it with the library that has this symbol"},
        {"nothing_there", "there is no plug-in: No such file or directory"},
    };
    char text[4096];
    int count = 0, built = 0;
    while (imgpipe_filter_at(built)) built++;
    CHECK(imgpipe_registry_new(&registry, &error) == IMGPIPE_OK);
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
        REFUSED(imgpipe_registry_load(registry, path(broken, says[i][0]), &error), says[i][1]);
        CHECK(!imgpipe_registry_at(registry, built)); /* nor is the right one beside it there */
    }
    test_no_object(registry);
    REFUSED(imgpipe_registry_load(registry, broken, &error), "it is a folder, and no plug-in");
    REFUSED(imgpipe_registry_load(registry, "/dev/null", &error), "it is no file");
    REFUSED(imgpipe_registry_load(registry, ".", &error), ".: it is a folder, and no plug-in");
    REFUSED(imgpipe_registry_load(registry, "dilate.so", &error), "write ./dilate.so for one in the current folder");
    REFUSED(imgpipe_registry_load(registry, "", &error), "the path of a plug-in is empty");
    REFUSED(imgpipe_registry_load(registry, NULL, &error), "are needed");
    snprintf(text, sizeof text, "%s/nowhere", broken);
    REFUSED(imgpipe_registry_load_folder(registry, text, NULL, NULL, &error), "cannot be read as a folder of plug-ins");
    REFUSED(imgpipe_registry_load_folder(registry, "", NULL, NULL, &error), "are needed");
    REFUSED(imgpipe_registry_load_folder(registry, broken, NULL, NULL, &error), broken);
    CHECK(imgpipe_registry_load_folder(registry, broken, count_refusal, &count, &error) == IMGPIPE_OK);
    if (!CHECK(count == (int)(sizeof says / sizeof *says) - 1)) printf("      %d were refused\n", count);
    CHECK(imgpipe_registry_load_folder(registry, good, NULL, NULL, &error) == IMGPIPE_OK);
    CHECK(imgpipe_registry_find(registry, "dilate") && imgpipe_registry_find(registry, "exposure") &&
          imgpipe_registry_find(registry, "crisp"));
    /* In the order of their names. */
    CHECK(strcmp(imgpipe_registry_at(registry, built)->name, "crisp") == 0);
    imgpipe_registry_free(&registry);
    imgpipe_registry_free(&registry);
    imgpipe_registry_free(NULL);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    good = arguments[1], broken = arguments[2];
    test_descriptors();
    test_own();
    test_wrong_setup();
    test_failing_setup();
    test_border_value();
    test_loading();
    test_refusals();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
