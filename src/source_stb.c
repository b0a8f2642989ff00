/* Reading JPEG, BMP, TGA and Radiance HDR through stb_image, and PSD without it. It wants the whole file and gives the whole image,
 * so both are held in memory, within the budget. stb_image reads zeros behind the end of a file and is content with faults that
 * it does not see; the reader below notices that bytes were missing, and the checks refuse what would come out wrong. */
#include "psd.h"
#include "source.h"
#include "status.h"
#include "stb_rows.h"
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The size is checked here before stb_image decodes anything. */
#define STBI_MAX_DIMENSIONS INT_MAX
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#define STBI_NO_PNG
#define STBI_NO_PNM
#define STBI_NO_PIC
/* It puts frames together in another way than everyone else. */
#define STBI_NO_GIF
/* It wraps colours that lie outside the range once white is removed from them. */
#define STBI_NO_PSD
/* Zeroed: parts of an image for which a broken file has no data must not show what was in memory before. */
#define STBI_MALLOC(size) calloc(1, size)
#define STBI_REALLOC(old, size) realloc(old, size)
#define STBI_FREE(old) free(old)
/* Outside push and pop: GCC tells of what stb_image declares and does not define only at the end of the file. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wcast-qual"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

enum stb_kind { STB_NONE, STB_JPEG, STB_BMP, STB_PSD, STB_HDR, STB_TGA };
static const char *const stb_codecs[] = {"", "jpeg", "bmp", "psd", "hdr", "tga"};
static const char *const stb_labels[] = {"", "JPEG", "BMP", "PSD", "Radiance HDR", "TGA"};

struct stb {
    struct source base;
    enum stb_kind kind;
    unsigned char *file; /* freed after decoding */
    size_t size;
    struct stb_rows rows; /* of a file that ends early, if that is allowed */
    void *image;
};

static unsigned get16(const unsigned char *b) {
    return b[0] | (unsigned)b[1] << 8;
}
static uint32_t get32(const unsigned char *b) {
    return get16(b) | (uint32_t)get16(b + 2) << 16;
}

/* TGA has no magic: the fields of the header that have few meanings must have one of them. */
static bool tga_plausible(const unsigned char *b, size_t size) {
    if (size < 18 || b[1] > 1 || !get16(b + 12) || !get16(b + 14) || (b[17] & 0xc0)) return false;
    int type = b[2] & ~8, depth = b[16];
    if (b[2] > 11) return false;
    if (b[1] == 1) {
        int entry = b[7];
        return type == 1 && (depth == 8 || depth == 16) && get16(b + 5) > 0 &&
               (entry == 8 || entry == 15 || entry == 16 || entry == 24 || entry == 32);
    }
    if (b[3] || b[4] || b[5] || b[6] || b[7]) return false;
    if (type == 3) return depth == 8 || depth == 16;
    return type == 2 && (depth == 15 || depth == 16 || depth == 24 || depth == 32);
}

static enum stb_kind stb_kind_of(const unsigned char *b, size_t size) {
    static const struct {
        enum stb_kind kind;
        const char *magic;
    } magics[] = {
        {STB_JPEG, "\xff\xd8\xff"}, {STB_BMP, "BM"}, {STB_PSD, "8BPS"}, {STB_HDR, "#?RADIANCE\n"}, {STB_HDR, "#?RGBE\n"},
    };
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        size_t length = strlen(magics[i].magic);
        if (size >= length && !memcmp(b, magics[i].magic, length)) return magics[i].kind;
    }
    return tga_plausible(b, size) ? STB_TGA : STB_NONE;
}

static bool stb_matches(const unsigned char *bytes, size_t size) {
    return stb_kind_of(bytes, size) != STB_NONE;
}

static imgpipe_status IMGPIPE_PRINTF(3, 4) stb_refuse(const struct stb *s, imgpipe_error *error, const char *format, ...) {
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s: %s", input_name(s->base.input), stb_labels[s->kind], why);
}

static imgpipe_status stb_no_memory(const struct stb *s, imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(s->base.input));
}

/* -------------------------------------------------------------------------------------- the bytes of the file */

struct stb_reader {
    const unsigned char *bytes;
    size_t size, at;
    char *buffer; /* stb_image's own buffer: what it reads there it may not need */
    bool endless; /* bytes without end that stop its loops, where it would wait for one that is not 0 */
    bool missing; /* it needed bytes behind the end */
};

static int reader_read(void *user, char *to, int size) {
    struct stb_reader *r = user;
    if (!r->buffer) r->buffer = to;
    size_t left = r->size - r->at, n = (size_t)size < left ? (size_t)size : left;
    memcpy(to, r->bytes + r->at, n);
    r->at += n;
    if (n == 0 || (n < (size_t)size && to != r->buffer)) r->missing = true;
    if (n == 0 && r->endless && size > 0) {
        *to = (char)0xff;
        return 1;
    }
    return (int)n;
}

