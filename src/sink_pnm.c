/* Writing PGM and PPM (P5, P6), PAM (P7) and PFM. All of them are a line or two of text and then the samples. */
#include "sink.h"
#include "status.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LITTLE_ENDIAN_HOST = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

struct pnm_sink {
    struct sink base;
    size_t row_bytes;
    uint64_t data_at;     /* PFM: where the rows begin in the file, which may hold other images before */
    unsigned char *row;   /* one row in the byte order of the file; NULL where that is the host's */
    unsigned char *whole; /* PFM to an output that cannot seek: the rows in the order of the file */
};

/* Failed writes are remembered by the outfile, but going on would only waste time. */
static imgpipe_status pnm_put(struct sink *sink, const void *bytes, size_t size, imgpipe_error *error) {
    if (outfile_write(sink->out, bytes, size)) return IMGPIPE_OK;
    return outfile_fail(sink->out, error);
}

/* The row in the byte order of the file: big-endian for 16 bit, little-endian for floats. */
static const unsigned char *pnm_ordered(struct pnm_sink *p, const unsigned char *row) {
    if (!p->row) return row;
    memcpy(p->row, row, p->row_bytes);
    if (p->base.info.format.type == IMGPIPE_U16) {
        uint16_t *words = (uint16_t *)p->row;
        for (size_t i = 0; i < p->row_bytes / 2; i++) words[i] = __builtin_bswap16(words[i]);
    } else {
        uint32_t *words = (uint32_t *)p->row;
        for (size_t i = 0; i < p->row_bytes / 4; i++) words[i] = __builtin_bswap32(words[i]);
    }
    return p->row;
}

static imgpipe_status pnm_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    struct pnm_sink *p = (struct pnm_sink *)sink;
    imgpipe_status status = IMGPIPE_OK;
    for (int i = 0; i < piece->count && !status; i++)
        status = pnm_put(sink, pnm_ordered(p, piece->rows + i * piece->stride), p->row_bytes, error);
    return status;
}

/* The file begins with the last row, so a piece is written backwards at its place from the end. */
static imgpipe_status pfm_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    struct pnm_sink *p = (struct pnm_sink *)sink;
    uint64_t at = (uint64_t)(sink->info.height - piece->y - piece->count) * p->row_bytes;
    imgpipe_status status = IMGPIPE_OK;
    if (!p->whole && !outfile_seek(sink->out, p->data_at + at))
        return outfile_fail(sink->out, error);
    for (int i = piece->count - 1; i >= 0 && !status; i--, at += p->row_bytes) {
        const unsigned char *row = pnm_ordered(p, piece->rows + i * piece->stride);
        if (p->whole)
            memcpy(p->whole + at, row, p->row_bytes);
        else
            status = pnm_put(sink, row, p->row_bytes, error);
    }
    return status;
}

static imgpipe_status pnm_finish(struct sink *sink, imgpipe_error *error) {
    struct pnm_sink *p = (struct pnm_sink *)sink;
    return p->whole ? pnm_put(sink, p->whole, (size_t)sink->info.height * p->row_bytes, error) : IMGPIPE_OK;
}

static void pnm_close(struct sink *sink) {
    struct pnm_sink *p = (struct pnm_sink *)sink;
    free(p->row);
    free(p->whole);
    free(p);
}

static const struct sink_ops pnm_ops = {.name = "pnm", .commit = pnm_commit, .finish = pnm_finish, .close = pnm_close};
static const struct sink_ops pfm_ops = {.name = "pfm", .commit = pfm_commit, .finish = pnm_finish, .close = pnm_close};

/* Makes the sink and writes the header. */
static imgpipe_status pnm_start(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                                const char *header, struct sink **sink, imgpipe_error *error) {
    bool pfm = info->format.type == IMGPIPE_F32;
    struct pnm_sink *p = calloc(1, sizeof *p);
    if (p) {
        p->base = (struct sink){.ops = pfm ? &pfm_ops : &pnm_ops, .info = *info, .out = out, .options = *options};
        p->row_bytes = (size_t)info->width * imgpipe_pixel_size(info->format);
        p->data_at = outfile_bytes(out) + strlen(header);
        /* About 256 KiB a piece: the cost of a call is lost in it, and a piece stays in the cache. */
        int64_t rows = (int64_t)((size_t)262144 / p->row_bytes);
        p->base.piece_rows = (int)(rows < 1 ? 1 : rows < info->height ? rows : info->height);
        bool swaps = info->format.type != IMGPIPE_U8 && (info->format.type == IMGPIPE_U16) == LITTLE_ENDIAN_HOST;
        bool whole = pfm && !outfile_can_seek(out);
        size_t all;
        if (swaps) p->row = malloc(p->row_bytes);
        if (whole && !__builtin_mul_overflow((size_t)info->height, p->row_bytes, &all)) p->whole = malloc(all);
        if ((!swaps || p->row) && (!whole || p->whole)) {
            *sink = &p->base;
            /* A PFM before this one ended with its first row. */
            if (outfile_can_seek(out) && outfile_bytes(out) > 0) outfile_seek(out, outfile_bytes(out));
            imgpipe_status status = pnm_put(*sink, header, strlen(header), error);
            if (status) pnm_close(*sink);
            return status;
        }
        pnm_close(&p->base);
    }
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; write to a file, or free some",
                     outfile_name(out));
}

