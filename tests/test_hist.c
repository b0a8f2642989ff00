/* hist without an engine: counts against a plain count, any split of the rows, the texts' form, the chart's picture. */
#include "chart.h"
#include "filter.h"
#include "hist_data.h"
#include "param.h"
#include "stage.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(condition, ...)                                                                                                      \
    do {                                                                                                                           \
        if (!(condition)) {                                                                                                        \
            fprintf(stderr, "line %d: %s: ", __LINE__, #condition);                                                                \
            fprintf(stderr, __VA_ARGS__);                                                                                          \
            fputc('\n', stderr);                                                                                                   \
            failures++;                                                                                                            \
        }                                                                                                                          \
    } while (0)

static uint32_t random_state = 12345;
static uint32_t random_word(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

struct buffer {
    char *text;
    size_t length;
};

static bool buffer_write(void *to, const char *text, size_t length) {
    struct buffer *b = to;
    b->text = realloc(b->text, b->length + length + 1);
    memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length] = 0;
    return true;
}

union options {
    char bytes[512];
    double align;
};

/* "bins=5 min=2" */
static bool stage_make(imgpipe_stage *stage, union options *options, const char *given, imgpipe_info in, int isa,
                       imgpipe_error *error) {
    const imgpipe_filter *filter = imgpipe_filter_find("hist");
    static char text[512];
    snprintf(text, sizeof text, "%s", given);
    if (param_defaults(filter, options, error) != IMGPIPE_OK) return false;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        *equals = 0;
        for (int i = 0; i < filter->param_count; i++)
            if (!strcmp(filter->params[i].name, word) &&
                param_parse(filter, &filter->params[i], equals + 1, options, error) != IMGPIPE_OK)
                return false;
    }
    return stage_init(stage, filter, options, isa, in, NULL, NULL, 0, NULL, error) == IMGPIPE_OK;
}

/* Runs all walks with the rows dealt out in turns of `step` to `parts` states. */
static void stage_run(imgpipe_stage *stage, const void *pixels, int step, int parts) {
    size_t row_bytes = (size_t)stage->in.width * imgpipe_pixel_size(stage->in.format);
    void *scratch = malloc(stage->scratch_size + 1);
    for (stage->walk = 0; stage->walk < stage->walks; stage->walk++) {
        unsigned char *states = calloc((size_t)parts, stage->gather_size);
        for (int64_t y = 0, turn = 0; y < stage->in.height; y += step, turn++) {
            const void *in[64];
            imgpipe_rows rows = {.in = in, .y = y, .in_y = y, .in_width = stage->in.width, .scratch = scratch};
            rows.count = rows.in_count = (int)(stage->in.height - y < step ? stage->in.height - y : step);
            for (int i = 0; i < rows.count; i++) in[i] = (const unsigned char *)pixels + (size_t)(y + i) * row_bytes;
            if (scratch) memset(scratch, 0xa5, stage->scratch_size);
            stage->gather(stage, &rows, states + (size_t)(turn % parts) * stage->gather_size);
        }
        for (int p = 1; p < parts; p++) stage->filter->merge(stage, states, states + (size_t)p * stage->gather_size);
        CHECK(stage->filter->finish(stage, states, NULL) == IMGPIPE_OK, "finish");
        free(states);
    }
    stage->walk = stage->walks - 1;
    free(scratch);
}

static double sample_at(const void *pixels, imgpipe_type type, int64_t i) {
    return type == IMGPIPE_U8    ? ((const uint8_t *)pixels)[i]
           : type == IMGPIPE_U16 ? ((const uint16_t *)pixels)[i]
                                 : ((const float *)pixels)[i];
}

static void pixels_fill(void *pixels, imgpipe_type type, int64_t count, int content) {
    for (int64_t i = 0; i < count; i++) {
        uint32_t word = content == 0 ? random_word() : content == 1 ? 70000000u : (uint32_t)i * 3000u;
        if (type == IMGPIPE_U8) ((uint8_t *)pixels)[i] = (uint8_t)(word >> 9);
        if (type == IMGPIPE_U16) ((uint16_t *)pixels)[i] = (uint16_t)(word >> 3);
        if (type == IMGPIPE_F32) ((float *)pixels)[i] = ((float)word / 8388608.0f - 0.5f) * 3.0f;
        if (type == IMGPIPE_F32 && content == 0 && word % 17 == 0)
            ((float *)pixels)[i] = word % 3 == 0 ? NAN : word % 3 == 1 ? INFINITY : -INFINITY;
    }
}

