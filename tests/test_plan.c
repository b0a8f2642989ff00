/* Prepared plans on the CPU: the bytes of imgpipe_run_image() at every size, no allocation in a run or a change of parameters,
 * histograms as numbers, and what is refused. With --threads: what threads share alone, for the
 * thread sanitizer. With --bench: what a run costs beyond its kernels. */
#include "clock.h"
#include "plan_check.h"

/* Runs the plan on `in` and compares with a chain of this text. */
static void compare(imgpipe_context *context, imgpipe_plan *plan, const char *text, const imgpipe_image *in) {
    imgpipe_chain *chain = NULL;
    imgpipe_error error = {0};
    imgpipe_info info;
    char what[200];
    snprintf(what, sizeof what, "%s, %lld x %lld, type %d, %d channels%s", text, (long long)in->info.width,
             (long long)in->info.height, in->info.format.type, in->info.format.channels,
             in->info.format.alpha ? " with alpha" : "");
    imgpipe_status status = imgpipe_plan_output(plan, in->info.width, in->info.height, &info, &error);
    expect(!status, what, error.message);
    if (status) return;
    uint32_t seed = noise_state;
    imgpipe_image out = image_new(info, GUARD), expected;
    noise_state = seed;
    expected = image_new(info, GUARD);
    status = imgpipe_chain_parse(text, &chain, &error);
    if (!status) status = imgpipe_run_image(context, chain, in, &expected, NULL, NULL, &error);
    expect(!status, what, error.message);
    for (int i = 0; i < 2; i++) {
        long before = atomic_load(&allocations);
        status = imgpipe_plan_run(plan, in, &out, &error);
        long after = atomic_load(&allocations);
        expect(!status, what, error.message);
        expect(after == before || strstr(text, "hist") == text, what, "a run allocates");
        expect(same_rows(&out, &expected), what, "other bytes than imgpipe_run_image()");
        expect(same_gaps(&out, &expected), what, "bytes between rows were written");
        memset(out.pixels, 0x5a, 1);
    }
    imgpipe_chain_free(&chain);
    free(out.pixels);
    free(expected.pixels);
}

static const imgpipe_format formats[] = {{IMGPIPE_U8, 1, false}, {IMGPIPE_U8, 3, false},  {IMGPIPE_U8, 4, true},
                                         {IMGPIPE_U16, 2, true}, {IMGPIPE_U16, 3, false}, {IMGPIPE_F32, 1, false},
                                         {IMGPIPE_F32, 4, true}};
enum { FORMATS = sizeof formats / sizeof *formats };

static void chains_and_sizes(imgpipe_context *context) {
    static const char *const chains[] = {"",
                                         "gray",
                                         "invert,levels=10%:90%",
                                         "blur=2",
                                         "gray,blur=1.5,median=3",
                                         "box=5:border=wrap",
                                         "median=9:border=mirror",
                                         "conv=sharpen",
                                         "hist=pass,blur=1",
                                         "gray,hist=pass:min=0:max=50%,threshold=50%,box=3",
                                         "hist=width=70:height=64,blur=1",
                                         "blur=3:border=constant:value=20%,conv='1 2 1':border=wrap,median=5",
                                         "blur=0,box=1"};
    static const int64_t sizes[][2] = {{61, 47}, {1, 1}, {61, 1}, {1, 47}, {33, 18}, {60, 46}, {61, 47}};
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
        for (int f = 0; f < FORMATS; f++) {
            imgpipe_error error;
            imgpipe_info largest = {61, 47, formats[f]};
            imgpipe_plan *plan = plan_of(context, chains[c], &largest, NULL, &error);
            expect(plan != NULL, chains[c], error.message);
            for (size_t s = 0; plan && s < sizeof sizes / sizeof *sizes; s++) {
                imgpipe_image in = image_new((imgpipe_info){sizes[s][0], sizes[s][1], formats[f]}, s % 2 ? 0 : 8);
                compare(context, plan, chains[c], &in);
                free(in.pixels);
            }
            imgpipe_plan_free(&plan);
        }
}

