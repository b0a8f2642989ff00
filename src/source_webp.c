/* Reading WebP through libwebp: the file and the image are held in memory, within the budget. libwebpdemux finds what stands
 * beside the pixels and puts the frames of an animation together. Container: developers.google.com/speed/webp/docs/riff_container. */
#include "source.h"
#include "status.h"
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

enum { RIFF_HEADER = 12 };

struct webp {
    struct source base;
    WebPData file; /* freed after decoding */
    unsigned char *image;
    bool truncated;
};

static bool webp_matches(const unsigned char *bytes, size_t size) {
    return size >= RIFF_HEADER && !memcmp(bytes, "RIFF", 4) && !memcmp(bytes + 8, "WEBP", 4);
}

static imgpipe_status webp_refuse(const struct webp *s, imgpipe_error *error, const char *why) {
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': WebP: %s", input_name(s->base.input), why);
}

static imgpipe_status webp_no_memory(const struct webp *s, imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(s->base.input));
}

static imgpipe_status webp_failed(const struct webp *s, VP8StatusCode code, imgpipe_error *error) {
    switch (code) {
    case VP8_STATUS_OK: return IMGPIPE_OK;
    case VP8_STATUS_OUT_OF_MEMORY: return webp_no_memory(s, error);
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED: return webp_refuse(s, error, "truncated: the file ends before the image does");
    case VP8_STATUS_UNSUPPORTED_FEATURE: return webp_refuse(s, error, "it uses a feature that libwebp does not support");
    default: return webp_refuse(s, error, "broken: it cannot be decoded");
    }
}

/* Reads the file and compares its size with what it says of it. */
static imgpipe_status webp_file(struct webp *s, imgpipe_error *error) {
    unsigned char *bytes;
    size_t size;
    imgpipe_status status = input_read_all(s->base.input, s->base.options.memory, &bytes, &size, error);
    s->file = (WebPData){bytes, size};
    if (status) return status;
    uint64_t said = 8 + ((uint64_t)bytes[4] | (uint64_t)bytes[5] << 8 | (uint64_t)bytes[6] << 16 | (uint64_t)bytes[7] << 24);
    if (said < RIFF_HEADER) return webp_refuse(s, error, "broken: it says that it has no content");
    s->truncated = said > size;
    if (s->truncated && !s->base.options.allow_truncated)
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': WebP: truncated: it has %llu of %llu bytes",
                         input_name(s->base.input), (unsigned long long)size, (unsigned long long)said);
    if (said + (said & 1) < size)
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "%s: something follows the image and is ignored",
                 input_name(s->base.input));
    if (said < size) s->file.size = (size_t)said;
    return IMGPIPE_OK;
}

/* ---------------------------------------------------------------------------------------------------- pixels */

/* What an interrupted decoder has made; the rest is 0. */
static imgpipe_status webp_cut(struct webp *s, WebPIDecoder *decoder, imgpipe_error *error) {
    int rows = 0;
    size_t stride = (size_t)s->base.stride;
    VP8StatusCode code = WebPIUpdate(decoder, s->file.bytes, s->file.size);
    if (code == VP8_STATUS_OK)
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "%s: truncated: what stands behind the image is missing",
                 input_name(s->base.input));
    if (code != VP8_STATUS_SUSPENDED) return webp_failed(s, code, error);
    if (!WebPIDecGetRGB(decoder, &rows, NULL, NULL, NULL) || rows < 0) rows = 0;
    memset(s->image + (size_t)rows * stride, 0, ((size_t)s->base.info.height - (size_t)rows) * stride);
    log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "%s: truncated: the file ends inside row %d of %lld, the rest is 0",
             input_name(s->base.input), rows, (long long)s->base.info.height);
    return IMGPIPE_OK;
}

static imgpipe_status webp_still(struct webp *s, imgpipe_error *error) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return webp_refuse(s, error, "the library is of another version than its header");
    config.output.colorspace = s->base.info.format.alpha ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = s->image;
    config.output.u.RGBA.stride = (int)s->base.stride;
    config.output.u.RGBA.size = (size_t)s->base.info.height * (size_t)s->base.stride;
    if (!s->truncated) return webp_failed(s, WebPDecode(s->file.bytes, s->file.size, &config), error);
    WebPIDecoder *decoder = WebPINewDecoder(&config.output);
    if (!decoder) return webp_no_memory(s, error);
    imgpipe_status status = webp_cut(s, decoder, error);
    WebPIDelete(decoder);
    return status;
}

/* An animation without transparency has no alpha, although its frames are put together with one. */
static void drop_alpha(struct webp *s) {
    size_t pixels = (size_t)s->base.info.width * (size_t)s->base.info.height;
    for (size_t i = 0; i < pixels; i++)
        if (s->image[4 * i + 3] != 255) return;
    for (size_t i = 0; i < pixels; i++) memmove(s->image + 3 * i, s->image + 4 * i, 3);
    s->base.info.format = (imgpipe_format){IMGPIPE_U8, 3, false};
    s->base.stride = (ptrdiff_t)(3 * (size_t)s->base.info.width);
}

