/* Measures the CUDA kernels from device memory to device memory, through the launchers that the backend calls: images of several
 * times the L2 cache, and frames of a camera. Each chain's result is compared with the CPU's first, on a smaller image. Beside it
 * stands what NPP and CUB reach, if they were there when this was built.
 *
 * Usage: bench_gpu [--json] [--quick] [--samples FOLDER] [PATTERN...]; a pattern is a part of a line's name. A line shows the slower
 * of the contents. Exit status 77 without a GPU, 1 if a result is wrong. */
#include "bench_gpu.h"

#include <string.h>

#define MOST_RUNS 41
#define FRAMES 400
#define BIG_BYTES ((int64_t)256 << 20)
#define STRIP_BYTES ((int64_t)12 << 20) /* of input: strips of a chain that stay in the L2 cache */

struct options {
    bool json, quick;
    const char *samples;
    char **patterns;
    int pattern_count;
};

static cudaStream_t stream;
static cudaEvent_t before, after, marks[2 * FRAMES];
static double copy_rate; /* bytes read and written a second */
static int failures, records;

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double elapsed(void) {
    float ms;
    CHECK(cudaEventSynchronize(after));
    CHECK(cudaEventElapsedTime(&ms, before, after));
    return ms * 1e-3;
}

/* A run in strips of `rows` rows, or a peer's. */
struct work {
    struct gpu_run *run;
    int64_t rows;
    struct gpu_peer *peer;
};

/* Seconds of one run: the median of up to MOST_RUNS, of fewer where they are slow. */
static double seconds_of(struct work work, bool quick) {
    double seconds[MOST_RUNS + 2];
    int wanted = quick ? 9 : MOST_RUNS, n = 0;
    for (int i = -2; i < wanted; i++) {
        CHECK(cudaEventRecord(before, stream));
        if (work.peer)
            CHECK(gpu_peer_enqueue(work.peer));
        else
            gpu_run_enqueue(work.run, work.rows);
        CHECK(cudaEventRecord(after, stream));
        double took = elapsed();
        if (i < 0 && took < 0.2) continue; /* warms up */
        seconds[n++] = took;
        if (took > 0.02 && i >= 2) break;
    }
    qsort(seconds, (size_t)n, sizeof *seconds, by_value);
    return seconds[n / 2];
}

static void measure_copy(void) {
    size_t bytes = (size_t)1 << 30;
    void *from, *to;
    double seconds[15];
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemset(from, 1, bytes));
    for (int i = -2; i < 15; i++) {
        CHECK(cudaEventRecord(before, stream));
        CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaEventRecord(after, stream));
        double took = elapsed();
        if (i >= 0) seconds[i] = took;
    }
    qsort(seconds, 15, sizeof *seconds, by_value);
    copy_rate = 2.0 * (double)bytes / seconds[7];
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
}

/* Fills an image in device memory from a block of rows that is repeated. */
static bool fill_device(struct gpu_run *run, imgpipe_info info, enum gpu_content content, const char *samples) {
    int64_t stride, row = info.width * (int64_t)imgpipe_pixel_size(info.format), rows = info.height < 1024 ? info.height : 1024;
    unsigned char *to = gpu_run_input(run, &stride), *block = malloc((size_t)(row * rows));
    if (!block) abort();
    bool good = gpu_fill(block, info.width, rows, info.format, content, samples);
    for (int64_t y = 0; good && y < info.height; y += rows) {
        int64_t n = info.height - y < rows ? info.height - y : rows;
        CHECK(cudaMemcpy2D(to + y * stride, (size_t)stride, block, (size_t)row, (size_t)row, (size_t)n, cudaMemcpyHostToDevice));
    }
    CHECK(cudaDeviceSynchronize());
    free(block);
    return good;
}

static bool verify(const char *name, const char *chain, imgpipe_format format, const struct options *options) {
    static const int64_t sizes[][2] = {{701, 333}, {1024, 96}, {37, 29}, {1, 1}};
    for (int i = 0; i < 4; i++)
        for (int content = 0; content < GPU_CONTENTS; content++) {
            imgpipe_info info = {sizes[i][0], sizes[i][1], format};
            void *host = malloc((size_t)(info.width * info.height) * imgpipe_pixel_size(format));
            struct gpu_run *run = gpu_run_new(chain, info, stream);
            if (!host) abort();
            if (gpu_fill(host, info.width, info.height, format, (enum gpu_content)content, options->samples)) {
                const char *wrong = gpu_run_verify(run, chain, host);
                if (wrong) {
                    fprintf(stderr, "bench_gpu: %s, %lld x %lld, %s: %s\n", name, (long long)info.width, (long long)info.height,
                            gpu_content_names[content], wrong);
                    failures++;
                }
                if (wrong) i = content = 4;
            }
            gpu_run_free(run);
            free(host);
        }
    return failures == 0;
}

