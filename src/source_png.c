/* PNG through libpng, row by row; an interlaced image is read whole.
 *
 * libpng reports a failure by longjmp(). Every call into it goes through guarded(), which is the one place with setjmp() and
 * has no local that changes, so nothing is clobbered; all state is in the struct, so nothing leaks. */
#include "png_meta.h"
#include "source.h"
#include "status.h"
#include <inttypes.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

/* What may be read beyond either end of a row without harm; the decoded image has as much around it. */
#define SLACK ((size_t)IMGPIPE_ROW_SLACK)
/* How many chunks are looked at behind the image data's begin in the search for metadata. */
#define PARTS_LIMIT 4096
/* What libpng reads at once where the file may end early; input_peek() can look as far. */
#define END_BUFFER 4096

struct png_source {
    struct source base;
    png_structp png;
    png_infop png_info;
    bool failed;      /* libpng has given up; it must not be called again */
    bool ended_early; /* the file did, while libpng wanted more */
    bool no_memory;
    bool bad_checksum; /* of the decompressed image data */
    bool animated;
    bool video_colours; /* it has a cICP chunk */
    struct png_meta meta;
    bool searched;     /* for metadata behind the image data, to the end of the file */
    bool truncated;    /* the rest of the image is 0, as options.allow_truncated says */
    char pending[300]; /* warnings, held back until it is known whether an error follows; what does not fit is cut */
    char reason[300];  /* of the failure */
    /* the arguments of the work in guarded() */
    png_bytep *rows;
    int count, done;  /* rows wanted, and how many of them libpng has made */
    int64_t pass_row; /* interlaced: the row of which pass was read last */
    int pass;
    unsigned char *image; /* interlaced: the allocation; base.pixels is set once it is filled */
    unsigned char *first_row;
    size_t row_bytes;
};

/* ------------------------------------------------------------------------------------------- libpng's callbacks */

static const char *name_of(const struct png_source *s) {
    return input_name(s->base.input);
}

static void on_warning(png_structp png, png_const_charp text) {
    struct png_source *s = png_get_error_ptr(png);
    /* libpng goes on when zlib finds that the pixels are not those that were compressed. */
    if (strstr(text, "incorrect data check")) s->bad_checksum = true;
    text_append(s->pending, sizeof s->pending, "%s%s", s->pending[0] ? ", " : "", text);
}

static _Noreturn void on_error(png_structp png, png_const_charp text) {
    struct png_source *s = png_get_error_ptr(png);
    snprintf(s->reason, sizeof s->reason, "%s", text);
    png_longjmp(png, 1);
}

static png_voidp on_malloc(png_structp png, png_alloc_size_t size) {
    struct png_source *s = png_get_mem_ptr(png);
    void *memory = malloc(size);
    if (!memory) s->no_memory = true;
    return memory;
}

static void on_free(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

/* What libpng has just been given also goes to the collector of metadata. */
static void take_chunk(struct png_source *s, const unsigned char *bytes, size_t size) {
    switch (png_get_io_state(s->png) & PNG_IO_MASK_LOC) {
    case PNG_IO_CHUNK_HDR:
        if (size != 8) break;
        png_meta_begin(&s->meta, bytes);
        if (strcmp(s->meta.kind, "acTL") == 0) s->animated = true;
        if (strcmp(s->meta.kind, "cICP") == 0) s->video_colours = true;
        break;
    case PNG_IO_CHUNK_DATA: png_meta_data(&s->meta, bytes, size); break;
    case PNG_IO_CHUNK_CRC: png_meta_end(&s->meta, bytes); break;
    default: break;
    }
}

/* libpng wants a whole buffer of image data, or nothing of it. Where the file may end early the last bytes are given one by one, so
 * that every row is decoded that is there. */
static void near_end(struct png_source *s) {
    const unsigned char *bytes;
    if (input_peek(s->base.input, &bytes, END_BUFFER) < END_BUFFER) png_set_compression_buffer_size(s->png, 1);
}

static void on_read(png_structp png, png_bytep to, size_t size) {
    struct png_source *s = png_get_io_ptr(png);
    if (input_read(s->base.input, to, size) == size) {
        take_chunk(s, to, size);
        if (s->base.options.allow_truncated) near_end(s);
        return;
    }
    s->ended_early = !input_failure(s->base.input);
    png_error(png, s->ended_early ? "the file ends early" : input_failure(s->base.input));
}

/* Runs `work`; false if libpng failed, with s->reason set. Warnings matter only if it did not. */
static bool guarded(struct png_source *s, void (*work)(struct png_source *s)) {
    if (s->failed) return false;
    if (setjmp(png_jmpbuf(s->png))) {
        s->failed = true;
        /* The warnings before this error say what it leaves out. */
        if (strcmp(s->reason, "Invalid IHDR data") == 0 && s->pending[0]) memcpy(s->reason, s->pending, sizeof s->reason);
        return false;
    }
    work(s);
    if (s->pending[0] && !s->bad_checksum) {
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "'%s': %s; the image is read all the same", name_of(s), s->pending);
    }
    s->pending[0] = 0;
    return true;
}

