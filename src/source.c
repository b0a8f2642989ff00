/* Sources: choosing a decoder by content, size limits, images in memory. An input is closed here, never by a decoder. */
#include "source.h"
#include "metadata_iptc.h"
#include "status.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SNIFF 64
#define SIZE_LIMIT ((uint64_t)INT32_MAX)
/* How many rows a streaming decoder may need at once; a row that is beyond the budget must be refused before it is allocated. */
#define ROWS_AT_ONCE 4

#ifdef IMGPIPE_WITH_JPEG
extern const struct decoder decoder_jpeg;
#endif
#ifdef IMGPIPE_WITH_TIFF
extern const struct decoder decoder_tiff;
#endif
#ifdef IMGPIPE_WITH_WEBP
extern const struct decoder decoder_webp;
#endif

static const struct decoder *const decoders[] = {
#ifdef IMGPIPE_WITH_CODECS
    &decoder_png,
#endif
    &decoder_pnm,
#ifdef IMGPIPE_WITH_CODECS
    &decoder_gif,
#endif
#ifdef IMGPIPE_WITH_JPEG
    &decoder_jpeg,
#endif
#ifdef IMGPIPE_WITH_TIFF
    &decoder_tiff,
#endif
#ifdef IMGPIPE_WITH_WEBP
    &decoder_webp,
#endif
#ifdef IMGPIPE_WITH_CODECS
    &decoder_stb,
#endif
};

/* What other programs write and this build reads. */
#ifdef IMGPIPE_WITH_CODECS
#define CONVERT_TO "PNG"
#else
#define CONVERT_TO "PNM"
#endif

/* Kinds that are recognised so that they can be refused by name. Camera raw files come before TIFF, which they look like. */
static const struct known {
    const char *what;
    int at, size;
    const char *bytes;
    bool document; /* no image, though it may show some */
} known[] = {
#ifndef IMGPIPE_WITH_CODECS
    {"a PNG image (this build has no codecs)", 0, 4, "\x89PNG", false},
    {"a JPEG image (this build has no codecs)", 0, 3, "\xff\xd8\xff", false},
    {"a GIF image (this build has no codecs)", 0, 4, "GIF8", false},
    {"a Windows bitmap (this build has no codecs)", 0, 2, "BM", false},
    {"a Photoshop image (this build has no codecs)", 0, 4, "8BPS", false},
    {"a Radiance HDR image (this build has no codecs)", 0, 2, "#?", false},
#endif
    {"a camera raw file (Canon CR2)", 8, 3, "CR\2", false},
    {"a camera raw file (Canon CR3)", 4, 8, "ftypcrx ", false},
    {"a camera raw file (Fujifilm)", 0, 8, "FUJIFILM", false},
    {"a camera raw file (Panasonic)", 0, 4, "IIU\0", false},
    {"a camera raw file (Olympus)", 0, 4, "IIRO", false},
    {"a camera raw file (Olympus)", 0, 4, "IIRS", false},
    {"a camera raw file (Sigma)", 0, 4, "FOVb", false},
    {"a camera raw file (Minolta)", 0, 4, "\0MRM", false},
    {"a TIFF image (a build with the package libtiff-dev reads it)", 0, 4, "II*\0", false},
    {"a TIFF image (a build with the package libtiff-dev reads it)", 0, 4, "MM\0*", false},
    {"a BigTIFF image (a build with the package libtiff-dev reads it)", 0, 4, "II+\0", false},
    {"a BigTIFF image (a build with the package libtiff-dev reads it)", 0, 4, "MM\0+", false},
    {"a WebP image (a build with the package libwebp-dev reads it)", 8, 4, "WEBP", false},
    {"an AVIF image", 4, 7, "ftypavi", false},
    {"a HEIF image", 4, 7, "ftyphei", false},
    {"a HEIF image", 4, 7, "ftyphev", false},
    {"a HEIF image", 4, 7, "ftypmif", false},
    {"a JPEG XL image", 0, 2, "\xff\x0a", false},
    {"a JPEG XL image", 4, 4, "JXL ", false},
    {"a JPEG 2000 image", 4, 4, "jP  ", false},
    {"a JPEG 2000 image", 0, 4, "\xff\x4f\xff\x51", false},
    {"an OpenEXR image", 0, 4, "v/1\1", false},
    {"an MNG animation", 0, 4, "\x8aMNG", false},
    {"a JNG image", 0, 4, "\x8bJNG", false},
    {"a PDF document", 0, 4, "%PDF", true},
    {"a PostScript document", 0, 4, "%!PS", true},
    {"an SVG or XML document", 0, 5, "<?xml", true},
    {"an SVG document", 0, 4, "<svg", true},
};

