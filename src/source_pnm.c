/* Reading PBM, PGM and PPM (P1 to P6), PAM (P7) and PFM (PF, Pf). Rows stream; only a PFM on a pipe is held whole, because
 * that format begins with the last row. Formats: netpbm.sourceforge.net/doc, pauldebevec.com/Research/HDR/PFM. */
#include "source.h"
#include "param.h"
#include "status.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAM_LINE = 256, NUMBER_CHARS = 64, LITTLE_ENDIAN_HOST = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

struct pnm {
    struct source base;
    char kind; /* the second byte of the file: '1' … '7', 'F', 'f' */
    bool plain, bits, big_endian;
    uint32_t maxval;
    uint64_t data_at;      /* where the pixels begin in the file */
    uint64_t row_bytes;    /* of one row in the file; plain kinds: 0 */
    unsigned char *packed; /* one row of eight pixels a byte */
    unsigned char *whole;  /* a PFM from a pipe */
};

static const char *pnm_label(const struct pnm *p) {
    static const char *const labels[] = {"PBM", "PGM", "PPM", "PBM", "PGM", "PPM", "PAM"};
    return p->kind >= '1' && p->kind <= '7' ? labels[p->kind - '1'] : "PFM";
}

/* Says what is wrong with the file; a read error, of which it is then the consequence, comes first. */
static imgpipe_status IMGPIPE_PRINTF(3, 4) pnm_fail(const struct pnm *p, imgpipe_error *error, const char *format, ...) {
    char why[256];
    const char *failure = input_failure(p->base.input), *name = input_name(p->base.input);
    if (failure) return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s; check the file and its disk", name, failure);
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s: %s", name, pnm_label(p), why);
}

static imgpipe_status pnm_truncated(const struct pnm *p, int64_t row, imgpipe_error *error) {
    return pnm_fail(p, error, "truncated: the file ends inside row %lld of %lld", (long long)row, (long long)p->base.info.height);
}

static imgpipe_status pnm_no_memory(const struct pnm *p, imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(p->base.input));
}

/* ------------------------------------------------------------------------------------------------ header */

/* The next byte, or -1 at the end. The header is read byte by byte, so that not one byte of the pixels is taken. */
static int pnm_raw_byte(struct pnm *p) {
    unsigned char byte;
    return input_read(p->base.input, &byte, 1) == 1 ? byte : -1;
}

/* The same, where a comment counts as the newline that ends it. */
static int pnm_byte(struct pnm *p) {
    int c = pnm_raw_byte(p);
    if (c != '#') return c;
    do c = pnm_raw_byte(p);
    while (c >= 0 && c != '\n' && c != '\r');
    return c;
}

