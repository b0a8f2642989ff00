/* Opening a PNG: libpng reads the header; who makes the rows is decided behind it. */
#include "png_source.h"
#include "status.h"
#include <stdlib.h>
#include <string.h>

/* How many chunks are looked at behind the image data's begin in the search for metadata. */
#define PARTS_LIMIT 4096

/* ---------------------------------------------------------------------------------------------------- header */

/* The format after these transforms. */
static imgpipe_format expanded_format(const struct png_source *s) {
    int color = png_get_color_type(s->png, s->png_info);
    bool alpha = (color & PNG_COLOR_MASK_ALPHA) || png_get_valid(s->png, s->png_info, PNG_INFO_tRNS);
    return (imgpipe_format){.type = png_get_bit_depth(s->png, s->png_info) == 16 ? IMGPIPE_U16 : IMGPIPE_U8,
                            .channels = (color & PNG_COLOR_MASK_COLOR ? 3 : 1) + alpha,
                            .alpha = alpha};
}

/* A size that is refused should be refused with the size in the message, before libpng sees it. */
static imgpipe_status check_header(struct png_source *s, imgpipe_error *error) {
    const unsigned char *bytes;
    if (input_peek(s->base.input, &bytes, 33) < 33 || memcmp(bytes + 8, "\0\0\0\x0dIHDR", 8) != 0) return IMGPIPE_OK;
    return source_check_size(&s->base.options, png_name(s), png_get_uint_32(bytes + 16), png_get_uint_32(bytes + 20), 1, false,
                             error);
}

/* ------------------------------------------------------------------------------------------------------ rows */

static imgpipe_status png_source_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    struct png_source *s = (struct png_source *)source;
    if (source->pixels) {
        for (int i = 0; i < count; i++) memcpy(rows[i], source->pixels + (source->next_row + i) * source->stride, s->row_bytes);
        return IMGPIPE_OK;
    }
    if (!s->fast) return png_reference_read(s, rows, count, error);
    imgpipe_status status = IMGPIPE_OK;
    for (int at = 0, part; at < count && !status; at += part) {
        part = count - at < source->fetch_rows ? count - at : source->fetch_rows;
        status = png_fast_fetch(s, part, error);
        if (!status) status = png_fast_unpack(s, rows + at, part, error);
    }
    return status;
}

/* All pixels are there and their checksums hold: what is wrong behind them, or missing, does no harm. */
static imgpipe_status png_source_finish(struct source *source, imgpipe_error *error) {
    struct png_source *s = (struct png_source *)source;
    if (s->truncated) return IMGPIPE_OK;
    if (s->fast ? png_fast_end(s) : png_reference_end(s)) {
        if (s->meta.missed && !s->searched)
            log_line(source->options.log, IMGPIPE_LOG_NOTICE, "'%s': what stands behind the image data (%s) %s", png_name(s),
                     s->meta.missed_kind,
                     "is not carried over, as it comes after the output's header; name the file instead of a pipe");
        return IMGPIPE_OK;
    }
    if (s->no_memory || input_failure(source->input)) return png_failure(s, error);
    log_line(source->options.log, IMGPIPE_LOG_WARNING, "'%s': what follows the image data is damaged (%s); all pixels are there",
             png_name(s), s->reason);
    return IMGPIPE_OK;
}

static void png_source_close(struct source *source) {
    struct png_source *s = (struct png_source *)source;
    if (s->png) png_destroy_read_struct(&s->png, &s->png_info, NULL);
    png_fast_free(s);
    png_meta_free(&s->meta);
    free(s->image);
    free(s);
}

static imgpipe_status png_source_fetch(struct source *source, int count, imgpipe_error *error) {
    return png_fast_fetch((struct png_source *)source, count, error);
}

static imgpipe_status png_source_unpack(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    return png_fast_unpack((struct png_source *)source, rows, count, error);
}

static const struct source_ops png_ops = {.name = "png",
                                          .read = png_source_read,
                                          .fetch = png_source_fetch,
                                          .unpack = png_source_unpack,
                                          .finish = png_source_finish,
                                          .close = png_source_close};

/* ---------------------------------------------------------------------------------------------------- opening */

/* Metadata may also stand behind the image data, where programs put it that add to a file. It is fetched now, since outputs begin
 * with theirs: libpng has just taken the header of the first IDAT. A pipe cannot go back, and a file of very many parts would
 * cost too much; what they have there is not carried. */
