/* Reading PBM, PGM and PPM (P1 to P6), PAM (P7) and PFM (PF, Pf). Rows stream; only a PFM on a pipe is held whole, because
 * that format begins with the last row. Images may follow each other. Formats: netpbm.sourceforge.net/doc,
 * pauldebevec.com/Research/HDR/PFM. */
#include "pnm_read.h"
#include "status.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIP_BYTES = 65536, LITTLE_ENDIAN_HOST = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

/* The file ends where row `row` should go on: an error, or from here on everything is 0. */
static imgpipe_status pnm_truncated(struct pnm *p, int64_t row, imgpipe_error *error) {
    if (!p->base.options.allow_truncated || input_failure(p->base.input))
        return pnm_fail(p, error, "truncated: the file ends inside row %lld of %lld", (long long)row,
                        (long long)p->base.info.height);
    if (!p->warned)
        log_line(p->base.options.log, IMGPIPE_LOG_WARNING, "%s: truncated: the file ends inside row %lld of %lld, the rest is 0",
                 input_name(p->base.input), (long long)row, (long long)p->base.info.height);
    p->warned = p->ended = true;
    return IMGPIPE_OK;
}

static imgpipe_status pnm_no_memory(const struct pnm *p, imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(p->base.input));
}

/* ---------------------------------------------------------------------------------------------- samples */

/* The file ends right behind a number that more digits might follow, as if it had been cut inside it. */
static imgpipe_status pnm_doubtful(struct pnm *p, uint32_t value, imgpipe_error *error) {
    if (!p->base.options.allow_truncated || input_failure(p->base.input))
        return pnm_fail(
            p, error,
            "truncated: the file ends with the digits '%u', and may be cut inside that number; if it is whole, add a newline",
            value);
    log_line(p->base.options.log, IMGPIPE_LOG_WARNING,
             "%s: truncated: the file ends with the digits '%u', which may be a part of a number", input_name(p->base.input),
             value);
    return IMGPIPE_OK;
}

/* One sample of a plain kind: 1 read, 2 read, but it may be cut, 0 at the end of the file, -1 if something else stands there. */
static int plain_sample(struct pnm *p, uint32_t *value) {
    int c;
    do c = pnm_byte(p);
    while (pnm_space(c));
    if (c < 0) return 0;
    if (c < '0' || c > '9') return -1;
    if (p->bits) { /* Digits may follow each other without white space. */
        *value = (uint32_t)(c - '0');
        return 1;
    }
    uint32_t number = 0;
    for (; c >= '0' && c <= '9'; c = pnm_byte(p)) number = number > 65535 ? number : number * 10 + (uint32_t)(c - '0');
    *value = number;
    if (c < 0) return number && number * 10 <= p->maxval ? 2 : 1;
    return pnm_space(c) ? 1 : -1;
}

/* Fills `row` with unscaled samples in the native type, and says what the greatest was. */
static imgpipe_status plain_row(struct pnm *p, void *row, size_t samples, uint32_t *greatest, imgpipe_error *error) {
    for (size_t i = 0; i < samples; i++) {
        uint32_t value = p->bits; /* in a bitmap 1 is what becomes 0 */
        int got = p->ended ? 0 : plain_sample(p, &value);
        imgpipe_status status = got == 2 ? pnm_doubtful(p, value, error)
                                : got    ? IMGPIPE_OK
                                         : pnm_truncated(p, p->base.next_row, error);
        if (status) return status;
        if (got < 0) return pnm_fail(p, error, "broken: row %lld holds something that is no number", (long long)p->base.next_row);
        if (value > *greatest) *greatest = value;
        if (p->base.info.format.type == IMGPIPE_U8)
            ((uint8_t *)row)[i] = (uint8_t)value;
        else
            ((uint16_t *)row)[i] = (uint16_t)value;
    }
    return IMGPIPE_OK;
}

