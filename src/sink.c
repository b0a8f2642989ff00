/* Sinks: the table of the kinds that can be written. */
#include "sink.h"
#include "status.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PIECE_BYTES ((size_t)1 << 20)
#define PIECE_ROWS_MIN 8

extern const struct encoder encoder_pnm, encoder_pam, encoder_pfm;
#ifdef IMGPIPE_WITH_CODECS
extern const struct encoder encoder_png, encoder_jpeg, encoder_jpeg_stb, encoder_bmp, encoder_tga, encoder_hdr, encoder_gif, encoder_psd;
/* Kinds whose library this build lacks are known by name, so that it can be said what is missing. */
#ifdef IMGPIPE_WITH_TIFF
extern const struct encoder encoder_tiff;
#else
static const struct encoder encoder_tiff = {
    .info = {.name = "tiff", .extensions = "tif tiff", .about = "TIFF: needs the package libtiff-dev", .types = "", .package = "libtiff-dev"}};
#endif
#ifdef IMGPIPE_WITH_WEBP
extern const struct encoder encoder_webp;
#else
static const struct encoder encoder_webp = {
    .info = {.name = "webp", .extensions = "webp", .about = "WebP: needs the package libwebp-dev", .types = "", .package = "libwebp-dev"}};
#endif
#endif

static const struct encoder *const encoders[] = {
#ifdef IMGPIPE_WITH_CODECS
    &encoder_png,
#endif
    &encoder_pnm, &encoder_pam, &encoder_pfm,
#ifdef IMGPIPE_WITH_CODECS
#ifdef IMGPIPE_WITH_JPEG
    &encoder_jpeg,
#else
    &encoder_jpeg_stb,
#endif
    &encoder_tiff, &encoder_webp, &encoder_bmp, &encoder_tga, &encoder_hdr, &encoder_gif, &encoder_psd,
#endif
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

int sink_piece_rows(const imgpipe_info *info) {
    size_t row_bytes = (size_t)info->width * imgpipe_pixel_size(info->format);
    int rows = PIECE_ROWS_MIN;
    while (rows < info->height && (size_t)rows * 2 * row_bytes <= PIECE_BYTES) rows *= 2;
    return rows < info->height ? rows : (int)info->height;
}

imgpipe_status sink_check_memory(const struct outfile *out, const char *kind, const struct sink_options *options, uint64_t bytes,
                                 imgpipe_error *error) {
    char need[32], have[32];
    if (options->memory == 0 || bytes <= options->memory) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_MEMORY,
                     "cannot write '%s': %s is written as a whole, and needs %s, of which the memory budget leaves %s; raise --memory, "
                     "or choose PNG or PNM",
                     outfile_name(out), kind, text_bytes(bytes, need), text_bytes(options->memory, have));
}

void sink_close(struct sink *sink) {
    if (sink) sink->ops->close(sink);
}