static void reader_skip(void *user, int n) {
    struct stb_reader *r = user;
    size_t left = r->size - r->at;
    if (n > 0) r->at += (size_t)n < left ? (size_t)n : left;
}

static int reader_end(void *user) {
    const struct stb_reader *r = user;
    return r->at >= r->size;
}

static const stbi_io_callbacks reader_calls = {reader_read, reader_skip, reader_end};

static struct stb_reader reader_of(const struct stb *s) {
    return (struct stb_reader){.bytes = s->file, .size = s->size, .endless = s->kind == STB_HDR};
}

/* ------------------------------------------------------------------------- what stb_image would not notice */

/* stb_image writes a Huffman table of more than 256 codes beyond its end. All segments are found in the way it finds them:
 * by their lengths, and behind a scan by the next marker. Whatever is wrong otherwise it refuses by itself. */
static imgpipe_status jpeg_check(const struct stb *s, imgpipe_error *error) {
    const unsigned char *b = s->file;
    for (size_t at = 2; at + 4 <= s->size;) {
        unsigned marker = b[at + 1];
        if (b[at] != 0xff || marker == 0 || marker == 0xff || (marker >= 0xd0 && marker <= 0xd9)) {
            at++;
            continue;
        }
        size_t length = (size_t)b[at + 2] << 8 | b[at + 3], end = at + 2 + length;
        /* A table that runs over the end of its segment, or of the file, is refused only after it was built. */
        for (size_t table = at + 4; marker == 0xc4 && table < end && table < s->size;) {
            unsigned codes = 0;
            for (size_t i = table + 1; i <= table + 16 && i < s->size; i++) codes += b[i];
            if (codes > 256) return stb_refuse(s, error, "broken: a Huffman table of %u codes", codes);
            table += 17 + codes;
        }
        at = end;
    }
    return IMGPIPE_OK;
}

/* Indices behind the end of the palette would show whatever the stack holds. */
static imgpipe_status bmp_check(const struct stb *s, imgpipe_error *error) {
    const unsigned char *b = s->file;
    if (s->size < 26) return stb_refuse(s, error, "truncated: the header is not complete");
    uint32_t offset = get32(b + 10), header = get32(b + 14);
    if (header > 40 && header < 56) return stb_refuse(s, error, "a header of %u bytes is not supported", header);
    if (header != 12 && s->size < 54) return stb_refuse(s, error, "truncated: the header is not complete");
    unsigned depth = header == 12 ? get16(b + 24) : get16(b + 28);
    if (header != 12 && (get32(b + 30) == 1 || get32(b + 30) == 2)) return stb_refuse(s, error, "run lengths are not supported");
    if (depth >= 16) return IMGPIPE_OK;
    if (header == 12) return stb_refuse(s, error, "a palette behind a header of 12 bytes is not supported");
    uint64_t width = get32(b + 18), height = get32(b + 22);
    if (height > INT_MAX) height = (uint64_t)(UINT32_MAX - height) + 1;
    uint64_t row = (width * depth + 31) / 32 * 4;
    if (row == 0) return IMGPIPE_OK; /* no pixels, which is found out with the size; its rows without end are not walked */
    if (depth != 1 && depth != 4 && depth != 8) return stb_refuse(s, error, "%u bits a pixel are not supported", depth);
    bool allow = s->base.options.allow_truncated;
    if (offset < 14 + header || offset > s->size || (!allow && (s->size - offset) / row + 1 < height))
        return stb_refuse(s, error, "truncated or broken: it does not hold its pixels");
    unsigned entries = (offset - 14 - header) / 4;
    for (uint64_t y = 0; y < height && entries < 1u << depth; y++) {
        for (uint64_t x = 0; x < width; x++) {
            uint64_t bit = x * depth, at = offset + y * row + bit / 8;
            if (at >= s->size && allow) return IMGPIPE_OK;
            if (at >= s->size) return stb_refuse(s, error, "truncated: it does not hold all its pixels");
            if ((b[at] >> (8 - depth - bit % 8) & ((1u << depth) - 1)) >= entries)
                return stb_refuse(s, error, "broken: a pixel has no colour in the palette of %u", entries);
        }
    }
    return IMGPIPE_OK;
}

static imgpipe_status tga_check(const struct stb *s, imgpipe_error *error) {
    const unsigned char *b = s->file;
    if (b[17] & 0x10) return stb_refuse(s, error, "rows from right to left are not supported");
    if (b[1] && get16(b + 3)) return stb_refuse(s, error, "a colour map that does not begin at 0 is not supported");
    return IMGPIPE_OK;
}

