/* Prepared plans on CUDA, from a program with a runtime library of its own beside the one inside imgpipe: the CPU's bytes, capture
 * into graphs, streams, contexts, histograms, and what a run may not do. Exit status 77 without a GPU. `--small` leaves out what
 * takes long under compute-sanitizer, `--bench` measures what enqueueing costs. */
#include "gpu_plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- the CPU's bytes */

static const imgpipe_format formats[] = {{IMGPIPE_U8, 1, false},  {IMGPIPE_U8, 3, false},  {IMGPIPE_U8, 4, true},
                                         {IMGPIPE_U8, 2, true},   {IMGPIPE_U16, 1, false}, {IMGPIPE_U16, 4, true},
                                         {IMGPIPE_F32, 1, false}, {IMGPIPE_F32, 3, false}, {IMGPIPE_F32, 4, true}};
static const char *const chains[] = {
    "",
    "gray",
    "invert,levels=10%:90%:20%:70%",
    "blur=2",
    "gray,blur=1.5,median=3",
    "box=5:border=wrap",
    "median=5:border=mirror",
    "median=11",
    "conv=sharpen",
    "conv='0.25 0.5 0.25'",
    "blur=30,box=9",
    "levels=5%:70%,blur=3:border=constant:value=20%,conv='1 2 1':border=wrap,median=7,threshold=40%",
    "blur=0,box=1",
    "hist=pass,box=3"};

static void same_bytes(bool small) {
    static const int64_t sizes[][2] = {{199, 83}, {1, 1}, {199, 1}, {1, 83}, {64, 40}, {101, 82}, {199, 83}};
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            struct subject s;
            imgpipe_info largest = {199, 83, formats[f]};
            bool range = strstr(chains[c], "hist") && formats[f].type == IMGPIPE_F32;
            if (!subject_new(&s, chains[c], &largest, NULL)) {
                expect(range && strstr(s.error.message, "min and max"), chains[c], s.error.message);
                continue;
            }
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !(small && i > 1); i++)
                for (int aligned = 0; aligned < 2; aligned++) {
                    struct frame frame = frame_new(&s, sizes[i][0], sizes[i][1], aligned);
                    enqueue(&s, &frame, s.stream);
                    frame_check(&s, &frame, chains[c]);
                    frame_free(&frame);
                }
            subject_free(&s);
        }
}

/* f32 to integers at the end of the chain: on the CPU a gather looks at it, which is left out here. */
static void depth(void) {
    struct subject s;
    imgpipe_info largest = {190, 77, {IMGPIPE_F32, 3, false}};
    imgpipe_prepare_options options = imgpipe_prepare_options_default();
    options.depth = 8;
    if (!subject_new(&s, "blur=1,levels=10%:90%", &largest, &options)) return expect(false, "a depth", s.error.message);
    struct frame frame = frame_new(&s, 190, 77, true);
    enqueue(&s, &frame, s.stream);
    frame_check(&s, &frame, "blur=1,levels=10%:90%");
    frame_free(&frame);
    subject_free(&s);
}

/* Orders of samples, white levels and premultiplied colours, converted on the device. */
static void layouts(void) {
    static const struct {
        imgpipe_format format;
        imgpipe_layout layouts[2];
    } cases[] = {
        {{IMGPIPE_U8, 3, false}, {{IMGPIPE_ORDER_BGR, false, 0}, {IMGPIPE_ORDER_BGRX, false, 0}}},
        {{IMGPIPE_U8, 3, false}, {{IMGPIPE_ORDER_XBGR, false, 200}, {IMGPIPE_ORDER_RGBX, false, 100}}},
        {{IMGPIPE_U8, 4, true}, {{IMGPIPE_ORDER_BGRA, true, 0}, {IMGPIPE_ORDER_ARGB, true, 0}}},
        {{IMGPIPE_U8, 2, true}, {{IMGPIPE_ORDER_NATIVE, true, 77}, {IMGPIPE_ORDER_NATIVE, true, 0}}},
        {{IMGPIPE_U16, 3, false}, {{IMGPIPE_ORDER_BGR, false, 4095}, {IMGPIPE_ORDER_XRGB, false, 1023}}},
        {{IMGPIPE_U16, 4, true}, {{IMGPIPE_ORDER_ABGR, true, 4095}, {IMGPIPE_ORDER_BGRA, true, 0}}},
        {{IMGPIPE_F32, 4, true}, {{IMGPIPE_ORDER_ARGB, true, 0}, {IMGPIPE_ORDER_BGRA, true, 0}}},
        {{IMGPIPE_F32, 1, false}, {{IMGPIPE_ORDER_NATIVE, false, 0}, {IMGPIPE_ORDER_NATIVE, false, 0}}},
    };
    static const char *const texts[] = {"median=3", "", "invert,box=3"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int t = 0; t < 3; t++)
            for (int way = 0; way < 4; way++) {
                struct subject s;
                imgpipe_info largest = {190, 77, cases[c].format};
                if (!subject_new(&s, texts[t], &largest, NULL)) {
                    expect(false, texts[t], s.error.message);
                    continue;
                }
                struct frame frame = frame_laid(&s, 190, 77, way % 2, cases[c].layouts, way / 2);
                enqueue(&s, &frame, s.stream);
                frame_check(&s, &frame, texts[t]);
                frame_free(&frame);
                subject_free(&s);
            }
}