static imgpipe_status failure(struct png_source *s, imgpipe_error *error) {
    const char *name = name_of(s);
    if (s->no_memory) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", name);
    if (input_failure(s->base.input)) {
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s; check the file and its disk", name, s->reason);
    }
    if (s->ended_early) {
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': this PNG file is truncated: it ends after %" PRIu64 " bytes; get a complete copy", name,
                         input_tell(s->base.input));
    }
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': this PNG file is broken: %s; get an undamaged copy", name,
                     s->reason);
}

/* ---------------------------------------------------------------------------------------------------- header */

/* libpng takes only what makes the pixels: other chunks are skipped without being kept, so that they may have any size, and
 * libpng's limits for them are not needed; take_chunk() sees them pass by. Sizes are judged by source_check_size(). */
static void read_header(struct png_source *s) {
    png_set_benign_errors(s->png, 1);
    png_set_user_limits(s->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_keep_unknown_chunks(s->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_chunk_malloc_max(s->png, 0);
    png_set_chunk_cache_max(s->png, 100);
    png_set_compression_buffer_size(s->png, s->base.options.allow_truncated ? END_BUFFER : 65536);
    png_set_read_fn(s->png, s, on_read);
    png_read_info(s->png, s->png_info);
}

/* Palettes, tRNS and fewer than 8 bits are expanded; PNG's 16 bits are big-endian. */
static void set_transforms(struct png_source *s) {
    png_set_expand(s->png);
    if (png_get_bit_depth(s->png, s->png_info) == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) png_set_swap(s->png);
    png_set_interlace_handling(s->png);
    png_read_update_info(s->png, s->png_info);
}

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
    return source_check_size(&s->base.options, name_of(s), png_get_uint_32(bytes + 16), png_get_uint_32(bytes + 20), 1, false,
                             error);
}

/* ------------------------------------------------------------------------------------------------------ rows */

/* The passes follow each other in the file, and each has pixels from all over the image. */
static void read_interlaced(struct png_source *s) {
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
        for (int64_t y = 0; y < s->base.info.height; y++) {
            s->pass = pass;
            s->pass_row = y;
            png_read_row(s->png, s->first_row + (size_t)y * s->row_bytes, NULL);
        }
    }
}

static void read_rows(struct png_source *s) {
    for (s->done = 0; s->done < s->count; s->done++) png_read_row(s->png, s->rows[s->done], NULL);
}
static void read_end(struct png_source *s) {
    png_read_end(s->png, NULL);
}

static imgpipe_status refuse_checksum(struct png_source *s, imgpipe_error *error) {
    s->failed = true;
    return error_set(error, IMGPIPE_ERROR_INPUT,
                     "cannot read '%s': this PNG file is broken: the checksum of the image data is wrong; "
                     "get an undamaged copy",
                     name_of(s));
}

/* libpng has given up inside the rows that were asked for. A file that only ends early may be read all the same; rows that are
 * not there are 0. */
static imgpipe_status cut_rows(struct png_source *s, imgpipe_error *error) {
    int64_t first = s->base.next_row + s->done;
    if (!s->truncated) {
        if (!s->base.options.allow_truncated || !s->ended_early || s->no_memory || first == 0) return failure(s, error);
        s->truncated = true;
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING,
                 "'%s': this PNG file is truncated: it has %" PRId64 " of %" PRId64 " rows; the rest is 0", name_of(s), first,
                 s->base.info.height);
    }
    for (int i = s->done; i < s->count; i++) memset(s->rows[i], 0, s->row_bytes);
    return IMGPIPE_OK;
}

static imgpipe_status png_source_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    struct png_source *s = (struct png_source *)source;
    if (source->pixels) {
        for (int i = 0; i < count; i++) memcpy(rows[i], source->pixels + (source->next_row + i) * source->stride, s->row_bytes);
        return IMGPIPE_OK;
    }
    s->rows = (png_bytep *)rows;
    s->count = count;
    s->done = 0;
    if (!guarded(s, read_rows)) return cut_rows(s, error);
    return s->bad_checksum ? refuse_checksum(s, error) : IMGPIPE_OK;
}

/* All pixels are there and their checksums hold: what is wrong behind them, or missing, does no harm. */
static imgpipe_status png_source_finish(struct source *source, imgpipe_error *error) {
    struct png_source *s = (struct png_source *)source;
    if (s->truncated) return IMGPIPE_OK;
    if (guarded(s, read_end)) {
        if (s->meta.missed && !s->searched)
            log_line(source->options.log, IMGPIPE_LOG_NOTICE, "'%s': what stands behind the image data (%s) %s", name_of(s),
                     s->meta.missed_kind,
                     "is not carried over, as it comes after the output's header; name the file instead of a pipe");
        return IMGPIPE_OK;
    }
    if (s->no_memory || input_failure(source->input)) return failure(s, error);
    log_line(source->options.log, IMGPIPE_LOG_WARNING, "'%s': what follows the image data is damaged (%s); all pixels are there",
             name_of(s), s->reason);
    return IMGPIPE_OK;
}