/* A record of the JSON list, or a line of the table. */
static void report(const struct options *options, const char *name, double rate, double low, double high, double goal,
                   const char *detail) {
    if (!options->json) {
        printf("%-34s %9.1f %9.1f %8.1f ", name, low, high, goal);
        if (goal > 0)
            printf("%6.2f ", rate / goal);
        else
            printf("     - ");
        printf(" %s\n", detail);
        fflush(stdout);
        return;
    }
    printf("%s\n{\"name\": \"%s\", \"ratio\": %.6g, \"low\": %.6g, \"high\": %.6g, \"goal\": ", records++ ? "," : "", name, rate,
           low, high);
    if (goal > 0)
        printf("%.6g", goal);
    else
        printf("null");
    printf(", \"sense\": \"at least\", \"peer\": \"Gpix/s\", \"detail\": \"%s\"}", detail);
    fflush(stdout);
}

static const char *type_name(imgpipe_type type) {
    return type == IMGPIPE_U8 ? "u8" : type == IMGPIPE_U16 ? "u16" : "f32";
}

/* So many rows that the image has BIG_BYTES, or takes about a second where the chain is slow. */
static int64_t big_rows(const char *chain, imgpipe_info info, bool quick) {
    info.height = 512;
    struct gpu_run *run = gpu_run_new(chain, info, stream);
    fill_device(run, info, GPU_RANDOM, "");
    double took = seconds_of((struct work){.run = run}, true);
    gpu_run_free(run);
    int64_t rows = BIG_BYTES / (info.width * (int64_t)imgpipe_pixel_size(info.format)),
            affordable = (int64_t)((quick ? 0.1 : 0.4) / took * 512);
    rows = rows < affordable ? rows : affordable;
    return rows > 512 ? rows : 512;
}

/* What a library reaches on the same input, which lies in `run`; so many rows that this takes little time. */
static void measure_peer(const char *chain, imgpipe_info info, const struct gpu_run *run, const struct options *options, char *text,
                         size_t size) {
    int64_t stride;
    const int64_t rows = info.height;
    const unsigned char *from = gpu_run_input(run, &stride);
    text[0] = 0;
    for (int64_t height = 256;; height *= 4) {
        info.height = height < rows ? height : rows;
        struct gpu_peer *peer = gpu_peer_new(chain, info, from, stride, stream);
        if (!peer) return;
        double took = seconds_of((struct work){.peer = peer}, options->quick);
        snprintf(text, size, ", %s %.3g", gpu_peer_name(peer), (double)(info.width * info.height) / took * 1e-9);
        gpu_peer_free(peer);
        if (took > 0.005 || info.height == rows) return;
    }
}

/* One way to cut the image; `strips`: into strips that stay in the cache. */
static void measure_big(const struct gpu_case *c, const char *chain, const struct options *options, bool strips) {
    imgpipe_info info = {16384, 0, {c->type, c->channels, false}};
    char name[128], detail[256], rates[96] = "", peer[32] = "";
    double low = 0, high = 0;
    info.height = big_rows(chain, info, options->quick);
    struct gpu_run *run = gpu_run_new(chain, info, stream);
    int64_t pixel = (int64_t)imgpipe_pixel_size(info.format), rows = strips ? STRIP_BYTES / (info.width * pixel) : 0;
    for (int content = 0; content < GPU_CONTENTS; content++) {
        if (!fill_device(run, info, (enum gpu_content)content, options->samples)) continue;
        double rate =
            (double)(info.width * info.height) / seconds_of((struct work){.run = run, .rows = rows}, options->quick) * 1e-9;
        snprintf(rates + strlen(rates), sizeof rates - strlen(rates), " %s %.1f", gpu_content_names[content], rate);
        low = low == 0 || rate < low ? rate : low;
        high = rate > high ? rate : high;
    }
    double moved = (double)pixel;
    if (strncmp(c->chain, "hist", 4)) moved += (double)imgpipe_pixel_size(gpu_run_output(run).format);
    snprintf(name, sizeof name, "%s %dx%s%s", c->chain, c->channels, type_name(c->type), strips ? " strips" : "");
    if (!strips) measure_peer(c->chain, info, run, options, peer, sizeof peer);
    snprintf(detail, sizeof detail, "%.1f %% of copy,%s, %lld rows, %d launches%s", 100 * low * 1e9 * moved / copy_rate, rates,
             (long long)info.height, gpu_run_launches(run, rows), peer);
    report(options, name, low, low, high, strips ? 0 : c->goal, detail); /* the goal is for the run as the library makes it */
    gpu_run_free(run);
}