static unsigned pnm_maxval(imgpipe_format format) {
    return format.type == IMGPIPE_U8 ? 255 : 65535;
}

static imgpipe_status pnm_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                               struct sink **sink, imgpipe_error *error) {
    char header[128];
    snprintf(header, sizeof header, "P%c\n%lld %lld\n%u\n", info->format.channels == 1 ? '5' : '6', (long long)info->width,
             (long long)info->height, pnm_maxval(info->format));
    return pnm_start(out, info, options, header, sink, error);
}

static imgpipe_status pam_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                               struct sink **sink, imgpipe_error *error) {
    const char *tuple = info->format.channels == 1 ? "GRAYSCALE" : info->format.channels == 3 ? "RGB" : "DATA";
    if (info->format.alpha) tuple = info->format.channels == 2 ? "GRAYSCALE_ALPHA" : "RGB_ALPHA";
    char header[192];
    snprintf(header, sizeof header, "P7\nWIDTH %lld\nHEIGHT %lld\nDEPTH %d\nMAXVAL %u\nTUPLTYPE %s\nENDHDR\n",
             (long long)info->width, (long long)info->height, info->format.channels, pnm_maxval(info->format), tuple);
    return pnm_start(out, info, options, header, sink, error);
}

static imgpipe_status pfm_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                               struct sink **sink, imgpipe_error *error) {
    char header[128];
    snprintf(header, sizeof header, "P%c\n%lld %lld\n-1.0\n", info->format.channels == 1 ? 'f' : 'F', (long long)info->width,
             (long long)info->height);
    return pnm_start(out, info, options, header, sink, error);
}

/* Gray or RGB; alpha and data channels have no place here. */
static int pnm_colors(imgpipe_format want) {
    return want.channels <= 2 ? 1 : 3;
}

static imgpipe_format pnm_accept(imgpipe_format want) {
    return (imgpipe_format){want.type == IMGPIPE_F32 ? IMGPIPE_U16 : want.type, pnm_colors(want), false};
}

static imgpipe_format pam_accept(imgpipe_format want) {
    if (want.type == IMGPIPE_F32) want.type = IMGPIPE_U16;
    want.alpha = want.alpha && want.channels != 3;
    return want;
}

static imgpipe_format pfm_accept(imgpipe_format want) {
    return (imgpipe_format){IMGPIPE_F32, pnm_colors(want), false};
}

/* The text has no bound, but the readers have: 2^31 - 1. */
static bool pnm_size_fits(int64_t width, int64_t height) {
    return width <= INT32_MAX && height <= INT32_MAX;
}

extern const struct encoder encoder_pnm, encoder_pam, encoder_pfm;

const struct encoder encoder_pnm = {
    .info = {.name = "pnm",
             .extensions = "pnm pgm ppm",
             .about = "PGM and PPM",
             .reads = true,
             .writes = true,
             .streams = true,
             .types = "u8 u16"},
    .accept = pnm_accept,
    .size_fits = pnm_size_fits,
    .several = true,
    .open = pnm_open,
};
const struct encoder encoder_pam = {
    .info = {.name = "pam",
             .extensions = "pam",
             .about = "PAM, gray or RGB with or without alpha",
             .reads = true,
             .writes = true,
             .streams = true,
             .types = "u8 u16"},
    .accept = pam_accept,
    .size_fits = pnm_size_fits,
    .several = true,
    .open = pam_open,
};
const struct encoder encoder_pfm = {
    .info = {.name = "pfm",
             .extensions = "pfm",
             .about = "PFM, floating point",
             .reads = true,
             .writes = true,
             .streams = true,
             .types = "f32"},
    .accept = pfm_accept,
    .size_fits = pnm_size_fits,
    .several = true,
    .open = pfm_open,
};
