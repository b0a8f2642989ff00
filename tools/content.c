#include "content.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t rng_next(struct rng *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t rng_range(struct rng *r, int64_t lo, int64_t hi) {
    return lo + (int64_t)(rng_next(r) % (uint64_t)(hi - lo + 1));
}
double rng_unit(struct rng *r) {
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}
bool rng_chance(struct rng *r, int percent) {
    return (int)(rng_next(r) % 100) < percent;
}

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed) {
    const unsigned char *b = bytes;
    uint64_t h = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < size; i++) h = (h ^ b[i]) * 0x100000001b3u;
    struct rng mix = {h};
    return rng_next(&mix);
}

static unsigned char guard_byte(size_t at) {
    return (unsigned char)(at * 37 + 11);
}

void picture_new(struct picture *p, imgpipe_info info, struct rng *r) {
    size_t sample = imgpipe_sample_size(info.format.type), row = imgpipe_pixel_size(info.format) * (size_t)info.width;
    size_t before = 0, gap = 0, after = 0;
    if (r) {
        before = (size_t)rng_range(r, 1, 40) * sample;
        gap = (size_t)rng_range(r, 0, 9) * sample;
        after = (size_t)rng_range(r, 64, 100);
    }
    p->image = (imgpipe_image){.info = info};
    p->image.stride = (ptrdiff_t)(row + gap);
    p->size = before + (row + gap) * (size_t)info.height + after;
    p->base = malloc(p->size);
    p->data = NULL;
    if (!p->base) {
        fprintf(stderr, "no memory for a picture to prove with; free some\n");
        exit(1);
    }
    for (size_t i = 0; i < p->size; i++) p->base[i] = guard_byte(i);
    p->image.pixels = p->base + before;
}

void picture_free(struct picture *p) {
    free(p->base);
    free(p->data);
    p->base = NULL;
    p->data = NULL;
}

bool picture_guards_intact(const struct picture *p) {
    size_t begin = (size_t)((unsigned char *)p->image.pixels - p->base), stride = (size_t)p->image.stride;
    size_t row = imgpipe_pixel_size(p->image.info.format) * (size_t)p->image.info.width;
    size_t end = begin + stride * (size_t)p->image.info.height;
    for (size_t i = 0; i < p->size; i++) {
        bool inside = i >= begin && i < end && (i - begin) % stride < row;
        if (!inside && p->base[i] != guard_byte(i)) return false;
    }
    return true;
}

bool pictures_equal(const imgpipe_image *a, const imgpipe_image *b, char *why, size_t why_size) {
    size_t row = imgpipe_pixel_size(a->info.format) * (size_t)a->info.width;
    for (int64_t y = 0; y < a->info.height; y++) {
        if (!memcmp((char *)a->pixels + y * a->stride, (char *)b->pixels + y * b->stride, row)) continue;
        for (int64_t x = 0; x < a->info.width; x++)
            for (int c = 0; c < a->info.format.channels; c++)
                if (sample_bits(a, x, y, c) != sample_bits(b, x, y, c)) {
                    snprintf(why, why_size, "x %lld y %lld channel %d: %.9g (%08x) is not %.9g (%08x)", (long long)x, (long long)y,
                             c, sample_get(b, x, y, c), sample_bits(b, x, y, c), sample_get(a, x, y, c), sample_bits(a, x, y, c));
                    return false;
                }
    }
    return true;
}

const unsigned char *sample_at(const imgpipe_image *image, int64_t x, int64_t y, int channel) {
    size_t sample = imgpipe_sample_size(image->info.format.type);
    return (unsigned char *)image->pixels + y * image->stride + (size_t)(x * image->info.format.channels + channel) * sample;
}

uint32_t sample_bits(const imgpipe_image *image, int64_t x, int64_t y, int channel) {
    uint32_t bits = 0;
    uint16_t half;
    const unsigned char *at = sample_at(image, x, y, channel);
    switch (image->info.format.type) {
    case IMGPIPE_U8: return *at;
    case IMGPIPE_U16: memcpy(&half, at, 2); return half;
    case IMGPIPE_F32: memcpy(&bits, at, 4); break;
    }
    return bits;
}