static void measure_frames(const struct gpu_case *c, const char *chain, const struct options *options, int64_t width,
                           int64_t height) {
    imgpipe_info info = {width, height, {c->type, c->channels, false}};
    struct gpu_run *run = gpu_run_new(chain, info, stream);
    static double seconds[FRAMES];
    char name[128], detail[256];
    fill_device(run, info, fill_device(run, info, GPU_NATURAL, options->samples) ? GPU_NATURAL : GPU_RANDOM, options->samples);
    for (int i = 0; i < FRAMES / 10; i++) gpu_run_enqueue(run, 0);
    for (int i = 0; i < FRAMES; i++) {
        CHECK(cudaEventRecord(marks[2 * i], stream));
        gpu_run_enqueue(run, 0);
        CHECK(cudaEventRecord(marks[2 * i + 1], stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < FRAMES; i++) {
        float ms;
        CHECK(cudaEventElapsedTime(&ms, marks[2 * i], marks[2 * i + 1]));
        seconds[i] = ms * 1e-3;
    }
    qsort(seconds, FRAMES, sizeof *seconds, by_value);
    double pixels = (double)(width * height) * 1e-9, p50 = seconds[FRAMES / 2], p99 = seconds[FRAMES * 99 / 100];
    snprintf(name, sizeof name, "%s %dx%s %lldx%lld", c->chain, c->channels, type_name(c->type), (long long)width,
             (long long)height);
    snprintf(detail, sizeof detail, "frame p50 %.1f us, p99 %.1f us, %d launches", p50 * 1e6, p99 * 1e6, gpu_run_launches(run, 0));
    report(options, name, pixels / p50, pixels / p99, pixels / p50, 0, detail);
    gpu_run_free(run);
}

static bool wanted(const char *name, const struct options *options) {
    bool any = options->pattern_count == 0;
    for (int i = 0; i < options->pattern_count; i++) any = any || strstr(name, options->patterns[i]);
    return any;
}

static void measure_case(const struct gpu_case *c, const struct options *options) {
    char name[128], *chain = gpu_chain_text(c->chain);
    imgpipe_format format = {c->type, c->channels, false};
    snprintf(name, sizeof name, "%s %dx%s", c->chain, c->channels, type_name(c->type));
    if (wanted(name, options) && (c->quick || !options->quick)) {
        int before_this = failures;
        verify(name, chain, format, options);
        if (failures == before_this) {
            measure_big(c, chain, options, false);
            if (strchr(c->chain, ',')) measure_big(c, chain, options, true);
            if (c->frames) measure_frames(c, chain, options, 1920, 1200);
            if (c->frames) measure_frames(c, chain, options, 3840, 2160);
        }
    }
    free(chain);
}

static struct options read_options(int argc, char **argv) {
    struct options options = {.samples = "samples", .patterns = calloc((size_t)argc, sizeof(char *))};
    if (!options.patterns) abort();
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            options.json = true;
        else if (!strcmp(argv[i], "--quick"))
            options.quick = true;
        else if (!strcmp(argv[i], "--samples") && i + 1 < argc)
            options.samples = argv[++i];
        else if (argv[i][0] == '-') {
            fprintf(stderr, "usage: bench_gpu [--json] [--quick] [--samples FOLDER] [PATTERN...]\n");
            exit(2);
        } else
            options.patterns[options.pattern_count++] = argv[i];
    }
    return options;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    struct cudaDeviceProp device;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "SKIP: no GPU here\n");
        return 77;
    }
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&before));
    CHECK(cudaEventCreate(&after));
    for (int i = 0; i < 2 * FRAMES; i++) CHECK(cudaEventCreate(&marks[i]));
    measure_copy();
    if (options.json)
        printf("[");
    else
        printf("%s: device copy %.2f TB/s read and written\n%-34s %9s %9s %8s %6s\n", device.name, copy_rate * 1e-12, "Gpix/s",
               "slowest", "fastest", "goal", "ratio");
    for (int i = 0; i < gpu_case_count; i++) measure_case(&gpu_cases[i], &options);
    if (options.json) printf("\n]\n");
    free(options.patterns);
    return failures != 0;
}
