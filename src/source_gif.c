/* Reading GIF. The file is held in memory; its frames are put together as other programs do: a frame is drawn where
 * it says, and before the next one its rectangle stays, is cleared, or becomes what it was (GIF89a, section 23). Where nothing was
 * drawn it is transparent, or has the background's colour if the first frame knows no transparency.
 * https://www.w3.org/Graphics/GIF/spec-gif89a.txt */
#include "source.h"
#include "status.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 13, CODE_BITS = 12, CODES = 1 << CODE_BITS, TEXTS_MAX = 1000, XMP_TRAILER = 258 };
enum { DISPOSE_CLEAR = 2, DISPOSE_RESTORE = 3 };

struct frame {
    size_t at; /* of its descriptor */
    uint32_t x, y, width, height;
    int transparent; /* an index, or -1 */
    int dispose;
};

struct gif {
    struct source base;
    unsigned char *file; /* freed after decoding */
    size_t size;
    uint32_t width, height;
    int frames;
    bool incomplete; /* a block is not whole: there may be more frames */
    bool told;
    unsigned char *canvas, *kept; /* RGBA; kept: as it was before a frame that will be undone */
};

static bool gif_matches(const unsigned char *bytes, size_t size) {
    return size >= 6 && (!memcmp(bytes, "GIF87a", 6) || !memcmp(bytes, "GIF89a", 6));
}

static imgpipe_status IMGPIPE_PRINTF(3, 4) refuse(const struct gif *g, imgpipe_error *error, const char *format, ...) {
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': GIF: %s", input_name(g->base.input), why);
}

static imgpipe_status no_memory(const struct gif *g, imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(g->base.input));
}

static uint32_t get16(const unsigned char *b) {
    return b[0] | (uint32_t)b[1] << 8;
}

/* ------------------------------------------------------------------------------------------------------ blocks */

static size_t table_bytes(unsigned flags) {
    return flags & 0x80 ? (size_t)6 << (flags & 7) : 0;
}

/* Behind the sub-blocks at `at`, or 0 if the file ends within them. */
static size_t skip_blocks(const struct gif *g, size_t at) {
    while (at < g->size && g->file[at]) at += 1 + (size_t)g->file[at];
    return at < g->size ? at + 1 : 0;
}

/* The bytes of sub-blocks without their lengths; NULL when there is no memory. */
static unsigned char *join_blocks(const struct gif *g, size_t at, size_t *size) {
    unsigned char *bytes = malloc(g->size - at + 1);
    *size = 0;
    for (; bytes && g->file[at]; at += 1 + (size_t)g->file[at]) {
        memcpy(bytes + *size, g->file + at + 1, g->file[at]);
        *size += g->file[at];
    }
    return bytes;
}

/* What an extension says beside the pixels: a comment, an ICC profile, or XMP, whose bytes stand there as they are with a trailer
 * that leads readers of sub-blocks to the end. False when there is no memory. */
static bool take_extension(struct gif *g, size_t at, size_t end, int *texts) {
    struct metadata *metadata = &g->base.metadata;
    unsigned kind = g->file[at + 1];
    bool comment = kind == 0xfe && ++*texts <= TEXTS_MAX, application = kind == 0xff && end - at > 14 && g->file[at + 2] == 11;
    const char *name = (const char *)g->file + at + 3;
    if (application && !memcmp(name, "XMP DataXMP", 11) && !metadata->xmp.bytes) {
        size_t from = at + 14;
        return end - from <= XMP_TRAILER || metadata_set(&metadata->xmp, g->file + from, end - from - XMP_TRAILER);
    }
    bool icc = application && !memcmp(name, "ICCRGBG1012", 11) && !metadata->icc.bytes;
    if (!comment && !icc) return true;
    size_t size;
    unsigned char *bytes = join_blocks(g, at + (icc ? 14 : 2), &size);
    bool taken = bytes && (icc ? metadata_set(&metadata->icc, bytes, size) : metadata_add_comment(metadata, bytes, size));
    free(bytes);
    return taken;
}

