#include "png_compress.h"
#include "png_deflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Ways to code filtered bytes. */
enum coder { STORE, RUNS, STRINGS };

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
    {{PNG_BY_SIZE}, 1, {1, 16}, 0, 0},
    {{PNG_BY_SIZE}, 1, {8, 64}, 0, 0},
    {{PNG_BY_SIZE, PNG_NONE}, 2, {8, 64}, 0, 0},
    {{PNG_BY_ENTROPY, PNG_NONE}, 2, {8, 64}, 0, 0},
    {{PNG_BY_ENTROPY, PNG_NONE}, 2, {8, 64}, 1, 6},
    {{PNG_BY_ENTROPY, PNG_NONE, PNG_PAETH}, 3, {8, 64}, 1, 8},
    {{PNG_BY_ENTROPY, PNG_BY_SIZE, PNG_NONE, PNG_UP, PNG_PAETH}, 5, {8, 64}, 2, 9},
};

struct png_compressor {
    struct png_rows format;
    const struct effort *effort;
    int level;
    const struct png_code_kernels *code;
    const struct png_match_kernels *match;
    unsigned char *filtered, *row_scratch, *trial;
    struct png_sequence *sequences, *strings; /* of a block: as runs, and as strings */
    unsigned char *sample;
    struct png_matcher *matcher;
    z_stream zlib;
    bool zlib_open;
};

/* How a block is cut into sequences, and what it takes. */
struct part {
    struct png_sequence *sequences;
    size_t count;
    uint64_t bits;
};

