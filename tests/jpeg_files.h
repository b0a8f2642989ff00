/* JPEG files of every kind, made in memory by libjpeg alone, and how the tests of JPEG read them. Included by those alone. */
#ifndef JPEG_FILES_H
#define JPEG_FILES_H
#include "input.h"
#include "source.h"
#include <stdio.h>
#include <jpeglib.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    unsigned char *data;
    size_t size;
};

static const struct recipe {
    const char *name;
    J_COLOR_SPACE in, stored;
    int channels, x, y; /* sampling factors of the first component (and of black) */
    int width, height;
    bool progressive, separate, arithmetic, optimised, bare; /* one scan a component; without JFIF and Adobe markers */
    int restart;                                             /* rows of blocks */
    int interval;                                            /* or blocks */
    int subsampling;                                         /* what struct storage should say */
} recipes[] = {
    {"gray", JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 1, 1, 33, 25, .subsampling = 0},
    {"4:4:4", JCS_RGB, JCS_YCbCr, 3, 1, 1, 35, 21, .subsampling = 444},
    {"4:2:2", JCS_RGB, JCS_YCbCr, 3, 2, 1, 35, 21, .subsampling = 422},
    {"4:2:0", JCS_RGB, JCS_YCbCr, 3, 2, 2, 35, 41, .subsampling = 420},
    {"4:4:0", JCS_RGB, JCS_YCbCr, 3, 1, 2, 35, 21, .restart = 0},
    {"4:1:1", JCS_RGB, JCS_YCbCr, 3, 4, 1, 70, 21, .restart = 0},
    {"4:1:0", JCS_RGB, JCS_YCbCr, 3, 4, 2, 70, 21, .restart = 0},
    {"1 x 4", JCS_RGB, JCS_YCbCr, 3, 1, 4, 35, 70, .restart = 0},
    {"RGB", JCS_RGB, JCS_RGB, 3, 1, 1, 20, 20, .subsampling = 444},
    {"optimised", JCS_RGB, JCS_YCbCr, 3, 2, 2, 64, 40, .optimised = true, .subsampling = 420},
    {"restarts", JCS_RGB, JCS_YCbCr, 3, 2, 2, 40, 80, .restart = 1, .subsampling = 420},
    {"gray restarts", JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 1, 1, 17, 40, .restart = 2},
    {"restart intervals", JCS_RGB, JCS_YCbCr, 3, 2, 1, 75, 20, .interval = 2, .subsampling = 422},
    {"gray 2 x 2", JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 2, 2, 33, 25, .interval = 3},
    {"progressive", JCS_RGB, JCS_YCbCr, 3, 2, 2, 40, 33, .progressive = true, .subsampling = 420},
    {"gray progressive", JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 1, 1, 40, 33, .progressive = true},
    {"progressive restarts", JCS_RGB, JCS_YCbCr, 3, 1, 1, 40, 33, .progressive = true, .restart = 1, .subsampling = 444},
    {"scan each", JCS_RGB, JCS_YCbCr, 3, 2, 1, 40, 33, .separate = true, .subsampling = 422},
    {"CMYK", JCS_CMYK, JCS_CMYK, 4, 1, 1, 20, 20, .restart = 0},
    {"CMYK without Adobe", JCS_CMYK, JCS_CMYK, 4, 1, 1, 20, 20, .bare = true},
    {"YCCK", JCS_CMYK, JCS_YCCK, 4, 2, 2, 21, 20, .restart = 0},
    {"YCCK progressive", JCS_CMYK, JCS_YCCK, 4, 2, 1, 21, 20, .progressive = true},
    {"narrow", JCS_RGB, JCS_YCbCr, 3, 2, 2, 4, 40, .subsampling = 420},
    {"two components", JCS_UNKNOWN, JCS_UNKNOWN, 2, 1, 1, 19, 18, .restart = 0},
    {"one pixel", JCS_RGB, JCS_YCbCr, 3, 2, 2, 1, 1, .subsampling = 420},
    {"a column", JCS_RGB, JCS_YCbCr, 3, 2, 2, 1, 90, .subsampling = 420},
    {"a row", JCS_RGB, JCS_YCbCr, 3, 2, 2, 90, 1, .subsampling = 420},
#if defined(C_ARITH_CODING_SUPPORTED) && defined(D_ARITH_CODING_SUPPORTED)
    {"arithmetic", JCS_RGB, JCS_YCbCr, 3, 2, 2, 40, 33, .arithmetic = true, .subsampling = 420},
    {"arithmetic progressive", JCS_RGB, JCS_YCbCr, 3, 1, 1, 40, 33, .arithmetic = true, .progressive = true, .subsampling = 444},
#endif
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

static inline const struct recipe *recipe_named(const char *name) {
    for (int i = 0; i < RECIPES; i++)
        if (!strcmp(recipes[i].name, name)) return &recipes[i];
    abort();
}

/* Smooth, with an edge and some noise. */
static unsigned char sample_at(int x, int y, int channel) {
    unsigned noise = (unsigned)(x * 7919 + y * 104729 + channel * 31) * 2654435761u >> 28;
    return (unsigned char)((x * 3 + y * (channel + 1) + (x > y ? 60 : 0)) % 200 + (int)noise);
}

/* `payload` (may be NULL) is written as segments by the caller's function. */
static struct bytes make_jpeg(const struct recipe *r, int quality, void (*segments)(j_compress_ptr cinfo)) {
    static const jpeg_scan_info each[] = {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *memory = NULL, row[1024];
    unsigned long size = 0;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &memory, &size);
    c.image_width = (JDIMENSION)r->width;
    c.image_height = (JDIMENSION)r->height;
    c.input_components = r->channels;
    c.in_color_space = r->in;
    jpeg_set_defaults(&c);
    jpeg_set_colorspace(&c, r->stored);
    jpeg_set_quality(&c, quality, TRUE);
    c.comp_info[0].h_samp_factor = r->x;
    c.comp_info[0].v_samp_factor = r->y;
    if (r->channels == 4) c.comp_info[3].h_samp_factor = r->x, c.comp_info[3].v_samp_factor = r->y;
    if (r->progressive) jpeg_simple_progression(&c);
    if (r->separate) c.scan_info = each, c.num_scans = 3;
    if (r->bare) c.write_JFIF_header = c.write_Adobe_marker = FALSE;
    c.arith_code = r->arithmetic;
    c.optimize_coding = r->optimised;
    c.restart_in_rows = r->restart;
    if (r->interval) c.restart_interval = (unsigned)r->interval;
    jpeg_start_compress(&c, TRUE);
    if (segments) segments(&c);
    for (int y = 0; y < r->height; y++) {
        for (int i = 0; i < r->width * r->channels; i++) row[i] = sample_at(i / r->channels, y, i % r->channels);
        JSAMPROW rows = row;
        jpeg_write_scanlines(&c, &rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    /* Exactly as large as the file, so that the address sanitizer sees every byte read behind it. */
    struct bytes file = {malloc(size), size};
    memcpy(file.data, memory, size);
    free(memory);
    return file;
}

/* Offset of the first segment of that kind in the header, or of the image data's end (JPEG_EOI). */
static inline size_t find_marker(const struct bytes *file, int marker) {
    if (marker == JPEG_EOI) return file->size - 2;
    for (size_t at = 2; at + 4 < file->size; at += 2 + (size_t)(file->data[at + 2] << 8 | file->data[at + 3]))
        if (file->data[at] == 0xff && file->data[at + 1] == marker) return at;
    abort();
}

/* Where the image data begin. */
static inline size_t find_data(const struct bytes *file) {
    size_t at = find_marker(file, 0xda);
    return at + 2 + (size_t)(file->data[at + 2] << 8 | file->data[at + 3]);
}

/* --------------------------------------------------------------------------------------- counting and reading */

static int failures, checks, warnings, notices;
static char last_message[1024];

static bool IMGPIPE_PRINTF(2, 3) check(bool right, const char *format, ...) {
    checks++;
    if (right) return true;
    failures++;
    va_list args;
    va_start(args, format);
    printf("FAIL  ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    return false;
}

static void count_message(void *user, imgpipe_log_level level, const char *message) {
    (void)user;
    warnings += level == IMGPIPE_LOG_WARNING;
    notices += level == IMGPIPE_LOG_NOTICE;
    snprintf(last_message, sizeof last_message, "%s", message);
}
static const struct log test_log = {.call = count_message};
static const struct source_options plain = {.log = &test_log, .max_pixels = 1 << 26, .memory = 64 << 20, .alpha = -1};
static imgpipe_error error;

/* Reads a file in batches of changing height. The source is handed over where `kept` is not NULL; the caller frees pixels. */
static imgpipe_status read_ours(const struct bytes *file, const struct source_options *options, bool seek, imgpipe_image *image,
                                struct source **kept) {
    struct input *input;
    struct source *source;
    warnings = notices = 0;
    *image = (imgpipe_image){0};
    error = (imgpipe_error){0};
    imgpipe_status status = input_memory(file->data, file->size, seek, &input, &error);
    if (!status) status = source_open(input, options, &source, &error);
    if (status) return status;
    image->info = source->info;
    image->stride = (ptrdiff_t)((size_t)source->info.width * imgpipe_pixel_size(source->info.format));
    image->pixels = malloc((size_t)image->stride * (size_t)image->info.height);
    /* Not of a bomb, which must be refused before its rows are used. */
    if (image->info.height < 10000) memset(image->pixels, 0xa5, (size_t)image->stride * (size_t)image->info.height);
    void *rows[7];
    int batch = 1;
    for (int64_t y = 0; y < image->info.height && !status; y += batch, batch = batch % 7 + 1) {
        if (batch > image->info.height - y) batch = (int)(image->info.height - y);
        for (int i = 0; i < batch; i++) rows[i] = (unsigned char *)image->pixels + (y + i) * image->stride;
        status = source_read(source, rows, batch, &error);
    }
    if (!status) status = source_finish(source, &error);
    if (status) {
        free(image->pixels);
        image->pixels = NULL;
    }
    if (kept && !status)
        *kept = source;
    else
        source_close(source);
    return status;
}
#endif
