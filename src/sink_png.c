/* Writing PNG: libpng writes the structure and all chunks but IDAT, each of which is a piece that png_piece.c has encoded.
 *
 * As in source_png.c every call into libpng goes through guarded(), the one place with setjmp(), and all state is in the struct. */
#include "png_meta.h"
#include "png_piece.h"
#include "sink.h"
#include "status.h"
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct png_sink {
    struct sink base;
    png_structp png;
    png_infop png_info;
    bool failed;   /* libpng has given up; it must not be called again */
    bool no_space; /* the outfile did not take the bytes */
    bool no_memory;
    char reason[200];
    struct png_chunk *chunks; /* metadata */
    struct png_encoder *encoder;
    uLong adler;              /* of all pieces committed so far */
    struct png_part *part;    /* the argument of write_long() */
};

/* ------------------------------------------------------------------------------------------- libpng's callbacks */

static void on_warning(png_structp png, png_const_charp text) {
    const struct png_sink *s = png_get_error_ptr(png);
    log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "'%s': %s", outfile_name(s->base.out), text);
}

static _Noreturn void on_error(png_structp png, png_const_charp text) {
    struct png_sink *s = png_get_error_ptr(png);
    snprintf(s->reason, sizeof s->reason, "%s", text);
    png_longjmp(png, 1);
}

static png_voidp on_malloc(png_structp png, png_alloc_size_t size) {
    struct png_sink *s = png_get_mem_ptr(png);
    void *memory = malloc(size);
    if (!memory) s->no_memory = true;
    return memory;
}

