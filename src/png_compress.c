#include "png_compress.h"
#include "png_deflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Ways to code filtered bytes. */
enum coder { STORE, RUNS, MATCHES, ZLIB };

/* What a level does. Up to QUICK_LEVELS the coder is chosen from a sample of the piece; beyond, every filter is tried with runs and
 * matches, and the `zlib_tries` best filters with zlib, and the smallest result is taken. */
enum { QUICK_LEVELS = 4, TRIES = 5 };
static const struct effort {
    int filters[TRIES]; /* choices of png_rows_filter() */
    int filter_count;
    struct png_search search; /* no ways: no matches */
    int zlib_tries, zlib_level;
} efforts[10] = {
    {{PNG_NONE}, 1, {0, 0}, 0, 0},
    {{PNG_PAETH}, 1, {0, 0}, 0, 0},
    {{PNG_BY_SIZE}, 1, {0, 0}, 0, 0},
    {{PNG_BY_SIZE}, 1, {1, 0}, 0, 0},
    {{PNG_BY_SIZE}, 1, {1, 16}, 0, 0},
    {{PNG_BY_SIZE, PNG_NONE}, 2, {2, 16}, 0, 0},
    {{PNG_BY_ENTROPY, PNG_NONE}, 2, {4, 64}, 0, 0},
    {{PNG_BY_ENTROPY, PNG_NONE}, 2, {4, 64}, 1, 6},
    {{PNG_BY_ENTROPY, PNG_NONE, PNG_PAETH}, 3, {4, 64}, 1, 8},
    {{PNG_BY_ENTROPY, PNG_BY_SIZE, PNG_NONE, PNG_UP, PNG_PAETH}, 5, {4, 64}, 2, 9},
};

struct png_compressor {
    struct png_rows format;
    const struct effort *effort;
    int level;
    const struct png_code_kernels *code;
    const struct png_match_kernels *match;
    unsigned char *filtered, *row_scratch, *trial;
    struct png_sequence *sequences;
    struct png_matcher *matcher;
    z_stream zlib;
    bool zlib_open;
};

/* Choices of the shortest run that becomes a match, from the fastest on. */
enum { RUN_SHORT = 4, RUN_MIDDLE = 6, RUN_LONG = 12 };

/* ---------------------------------------------------------------------------------------------------------- memory */

/* zlib's bound and the largest of png_block_write() behind a stored piece. */
size_t png_fragment_room(const struct png_rows *format, int rows) {
    size_t n = png_rows_size(format, rows);
    return PNG_FRAGMENT_HEAD + n + n / 1000 + 4096 + 2 * PNG_BLOCK + PNG_FRAGMENT_TAIL;
}

#define SEQUENCES (PNG_BLOCK / RUN_SHORT + PNG_BLOCK / 258 + 2)

size_t png_compressor_size(const struct png_rows *format, int rows, int level) {
    return sizeof(struct png_compressor) + png_rows_size(format, rows) + png_rows_scratch(format) +
           SEQUENCES * sizeof(struct png_sequence) + (efforts[level].search.ways ? sizeof(struct png_matcher) : 0) +
           (level > QUICK_LEVELS ? png_fragment_room(format, rows) : 0);
}