/* Goes on from `*at` to the next frame; false at the end. `*at` is then behind it. */
static bool next_frame(struct gif *g, size_t *at, struct frame *frame) {
    const unsigned char *b = g->file;
    *frame = (struct frame){.transparent = -1};
    while (*at < g->size && (b[*at] == 0x21 || b[*at] == 0x2c)) {
        size_t here = *at, left = g->size - here;
        if (b[here] == 0x2c) {
            size_t data = left >= 10 ? here + 10 + table_bytes(b[here + 9]) : 0;
            frame->at = here;
            if (data) frame->x = get16(b + here + 1), frame->y = get16(b + here + 3);
            if (data) frame->width = get16(b + here + 5), frame->height = get16(b + here + 7);
            *at = data && data < g->size ? skip_blocks(g, data + 1) : 0;
            g->incomplete |= *at == 0;
            if (*at == 0) *at = g->size;
            return true;
        }
        if (left >= 8 && b[here + 1] == 0xf9 && b[here + 2] >= 4) {
            frame->dispose = b[here + 3] >> 2 & 7;
            frame->transparent = b[here + 3] & 1 ? b[here + 6] : -1;
        }
        *at = left >= 2 ? skip_blocks(g, here + 2) : 0;
        if (*at == 0) break;
    }
    g->incomplete |= *at == 0 || *at >= g->size;
    return false;
}

static imgpipe_status count_frames(struct gif *g, imgpipe_error *error) {
    struct frame frame;
    size_t first = HEADER + table_bytes(g->file[10]);
    int texts = 0;
    for (size_t at = first; next_frame(g, &at, &frame);) g->frames++;
    for (size_t at = first, end; at < g->size && (g->file[at] == 0x21 || g->file[at] == 0x2c); at = end) {
        bool extension = g->file[at] == 0x21;
        if (g->size - at < 10) break;
        size_t data = extension ? at + 2 : at + 11 + table_bytes(g->file[at + 9]);
        if (!(end = skip_blocks(g, data))) break;
        if (extension && !take_extension(g, at, end, &texts)) return no_memory(g, error);
    }
    return IMGPIPE_OK;
}

/* ------------------------------------------------------------------------------------------------------- codes */

/* Codes of growing length from sub-blocks, lowest bit first. */
struct codes {
    const unsigned char *bytes;
    size_t at, size;
    unsigned block; /* bytes left in the sub-block */
    uint32_t bits;
    int count;
};

/* The next code of `width` bits, or -1 at the end of the data. */
static int next_code(struct codes *c, int width) {
    while (c->count < width) {
        if (c->block == 0) c->block = c->at < c->size ? c->bytes[c->at++] : 0;
        if (c->block == 0 || c->at >= c->size) return -1;
        c->bits |= (uint32_t)c->bytes[c->at++] << c->count;
        c->count += 8;
        c->block--;
    }
    int code = (int)(c->bits & ((1u << width) - 1));
    c->bits >>= width;
    c->count -= width;
    return code;
}

/* Where the next index of a frame goes. */
struct pen {
    struct gif *gif;
    const struct frame *frame;
    const unsigned char *colors;
    unsigned entries;
    uint32_t x, y, step, left; /* left: rows */
    bool no_color;             /* an index was behind the end of the palette */
};

/* Interlaced rows come in four runs: every 8th from 0, every 8th from 4, every 4th from 2, every 2nd from 1. */
static void next_row(struct pen *p) {
    p->x = 0;
    p->left--;
    p->y += p->step;
    while (p->y >= p->frame->height && p->left > 0 && p->step > 1) {
        p->y = p->step == 8 && p->y % 8 == 0 ? 4 : p->step == 8 ? 2 : 1;
        p->step = p->y == 4 ? 8 : p->y == 2 ? 4 : 2;
    }
}

static void put_pixel(struct pen *p, unsigned index) {
    if ((int)index != p->frame->transparent) {
        size_t row = p->frame->y + p->y, column = p->frame->x + p->x;
        unsigned char *to = p->gif->canvas + 4 * (row * p->gif->width + column);
        if (index >= p->entries) {
            p->no_color = true;
            return;
        }
        memcpy(to, p->colors + 3 * index, 3);
        to[3] = 255;
    }
    if (++p->x == p->frame->width) next_row(p);
}

/* The dictionary: a code stands for the string of another one and one index more. Welch, "A Technique for High-Performance Data
 * Compression", 1984. Returns NULL, or what is wrong; `*cut`: the data end before the last pixel. */