/* ---- parameters and graphs */

static void parameters(void) {
    struct subject s;
    imgpipe_info largest = {150, 90, {IMGPIPE_U16, 3, false}};
    if (!subject_new(&s, "levels,blur=1,median=3", &largest, NULL)) return expect(false, "prepare", s.error.message);
    struct frame frame = frame_new(&s, 150, 90, false);
    enqueue(&s, &frame, s.stream);
    frame_check(&s, &frame, "levels,blur=1,median=3");
    expect(!imgpipe_plan_set_text(s.plan, 0, "in_low", "12%", &s.error), "a table that was none before", s.error.message);
    expect(!imgpipe_plan_set_number(s.plan, 1, "sigma", 20, &s.error), "weights in device memory", s.error.message);
    expect(!imgpipe_plan_set_int(s.plan, 2, "size", 5, &s.error), "another kernel", s.error.message);
    enqueue(&s, &frame, s.stream);
    frame_check(&s, &frame, "levels=12%,blur=20,median=5");
    frame_free(&frame);
    frame = frame_new(&s, 70, 33, true);
    enqueue(&s, &frame, s.stream);
    frame_check(&s, &frame, "levels=12%,blur=20,median=5");
    frame_free(&frame);
    subject_free(&s);
}

/* A graph does what the plan was set to when it was captured, and the plan goes on with what it was set to last. */
static void graphs(void) {
    static const char *const texts[] = {"levels=12%,blur=20,median=5,gray", "gray,blur=1", "invert", "box=7,conv=sharpen"};
    for (int c = 0; c < 4; c++)
        for (int aligned = 0; aligned < 2; aligned++) {
            struct subject s;
            imgpipe_info largest = {190, 77, {c ? IMGPIPE_U8 : IMGPIPE_U16, 3, false}};
            if (!subject_new(&s, texts[c], &largest, NULL)) {
                expect(false, texts[c], s.error.message);
                continue;
            }
            struct frame frame = frame_new(&s, 190, 77, aligned);
            cudaGraph_t graph;
            cudaGraphExec_t exec;
            CHECK(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal));
            enqueue(&s, &frame, s.stream);
            CHECK(cudaStreamEndCapture(s.stream, &graph));
            CHECK(cudaGraphInstantiate(&exec, graph, 0));
            if (c == 0) expect(!imgpipe_plan_set_text(s.plan, 0, "in_low", "30%", &s.error), "set", s.error.message);
            for (int i = 0; i < 3; i++) {
                if (c == 0) {
                    enqueue(&s, &frame, s.stream);
                    frame_check(&s, &frame, "levels=30%,blur=20,median=5,gray");
                }
                frame_refill(&frame);
                CHECK(cudaGraphLaunch(exec, s.stream));
                frame_check(&s, &frame, texts[c]);
            }
            CHECK(cudaGraphExecDestroy(exec));
            CHECK(cudaGraphDestroy(graph));
            frame_free(&frame);
            subject_free(&s);
        }
}

/* ---- histograms */