static imgpipe_status read_metadata_behind(struct png_source *s, imgpipe_error *error) {
    struct input *input = s->base.input;
    struct png_meta *meta = &s->meta;
    unsigned char bytes[4096];
    uint64_t back = input_tell(input), at = back + meta->length + 4;
    s->data_at = back;
    s->data_size = (uint32_t)meta->length;
    bool whole_file = false;
    for (int i = 0; i < PARTS_LIMIT && !whole_file; i++) {
        if (input_look(input, at, bytes, 8) < 8 || bytes[0] > 0x7f) break;
        bool wanted = png_meta_begin(meta, bytes) && input_seek(input, at + 8);
        whole_file = strcmp(meta->kind, "IEND") == 0;
        size_t left = meta->length, part = 1;
        for (; wanted && left > 0 && part > 0; left -= part) {
            part = input_read(input, bytes, left < sizeof bytes ? left : sizeof bytes);
            png_meta_data(meta, bytes, part);
        }
        if (wanted && input_read(input, bytes, 4) == 4) png_meta_end(meta, bytes);
        at += 12 + (uint64_t)meta->length;
    }
    if ((input_can_seek(input) && !input_seek(input, back)) || meta->no_memory) {
        s->no_memory = meta->no_memory;
        snprintf(s->reason, sizeof s->reason, "%s", input_failure(input) ? input_failure(input) : "seeking failed");
        return png_failure(s, error);
    }
    meta->closed = true;
    s->searched = whole_file;
    if (s->video_colours)
        log_line(s->base.options.log, IMGPIPE_LOG_NOTICE,
                 "'%s': its cICP chunk, which says how its colours are meant, is not carried over", png_name(s));
    return IMGPIPE_OK;
}

static imgpipe_status open_image(struct png_source *s, imgpipe_error *error) {
    if (s->base.options.page > 1)
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': a PNG file has one page, and page %d was asked for; leave out --page", png_name(s),
                         s->base.options.page);
    imgpipe_status status = check_header(s, error);
    if (status != IMGPIPE_OK) return status;
    if (!png_guarded(s, png_read_header)) return png_failure(s, error);
    status = read_metadata_behind(s, error);
    if (status != IMGPIPE_OK) return status;
    bool whole = png_get_interlace_type(s->png, s->png_info) != PNG_INTERLACE_NONE;
    imgpipe_info *info = &s->base.info;
    info->width = png_get_image_width(s->png, s->png_info);
    info->height = png_get_image_height(s->png, s->png_info);
    info->format = expanded_format(s);
    s->row_bytes = (size_t)info->width * imgpipe_pixel_size(info->format);
    status = source_check_size(&s->base.options, png_name(s), (uint64_t)info->width, (uint64_t)info->height,
                               imgpipe_pixel_size(info->format), whole, error);
    if (status != IMGPIPE_OK) return status;
    if (s->animated) {
        log_line(s->base.options.log, IMGPIPE_LOG_NOTICE, "'%s': this PNG is animated; its default image is taken", png_name(s));
    }
    status = whole ? IMGPIPE_OK : png_fast_begin(s, error);
    if (s->fast) s->base.fetch_rows = png_fast_rows(s);
    if (!status && !s->fast) status = png_reference_begin(s, error);
    return whole && !status ? png_reference_interlaced(s, error) : status;
}

/* Also a file whose line ends were converted on the way, so that the message can say what it was. */
static bool png_matches(const unsigned char *bytes, size_t size) {
    return size >= 4 && memcmp(bytes, "\x89PNG", 4) == 0;
}

static imgpipe_status png_source_open(struct input *input, const struct source_options *options, struct source **source,
                                      imgpipe_error *error) {
    struct png_source *s = calloc(1, sizeof *s);
    if (!s) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(input));
    s->base.ops = &png_ops;
    s->base.input = input;
    s->base.options = *options;
    s->base.codec = "png";
    metadata_init(&s->base.metadata);
    s->meta = (struct png_meta){.metadata = &s->base.metadata, .notes = s->pending, .notes_size = sizeof s->pending};
    imgpipe_status status = png_reference_new(s, error);
    if (!status) status = open_image(s, error);
    if (status != IMGPIPE_OK) {
        metadata_free(&s->base.metadata);
        png_source_close(&s->base);
        return status;
    }
    *source = &s->base;
    return IMGPIPE_OK;
}

const struct decoder decoder_png = {"png", png_matches, png_source_open, false};