/* Counts each sample by itself, and looks whether it lies between the edges of its bin. */
static void counts_compare(const struct hist_data *data, const void *pixels, const char *what) {
    imgpipe_type type = data->image.format.type;
    int channels = data->job.channels;
    int64_t samples = data->image.width * data->image.height * channels;
    int64_t *wanted = calloc((size_t)(channels * (data->bins + 3)), sizeof *wanted);
    for (int64_t i = 0; i < samples; i++) {
        double v = sample_at(pixels, type, i), part = 0;
        int64_t bin = data->bins + 2;
        if (v < data->min)
            bin = data->bins;
        else if (v > data->max)
            bin = data->bins + 1;
        else if (v == v) {
            if (type != IMGPIPE_F32)
                part = floor((v - data->min) * (double)data->bins / (data->max + 1 - data->min));
            else if (data->max > data->min)
                part = floor((v - data->min) * (double)data->bins / (data->max - data->min));
            bin = part < (double)data->bins ? (int64_t)part : data->bins - 1;
            bool closed = type == IMGPIPE_F32 && bin == data->bins - 1;
            double from = hist_edge(data, bin), to = hist_edge(data, bin + 1);
            CHECK(v >= from && (v < to || closed || data->min == data->max), "%s: %.9g not in bin %lld", what, v, (long long)bin);
        }
        wanted[i % channels * (data->bins + 3) + bin]++;
    }
    for (int c = 0; c < channels; c++) {
        const int64_t *w = wanted + c * (data->bins + 3);
        uint64_t sum = data->below[c] + data->above[c] + data->nan[c];
        for (int64_t b = 0; b < data->bins; b++) {
            sum += data->counts[c * data->bins + b];
            CHECK((int64_t)data->counts[c * data->bins + b] == w[b], "%s: channel %d bin %lld", what, c, (long long)b);
        }
        CHECK((int64_t)data->below[c] == w[data->bins] && (int64_t)data->above[c] == w[data->bins + 1] &&
                  (int64_t)data->nan[c] == w[data->bins + 2],
              "%s: channel %d outside", what, c);
        CHECK(sum == data->pixels, "%s: channel %d adds up to %llu", what, c, (unsigned long long)sum);
    }
    free(wanted);
}

static void test_counts(void) {
    static const char *const options[] = {"width=64",  "bins=10",          "min=20 max=200", "bins=7 min=10% max=50.4%",
                                          "bins=1000", "min=-0.5 max=0.5", "min=0.25",       "max=0.25 bins=3000"};
    static const int64_t widths[] = {1, 7, 61, 1003};
    for (int type = 0; type < 3; type++)
        for (int channels = 1; channels <= 4; channels++)
            for (int o = 0; o < 8; o++)
                for (int content = 0; content < 3; content++) {
                    imgpipe_info in = {widths[(o + content) % 4], 19, {(imgpipe_type)type, channels, channels == 4}};
                    if (type != IMGPIPE_F32 && (o == 6 || o == 7)) continue;
                    char what[96];
                    snprintf(what, sizeof what, "type %d, %d channels, %s, content %d", type, channels, options[o], content);
                    void *pixels = malloc((size_t)(in.width * in.height * channels) * imgpipe_sample_size(in.format.type));
                    pixels_fill(pixels, in.format.type, in.width * in.height * channels, content);
                    for (int isa = 0; isa <= kernel_isa_best(); isa++) {
                        union options values;
                        imgpipe_stage stage;
                        imgpipe_error error = {0};
                        if (!stage_make(&stage, &values, options[o], in, isa, &error)) {
                            CHECK(false, "%s: %s", what, error.message);
                            continue;
                        }
                        stage_run(&stage, pixels, isa * 5 + 3, isa + 1);
                        counts_compare(stage.data, pixels, what);
                        stage_free(&stage);
                    }
                    free(pixels);
                }
}

/* Calls of many bytes, which are counted in another way where there is AVX-512: rows that end within a vector, that are many to
 * a block and many blocks long, and content of one value, of two, of the upper quarter, and of all. */