/* Another depth than the input's, and what f32 loses on the way to integers is refused as it is in a run. */
static void depths(imgpipe_context *context) {
    static const int choices[] = {8, 16, 32};
    for (int f = 0; f < FORMATS; f++)
        for (int d = 0; d < 3; d++) {
            imgpipe_error error;
            imgpipe_info info = {61, 47, formats[f]}, made;
            imgpipe_prepare_options options = imgpipe_prepare_options_default();
            imgpipe_run_options run = imgpipe_run_options_default();
            imgpipe_chain *chain = NULL;
            options.depth = run.depth = choices[d];
            imgpipe_plan *plan = plan_of(context, "blur=1,levels=10%:90%", &info, &options, &error);
            if (!plan || imgpipe_plan_output(plan, 61, 47, &made, &error) ||
                imgpipe_chain_parse("blur=1,levels=10%:90%", &chain, &error))
                abort();
            imgpipe_image in = image_new(info, 0), out = image_new(made, 0), expected = image_new(made, 0);
            expect(!imgpipe_run_image(context, chain, &in, &expected, &run, NULL, &error), "a run with a depth", error.message);
            expect(!imgpipe_plan_run(plan, &in, &out, &error) && same_rows(&out, &expected), "a plan with a depth", "other bytes");
            for (int64_t i = 0; info.format.type == IMGPIPE_F32 && i < 61 * 47 * info.format.channels; i++)
                ((float *)in.pixels)[i] = 7;
            bool lost = info.format.type == IMGPIPE_F32 && choices[d] != 32;
            expect(imgpipe_plan_run(plan, &in, &out, &error) == (lost ? IMGPIPE_ERROR_INPUT : IMGPIPE_OK),
                   "all samples are clamped", error.message);
            imgpipe_chain_free(&chain);
            imgpipe_plan_free(&plan);
            free(in.pixels), free(out.pixels), free(expected.pixels);
        }
}

/* Other orders of samples, white levels and premultiplied colours in the caller's memory, from run to run, and in place. */
static void layouts(imgpipe_context *context) {
    static const char *const texts[] = {"invert", "blur=1,hist=pass", "gray,median=3", "median=5:border=wrap"};
    static const imgpipe_layout choices[] = {
        {0}, {IMGPIPE_ORDER_BGRA, false, 0}, {IMGPIPE_ORDER_ARGB, true, 0}, {IMGPIPE_ORDER_NATIVE, true, 200}, {0}};
    for (int t = 0; t < 4; t++) {
        imgpipe_error error;
        imgpipe_info info = {61, 47, {IMGPIPE_U8, 4, true}}, made;
        imgpipe_plan *plan = plan_of(context, texts[t], &info, NULL, &error);
        imgpipe_chain *chain = NULL;
        if (!plan || imgpipe_plan_output(plan, 61, 47, &made, &error) || imgpipe_chain_parse(texts[t], &chain, &error)) abort();
        for (int i = 0; i < 5; i++) {
            imgpipe_image in = image_new(info, 0), out = image_new(made, 0), expected = image_new(made, 0);
            in.layout = choices[i];
            for (int64_t k = 0; choices[i].white && k < 61 * 47 * 4; k++) ((unsigned char *)in.pixels)[k] %= 201;
            out.layout = expected.layout = t == 2 ? (imgpipe_layout){0} : choices[4 - i];
            imgpipe_status status = imgpipe_run_image(context, chain, &in, &expected, NULL, NULL, &error);
            expect(!status, texts[t], error.message);
            status = imgpipe_plan_run(plan, &in, &out, &error);
            expect(!status && same_rows(&out, &expected), texts[t], status ? error.message : "a layout gives other bytes");
            if (t == 0) {
                out.layout = in.layout, expected.layout = in.layout;
                expect(!imgpipe_plan_run(plan, &in, &expected, &error) && !imgpipe_plan_run(plan, &in, &in, &error) &&
                           same_rows(&in, &expected),
                       texts[t], "in place with a layout");
            }
            if (choices[i].white) {
                ((unsigned char *)in.pixels)[7] = 255;
                expect(imgpipe_plan_run(plan, &in, &out, &error) == IMGPIPE_ERROR_INPUT, texts[t], "a sample above white");
            }
            free(in.pixels), free(out.pixels), free(expected.pixels);
        }
        imgpipe_chain_free(&chain);
        imgpipe_plan_free(&plan);
    }
}

/* Work enough for strips on several threads. */
static void threads(void) {
    imgpipe_context *context = context_of(3);
    static const char *const chains[] = {"gray,blur=3,median=7", "blur=9:border=wrap,hist=pass,invert"};
    for (int c = 0; c < 2; c++) {
        imgpipe_error error;
        imgpipe_info largest = {900, 700, {IMGPIPE_U8, 3, false}};
        imgpipe_plan *plan = plan_of(context, chains[c], &largest, NULL, &error);
        expect(plan != NULL, chains[c], error.message);
        for (int i = 0; plan && i < 4; i++) {
            imgpipe_image in = image_new((imgpipe_info){900 - 300 * (i % 2), 700 - 99 * (i % 3), largest.format}, 0);
            compare(context, plan, chains[c], &in);
            free(in.pixels);
        }
        imgpipe_plan_free(&plan);
    }
    imgpipe_context_free(&context);
}

