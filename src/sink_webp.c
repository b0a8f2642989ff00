/* Writing WebP through libwebp, which wants the whole image: committed rows go straight into its picture, and the file is made at
 * the end. Quality 100 is the lossless kind; the method is fixed and there is one thread, so that the bytes are always the same. */
#include "sink.h"
#include "status.h"
#include <stdlib.h>
#include <webp/encode.h>
#include <webp/mux.h>

/* What libwebp's own presets use for its method 4: how hard a lossless encoder tries, not a quality. */
enum { METHOD = 4, LOSSLESS_EFFORT = 75 };

struct webp_sink {
    struct sink base;
    WebPPicture picture;
    WebPMemoryWriter writer;
};

static imgpipe_status webp_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    (void)error;
    struct webp_sink *s = (struct webp_sink *)sink;
    int channels = sink->info.format.channels;
    for (int i = 0; i < piece->count; i++) {
        const unsigned char *from = piece->rows + i * piece->stride;
        uint32_t *to = s->picture.argb + (piece->y + i) * s->picture.argb_stride;
        for (int64_t x = 0; x < sink->info.width; x++, from += channels)
            to[x] = (channels == 4 ? (uint32_t)from[3] << 24 : 0xff000000u) | (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 |
                    from[2];
    }
    return IMGPIPE_OK;
}

static imgpipe_status webp_no_memory(const struct sink *sink, imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory for the whole image; choose PNG or PNM",
                     outfile_name(sink->out));
}

static imgpipe_status webp_encode(struct webp_sink *s, imgpipe_error *error) {
    const struct sink *sink = &s->base;
    WebPConfig config;
    if (!WebPConfigInit(&config))
        return error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': libwebp is of another version than its header",
                         outfile_name(sink->out));
    config.lossless = sink->options.quality == 100;
    config.quality = config.lossless ? LOSSLESS_EFFORT : (float)sink->options.quality;
    config.method = METHOD;
    config.exact = 1; /* colours stay where alpha is 0 */
    config.thread_level = 0;
    s->picture.writer = WebPMemoryWrite;
    s->picture.custom_ptr = &s->writer;
    if (WebPEncode(&config, &s->picture)) return IMGPIPE_OK;
    switch (s->picture.error_code) {
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BAD_WRITE: return webp_no_memory(sink, error);
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
    case VP8_ENC_ERROR_PARTITION_OVERFLOW:
        return error_set(error, IMGPIPE_ERROR_OUTPUT,
                         "cannot write '%s': the image is too detailed for a lossy WebP of this size; "
                         "choose --quality 100 (lossless) or a lower quality",
                         outfile_name(sink->out));
    default:
        return error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': libwebp failed (error %d); choose PNG",
                         outfile_name(sink->out), (int)s->picture.error_code);
    }
}

static bool put_chunk(WebPMux *mux, const char *name, const struct metadata_block *block) {
    WebPData data = {block->bytes, block->size};
    return !block->size || WebPMuxSetChunk(mux, name, &data, 0) == WEBP_MUX_OK;
}

/* Wraps the encoded image and the metadata into one container. */
static imgpipe_status webp_wrap(struct webp_sink *s, const struct metadata *metadata, WebPData *file, imgpipe_error *error) {
    WebPData image = {s->writer.mem, s->writer.size};
    WebPMux *mux = WebPMuxCreate(&image, 0);
    bool done = mux && put_chunk(mux, "ICCP", &metadata->icc) && put_chunk(mux, "EXIF", &metadata->exif) &&
                put_chunk(mux, "XMP ", &metadata->xmp) && WebPMuxAssemble(mux, file) == WEBP_MUX_OK;
    WebPMuxDelete(mux);
    return done ? IMGPIPE_OK : webp_no_memory(&s->base, error);
}

static imgpipe_status webp_finish(struct sink *sink, imgpipe_error *error) {
    struct webp_sink *s = (struct webp_sink *)sink;
    const struct metadata *metadata = sink->options.metadata;
    imgpipe_status status = webp_encode(s, error);
    WebPPictureFree(&s->picture);
    if (status) return status;
    WebPData file = {NULL, 0};
    bool carries = metadata && (metadata->icc.size || metadata->exif.size || metadata->xmp.size);
    if (carries) status = webp_wrap(s, metadata, &file, error);
    if (!status && !outfile_write(sink->out, carries ? file.bytes : s->writer.mem, carries ? file.size : s->writer.size))
        status = outfile_fail(sink->out, error);
    WebPDataClear(&file);
    return status;
}

static void webp_close(struct sink *sink) {
    struct webp_sink *s = (struct webp_sink *)sink;
    WebPPictureFree(&s->picture);
    WebPMemoryWriterClear(&s->writer);
    free(s);
}

static const struct sink_ops webp_ops = {.name = "webp", .commit = webp_commit, .finish = webp_finish, .close = webp_close};

static imgpipe_status webp_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                                struct sink **sink, imgpipe_error *error) {
    /* Four bytes a pixel for the picture; then its planes, or about what the lossless encoder's chains of equal pixels take. */
    uint64_t pixel = options->quality == 100 ? 16 : 6, pixels = (uint64_t)info->width * (uint64_t)info->height;
    imgpipe_status refused = sink_check_memory(out, "WebP", options, pixels * pixel, error);
    if (refused) return refused;
    struct webp_sink *s = calloc(1, sizeof *s);
    if (!s) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; free some", outfile_name(out));
    s->base = (struct sink){.ops = &webp_ops, .info = *info, .out = out, .options = *options, .piece_rows = sink_piece_rows(info)};
    WebPMemoryWriterInit(&s->writer);
    if (WebPPictureInit(&s->picture)) {
        s->picture.use_argb = 1;
        s->picture.width = (int)info->width;
        s->picture.height = (int)info->height;
        *sink = &s->base;
        if (WebPPictureAlloc(&s->picture)) return IMGPIPE_OK;
    }
    imgpipe_status status = webp_no_memory(&s->base, error);
    webp_close(&s->base);
    *sink = NULL;
    return status;
}

static imgpipe_format webp_accept(imgpipe_format want) {
    return (imgpipe_format){IMGPIPE_U8, want.alpha ? 4 : 3, want.alpha};
}

static bool webp_fits(int64_t width, int64_t height) {
    return width <= WEBP_MAX_DIMENSION && height <= WEBP_MAX_DIMENSION;
}

extern const struct encoder encoder_webp;
const struct encoder encoder_webp = {
    .info = {.name = "webp",
             .extensions = "webp",
             .about = "WebP, lossy; lossless with --quality 100",
             .reads = true,
             .writes = true,
             .types = "u8"},
    .carries = METADATA_ICC | METADATA_EXIF | METADATA_XMP,
    .accept = webp_accept,
    .size_fits = webp_fits,
    .open = webp_open,
};