static bool is_space(int c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads a whole number and the one byte behind it, which must be white space. */
static imgpipe_status pnm_number(struct pnm *p, const char *what, uint64_t *value, imgpipe_error *error) {
    int c;
    do c = pnm_byte(p);
    while (is_space(c));
    if (c < 0) return pnm_fail(p, error, "broken header: it ends before the %s", what);
    if (c < '0' || c > '9') return pnm_fail(p, error, "broken header: the %s is not a number", what);
    uint64_t number = 0;
    for (; c >= '0' && c <= '9'; c = pnm_byte(p)) {
        if (number > (UINT64_MAX - 9) / 10) return pnm_fail(p, error, "broken header: the %s is beyond all bounds", what);
        number = number * 10 + (uint64_t)(c - '0');
    }
    if (c < 0) return pnm_fail(p, error, "broken header: it ends after the %s", what);
    if (!is_space(c)) return pnm_fail(p, error, "broken header: the %s is not followed by white space", what);
    *value = number;
    return IMGPIPE_OK;
}

/* Reads the scale of a PFM, whose sign is the byte order. */
static imgpipe_status pnm_scale(struct pnm *p, imgpipe_error *error) {
    char text[NUMBER_CHARS];
    int n = 0, c;
    do c = pnm_byte(p);
    while (is_space(c));
    for (; c >= 0 && !is_space(c) && n < NUMBER_CHARS - 1; c = pnm_raw_byte(p)) text[n++] = (char)c;
    text[n] = 0;
    const char *end = text;
    double scale = 0;
    if (!is_space(c) || !param_number(text, &end, &scale) || *end)
        return pnm_fail(p, error, "broken header: the scale is not a number");
    if (scale == 0) return pnm_fail(p, error, "broken header: the scale is 0, so the byte order is not known");
    p->big_endian = scale > 0;
    if (scale != 1 && scale != -1)
        log_line(p->base.options.log, IMGPIPE_LOG_NOTICE, "%s: the scale %s of the PFM is ignored, samples are taken as they are",
                 input_name(p->base.input), text);
    return IMGPIPE_OK;
}

struct pam_header {
    uint64_t width, height, depth, maxval;
    char tuple[PAM_LINE];
};

/* Reads one line without its newline and without white space at its ends; false at the end of the file. */
static bool pam_line(struct pnm *p, char line[PAM_LINE]) {
    int n = 0, c;
    while ((c = pnm_raw_byte(p)) >= 0 && c != '\n')
        if (n < PAM_LINE - 1 && (n || !is_space(c))) line[n++] = (char)c;
    while (n && is_space((unsigned char)line[n - 1])) n--;
    line[n] = 0;
    return c >= 0;
}

static imgpipe_status pam_number(struct pnm *p, const char *key, const char *text, uint64_t *value, imgpipe_error *error) {
    size_t digits = strspn(text, "0123456789");
    if (!digits || text[digits] || digits > 18)
        return pnm_fail(p, error, "broken header: %s is not a whole number of at most 18 digits", key);
    *value = strtoull(text, NULL, 10);
    return IMGPIPE_OK;
}

static imgpipe_status pam_header(struct pnm *p, struct pam_header *h, imgpipe_error *error) {
    char line[PAM_LINE];
    memset(h, 0, sizeof *h);
    static const char *const keys[] = {"WIDTH", "HEIGHT", "DEPTH", "MAXVAL"};
    uint64_t *const numbers[] = {&h->width, &h->height, &h->depth, &h->maxval};
    for (;;) {
        if (!pam_line(p, line)) return pnm_fail(p, error, "broken header: it ends before ENDHDR");
        if (!line[0] || line[0] == '#') continue;
        if (!strcmp(line, "ENDHDR")) break;
        size_t key = strcspn(line, " \t\v\f\r");
        char *value = line + key + strspn(line + key, " \t\v\f\r");
        line[key] = 0;
        uint64_t *number = NULL;
        for (int i = 0; i < 4; i++)
            if (!strcmp(line, keys[i])) number = numbers[i];
        if (number) {
            imgpipe_status status = pam_number(p, line, value, number, error);
            if (status) return status;
        } else if (!strcmp(line, "TUPLTYPE")) {
            text_append(h->tuple, sizeof h->tuple, "%s%s", h->tuple[0] ? " " : "", value);
        } else {
            return pnm_fail(p, error, "broken header: unknown line '%s'", line);
        }
    }
    if (!h->depth) return pnm_fail(p, error, "broken header: DEPTH is missing or 0");
    if (!h->maxval) return pnm_fail(p, error, "broken header: MAXVAL is missing or 0");
    if (h->depth > 4) return pnm_fail(p, error, "%llu channels, more than 4 are not supported", (unsigned long long)h->depth);
    return IMGPIPE_OK;
}

/* Fills info.format from the tuple type. */
static imgpipe_status pam_format(struct pnm *p, const struct pam_header *h, imgpipe_error *error) {
    static const char *const types[] = {"BLACKANDWHITE", "GRAYSCALE", "RGB", "BLACKANDWHITE_ALPHA", "GRAYSCALE_ALPHA", "RGB_ALPHA"};
    static const int depths[] = {1, 1, 3, 2, 2, 4};
    imgpipe_format *format = &p->base.info.format;
    format->channels = (int)h->depth;
    for (int i = 0; i < 6; i++) {
        if (strcmp(h->tuple, types[i])) continue;
        if (depths[i] != format->channels) return pnm_fail(p, error, "broken header: TUPLTYPE and DEPTH contradict each other");
        format->alpha = i >= 3;
    }
    if (!format->alpha && (format->channels == 2 || format->channels == 4))
        log_line(p->base.options.log, IMGPIPE_LOG_NOTICE, "%s: tuple type '%s' names no alpha, all %d channels are taken as data",
                 input_name(p->base.input), h->tuple, format->channels);
    return IMGPIPE_OK;
}

/* Reads the header up to the first byte of the pixels. */
static imgpipe_status pnm_header(struct pnm *p, uint64_t *width, uint64_t *height, imgpipe_error *error) {
    imgpipe_status status;
    imgpipe_format *format = &p->base.info.format;
    unsigned char magic[2];
    if (input_read(p->base.input, magic, 2) != 2) return pnm_fail(p, error, "broken header: it ends at once");
    p->kind = (char)magic[1];
    uint64_t maxval = 1;
    *format = (imgpipe_format){IMGPIPE_U8, p->kind == '3' || p->kind == '6' || p->kind == 'F' ? 3 : 1, false};
    if (p->kind == '7') {
        struct pam_header h;
        if ((status = pam_header(p, &h, error)) || (status = pam_format(p, &h, error))) return status;
        *width = h.width, *height = h.height, maxval = h.maxval;
    } else {
        if ((status = pnm_number(p, "width", width, error)) || (status = pnm_number(p, "height", height, error))) return status;
        if (p->kind == 'F' || p->kind == 'f') {
            format->type = IMGPIPE_F32;
            return pnm_scale(p, error);
        }
        if (p->kind != '1' && p->kind != '4' && (status = pnm_number(p, "maxval", &maxval, error))) return status;
    }
    if (maxval < 1 || maxval > 65535) return pnm_fail(p, error, "broken header: the maxval is not between 1 and 65535");
    p->maxval = (uint32_t)maxval;
    p->plain = p->kind >= '1' && p->kind <= '3';
    p->bits = p->kind == '1' || p->kind == '4';
    if (maxval > 255) format->type = IMGPIPE_U16;
    return IMGPIPE_OK;
}

/* ---------------------------------------------------------------------------------------------- samples */

/* One sample of a plain kind: 1 read, 0 at the end of the file, -1 if something else stands there. */
static int plain_sample(struct pnm *p, uint32_t *value) {
    int c;
    do c = pnm_byte(p);
    while (is_space(c));
    if (c < 0) return 0;
    if (c < '0' || c > '9') return -1;
    if (p->bits) { /* Digits may follow each other without white space. */
        *value = (uint32_t)(c - '0');
        return 1;
    }
    uint32_t number = 0;
    for (; c >= '0' && c <= '9'; c = pnm_byte(p)) number = number > 65535 ? number : number * 10 + (uint32_t)(c - '0');
    *value = number;
    return c < 0 || is_space(c) ? 1 : -1;
}

/* Fills `row` with unscaled samples in the native type, and says what the greatest was. */
static imgpipe_status plain_row(struct pnm *p, void *row, size_t samples, uint32_t *greatest, imgpipe_error *error) {
    for (size_t i = 0; i < samples; i++) {
        uint32_t value = 0;
        int got = plain_sample(p, &value);
        if (got == 0) return pnm_truncated(p, p->base.next_row, error);
        if (got < 0) return pnm_fail(p, error, "broken: row %lld holds something that is no number", (long long)p->base.next_row);
        if (value > *greatest) *greatest = value;
        if (p->base.info.format.type == IMGPIPE_U8)
            ((uint8_t *)row)[i] = (uint8_t)value;
        else
            ((uint16_t *)row)[i] = (uint16_t)value;
    }
    return IMGPIPE_OK;
}

static imgpipe_status raw_row(struct pnm *p, void *row, size_t samples, uint32_t *greatest, imgpipe_error *error) {
    unsigned char *to = p->kind == '4' ? p->packed : row;
    if (input_read(p->base.input, to, (size_t)p->row_bytes) != p->row_bytes) return pnm_truncated(p, p->base.next_row, error);
    uint8_t *bytes = row;
    if (p->bits) {
        for (size_t i = 0; i < samples; i++) bytes[i] = (uint8_t)(to[i >> 3] >> (7 - (i & 7)) & 1);
    } else if (p->base.info.format.type == IMGPIPE_U8) {
        uint8_t most = 0;
        for (size_t i = 0; i < samples; i++) most = bytes[i] > most ? bytes[i] : most;
        *greatest = most;
    } else {
        uint16_t *words = row, most = 0;
        for (size_t i = 0; i < samples; i++) {
            if (LITTLE_ENDIAN_HOST) words[i] = __builtin_bswap16(words[i]);
            most = words[i] > most ? words[i] : most;
        }
        *greatest = most;
    }
    return IMGPIPE_OK;
}

/* From 0 … maxval to the full range, rounded. In a bitmap 1 is black. */
static void scale_row(const struct pnm *p, void *row, size_t samples) {
    uint32_t m = p->maxval;
    if (p->bits) {
        for (size_t i = 0; i < samples; i++) ((uint8_t *)row)[i] = ((uint8_t *)row)[i] ? 0 : 255;
    } else if (p->base.info.format.type == IMGPIPE_U8 && m != 255) {
        for (size_t i = 0; i < samples; i++) ((uint8_t *)row)[i] = (uint8_t)((((uint8_t *)row)[i] * 255u + m / 2) / m);
    } else if (p->base.info.format.type == IMGPIPE_U16 && m != 65535) {
        for (size_t i = 0; i < samples; i++) ((uint16_t *)row)[i] = (uint16_t)((((uint16_t *)row)[i] * 65535u + m / 2) / m);
    }
}

static imgpipe_status pnm_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    struct pnm *p = (struct pnm *)source;
    size_t samples = (size_t)source->info.width * (size_t)source->info.format.channels;
    for (int i = 0; i < count; i++) {
        uint32_t greatest = 0;
        imgpipe_status status =
            p->plain ? plain_row(p, rows[i], samples, &greatest, error) : raw_row(p, rows[i], samples, &greatest, error);
        if (status) return status;
        if (greatest > p->maxval)
            return pnm_fail(p, error, "broken: row %lld holds a sample of %u, above the maxval %u of the header",
                            (long long)source->next_row, greatest, p->maxval);
        scale_row(p, rows[i], samples);
        source->next_row++;
    }
    return IMGPIPE_OK;
}