/* ---- parameters */

static imgpipe_status set_text(imgpipe_plan *plan, int stage, const char *name, const char *value, imgpipe_error *error) {
    long before = atomic_load(&allocations);
    imgpipe_status status = imgpipe_plan_set_text(plan, stage, name, value, error);
    expect(atomic_load(&allocations) == before, name, "a change of parameters allocates");
    return status;
}

static void parameters(imgpipe_context *context) {
    imgpipe_error error;
    for (int f = 0; f < FORMATS; f++) {
        imgpipe_info largest = {61, 47, formats[f]};
        imgpipe_plan *plan = plan_of(context, "levels,blur=0.5,median=3", &largest, NULL, &error);
        expect(plan != NULL, "prepare", error.message);
        if (!plan) continue;
        imgpipe_image in = image_new((imgpipe_info){50, 40, formats[f]}, 0);
        compare(context, plan, "levels,blur=0.5,median=3", &in);
        expect(!imgpipe_plan_set_number(plan, 1, "sigma", 2.25, &error), "sigma", error.message);
        compare(context, plan, "levels,blur=2.25,median=3", &in);
        expect(!set_text(plan, 0, "in_low", "20%", &error), "in_low", error.message);
        expect(!imgpipe_plan_set_int(plan, 2, "size", 7, &error), "size", error.message);
        compare(context, plan, "levels=20%,blur=2.25,median=7", &in);
        expect(!set_text(plan, 1, "border", "mirror", &error), "border", error.message);
        compare(context, plan, "levels=20%,blur=2.25:border=mirror,median=7", &in);
        expect(!imgpipe_plan_set_int(plan, 1, "sigma", 0, &error) && !imgpipe_plan_set_int(plan, 2, "size", 1, &error),
               "no stage is left", error.message);
        compare(context, plan, "levels=20%", &in);
        expect(set_text(plan, 2, "size", "4", &error) == IMGPIPE_ERROR_ARGUMENT && strstr(error.message, "3 or 5") &&
                   error.place == -1,
               "an even size", error.message);
        expect(set_text(plan, 2, "radius", "4", &error) == IMGPIPE_ERROR_ARGUMENT, "an unknown parameter", error.message);
        expect(set_text(plan, 3, "size", "5", &error) == IMGPIPE_ERROR_ARGUMENT, "an unknown stage", error.message);
        compare(context, plan, "levels=20%", &in);
        free(in.pixels);
        imgpipe_plan_free(&plan);
    }
}

/* A parameter that needs more than was prepared is refused, and the plan goes on with the one before. */
static void too_large(imgpipe_context *context) {
    imgpipe_error error;
    imgpipe_prepare_options options = imgpipe_prepare_options_default();
    imgpipe_info largest = {400, 300, {IMGPIPE_F32, 3, false}};
    imgpipe_image in = image_new(largest, 0);
    options.reserve = 0;
    imgpipe_plan *plan = plan_of(context, "blur=1", &largest, &options, &error);
    expect(plan != NULL, "prepare without reserve", error.message);
    if (plan) {
        expect(imgpipe_plan_set_number(plan, 0, "sigma", 90, &error) == IMGPIPE_ERROR_MEMORY &&
                   strstr(error.message, "prepare it again"),
               "sigma 90", error.message);
        compare(context, plan, "blur=1", &in);
    }
    imgpipe_plan_free(&plan);
    options.reserve = (size_t)16 << 20;
    plan = plan_of(context, "blur=1", &largest, &options, &error);
    expect(plan && !imgpipe_plan_set_number(plan, 0, "sigma", 90, &error), "with a reserve it fits", error.message);
    if (plan) compare(context, plan, "blur=90", &in);
    imgpipe_plan_free(&plan);
    free(in.pixels);
}

/* ---- histograms */

/* imgpipe_run_image() hands out the same numbers. */
static void compare_counts(void *user, int stage, const imgpipe_histogram *histogram, const uint64_t *counts) {
    expect(stage == 0 && memcmp(counts, user, histogram->size) == 0, "a run on an image tells the same counts", "");
    ((uint64_t *)user)[0] = UINT64_MAX; /* the call has been seen */
}