static imgpipe_status stb_check(const struct stb *s, imgpipe_error *error) {
    if (s->kind == STB_JPEG) return jpeg_check(s, error);
    if (s->kind == STB_BMP) return bmp_check(s, error);
    if (s->kind == STB_TGA) return tga_check(s, error);
    return IMGPIPE_OK;
}

/* ---------------------------------------------------------------------------------------------- open, read */

static imgpipe_status stb_failed(const struct stb *s, const struct stb_reader *r, imgpipe_error *error) {
    static const char *const reasons[][2] = {
        {"only 8-bit", "only 8 bits a sample are supported"},
        {"no SOF", "it has no frame of a supported kind (baseline or progressive)"},
        {"no header height", "a height that is given behind the image is not supported"},
        {"unknown image type", "broken: the header makes no sense"},
        {"unsupported format", "only 32-bit run-length encoded RGBE is supported"},
        {"unsupported data layout", "only rows from top to bottom and left to right are supported"},
        {"wrong version", "this version is not supported"},
    };
    const char *reason = stbi_failure_reason();
    if (reason && !strcmp(reason, "outofmem")) return stb_no_memory(s, error);
    if (r->missing) return stb_refuse(s, error, "truncated: the file ends before the image does");
    for (size_t i = 0; reason && i < sizeof reasons / sizeof reasons[0]; i++)
        if (!strcmp(reason, reasons[i][0])) return stb_refuse(s, error, "%s", reasons[i][1]);
    return stb_refuse(s, error, "broken: %s", reason && *reason ? reason : "it cannot be decoded");
}

/* How many bytes an image of this size must have at least: stb_image would go through all pixels of one that has none. */
static uint64_t least_bytes(const struct stb *s, uint64_t width, uint64_t height) {
    const unsigned char *b = s->file;
    uint64_t pixels = width * height, depth;
    switch (s->kind) {
    case STB_TGA: /* a run has up to 128 pixels */
        depth = (b[16] + 7u) / 8;
        return b[2] & 8 ? (pixels + 127) / 128 * (1 + depth) : pixels * depth;
    case STB_BMP: depth = get32(b + 14) == 12 ? get16(b + 24) : get16(b + 28); return (width * depth + 7) / 8 * height;
    case STB_HDR: /* a row is packed behind four bytes, each channel in runs of up to 127, or it is not packed */
        return height * (4 + 8 * ((width + 126) / 127) < 4 * width ? 4 + 8 * ((width + 126) / 127) : 4 * width);
    default: return 0;
    }
}

/* Zeros in place of the rows that are missing at the end of a file. False if that is not allowed, or cannot be told, or if none is
 * there. */
static bool fill_up(struct stb *s, uint64_t width, int64_t height) {
    if (!s->base.options.allow_truncated || (s->kind != STB_BMP && s->kind != STB_TGA)) return false;
    struct stb_rows rows = s->kind == STB_BMP ? bmp_rows(s->file, width) : tga_rows(s->file, width);
    if (rows.bytes == 0 || rows.bytes > 4 * width + 4 || rows.offset >= s->size || s->size - rows.offset < rows.bytes) return false;
    rows.there = (int64_t)((s->size - rows.offset) / rows.bytes);
    uint64_t whole = rows.offset + rows.bytes * (uint64_t)height, budget = s->base.options.memory;
    if (budget && whole > budget) return false;
    unsigned char *file = whole > s->size ? realloc(s->file, whole) : NULL;
    if (!file) return false;
    memset(file + s->size, 0, whole - s->size);
    s->file = file, s->size = whole, s->rows = rows;
    log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "'%s': truncated: %" PRId64 " of %" PRId64 " rows are whole; the rest is 0",
             input_name(s->base.input), rows.there, height);
    return true;
}

/* Reads the header: fills info and refuses what is too large before any of it is decoded. */
static imgpipe_status stb_header(struct stb *s, imgpipe_error *error) {
    struct stb_reader r = reader_of(s);
    int width = 0, height = 0, channels = 0;
    if (!stbi_info_from_callbacks(&reader_calls, &r, &width, &height, &channels)) return stb_failed(s, &r, error);
    /* A negative height of a BMP says that it begins at the top. */
    int64_t rows = s->kind == STB_BMP && height < 0 ? -(int64_t)height : height;
    imgpipe_format *format = &s->base.info.format;
    *format = (imgpipe_format){s->kind == STB_HDR ? IMGPIPE_F32 : IMGPIPE_U8, channels, channels == 2 || channels == 4};
    imgpipe_status status = source_check_size(&s->base.options, input_name(s->base.input), width < 0 ? 0 : (uint64_t)width,
                                              rows < 0 ? 0 : (uint64_t)rows, imgpipe_pixel_size(*format), true, error);
    if (status) return status;
    /* stb_image counts in int. A pixel is counted as 4 channels, which is what it makes of some kinds on the way. */
    if ((uint64_t)width * (uint64_t)rows > INT_MAX / (4 * imgpipe_sample_size(format->type)))
        return stb_refuse(s, error, "%d × %lld pixels are more than the decoder can hold; convert it to PNG or PNM elsewhere",
                          width, (long long)rows);
    if (least_bytes(s, (uint64_t)width, (uint64_t)rows) > s->size && !fill_up(s, (uint64_t)width, rows))
        return stb_refuse(s, error, "truncated: the file ends before the image does");
    s->base.info.width = width;
    s->base.info.height = rows;
    return IMGPIPE_OK;
}