/* -------------------------------------------------------------------------------------------------- PFM */

static void pfm_native(const struct pnm *p, void *row) {
    if (p->big_endian != LITTLE_ENDIAN_HOST) return;
    uint32_t *words = row;
    for (size_t i = 0; i < p->row_bytes / 4; i++) words[i] = __builtin_bswap32(words[i]);
}

/* The file begins with the last row, so `count` rows are one piece of it, backwards. */
static imgpipe_status pfm_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    struct pnm *p = (struct pnm *)source;
    uint64_t below = (uint64_t)(source->info.height - source->next_row - count);
    if (!source->pixels && !input_seek(source->input, p->data_at + below * p->row_bytes))
        return pnm_truncated(p, source->next_row, error);
    for (int i = count - 1; i >= 0; i--) {
        if (source->pixels)
            memcpy(rows[i], source->pixels + (source->next_row + i) * source->stride, (size_t)p->row_bytes);
        else if (input_read(source->input, rows[i], (size_t)p->row_bytes) != p->row_bytes)
            return pnm_truncated(p, source->next_row + i, error);
        else
            pfm_native(p, rows[i]);
    }
    source->next_row += count;
    return IMGPIPE_OK;
}

static imgpipe_status pfm_whole(struct pnm *p, imgpipe_error *error) {
    p->whole = malloc((size_t)p->base.info.height * (size_t)p->row_bytes);
    if (!p->whole) return pnm_no_memory(p, error);
    for (int64_t y = p->base.info.height - 1; y >= 0; y--) {
        unsigned char *row = p->whole + (size_t)y * (size_t)p->row_bytes;
        if (input_read(p->base.input, row, (size_t)p->row_bytes) != p->row_bytes) return pnm_truncated(p, y, error);
        pfm_native(p, row);
    }
    p->base.pixels = p->whole;
    p->base.stride = (ptrdiff_t)p->row_bytes;
    return IMGPIPE_OK;
}

