/* PNG through libpng, row by row; an interlaced image is read whole. This is what the fast path is measured by.
 *
 * libpng reports a failure by longjmp(). Every call into it goes through png_guarded(), which is the one place with setjmp() and
 * has no local that changes, so nothing is clobbered; all state is in the struct, so nothing leaks. */
#include "png_source.h"
#include "status.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What may be read beyond either end of a row without harm; the decoded image has as much around it. */
#define SLACK ((size_t)IMGPIPE_ROW_SLACK)
/* What libpng reads at once where the file may end early; input_peek() can look as far. */
#define END_BUFFER 4096

/* ------------------------------------------------------------------------------------------- libpng's callbacks */

const char *png_name(const struct png_source *s) {
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

void png_log_pending(struct png_source *s) {
    if (s->pending[0] && !s->bad_checksum) {
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "'%s': %s; the image is read all the same", png_name(s), s->pending);
    }
    s->pending[0] = 0;
}

bool png_guarded(struct png_source *s, void (*work)(struct png_source *s)) {
    if (s->failed) return false;
    if (setjmp(png_jmpbuf(s->png))) {
        s->failed = true;
        /* The warnings before this error say what it leaves out. */
        if (strcmp(s->reason, "Invalid IHDR data") == 0 && s->pending[0]) memcpy(s->reason, s->pending, sizeof s->reason);
        return false;
    }
    work(s);
    png_log_pending(s);
    return true;
}

imgpipe_status png_failure(struct png_source *s, imgpipe_error *error) {
    const char *name = png_name(s);
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
void png_read_header(struct png_source *s) {
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

/* Rows that the fast path has given. */
static void skip_rows(struct png_source *s) {
    for (int64_t y = 0; y < s->given; y++) png_read_row(s->png, NULL, NULL);
}

static void read_end(struct png_source *s) {
    png_read_end(s->png, NULL);
}

imgpipe_status png_refuse_checksum(struct png_source *s, imgpipe_error *error) {
    s->failed = true;
    return error_set(error, IMGPIPE_ERROR_INPUT,
                     "cannot read '%s': this PNG file is broken: the checksum of the image data is wrong; "
                     "get an undamaged copy",
                     png_name(s));
}

/* libpng has given up inside the rows that were asked for. A file that only ends early may be read all the same; rows that are
 * not there are 0. */
static imgpipe_status cut_rows(struct png_source *s, imgpipe_error *error) {
    int64_t first = s->given + s->done;
    if (!s->truncated) {
        if (!s->base.options.allow_truncated || !s->ended_early || s->no_memory || first == 0) return png_failure(s, error);
        s->truncated = true;
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING,
                 "'%s': this PNG file is truncated: it has %" PRId64 " of %" PRId64 " rows; the rest is 0", png_name(s), first,
                 s->base.info.height);
    }
    for (int i = s->done; i < s->count; i++) memset(s->rows[i], 0, s->row_bytes);
    return IMGPIPE_OK;
}

imgpipe_status png_reference_interlaced(struct png_source *s, imgpipe_error *error) {
    size_t size = s->row_bytes * (size_t)s->base.info.height + 2 * SLACK;
    s->image = s->base.options.allow_truncated ? calloc(1, size) : malloc(size);
    if (!s->image) {
        s->no_memory = true;
        return png_failure(s, error);
    }
    s->base.held = size;
    s->first_row = s->image + SLACK;
    if (!png_guarded(s, read_interlaced)) {
        bool any = s->pass > 0 || s->pass_row > 0;
        if (!s->base.options.allow_truncated || !s->ended_early || s->no_memory || !any) return png_failure(s, error);
        s->truncated = true;
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING,
                 "'%s': this interlaced PNG file is truncated: it ends in pass %d of 7; pixels that are not there are 0",
                 png_name(s), s->pass + 1);
    }
    if (s->bad_checksum) return png_refuse_checksum(s, error);
    s->base.pixels = s->first_row;
    s->base.stride = (ptrdiff_t)s->row_bytes;
    return IMGPIPE_OK;
}

imgpipe_status png_reference_new(struct png_source *s, imgpipe_error *error) {
    s->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, on_error, on_warning, s, on_malloc, on_free);
    if (s->png) s->png_info = png_create_info_struct(s->png);
    if (s->png_info) return IMGPIPE_OK;
    s->no_memory = true;
    return png_failure(s, error);
}

imgpipe_status png_reference_begin(struct png_source *s, imgpipe_error *error) {
    if (!png_guarded(s, set_transforms)) return png_failure(s, error);
    if (png_get_rowbytes(s->png, s->png_info) != s->row_bytes) {
        return error_set(error, IMGPIPE_ERROR_INTERNAL,
                         "cannot read '%s': libpng makes rows of %zu bytes where %zu were expected; report this", png_name(s),
                         png_get_rowbytes(s->png, s->png_info), s->row_bytes);
    }
    if (s->given > 0 && !png_guarded(s, skip_rows)) return png_failure(s, error);
    return IMGPIPE_OK;
}

imgpipe_status png_reference_read(struct png_source *s, void *const *rows, int count, imgpipe_error *error) {
    s->rows = (png_bytep *)rows;
    s->count = count;
    s->done = 0;
    imgpipe_status status = png_guarded(s, read_rows) ? IMGPIPE_OK : cut_rows(s, error);
    if (!status && s->bad_checksum) status = png_refuse_checksum(s, error);
    s->given += count;
    return status;
}

bool png_reference_end(struct png_source *s) {
    return png_guarded(s, read_end);
}
