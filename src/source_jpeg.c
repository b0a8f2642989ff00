/* JPEG through libjpeg-turbo, row by row. A file of several scans (progressive, or one colour after another) is kept as
 * coefficients by libjpeg, which must fit the memory budget.
 *
 * The pixels are those of every program that uses libjpeg's defaults: the accurate integer transform and smooth upsampling, which
 * libjpeg-turbo computes to the same bit with every instruction set and without any. CMYK is taken as stored inverted, as Adobe
 * does and everyone assumes, and becomes RGB without a profile: R = round((255 - C) (255 - K) / 255), and so on.
 *
 * libjpeg goes on after most faults, with a warning. Those that lose pixels are failures here; the others are passed on.
 *
 * As in source_png.c every call into libjpeg that can fail goes through guarded(), and all state is in the struct. */
#include "jpeg_common.h"
#include "jpeg_present.h"
#include "jpeg_tail.h"
#include "source.h"
#include "status.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <jerror.h>

/* Encoders write about ten scans; each costs a walk over the image, though it may have only a few bytes. */
#define SCANS_MAX 500

struct jpeg_source {
    struct source base;
    struct jpeg_decompress_struct cinfo;
    struct jpeg_errors errors;
    struct jpeg_source_mgr manager;
    struct jpeg_progress_mgr progress;
    struct jpeg_segments segments;
    bool failed;                  /* libjpeg has given up; it must not be called again */
    bool ended_early;             /* libjpeg wanted more than the file has */
    bool header_done;             /* segments behind the header are not taken */
    bool started;                 /* rows are being decoded */
    bool whole;                   /* several scans: all of them are read at first */
    bool lost;                    /* pixels are missing or wrong */
    bool cut;                     /* and that is so because the data end early */
    bool surplus;                 /* there are bytes behind the image data */
    struct jpeg_counter *counter; /* where a truncated image is allowed */
    struct jpeg_present present;  /* the others are 0 */
    char pending[300];            /* warnings, held back until it is known whether an error follows; what does not fit is cut */
    int last_warning;
    JSAMPROW cmyk; /* a row */
    /* the arguments of the work in guarded() */
    void *const *rows;
    int count;
    struct jpeg_tail tail;
    unsigned char segment[65536];
};

static const char *name_of(const struct jpeg_source *s) {
    return input_name(s->base.input);
}

/* --------------------------------------------------------------------------------------------- faults of the data */

/* Called when pixels cannot be had. Returns only if that is allowed and some are there, or if they are behind the last row. */
static void lose(struct jpeg_source *s, bool cut) {
    bool behind = s->started && !s->whole && s->cinfo.output_scanline >= s->cinfo.output_height;
    if (s->lost || behind) return;
    s->lost = true;
    s->cut = cut;
    if (!cut || !s->base.options.allow_truncated || !s->started) s->errors.base.error_exit((j_common_ptr)&s->cinfo);
    jpeg_present_find(&s->present, &s->cinfo, s->counter, s->whole);
    if (jpeg_present_columns(&s->present, 0) == 0) s->errors.base.error_exit((j_common_ptr)&s->cinfo);
}

static void on_message(j_common_ptr cinfo, int level) {
    struct jpeg_source *s = cinfo->client_data;
    if (level >= 0) return;
    int code = cinfo->err->msg_code;
    switch (code) {
    case JWRN_HIT_MARKER:
    case JWRN_MUST_RESYNC: lose(s, s->ended_early || s->cinfo.unread_marker == JPEG_EOI); return;
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE: lose(s, s->ended_early); return;
    case JWRN_EXTRANEOUS_DATA:
        s->surplus |= s->started;
        if (s->surplus && s->ended_early) return; /* check_end() has the word */
        break;
    default: break;
    }
    if (code == s->last_warning || s->lost) return;
    s->last_warning = code;
    char text[JMSG_LENGTH_MAX];
    cinfo->err->format_message(cinfo, text);
    text_append(s->pending, sizeof s->pending, "%s%s", s->pending[0] ? ", " : "", text);
}

/* Called now and then while all scans are read. */
static void on_progress(j_common_ptr cinfo) {
    struct jpeg_source *s = cinfo->client_data;
    if (s->cinfo.input_scan_number <= SCANS_MAX) return;
    snprintf(s->errors.reason, sizeof s->errors.reason, "it has more than %d scans", SCANS_MAX);
    longjmp(s->errors.jump, 1);
}

/* Runs `work`; false if libjpeg failed. Warnings matter only if it did not. */
static bool guarded(struct jpeg_source *s, void (*work)(struct jpeg_source *s)) {
    if (s->failed) return false;
    if (setjmp(s->errors.jump)) {
        s->failed = true;
        return false;
    }
    work(s);
    if (s->pending[0] && !s->lost)
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "'%s': %s; the image is read all the same", name_of(s), s->pending);
    s->pending[0] = 0;
    return true;
}