/* What the choice of a coder looks at; strings need more to look back at than runs. Pieces up to LARGE are of small images. */
enum { PARTS = 8, RUNS_SAMPLE = 32 << 10, STRINGS_SAMPLE = 64 << 10, LARGE = 512 << 10 };

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
           SEQUENCES * 2 * sizeof(struct png_sequence) + STRINGS_SAMPLE +
           (efforts[level].search.ways ? sizeof(struct png_matcher) : 0) +
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
    c->sequences = malloc(SEQUENCES * 2 * sizeof *c->sequences);
    c->strings = c->sequences + SEQUENCES;
    c->sample = malloc(STRINGS_SAMPLE);
    if (c->effort->search.ways) c->matcher = malloc(sizeof *c->matcher);
    if (c->level > QUICK_LEVELS) c->trial = malloc(png_fragment_room(format, rows));
    if (c->effort->zlib_tries) c->zlib_open = deflateInit2(&c->zlib, c->effort->zlib_level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK;
    if (c->filtered && c->row_scratch && c->sequences && c->sample && (c->matcher || !c->effort->search.ways) &&
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
    free(c->sample);
    free(c->matcher);
    free(c->trial);
    free(c);
}

/* ---------------------------------------------------------------------------------------------------------- coders */

static struct part cut_runs(struct png_compressor *c, unsigned least, const unsigned char *bytes, size_t at, size_t n) {
    struct part runs = {c->sequences, c->code->runs(bytes + at, n, least, c->sequences), 0};
    runs.bits = png_block_bits(c->code, bytes + at, runs.sequences, runs.count, c->matcher->literal_bits);
    return runs;
}

/* After cut_runs(), which says what literals take. Strings may reach back into the bytes before. */
static struct part cut_strings(struct png_compressor *c, const unsigned char *bytes, size_t at, size_t n) {
    struct part strings = {c->strings, c->match->find(c->matcher, &c->effort->search, bytes, at, n, c->strings), 0};
    strings.bits = png_block_bits(c->code, bytes + at, strings.sequences, strings.count, NULL);
    return strings;
}

/* Sequences for `n` filtered bytes from `at` on, as runs or, where that takes fewer bits, as strings. */
static struct part cut_block(struct png_compressor *c, enum coder coder, unsigned least, size_t at, size_t n) {
    const unsigned char *bytes = c->filtered;
    if (coder == RUNS) return (struct part){c->sequences, c->code->runs(bytes + at, n, least, c->sequences), 0};
    struct part runs = cut_runs(c, least, bytes, at, n), strings = cut_strings(c, bytes, at, n);
    return strings.bits < runs.bits ? strings : runs;
}

static size_t code_blocks(struct png_compressor *c, size_t n, enum coder coder, unsigned least, bool final, unsigned char *buffer) {
    struct png_bits bits = {0, 0, buffer + PNG_FRAGMENT_HEAD};
    if (coder == STORE) png_stored_write(c->filtered, n, final, &bits);
    if (coder == STRINGS) memset(c->matcher, 0, sizeof *c->matcher);
    for (size_t at = 0; coder != STORE && at < n; at += PNG_BLOCK) {
        size_t size = n - at < PNG_BLOCK ? n - at : PNG_BLOCK;
        struct part part = cut_block(c, coder, least, at, size);
        png_block_write(c->code, c->filtered + at, size, part.sequences, part.count, final && at + size == n, &bits);
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

/* A sample of at most `most` bytes is parts from all over the piece, since what a piece holds changes from row to row: text and the
 * space between its lines. */
static size_t take_sample(struct png_compressor *c, size_t n, size_t most) {
    if (n <= most) {
        memcpy(c->sample, c->filtered, n);
        return n;
    }
    size_t part = most / PARTS, step = (n - part) / (PARTS - 1);
    for (size_t i = 0; i < PARTS; i++) memcpy(c->sample + i * part, c->filtered + i * step, part);
    return PARTS * part;
}

/* `in_runs`: how many bytes of the sample are. */
static uint64_t run_bits(struct png_compressor *c, size_t size, unsigned least, size_t *in_runs) {
    size_t count = c->code->runs(c->sample, size, least, c->sequences);
    *in_runs = 0;
    for (size_t i = 0; i < count; i++) *in_runs += c->sequences[i].length;
    return png_block_bits(c->code, c->sample, c->sequences, count, NULL);
}

static bool strings_pay(struct png_compressor *c, size_t n, unsigned least) {
    size_t most = n / 8 < STRINGS_SAMPLE / 4 ? STRINGS_SAMPLE / 4 : n / 8 < STRINGS_SAMPLE ? n / 8 : STRINGS_SAMPLE;
    size_t size = take_sample(c, n, most);
    memset(c->matcher, 0, sizeof *c->matcher);
    struct part runs = cut_runs(c, least, c->sample, 0, size), strings = cut_strings(c, c->sample, 0, size);
    return strings.bits < runs.bits - runs.bits / (n > LARGE ? 8 : 32);
}

/* The longer the runs must be, the fewer sequences there are and the faster it goes, so that in large photographs the short ones
 * must save a 64th. Strings take several times as long and must save an eighth of large pieces: so they do of most in screenshots, not in
 * smoothed photographs (at most a twentieth, for up to four times the time of the whole command). They are worth a look only
 * where most is in long runs, as in drawings and text. */
static enum coder choose_coder(struct png_compressor *c, size_t n, unsigned *least) {
    *least = RUN_LONG;
    if (c->level < 2) return c->level ? RUNS : STORE;
    size_t in_runs, in_longer, size = take_sample(c, n, RUNS_SAMPLE);
    uint64_t bits = run_bits(c, size, RUN_SHORT, &in_runs);
    if (in_runs * 64 < size && n > LARGE) return RUNS;
    uint64_t allowed = bits + bits / (in_runs * 16 > size * 9 || n <= LARGE ? 256 : 64);
    bool longer = run_bits(c, size, RUN_LONG, &in_longer) <= allowed, flat = in_longer * 2 > size;
    if (!longer) *least = run_bits(c, size, RUN_MIDDLE, &in_longer) > allowed ? RUN_SHORT : RUN_MIDDLE;
    return flat && c->effort->search.ways && strings_pay(c, n, *least) ? STRINGS : RUNS;
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
        size_t matches = code_blocks(c, n, STRINGS, RUN_SHORT, final, c->trial);
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