/* Every frame is drawn on those before it. */
static imgpipe_status webp_frame(struct webp *s, int frame, bool has_alpha, imgpipe_error *error) {
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options)) return webp_refuse(s, error, "the library is of another version than its header");
    options.color_mode = MODE_RGBA;
    options.use_threads = 0;
    WebPAnimDecoder *decoder = WebPAnimDecoderNew(&s->file, &options);
    if (!decoder) return webp_refuse(s, error, "broken: its frames cannot be found");
    uint8_t *canvas = NULL;
    int time, done = 0;
    while (done < frame && WebPAnimDecoderGetNext(decoder, &canvas, &time)) done++;
    if (done == frame) memcpy(s->image, canvas, (size_t)s->base.info.height * (size_t)s->base.stride);
    WebPAnimDecoderDelete(decoder);
    if (done < frame) return webp_refuse(s, error, "broken: a frame cannot be decoded");
    if (!has_alpha) drop_alpha(s);
    return IMGPIPE_OK;
}

/* -------------------------------------------------------------------------------------------------- metadata */

static bool take_chunk(const WebPDemuxer *demuxer, const char *name, struct metadata_block *block) {
    WebPChunkIterator chunk;
    bool taken = true;
    if (!WebPDemuxGetChunk(demuxer, name, 1, &chunk)) return true;
    const uint8_t *bytes = chunk.chunk.bytes;
    size_t size = chunk.chunk.size;
    /* Some programs write EXIF as JPEG files have it. */
    if (block && !strcmp(name, "EXIF") && size >= 6 && !memcmp(bytes, "Exif\0\0", 6)) bytes += 6, size -= 6;
    if (size) taken = metadata_set(block, bytes, size);
    WebPDemuxReleaseChunkIterator(&chunk);
    return taken;
}

/* Metadata, and how many frames there are. */
static imgpipe_status webp_container(struct webp *s, int *frames, imgpipe_error *error) {
    WebPDemuxState state;
    WebPDemuxer *demuxer = WebPDemuxPartial(&s->file, &state);
    *frames = 1;
    if (!demuxer) {
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "%s: its container is damaged; what it says beside the pixels is lost",
                 input_name(s->base.input));
        return IMGPIPE_OK;
    }
    struct metadata *metadata = &s->base.metadata;
    bool taken = take_chunk(demuxer, "ICCP", &metadata->icc) && take_chunk(demuxer, "EXIF", &metadata->exif) &&
                 take_chunk(demuxer, "XMP ", &metadata->xmp);
    *frames = (int)WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT);
    WebPDemuxDelete(demuxer);
    if (!taken) return webp_no_memory(s, error);
    metadata_read_exif(metadata);
    return IMGPIPE_OK;
}

/* ---------------------------------------------------------------------------------------------- open, close */

static imgpipe_status check_page(const struct webp *s, int frames, imgpipe_error *error) {
    int page = s->base.options.page;
    const char *name = input_name(s->base.input);
    if (frames > 1 && page == 0)
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': it is an animation of %d frames; pick one by --page N",
                         name, frames);
    if (page > 1 && page > frames)
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': it holds %d image%s, there is no page %d", name, frames,
                         frames == 1 ? "" : "s", page);
    return source_check_frames(&s->base.options, name, (uint64_t)s->base.info.width, (uint64_t)s->base.info.height, error);
}

static imgpipe_status webp_begin(struct webp *s, imgpipe_error *error) {
    WebPBitstreamFeatures features;
    int frames = 1;
    imgpipe_status status = webp_file(s, error);
    if (!status) status = webp_failed(s, WebPGetFeatures(s->file.bytes, s->file.size, &features), error);
    if (status) return status;
    int channels = features.has_animation || features.has_alpha ? 4 : 3;
    s->base.info = (imgpipe_info){features.width, features.height, {IMGPIPE_U8, channels, channels == 4}};
    /* Frames are put together on two canvases of the library's own. */
    size_t bytes = features.has_animation ? 12 : (size_t)channels;
    status = source_check_size(&s->base.options, input_name(s->base.input), (uint64_t)features.width, (uint64_t)features.height,
                               bytes, true, error);
    if (!status) status = webp_container(s, &frames, error);
    if (!status) status = check_page(s, frames, error);
    if (status) return status;
    s->base.stride = (ptrdiff_t)((size_t)features.width * (size_t)channels);
    /* Zeroed: what a broken file has no data for must not show what was in memory before. */
    s->image = calloc((size_t)features.height, (size_t)s->base.stride);
    if (!s->image) return webp_no_memory(s, error);
    if (features.has_animation) return webp_frame(s, s->base.options.page ? s->base.options.page : 1, features.has_alpha, error);
    return webp_still(s, error);
}

static void webp_close(struct source *source) {
    struct webp *s = (struct webp *)source;
    free((void *)s->file.bytes);
    free(s->image);
    free(s);
}

static const struct source_ops webp_ops = {.name = "webp", .close = webp_close};

static imgpipe_status webp_open(struct input *input, const struct source_options *options, struct source **source,
                                imgpipe_error *error) {
    struct webp *s = calloc(1, sizeof *s);
    if (!s) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(input));
    s->base.ops = &webp_ops;
    s->base.input = input;
    s->base.options = *options;
    s->base.codec = "webp";
    metadata_init(&s->base.metadata);
    imgpipe_status status = webp_begin(s, error);
    if (status) {
        metadata_free(&s->base.metadata);
        webp_close(&s->base);
        return status;
    }
    free((void *)s->file.bytes);
    s->file.bytes = NULL;
    s->base.pixels = s->image;
    s->base.held = (uint64_t)s->base.stride * (uint64_t)s->base.info.height;
    *source = &s->base;
    return IMGPIPE_OK;
}

extern const struct decoder decoder_webp;
const struct decoder decoder_webp = {"webp", webp_matches, webp_open, false};