/* Reads the bytes of one row; those behind the end of the file are what becomes 0. */
static imgpipe_status pnm_bytes(struct pnm *p, unsigned char *to, int64_t row, imgpipe_error *error) {
    size_t size = (size_t)p->row_bytes, got = p->ended ? 0 : input_read(p->base.input, to, size);
    if (got == size) return IMGPIPE_OK;
    got -= got % imgpipe_sample_size(p->base.info.format.type); /* a part of a sample is none */
    memset(to + got, p->bits ? 0xff : 0, size - got);
    return pnm_truncated(p, row, error);
}

static imgpipe_status raw_row(struct pnm *p, void *row, size_t samples, uint32_t *greatest, imgpipe_error *error) {
    unsigned char *to = p->kind == '4' ? p->packed : row;
    imgpipe_status status = pnm_bytes(p, to, p->base.next_row, error);
    if (status) return status;
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

static imgpipe_status pfm_row(struct pnm *p, unsigned char *row, int64_t y, imgpipe_error *error) {
    /* The rows that are missing are the upper ones, which are asked for first: those below may be there. */
    if (input_can_seek(p->base.input)) p->ended = false;
    imgpipe_status status = pnm_bytes(p, row, y, error);
    if (!status) pfm_native(p, row);
    return status;
}

/* The file begins with the last row, so `count` rows are one piece of it, backwards. */
static imgpipe_status pfm_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    struct pnm *p = (struct pnm *)source;
    uint64_t below = (uint64_t)(source->info.height - source->next_row - count);
    imgpipe_status status = IMGPIPE_OK;
    if (!source->pixels && !input_seek(source->input, p->data_at + below * p->row_bytes))
        return pnm_fail(p, error, "seeking in it failed");
    for (int i = count - 1; i >= 0 && !status; i--) {
        if (source->pixels)
            memcpy(rows[i], source->pixels + (source->next_row + i) * source->stride, (size_t)p->row_bytes);
        else
            status = pfm_row(p, rows[i], source->next_row + i, error);
    }
    if (status) return status;
    source->next_row += count;
    return IMGPIPE_OK;
}

static imgpipe_status pfm_whole(struct pnm *p, imgpipe_error *error) {
    p->whole = malloc((size_t)p->base.info.height * (size_t)p->row_bytes);
    if (!p->whole) return pnm_no_memory(p, error);
    imgpipe_status status = IMGPIPE_OK;
    for (int64_t y = p->base.info.height - 1; y >= 0 && !status; y--)
        status = pfm_row(p, p->whole + (size_t)y * (size_t)p->row_bytes, y, error);
    if (status) return status;
    p->base.pixels = p->whole;
    p->base.held = (uint64_t)p->base.info.height * p->row_bytes;
    p->base.stride = (ptrdiff_t)p->row_bytes;
    return IMGPIPE_OK;
}

/* ------------------------------------------------------------------------------------- open, finish, close */

static bool pnm_matches(const unsigned char *bytes, size_t size) {
    return size >= 3 && bytes[0] == 'P' && bytes[1] && strchr("1234567Ff", bytes[1]) && (pnm_space(bytes[2]) || bytes[2] == '#');
}

/* Whether another image follows. Behind plain kinds there may be white space and comments. */
static bool pnm_more(struct pnm *p) {
    const unsigned char *bytes;
    while (p->plain && input_peek(p->base.input, &bytes, 1) && (pnm_space(bytes[0]) || bytes[0] == '#')) pnm_byte(p);
    size_t size = input_peek(p->base.input, &bytes, 3);
    return pnm_matches(bytes, size);
}

/* Reads a header and checks the size before anything is allocated, and, where the file's is known, that all pixels are there. */
static imgpipe_status pnm_start(struct pnm *p, imgpipe_error *error) {
    struct source *source = &p->base;
    uint64_t width = 0, height = 0;
    imgpipe_status status = pnm_header(p, &width, &height, error);
    if (status) return status;
    size_t pixel = imgpipe_pixel_size(source->info.format);
    bool pfm = source->info.format.type == IMGPIPE_F32, whole = pfm && !input_can_seek(source->input);
    status = source_check_size(&source->options, input_name(source->input), width, height, pixel, whole, error);
    if (status) return status;
    source->info.width = (int64_t)width, source->info.height = (int64_t)height;
    p->data_at = input_tell(source->input);
    p->row_bytes = p->plain ? 0 : p->kind == '4' ? (width + 7) / 8 : width * pixel;
    uint64_t size = input_size(source->input);
    if (p->plain || !size || (size >= p->data_at && (size - p->data_at) / p->row_bytes >= height)) return IMGPIPE_OK;
    if (source->options.allow_truncated) return IMGPIPE_OK; /* reading will find it out */
    return pnm_truncated(p, pfm ? 0 : (int64_t)((size - p->data_at) / p->row_bytes), error);
}