/* ------------------------------------------------------------------------------------- open, finish, close */

static bool pnm_matches(const unsigned char *bytes, size_t size) {
    return size >= 3 && bytes[0] == 'P' && bytes[1] && strchr("1234567Ff", bytes[1]) && (is_space(bytes[2]) || bytes[2] == '#');
}

/* Looks at what follows the pixels: another image is an error, since it would be lost in silence. */
static imgpipe_status pnm_finish(struct source *source, imgpipe_error *error) {
    struct pnm *p = (struct pnm *)source;
    const unsigned char *bytes;
    if (source->info.format.type == IMGPIPE_F32 && !source->pixels)
        input_seek(source->input, p->data_at + (uint64_t)source->info.height * p->row_bytes);
    while (p->plain && input_peek(source->input, &bytes, 1) && (is_space(bytes[0]) || bytes[0] == '#')) pnm_byte(p);
    size_t n = input_peek(source->input, &bytes, 3);
    if (pnm_matches(bytes, n)) return pnm_fail(p, error, "more than one image in the file; split it first");
    if (n)
        log_line(source->options.log, IMGPIPE_LOG_WARNING, "%s: something follows the image and is ignored",
                 input_name(source->input));
    return IMGPIPE_OK;
}

static void pnm_close(struct source *source) {
    struct pnm *p = (struct pnm *)source;
    free(p->packed);
    free(p->whole);
    free(p);
}

