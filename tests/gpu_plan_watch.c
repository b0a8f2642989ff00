/* What a run asks of the driver, seen through CUPTI, and how long that takes. */
#include "clock.h"
#include "gpu_plan.h"

#include <string.h>

#ifdef WITH_CUPTI
#include <cupti.h>

enum { CALLS = 400 };
static struct {
    bool on;
    int count, modules;
    char names[CALLS][48];
} seen;

static void CUPTIAPI on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
    (void)user;
    if (!seen.on) return;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) seen.modules++;
        return;
    }
    const CUpti_CallbackData *call = data;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || call->callbackSite != CUPTI_API_ENTER || seen.count == CALLS) return;
    snprintf(seen.names[seen.count++], sizeof seen.names[0], "%s", call->functionName);
}

/* All that a run may ask for: launches, copies and memsets on a stream, and questions that the driver answers from its own memory.
 */
static bool allowed(const char *name) {
    static const char *const names[] = {"cuLaunchKernel",
                                        "cuMemcpy2DAsync",
                                        "cuMemsetD",
                                        "cuCtxGetCurrent",
                                        "cuCtxSetCurrent",
                                        "cuCtxGetDevice",
                                        "cuPointerGetAttribute",
                                        "cuStreamIsCapturing",
                                        "cuStreamGetCaptureInfo",
                                        "cuFuncSetAttribute",
                                        "cuKernelSetAttribute",
                                        "cuDeviceGetAttribute",
                                        "cuDeviceGet",
                                        "cuKernelGetFunction",
                                        "cuFuncGetAttribute",
                                        "cuDevicePrimaryCtxGetState"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0 && (strncmp(name, "cuMemsetD", 9) != 0 || strstr(name, "Async")))
            return true;
    return false;
}

static void watch(const char *text, imgpipe_format format, bool aligned, CUpti_SubscriberHandle subscriber) {
    struct subject s;
    imgpipe_info largest = {300, 200, format};
    if (!subject_new(&s, text, &largest, NULL)) return expect(false, text, s.error.message);
    /* Not the size that was prepared last, and the first run of all: whatever is loaded late would be loaded here. */
    struct frame frame = frame_new(&s, 299, 200, aligned);
    uint64_t *counts = NULL;
    imgpipe_histogram histogram = {.struct_size = sizeof histogram};
    if (imgpipe_plan_histogram(s.plan, 0, &histogram, &s.error) == IMGPIPE_OK) {
        CHECK(cudaMalloc((void **)&counts, histogram.size));
        expect(!imgpipe_plan_count(s.plan, 0, counts, false, &s.error), text, s.error.message);
    }
    CHECK(cudaDeviceSynchronize());
    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE);
    seen.count = seen.modules = 0;
    seen.on = true;
    enqueue(&s, &frame, s.stream);
    seen.on = false;
    cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_RESOURCE);
    char calls[2000] = "";
    for (int i = 0; i < seen.count; i++) {
        if (strlen(calls) < sizeof calls - 60) snprintf(calls + strlen(calls), sizeof calls - strlen(calls), " %s", seen.names[i]);
        expect(allowed(seen.names[i]), text, seen.names[i]);
    }
    expect(seen.count > 0, text, "no call was seen");
    expect(seen.modules == 0, text, "a module was loaded");
    printf("calls of the driver in %s, type %d, %s:%s\n", text, format.type, aligned ? "aligned" : "not aligned", calls);
    frame_check(&s, &frame, text);
    if (counts) CHECK(cudaFree(counts));
    frame_free(&frame);
    subject_free(&s);
}

void watched(void) {
    static const char *const texts[] = {
        "gray", "median=3,blur=1", "hist=pass,invert", "levels=10%:60%,blur=25", "conv=sharpen,box=9", "median=21", "median=7"};
    CUpti_SubscriberHandle subscriber;
    CUptiResult code = cuptiSubscribe(&subscriber, on_call, NULL);
    if (code != CUPTI_SUCCESS) {
        printf("CUPTI cannot watch here (%d): calls of the driver were not checked\n", (int)code);
        return;
    }
    for (int t = 0; t < 7; t++)
        for (int type = 0; type < 2; type++)
            for (int aligned = 0; aligned < 2; aligned++)
                watch(texts[t], (imgpipe_format){(imgpipe_type)type, 3, false}, aligned, subscriber);
    cuptiUnsubscribe(subscriber);
}
#else
void watched(void) {
    printf("built without CUPTI: calls of the driver were not checked\n");
}
#endif

/* Microseconds of the calling thread for one image, with the stream far ahead of it. */
void bench_enqueue(void) {
    static const struct {
        const char *text;
        int stages;
    } chains[] = {{"invert", 1},
                  {"gray", 1},
                  {"blur=1", 1},
                  {"blur=20", 1},
                  {"box=5", 1},
                  {"conv=sharpen", 1},
                  {"median=3", 1},
                  {"median=7", 1},
                  {"hist=pass", 1},
                  {"gray,blur=1,median=3", 3},
                  {"median=3,blur=20,box=5,conv=sharpen,gray", 5}};
    printf("microseconds to enqueue a frame of 640 x 480, RGB8, and for each stage\n");
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
        for (int aligned = 1; aligned >= 0; aligned--) {
            struct subject s;
            imgpipe_info largest = {640, 480, {IMGPIPE_U8, 3, false}};
            imgpipe_prepare_options options = imgpipe_prepare_options_default();
            bool counts_alone = strcmp(chains[c].text, "hist=pass") == 0; /* otherwise its frame would be copied, too */
            options.no_output = counts_alone;
            if (!subject_new(&s, chains[c].text, &largest, &options)) return expect(false, chains[c].text, s.error.message);
            struct frame frame = frame_new(&s, 640, 480, aligned);
            uint64_t *counts = NULL;
            CHECK(cudaMalloc((void **)&counts, 3 * 259 * 8));
            if (strstr(chains[c].text, "hist"))
                expect(!imgpipe_plan_count(s.plan, 0, counts, false, &s.error), "count", s.error.message);
            double best = 1;
            for (int round = 0; round < 60; round++) {
                CHECK(cudaStreamSynchronize(s.stream));
                double start = clock_now();
                for (int i = 0; i < 20; i++)
                    if (imgpipe_plan_enqueue(s.plan, &frame.in, counts_alone ? NULL : &frame.out, s.stream, &s.error)) exit(1);
                double took = (clock_now() - start) / 20;
                if (round > 5 && took < best) best = took;
            }
            printf("%-46s %-12s %7.2f %7.2f\n", chains[c].text, aligned ? "aligned" : "not aligned", best * 1e6,
                   best * 1e6 / chains[c].stages);
            CHECK(cudaStreamSynchronize(s.stream));
            CHECK(cudaFree(counts));
            frame_free(&frame);
            subject_free(&s);
        }
}
