#include "gpu_plan.h"

#include <stdatomic.h>
#include <string.h>

enum { GUARD = 512, GUARD_BYTE = 0xc3 };

struct driver driver;
static imgpipe_context *gpu, *cpu;
static atomic_int failures, checks;
static atomic_size_t given, taken;

void expect(bool good, const char *what, const char *detail) {
    atomic_fetch_add(&checks, 1);
    if (good) return;
    printf("FAIL %s: %s\n", what, detail);
    atomic_fetch_add(&failures, 1);
}

/* ---- beginning and end */

static void *device_allocate(void *user, size_t size, size_t alignment) {
    void *memory = NULL;
    (void)user, (void)alignment;
    atomic_fetch_add(&given, size);
    return cudaMalloc(&memory, size) == cudaSuccess ? memory : NULL;
}

static void device_release(void *user, void *memory, size_t size) {
    (void)user;
    atomic_fetch_add(&taken, size);
    CHECK(cudaFree(memory));
}

size_t allocated(void) {
    return atomic_load(&given);
}
imgpipe_context *context(void) {
    return gpu;
}

static CUresult (*create_context)(CUcontext *context, CUctxCreateParams *params, unsigned flags, CUdevice device);
static CUresult create(CUcontext *made) {
    return create_context(made, NULL, 0, 0);
}

static void *driver_function(const char *name, unsigned version) {
    void *found = NULL;
    enum cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result));
    if (!found) printf("FAIL the driver has no %s\n", name), exit(1);
    return found;
}

int begin(void) {
    char why[200];
    imgpipe_error error;
    if (imgpipe_devices(NULL, 0, why, sizeof why) < 2) {
        printf("SKIP: %s\n", why);
        return 77;
    }
    *(void **)&driver.get = driver_function("cuCtxGetCurrent", 4000);
    *(void **)&create_context = driver_function("cuCtxCreate", 13000);
    *(void **)&driver.destroy = driver_function("cuCtxDestroy", 4000);
    driver.create = create;
    imgpipe_context_options options = imgpipe_context_options_default();
    options.threads = 2;
    options.device = "cpu";
    if (imgpipe_context_new(&options, &cpu, &error)) printf("FAIL %s\n", error.message), exit(1);
    options.device = "cuda";
    options.device_allocate = device_allocate;
    options.device_release = device_release;
    if (imgpipe_context_new(&options, &gpu, &error)) printf("FAIL %s\n", error.message), exit(1);
    return 0;
}

int end(void) {
    imgpipe_context_free(&cpu);
    imgpipe_context_free(&gpu);
    expect(atomic_load(&given) == atomic_load(&taken), "all device memory was given back", "");
    printf("%d checks, %d failed\n", atomic_load(&checks), atomic_load(&failures));
    return atomic_load(&failures) != 0;
}

/* ---- plans */