static void on_free(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

static void on_write(png_structp png, png_bytep bytes, size_t size) {
    struct png_sink *s = png_get_io_ptr(png);
    if (outfile_write(s->base.out, bytes, size)) return;
    s->no_space = true;
    png_error(png, "writing failed");
}

/* The outfile flushes at its commit. */
static void on_flush(png_structp png) {
    (void)png;
}

static imgpipe_status guarded(struct png_sink *s, void (*work)(struct png_sink *s), imgpipe_error *error) {
    if (!s->failed) {
        if (setjmp(png_jmpbuf(s->png)) == 0) {
            work(s);
            return IMGPIPE_OK;
        }
        s->failed = true;
    }
    if (s->no_space) return outfile_fail(s->base.out, error);
    if (s->no_memory) {
        return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; free some", outfile_name(s->base.out));
    }
    return error_set(error, IMGPIPE_ERROR_INTERNAL, "cannot write '%s': libpng: %s; report this", outfile_name(s->base.out),
                     s->reason);
}

/* ------------------------------------------------------------------------------------------------------ writing */

static void write_header(struct png_sink *s) {
    static const int colors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const imgpipe_info *info = &s->base.info;
    bool wide = info->format.type == IMGPIPE_U16;
    png_set_write_fn(s->png, s, on_write, on_flush);
    png_set_user_limits(s->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(s->png, s->png_info, (png_uint_32)info->width, (png_uint_32)info->height, wide ? 16 : 8,
                 colors[info->format.channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    png_write_info(s->png, s->png_info);
    for (const struct png_chunk *c = s->chunks; c; c = c->next) png_write_chunk(s->png, c->kind, c->bytes, c->size);
}

/* More than one chunk can hold: a row of at least 2 GiB. */
static void write_long(struct png_sink *s) {
    const size_t head = 8, tail = 4, most = 1 << 30;
    for (size_t at = head, end = s->part->size - tail; at < end; at += most)
        png_write_chunk(s->png, (png_const_bytep) "IDAT", s->part->chunk + at, end - at < most ? end - at : most);
}

static void write_end(struct png_sink *s) {
    png_write_chunk(s->png, (png_const_bytep) "IEND", NULL, 0);
}

static imgpipe_status png_sink_encode(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    struct png_sink *s = (struct png_sink *)sink;
    piece->encoded = png_encode(s->encoder, piece->y, piece->rows, piece->stride, piece->count);
    if (piece->encoded) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; free some, or use fewer threads (-j)",
                     outfile_name(sink->out));
}

static void png_sink_discard(struct sink *sink, struct sink_piece *piece) {
    struct png_sink *s = (struct png_sink *)sink;
    if (piece->encoded) png_part_give(s->encoder, piece->encoded);
    piece->encoded = NULL;
}

static imgpipe_status png_sink_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    struct png_sink *s = (struct png_sink *)sink;
    struct png_part *part = s->part = piece->encoded;
    imgpipe_status failed = IMGPIPE_OK;
    s->adler = adler32_combine(s->adler, part->adler, (z_off_t)part->filtered);
    png_part_seal(part, (uint32_t)s->adler);
    if (s->failed || part->size > INT32_MAX)
        failed = guarded(s, write_long, error);
    else if (!outfile_write(sink->out, part->chunk, part->size)) {
        s->failed = s->no_space = true;
        failed = outfile_fail(sink->out, error);
    }
    png_sink_discard(sink, piece);
    return failed;
}

static imgpipe_status png_sink_finish(struct sink *sink, imgpipe_error *error) {
    return guarded((struct png_sink *)sink, write_end, error);
}

static void png_sink_close(struct sink *sink) {
    struct png_sink *s = (struct png_sink *)sink;
    if (s->png) png_destroy_write_struct(&s->png, &s->png_info);
    png_chunks_free(s->chunks);
    png_encoder_free(s->encoder);
    free(s);
}

static const struct sink_ops png_ops = {.name = "png",
                                        .encode = png_sink_encode,
                                        .commit = png_sink_commit,
                                        .discard = png_sink_discard,
                                        .finish = png_sink_finish,
                                        .close = png_sink_close};

static imgpipe_status png_sink_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                                    struct sink **sink, imgpipe_error *error) {
    *sink = NULL;
    if (info->format.type == IMGPIPE_F32 || info->format.channels < 1 || info->format.channels > 4) {
        return error_set(error, IMGPIPE_ERROR_INTERNAL, "cannot write '%s': PNG has no such pixels; report this",
                         outfile_name(out));
    }
    struct png_sink *s = calloc(1, sizeof *s);
    if (s) {
        s->base.ops = &png_ops;
        s->base.info = *info;
        s->base.out = out;
        s->base.options = *options;
        s->base.piece_rows = png_piece_rows(info, options->level);
        s->adler = adler32(0, NULL, 0);
        s->encoder = png_encoder_new(info, options->level, options->isa, s->base.piece_rows);
        s->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, s, on_error, on_warning, s, on_malloc, on_free);
        if (s->png) s->png_info = png_create_info_struct(s->png);
    }
    if (!s || !s->encoder || !s->png_info || !png_chunks_make(options->metadata, &s->chunks)) {
        if (s) png_sink_close(&s->base);
        return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; free some", outfile_name(out));
    }
    s->base.held = png_encoder_held(s->encoder);
    imgpipe_status status = guarded(s, write_header, error);
    if (status != IMGPIPE_OK) {
        png_sink_close(&s->base);
        return status;
    }
    *sink = &s->base;
    return IMGPIPE_OK;
}

/* A second or fourth channel of a PNG is always alpha; the caller decides whether a data channel may become that. */
static imgpipe_format png_accept(imgpipe_format want) {
    if (want.type == IMGPIPE_F32) want.type = IMGPIPE_U16;
    want.alpha = want.channels == 2 || want.channels == 4;
    return want;
}

static bool png_size_fits(int64_t width, int64_t height) {
    return width <= INT32_MAX && height <= INT32_MAX;
}

extern const struct encoder encoder_png;
const struct encoder encoder_png = {
    .info = {.name = "png",
             .extensions = "png",
             .about = "PNG, gray or RGB with or without alpha",
             .reads = true,
             .writes = true,
             .streams = true,
             .types = "u8 u16"},
    .carries = METADATA_ICC | METADATA_EXIF | METADATA_XMP | METADATA_IPTC | METADATA_RESOLUTION | METADATA_GAMMA | METADATA_TEXT,
    .accept = png_accept,
    .size_fits = png_size_fits,
    .open = png_sink_open,
};
