/* The rows of a PNG that is not interlaced, without libpng: fetch() inflates, unpack() undoes the filters and expands samples, and
 * another thread may be in each. */
#include "png_expand.h"
#include "png_inflate.h"
#include "png_source.h"
#include "png_unfilter.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

/* Rows between fetch() and unpack(): few, so that they stay in a cache that both threads share, and a small part of the budget. */
#define SLOT_BYTES ((size_t)512 << 10)
#define BUDGET_PART 16
/* Rows that are unfiltered at a time where they must be expanded then. */
#define BATCH 16

struct slot {
    unsigned char *memory;  /* PNG_HISTORY bytes that were inflated before, then `raw` */
    unsigned char *raw;     /* rows as they were inflated */
    int made;               /* how many */
    bool ended_badly;       /* the rows behind these, or what follows the last row, could not be inflated */
    bool doubt;             /* see png_inflate.h */
};

struct png_fast {
    struct png_inflate inflate;
    struct slot slots[SOURCE_AHEAD];
    uint64_t fetched, unpacked; /* slots in all */
    const unsigned char *last;  /* the last PNG_HISTORY bytes that were inflated */
    int64_t left;               /* rows that are not yet inflated */
    bool stopped;               /* nothing more is inflated */
    int most;                   /* rows of a slot */
    bool handed_over;           /* libpng makes the rest */
    /* of a row: bytes behind its filter, of a pixel, samples */
    size_t size, pixel, samples;
    int depth, color, channels, out_channels; /* of the file; the channels of what comes out */
    bool key;                   /* one colour is transparent */
    uint16_t key_values[3];
    bool direct;                /* unfiltered bytes are what is wanted */
    png_entry table[256];       /* what palette indices, and grays of fewer than 8 bits, become */
    unsigned char *above, *spare, *unfiltered, *line;
    const struct png_unfilter_kernels *unfilter;
    const struct png_expand_kernels *expand;
};

/* ------------------------------------------------------------------------------------------------------ begin */

static void palette_table(struct png_source *s, struct png_fast *f) {
    png_colorp colors = NULL;
    png_bytep alphas = NULL;
    int alpha_count = 0, count = 0;
    png_get_PLTE(s->png, s->png_info, &colors, &count);
    png_get_tRNS(s->png, s->png_info, &alphas, &alpha_count, NULL);
    for (int i = 0; i < 256; i++) {
        if (i < count) memcpy(f->table[i], &colors[i], 3);
        f->table[i][3] = i < alpha_count && alphas ? alphas[i] : 255;
    }
}

static void gray_table(struct png_fast *f) {
    int most = (1 << f->depth) - 1;
    for (int i = 0; i <= most; i++) {
        f->table[i][0] = (uint8_t)(i * 255 / most);
        f->table[i][1] = f->key && i == (f->key_values[0] & most) ? 0 : 255;
    }
}

static void describe(struct png_source *s, struct png_fast *f) {
    f->depth = png_get_bit_depth(s->png, s->png_info);
    f->color = png_get_color_type(s->png, s->png_info);
    f->channels = png_get_channels(s->png, s->png_info);
    f->out_channels = s->base.info.format.channels;
    f->size = png_get_rowbytes(s->png, s->png_info);
    f->samples = (size_t)s->base.info.width * (size_t)f->channels;
    f->pixel = f->depth < 8 ? 1 : (size_t)(f->depth / 8 * f->channels);
    png_color_16p key = NULL;
    bool palette = f->color == PNG_COLOR_TYPE_PALETTE;
    if (!palette && png_get_tRNS(s->png, s->png_info, NULL, NULL, &key) && key) {
        const uint16_t values[3] = {f->channels == 1 ? key->gray : key->red, key->green, key->blue};
        memcpy(f->key_values, values, sizeof values);
        f->key = true;
    }
    if (palette)
        palette_table(s, f);
    else if (f->depth < 8)
        gray_table(f);
    f->direct = f->depth == 8 && !palette && !f->key;
}