static void histograms(imgpipe_context *context) {
    imgpipe_error error;
    for (int f = 0; f < 5; f++) {
        imgpipe_info largest = {61, 47, formats[f]};
        imgpipe_histogram histogram = {.struct_size = sizeof histogram};
        imgpipe_prepare_options options = imgpipe_prepare_options_default();
        options.no_output = true;
        imgpipe_plan *plan = plan_of(context, "hist=pass", &largest, &options, &error);
        expect(plan && !imgpipe_plan_histogram(plan, 0, &histogram, &error), "a histogram is described", error.message);
        int64_t bins = formats[f].type == IMGPIPE_U8 ? 256 : 65536;
        expect(histogram.bins == bins && histogram.channels == formats[f].channels &&
                   histogram.size == (size_t)(bins + 3) * 8 * (size_t)histogram.channels,
               "its size is right", "");
        uint64_t *counts = calloc(1, histogram.size), *expected = calloc(1, histogram.size);
        if (!plan || !counts || !expected) abort();
        expect(!imgpipe_plan_count(plan, 0, counts, false, &error), "counts", error.message);
        for (int i = 0; i < 4; i++) {
            imgpipe_image in = image_new((imgpipe_info){61 - 7 * i, 47 - i, formats[f]}, 0);
            if (i == 2) expect(!imgpipe_plan_count(plan, 0, counts, true, &error), "counts are added up", error.message);
            if (i < 2) memset(expected, 0, histogram.size);
            count_plainly(&in, bins, expected);
            expect(!imgpipe_plan_run(plan, &in, NULL, &error), "a run without output", error.message);
            expect(memcmp(counts, expected, histogram.size) == 0, "the counts are right", i < 2 ? "cleared" : "added");
            free(in.pixels);
        }
        imgpipe_plan_free(&plan);
        imgpipe_image in = image_new(largest, 0);
        imgpipe_chain *chain = NULL;
        imgpipe_run_options run = imgpipe_run_options_default();
        memset(expected, 0, histogram.size);
        count_plainly(&in, bins, expected);
        run.histogram = compare_counts;
        run.histogram_user = expected;
        if (imgpipe_chain_parse("hist=pass", &chain, &error)) abort();
        expect(!imgpipe_run_image(context, chain, &in, NULL, &run, NULL, &error) && expected[0] == UINT64_MAX, "counts of a run",
               error.message);
        imgpipe_chain_free(&chain);
        free(in.pixels);
        free(counts);
        free(expected);
    }
    imgpipe_info largest = {61, 47, {IMGPIPE_F32, 1, false}};
    imgpipe_image in = image_new(largest, 0), out = image_new(largest, 0);
    imgpipe_histogram histogram = {.struct_size = sizeof histogram};
    uint64_t counts[259], sum = 0;
    imgpipe_plan *plan = plan_of(context, "gray,hist=pass", &largest, NULL, &error);
    if (!plan) abort();
    expect(imgpipe_plan_count(plan, 0, counts, false, &error) == IMGPIPE_ERROR_ARGUMENT, "gray counts nothing", error.message);
    expect(imgpipe_plan_count(plan, 1, counts, true, &error) == IMGPIPE_ERROR_ARGUMENT, "ranges of their own do not add up",
           error.message);
    expect(!imgpipe_plan_count(plan, 1, counts, false, &error) && !imgpipe_plan_run(plan, &in, &out, &error), "f32 is counted",
           error.message);
    expect(!imgpipe_plan_histogram(plan, 1, &histogram, &error) && histogram.min < -0.4 && histogram.max > 1.4 &&
               histogram.bins == 256,
           "with its range", error.message);
    for (int i = 0; i < 259; i++) sum += counts[i];
    expect(sum == 61 * 47 && counts[0] && counts[255] && !counts[256] && !counts[257] && !counts[258], "all samples are in it", "");
    imgpipe_plan_free(&plan);
    free(in.pixels);
    free(out.pixels);
}

/* ---- what is refused */