double sample_get(const imgpipe_image *image, int64_t x, int64_t y, int channel) {
    uint32_t bits = sample_bits(image, x, y, channel);
    float value;
    if (image->info.format.type != IMGPIPE_F32) return bits;
    memcpy(&value, &bits, 4);
    return value;
}

void sample_set(imgpipe_image *image, int64_t x, int64_t y, int channel, double value) {
    unsigned char *at = (unsigned char *)sample_at(image, x, y, channel);
    uint16_t half;
    float single;
    switch (image->info.format.type) {
    case IMGPIPE_U8: *at = (unsigned char)value; break;
    case IMGPIPE_U16: half = (uint16_t)value, memcpy(at, &half, 2); break;
    case IMGPIPE_F32: single = (float)value, memcpy(at, &single, 4); break;
    }
}

const char *const content_names[CONTENT_COUNT] = {"random",   "constant", "two values", "ramp", "impulses",
                                                  "extremes", "smooth",   "special",    "wide"};

enum content content_random(imgpipe_type type, struct rng *r) {
    if (rng_chance(r, 35)) return CONTENT_RANDOM;
    return (enum content)rng_range(r, 0, (type == IMGPIPE_F32 ? CONTENT_COUNT : CONTENT_COUNT_INTEGER) - 1);
}

static double special_value(struct rng *r) {
    switch (rng_range(r, 0, 8)) {
    case 0: return (double)NAN;
    case 1: return (double)INFINITY;
    case 2: return (double)-INFINITY;
    case 3: return -0.0;
    case 4: return 0.0;
    case 5: return 0x1p-149;
    case 6: return -0x1.8p-130;
    case 7: return 1.0;
    default: return -rng_unit(r);
    }
}

/* What a fill keeps from sample to sample. */
struct filling {
    enum content content;
    double max, a, b, fx, fy, phase;
    int rare; /* per cent of special samples */
    imgpipe_type type;
};

static double filled_value(const struct filling *f, struct rng *r, int64_t x, int64_t y, int c) {
    double max = f->max;
    switch (f->content) {
    case CONTENT_CONSTANT: return f->a;
    case CONTENT_TWO_VALUES: return rng_chance(r, 50) ? f->a : f->b;
    case CONTENT_RAMP: return fmod((double)x * f->fx + (double)y * f->fy + c * 0.1, 1.0) * max;
    case CONTENT_IMPULSES: return rng_chance(r, 4) ? f->b : f->a;
    case CONTENT_EXTREMES: return rng_chance(r, 50) ? 0 : max;
    case CONTENT_SMOOTH:
        return max * (0.5 + 0.3 * sin((double)x * f->fx + f->phase + c) * cos((double)y * f->fy) + 0.05 * (rng_unit(r) - 0.5));
    case CONTENT_SPECIAL: return rng_chance(r, f->rare) ? special_value(r) : rng_unit(r) * 2 - 0.5;
    case CONTENT_WIDE: return (rng_chance(r, 30) ? -1 : 1) * ldexp(rng_unit(r), (int)rng_range(r, -120, 120));
    default: return f->type == IMGPIPE_F32 ? rng_unit(r) : floor(rng_unit(r) * (max + 1));
    }
}

/* Alpha of f32 stays within 0 … 1 (or NaN in special content): what a weight below zero means nobody has defined. */
static double filled_alpha(const struct filling *f, struct rng *r, int mode) {
    double v = f->type == IMGPIPE_F32 ? rng_unit(r) : floor(rng_unit(r) * (f->max + 1));
    switch (mode) {
    case 0: v = f->max; break;
    case 1: v = rng_chance(r, 70) ? 0 : v; break;
    case 2: v = rng_chance(r, 50) ? 0 : f->max; break;
    case 3: v = 0; break;
    case 4: v = f->type == IMGPIPE_F32 ? v / 100 : (double)rng_range(r, 0, 3); break;
    default: break;
    }
    if (f->content == CONTENT_SPECIAL && rng_chance(r, 1)) v = (double)NAN;
    return v;
}