static bool allocate(struct png_source *s, struct png_fast *f) {
    size_t row = f->size + 1, slot = SLOT_BYTES;
    const uint64_t budget = s->base.options.memory / BUDGET_PART;
    if (budget && budget < slot) slot = (size_t)budget;
    f->most = row > slot ? 1 : (int)(slot / row);
    if (f->most > s->base.info.height) f->most = (int)s->base.info.height;
    if (__builtin_mul_overflow(row, (size_t)f->most, &slot) || slot > SIZE_MAX / 2 / BATCH) return false;
    for (int i = 0; i < SOURCE_AHEAD; i++) {
        f->slots[i].memory = malloc(PNG_HISTORY + slot + PNG_SLACK);
        if (!f->slots[i].memory) return false;
        f->slots[i].raw = f->slots[i].memory + PNG_HISTORY;
    }
    f->above = calloc(1, row + PNG_SLACK);
    f->spare = calloc(1, row + PNG_SLACK);
    s->base.held = SOURCE_AHEAD * (uint64_t)slot + 2 * row;
    if (!f->direct) f->unfiltered = malloc(row * (size_t)(f->most < BATCH ? f->most : BATCH) + PNG_SLACK);
    if (!f->direct && f->depth < 8) f->line = malloc(f->samples + PNG_SLACK);
    return f->above && f->spare && (f->direct || f->unfiltered) && (f->direct || f->depth >= 8 || f->line);
}

imgpipe_status png_fast_begin(struct png_source *s, imgpipe_error *error) {
    bool again = input_can_seek(s->base.input);
    if (s->base.options.reference) return IMGPIPE_OK;
    struct png_fast *f = s->fast = calloc(1, sizeof *f);
    if (f) {
        describe(s, f);
        f->left = s->base.info.height;
        f->unfilter = KERNEL_PICK(png_unfilter, s->base.options.isa);
        f->expand = KERNEL_PICK(png_expand, s->base.options.isa);
    }
    if (!f || !png_inflate_begin(&f->inflate, s->base.input, s->data_size, again, s->base.options.isa) || !allocate(s, f)) {
        s->no_memory = true;
        return png_failure(s, error);
    }
    /* Where the file may end early, the last rows are libpng's. */
    if (s->base.options.allow_truncated && !f->inflate.sound) png_fast_free(s);
    png_log_pending(s); /* of the header */
    return IMGPIPE_OK;
}

void png_fast_free(struct png_source *s) {
    struct png_fast *f = s->fast;
    if (!f) return;
    png_inflate_free(&f->inflate);
    for (int i = 0; i < SOURCE_AHEAD; i++) free(f->slots[i].memory);
    free(f->above);
    free(f->spare);
    free(f->unfiltered);
    free(f->line);
    free(f);
    s->fast = NULL;
    s->base.held = 0;
}

int png_fast_rows(const struct png_source *s) {
    return s->fast->most;
}

/* ------------------------------------------------------------------------------------------------------ fetch */

imgpipe_status png_fast_fetch(struct png_source *s, int count, imgpipe_error *error) {
    (void)error; /* what is wrong is said when the rows are unpacked, after what may be wrong in rows before */
    struct png_fast *f = s->fast;
    struct slot *slot = &f->slots[f->fetched % SOURCE_AHEAD];
    /* As many bytes as there are of the rows before; those in front of the first one are never looked at. */
    if (f->fetched > 0) memcpy(slot->memory, f->last, PNG_HISTORY);
    f->fetched++;
    slot->made = f->stopped ? 0 : png_inflate_rows(&f->inflate, slot->raw, f->size + 1, count);
    f->last = slot->raw + (size_t)slot->made * (f->size + 1) - PNG_HISTORY;
    slot->ended_badly = slot->made < count;
    f->left -= slot->made;
    if (f->left == 0 && !slot->ended_badly) slot->ended_badly = !png_inflate_end(&f->inflate);
    f->stopped = slot->ended_badly;
    slot->doubt = f->inflate.doubt;
    return IMGPIPE_OK;
}

/* ----------------------------------------------------------------------------------------------------- unpack */

