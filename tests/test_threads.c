/* Several threads share one context and one chain, and run everything that there is at once: each gets the bytes that it would
 * get alone. With the thread sanitizer this is the test of what the header promises of threads. Only the public header. */
#include "checks.h"
#include "imgpipe.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 12, WIDTH = 120, HEIGHT = 90, BYTES = WIDTH * HEIGHT * 3 };

static imgpipe_context *context;
static imgpipe_registry *registry;
static imgpipe_chain *chain, *chart;
static unsigned char source[BYTES], want[BYTES];
static size_t chart_bytes;
static unsigned char *want_chart;

struct worker {
    pthread_t thread;
    int number, failed;
    unsigned char out[BYTES];
    char message[200];
};

static imgpipe_image image_of(void *pixels) {
    return (imgpipe_image){.info = {WIDTH, HEIGHT, {IMGPIPE_U8, 3, false}}, .pixels = pixels, .stride = WIDTH * 3};
}

static imgpipe_status give(void *user, int64_t y, void *row, imgpipe_error *error) {
    (void)user, (void)error;
    memcpy(row, source + y * WIDTH * 3, WIDTH * 3);
    return IMGPIPE_OK;
}

static imgpipe_status take(void *user, int64_t y, const void *row, imgpipe_error *error) {
    (void)error;
    memcpy(((struct worker *)user)->out + y * WIDTH * 3, row, WIDTH * 3);
    return IMGPIPE_OK;
}

static imgpipe_status whole(struct worker *w, imgpipe_error *error) {
    imgpipe_image in = image_of(source), out = image_of(w->out);
    return imgpipe_run_image(context, chain, &in, &out, NULL, NULL, error);
}

static imgpipe_status region(struct worker *w, imgpipe_error *error) {
    imgpipe_image in = image_of(source), out = image_of(w->out);
    imgpipe_status status = IMGPIPE_OK;
    for (int part = 0; part < 3 && !status; part++) {
        out.info.height = HEIGHT / 3;
        out.pixels = w->out + part * (BYTES / 3);
        status = imgpipe_run_region(context, chain, &in, (imgpipe_rect){0, part * HEIGHT / 3, WIDTH, (part + 1) * HEIGHT / 3}, &out,
                                    NULL, NULL, error);
    }
    return status;
}

static imgpipe_status rows(struct worker *w, imgpipe_error *error) {
    imgpipe_row_stream stream = imgpipe_row_stream_default();
    stream.in = image_of(NULL).info;
    stream.read = give;
    stream.write = take;
    stream.user = w;
    return imgpipe_run_rows(context, chain, &stream, NULL, NULL, error);
}

/* A plan of the thread's own on the shared context. */
static imgpipe_status planned(struct worker *w, imgpipe_error *error) {
    imgpipe_image in = image_of(source), out = image_of(w->out), small = in;
    imgpipe_plan *plan = NULL;
    imgpipe_status status = imgpipe_prepare(context, chain, &in.info, NULL, &plan, error);
    small.info.height = out.info.height = HEIGHT / 2;
    if (!status) status = imgpipe_plan_run(plan, &small, &out, error);
    out.info.height = HEIGHT;
    for (int i = 0; i < 3 && !status; i++) status = imgpipe_plan_run(plan, &in, &out, error);
    imgpipe_plan_free(&plan);
    return status;
}

static bool drawn(imgpipe_error *error) {
    imgpipe_image in = image_of(source), out = {0};
    if (imgpipe_chain_output(context, chart, &in.info, NULL, &out.info, error)) return false;
    out.stride = (ptrdiff_t)((size_t)out.info.width * imgpipe_pixel_size(out.info.format));
    out.pixels = malloc(chart_bytes);
    bool right =
        !imgpipe_run_image(context, chart, &in, &out, NULL, NULL, error) && memcmp(out.pixels, want_chart, chart_bytes) == 0;
    free(out.pixels);
    return right;
}

static void *work(void *argument) {
    static imgpipe_status (*const ways[])(struct worker * w, imgpipe_error * error) = {whole, region, rows, planned};
    struct worker *w = argument;
    for (int i = 0; i < ROUNDS; i++) {
        imgpipe_error error = {0};
        memset(w->out, 0, BYTES);
        bool right = ways[(w->number + i) % 4](w, &error) == IMGPIPE_OK && memcmp(w->out, want, BYTES) == 0;
        if (i % 4 == w->number) right = drawn(&error) && right;
        /* Chains of its own, while the shared ones are in use. */
        imgpipe_chain *own = NULL;
        right = right && !imgpipe_chain_new(&own, &error) && !imgpipe_chain_add(own, "box", &error) &&
                !imgpipe_chain_set_int(own, 0, "size", 3 + 2 * i, &error);
        imgpipe_chain_free(&own);
        right = right && !imgpipe_chain_parse_with(registry, "own,box=3", &own, &error);
        imgpipe_chain_free(&own);
        if (right) continue;
        w->failed++;
        snprintf(w->message, sizeof w->message, "round %d: %.150s", i, error.message);
    }
    return NULL;
}

/* A registry that all of them parse with. */
static void register_own(void) {
    static imgpipe_filter own;
    imgpipe_error error;
    own = *imgpipe_filter_find("invert");
    own.name = "own";
    CHECK(imgpipe_registry_new(&registry, &error) == IMGPIPE_OK && imgpipe_registry_add(registry, &own, &error) == IMGPIPE_OK);
}

static void share(int threads) {
    static struct worker workers[THREADS];
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_error error;
    options.device = "cpu";
    options.threads = threads;
    if (!CHECK(imgpipe_context_new(&options, &context, &error) == IMGPIPE_OK)) return;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i};
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        if (!CHECK(workers[i].failed == 0)) printf("      thread %d: %s\n", i, workers[i].message);
    }
    imgpipe_context_free(&context);
}

/* What one thread gets that is alone. */
static bool alone(void) {
    static struct worker w;
    imgpipe_image in = image_of(source), out = {0};
    imgpipe_error error;
    if (imgpipe_context_new(NULL, &context, &error) || whole(&w, &error)) return false;
    memcpy(want, w.out, BYTES);
    if (imgpipe_chain_output(context, chart, &in.info, NULL, &out.info, &error)) return false;
    out.stride = (ptrdiff_t)((size_t)out.info.width * imgpipe_pixel_size(out.info.format));
    chart_bytes = (size_t)(out.stride * out.info.height);
    out.pixels = want_chart = malloc(chart_bytes);
    bool right = imgpipe_run_image(context, chart, &in, &out, NULL, NULL, &error) == IMGPIPE_OK;
    imgpipe_context_free(&context);
    return right;
}

int main(void) {
    imgpipe_error error;
    for (int i = 0; i < BYTES; i++) source[i] = (unsigned char)((unsigned)i * 2654435761u >> 15);
    CHECK(imgpipe_chain_parse("blur=1.5,median=5,conv=sharpen,invert", &chain, &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_parse("gray,box=3,hist", &chart, &error) == IMGPIPE_OK);
    register_own();
    if (CHECK(alone())) {
        share(1);
        share(3);
    }
    imgpipe_chain_free(&chain);
    imgpipe_chain_free(&chart);
    imgpipe_registry_free(&registry);
    free(want_chart);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
