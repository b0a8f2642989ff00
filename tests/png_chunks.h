/* PNG files made chunk by chunk, and reading them: shared by the tests of what stands beside the pixels and of files that end
 * early. */
#ifndef PNG_CHUNKS_H
#define PNG_CHUNKS_H
#include "source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int failures, checks, warnings, notices;
static char last_message[1024];

static bool check(bool right, const char *of, const char *what) {
    checks++;
    if (right) return true;
    failures++;
    printf("FAIL  %s: %s (%s)\n", of, what, last_message);
    return false;
}

static void count(void *user, imgpipe_log_level level, const char *message) {
    (void)user;
    if (level == IMGPIPE_LOG_WARNING) warnings++;
    if (level == IMGPIPE_LOG_NOTICE) notices++;
    snprintf(last_message, sizeof last_message, "%s", message);
}
static const struct log test_log = {.call = count};

/* ----------------------------------------------------------------------------------------------- making a file */

enum { WIDTH = 9, HEIGHT = 11 };

struct file {
    unsigned char *bytes;
    size_t size;
};

static void add_bytes(struct file *f, const void *bytes, size_t size) {
    f->bytes = realloc(f->bytes, f->size + size + 1);
    if (size) memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
}

static void add_number(struct file *f, uint32_t v) {
    for (int shift = 24; shift >= 0; shift -= 8) add_bytes(f, &(unsigned char){(unsigned char)(v >> shift)}, 1);
}

static void add_chunk(struct file *f, const char *kind, const void *data, size_t size) {
    add_number(f, (uint32_t)size);
    add_bytes(f, kind, 4);
    add_bytes(f, data, size);
    add_number(f, (uint32_t)crc32(crc32(0, (const Bytef *)kind, 4), data ? data : (const void *)"", (uInt)size));
}

static unsigned char sample(int64_t x, int64_t y) {
    return (unsigned char)(1 + (x * 37 + y * 11) % 255); /* never 0 */
}

static void begin(struct file *f, bool interlaced) {
    *f = (struct file){0};
    unsigned char header[] = {0, 0, 0, WIDTH, 0, 0, 0, HEIGHT, 8, 0, 0, 0, interlaced};
    add_bytes(f, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(f, "IHDR", header, sizeof header);
}

/* The pixels in IDAT chunks of `part` bytes, stored so that every byte of the file that is there gives its pixels. */
static void add_pixels(struct file *f, bool interlaced, size_t part) {
    /* The seven passes, then that of an image without any. */
    static const int x0[] = {0, 4, 0, 2, 0, 1, 0, 0}, y0[] = {0, 0, 4, 0, 2, 0, 1, 0};
    static const int dx[] = {8, 8, 4, 4, 2, 2, 1, 1}, dy[] = {8, 8, 8, 4, 4, 2, 2, 1};
    unsigned char raw[1000], packed[2000];
    size_t size = 0;
    uLongf length = sizeof packed;
    for (int pass = interlaced ? 0 : 7; pass < (interlaced ? 7 : 8); pass++) {
        int sx = dx[pass], sy = dy[pass], fx = x0[pass], fy = y0[pass];
        for (int y = fy; y < HEIGHT && fx < WIDTH; y += sy) {
            raw[size++] = 0;
            for (int x = fx; x < WIDTH; x += sx) raw[size++] = sample(x, y);
        }
    }
    compress2(packed, &length, raw, size, 0);
    for (size_t at = 0; at < length; at += part) add_chunk(f, "IDAT", packed + at, length - at < part ? length - at : part);
}

static void end(struct file *f) {
    add_chunk(f, "IEND", NULL, 0);
}

static imgpipe_status open_bytes(const struct file *f, bool seeks, bool allow_truncated, struct source **source,
                                 imgpipe_error *error) {
    struct input *input;
    struct source_options options = {.log = &test_log, .alpha = -1, .max_pixels = 1 << 20, .allow_truncated = allow_truncated};
    warnings = notices = 0;
    last_message[0] = 0;
    imgpipe_status status = input_memory(f->bytes, f->size, seeks, &input, error);
    return status ? status : source_open(input, &options, source, error);
}

static imgpipe_status read_all(struct source *source, unsigned char pixels[HEIGHT][WIDTH], imgpipe_error *error) {
    imgpipe_status status = IMGPIPE_OK;
    for (int y = 0; y < HEIGHT && !status; y += 3) {
        void *rows[] = {pixels[y], pixels[y + 1 < HEIGHT ? y + 1 : y], pixels[y + 2 < HEIGHT ? y + 2 : y]};
        status = source_read(source, rows, HEIGHT - y < 3 ? HEIGHT - y : 3, error);
    }
    return status ? status : source_finish(source, error);
}
#endif
