/* Writing JPEG through libjpeg-turbo: baseline, with the Huffman tables of the standard, so that rows are coded as they come.
 *
 * The accurate integer transform gives the same bytes with every instruction set. As in source_jpeg.c every call into libjpeg that
 * can fail goes through guarded(), and all state is in the struct. */
#include "jpeg_common.h"
#include "sink.h"
#include "status.h"
#include <stdlib.h>
#include <string.h>
#include <jerror.h>

struct jpeg_sink {
    struct sink base;
    struct jpeg_compress_struct cinfo;
    struct jpeg_errors errors;
    struct jpeg_destination_mgr manager;
    bool failed;              /* libjpeg has given up; it must not be called again */
    bool no_space;            /* the outfile did not take the bytes */
    struct sink_piece *piece; /* the argument of write_rows() */
    JOCTET buffer[16384];
};

/* ------------------------------------------------------------------------------------------------------- bytes */

static void begin_buffer(j_compress_ptr cinfo) {
    struct jpeg_sink *s = cinfo->client_data;
    s->manager.next_output_byte = s->buffer;
    s->manager.free_in_buffer = sizeof s->buffer;
}

static void put_buffer(struct jpeg_sink *s, size_t size) {
    if (outfile_write(s->base.out, s->buffer, size)) return;
    s->no_space = true;
    ERREXIT(&s->cinfo, JERR_FILE_WRITE);
}

/* libjpeg calls this when the buffer is full, whatever it says of the space left. */
static boolean empty_buffer(j_compress_ptr cinfo) {
    struct jpeg_sink *s = cinfo->client_data;
    put_buffer(s, sizeof s->buffer);
    begin_buffer(cinfo);
    return TRUE;
}

static void end_buffer(j_compress_ptr cinfo) {
    struct jpeg_sink *s = cinfo->client_data;
    put_buffer(s, sizeof s->buffer - s->manager.free_in_buffer);
}

static imgpipe_status guarded(struct jpeg_sink *s, void (*work)(struct jpeg_sink *s), imgpipe_error *error) {
    if (!s->failed) {
        if (setjmp(s->errors.jump) == 0) {
            work(s);
            return IMGPIPE_OK;
        }
        s->failed = true;
    }
    if (s->no_space) return outfile_fail(s->base.out, error);
    if (s->errors.base.msg_code == JERR_OUT_OF_MEMORY)
        return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; free some", outfile_name(s->base.out));
    return error_set(error, IMGPIPE_ERROR_INTERNAL, "cannot write '%s': libjpeg: %s; report this", outfile_name(s->base.out),
                     s->errors.reason);
}

/* ----------------------------------------------------------------------------------------------------- writing */

/* Sampling factors are those of the brightness: the others have 1. */
static void set_subsampling(struct jpeg_sink *s) {
    const struct storage *storage = s->base.options.storage;
    int subsampling = s->base.options.subsampling;
    if (subsampling == 0) subsampling = storage && storage->subsampling == 420 ? 420 : 444;
    s->cinfo.comp_info[0].h_samp_factor = subsampling == 444 ? 1 : 2;
    s->cinfo.comp_info[0].v_samp_factor = subsampling == 420 ? 2 : 1;
}

static void write_header(struct jpeg_sink *s) {
    struct jpeg_compress_struct *c = &s->cinfo;
    const imgpipe_info *info = &s->base.info;
    int quality = s->base.options.quality;
    jpeg_create_compress(c);
    c->dest = &s->manager;
    c->image_width = (JDIMENSION)info->width;
    c->image_height = (JDIMENSION)info->height;
    c->input_components = info->format.channels;
    c->in_color_space = info->format.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, quality < 1 ? 1 : quality > 100 ? 100 : quality, TRUE);
    c->dct_method = JDCT_ISLOW;
    if (info->format.channels == 3) set_subsampling(s);
    if (s->base.options.metadata) jpeg_density_write(c, s->base.options.metadata);
    jpeg_start_compress(c, TRUE);
    if (s->base.options.metadata) jpeg_segments_write(c, s->base.options.metadata, s->base.options.log, outfile_name(s->base.out));
}

static void write_rows(struct jpeg_sink *s) {
    for (int i = 0; i < s->piece->count; i++) {
        JSAMPROW row = (JSAMPROW)(s->piece->rows + i * s->piece->stride); /* which libjpeg only reads */
        jpeg_write_scanlines(&s->cinfo, &row, 1);
    }
}

static void write_end(struct jpeg_sink *s) {
    jpeg_finish_compress(&s->cinfo);
}

static imgpipe_status jpeg_sink_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    struct jpeg_sink *s = (struct jpeg_sink *)sink;
    s->piece = piece;
    return guarded(s, write_rows, error);
}

static imgpipe_status jpeg_sink_finish(struct sink *sink, imgpipe_error *error) {
    return guarded((struct jpeg_sink *)sink, write_end, error);
}

static void jpeg_sink_close(struct sink *sink) {
    struct jpeg_sink *s = (struct jpeg_sink *)sink;
    jpeg_destroy_compress(&s->cinfo);
    free(s);
}

static const struct sink_ops jpeg_ops = {
    .name = "jpeg", .commit = jpeg_sink_commit, .finish = jpeg_sink_finish, .close = jpeg_sink_close};

static imgpipe_status jpeg_sink_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                                     struct sink **sink, imgpipe_error *error) {
    *sink = NULL;
    imgpipe_format format = info->format;
    if (format.type != IMGPIPE_U8 || (format.channels != 1 && format.channels != 3))
        return error_set(error, IMGPIPE_ERROR_INTERNAL, "cannot write '%s': JPEG has no such pixels; report this",
                         outfile_name(out));
    struct jpeg_sink *s = calloc(1, sizeof *s);
    if (!s) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; free some", outfile_name(out));
    s->base.ops = &jpeg_ops;
    s->base.info = *info;
    s->base.out = out;
    s->base.options = *options;
    s->base.piece_rows = sink_piece_rows(info);
    s->cinfo.err = jpeg_errors_init(&s->errors);
    s->cinfo.client_data = s;
    s->manager.init_destination = begin_buffer;
    s->manager.empty_output_buffer = empty_buffer;
    s->manager.term_destination = end_buffer;
    imgpipe_status status = guarded(s, write_header, error);
    if (status != IMGPIPE_OK) {
        jpeg_sink_close(&s->base);
        return status;
    }
    *sink = &s->base;
    return IMGPIPE_OK;
}

/* Channels that are data, not alpha, have no place here. */
static imgpipe_format jpeg_accept(imgpipe_format want) {
    return (imgpipe_format){IMGPIPE_U8, want.channels <= 2 ? 1 : 3, false};
}

static bool jpeg_size_fits(int64_t width, int64_t height) {
    return width <= JPEG_MAX_DIMENSION && height <= JPEG_MAX_DIMENSION;
}

extern const struct encoder encoder_jpeg;
const struct encoder encoder_jpeg = {
    .info = {.name = "jpeg",
             .extensions = "jpg jpeg",
             .about = "JPEG; CMYK becomes RGB",
             .reads = true,
             .writes = true,
             .streams = true,
             .types = "u8"},
    .carries = METADATA_ICC | METADATA_EXIF | METADATA_XMP | METADATA_IPTC | METADATA_RESOLUTION | METADATA_TEXT,
    .accept = jpeg_accept,
    .size_fits = jpeg_size_fits,
    .open = jpeg_sink_open,
};
