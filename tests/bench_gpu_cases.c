/* bench_gpu: the table of what is measured, and the content of images. */
#include "bench_gpu.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

/* Goals in Gpix/s for an H200. */
const struct gpu_case gpu_cases[] = {
    {"gray", IMGPIPE_U8, 3, 960, true, true},
    {"gray", IMGPIPE_U8, 4, 0, false, false},
    {"gray", IMGPIPE_U16, 3, 0, false, false},
    {"gray", IMGPIPE_F32, 3, 0, false, false},
    {"blur=2", IMGPIPE_U8, 1, 700, true, true},
    {"blur=2", IMGPIPE_U8, 3, 240, true, true},
    {"blur=2", IMGPIPE_U16, 1, 0, false, true},
    {"blur=2", IMGPIPE_F32, 1, 0, false, false},
    {"blur=10", IMGPIPE_U8, 1, 150, true, false},
    {"blur=30", IMGPIPE_U8, 1, 0, false, false},
    {"box=11", IMGPIPE_U8, 1, 1200, true, true},
    {"box=31", IMGPIPE_U8, 1, 1200, true, false},
    {"box=101", IMGPIPE_U8, 1, 1200, true, false},
    {"box=11", IMGPIPE_U8, 3, 0, false, false},
    {"box=11", IMGPIPE_U16, 1, 0, false, false},
    {"box=11", IMGPIPE_F32, 1, 0, false, false},
    {"conv=gaussian3", IMGPIPE_U8, 1, 1500, true, true},
    {"conv=gaussian5", IMGPIPE_U8, 1, 1000, true, true},
    {"conv=sobel_x:abs", IMGPIPE_U8, 1, 1500, false, false},
    {"conv=gaussian5", IMGPIPE_U8, 3, 0, false, false},
    {"conv=gaussian5", IMGPIPE_U16, 1, 0, false, false},
    {"conv=gaussian5", IMGPIPE_F32, 1, 0, false, false},
    {"conv=@int:9", IMGPIPE_U8, 1, 350, true, false},
    {"conv=@int:15", IMGPIPE_U8, 1, 150, true, false},
    {"conv=@int:31", IMGPIPE_U8, 1, 40, false, false},
    {"conv=@real:9", IMGPIPE_U8, 1, 200, true, false},
    {"conv=@real:15", IMGPIPE_U8, 1, 80, false, false},
    {"conv=@real:31", IMGPIPE_U8, 1, 20, false, false},
    {"median=3", IMGPIPE_U8, 1, 1200, true, true},
    {"median=5", IMGPIPE_U8, 1, 250, true, true},
    {"median=7", IMGPIPE_U8, 1, 110, true, true},
    {"median=9", IMGPIPE_U8, 1, 70, true, false},
    {"median=11", IMGPIPE_U8, 1, 45, false, false},
    {"median=15", IMGPIPE_U8, 1, 25, true, false},
    {"median=25", IMGPIPE_U8, 1, 10, false, false},
    {"median=31", IMGPIPE_U8, 1, 7, true, false},
    {"median=51", IMGPIPE_U8, 1, 4.5, false, false},
    {"median=3", IMGPIPE_U8, 3, 0, false, true},
    {"median=5", IMGPIPE_U8, 3, 0, false, false},
    {"median=3", IMGPIPE_U16, 1, 800, true, true},
    {"median=5", IMGPIPE_U16, 1, 250, true, true},
    {"median=7", IMGPIPE_U16, 1, 110, false, false},
    {"median=9", IMGPIPE_U16, 1, 70, false, false},
    {"median=11", IMGPIPE_U16, 1, 45, false, false},
    {"median=15", IMGPIPE_U16, 1, 25, false, false},
    {"median=25", IMGPIPE_U16, 1, 5, false, false},
    {"median=31", IMGPIPE_U16, 1, 3.5, false, false},
    {"median=51", IMGPIPE_U16, 1, 2.25, false, false},
    {"median=3", IMGPIPE_F32, 1, 430, true, false},
    {"median=5", IMGPIPE_F32, 1, 120, false, false},
    {"median=7", IMGPIPE_F32, 1, 50, false, false},
    {"median=9", IMGPIPE_F32, 1, 0, false, false},
    {"median=15", IMGPIPE_F32, 1, 0, false, false},
    {"median=31", IMGPIPE_F32, 1, 0, false, false},
    {"hist=pass", IMGPIPE_U8, 1, 4000, true, true},
    {"hist=pass", IMGPIPE_U8, 3, 1250, true, true},
    {"hist=pass", IMGPIPE_U16, 1, 0, false, true},
    {"hist=pass:min=0:max=1", IMGPIPE_F32, 1, 0, false, false},
    {"gray,blur=1,median=3", IMGPIPE_U8, 3, 400, true, true},
};
const int gpu_case_count = (int)(sizeof gpu_cases / sizeof *gpu_cases);
const char *const gpu_content_names[GPU_CONTENTS] = {"random", "constant", "natural"};