static const char *draw_codes(struct codes *codes, struct pen *pen, unsigned bits, bool *cut) {
    struct {
        uint16_t before;
        unsigned char first, last;
    } table[CODES];
    unsigned char string[CODES];
    unsigned clear = 1u << bits, next = clear + 2;
    int width = (int)bits + 1, before = -1;
    for (unsigned i = 0; i < clear; i++) table[i].first = table[i].last = (unsigned char)i;
    while (pen->left > 0) {
        int got = next_code(codes, width);
        *cut = got < 0 || got == (int)clear + 1;
        if (*cut) return NULL;
        unsigned code = (unsigned)got, length = 0, at = code;
        if (code == clear) {
            next = clear + 2, width = (int)bits + 1, before = -1;
            continue;
        }
        if (code > next || (code == next && (before < 0 || next == CODES)) || (before < 0 && code >= clear))
            return "broken: a code of the compressed data is none";
        if (before >= 0 && next < CODES) { /* the new string: the one before, and the first index of this one */
            table[next].before = (uint16_t)before;
            table[next].first = table[before].first;
            table[next].last = code == next ? table[before].first : table[code].first;
            next++;
            if (next == 1u << width && width < CODE_BITS) width++;
        }
        for (; at >= clear; at = table[at].before) string[length++] = table[at].last;
        string[length++] = (unsigned char)at;
        while (length > 0 && pen->left > 0 && !pen->no_color) put_pixel(pen, string[--length]);
        if (pen->no_color) return "broken: a pixel has no colour in the palette";
        before = (int)code;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------ frames */

static void restore(const struct gif *g, const struct frame *f) {
    for (uint32_t y = f->y; y < f->y + f->height; y++) {
        size_t at = 4 * ((size_t)y * g->width + f->x);
        memcpy(g->canvas + at, g->kept + at, 4 * (size_t)f->width);
    }
}

static void clear(const struct gif *g, const struct frame *f) {
    for (uint32_t y = f->y; y < f->y + f->height; y++)
        memset(g->canvas + 4 * ((size_t)y * g->width + f->x), 0, 4 * (size_t)f->width);
}

static void begin_canvas(const struct gif *g, const struct frame *first) {
    const unsigned char *b = g->file, *ground = b + HEADER + 3 * b[11];
    size_t pixels = (size_t)g->width * g->height;
    if (first->transparent >= 0 || 3u * (b[11] + 1u) > table_bytes(b[10])) return;
    for (size_t i = 0; i < pixels; i++) {
        memcpy(g->canvas + 4 * i, ground, 3);
        g->canvas[4 * i + 3] = 255;
    }
}

/* What is missing of the first frame is 0 and not the colour of the ground; behind a later one stands what was there before. */
static void wipe_rest(struct pen *p) {
    while (p->left > 0) {
        size_t row = p->frame->y + p->y, column = p->frame->x + p->x;
        unsigned char *to = p->gif->canvas + 4 * (row * p->gif->width + column);
        for (; p->x < p->frame->width; p->x++, to += 4) memset(to, 0, 3);
        next_row(p);
    }
}

static imgpipe_status draw_frame(struct gif *g, const struct frame *f, int number, imgpipe_error *error) {
    const unsigned char *b = g->file;
    if ((uint64_t)f->x + f->width > g->width || (uint64_t)f->y + f->height > g->height)
        return refuse(g, error, "broken: frame %d does not lie within the image", number);
    unsigned flags = g->size - f->at >= 10 ? b[f->at + 9] : 0;
    size_t data = f->at + 10 + table_bytes(flags), colors = flags & 0x80 ? f->at + 10 : HEADER;
    if (data >= g->size) return refuse(g, error, "truncated: the file ends before the image does");
    unsigned entries = (unsigned)table_bytes(flags & 0x80 ? flags : b[10]) / 3;
    if (entries == 0) return refuse(g, error, "broken: frame %d has no palette", number);
    if (b[data] < 1 || b[data] > 8) return refuse(g, error, "broken: indices of %d bits", b[data]);
    bool interlaced = flags & 0x40, cut = false;
    struct pen pen = {.gif = g, .frame = f, .colors = b + colors, .entries = entries, .step = interlaced ? 8 : 1};
    pen.left = f->width ? f->height : 0;
    struct codes codes = {.bytes = b, .size = g->size, .at = data + 1};
    const char *fault = draw_codes(&codes, &pen, b[data], &cut);
    if (fault) return refuse(g, error, "%s", fault);
    if (!cut) return IMGPIPE_OK;
    bool some = pen.left < f->height || number > 1;
    if (!some || !g->base.options.allow_truncated)
        return refuse(g, error, "truncated: the data of frame %d end before its last row", number);
    if (!g->told)
        log_line(g->base.options.log, IMGPIPE_LOG_WARNING, "'%s': truncated: %" PRIu32 " rows of frame %d are missing%s",
                 input_name(g->base.input), pen.left, number, number > 1 ? "" : " and 0");
    g->told = true;
    if (number == 1) wipe_rest(&pen);
    return IMGPIPE_OK;
}

static imgpipe_status draw_frames(struct gif *g, int count, imgpipe_error *error) {
    struct frame frame, before = {0};
    size_t at = HEADER + table_bytes(g->file[10]);
    imgpipe_status status = IMGPIPE_OK;
    for (int i = 1; i <= count && !status && next_frame(g, &at, &frame); i++) {
        if (i == 1) begin_canvas(g, &frame);
        if (before.dispose == DISPOSE_CLEAR) clear(g, &before);
        if (before.dispose == DISPOSE_RESTORE) restore(g, &before);
        if (frame.dispose == DISPOSE_RESTORE && i < count) memcpy(g->kept, g->canvas, (size_t)g->height * g->width * 4);
        status = draw_frame(g, &frame, i, error);
        before = frame;
    }
    return status;
}

/* An image in which nothing is transparent has no alpha. */
static void drop_alpha(struct gif *g) {
    size_t pixels = (size_t)g->width * g->height;
    for (size_t i = 0; i < pixels; i++)
        if (g->canvas[4 * i + 3] != 255) return;
    for (size_t i = 0; i < pixels; i++) memmove(g->canvas + 3 * i, g->canvas + 4 * i, 3);
    g->base.info.format = (imgpipe_format){IMGPIPE_U8, 3, false};
}

/* ------------------------------------------------------------------------------------------------ open, close */

static imgpipe_status check_page(const struct gif *g, imgpipe_error *error) {
    int page = g->base.options.page;
    const char *more = g->incomplete ? " or more" : "", *name = input_name(g->base.input);
    if (g->frames == 0) return refuse(g, error, "%s: it holds no image", g->incomplete ? "truncated" : "broken");
    if (g->frames > 1 && page == 0)
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': it is an animation of %d%s frames; pick one by --page N",
                         name, g->frames, more);
    if (page > g->frames)
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': it holds %d%s image%s, there is no page %d", name,
                         g->frames, more, g->frames == 1 ? "" : "s", page);
    return source_check_frames(&g->base.options, name, g->width, g->height, error);
}