static const struct source_ops pnm_ops = {"pnm", pnm_read, pnm_finish, pnm_close};
static const struct source_ops pfm_ops = {"pfm", pfm_read, pnm_finish, pnm_close};

/* Checks the size before anything is allocated, and, where the file's is known, that all pixels are there. */
static imgpipe_status pnm_prepare(struct pnm *p, uint64_t width, uint64_t height, imgpipe_error *error) {
    struct source *source = &p->base;
    size_t pixel = imgpipe_pixel_size(source->info.format);
    bool pfm = source->info.format.type == IMGPIPE_F32, whole = pfm && !input_can_seek(source->input);
    imgpipe_status status = source_check_size(&source->options, input_name(source->input), width, height, pixel, whole, error);
    if (status) return status;
    source->info.width = (int64_t)width, source->info.height = (int64_t)height;
    p->data_at = input_tell(source->input);
    if (p->plain) return IMGPIPE_OK;
    p->row_bytes = p->kind == '4' ? (width + 7) / 8 : width * pixel;
    uint64_t size = input_size(source->input);
    if (size && (size < p->data_at || (size - p->data_at) / p->row_bytes < height))
        return pnm_truncated(p, pfm ? 0 : (int64_t)((size - p->data_at) / p->row_bytes), error);
    if (p->kind == '4' && !(p->packed = malloc((size_t)p->row_bytes))) return pnm_no_memory(p, error);
    return whole ? pfm_whole(p, error) : IMGPIPE_OK;
}

static imgpipe_status pnm_open(struct input *input, const struct source_options *options, struct source **source,
                               imgpipe_error *error) {
    struct pnm *p = calloc(1, sizeof *p);
    if (!p) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(input));
    p->base.input = input;
    p->base.options = *options;
    uint64_t width = 0, height = 0;
    imgpipe_status status = pnm_header(p, &width, &height, error);
    if (!status) status = pnm_prepare(p, width, height, error);
    if (status) {
        pnm_close(&p->base);
        return status;
    }
    bool pfm = p->base.info.format.type == IMGPIPE_F32;
    p->base.ops = pfm ? &pfm_ops : &pnm_ops;
    p->base.codec = pfm ? "pfm" : p->kind == '7' ? "pam" : "pnm";
    *source = &p->base;
    return IMGPIPE_OK;
}

const struct decoder decoder_pnm = {"pnm", pnm_matches, pnm_open};