bool subject_new(struct subject *s, const char *text, const imgpipe_info *largest, const imgpipe_prepare_options *options) {
    imgpipe_chain *chain = NULL;
    memset(s, 0, sizeof *s);
    s->largest = *largest;
    imgpipe_status failed = imgpipe_chain_parse(text, &chain, &s->error);
    if (!failed) failed = imgpipe_prepare(gpu, chain, largest, options, &s->plan, &s->error);
    imgpipe_chain_free(&chain);
    if (failed) return false;
    CHECK(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    return true;
}

void subject_free(struct subject *s) {
    CHECK(cudaStreamSynchronize(s->stream));
    imgpipe_plan_free(&s->plan);
    CHECK(cudaStreamDestroy(s->stream));
}

/* ---- frames */

static size_t row_bytes(const imgpipe_device_image *image) {
    return (size_t)image->info.width * imgpipe_layout_pixel_size(image->info.format, image->layout);
}

static void fill(struct frame *frame) {
    static _Thread_local uint32_t state = 1;
    size_t size = row_bytes(&frame->in) * (size_t)frame->in.info.height;
    uint32_t white = frame->in.layout.white;
    for (size_t i = 0; i < size; i++) frame->host[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
    for (size_t i = 0; frame->in.info.format.type == IMGPIPE_F32 && i < size / 4; i++)
        ((float *)(void *)frame->host)[i] = (float)((state = state * 1664525u + 1013904223u) >> 8) / (1 << 23) - 0.5f;
    for (size_t i = 0; white && frame->in.info.format.type == IMGPIPE_U8 && i < size; i++)
        frame->host[i] %= (unsigned char)(white + 1);
    for (size_t i = 0; white && frame->in.info.format.type == IMGPIPE_U16 && i < size / 2; i++)
        ((uint16_t *)(void *)frame->host)[i] %= (uint16_t)(white + 1);
}

/* Memory for the rows with a guard before, between and behind them. */
static void image_new(struct frame *frame, int at, imgpipe_device_image *image, bool aligned) {
    size_t row = row_bytes(image), sample = imgpipe_sample_size(image->info.format.type);
    size_t stride = aligned ? (row + 16 + 255) / 256 * 256 : row + 3 * sample, first = aligned ? GUARD : GUARD + sample;
    /* The input ends where it must be readable to, so that memcheck sees who reads on. */
    size_t last = aligned ? (row + 15) / 16 * 16 : row;
    frame->size[at] = first + stride * (size_t)(image->info.height - 1) + last + (at ? GUARD : 0);
    CHECK(cudaMalloc((void **)&frame->memory[at], frame->size[at]));
    CHECK(cudaMemset(frame->memory[at], GUARD_BYTE, frame->size[at]));
    image->pixels = frame->memory[at] + first;
    image->stride = (ptrdiff_t)stride;
}

void frame_refill(struct frame *frame) {
    fill(frame);
    size_t row = row_bytes(&frame->in);
    for (int64_t y = 0; y < frame->in.info.height; y++)
        CHECK(cudaMemcpy((unsigned char *)frame->in.pixels + y * frame->in.stride, frame->host + (size_t)y * row, row,
                         cudaMemcpyHostToDevice));
    CHECK(cudaMemset(frame->memory[1], GUARD_BYTE, frame->size[1]));
    CHECK(cudaDeviceSynchronize());
}

static void turn(imgpipe_device_image *image) {
    image->pixels = (unsigned char *)image->pixels + (image->info.height - 1) * image->stride;
    image->stride = -image->stride;
}

struct frame frame_laid(struct subject *s, int64_t width, int64_t height, bool aligned, const imgpipe_layout layouts[2],
                        bool upside_down) {
    struct frame frame = {.in = {.info = s->largest, .layout = layouts[0]}, .out = {.layout = layouts[1]}};
    if (imgpipe_plan_output(s->plan, width, height, &frame.out.info, &s->error)) printf("FAIL %s\n", s->error.message), exit(1);
    frame.in.info.width = width;
    frame.in.info.height = height;
    image_new(&frame, 0, &frame.in, aligned);
    image_new(&frame, 1, &frame.out, aligned);
    if (upside_down) turn(&frame.in), turn(&frame.out);
    frame.host = malloc(row_bytes(&frame.in) * (size_t)height);
    if (!frame.host) abort();
    frame_refill(&frame);
    return frame;
}

struct frame frame_new(struct subject *s, int64_t width, int64_t height, bool aligned) {
    return frame_laid(s, width, height, aligned,
                      (imgpipe_layout[2]){{IMGPIPE_ORDER_NATIVE, false, 0}, {IMGPIPE_ORDER_NATIVE, false, 0}}, false);
}

void frame_free(struct frame *frame) {
    CHECK(cudaFree(frame->memory[0]));
    CHECK(cudaFree(frame->memory[1]));
    free(frame->host);
}

void enqueue(struct subject *s, const struct frame *frame, cudaStream_t stream) {
    imgpipe_status status = imgpipe_plan_enqueue(s->plan, &frame->in, &frame->out, stream, &s->error);
    expect(!status, "enqueue", s->error.message);
}

/* Runs the text on the CPU; `out` gets fresh rows without gaps, or is NULL. */
static void run_on_cpu(const struct frame *frame, const char *text, imgpipe_image *out, uint64_t *counts, bool add) {
    imgpipe_chain *chain = NULL;
    imgpipe_plan *plan = NULL;
    imgpipe_error error;
    imgpipe_image in = frame->in;
    in.pixels = frame->host;
    in.stride = (ptrdiff_t)row_bytes(&frame->in);
    out->layout = frame->out.layout;
    imgpipe_status status = imgpipe_chain_parse(text, &chain, &error);
    /* The depth is what the frame's output has. */
    imgpipe_prepare_options options = imgpipe_prepare_options_default();
    if (frame->out.info.format.type != in.info.format.type) options.depth = frame->out.info.format.type == IMGPIPE_U8 ? 8 : 16;
    if (!status) status = imgpipe_prepare(cpu, chain, &in.info, &options, &plan, &error);
    if (!status) status = imgpipe_plan_output(plan, in.info.width, in.info.height, &out->info, &error);
    if (!status && counts) status = imgpipe_plan_count(plan, 0, counts, add, &error);
    if (!status) {
        out->stride = (ptrdiff_t)row_bytes(out);
        out->pixels = malloc((size_t)out->stride * (size_t)out->info.height);
        if (!out->pixels) abort();
        status = imgpipe_plan_run(plan, &in, out, &error);
    }
    if (status) printf("FAIL on the CPU: %s\n", error.message), exit(1);
    imgpipe_plan_free(&plan);
    imgpipe_chain_free(&chain);
}

void frame_check(struct subject *s, struct frame *frame, const char *text) {
    CHECK(cudaStreamSynchronize(s->stream));
    imgpipe_image expected = {0};
    run_on_cpu(frame, text, &expected, NULL, false);
    unsigned char *found = malloc(frame->size[1]), *wanted = malloc(frame->size[1]);
    if (!found || !wanted) abort();
    CHECK(cudaMemcpy(found, frame->memory[1], frame->size[1], cudaMemcpyDeviceToHost));
    memset(wanted, GUARD_BYTE, frame->size[1]);
    ptrdiff_t first = (unsigned char *)frame->out.pixels - frame->memory[1];
    size_t row = row_bytes(&frame->out);
    bool same = true;
    for (int64_t y = 0; y < frame->out.info.height; y++) {
        ptrdiff_t at = first + y * frame->out.stride;
        memcpy(wanted + at, (unsigned char *)expected.pixels + y * expected.stride, row);
        same = same && memcmp(wanted + at, found + at, row) == 0;
    }
    char what[300];
    snprintf(what, sizeof what, "%s, %lld x %lld, type %d, %d channels, stride %lld", text, (long long)frame->in.info.width,
             (long long)frame->in.info.height, frame->in.info.format.type, frame->in.info.format.channels,
             (long long)frame->in.stride);
    expect(same, what, "other pixels than on the CPU");
    expect(!same || memcmp(found, wanted, frame->size[1]) == 0, what, "bytes outside the rows were written");
    free(found);
    free(wanted);
    free(expected.pixels);
}

void count_on_cpu(struct subject *s, const struct frame *frame, const char *text, uint64_t *counts, bool add) {
    imgpipe_image out = {0};
    (void)s;
    run_on_cpu(frame, text, &out, counts, add);
    free(out.pixels);
}