static void test_many_bytes(void) {
    static const int64_t sizes[][2] = {{384, 64}, {385, 40}, {1003, 31}, {3071, 5}, {6144, 2}, {6145, 3}, {20001, 2}, {100, 64}};
    for (int s = 0; s < 8; s++)
        for (int channels = 1; channels <= 4; channels++)
            for (int content = 0; content < 5; content++) {
                imgpipe_info in = {sizes[s][0], sizes[s][1], {IMGPIPE_U8, channels, channels == 2}};
                int64_t samples = in.width * in.height * channels;
                char what[96];
                snprintf(what, sizeof what, "%d x %d, %d channels, content %d", (int)in.width, (int)in.height, channels, content);
                uint8_t *pixels = malloc((size_t)samples);
                pixels_fill(pixels, IMGPIPE_U8, samples, content % 3);
                for (int64_t i = 0; i < samples && content >= 3; i++)
                    pixels[i] = content == 3 ? 192 | pixels[i] : (pixels[i] & 1) * 255;
                for (int isa = 0; isa <= kernel_isa_best(); isa++) {
                    union options values;
                    imgpipe_stage stage;
                    imgpipe_error error = {0};
                    if (!stage_make(&stage, &values, "width=64", in, isa, &error)) {
                        CHECK(false, "%s: %s", what, error.message);
                        continue;
                    }
                    stage_run(&stage, pixels, 64, 1);
                    counts_compare(stage.data, pixels, what);
                    stage_free(&stage);
                }
                free(pixels);
            }
}