static imgpipe_status failure(struct jpeg_source *s, imgpipe_error *error) {
    const char *name = name_of(s);
    char buffer[160];
    if (input_failure(s->base.input))
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s; check the file and its disk", name,
                         input_failure(s->base.input));
    if (s->segments.no_memory || s->errors.base.msg_code == JERR_OUT_OF_MEMORY)
        return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", name);
    const char *what = s->lost || s->ended_early ? NULL : jpeg_unsupported(&s->errors.base, buffer, sizeof buffer);
    if (what) return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': this JPEG file %s; convert it elsewhere", name, what);
    if (s->ended_early)
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': this JPEG file is truncated: it ends after %" PRIu64 " bytes%s; get a complete copy",
                         name, input_tell(s->base.input) - s->tail.zeros, s->tail.zeros ? ", with only zeros behind them" : "");
    if (s->cut)
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': this JPEG file is truncated: its image data end early; get a complete copy", name);
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': this JPEG file is broken: %s; get an undamaged copy", name,
                     s->errors.reason);
}

/* ------------------------------------------------------------------------------------------------------ bytes */

static void no_work(j_decompress_ptr cinfo) {
    (void)cinfo;
}

/* Behind the end there are end markers, as many as libjpeg wants. */
static boolean fill_buffer(j_decompress_ptr cinfo) {
    struct jpeg_source *s = cinfo->client_data;
    static const JOCTET end[] = {0xff, JPEG_EOI};
    const unsigned char *bytes = end;
    size_t size = jpeg_tail_read(&s->tail, s->base.input, &bytes);
    if (size == 0) {
        if (input_failure(s->base.input)) ERREXIT(cinfo, JERR_FILE_READ);
        s->ended_early = true;
        size = sizeof end;
        /* The arithmetic decoder takes the end of the data for zeros that the encoder left out. */
        if (cinfo->arith_code && s->started && cinfo->unread_marker == 0) lose(s, true);
    }
    if (s->counter && !s->ended_early) jpeg_counter_feed(s->counter, bytes, size);
    s->manager.next_input_byte = bytes;
    s->manager.bytes_in_buffer = size;
    return TRUE;
}

static void skip_bytes(j_decompress_ptr cinfo, long count) {
    struct jpeg_source *s = cinfo->client_data;
    while (count > 0 && (size_t)count > s->manager.bytes_in_buffer && !s->ended_early) {
        count -= (long)s->manager.bytes_in_buffer;
        fill_buffer(cinfo);
    }
    if (count <= 0 || s->ended_early) return;
    s->manager.next_input_byte += count;
    s->manager.bytes_in_buffer -= (size_t)count;
}

static unsigned next_byte(struct jpeg_source *s) {
    if (s->manager.bytes_in_buffer == 0) fill_buffer(&s->cinfo);
    s->manager.bytes_in_buffer--;
    return *s->manager.next_input_byte++;
}

/* Instead of libjpeg's own keeping of segments, which has no limit. */
static boolean on_segment(j_decompress_ptr cinfo) {
    struct jpeg_source *s = cinfo->client_data;
    int marker = cinfo->unread_marker;
    size_t size = (size_t)next_byte(s) << 8;
    size |= next_byte(s);
    if (size < 2) ERREXIT(cinfo, JERR_BAD_LENGTH);
    size -= 2;
    for (size_t i = 0; i < size && !s->ended_early; i++) s->segment[i] = (unsigned char)next_byte(s);
    if (!s->header_done && !s->ended_early) jpeg_segments_take(&s->segments, marker, s->segment, size);
    cinfo->unread_marker = 0;
    return TRUE;
}

/* ----------------------------------------------------------------------------------------------------- opening */

static void read_header(struct jpeg_source *s) {
    jpeg_create_decompress(&s->cinfo);
    s->cinfo.src = &s->manager;
    s->cinfo.progress = &s->progress;
    jpeg_set_marker_processor(&s->cinfo, JPEG_COM, on_segment);
    jpeg_set_marker_processor(&s->cinfo, JPEG_APP0 + 1, on_segment);
    jpeg_set_marker_processor(&s->cinfo, JPEG_APP0 + 2, on_segment);
    jpeg_set_marker_processor(&s->cinfo, JPEG_APP0 + 13, on_segment);
    jpeg_read_header(&s->cinfo, TRUE);
    s->header_done = true;
}

/* From here on all bytes of the scan are counted. */
static void start_counter(struct jpeg_source *s) {
    if (!s->base.options.allow_truncated) return;
    s->counter = malloc(sizeof *s->counter);
    if (!s->counter) ERREXIT1(&s->cinfo, JERR_OUT_OF_MEMORY, 0);
    jpeg_counter_start(s->counter, &s->cinfo);
    jpeg_counter_feed(s->counter, s->manager.next_input_byte, s->manager.bytes_in_buffer);
}