/* Passes over the pixels of an image that is not wanted. */
static imgpipe_status pnm_skip(struct pnm *p, imgpipe_error *error) {
    unsigned char bytes[SKIP_BYTES];
    int64_t height = p->base.info.height;
    uint64_t left =
        (uint64_t)height * (p->plain ? (uint64_t)p->base.info.width * (uint64_t)p->base.info.format.channels : p->row_bytes);
    if (!p->plain && input_seek(p->base.input, p->data_at + left)) return IMGPIPE_OK;
    while (left) {
        uint32_t value;
        size_t want = left < SKIP_BYTES ? (size_t)left : SKIP_BYTES;
        size_t got = p->plain ? plain_sample(p, &value) > 0 : input_read(p->base.input, bytes, want);
        if (!got) return pnm_fail(p, error, "truncated or broken: an image before the one that is wanted is not complete");
        left -= got;
    }
    return IMGPIPE_OK;
}

/* Says how many images there are, where that can be found out without waiting for them. */
static imgpipe_status pnm_several(struct pnm *p, imgpipe_error *error) {
    char number[32] = "several";
    uint64_t count = 1;
    p->base.options.log = NULL;
    if (input_can_seek(p->base.input)) {
        while (pnm_more(p) && !pnm_start(p, NULL) && !pnm_skip(p, NULL)) count++;
        snprintf(number, sizeof number, "%" PRIu64, count);
    }
    return pnm_fail(p, error,
                    "it holds %s images; pick one by --page N, or write all of them to PNM, PAM or PFM, without side data", number);
}

/* Another image must not be lost in silence. */
static imgpipe_status pnm_finish(struct source *source, imgpipe_error *error) {
    struct pnm *p = (struct pnm *)source;
    const unsigned char *bytes;
    if (p->ended || source->options.page) return IMGPIPE_OK;
    if (source->info.format.type == IMGPIPE_F32 && !source->pixels)
        input_seek(source->input, p->data_at + (uint64_t)source->info.height * p->row_bytes);
    source->more = pnm_more(p);
    if (source->more && !source->options.several) return pnm_several(p, error);
    if (!source->more && input_peek(source->input, &bytes, 1))
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

static const struct source_ops pnm_ops = {.name = "pnm", .read = pnm_read, .finish = pnm_finish, .close = pnm_close};
static const struct source_ops pfm_ops = {.name = "pfm", .read = pfm_read, .finish = pnm_finish, .close = pnm_close};

static imgpipe_status pnm_begin(struct pnm *p, imgpipe_error *error) {
    int page = 1;
    imgpipe_status status = pnm_start(p, error);
    for (; !status && page < p->base.options.page; page++) {
        status = pnm_skip(p, error);
        if (!status && !pnm_more(p))
            return pnm_fail(p, error, "it holds %d image%s, there is no page %d", page, page == 1 ? "" : "s", p->base.options.page);
        if (!status) status = pnm_start(p, error);
    }
    if (status) return status;
    if (p->kind == '4' && !(p->packed = malloc((size_t)p->row_bytes))) return pnm_no_memory(p, error);
    return p->base.info.format.type == IMGPIPE_F32 && !input_can_seek(p->base.input) ? pfm_whole(p, error) : IMGPIPE_OK;
}

static imgpipe_status pnm_open(struct input *input, const struct source_options *options, struct source **source,
                               imgpipe_error *error) {
    struct pnm *p = calloc(1, sizeof *p);
    if (!p) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(input));
    p->base.input = input;
    p->base.options = *options;
    imgpipe_status status = pnm_begin(p, error);
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

const struct decoder decoder_pnm = {"pnm", pnm_matches, pnm_open, false};