static imgpipe_status begin(struct gif *g, imgpipe_error *error) {
    int page = g->base.options.page;
    imgpipe_status status = input_read_all(g->base.input, g->base.options.memory, &g->file, &g->size, error);
    if (status) return status;
    if (g->size < HEADER || g->size < HEADER + table_bytes(g->file[10]))
        return refuse(g, error, "truncated: the header is not complete");
    g->width = get16(g->file + 6);
    g->height = get16(g->file + 8);
    g->base.info = (imgpipe_info){g->width, g->height, {IMGPIPE_U8, 4, true}};
    size_t pixel = page > 1 ? 8 : 4; /* with what was there before */
    status = source_check_size(&g->base.options, input_name(g->base.input), g->width, g->height, pixel, true, error);
    if (!status) status = count_frames(g, error);
    if (!status) status = check_page(g, error);
    if (status) return status;
    g->canvas = calloc((size_t)g->width * g->height, 4);
    if (page > 1) g->kept = calloc((size_t)g->width * g->height, 4);
    if (!g->canvas || (page > 1 && !g->kept)) return no_memory(g, error);
    status = draw_frames(g, page ? page : 1, error);
    if (!status) drop_alpha(g);
    return status;
}

static void gif_close(struct source *source) {
    struct gif *g = (struct gif *)source;
    free(g->file);
    free(g->canvas);
    free(g->kept);
    free(g);
}

static const struct source_ops gif_ops = {.name = "gif", .close = gif_close};

static imgpipe_status gif_open(struct input *input, const struct source_options *options, struct source **source,
                               imgpipe_error *error) {
    struct gif *g = calloc(1, sizeof *g);
    if (!g) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(input));
    g->base.ops = &gif_ops;
    g->base.input = input;
    g->base.options = *options;
    g->base.codec = "gif";
    metadata_init(&g->base.metadata);
    imgpipe_status status = begin(g, error);
    if (status) {
        metadata_free(&g->base.metadata);
        gif_close(&g->base);
        return status;
    }
    free(g->file);
    free(g->kept);
    g->file = g->kept = NULL;
    g->base.pixels = g->canvas;
    g->base.stride = (ptrdiff_t)((size_t)g->width * imgpipe_pixel_size(g->base.info.format));
    g->base.held = (uint64_t)g->base.stride * (uint64_t)g->base.info.height;
    *source = &g->base;
    return IMGPIPE_OK;
}

const struct decoder decoder_gif = {"gif", gif_matches, gif_open, false};