static void refusals(imgpipe_context *context) {
    imgpipe_error error;
    imgpipe_info largest = {61, 47, {IMGPIPE_U8, 3, false}};
    imgpipe_image in = image_new(largest, 0), out = image_new(largest, 0), other;
    size_t size;
    imgpipe_chain *chain = NULL;
    expect(!plan_of(context, "hist=pass:data=counts.csv", &largest, NULL, &error) && strstr(error.message, "imgpipe_plan_count"),
           "side data", error.message);
    expect(!plan_of(context, "levels=5:5", &largest, NULL, &error) && error.place == 9, "a mistake in the chain is marked",
           error.message);
    imgpipe_info huge = {INT32_MAX, INT32_MAX, {IMGPIPE_F32, 4, false}};
    expect(!plan_of(context, "box=3", &huge, NULL, &error) && strstr(error.message, "more than memory"), "a size beyond all memory",
           error.message);
    imgpipe_plan *plan = plan_of(context, "box=3", &largest, NULL, &error);
    if (!plan) abort();
    other = in, other.info.width = 62;
    expect(imgpipe_plan_run(plan, &other, &out, &error) == IMGPIPE_ERROR_ARGUMENT, "an image that is too large", error.message);
    other = in, other.info.format.alpha = true;
    expect(imgpipe_plan_run(plan, &other, &out, &error) == IMGPIPE_ERROR_ARGUMENT, "another format", error.message);
    other = out, other.info.width = 60;
    expect(imgpipe_plan_run(plan, &in, &other, &error) == IMGPIPE_ERROR_ARGUMENT, "an output of another size", error.message);
    other = in, other.stride = 100;
    expect(imgpipe_plan_run(plan, &other, &out, &error) == IMGPIPE_ERROR_ARGUMENT, "a stride below the row", error.message);
    expect(imgpipe_plan_run(plan, &in, &in, &error) == IMGPIPE_ERROR_ARGUMENT, "a window in place", error.message);
    expect(imgpipe_plan_run(plan, &in, NULL, &error) == IMGPIPE_ERROR_ARGUMENT, "no output", error.message);
    imgpipe_device_image device = in;
    expect(imgpipe_plan_enqueue(plan, &device, &device, NULL, &error) == IMGPIPE_ERROR_DEVICE, "enqueueing a plan for the CPU",
           error.message);
    if (imgpipe_chain_parse("gray", &chain, &error)) abort();
    expect(imgpipe_prepare_scratch(context, chain, &largest, NULL, &size, &error) == IMGPIPE_ERROR_DEVICE,
           "scratch of a plan for the CPU", error.message);
    imgpipe_chain_free(&chain);
    imgpipe_plan_free(&plan);
    /* Point stages work in place. */
    plan = plan_of(context, "invert,levels=5:200", &largest, NULL, &error);
    expect(plan && !imgpipe_plan_run(plan, &in, &out, &error) && !imgpipe_plan_run(plan, &in, &in, &error) && same_rows(&in, &out),
           "in place", error.message);
    imgpipe_plan_free(&plan);
    imgpipe_plan_free(&plan);
    free(in.pixels);
    free(out.pixels);
}

/* ---- what a run costs */

static void bench(imgpipe_context *context) {
    static const char *const chains[] = {"invert", "gray", "blur=1", "median=3", "gray,blur=1,median=3", "hist=pass"};
    static const int64_t widths[] = {1, 64, 640};
    printf("microseconds of a run, one thread, RGB8\n%-24s %10s %10s %10s\n", "chain", "1 x 1", "64 x 64", "640 x 480");
    for (int c = 0; c < 6; c++) {
        printf("%-24s", chains[c]);
        for (int w = 0; w < 3; w++) {
            imgpipe_error error;
            imgpipe_info info = {widths[w], widths[w] == 640 ? 480 : widths[w], {IMGPIPE_U8, 3, false}};
            imgpipe_plan *plan = plan_of(context, chains[c], &info, NULL, &error);
            imgpipe_image in = image_new(info, 0), out;
            if (!plan || imgpipe_plan_output(plan, info.width, info.height, &info, &error)) printf("%s\n", error.message), exit(1);
            out = image_new(info, 0);
            double best = 1;
            for (int round = 0; round < 50; round++) {
                int runs = w == 2 ? 3 : 100;
                double start = clock_now();
                for (int i = 0; i < runs; i++)
                    if (imgpipe_plan_run(plan, &in, &out, &error)) exit(1);
                double took = (clock_now() - start) / runs;
                best = took < best ? took : best;
            }
            printf(" %10.2f", best * 1e6);
            imgpipe_plan_free(&plan);
            free(in.pixels);
            free(out.pixels);
        }
        printf("\n");
    }
}

int main(int argc, char **argv) {
    imgpipe_context *context = context_of(1);
    const char *part = argc > 1 ? argv[1] : "";
    if (strcmp(part, "--bench") == 0) {
        bench(context);
        imgpipe_context_free(&context);
        return 0;
    }
    threads();
    if (strcmp(part, "--threads") != 0) {
        chains_and_sizes(context);
        depths(context);
        layouts(context);
        parameters(context);
        too_large(context);
        histograms(context);
        refusals(context);
    }
    printf("%d checks, %d failed\n", checks, failures);
    imgpipe_context_free(&context);
    return failures != 0;
}