struct png_compressor *png_compressor_new(const struct png_rows *format, int rows, int level, int isa) {
    struct png_compressor *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->format = *format;
    c->level = level;
    c->effort = &efforts[c->level];
    c->code = KERNEL_PICK(png_code, isa);
    c->match = KERNEL_PICK(png_match, isa);
    c->filtered = malloc(png_rows_size(format, rows));
    c->row_scratch = malloc(png_rows_scratch(format));
    c->sequences = malloc(SEQUENCES * sizeof *c->sequences);
    if (c->effort->search.ways) c->matcher = malloc(sizeof *c->matcher);
    if (c->level > QUICK_LEVELS) c->trial = malloc(png_fragment_room(format, rows));
    if (c->effort->zlib_tries) c->zlib_open = deflateInit2(&c->zlib, c->effort->zlib_level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK;
    if (c->filtered && c->row_scratch && c->sequences && (c->matcher || !c->effort->search.ways) &&
        (c->trial || c->level <= QUICK_LEVELS) && (c->zlib_open || !c->effort->zlib_tries))
        return c;
    png_compressor_free(c);
    return NULL;
}

void png_compressor_free(struct png_compressor *c) {
    if (!c) return;
    if (c->zlib_open) deflateEnd(&c->zlib);
    free(c->filtered);
    free(c->row_scratch);
    free(c->sequences);
    free(c->matcher);
    free(c->trial);
    free(c);
}

/* ---------------------------------------------------------------------------------------------------------- coders */

/* Sequences for bytes[at, at + n); returns their number. Matches reach back into the bytes before; runs do not need to. */
static size_t find_sequences(struct png_compressor *c, enum coder coder, unsigned least, const unsigned char *bytes, size_t at, size_t n) {
    if (coder == RUNS) return c->code->runs(bytes + at, n, least, c->sequences);
    return c->match->find(c->matcher, &c->effort->search, bytes, at, n, c->sequences);
}

static size_t code_blocks(struct png_compressor *c, size_t n, enum coder coder, unsigned least, bool final, unsigned char *buffer) {
    struct png_bits bits = {0, 0, buffer + PNG_FRAGMENT_HEAD};
    if (coder == STORE) png_stored_write(c->filtered, n, final, &bits);
    if (coder == MATCHES) memset(c->matcher, 0, sizeof *c->matcher);
    for (size_t at = 0; coder != STORE && at < n; at += PNG_BLOCK) {
        size_t part = n - at < PNG_BLOCK ? n - at : PNG_BLOCK;
        size_t count = find_sequences(c, coder, least, c->filtered, at, part);
        png_block_write(c->code, c->filtered + at, part, c->sequences, count, final && at + part == n, &bits);
    }
    /* An empty stored block carries the stream to the next byte, where another fragment can go on. */
    if (!final && bits.count) png_stored_write(c->filtered, 0, false, &bits);
    if (bits.count) *bits.at++ = (unsigned char)bits.wait;
    return (size_t)(bits.at - buffer) - PNG_FRAGMENT_HEAD;
}

/* Sizes are handed over in parts, since zlib counts in 32 bits. */
static size_t code_zlib(struct png_compressor *c, size_t n, int strategy, bool final, unsigned char *buffer) {
    z_stream *z = &c->zlib;
    size_t room = n + n / 1000 + 4096, done = 0, given = 0;
    deflateReset(z);
    z->avail_in = z->avail_out = 0;
    if (deflateParams(z, c->effort->zlib_level, strategy) == Z_STREAM_ERROR) return SIZE_MAX;
    for (int state = Z_OK;;) {
        const size_t most = 1 << 30;
        uInt in = (uInt)(n - given < most ? n - given : most), out = (uInt)(room - done < most ? room - done : most);
        bool all = given + in == n;
        z->next_in = c->filtered + given;
        z->avail_in = in;
        z->next_out = buffer + PNG_FRAGMENT_HEAD + done;
        z->avail_out = out;
        state = deflate(z, !all ? Z_NO_FLUSH : final ? Z_FINISH : Z_SYNC_FLUSH);
        given += in - z->avail_in;
        done += out - z->avail_out;
        if (state != Z_OK && state != Z_STREAM_END) return SIZE_MAX;
        if (given == n && (final ? state == Z_STREAM_END : z->avail_out > 0)) return done;
        if (done == room) return SIZE_MAX;
    }
}

/* ---------------------------------------------------------------------------------------------- quick levels: a sample */

/* Strings need more to look back at than runs. Where they clearly lose at a glance the larger sample is left out: of 38 pieces of
 * drawings and screenshots for which it chose strings, 36 passed the glance, and the other two were worth 0.03 % of their file. */
enum { SAMPLE = 32 << 10, STRINGS_GLANCE = 16 << 10, STRINGS_SAMPLE = PNG_BLOCK };

/* Bits for a sample of at most `most` bytes from the middle of the piece. */
static uint64_t sample_bits(struct png_compressor *c, size_t n, size_t most, enum coder coder, unsigned least, size_t *matches) {
    size_t size = n < most ? n : most;
    const unsigned char *bytes = c->filtered + (n - size) / 2;
    if (coder == MATCHES) memset(c->matcher, 0, sizeof *c->matcher);
    size_t count = find_sequences(c, coder, least, bytes, 0, size);
    if (matches) *matches = count - 1;
    return png_block_bits(c->code, bytes, c->sequences, count);
}

/* The longer the runs must be, the fewer sequences there are and the faster it goes, and a photograph with noise has none that pay.
 * Strings are worth their time only where runs already leave little and strings clearly less. */
static enum coder choose_coder(struct png_compressor *c, size_t n, unsigned *least) {
    size_t matches, size = n < SAMPLE ? n : SAMPLE;
    *least = RUN_LONG;
    if (c->level < 2) return c->level ? RUNS : STORE;
    uint64_t bits = sample_bits(c, n, SAMPLE, RUNS, RUN_SHORT, &matches);
    if (matches * 512 < size) return RUNS;
    uint64_t middle = sample_bits(c, n, SAMPLE, RUNS, RUN_MIDDLE, NULL), longer = sample_bits(c, n, SAMPLE, RUNS, RUN_LONG, NULL);
    uint64_t allowed = bits + bits / 256;
    *least = longer <= allowed ? RUN_LONG : middle <= allowed ? RUN_MIDDLE : RUN_SHORT;
    if (!c->effort->search.ways || bits * 2 > size * 5) return RUNS;
    bits = sample_bits(c, n, STRINGS_GLANCE, RUNS, *least, NULL);
    if (sample_bits(c, n, STRINGS_GLANCE, MATCHES, 0, NULL) > bits + bits / 32) return RUNS;
    bits = sample_bits(c, n, STRINGS_SAMPLE, RUNS, *least, NULL);
    uint64_t strings = sample_bits(c, n, STRINGS_SAMPLE, MATCHES, 0, NULL);
    return strings < bits - bits / 32 ? MATCHES : RUNS;
}

/* ------------------------------------------------------------------------------------------------- high levels: trials */

struct trials {
    size_t best;          /* size of what is in *buffer */
    size_t of[TRIES];     /* best of each choice of filters without zlib */
    unsigned char **buffer;
};

/* Keeps what is in c->trial if it is smaller. */
static void keep(struct png_compressor *c, struct trials *trials, size_t size) {
    if (size >= trials->best) return;
    unsigned char *kept = c->trial;
    c->trial = *trials->buffer;
    *trials->buffer = kept;
    trials->best = size;
}

static size_t least_of(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t try_all(struct png_compressor *c, const unsigned char *rows, ptrdiff_t stride, int count, bool final,
                      unsigned char **buffer, uint32_t *adler) {
    const struct effort *effort = c->effort;
    struct trials trials = {.best = SIZE_MAX, .buffer = buffer};
    size_t n = png_rows_size(&c->format, count);
    for (int i = 0; i < effort->filter_count; i++) {
        size_t before = trials.best;
        png_rows_filter(&c->format, effort->filters[i], rows, stride, count, c->row_scratch, c->filtered);
        size_t runs = code_blocks(c, n, RUNS, RUN_SHORT, final, c->trial);
        keep(c, &trials, runs);
        size_t longer = code_blocks(c, n, RUNS, RUN_LONG, final, c->trial);
        keep(c, &trials, longer);
        size_t matches = code_blocks(c, n, MATCHES, 0, final, c->trial);
        keep(c, &trials, matches);
        trials.of[i] = least_of(matches, least_of(runs, longer));
        if (trials.best < before) *adler = c->code->adler(c->filtered, n);
    }
    for (int try = 0; try < effort->zlib_tries; try++) {
        int best = 0;
        for (int i = 1; i < effort->filter_count; i++)
            if (trials.of[i] < trials.of[best]) best = i;
        size_t before = trials.best;
        png_rows_filter(&c->format, effort->filters[best], rows, stride, count, c->row_scratch, c->filtered);
        keep(c, &trials, code_zlib(c, n, Z_DEFAULT_STRATEGY, final, c->trial));
        keep(c, &trials, code_zlib(c, n, Z_FILTERED, final, c->trial));
        if (trials.best < before) *adler = c->code->adler(c->filtered, n);
        trials.of[best] = SIZE_MAX;
    }
    return trials.best;
}

size_t png_compress(struct png_compressor *c, const unsigned char *rows, ptrdiff_t stride, int count, bool final,
                    unsigned char **buffer, uint32_t *adler) {
    if (c->level > QUICK_LEVELS) return try_all(c, rows, stride, count, final, buffer, adler);
    size_t n = png_rows_size(&c->format, count);
    unsigned least;
    png_rows_filter(&c->format, c->effort->filters[0], rows, stride, count, c->row_scratch, c->filtered);
    *adler = c->code->adler(c->filtered, n);
    enum coder coder = choose_coder(c, n, &least);
    return code_blocks(c, n, coder, least, final, *buffer);
}
