/* Sinks: the table of the kinds that can be written, and sinks that write no file. */
#include "sink.h"
#include "status.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PIECE_BYTES ((size_t)1 << 20)
#define PIECE_ROWS_MIN 8

extern const struct encoder encoder_png, encoder_pnm, encoder_pam, encoder_pfm, encoder_jpeg, encoder_jpeg_stb, encoder_bmp, encoder_tga,
    encoder_hdr, encoder_gif, encoder_psd;
#ifdef IMGPIPE_WITH_TIFF
extern const struct encoder encoder_tiff;
#endif
#ifdef IMGPIPE_WITH_WEBP
extern const struct encoder encoder_webp;
#endif

static const struct encoder *const encoders[] = {
    &encoder_png, &encoder_pnm, &encoder_pam, &encoder_pfm,
#ifdef IMGPIPE_WITH_JPEG
    &encoder_jpeg,
#else
    &encoder_jpeg_stb,
#endif
#ifdef IMGPIPE_WITH_TIFF
    &encoder_tiff,
#endif
#ifdef IMGPIPE_WITH_WEBP
    &encoder_webp,
#endif
    &encoder_bmp, &encoder_tga, &encoder_hdr, &encoder_gif, &encoder_psd,
};
enum { ENCODERS = sizeof encoders / sizeof *encoders };

const struct encoder *encoder_at(int index) {
    return index >= 0 && index < ENCODERS ? encoders[index] : NULL;
}

/* Whether `word` is one of the words of `list`, letter case ignored. */
static bool is_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; *at;) {
        size_t here = strcspn(at, " ");
        if (here == length && length > 0 && strncasecmp(at, word, length) == 0) return true;
        at += here;
        at += strspn(at, " ");
    }
    return false;
}

/* `--format jpg` is understood like `--format jpeg`. */
const struct encoder *encoder_find(const char *name) {
    for (int i = 0; i < ENCODERS; i++) {
        if (strcasecmp(encoders[i]->info.name, name) == 0) return encoders[i];
    }
    for (int i = 0; i < ENCODERS; i++) {
        if (is_word(encoders[i]->info.extensions, name)) return encoders[i];
    }
    return NULL;
}

/* A name that only begins with a dot has no extension. */
const struct encoder *encoder_for_path(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    if (!dot || dot == base) return NULL;
    for (int i = 0; i < ENCODERS; i++) {
        if (is_word(encoders[i]->info.extensions, dot + 1)) return encoders[i];
    }
    return NULL;
}

const char *encoder_package(const char *format, const char *path) {
    static const char *const missing[][2] = {
#ifndef IMGPIPE_WITH_TIFF
        {"tiff tif", "libtiff-dev"},
#endif
#ifndef IMGPIPE_WITH_WEBP
        {"webp", "libwebp-dev"},
#endif
        {"", NULL},
    };
    const char *dot = strrchr(path, '.');
    const char *kind = format ? format : dot ? dot + 1 : "";
    for (int i = 0; missing[i][1]; i++)
        if (is_word(missing[i][0], kind)) return missing[i][1];
    return NULL;
}

int sink_piece_rows(const imgpipe_info *info) {
    size_t row_bytes = (size_t)info->width * imgpipe_pixel_size(info->format);
    int rows = PIECE_ROWS_MIN;
    while (rows < info->height && (size_t)rows * 2 * row_bytes <= PIECE_BYTES) rows *= 2;
    return rows < info->height ? rows : (int)info->height;
}

void sink_close(struct sink *sink) {
    if (sink) sink->ops->close(sink);
}

/* ------------------------------------------------------------------------------------------- sinks without a file */

static void plain_close(struct sink *sink) {
    free(sink);
}

static imgpipe_status nothing_to_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    (void)sink, (void)piece, (void)error;
    return IMGPIPE_OK;
}

static imgpipe_status nothing_to_finish(struct sink *sink, imgpipe_error *error) {
    (void)sink, (void)error;
    return IMGPIPE_OK;
}

static const struct sink_ops null_ops = {
    .name = "null", .commit = nothing_to_commit, .finish = nothing_to_finish, .close = plain_close};

imgpipe_status sink_null(const imgpipe_info *info, struct sink **result, imgpipe_error *error) {
    *result = NULL;
    struct sink *sink = calloc(1, sizeof *sink);
    if (!sink) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot run without an output: not enough memory; free some");
    sink->ops = &null_ops;
    sink->info = *info;
    sink->piece_rows = sink_piece_rows(info);
    *result = sink;
    return IMGPIPE_OK;
}

imgpipe_status sink_memory(const imgpipe_image *image, struct sink **result, imgpipe_error *error) {
    imgpipe_status failed = sink_null(&image->info, result, error);
    if (failed) return failed;
    (*result)->pixels = image->pixels;
    (*result)->stride = image->stride;
    return IMGPIPE_OK;
}
