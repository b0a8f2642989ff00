/* From samples as TIFF has them to the pixels of an image: planes interleaved, bits and palettes expanded, white and black in the
 * usual order, CMYK as RGB, colours no longer multiplied by alpha. */
#include "tiff_source.h"
#include <string.h>

/* The samples of a pixel stand together in the file, or each in a plane of its own. */
static void interleave(const struct tiff_source *s, int row, unsigned char *out, size_t sample_size) {
    size_t width = (size_t)s->base.info.width, step = sample_size * (size_t)s->planes;
    for (int p = 0; p < s->planes; p++) {
        const unsigned char *from = s->band + (size_t)p * s->plane_bytes + (size_t)row * s->row_bytes;
        unsigned char *to = out + (size_t)p * sample_size;
        switch (sample_size) {
        case 1:
            for (size_t x = 0; x < width; x++) to[x * step] = from[x];
            break;
        case 2:
            for (size_t x = 0; x < width; x++) memcpy(to + x * step, from + x * 2, 2);
            break;
        default:
            for (size_t x = 0; x < width; x++) memcpy(to + x * step, from + x * 4, 4);
            break;
        }
    }
}

/* 1, 2, 4 or 8 bits a sample: indices of the palette, or gray over the full range. */
static void expand(const struct tiff_source *s, const unsigned char *from, unsigned char *out) {
    unsigned bits = s->bits, most = (1u << bits) - 1, factor = 255 / most;
    for (int64_t x = 0; x < s->base.info.width; x++) {
        uint64_t at = (uint64_t)x * bits;
        unsigned value = from[at / 8] >> (8 - bits - at % 8) & most;
        if (s->palette)
            memcpy(out + x * 3, s->colors[value], 3);
        else
            out[x] = (unsigned char)(value * factor);
    }
}

/* Gray alone: what further channels say does not depend on what is white. */
static void invert(const struct tiff_source *s, void *out) {
    int64_t width = s->base.info.width;
    int step = s->base.info.format.channels;
    unsigned char *bytes = out;
    uint16_t *words = out;
    if (s->base.info.format.type == IMGPIPE_U8) {
        for (int64_t x = 0; x < width; x++) bytes[x * step] = (unsigned char)(255 - bytes[x * step]);
    } else {
        for (int64_t x = 0; x < width; x++) words[x * step] = (uint16_t)(65535 - words[x * step]);
    }
}

/* Straight colour of one that was multiplied by alpha: c max / a, rounded. */
static uint32_t straight(uint32_t color, uint32_t alpha, uint32_t max) {
    if (alpha == 0) return 0;
    uint64_t value = ((uint64_t)color * max + alpha / 2) / alpha;
    return value < max ? (uint32_t)value : max;
}

static void divide_by_alpha(const struct tiff_source *s, void *out) {
    int n = s->base.info.format.channels;
    for (int64_t x = 0; x < s->base.info.width; x++) {
        unsigned char *bytes = (unsigned char *)out + x * n;
        uint16_t *words = (uint16_t *)out + x * n;
        float *reals = (float *)out + x * n;
        for (int c = 0; c < n - 1; c++) {
            if (s->base.info.format.type == IMGPIPE_U8)
                bytes[c] = (unsigned char)straight(bytes[c], bytes[n - 1], 255);
            else if (s->base.info.format.type == IMGPIPE_U16)
                words[c] = (uint16_t)straight(words[c], words[n - 1], 65535);
            else
                reals[c] = reals[n - 1] == 0 ? 0 : reals[c] / reals[n - 1];
        }
    }
}

/* Ink lets through what it does not cover: R = (max - C) (max - K) / max, rounded. */
static void cmyk_to_rgb(const struct tiff_source *s, const unsigned char *ink, void *out) {
    for (int64_t x = 0; x < s->base.info.width; x++) {
        for (int c = 0; c < 3; c++) {
            if (s->base.info.format.type == IMGPIPE_U8) {
                const unsigned char *v = ink + x * 4;
                ((unsigned char *)out)[x * 3 + c] = (unsigned char)(((255u - v[c]) * (255u - v[3]) + 127) / 255);
            } else {
                uint16_t v[4];
                memcpy(v, ink + x * 8, sizeof v);
                ((uint16_t *)out)[x * 3 + c] = (uint16_t)(((65535u - v[c]) * (uint64_t)(65535u - v[3]) + 32767) / 65535);
            }
        }
    }
}

/* A pixel of which the truncated file lacks something is 0, whatever colour samples of 0 are. */
static void clear_absent(const struct tiff_source *s, int row, unsigned char *out) {
    size_t pixel = imgpipe_pixel_size(s->base.info.format), bits = (size_t)s->bits * (s->planes > 1 ? 1 : s->samples);
    for (int p = 0; p < s->planes; p++) {
        const unsigned char *absent = s->absent + (size_t)p * s->plane_bytes + (size_t)row * s->row_bytes;
        for (size_t x = 0; x < (size_t)s->base.info.width; x++)
            if (absent[((x + 1) * bits - 1) / 8]) memset(out + x * pixel, 0, pixel);
    }
}

void tiff_convert_row(struct tiff_source *s, int row, void *out) {
    size_t sample_size = s->bits / 8;
    const unsigned char *from = s->band + (size_t)row * s->row_bytes;
    if (s->bits < 8 || s->palette) {
        expand(s, from, out);
    } else if (s->cmyk) {
        if (s->planes > 1) interleave(s, row, s->chunk, sample_size);
        cmyk_to_rgb(s, s->planes > 1 ? s->chunk : from, out);
    } else if (s->planes > 1) {
        interleave(s, row, out, sample_size);
    } else {
        memcpy(out, from, s->row_bytes);
    }
    if (s->inverted) invert(s, out);
    if (s->associated) divide_by_alpha(s, out);
    if (s->absent) clear_absent(s, row, out);
}