static void histograms(void) {
    for (int f = 0; f < 9; f++) {
        struct subject s;
        imgpipe_info largest = {190, 77, formats[f]};
        imgpipe_histogram histogram = {.struct_size = sizeof histogram};
        bool f32 = formats[f].type == IMGPIPE_F32;
        const char *text = f32 ? "hist=pass:min=0.1:max=0.8:bins=100,invert" : "hist=pass,invert";
        if (!subject_new(&s, text, &largest, NULL)) {
            expect(false, text, s.error.message);
            continue;
        }
        expect(!imgpipe_plan_histogram(s.plan, 0, &histogram, &s.error), "described", s.error.message);
        uint64_t *counts, *found = malloc(histogram.size), *expected = calloc(1, histogram.size);
        CHECK(cudaMalloc((void **)&counts, histogram.size));
        CHECK(cudaMemset(counts, 0x77, histogram.size));
        for (int i = 0; i < 4; i++) {
            struct frame frame = frame_new(&s, 190 - 31 * i, 77 - i, i % 2);
            expect(!imgpipe_plan_count(s.plan, 0, counts, i >= 2, &s.error), "counts", s.error.message);
            enqueue(&s, &frame, s.stream);
            frame_check(&s, &frame, text);
            count_on_cpu(&s, &frame, text, expected, i >= 2);
            CHECK(cudaMemcpy(found, counts, histogram.size, cudaMemcpyDeviceToHost));
            expect(memcmp(found, expected, histogram.size) == 0, "the counts are those of the CPU", text);
            frame_free(&frame);
        }
        expect(!imgpipe_plan_set_int(s.plan, 0, "width", 100, &s.error), "set", s.error.message);
        CHECK(cudaFree(counts));
        free(found);
        free(expected);
        subject_free(&s);
    }
}

/* ---- streams and threads */

static void *one_stream(void *argument) {
    const char *text = argument;
    struct subject s;
    imgpipe_info largest = {320, 240, {IMGPIPE_U8, 3, false}};
    if (!subject_new(&s, text, &largest, NULL)) return expect(false, text, s.error.message), NULL;
    for (int i = 0; i < 20; i++) {
        struct frame frame = frame_new(&s, 320 - i, 240, i % 2);
        enqueue(&s, &frame, i == 7 ? NULL : s.stream); /* the legacy default stream now and then */
        CHECK(cudaStreamSynchronize(NULL));
        frame_check(&s, &frame, text);
        frame_free(&frame);
    }
    subject_free(&s);
    return NULL;
}

