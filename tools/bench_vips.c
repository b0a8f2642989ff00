/* libvips' side of the measurements in memory, with the same commands and chains as imgpipe's (bench_memory.c), one stage each.
 *
 * usage: bench_vips memory THREADS      commands on standard input, answers on standard output */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vips/vips.h>

struct bench {
    void *pixels;
    int width, height, channels, bytes;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void load(struct bench *b, const char *arguments) {
    int at = 0;
    if (sscanf(arguments, "%d %d %d %d %n", &b->width, &b->height, &b->channels, &b->bytes, &at) != 4 || at == 0) {
        printf("error: load WIDTH HEIGHT CHANNELS BYTES PATH\n");
        return;
    }
    size_t size = (size_t)b->width * (size_t)b->height * (size_t)b->channels * (size_t)b->bytes;
    free(b->pixels);
    b->pixels = malloc(size);
    FILE *file = fopen(arguments + at, "rb");
    bool read = file && b->pixels && fread(b->pixels, 1, size, file) == size;
    printf(read ? "ok\n" : "error: cannot read %s\n", arguments + at);
    if (file) fclose(file);
}

/* "1 2;3 4" as vips' matrix, divided by its sum if that is positive. */
static VipsImage *parse_mask(const char *text) {
    double values[1024], sum = 0;
    int count = 0, rows = 1;
    for (const char *at = text; *at && count < 1024;) {
        char *end;
        values[count] = strtod(at, &end);
        if (end == at) break;
        sum += values[count++];
        if (*end == ';') rows++;
        at = *end ? end + 1 : end;
    }
    VipsImage *mask = vips_image_new_matrix_from_array(count / rows, rows, values, count);
    vips_image_set_double(mask, "scale", sum > 0 ? sum : 1);
    return mask;
}

static int run_stage(const char *stage, VipsImage *in, VipsImage **out) {
    const char *value = strchr(stage, '=');
    value = value ? value + 1 : "";
    int size = atoi(value);
    VipsImage *mask;
    if (strncmp(stage, "gray", 4) == 0) return vips_colourspace(in, out, VIPS_INTERPRETATION_B_W, NULL);
    if (strncmp(stage, "blur=", 5) == 0) return vips_gaussblur(in, out, atof(value), NULL);
    if (strncmp(stage, "median=", 7) == 0) return vips_median(in, out, size, NULL);
    if (strncmp(stage, "hist", 4) == 0) return vips_hist_find(in, out, NULL);
    if (strncmp(stage, "box=", 4) == 0) {
        double ones[64];
        for (int i = 0; i < 64; i++) ones[i] = 1;
        mask = vips_image_new_matrix_from_array(size, 1, ones, size);
        vips_image_set_double(mask, "scale", size);
    } else if (strncmp(stage, "conv=", 5) == 0) {
        mask = parse_mask(value);
    } else {
        vips_error("bench", "no such stage");
        return -1;
    }
    bool box = stage[0] == 'b';
    int failed = box ? vips_convsep(in, out, mask, "precision", VIPS_PRECISION_INTEGER, NULL)
                     : vips_conv(in, out, mask, "precision", VIPS_PRECISION_INTEGER, NULL);
    g_object_unref(mask);
    return failed;
}

static void run(const struct bench *b, const char *stage) {
    size_t size = (size_t)b->width * (size_t)b->height * (size_t)b->channels * (size_t)b->bytes, made = 0;
    double began = now();
    VipsImage *out = NULL, *in = vips_image_new_from_memory(b->pixels, size, b->width, b->height, b->channels,
                                                            b->bytes == 2 ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR);
    VipsImage *named = NULL; /* with the meaning of its channels, as in a file */
    VipsInterpretation meaning = b->channels == 1 ? b->bytes == 2 ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W
                                 : b->bytes == 2  ? VIPS_INTERPRETATION_RGB16
                                                  : VIPS_INTERPRETATION_sRGB;
    void *result = NULL;
    if (in && vips_copy(in, &named, "interpretation", meaning, NULL) == 0 && run_stage(stage, named, &out) == 0)
        result = vips_image_write_to_memory(out, &made);
    if (result) {
        printf("%.9f\n", now() - began);
    } else {
        char why[200];
        snprintf(why, sizeof why, "%s", vips_error_buffer());
        why[strcspn(why, "\n")] = 0;
        printf("error: %s\n", why);
        vips_error_clear();
    }
    g_free(result);
    if (out) g_object_unref(out);
    if (named) g_object_unref(named);
    if (in) g_object_unref(in);
}

int main(int argc, char **argv) {
    struct bench b = {0};
    char line[8192];
    if (argc != 3 || strcmp(argv[1], "memory") != 0 || VIPS_INIT(argv[0])) {
        fprintf(stderr, "usage: bench_vips memory THREADS\n");
        return 2;
    }
    vips_concurrency_set(atoi(argv[2]));
    vips_cache_set_max(0); /* the same operation again is to be computed again */
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "load ", 5) == 0)
            load(&b, line + 5);
        else if (strncmp(line, "run ", 4) == 0 && b.pixels)
            run(&b, line + 4);
        else
            printf("error: unknown command\n");
        fflush(stdout);
    }
    free(b.pixels);
    vips_shutdown();
    return 0;
}