static void start(struct jpeg_source *s) {
    /* A file of one scan without tables has those of the standard from here on; one of several scans is read to its end here. */
    if (s->whole && !s->started) start_counter(s);
    s->started = true;
    jpeg_start_decompress(&s->cinfo);
    if (!s->whole) start_counter(s);
    if (s->whole && s->ended_early && !jpeg_complete(&s->cinfo)) lose(s, true);
    /* The tables of a component are taken when its first scan comes. */
    for (int i = 0; i < s->cinfo.num_components && s->whole; i++) {
        if (s->lost || s->cinfo.comp_info[i].quant_table) continue;
        snprintf(s->errors.reason, sizeof s->errors.reason, "component %d has no data", i + 1);
        longjmp(s->errors.jump, 1);
    }
}

/* Fills info, and says what libjpeg shall make. */
static imgpipe_status choose_format(struct jpeg_source *s, imgpipe_error *error) {
    struct jpeg_decompress_struct *c = &s->cinfo;
    struct imgpipe_info *info = &s->base.info;
    int channels = c->num_components == 4 ? 3 : c->num_components;
    if (channels > 4)
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': this JPEG file has %d components; 4 are supported; convert it elsewhere", name_of(s),
                         channels);
    /* Two components have no meaning; they are data. */
    *info = (imgpipe_info){c->image_width, c->image_height, {IMGPIPE_U8, channels, false}};
    if (c->num_components == 3) c->out_color_space = JCS_RGB;
    if (c->num_components == 4) {
        c->out_color_space = JCS_CMYK;
        s->cmyk = malloc((size_t)c->image_width * 4);
        if (!s->cmyk) s->segments.no_memory = true;
        log_line(s->base.options.log, IMGPIPE_LOG_NOTICE, "'%s': CMYK is converted to RGB without its colour profile", name_of(s));
        free(s->base.metadata.icc.bytes);
        s->base.metadata.icc = (struct metadata_block){0};
    }
    return s->segments.no_memory ? failure(s, error) : IMGPIPE_OK;
}

static imgpipe_status check_memory(struct jpeg_source *s, imgpipe_error *error) {
    s->whole = jpeg_has_multiple_scans(&s->cinfo);
    uint64_t bytes = s->whole ? jpeg_coefficient_bytes(&s->cinfo) : 0, budget = s->base.options.memory;
    s->base.held = bytes;
    if (budget == 0 || bytes <= budget) return IMGPIPE_OK;
    char need[32], have[32];
    return error_set(error, IMGPIPE_ERROR_MEMORY,
                     "cannot read '%s': its %u x %u pixels come in several scans (progressive), so that it cannot be read row by "
                     "row, and needs %s, over the memory budget of %s; raise --memory",
                     name_of(s), s->cinfo.image_width, s->cinfo.image_height, text_bytes(bytes, need), text_bytes(budget, have));
}

/* Where the end marker is missing and bytes are too many, these may be pixels' data, which were decoded wrong. */
static imgpipe_status check_end(const struct jpeg_source *s, imgpipe_error *error) {
    if (s->surplus && !s->base.options.allow_truncated)
        return error_set(error, IMGPIPE_ERROR_INPUT,
                         "cannot read '%s': this JPEG file is broken: it has no end marker, and bytes that belong to no pixel, so "
                         "that its pixels are not certain; get an undamaged copy, or use --allow-truncated",
                         name_of(s));
    log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "'%s': its end marker is missing; %s", name_of(s),
             s->surplus ? "bytes belong to no pixel, so that pixels may be wrong" : "all pixels are there");
    return IMGPIPE_OK;
}

static imgpipe_status open_image(struct jpeg_source *s, imgpipe_error *error) {
    if (s->base.options.page > 1)
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': there is no page %d: a JPEG file holds one image",
                         name_of(s), s->base.options.page);
    if (!guarded(s, read_header) || s->ended_early) return failure(s, error);
    struct jpeg_decompress_struct *c = &s->cinfo;
    imgpipe_status status =
        source_check_size(&s->base.options, name_of(s), c->image_width, c->image_height, (size_t)c->num_components, false, error);
    if (!status) status = check_memory(s, error);
    if (status) return status;
    jpeg_density_read(&s->base.metadata, c); /* it goes before the resolution that EXIF says */
    jpeg_segments_end(&s->segments);
    status = choose_format(s, error);
    if (status) return status;
    s->base.storage.subsampling = jpeg_subsampling(c);
    c->dct_method = JDCT_ISLOW;
    c->do_fancy_upsampling = TRUE;
    jpeg_present_all(&s->present, c);
    bool done = guarded(s, start);
    if (!done && s->whole && s->ended_early && !s->lost && s->base.options.allow_truncated && c->input_scan_number > 0) {
        /* The end came in the tables between two scans. Past them libjpeg finds an end marker, and is content. */
        s->failed = false;
        s->lost = s->cut = true;
        c->unread_marker = 0;
        done = guarded(s, start);
    }
    if (!done) return failure(s, error);
    if (s->whole && s->lost) jpeg_present_tell(&s->present, s->base.options.log, name_of(s));
    return s->whole && s->ended_early && !s->lost ? check_end(s, error) : IMGPIPE_OK;
}

