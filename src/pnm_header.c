/* The headers of PBM, PGM, PPM, PAM and PFM. */
#include "pnm_read.h"
#include "param.h"
#include "status.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAM_LINE = 256, NUMBER_CHARS = 64 };

static const char *pnm_label(const struct pnm *p) {
    static const char *const labels[] = {"PBM", "PGM", "PPM", "PBM", "PGM", "PPM", "PAM"};
    return p->kind >= '1' && p->kind <= '7' ? labels[p->kind - '1'] : "PFM";
}

imgpipe_status pnm_fail(const struct pnm *p, imgpipe_error *error, const char *format, ...) {
    char why[256];
    const char *failure = input_failure(p->base.input), *name = input_name(p->base.input);
    if (failure) return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s; check the file and its disk", name, failure);
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s: %s", name, pnm_label(p), why);
}

/* The header is read byte by byte, so that not one byte of the pixels is taken. */
static int pnm_raw_byte(struct pnm *p) {
    unsigned char byte;
    return input_read(p->base.input, &byte, 1) == 1 ? byte : -1;
}

int pnm_byte(struct pnm *p) {
    int c = pnm_raw_byte(p);
    if (c != '#') return c;
    do c = pnm_raw_byte(p);
    while (c >= 0 && c != '\n' && c != '\r');
    return c;
}

/* Reads a whole number and the one byte behind it, which must be white space. */
static imgpipe_status pnm_number(struct pnm *p, const char *what, uint64_t *value, imgpipe_error *error) {
    int c;
    do c = pnm_byte(p);
    while (pnm_space(c));
    if (c < 0) return pnm_fail(p, error, "broken header: it ends before the %s", what);
    if (c < '0' || c > '9') return pnm_fail(p, error, "broken header: the %s is not a number", what);
    uint64_t number = 0;
    for (; c >= '0' && c <= '9'; c = pnm_byte(p)) {
        if (number > (UINT64_MAX - 9) / 10) return pnm_fail(p, error, "broken header: the %s is beyond all bounds", what);
        number = number * 10 + (uint64_t)(c - '0');
    }
    if (c < 0) return pnm_fail(p, error, "broken header: it ends after the %s", what);
    if (!pnm_space(c)) return pnm_fail(p, error, "broken header: the %s is not followed by white space", what);
    *value = number;
    return IMGPIPE_OK;
}

/* Reads the scale of a PFM, whose sign is the byte order. */
static imgpipe_status pnm_scale(struct pnm *p, imgpipe_error *error) {
    char text[NUMBER_CHARS];
    int n = 0, c;
    do c = pnm_byte(p);
    while (pnm_space(c));
    for (; c >= 0 && !pnm_space(c) && n < NUMBER_CHARS - 1; c = pnm_raw_byte(p)) text[n++] = (char)c;
    text[n] = 0;
    const char *end = text;
    double scale = 0;
    if (!pnm_space(c) || !param_number(text, &end, &scale) || *end)
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
        if (n < PAM_LINE - 1 && (n || !pnm_space(c))) line[n++] = (char)c;
    while (n && pnm_space((unsigned char)line[n - 1])) n--;
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
    /* Where --alpha decides it there is nothing to assume. */
    if (!format->alpha && p->base.options.alpha < 0 && (format->channels == 2 || format->channels == 4))
        log_line(p->base.options.log, IMGPIPE_LOG_NOTICE, "%s: tuple type '%s' names no alpha, all %d channels are taken as data",
                 input_name(p->base.input), h->tuple, format->channels);
    return IMGPIPE_OK;
}

imgpipe_status pnm_header(struct pnm *p, uint64_t *width, uint64_t *height, imgpipe_error *error) {
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
