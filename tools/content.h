/* Random numbers, pictures with guard bytes, and what they are filled with: the material of the prover and of tests. */
#ifndef CONTENT_H
#define CONTENT_H
#include "imgpipe.h"

/* splitmix64 (Steele, Lea, Flood 2014): any seed is a good one, so that a case replays from one number. */
struct rng {
    uint64_t state;
};
uint64_t rng_next(struct rng *r);
/* Uniform in lo … hi, both included. */
int64_t rng_range(struct rng *r, int64_t lo, int64_t hi);
/* Uniform in [0, 1). */
double rng_unit(struct rng *r);
bool rng_chance(struct rng *r, int percent);
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* An image whose rows lie in a buffer of known bytes: before the first row, between rows and behind the last. */
struct picture {
    imgpipe_image image;
    unsigned char *base;
    size_t size;
    char *data; /* what a run found beside pixels, as text; or NULL */
};

/* Rows have a random distance and the first a random address, both multiples of the sample size only; `r` NULL: rows that
 * follow each other without a gap in a buffer of exactly their size, so that AddressSanitizer sees any access outside. */
void picture_new(struct picture *p, imgpipe_info info, struct rng *r);
void picture_free(struct picture *p);
/* False if a byte that belongs to no row has changed. */
bool picture_guards_intact(const struct picture *p);
/* Compares the rows byte for byte; on a difference says where the first one is. */
bool pictures_equal(const imgpipe_image *a, const imgpipe_image *b, char *why, size_t why_size);

const unsigned char *sample_at(const imgpipe_image *image, int64_t x, int64_t y, int channel);
double sample_get(const imgpipe_image *image, int64_t x, int64_t y, int channel);
uint32_t sample_bits(const imgpipe_image *image, int64_t x, int64_t y, int channel);
void sample_set(imgpipe_image *image, int64_t x, int64_t y, int channel, double value);

enum content {
    CONTENT_RANDOM,
    CONTENT_CONSTANT,
    CONTENT_TWO_VALUES,
    CONTENT_RAMP,
    CONTENT_IMPULSES,
    CONTENT_EXTREMES,
    CONTENT_SMOOTH,
    CONTENT_COUNT_INTEGER,
    CONTENT_SPECIAL = CONTENT_COUNT_INTEGER, /* f32: NaN, infinity, -0, denormals among ordinary values */
    CONTENT_WIDE,                            /* f32: huge and tiny magnitudes, both signs */
    CONTENT_COUNT
};
extern const char *const content_names[CONTENT_COUNT];
void picture_fill(struct picture *p, enum content content, struct rng *r);
enum content content_random(imgpipe_type type, struct rng *r);

imgpipe_format format_random(struct rng *r);
/* Sizes that break things: 1×1, 1×N, N×1, tiny, odd, and now and then a very long row or column. `limit` is for the usual. */
/* Cuts a size down to what a slow checker of memory manages. */
void size_small(imgpipe_info *info);
void size_random(struct rng *r, int limit, int64_t *width, int64_t *height);
/* "u16×4a 13×7" */
const char *info_text(const imgpipe_info *info, char text[64]);
#endif