static void expand_row(struct png_fast *f, const unsigned char *in, void *to) {
    const struct png_expand_kernels *k = f->expand;
    bool palette = f->color == PNG_COLOR_TYPE_PALETTE;
    if (f->depth < 8) {
        k->bits(in, f->line, f->samples, f->depth);
        in = f->line;
    }
    if (palette || f->depth < 8)
        k->table(in, to, f->samples, (const png_entry *)f->table, f->out_channels);
    else if (f->depth == 16 && f->key)
        k->key_u16(in, to, f->samples / (size_t)f->channels, f->channels, f->key_values);
    else if (f->depth == 16)
        k->words(in, to, f->samples);
    else
        k->key_u8(in, to, f->samples / (size_t)f->channels, f->channels, f->key_values);
}

static void unpack_rows(struct png_fast *f, const unsigned char *raw, void *const *to, int count) {
    struct png_rows rows = {.raw = raw, .to = (unsigned char *const *)to, .above = f->above, .spare = f->spare, .count = count,
                            .size = f->size, .pixel = f->pixel};
    const unsigned char *last = to[count - 1];
    unsigned char *unfiltered[BATCH];
    if (!f->direct) {
        for (int i = 0; i < count; i++) unfiltered[i] = f->unfiltered + (size_t)i * f->size;
        rows.to = unfiltered;
        last = unfiltered[count - 1];
    }
    f->unfilter->rows(&rows);
    for (int i = 0; i < count && !f->direct; i++) expand_row(f, unfiltered[i], to[i]);
    memcpy(f->above, last, f->size);
}

/* libpng makes these rows and all that follow. */
static imgpipe_status hand_over(struct png_source *s, void *const *rows, int count, imgpipe_error *error) {
    s->fast->handed_over = true;
    if (!input_seek(s->base.input, s->data_at)) {
        snprintf(s->reason, sizeof s->reason, "seeking failed");
        return png_failure(s, error);
    }
    imgpipe_status status = png_reference_begin(s, error);
    return status ? status : png_reference_read(s, rows, count, error);
}

/* The bytes of a slot are used up, or wrong: the error that libpng's path gives. */
static imgpipe_status fast_failure(struct png_source *s, const char *reason, imgpipe_error *error) {
    struct png_inflate *inflate = &s->fast->inflate;
    s->ended_early = reason == inflate->reason && inflate->stream.ended_early;
    s->no_memory = inflate->no_memory;
    snprintf(s->reason, sizeof s->reason, "%s", reason);
    return png_failure(s, error);
}

imgpipe_status png_fast_unpack(struct png_source *s, void *const *rows, int count, imgpipe_error *error) {
    struct png_fast *f = s->fast;
    if (f->handed_over) return png_reference_read(s, rows, count, error);
    const struct slot *slot = &f->slots[f->unpacked++ % SOURCE_AHEAD];
    if (slot->doubt) return hand_over(s, rows, count, error);
    for (int i = 0; i < slot->made; i++)
        if (slot->raw[(size_t)i * (f->size + 1)] >= PNG_FILTERS) return fast_failure(s, "bad adaptive filter value", error);
    if (slot->ended_badly) return fast_failure(s, f->inflate.reason, error);
    int part = f->direct ? count : BATCH;
    for (int at = 0; at < count; at += part)
        unpack_rows(f, slot->raw + (size_t)at * (f->size + 1), rows + at, count - at < part ? count - at : part);
    s->given += count;
    if (s->given < s->base.info.height) return IMGPIPE_OK;
    if (f->inflate.bad_checksum) return png_refuse_checksum(s, error);
    text_append(s->pending, sizeof s->pending, "%s", f->inflate.warnings);
    png_log_pending(s);
    return IMGPIPE_OK;
}

/* -------------------------------------------------------------------------------------------------------- end */

bool png_fast_end(struct png_source *s) {
    struct png_fast *f = s->fast;
    struct png_stream *stream = &f->inflate.stream;
    if (f->handed_over) return png_reference_end(s);
    if (png_stream_tail(stream, &s->meta, s->pending, sizeof s->pending)) {
        png_log_pending(s);
        return true;
    }
    s->ended_early = stream->ended_early;
    snprintf(s->reason, sizeof s->reason, "%s", stream->trouble);
    return false;
}
