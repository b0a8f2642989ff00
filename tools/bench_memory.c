/* imgpipe's side of the measurements in memory. Commands come on standard input, one a line, and each is answered by one line; so
 * the benchmark can ask this program and others of the same language (bench_opencv.cpp) in turn for single runs.
 *
 * usage: bench_memory THREADS
 *
 *     load WIDTH HEIGHT CHANNELS BYTES PATH    raw samples of 1 or 2 bytes become the image to work on; answer: ok
 *     run CHAIN                                one run of the chain from memory to memory; answer: seconds
 *     copy                                     one copy of the image with memcpy; answer: seconds
 *     png LEVEL                                answer: bytes of the image as libpng writes it by itself at this level
 *
 * What goes wrong is answered by a line that begins with "error". */
#include "imgpipe.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct bench {
    imgpipe_context *context;
    imgpipe_image in, out;
    size_t out_size;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Large pages, as OpenCV's side has them too: the first touch of fresh memory would otherwise hide the work. */
static void *pages(size_t size) {
    size_t large = (size_t)2 << 20;
    size = (size + large - 1) / large * large;
    void *memory = aligned_alloc(large, size);
    if (!memory) return NULL;
    madvise(memory, size, MADV_HUGEPAGE);
    memset(memory, 0, size);
    return memory;
}

static size_t image_bytes(const imgpipe_image *image) {
    return (size_t)image->stride * (size_t)image->info.height;
}

static void load(struct bench *b, const char *arguments) {
    long long width, height;
    int channels, bytes, at = 0;
    if (sscanf(arguments, "%lld %lld %d %d %n", &width, &height, &channels, &bytes, &at) != 4 || at == 0) {
        printf("error: load WIDTH HEIGHT CHANNELS BYTES PATH\n");
        return;
    }
    free(b->in.pixels);
    b->in.info = (imgpipe_info){width, height, {bytes == 2 ? IMGPIPE_U16 : IMGPIPE_U8, channels, false}};
    b->in.stride = (ptrdiff_t)(width * channels * bytes);
    b->in.pixels = pages(image_bytes(&b->in));
    FILE *file = fopen(arguments + at, "rb");
    if (!file || !b->in.pixels || fread(b->in.pixels, 1, image_bytes(&b->in), file) != image_bytes(&b->in))
        printf("error: cannot read %s\n", arguments + at);
    else
        printf("ok\n");
    if (file) fclose(file);
}

/* Memory of the result is kept from run to run. */
static bool make_room(struct bench *b, size_t size) {
    if (size <= b->out_size) return true;
    free(b->out.pixels);
    b->out.pixels = pages(size);
    b->out_size = b->out.pixels ? size : 0;
    return b->out.pixels != NULL;
}

static void run(struct bench *b, const char *text) {
    imgpipe_error error = {.status = IMGPIPE_ERROR_MEMORY, .message = "no memory"};
    imgpipe_chain *chain = NULL;
    imgpipe_status failed = imgpipe_chain_parse(text, &chain, &error);
    if (!failed) failed = imgpipe_chain_output(b->context, chain, &b->in.info, NULL, &b->out.info, &error);
    if (!failed) {
        b->out.stride = (ptrdiff_t)((size_t)b->out.info.width * imgpipe_pixel_size(b->out.info.format));
        if (!make_room(b, image_bytes(&b->out))) failed = IMGPIPE_ERROR_MEMORY;
    }
    double began = now();
    if (!failed) failed = imgpipe_run_image(b->context, chain, &b->in, &b->out, NULL, NULL, &error);
    double took = now() - began;
    if (failed)
        printf("error: %s: %s\n", text, error.message);
    else
        printf("%.9f\n", took);
    imgpipe_chain_free(&chain);
}

static void copy(struct bench *b) {
    size_t size = image_bytes(&b->in);
    if (!make_room(b, size)) {
        printf("error: no memory\n");
        return;
    }
    double began = now();
    memcpy(b->out.pixels, b->in.pixels, size);
    /* The copy must not be taken for one that nobody reads. */
    __asm__ volatile("" : : "r"(b->out.pixels) : "memory");
    printf("%.9f\n", now() - began);
}

static void count_bytes(png_structp png, png_bytep data, size_t length) {
    (void)data;
    *(size_t *)png_get_io_ptr(png) += length;
}

static void nothing(png_structp png) {
    (void)png;
}

static void write_png(struct bench *b, int level) {
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    size_t total = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        printf("error: libpng failed\n");
        return;
    }
    png_set_write_fn(png, &total, count_bytes, nothing);
    png_set_compression_level(png, level);
    png_set_IHDR(png, info, (png_uint_32)b->in.info.width, (png_uint_32)b->in.info.height, 8, types[b->in.info.format.channels],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int64_t y = 0; y < b->in.info.height; y++) png_write_row(png, (png_bytep)b->in.pixels + y * b->in.stride);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    printf("%zu\n", total);
}

int main(int argc, char **argv) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_error error;
    struct bench b = {0};
    char line[8192];
    options.device = "cpu";
    options.threads = argc > 1 ? atoi(argv[1]) : 1;
    if (imgpipe_context_new(&options, &b.context, &error)) {
        printf("error: %s\n", error.message);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "load ", 5) == 0)
            load(&b, line + 5);
        else if (!b.in.pixels)
            printf("error: nothing was loaded\n");
        else if (strncmp(line, "run ", 4) == 0)
            run(&b, line + 4);
        else if (strcmp(line, "copy") == 0)
            copy(&b);
        else if (strncmp(line, "png ", 4) == 0 && b.in.info.format.type == IMGPIPE_U8)
            write_png(&b, atoi(line + 4));
        else
            printf("error: unknown command\n");
        fflush(stdout);
    }
    free(b.in.pixels);
    free(b.out.pixels);
    imgpipe_context_free(&b.context);
    return 0;
}
