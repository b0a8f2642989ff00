/* Writing JPEG, BMP, TGA and Radiance HDR through stb_image_write, which wants the whole image: rows are collected as they are
 * committed, and the file is written at the end. Also the rows of the kinds that stb_image reads and nobody writes. */
#include "sink.h"
#include "status.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
/* Outside push and pop: GCC tells of unused functions only at the end of the file. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
/* Its JPEG coder shifts bits out of an int on purpose, which is defined only with this. */
#pragma GCC push_options
#pragma GCC optimize("wrapv")
#include <stb/stb_image_write.h>
#pragma GCC pop_options
#pragma GCC diagnostic pop

enum stb_kind { STB_JPEG, STB_BMP, STB_TGA, STB_HDR };

struct stb_sink {
    struct sink base;
    enum stb_kind kind;
    size_t row_bytes;
    unsigned char *image;
    bool failed, clamped;
};

static void stb_put(void *context, void *bytes, int size) {
    struct stb_sink *s = context;
    if (size > 0 && !s->failed && !outfile_write(s->base.out, bytes, (size_t)size)) s->failed = true;
}

/* RGBE holds what is not negative and below 2^127; stb_image_write would wrap the rest. Returns whether anything changed. */
static bool hdr_clamp(float *samples, size_t count) {
    bool clamped = false;
    for (size_t i = 0; i < count; i++) {
        float v = samples[i], low = v > 0 ? v : 0, in = low < 0x1.fffp126f ? low : 0x1.fffp126f;
        clamped |= !(v == in);
        samples[i] = in;
    }
    return clamped;
}

static imgpipe_status stb_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    (void)error;
    struct stb_sink *s = (struct stb_sink *)sink;
    for (int i = 0; i < piece->count; i++) {
        unsigned char *to = s->image + (size_t)(piece->y + i) * s->row_bytes;
        memcpy(to, piece->rows + i * piece->stride, s->row_bytes);
        if (s->kind == STB_HDR) s->clamped |= hdr_clamp((float *)to, s->row_bytes / sizeof(float));
    }
    return IMGPIPE_OK;
}

static imgpipe_status stb_finish(struct sink *sink, imgpipe_error *error) {
    struct stb_sink *s = (struct stb_sink *)sink;
    int width = (int)sink->info.width, height = (int)sink->info.height, channels = sink->info.format.channels;
    /* stb_image_write halves the colour planes up to a quality of 90, and from 91 on it does not. */
    int quality = sink->options.quality == 90 ? 91 : sink->options.quality, done = 0;
    if (s->clamped)
        log_line(sink->options.log, IMGPIPE_LOG_NOTICE, "%s: samples below 0, of 2^127 or more, or not a number were clamped",
                 outfile_name(sink->out));
    if (s->kind == STB_JPEG) done = stbi_write_jpg_to_func(stb_put, s, width, height, channels, s->image, quality);
    if (s->kind == STB_BMP) done = stbi_write_bmp_to_func(stb_put, s, width, height, channels, s->image);
    if (s->kind == STB_TGA) done = stbi_write_tga_to_func(stb_put, s, width, height, channels, s->image);
    if (s->kind == STB_HDR) done = stbi_write_hdr_to_func(stb_put, s, width, height, channels, (const float *)s->image);
    if (s->failed) return outfile_fail(sink->out, error);
    if (!done)
        return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; free some", outfile_name(sink->out));
    return IMGPIPE_OK;
}

static void stb_close(struct sink *sink) {
    free(((struct stb_sink *)sink)->image);
    free(sink);
}

static const struct sink_ops stb_ops = {.name = "stb", .commit = stb_commit, .finish = stb_finish, .close = stb_close};

static imgpipe_status stb_open(enum stb_kind kind, struct outfile *out, const imgpipe_info *info,
                               const struct sink_options *options, struct sink **sink, imgpipe_error *error) {
    static const char *const names[] = {"JPEG", "BMP", "TGA", "HDR"};
    uint64_t bytes = (uint64_t)info->width * (uint64_t)info->height * imgpipe_pixel_size(info->format);
    imgpipe_status refused = sink_check_memory(out, names[kind], options, bytes, error);
    if (refused) return refused;
    struct stb_sink *s = calloc(1, sizeof *s);
    if (s) {
        s->base = (struct sink){.ops = &stb_ops, .info = *info, .out = out, .options = *options};
        s->kind = kind;
        s->row_bytes = (size_t)info->width * imgpipe_pixel_size(info->format);
        /* About 256 KiB a piece: the cost of a call is lost in it, and a piece stays in the cache. */
        int64_t rows = (int64_t)((size_t)262144 / s->row_bytes);
        s->base.piece_rows = (int)(rows < 1 ? 1 : rows < info->height ? rows : info->height);
        s->image = malloc((size_t)info->height * s->row_bytes);
        if (s->image) {
            *sink = &s->base;
            return IMGPIPE_OK;
        }
        free(s);
    }
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory for the whole image; choose PNG or PNM",
                     outfile_name(out));
}