static void png_source_close(struct source *source) {
    struct png_source *s = (struct png_source *)source;
    if (s->png) png_destroy_read_struct(&s->png, &s->png_info, NULL);
    png_meta_free(&s->meta);
    free(s->image);
    free(s);
}

static const struct source_ops png_ops = {
    .name = "png", .read = png_source_read, .finish = png_source_finish, .close = png_source_close};

/* ---------------------------------------------------------------------------------------------------- opening */

static imgpipe_status decode_interlaced(struct png_source *s, imgpipe_error *error) {
    size_t size = s->row_bytes * (size_t)s->base.info.height + 2 * SLACK;
    s->image = s->base.options.allow_truncated ? calloc(1, size) : malloc(size);
    if (!s->image) {
        s->no_memory = true;
        return failure(s, error);
    }
    s->first_row = s->image + SLACK;
    if (!guarded(s, read_interlaced)) {
        bool any = s->pass > 0 || s->pass_row > 0;
        if (!s->base.options.allow_truncated || !s->ended_early || s->no_memory || !any) return failure(s, error);
        s->truncated = true;
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING,
                 "'%s': this interlaced PNG file is truncated: it ends in pass %d of 7; pixels that are not there are 0",
                 name_of(s), s->pass + 1);
    }
    if (s->bad_checksum) return refuse_checksum(s, error);
    s->base.pixels = s->first_row;
    s->base.stride = (ptrdiff_t)s->row_bytes;
    return IMGPIPE_OK;
}

/* Metadata may also stand behind the image data, where programs put it that add to a file. It is fetched now, since outputs begin
 * with theirs: libpng has just taken the header of the first IDAT. A pipe cannot go back, and a file of very many parts would
 * cost too much; what they have there is not carried. */
static imgpipe_status read_metadata_behind(struct png_source *s, imgpipe_error *error) {
    struct input *input = s->base.input;
    struct png_meta *meta = &s->meta;
    unsigned char bytes[4096];
    uint64_t back = input_tell(input), at = back + meta->length + 4;
    bool whole_file = false;
    for (int i = 0; i < PARTS_LIMIT && !whole_file && input_seek(input, at); i++) {
        if (input_read(input, bytes, 8) < 8 || bytes[0] > 0x7f) break;
        bool wanted = png_meta_begin(meta, bytes);
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
        return failure(s, error);
    }
    meta->closed = true;
    s->searched = whole_file;
    if (s->video_colours)
        log_line(s->base.options.log, IMGPIPE_LOG_NOTICE,
                 "'%s': its cICP chunk, which says how its colours are meant, is not carried over", name_of(s));
    return IMGPIPE_OK;
}

static imgpipe_status open_image(struct png_source *s, imgpipe_error *error) {
    if (s->base.options.page > 1)
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': a PNG file has one page, and page %d was asked for; leave out --page", name_of(s),
                         s->base.options.page);
    imgpipe_status status = check_header(s, error);
    if (status != IMGPIPE_OK) return status;
    if (!guarded(s, read_header)) return failure(s, error);
    status = read_metadata_behind(s, error);
    if (status != IMGPIPE_OK) return status;
    bool whole = png_get_interlace_type(s->png, s->png_info) != PNG_INTERLACE_NONE;
    imgpipe_info *info = &s->base.info;
    info->width = png_get_image_width(s->png, s->png_info);
    info->height = png_get_image_height(s->png, s->png_info);
    info->format = expanded_format(s);
    s->row_bytes = (size_t)info->width * imgpipe_pixel_size(info->format);
    status = source_check_size(&s->base.options, name_of(s), (uint64_t)info->width, (uint64_t)info->height,
                               imgpipe_pixel_size(info->format), whole, error);
    if (status != IMGPIPE_OK) return status;
    if (!guarded(s, set_transforms)) return failure(s, error);
    if (png_get_rowbytes(s->png, s->png_info) != s->row_bytes) {
        return error_set(error, IMGPIPE_ERROR_INTERNAL,
                         "cannot read '%s': libpng makes rows of %zu bytes where %zu were expected; report this", name_of(s),
                         png_get_rowbytes(s->png, s->png_info), s->row_bytes);
    }
    if (s->animated) {
        log_line(s->base.options.log, IMGPIPE_LOG_NOTICE, "'%s': this PNG is animated; its default image is taken", name_of(s));
    }
    return whole ? decode_interlaced(s, error) : IMGPIPE_OK;
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
    s->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, on_error, on_warning, s, on_malloc, on_free);
    if (s->png) s->png_info = png_create_info_struct(s->png);
    imgpipe_status status;
    if (s->png_info) {
        status = open_image(s, error);
    } else {
        s->no_memory = true;
        status = failure(s, error);
    }
    if (status != IMGPIPE_OK) {
        metadata_free(&s->base.metadata);
        png_source_close(&s->base);
        return status;
    }
    *source = &s->base;
    return IMGPIPE_OK;
}

const struct decoder decoder_png = {"png", png_matches, png_source_open, false};