static void test_range(void) {
    static const float some[] = {3.0f, NAN, -INFINITY, -0.75f, INFINITY, 0.0f}, none[] = {NAN, INFINITY, NAN},
                       equal[] = {5, 5, NAN};
    static const float zeros[] = {-0.0f, 0.0f}, huge[] = {-3.4028235e38f, 3.4028235e38f, 1e-45f};
    static const struct {
        const float *values;
        int count;
        double min, max;
        int64_t first, last;
    } cases[] = {{some, 6, -0.75, 3, 1, 1},
                 {none, 3, 0, 1, 0, 0},
                 {equal, 3, 5, 5, 2, 0},
                 {zeros, 2, 0, 0, 2, 0},
                 {huge, 3, -3.4028235e38f, 3.4028235e38f, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union options values;
        imgpipe_stage stage;
        imgpipe_info in = {1, cases[i].count, {IMGPIPE_F32, 1, false}};
        if (!stage_make(&stage, &values, "width=64", in, 0, NULL)) {
            CHECK(false, "case %zu", i);
            continue;
        }
        CHECK(stage.walks == 2, "%d", stage.walks);
        stage_run(&stage, cases[i].values, 2, 2);
        const struct hist_data *data = stage.data;
        CHECK(data->min == cases[i].min && data->max == cases[i].max, "case %zu: %g to %g", i, data->min, data->max);
        CHECK(!signbit(data->min) || data->min < 0, "case %zu: minus zero", i);
        CHECK((int64_t)data->counts[0] == cases[i].first && (int64_t)data->counts[255] == cases[i].last, "case %zu: %llu and %llu",
              i, (unsigned long long)data->counts[0], (unsigned long long)data->counts[255]);
        stage_free(&stage);
    }
}

static void text_compare(const char *options, imgpipe_info in, const void *pixels, const char *wanted) {
    union options values;
    imgpipe_stage stage;
    imgpipe_error error = {0};
    struct buffer got = {0};
    if (!stage_make(&stage, &values, options, in, 0, &error)) {
        CHECK(false, "%s: %s", options, error.message);
        return;
    }
    stage_run(&stage, pixels, 4, 2);
    stage.filter->side_data(&stage, buffer_write, &got);
    CHECK(got.text && !strcmp(got.text, wanted), "%s:\n%s\nwanted\n%s", options, got.text ? got.text : "", wanted);
    free(got.text);
    stage_free(&stage);
}

static void test_texts(void) {
    static const uint8_t bytes[] = {0, 1, 2, 3, 250, 255, 255, 9, 8};
    static const float floats[] = {0, 0.1f, 0.9f, 1, -2, NAN};
    imgpipe_info gray = {3, 3, {IMGPIPE_U8, 1, false}}, rgb = {3, 1, {IMGPIPE_U8, 3, false}},
                 number = {6, 1, {IMGPIPE_F32, 1, false}};
    imgpipe_info extra = {2, 1, {IMGPIPE_U8, 4, false}}, alpha = {2, 1, {IMGPIPE_U8, 4, true}},
                 pair = {2, 2, {IMGPIPE_U8, 2, true}};
    text_compare("bins=3 data=x.csv", gray, bytes, "bin,from,to,gray\n0,0,86,6\n1,86,171,0\n2,171,256,3\n");
    text_compare("min=1 max=9 bins=2 data=-", gray, bytes, "bin,from,to,gray\n0,1,6,3\n1,6,10,2\nbelow,,,1\nabove,,,3\n");
    text_compare("min=3 bins=2 data=-", rgb, bytes, "bin,from,to,red,green,blue\n0,3,130,1,1,1\n1,130,256,1,1,1\nbelow,,,1,1,1\n");
    text_compare("bins=1 data=x.CSV", extra, bytes, "bin,from,to,red,green,blue,extra\n0,0,256,2,2,2,2\n");
    text_compare("bins=1 data=x.csv", alpha, bytes, "bin,from,to,red,green,blue,alpha\n0,0,256,2,2,2,2\n");
    text_compare("bins=1 data=x.csv", pair, bytes, "bin,from,to,gray,alpha\n0,0,256,4,4\n");
    text_compare("bins=4 min=0 max=0.9 data=x.csv", number, floats,
                 "bin,from,to,gray\n0,0,0.225,2\n1,0.225,0.45,0\n2,0.45,0.675,0\n3,0.675,0.9,1\nbelow,,,1\nabove,,,1\nnan,,,1\n");
    text_compare("bins=2 data=x.json", number, floats,
                 "{\"version\":\"" IMGPIPE_VERSION
                 "\",\"type\":\"f32\",\"width\":6,\"height\":1,\"pixels\":6,\"bins\":2,\"min\":-2,"
                 "\"max\":1,\"channels\":[\n{\"name\":\"gray\",\"counts\":[1,4],\"below\":0,\"above\":0,\"nan\":1}\n]}\n");
}

/* Locales with a decimal comma may be missing on a machine; then this says the same as test_texts(). */
static void test_locale(void) {
    static const float floats[] = {0.5f, 2.25f};
    imgpipe_info in = {2, 1, {IMGPIPE_F32, 1, false}};
    setlocale(LC_ALL, "de_DE.UTF-8");
    text_compare("bins=2 data=x.csv", in, floats,
                 "bin,from,to,gray\n0,0.5,1.375,1\n1,1.375,2.25,1\nbelow,,,0\nabove,,,0\nnan,,,0\n");
    setlocale(LC_ALL, "C");
}

static void test_refused(void) {
    static const char *const bad[] = {"data=x.txt", "data=csv",   "data=.csv", "min=9 max=8",  "min=300",
                                      "bins=0",     "bins=65537", "width=63",  "height=16385", "min=2000000"};
    imgpipe_info in = {2, 2, {IMGPIPE_U8, 1, false}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        union options values;
        imgpipe_stage stage = {0};
        imgpipe_error error = {0};
        bool made = stage_make(&stage, &values, bad[i], in, 0, &error);
        CHECK(!made && error.status == IMGPIPE_ERROR_ARGUMENT && error.message[0], "%s was taken", bad[i]);
        if (made) stage_free(&stage);
    }
}

static const uint8_t *chart_pixel(const imgpipe_image *image, int64_t x, int64_t y) {
    return (const uint8_t *)image->pixels + y * image->stride + x * 3;
}

/* A chart of any size fills every pixel and none beside, and shows more than paper; the same twice. */
static void chart_check(const char *options, imgpipe_info in, const void *pixels) {
    union options values;
    imgpipe_stage stage;
    if (!stage_make(&stage, &values, options, in, 0, NULL)) {
        CHECK(false, "%s", options);
        return;
    }
    stage_run(&stage, pixels, 8, 1);
    imgpipe_image out[2];
    for (int k = 0; k < 2; k++) {
        ptrdiff_t stride = stage.out.width * 3 + 16;
        out[k] = (imgpipe_image){stage.out, malloc((size_t)(stride * stage.out.height)), stride};
        memset(out[k].pixels, k ? 7 : 201, (size_t)(stride * stage.out.height));
        CHECK(stage.filter->render(&stage, NULL, &out[k], NULL) == IMGPIPE_OK, "%s", options);
    }
    int64_t colours = 0, different = 0, touched = 0;
    for (int64_t y = 0; y < stage.out.height; y++) {
        const uint8_t *a = chart_pixel(&out[0], 0, y), *b = chart_pixel(&out[1], 0, y);
        for (int64_t i = 0; i < stage.out.width * 3; i++) different += a[i] != b[i];
        for (int64_t i = stage.out.width * 3; i < out[0].stride; i++) touched += a[i] != 201 || b[i] != 7;
        for (int64_t x = 0; x < stage.out.width; x++) colours += a[x * 3] < 200;
    }
    CHECK(!different && !touched, "%s: %lld bytes differ, %lld written beside", options, (long long)different, (long long)touched);
    CHECK(colours > stage.out.height / 2, "%s: %lld dark pixels", options, (long long)colours);
    for (int k = 0; k < 2; k++) free(out[k].pixels);
    stage_free(&stage);
}

static void test_charts(void) {
    static const char *const options[] = {"width=640",  "width=64 height=64",       "width=97 height=119 scale=log",
                                          "scale=log",  "width=700 height=80",      "width=1300 height=900",
                                          "bins=1",     "bins=3 scale=log",         "width=90 height=400",
                                          "bins=65536", "width=64 height=64 bins=5"};
    void *pixels = malloc(40 * 40 * 4 * sizeof(float));
    for (size_t o = 0; o < sizeof options / sizeof *options; o++)
        for (int type = 0; type < 3; type++)
            for (int content = 0; content < 3; content++) {
                int channels = (int)(o + (size_t)content) % 4 + 1;
                imgpipe_info in = {40, 40, {(imgpipe_type)type, channels, channels % 2 == 0}};
                pixels_fill(pixels, in.format.type, 40 * 40 * channels, content);
                chart_check(options[o], in, pixels);
            }
    free(pixels);
}

static void test_numbers(void) {
    static const struct {
        int64_t digits;
        int exponent;
        const char *number, *count;
    } cases[] = {{0, 3, "0", "0"},           {15, -1, "1.5", "1.5"},       {-5, -2, "-0.05", NULL},    {25, 2, "2500", "2.5k"},
                 {1, 6, "1000000", "1M"},    {1, 7, "1e7", "10M"},         {125, 28, "1.25e30", NULL}, {3, -9, "3e-9", NULL},
                 {-12, -9, "-1.2e-8", NULL}, {200, -2, "2", "2"},          {999, 0, "999", "999"},     {5, 9, "5e9", "5G"},
                 {1000, -1, "100", "100"},   {100001, -5, "1.00001", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char label[CHART_LABEL];
        chart_number(cases[i].digits, cases[i].exponent, label);
        CHECK(!strcmp(label, cases[i].number), "'%s', wanted '%s'", label, cases[i].number);
        if (!cases[i].count) continue;
        chart_count(cases[i].digits, cases[i].exponent, label);
        CHECK(!strcmp(label, cases[i].count), "'%s', wanted '%s'", label, cases[i].count);
    }
    for (double v = 1e-30; v < 1e30; v *= 1.37)
        CHECK(fabs(chart_log10(v) - log10(v)) <= 1e-14 * fmax(1, fabs(log10(v))), "log10(%g) = %.17g", v, chart_log10(v));
}

static void test_ticks(void) {
    static const double ranges[][2] = {{0, 256}, {-0.5, 255.5}, {1e-20, 3e-20}, {-3e38, 3e38}, {1000, 1000.001}, {-7, -6.9}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (int wanted = 1; wanted < 30; wanted++) {
            struct chart_tick ticks[CHART_TICKS];
            int n = chart_sample_ticks(ranges[i][0], ranges[i][1], wanted, false, ticks);
            CHECK(n <= wanted + 1 && n >= wanted / 4, "%d ticks, wanted %d in range %zu", n, wanted, i);
            for (int k = 0; k < n; k++) {
                CHECK(ticks[k].value >= ranges[i][0] && ticks[k].value <= ranges[i][1], "tick %d of range %zu outside", k, i);
                CHECK(fabs(strtod(ticks[k].label, NULL) - ticks[k].value) <= 1e-15 * fabs(ticks[k].value), "'%s' is not %.17g",
                      ticks[k].label, ticks[k].value);
            }
        }
}

int main(void) {
    test_counts();
    test_many_bytes();
    test_range();
    test_texts();
    test_locale();
    test_refused();
    test_charts();
    test_numbers();
    test_ticks();
    if (failures) fprintf(stderr, "%d failures\n", failures);
    return failures != 0;
}
