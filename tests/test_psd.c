/* The merged image of Photoshop files: plain and packed, 8 and 16 bits, with and without alpha, cut at every byte. Exit status 0 or 1. */
#include "psd.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 37, HEIGHT = 5, FILE_MAX = 4096 };

static int checks, failures;

static void check(bool ok, const char *what, int channels, int depth, bool packed) {
    checks++;
    if (ok || failures++ > 20) return;
    fprintf(stderr, "FAILED: %s: %d channels of %d bits%s\n", what, channels, depth, packed ? ", packed" : "");
}

static unsigned char file[FILE_MAX];
static size_t size;

static void put(unsigned value, int bytes) {
    while (bytes-- > 0) file[size++] = (unsigned char)(value >> (8 * bytes));
}

/* A sample as it is stored: runs, noise, and alpha of every kind. */
static unsigned stored(int channel, int x, int y, int depth) {
    unsigned v = x < 20 ? 7u * (unsigned)(channel + 1) : (unsigned)(x * 31 + y * 17 + channel * 101) & 255;
    if (channel == 3) v = x % 3 == 0 ? 255 : x % 3 == 1 ? 0 : 128 + (unsigned)x;
    return depth == 8 ? v : v * 257;
}

/* The same row in runs of the same byte and in pieces of 1 to 5 others, with a byte that means nothing in between. */
static void put_packed(const unsigned char *row, size_t length) {
    for (size_t at = 0; at < length;) {
        size_t run = 1, most = length - at < 128 ? length - at : 128;
        while (run < most && row[at + run] == row[at]) run++;
        if (run < 2)
            run = most < 5 ? most : 1 + at % 5, put((unsigned)run - 1, 1), memcpy(file + size, row + at, run), size += run;
        else
            put(257 - (unsigned)run, 1), put(row[at], 1);
        if (at % 7 == 3) put(128, 1);
        at += run;
    }
}

static void make(int channels, int depth, bool packed) {
    size = 0;
    memcpy(file, "8BPS\0\1\0\0\0\0\0\0", 12);
    size = 12;
    put((unsigned)channels, 2), put(HEIGHT, 4), put(WIDTH, 4), put((unsigned)depth, 2), put(3, 2);
    put(0, 4), put(3, 4), put(0xabcdef, 3), put(0, 4), put(packed, 2);
    size_t lengths = size;
    if (packed) size += (size_t)(2 * HEIGHT * channels);
    for (int c = 0; c < channels; c++) {
        for (int y = 0; y < HEIGHT; y++) {
            unsigned char row[2 * WIDTH];
            size_t bytes = 0, begin = size;
            for (int x = 0; x < WIDTH; x++) {
                unsigned v = stored(c, x, y, depth);
                if (depth == 16) row[bytes++] = (unsigned char)(v >> 8);
                row[bytes++] = (unsigned char)v;
            }
            if (!packed) memcpy(file + size, row, bytes), size += bytes;
            if (packed) put_packed(row, bytes);
            size_t end = size;
            size = lengths + (size_t)(2 * (c * HEIGHT + y));
            if (packed) put((unsigned)(end - begin), 2);
            size = end;
        }
    }
}

/* What a colour is without the white it was blended with, by the definition. */
static double wanted(int c, int x, int y, int channels, int depth) {
    double max = depth == 8 ? 255 : 65535, v = stored(c, x, y, depth), alpha = channels == 4 ? stored(3, x, y, depth) : max;
    if (c == 3 || alpha == 0) return v;
    v = (v - (max - alpha)) * max / alpha;
    return v < 0 ? 0 : v > max ? max : v;
}

/* Decodes from an allocation of exactly the size, so that the address sanitizer sees what is read too far. */
static const char *decode(size_t cut, void *image) {
    unsigned char *copy = malloc(cut ? cut : 1), row[2 * WIDTH];
    if (!copy) abort();
    memcpy(copy, file, cut);
    struct psd psd = {0};
    const char *fault = psd_parse(copy, cut, &psd);
    if (!fault) fault = psd_decode(copy, cut, &psd, row, image);
    free(copy);
    return fault;
}

static void test(int channels, int depth, bool packed) {
    static uint16_t image[4 * WIDTH * HEIGHT];
    make(channels, depth, packed);
    const char *fault = decode(size, image);
    check(!fault, fault ? fault : "", channels, depth, packed);
    bool same = true;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < channels; c++) {
                int i = (y * WIDTH + x) * channels + c;
                double got = depth == 8 ? ((uint8_t *)image)[i] : image[i], want = wanted(c, x, y, channels, depth);
                same = same && got >= want - 0.5 && got <= want + 0.5;
            }
    check(same, "samples differ", channels, depth, packed);
    for (size_t cut = 0; cut < size; cut++) {
        fault = decode(cut, image);
        check(fault && strstr(fault, "truncated"), "a cut file is accepted", channels, depth, packed);
    }
}

int main(void) {
    for (int channels = 3; channels <= 4; channels++)
        for (int depth = 8; depth <= 16; depth += 8)
            for (int packed = 0; packed < 2; packed++) test(channels, depth, packed);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