static void streams(void) {
    static const char *const texts[4] = {"conv='1 2 1;2 4 2;1 2 1'", "conv='0 -1 0;-1 5 -1;0 -1 0',median=5", "gray,blur=15",
                                         "box=9,levels=7%:80%"};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, one_stream, (void *)texts[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

/* Runs on host memory at once on one context, which share its streams and the memory that it keeps. */
static void *some_runs(void *argument) {
    const char *text = argument;
    enum { W = 700, H = 500 };
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *cpu = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_error error = {0};
    unsigned char *in = malloc(W * H * 3), *found = malloc(W * H * 3), *wanted = malloc(W * H * 3);
    if (!in || !found || !wanted) abort();
    for (int i = 0; i < W * H * 3; i++) in[i] = (unsigned char)((unsigned)i * 2654435761u >> 13);
    imgpipe_image from = {.info = {W, H, {IMGPIPE_U8, 3, false}}, .pixels = in, .stride = W * 3}, to = from;
    options.device = "cpu";
    options.threads = 1;
    bool good = !imgpipe_context_new(&options, &cpu, &error) && !imgpipe_chain_parse(text, &chain, &error);
    to.pixels = wanted;
    good = good && !imgpipe_run_image(cpu, chain, &from, &to, NULL, NULL, &error);
    to.pixels = found;
    for (int i = 0; i < 10 && good; i++) {
        memset(found, 0, W * H * 3);
        good = !imgpipe_run_image(context(), chain, &from, &to, NULL, NULL, &error) && memcmp(found, wanted, W * H * 3) == 0;
    }
    expect(good, text, *error.message ? error.message : "runs at once on one context give other bytes");
    imgpipe_chain_free(&chain);
    imgpipe_context_free(&cpu);
    free(in);
    free(found);
    free(wanted);
    return NULL;
}

static void runs(void) {
    static const char *const texts[4] = {"blur=3", "median=5,invert", "box=9,conv=sharpen", "blur=20,hist=pass"};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, some_runs, (void *)texts[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

/* ---- the caller's context */

static void *without_context(void *argument) {
    struct subject *s = argument;
    struct frame frame = s->frame;
    CUcontext now = NULL;
    driver.get(&now);
    expect(now == NULL, "a fresh thread has no context", "");
    imgpipe_status status = imgpipe_plan_enqueue(s->plan, &frame.in, &frame.out, s->stream, &s->error);
    expect(!status, "it can enqueue", s->error.message);
    driver.get(&now);
    expect(now == NULL, "and has none afterwards", "");
    return NULL;
}

static void *with_own_context(void *argument) {
    struct subject *s = argument;
    struct frame frame = s->frame;
    CUcontext own = NULL, now = NULL;
    expect(driver.create(&own) == CUDA_SUCCESS, "a context that is not the primary one", "");
    imgpipe_status status = imgpipe_plan_enqueue(s->plan, &frame.in, &frame.out, s->stream, &s->error);
    expect(status == IMGPIPE_ERROR_ARGUMENT && strstr(s->error.message, "primary"), "is refused", s->error.message);
    driver.get(&now);
    expect(now == own, "and stays current", "");
    driver.destroy(own);
    return NULL;
}

static void contexts(void) {
    struct subject s;
    imgpipe_info largest = {100, 100, {IMGPIPE_U8, 1, false}};
    pthread_t thread;
    if (!subject_new(&s, "blur=1", &largest, NULL)) return expect(false, "prepare", s.error.message);
    s.frame = frame_new(&s, 100, 100, false);
    pthread_create(&thread, NULL, without_context, &s);
    pthread_join(thread, NULL);
    frame_check(&s, &s.frame, "blur=1");
    pthread_create(&thread, NULL, with_own_context, &s);
    pthread_join(thread, NULL);
    frame_free(&s.frame);
    subject_free(&s);
}

/* ---- scratch and memory of the caller's */

static void own_memory(void) {
    struct subject s;
    imgpipe_info largest = {150, 90, {IMGPIPE_U8, 4, true}};
    imgpipe_prepare_options options = imgpipe_prepare_options_default();
    imgpipe_chain *chain = NULL;
    imgpipe_error error;
    options.reserve = 4096;
    if (imgpipe_chain_parse("blur=2,box=3", &chain, &error)) abort();
    expect(!imgpipe_prepare_scratch(context(), chain, &largest, &options, &options.device_scratch_size, &error), "scratch",
           error.message);
    imgpipe_chain_free(&chain);
    CHECK(cudaMalloc(&options.device_scratch, options.device_scratch_size));
    if (subject_new(&s, "blur=2,box=3", &largest, &options)) {
        struct frame frame = frame_new(&s, 150, 90, false);
        enqueue(&s, &frame, s.stream);
        frame_check(&s, &frame, "blur=2,box=3");
        frame_free(&frame);
        subject_free(&s);
    } else {
        expect(false, "prepare in the caller's scratch", s.error.message);
    }
    options.device_scratch_size = 10000;
    expect(!subject_new(&s, "blur=2,box=3", &largest, &options) && strstr(s.error.message, "imgpipe_prepare_scratch"),
           "too little scratch", s.error.message);
    CHECK(cudaFree(options.device_scratch));
    expect(allocated() > 0, "device memory comes from the caller's function", "");
}

static void refusals(void) {
    struct subject s;
    imgpipe_info largest = {100, 100, {IMGPIPE_U8, 3, false}};
    expect(!subject_new(&s, "hist", &largest, NULL) && strstr(s.error.message, "hist=pass"), "the chart is refused",
           s.error.message);
    expect(!subject_new(&s, "hist=pass:bins=10", &largest, NULL) && strstr(s.error.message, "by value"),
           "bins of integers are refused", s.error.message);
    if (!subject_new(&s, "blur=1", &largest, NULL)) return expect(false, "prepare", s.error.message);
    struct frame frame = frame_new(&s, 100, 100, false);
    imgpipe_device_image host = {.info = frame.in.info, .pixels = frame.host, .stride = 300};
    imgpipe_image image = {.info = frame.in.info, .pixels = frame.host, .stride = 300};
    expect(imgpipe_plan_enqueue(s.plan, &host, &frame.out, s.stream, &s.error) == IMGPIPE_ERROR_ARGUMENT &&
               strstr(s.error.message, "host memory"),
           "host memory is refused", s.error.message);
    expect(imgpipe_plan_enqueue(s.plan, &frame.in, &frame.in, s.stream, &s.error) == IMGPIPE_ERROR_ARGUMENT,
           "an overlap is refused", s.error.message);
    expect(imgpipe_plan_run(s.plan, &image, &image, &s.error) == IMGPIPE_ERROR_ARGUMENT, "images on the host are refused",
           s.error.message);
    host = frame.in, host.stride = 100;
    expect(imgpipe_plan_enqueue(s.plan, &host, &frame.out, s.stream, &s.error) == IMGPIPE_ERROR_ARGUMENT,
           "a stride below the row is refused", s.error.message);
    enqueue(&s, &frame, s.stream);
    frame_check(&s, &frame, "blur=1");
    frame_free(&frame);
    subject_free(&s);
}

int main(int argc, char **argv) {
    bool small = argc > 1 && strcmp(argv[1], "--small") == 0;
    int none = begin();
    if (none) return none;
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench_enqueue();
    } else {
        runs(); /* first, while the context is still starting */
        same_bytes(small);
        depth();
        layouts();
        parameters();
        graphs();
        histograms();
        streams();
        contexts();
        own_memory();
        refusals();
        if (!small) watched();
    }
    return end();
}