/* NaN that no arithmetic makes: negative, with a payload, signalling. */
static void strew_nans(imgpipe_image *image, struct rng *r) {
    static const uint32_t nans[] = {0xffc00000u, 0x7fc12345u, 0xfff00001u, 0x7f800001u, 0xff812345u, 0x7fffffffu};
    for (int64_t y = 0; y < image->info.height; y++)
        for (int64_t x = 0; x < image->info.width; x++)
            for (int c = 0; c < image->info.format.channels; c++) {
                double v = sample_get(image, x, y, c);
                if (v != v && rng_chance(r, 70)) memcpy((void *)sample_at(image, x, y, c), &nans[rng_range(r, 0, 5)], 4);
            }
}

void picture_fill(struct picture *p, enum content content, struct rng *r) {
    imgpipe_format format = p->image.info.format;
    double max = imgpipe_type_max(format.type);
    struct filling f = {.content = content, .max = max, .type = format.type};
    static const double levels[] = {0, 1, 0.5, 0.2};
    f.a = rng_chance(r, 60) ? floor(levels[rng_range(r, 0, 3)] * max) : floor(rng_unit(r) * max);
    f.b = rng_chance(r, 60) ? floor(levels[rng_range(r, 0, 3)] * max) : floor(rng_unit(r) * max);
    if (format.type == IMGPIPE_F32 && rng_chance(r, 60)) f.a = rng_unit(r), f.b = rng_unit(r) * 3 - 1;
    f.fx = rng_unit(r) * 0.2, f.fy = rng_unit(r) * 0.2, f.phase = rng_unit(r) * 6;
    f.rare = rng_chance(r, 50) ? 1 : 15;
    int alpha_mode = (int)rng_range(r, 0, 7);
    for (int64_t y = 0; y < p->image.info.height; y++)
        for (int64_t x = 0; x < p->image.info.width; x++)
            for (int c = 0; c < format.channels; c++) {
                bool alpha = format.alpha && c == format.channels - 1;
                double v = alpha ? filled_alpha(&f, r, alpha_mode) : filled_value(&f, r, x, y, c);
                sample_set(&p->image, x, y, c, format.type == IMGPIPE_F32 ? v : floor(v));
            }
    if (content == CONTENT_SPECIAL) strew_nans(&p->image, r);
}

imgpipe_format format_random(struct rng *r) {
    imgpipe_format f;
    f.type = (imgpipe_type)rng_range(r, 0, 2);
    f.channels = (int)rng_range(r, 1, 4);
    f.alpha = (f.channels == 4 || f.channels == 2) ? rng_chance(r, 70) : f.channels == 3 ? rng_chance(r, 10) : false;
    return f;
}

void size_random(struct rng *r, int limit, int64_t *width, int64_t *height) {
    *width = rng_range(r, 1, limit), *height = rng_range(r, 1, limit);
    switch (rng_range(r, 0, 15)) {
    case 0: *width = *height = 1; break;
    case 1: *width = 1; break;
    case 2: *height = 1; break;
    case 3: *width = rng_range(r, 1, 4), *height = rng_range(r, 1, 4); break;
    case 4: *width = rng_range(r, limit / 2, 3 * limit), *height = rng_range(r, 1, limit / 3 + 1); break;
    /* Long rows and many of them, for blocks, steps and strips that small images never fill. */
    case 5: *width = rng_range(r, 500, rng_chance(r, 20) ? 9000 : 1500), *height = rng_range(r, 1, 2); break;
    case 6: *width = rng_range(r, 1, 2), *height = rng_range(r, 300, 1200); break;
    default: break;
    }
}

void size_small(imgpipe_info *info) {
    if (info->width > 150) info->width = 150;
    if (info->height > 60) info->height = 60;
}

const char *info_text(const imgpipe_info *info, char text[64]) {
    static const char *const types[] = {"u8", "u16", "f32"};
    snprintf(text, 64, "%s*%d%s %lldx%lld", types[info->format.type], info->format.channels, info->format.alpha ? "a" : "",
             (long long)info->width, (long long)info->height);
    return text;
}
