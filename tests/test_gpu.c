/* What is particular to CUDA: contexts side by side, and too little memory of each kind. Exit status 77 without a GPU. */
#include "imgpipe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef IMGPIPE_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

enum { WIDTH = 1500, HEIGHT = 1100 };

static int failures;

static void expect(bool good, const char *what, const char *detail) {
    printf("%s %s%s%s\n", good ? "ok  " : "FAIL", what, *detail ? ": " : "", detail);
    if (!good) failures++;
}

static void count_notices(void *user, imgpipe_log_level level, const char *message) {
    (void)message;
    if (level == IMGPIPE_LOG_NOTICE) ++*(int *)user;
}

static imgpipe_image new_image(int channels) {
    imgpipe_image image = {.info = {WIDTH, HEIGHT, {IMGPIPE_U8, channels, false}}, .stride = WIDTH * channels};
    image.pixels = malloc((size_t)image.stride * HEIGHT);
    if (!image.pixels) abort();
    unsigned state = 1;
    for (ptrdiff_t i = 0; i < image.stride * HEIGHT; i++) ((unsigned char *)image.pixels)[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
    return image;
}

static int64_t strip_rows; /* of the runs; 0: chosen */

/* Runs `text` on `in` with these options and returns the status; `out` gets fresh pixels. */
static imgpipe_status run(const imgpipe_context_options *options, const char *text, const imgpipe_image *in, imgpipe_image *out,
                          int times, imgpipe_report *report, imgpipe_error *error) {
    imgpipe_context *context = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_run_options how = imgpipe_run_options_default();
    how.strip_rows = strip_rows;
    *out = (imgpipe_image){.pixels = NULL};
    imgpipe_status status = imgpipe_context_new(options, &context, error);
    if (!status) status = imgpipe_chain_parse(text, &chain, error);
    if (!status) status = imgpipe_chain_output(context, chain, &in->info, NULL, &out->info, error);
    if (!status) {
        out->stride = (ptrdiff_t)(out->info.width * (int64_t)imgpipe_pixel_size(out->info.format));
        out->pixels = malloc((size_t)out->stride * (size_t)out->info.height);
        if (!out->pixels) abort();
    }
    for (int i = 0; i < times && !status; i++) status = imgpipe_run_image(context, chain, in, out, &how, report, error);
    imgpipe_chain_free(&chain);
    imgpipe_context_free(&context);
    return status;
}

static bool same(const imgpipe_image *a, const imgpipe_image *b) {
    return a->pixels && b->pixels && memcmp(a->pixels, b->pixels, (size_t)a->stride * (size_t)a->info.height) == 0;
}

struct job {
    const char *device, *chain;
    const imgpipe_image *in;
    imgpipe_image out;
    imgpipe_status status;
    imgpipe_error error;
};

static void *job_main(void *argument) {
    struct job *job = argument;
    imgpipe_context_options options = imgpipe_context_options_default();
    options.device = job->device;
    options.threads = 2;
    job->status = run(&options, job->chain, job->in, &job->out, 20, NULL, &job->error);
    return NULL;
}

/* Masks must not meet in a constant that contexts share. */
static void two_contexts(const imgpipe_image *in) {
    static const char *const chains[2] = {"conv='1 2 1;2 4 2;1 2 1'", "conv='0 -1 0;-1 5 -1;0 -1 0'"};
    struct job jobs[4] = {{"cuda", chains[0], in, .error = {0}}, {"cuda", chains[1], in, .error = {0}},
                          {"cpu", chains[0], in, .error = {0}}, {"cpu", chains[1], in, .error = {0}}};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, job_main, &jobs[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        expect(!jobs[i].status, "two contexts with different masks run at once", jobs[i].error.message);
        expect(same(&jobs[i].out, &jobs[i + 2].out), "and give the CPU's bytes", chains[i]);
    }
    for (int i = 0; i < 4; i++) free(jobs[i].out.pixels);
}

static void little_memory(const imgpipe_image *in) {
    static const char chain[] = "gray,blur=3,median=5,box=9";
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_image cpu, gpu;
    imgpipe_error error = {0};
    options.device = "cpu";
    expect(!run(&options, chain, in, &cpu, 1, NULL, &error), "the CPU runs the chain", error.message);
    options.device = "cuda";
    options.gpu_memory = 1 << 20;
    expect(!run(&options, chain, in, &gpu, 1, NULL, &error) && same(&cpu, &gpu), "1 MiB of device memory: lower tiles, the same bytes",
           error.message);
    free(gpu.pixels);
    options.gpu_memory = 10000;
    error.message[0] = 0;
    expect(run(&options, chain, in, &gpu, 1, NULL, &error) == IMGPIPE_ERROR_DEVICE && strstr(error.message, "KiB"),
           "10000 bytes: refused with the sizes", error.message);
    free(gpu.pixels);
    options.gpu_memory = 0;
    int notices = 0;
    options.pinned_memory = 200000;
    options.log = count_notices;
    options.user = &notices;
    expect(!run(&options, "gray,hist=pass,blur=border=wrap", in, &gpu, 1, NULL, &error), "little pinned memory: the run goes on", error.message);
    expect(notices == 1, "and one notice says so", "");
    free(gpu.pixels);
    free(cpu.pixels);
}

/* auto with work enough for a GPU, whose memory is then too small: the CPU takes over. */
static void automatic(const imgpipe_image *in) {
    static const char chain[] = "blur=300";
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_report report = imgpipe_report_default();
    imgpipe_image gpu, cpu;
    imgpipe_error error = {0};
    options.threads = 1;
    expect(!run(&options, chain, in, &gpu, 1, &report, &error) && strncmp(report.device, "cuda:0", 6) == 0, "auto takes the GPU for much work",
           report.device);
    options.gpu_memory = 1000;
    expect(!run(&options, chain, in, &cpu, 1, &report, &error) && strncmp(report.device, "cpu", 3) == 0,
           "and the CPU where device memory is too small", report.device);
    expect(same(&gpu, &cpu), "both give the same bytes", "");
    free(gpu.pixels);
    free(cpu.pixels);
    expect(!run(&options, "gray", in, &cpu, 1, &report, &error) && strncmp(report.device, "cpu", 3) == 0, "auto takes the CPU for little work",
           report.device);
    free(cpu.pixels);
}

#ifdef IMGPIPE_WITH_CUDA
static unsigned refused; /* a bit for each device that has no memory */

static void *allocate(void *user, size_t size, size_t alignment) {
    int device;
    void *memory;
    (void)user, (void)alignment;
    if (cudaGetDevice(&device) != cudaSuccess || refused >> device & 1) return NULL;
    return cudaMalloc(&memory, size) == cudaSuccess ? memory : NULL;
}

static void release(void *user, void *block, size_t size) {
    (void)user, (void)size;
    cudaFree(block);
}

/* The strips of one image on all GPUs, and on those that are left where others have no memory. */
static void all_gpus(const imgpipe_image *in, int gpus) {
    static const char *const chains[] = {"gray,blur=3,median=5", "hist", "hist=pass,blur=2,box=9:border=wrap"};
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_image cpu, gpu;
    imgpipe_error error = {0};
    strip_rows = 40;
    for (int i = 0; i < 3; i++) {
        options = imgpipe_context_options_default();
        options.device = "cpu";
        expect(!run(&options, chains[i], in, &cpu, 1, NULL, &error), "the CPU runs the chain", error.message);
        options.device = "cuda:all";
        options.device_allocate = allocate;
        options.device_release = release;
        /* Two times on one context, then on the second of four. */
        expect(!run(&options, chains[i], in, &gpu, 2, NULL, &error) && same(&cpu, &gpu), "cuda:all gives the same bytes", error.message);
        free(gpu.pixels);
        options.share = 4;
        options.turn = 1;
        expect(!run(&options, chains[i], in, &gpu, 2, NULL, &error) && same(&cpu, &gpu), "and so does one of several", error.message);
        free(gpu.pixels);
        for (int lone = 0; lone < gpus && lone < 2; lone++) {
            refused = ~(1u << lone);
            options.share = lone ? 1 : 4;
            expect(!run(&options, chains[i], in, &gpu, 2, NULL, &error) && same(&cpu, &gpu), "one GPU does it where the others cannot",
                   error.message);
            free(gpu.pixels);
        }
        refused = ~0u;
        expect(run(&options, chains[i], in, &gpu, 1, NULL, &error) == IMGPIPE_ERROR_DEVICE, "and none says why", error.message);
        free(gpu.pixels);
        free(cpu.pixels);
        refused = 0;
    }
    strip_rows = 0;
}
#endif

int main(void) {
    char why[200];
    int devices = imgpipe_devices(NULL, 0, why, sizeof why);
    if (devices < 2) {
        printf("SKIP: %s\n", why);
        return 77;
    }
    imgpipe_image in = new_image(3);
    two_contexts(&in);
    little_memory(&in);
    automatic(&in);
#ifdef IMGPIPE_WITH_CUDA
    all_gpus(&in, devices - 1);
#endif
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_image out;
    imgpipe_error error = {0};
    options.device = "cuda:99";
    expect(run(&options, "gray", &in, &out, 1, NULL, &error) == IMGPIPE_ERROR_DEVICE, "a device that is absent is refused", error.message);
    free(in.pixels);
    return failures != 0;
}