/* -------------------------------------------------------------------------------------------------------- rows */

static void read_rows(struct jpeg_source *s) {
    struct jpeg_decompress_struct *c = &s->cinfo;
    size_t pixel = (size_t)s->base.info.format.channels;
    for (int i = 0; i < s->count; i++) {
        int64_t y = s->base.next_row + i;
        JSAMPROW row = s->cmyk ? s->cmyk : s->rows[i];
        if (jpeg_present_columns(&s->present, y) > 0) {
            if (jpeg_read_scanlines(c, &row, 1) != 1) ERREXIT(c, JERR_CANT_SUSPEND);
            if (s->cmyk) jpeg_cmyk_to_rgb(s->cmyk, s->rows[i], s->base.info.width);
        }
        /* The row just read may have shown where the data end. */
        int64_t there = jpeg_present_columns(&s->present, y);
        memset((unsigned char *)s->rows[i] + (size_t)there * pixel, 0, (size_t)(s->base.info.width - there) * pixel);
    }
}

static imgpipe_status jpeg_source_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    struct jpeg_source *s = (struct jpeg_source *)source;
    s->rows = rows;
    s->count = count;
    bool lost = s->lost;
    if (!guarded(s, read_rows)) return failure(s, error);
    if (s->lost && !lost) jpeg_present_tell(&s->present, s->base.options.log, name_of(s));
    return IMGPIPE_OK;
}

static void read_end(struct jpeg_source *s) {
    jpeg_finish_decompress(&s->cinfo);
}

/* All pixels are there: what is wrong behind them, or missing, does no harm. */
static imgpipe_status jpeg_source_finish(struct source *source, imgpipe_error *error) {
    struct jpeg_source *s = (struct jpeg_source *)source;
    if (s->lost) return IMGPIPE_OK;
    /* With several scans the end has been read. */
    bool done = s->whole || guarded(s, read_end);
    if (input_failure(source->input)) return failure(s, error);
    if (!s->whole && (done ? s->ended_early : s->surplus)) return check_end(s, error);
    if (!done)
        log_line(source->options.log, IMGPIPE_LOG_WARNING,
                 "'%s': what follows the image data is damaged (%s); all pixels are there", name_of(s), s->errors.reason);
    return IMGPIPE_OK;
}

static void jpeg_source_close(struct source *source) {
    struct jpeg_source *s = (struct jpeg_source *)source;
    jpeg_destroy_decompress(&s->cinfo);
    jpeg_segments_free(&s->segments);
    free(s->cmyk);
    free(s->counter);
    free(s);
}

static const struct source_ops jpeg_ops = {
    .name = "jpeg", .read = jpeg_source_read, .finish = jpeg_source_finish, .close = jpeg_source_close};

static bool jpeg_matches(const unsigned char *bytes, size_t size) {
    return size >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
}

static imgpipe_status jpeg_source_open(struct input *input, const struct source_options *options, struct source **source,
                                       imgpipe_error *error) {
    struct jpeg_source *s = calloc(1, sizeof *s);
    if (!s) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(input));
    s->base.ops = &jpeg_ops;
    s->base.input = input;
    s->base.options = *options;
    s->base.codec = "jpeg";
    metadata_init(&s->base.metadata);
    s->segments.metadata = &s->base.metadata;
    s->segments.log = options->log;
    s->segments.name = input_name(input);
    s->cinfo.err = jpeg_errors_init(&s->errors);
    s->errors.base.emit_message = on_message;
    s->cinfo.client_data = s;
    s->progress.progress_monitor = on_progress;
    s->manager = (struct jpeg_source_mgr){NULL, 0, no_work, fill_buffer, skip_bytes, jpeg_resync_to_restart, no_work};
    imgpipe_status status = open_image(s, error);
    if (status != IMGPIPE_OK) {
        metadata_free(&s->base.metadata);
        jpeg_source_close(&s->base);
        return status;
    }
    *source = &s->base;
    return IMGPIPE_OK;
}

const struct decoder decoder_jpeg = {"jpeg", jpeg_matches, jpeg_source_open, false};