static const struct known *recognise(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct known *k = &known[i];
        if (size >= (size_t)(k->at + k->size) && memcmp(bytes + k->at, k->bytes, (size_t)k->size) == 0) return k;
    }
    return NULL;
}

/* The decoder of a file that begins so. A decoder that guesses comes after the known kinds: TGA has no signature. */
static const struct decoder *decoder_of(const unsigned char *bytes, size_t size, const struct known **known_as) {
    *known_as = NULL;
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++) {
        if (decoders[i]->guesses && (*known_as = recognise(bytes, size))) return NULL;
        if (decoders[i]->matches(bytes, size)) return decoders[i];
    }
    *known_as = recognise(bytes, size);
    return NULL;
}

imgpipe_content imgpipe_content_of(const void *bytes, size_t size) {
    const struct known *known_as = NULL;
    if (bytes && decoder_of(bytes, size, &known_as)) return IMGPIPE_CONTENT_IMAGE;
    return known_as && !known_as->document ? IMGPIPE_CONTENT_UNSUPPORTED : IMGPIPE_CONTENT_OTHER;
}

static const struct decoder *find_decoder(struct input *input, imgpipe_error *error) {
    const unsigned char *bytes;
    size_t size = input_peek(input, &bytes, SNIFF);
    const char *name = input_name(input);
    const char *failure = input_failure(input);
    if (failure) {
        error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s; check the file and its disk", name, failure);
        return NULL;
    }
    const struct known *known_as;
    const struct decoder *decoder = decoder_of(bytes, size, &known_as);
    if (decoder) return decoder;
    if (known_as) {
        error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': it is %s, which is not supported; convert it to " CONVERT_TO " first",
                  name, known_as->what);
        return NULL;
    }
    error_set(error, IMGPIPE_ERROR_INPUT,
              "cannot read '%s': it is no image of a kind that can be read; --list-formats shows the kinds", name);
    return NULL;
}

/* --alpha: whether the last of two or four channels is alpha or data, whatever the file says of it. */
static void override_alpha(struct source *source) {
    imgpipe_format *format = &source->info.format;
    bool wish = source->options.alpha > 0, even = format->channels == 2 || format->channels == 4;
    if (source->options.alpha < 0 || !even || format->alpha == wish) return;
    log_line(source->options.log, IMGPIPE_LOG_NOTICE, "'%s': the last of its %d channels is taken as %s", input_name(source->input),
             format->channels, wish ? "alpha" : "data, not as alpha");
    format->alpha = wish;
}

imgpipe_status source_open(struct input *input, const struct source_options *options, struct source **source,
                           imgpipe_error *error) {
    *source = NULL;
    const struct decoder *decoder = find_decoder(input, error);
    imgpipe_status status = decoder ? decoder->open(input, options, source, error) : IMGPIPE_ERROR_INPUT;
    if (status != IMGPIPE_OK) {
        *source = NULL;
        input_close(input);
        return status;
    }
    /* Only PNG says an intent; decoders that know of no metadata leave all of it zero. */
    if (strcmp(decoder->name, "png") != 0) (*source)->metadata.srgb_intent = -1;
    if (!iptc_from_texts(&(*source)->metadata)) {
        source_close(*source);
        *source = NULL;
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for what the file says beside its pixels; free some");
    }
    (*source)->options = *options;
    override_alpha(*source);
    return IMGPIPE_OK;
}