char *gpu_chain_text(const char *chain) {
    char kind[8];
    int size;
    if (sscanf(chain, "conv=@%7[a-z]:%d", kind, &size) != 2) return strdup(chain);
    char *text = malloc((size_t)(size * size) * 12 + 64), *at = text;
    if (!text) abort();
    at += sprintf(at, "conv=mask='");
    for (int i = 0; i < size * size; i++) {
        int weight = (int)((unsigned)i * 2654435761u >> 24) - 100; /* -100 ... 155: kept within 8 bits */
        if (weight > 127) weight = 127;
        at += strcmp(kind, "int") ? sprintf(at, "%s%d.5",
                                            i % size ? " "
                                            : i      ? ";"
                                                     : "",
                                            weight)
                                  : sprintf(at, "%s%d",
                                            i % size ? " "
                                            : i      ? ";"
                                                     : "",
                                            weight);
    }
    sprintf(at, "':div=%d", size * size * 32);
    return text;
}

/* ---- content */

struct natural {
    unsigned char *rgb;
    int width, height;
};

static bool read_pnm(const char *path, struct natural *to) {
    FILE *file = fopen(path, "rb");
    int max;
    bool good = file && fscanf(file, "P6 %d %d %d", &to->width, &to->height, &max) == 3 && fgetc(file) != EOF;
    size_t size = good ? (size_t)to->width * (size_t)to->height * 3 : 0;
    to->rgb = good ? malloc(size) : NULL;
    good = to->rgb && fread(to->rgb, 1, size, file) == size;
    if (file) fclose(file);
    return good;
}

/* Decodes the pictures of `folder` that are RGB into `pictures`; returns how many. */
static int natural_load(const char *folder, struct natural *pictures, int capacity) {
    static const char *const names[] = {"astronaut.png", "chelsea.png", "coffee.png"};
    imgpipe_context *context = NULL;
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_run_options run = imgpipe_run_options_default();
    char path[4096], temporary[] = "/tmp/bench_gpu_XXXXXX";
    int n = 0, fd = mkstemp(temporary);
    options.device = "cpu";
    run.format = "ppm";
    if (fd < 0 || imgpipe_context_new(&options, &context, NULL)) return 0;
    close(fd);
    for (int i = 0; i < capacity && i < (int)(sizeof names / sizeof *names); i++) {
        imgpipe_error error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (imgpipe_run_file(context, NULL, path, temporary, &run, NULL, &error))
            fprintf(stderr, "bench_gpu: %s\n", error.message);
        else if (read_pnm(temporary, &pictures[n]))
            n++;
    }
    unlink(temporary);
    imgpipe_context_free(&context);
    return n;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static void put_sample(void *samples, int64_t at, imgpipe_type type, unsigned byte, uint64_t noise) {
    if (type == IMGPIPE_U8) ((uint8_t *)samples)[at] = (uint8_t)byte;
    if (type == IMGPIPE_U16) ((uint16_t *)samples)[at] = (uint16_t)(byte << 8 | (noise & 255));
    if (type == IMGPIPE_F32) ((float *)samples)[at] = ((float)byte + (float)(noise & 255) / 256.0f) / 256.0f;
}

bool gpu_fill(void *samples, int64_t width, int64_t rows, imgpipe_format format, enum gpu_content content, const char *folder) {
    static struct natural pictures[3];
    static int count = -1;
    uint64_t state = 88172645463325252u;
    int64_t row = width * format.channels;
    if (content == GPU_NATURAL && count < 0) count = natural_load(folder, pictures, 3);
    if (content == GPU_NATURAL && count == 0) return false;
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < width; x++)
            for (int c = 0; c < format.channels; c++) {
                uint64_t noise = next_random(&state);
                unsigned byte = content == GPU_RANDOM ? (unsigned)(noise >> 40 & 255) : 131;
                if (content == GPU_NATURAL) {
                    const struct natural *p = &pictures[(x / 512 + y / 512) % count];
                    /* Channels beyond the third take the first again. */
                    byte = p->rgb[((y % p->height) * p->width + x % p->width) * 3 + c % 3];
                }
                put_sample(samples, y * row + x * format.channels + c, format.type, byte, content == GPU_CONSTANT ? 0 : noise);
            }
    return true;
}