static imgpipe_status stb_psd(struct stb *s, imgpipe_error *error) {
    struct psd psd;
    imgpipe_info *info = &s->base.info;
    const char *fault = psd_parse(s->file, s->size, &psd);
    if (fault) return stb_refuse(s, error, "%s", fault);
    info->format = (imgpipe_format){psd.depth == 8 ? IMGPIPE_U8 : IMGPIPE_U16, psd.channels, psd.channels == 4};
    size_t pixel = imgpipe_pixel_size(info->format);
    imgpipe_status status =
        source_check_size(&s->base.options, input_name(s->base.input), psd.width, psd.height, pixel, true, error);
    if (status) return status;
    info->width = psd.width, info->height = psd.height;
    unsigned char *row = malloc((size_t)psd.width * 2);
    s->image = malloc((size_t)psd.width * psd.height * pixel);
    if (!row || !s->image)
        status = stb_no_memory(s, error);
    else if ((fault = psd_decode(s->file, s->size, &psd, row, s->image)))
        status = stb_refuse(s, error, "%s", fault);
    free(row);
    return status;
}

static imgpipe_status stb_decode(struct stb *s, imgpipe_error *error) {
    struct stb_reader r = reader_of(s);
    int width = 0, height = 0, channels = 0;
    imgpipe_info *info = &s->base.info;
    if (info->format.type == IMGPIPE_F32)
        s->image = stbi_loadf_from_callbacks(&reader_calls, &r, &width, &height, &channels, 0);
    else
        s->image = stbi_load_from_callbacks(&reader_calls, &r, &width, &height, &channels, 0);
    if (!s->image || r.missing) return stb_failed(s, &r, error);
    if (width != info->width || height != info->height || channels != info->format.channels)
        return stb_refuse(s, error, "broken: the image is not what its header says");
    size_t row_bytes = (size_t)width * imgpipe_pixel_size(info->format);
    if (s->rows.bytes) stb_rows_wipe(&s->rows, s->image, row_bytes, info->height);
    return IMGPIPE_OK;
}

static imgpipe_status stb_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    (void)error;
    for (int i = 0; i < count; i++, source->next_row++)
        memcpy(rows[i], source->pixels + source->next_row * source->stride, (size_t)source->stride);
    return IMGPIPE_OK;
}

static void stb_close(struct source *source) {
    struct stb *s = (struct stb *)source;
    free(s->file);
    stbi_image_free(s->image);
    free(s);
}

static const struct source_ops stb_ops = {.name = "stb", .read = stb_read, .close = stb_close};

static imgpipe_status stb_open(struct input *input, const struct source_options *options, struct source **source,
                               imgpipe_error *error) {
    struct stb *s = calloc(1, sizeof *s);
    if (!s) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(input));
    const unsigned char *bytes;
    size_t peeked = input_peek(input, &bytes, 64);
    s->kind = stb_kind_of(bytes, peeked);
    s->base.ops = &stb_ops;
    s->base.input = input;
    s->base.options = *options;
    s->base.codec = stb_codecs[s->kind];
    imgpipe_status status = IMGPIPE_OK;
    if (options->page > 1) status = stb_refuse(s, error, "there is no page %d: the file holds one image", options->page);
    if (!status) status = input_read_all(input, options->memory, &s->file, &s->size, error);
    if (!status) status = stb_check(s, error);
    if (!status && s->kind == STB_PSD) {
        status = stb_psd(s, error);
    } else if (!status) {
        status = stb_header(s, error);
        if (!status) status = stb_decode(s, error);
    }
    if (status) {
        stb_close(&s->base);
        return status;
    }
    free(s->file);
    s->file = NULL;
    s->base.pixels = s->image;
    s->base.stride = (ptrdiff_t)((size_t)s->base.info.width * imgpipe_pixel_size(s->base.info.format));
    s->base.held = (uint64_t)s->base.stride * (uint64_t)s->base.info.height;
    *source = &s->base;
    return IMGPIPE_OK;
}

const struct decoder decoder_stb = {"stb", stb_matches, stb_open, true};