static imgpipe_status jpeg_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                                struct sink **sink, imgpipe_error *error) {
    return stb_open(STB_JPEG, out, info, options, sink, error);
}

static imgpipe_status bmp_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                               struct sink **sink, imgpipe_error *error) {
    return stb_open(STB_BMP, out, info, options, sink, error);
}

static imgpipe_status tga_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                               struct sink **sink, imgpipe_error *error) {
    return stb_open(STB_TGA, out, info, options, sink, error);
}

static imgpipe_status hdr_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                               struct sink **sink, imgpipe_error *error) {
    return stb_open(STB_HDR, out, info, options, sink, error);
}

/* Channels that are data, not alpha, have no place in these kinds. */
static int stb_colors(imgpipe_format want) {
    return want.channels <= 2 ? 1 : 3;
}

static imgpipe_format jpeg_accept(imgpipe_format want) {
    return (imgpipe_format){IMGPIPE_U8, stb_colors(want), false};
}

static imgpipe_format bmp_accept(imgpipe_format want) {
    return (imgpipe_format){IMGPIPE_U8, want.alpha ? 4 : 3, want.alpha};
}

static imgpipe_format tga_accept(imgpipe_format want) {
    return (imgpipe_format){IMGPIPE_U8, stb_colors(want) + (want.alpha ? 1 : 0), want.alpha};
}

static imgpipe_format hdr_accept(imgpipe_format want) {
    (void)want;
    return (imgpipe_format){IMGPIPE_F32, 3, false};
}

/* stb_image_write counts the bytes of the file, or the samples of the image, in int. */
static bool int_fits(int64_t width, int64_t height, int most, int bytes) {
    return width <= most && height <= most && width * height <= (INT_MAX - 1024) / bytes;
}

static bool bytes_fit(int64_t width, int64_t height) {
    return int_fits(width, height, 65535, 4);
}
static bool bmp_fits(int64_t width, int64_t height) {
    return int_fits(width + 1, height, INT_MAX, 4);
}
static bool hdr_fits(int64_t width, int64_t height) {
    return int_fits(width, height, INT_MAX, 3);
}

extern const struct encoder encoder_jpeg_stb, encoder_bmp, encoder_tga, encoder_hdr, encoder_gif, encoder_psd;

/* Used where libjpeg is missing. */
const struct encoder encoder_jpeg_stb = {
    .info = {.name = "jpeg",
             .extensions = "jpg jpeg",
             .about = "JPEG, baseline",
             .reads = true,
             .writes = true,
             .types = "u8"},
    .accept = jpeg_accept,
    .size_fits = bytes_fit,
    .open = jpeg_open,
};
const struct encoder encoder_bmp = {
    .info = {.name = "bmp",
             .extensions = "bmp",
             .about = "Windows bitmap",
             .reads = true,
             .writes = true,
             .types = "u8"},
    .accept = bmp_accept,
    .size_fits = bmp_fits,
    .open = bmp_open,
};
const struct encoder encoder_tga = {
    .info = {.name = "tga",
             .extensions = "tga",
             .about = "Targa, run lengths",
             .reads = true,
             .writes = true,
             .types = "u8"},
    .accept = tga_accept,
    .size_fits = bytes_fit,
    .open = tga_open,
};
const struct encoder encoder_hdr = {
    .info = {.name = "hdr",
             .extensions = "hdr",
             .about = "Radiance HDR",
             .reads = true,
             .writes = true,
             .types = "f32"},
    .accept = hdr_accept,
    .size_fits = hdr_fits,
    .open = hdr_open,
};
const struct encoder encoder_gif = {.info = {.name = "gif",
             .extensions = "gif",
             .about = "GIF, one frame",
             .reads = true,
             .types = ""}};
const struct encoder encoder_psd = {.info = {.name = "psd",
             .extensions = "psd",
             .about = "Photoshop, the merged image",
             .reads = true,
             .types = ""}};
