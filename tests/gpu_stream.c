/* Host-to-host throughput on CUDA beside bare copies with the same traffic in the same run, and the share of time in which
 * copies and kernels overlap. Usage: gpu_stream [MEGAPIXELS [DEVICE]]. Prints a table; exit status 77 without a GPU. */
#include "clock.h"
#include "imgpipe.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                     \
    do {                                                                                                \
        cudaError_t check_code = (call);                                                                \
        if (check_code != cudaSuccess) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(check_code));                         \
            exit(1);                                                                                    \
        }                                                                                               \
    } while (0)

enum { RUNS = 7, CHUNK = 16 << 20 };

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, RUNS, sizeof *values, by_value);
    return values[RUNS / 2];
}

/* Seconds for `up` bytes to the device and `down` bytes back at once, in chunks, from and to pinned memory. */
static double bare_copies(unsigned char *in, size_t up, unsigned char *out, size_t down) {
    static unsigned char *device[2];
    static cudaStream_t streams[2];
    double seconds[RUNS];
    if (!device[0]) {
        for (int i = 0; i < 2; i++) {
            CHECK(cudaMalloc((void **)&device[i], CHUNK));
            CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        }
    }
    for (int run = 0; run < RUNS; run++) {
        double start = clock_now();
        for (size_t at = 0; at < up || at < down; at += CHUNK) {
            if (at < up) CHECK(cudaMemcpyAsync(device[0], in + at, up - at < CHUNK ? up - at : CHUNK, cudaMemcpyHostToDevice, streams[0]));
            if (at < down) CHECK(cudaMemcpyAsync(out + at, device[1], down - at < CHUNK ? down - at : CHUNK, cudaMemcpyDeviceToHost, streams[1]));
        }
        CHECK(cudaDeviceSynchronize());
        seconds[run] = clock_now() - start;
    }
    return median(seconds);
}

static void print_line(void *user, imgpipe_log_level level, const char *message) {
    (void)level;
    if ((*(int *)user)-- > 0) printf("    %s\n", message);
}

static void measure(imgpipe_context *context, const char *text, const imgpipe_image *in, unsigned char *out_pixels) {
    imgpipe_chain *chain = NULL;
    imgpipe_error error;
    imgpipe_image out = {.pixels = out_pixels};
    imgpipe_report report = imgpipe_report_default();
    double seconds[RUNS], up = 0, compute = 0, down = 0;
    if (imgpipe_chain_parse(text, &chain, &error) || imgpipe_chain_output(context, chain, &in->info, NULL, &out.info, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    out.stride = (ptrdiff_t)(out.info.width * (int64_t)imgpipe_pixel_size(out.info.format));
    for (int run = -1; run < RUNS; run++) {
        double start = clock_now();
        if (imgpipe_run_image(context, chain, in, &out, NULL, &report, &error)) {
            fprintf(stderr, "%s\n", error.message);
            exit(1);
        }
        if (run < 0) continue; /* allocation and the first launch of each kernel */
        seconds[run] = clock_now() - start;
        up = report.seconds.upload, compute = report.seconds.compute, down = report.seconds.download;
    }
    double last = seconds[RUNS - 1], took = median(seconds);
    size_t bytes_up = (size_t)in->stride * (size_t)in->info.height, bytes_down = (size_t)out.stride * (size_t)out.info.height;
    double bare = bare_copies(in->pixels, bytes_up, out_pixels, bytes_down);
    double pixels = (double)in->info.width * (double)in->info.height;
    printf("%-28s %7.2f Gpix/s  bare copies %7.2f Gpix/s  share %5.1f %%   up %.4f + compute %.4f + down %.4f = %.2f times the wall time\n", text,
           pixels / took * 1e-9, pixels / bare * 1e-9, 100 * bare / took, up, compute, down, (up + compute + down) / last);
    imgpipe_chain_free(&chain);
}

int main(int argc, char **argv) {
    int64_t megapixels = argc > 1 ? atoll(argv[1]) : 768;
    imgpipe_image in = {.info = {24576, megapixels * 1000000 / 24576, {IMGPIPE_U8, 3, false}}, .stride = 24576 * 3};
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *context = NULL;
    imgpipe_error error;
    int lines = 16;
    options.device = argc > 2 ? argv[2] : "cuda";
    options.log = print_line;
    options.user = &lines;
    if (imgpipe_context_new(&options, &context, &error)) {
        printf("SKIP: %s\n", error.message);
        return 77;
    }
    size_t bytes = (size_t)in.stride * (size_t)in.info.height;
    unsigned char *out;
    CHECK(cudaHostAlloc(&in.pixels, bytes, cudaHostAllocDefault));
    CHECK(cudaHostAlloc((void **)&out, bytes, cudaHostAllocDefault));
    uint64_t state = 1;
    for (size_t i = 0; i + 8 <= bytes; i += 8) *(uint64_t *)((unsigned char *)in.pixels + i) = state = state * 6364136223846793005u + 1442695040888963407u;
    printf("%lld x %lld RGB8, %.2f GiB, pinned\n", (long long)in.info.width, (long long)in.info.height, (double)bytes / (1 << 30));
    measure(context, "gray,blur=1,median=3", &in, out); /* also shows the first tiles on their way */
    measure(context, "gray", &in, out);
    measure(context, "invert,levels=10:240,blur=1", &in, out);
    measure(context, "blur=2", &in, out);
    imgpipe_context_free(&context);
    return 0;
}