imgpipe_status source_check_frames(const struct source_options *options, const char *name, uint64_t width, uint64_t height,
                                   imgpipe_error *error) {
    uint64_t pixels = width * height * (uint64_t)(options->page ? options->page : 1);
    if (options->max_pixels == 0 || pixels <= options->max_pixels) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_INPUT,
                     "cannot read '%s': its frames up to %d have %" PRIu64 " pixels, over the limit of %" PRIu64
                     "; if the file can be trusted, raise --max-pixels",
                     name, options->page, pixels, options->max_pixels);
}

imgpipe_status source_check_size(const struct source_options *options, const char *name, uint64_t width, uint64_t height,
                                 size_t pixel_size, bool whole, imgpipe_error *error) {
    if (width == 0 || height == 0) {
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': it has no pixels (%" PRIu64 " x %" PRIu64 "); get an undamaged copy", name, width,
                         height);
    }
    if (width > SIZE_LIMIT || height > SIZE_LIMIT) {
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': it is %" PRIu64 " x %" PRIu64
                         " pixels, and a side may have 2147483647; cut it into parts",
                         name, width, height);
    }
    uint64_t pixels = width * height; /* below 2^62 */
    if (options->max_pixels && pixels > options->max_pixels) {
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': it is %" PRIu64 " x %" PRIu64 " pixels, over the limit of %" PRIu64
                         " in all; if the file can be trusted, raise --max-pixels",
                         name, width, height, options->max_pixels);
    }
    uint64_t rows = whole || height < ROWS_AT_ONCE ? height : ROWS_AT_ONCE, bytes;
    bool fits = !__builtin_mul_overflow(width * rows, (uint64_t)pixel_size, &bytes) && bytes <= (uint64_t)PTRDIFF_MAX / 2;
    if (fits && (options->memory == 0 || bytes <= options->memory)) return IMGPIPE_OK;
    char need[32], have[32];
    return error_set(error, IMGPIPE_ERROR_MEMORY,
                     "cannot read '%s': it is %" PRIu64 " x %" PRIu64 " pixels, %s %s%s%s; raise --memory", name, width, height,
                     whole ? "cannot be read row by row, and needs" : "and a few of its rows need",
                     fits ? text_bytes(bytes, need) : "more memory than there can be", fits ? ", over the memory budget of " : "",
                     fits ? text_bytes(options->memory, have) : "");
}

imgpipe_status source_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    int64_t first = source->next_row;
    if (count < 0 || count > source->info.height - first) {
        return error_set(error, IMGPIPE_ERROR_INTERNAL,
                         "rows %" PRId64 " to %" PRId64 " of an image with %" PRId64 " were asked for; report this", first,
                         first + count, source->info.height);
    }
    if (source->ops->read) {
        imgpipe_status status = source->ops->read(source, rows, count, error);
        if (status != IMGPIPE_OK) return status;
    } else {
        size_t bytes = (size_t)source->info.width * imgpipe_pixel_size(source->info.format);
        for (int i = 0; i < count; i++) memcpy(rows[i], source->pixels + (first + i) * source->stride, bytes);
    }
    source->next_row = first + count;
    return IMGPIPE_OK;
}

imgpipe_status source_fetch(struct source *source, int count, imgpipe_error *error) {
    return source->ops->fetch(source, count, error);
}

imgpipe_status source_unpack(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    imgpipe_status status = source->ops->unpack(source, rows, count, error);
    if (status == IMGPIPE_OK) source->next_row += count;
    return status;
}

imgpipe_status source_finish(struct source *source, imgpipe_error *error) {
    return source->ops->finish ? source->ops->finish(source, error) : IMGPIPE_OK;
}

void source_close(struct source *source) {
    if (!source) return;
    struct input *input = source->input;
    metadata_free(&source->metadata);
    source->ops->close(source);
    input_close(input);
}

struct input *source_release(struct source *source) {
    struct input *input = source->input;
    source->input = NULL;
    source_close(source);
    return input;
}
