/* libjpeg's errors, and the APPn and COM segments of a JPEG file taken apart and put together.
 *
 * A segment holds at most 65,533 bytes. ICC profiles come in numbered parts; Photoshop's resources, one of which is IPTC, go on in
 * the next segment of their kind; XMP that is longer has an extended form, which is not carried. */
#include "jpeg_common.h"
#include "metadata_iptc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <jerror.h>

#define EXIF_HEAD "Exif\0"
#define XMP_HEAD "http://ns.adobe.com/xap/1.0/"
#define XMP_MORE_HEAD "http://ns.adobe.com/xmp/extension/"
#define ICC_HEAD "ICC_PROFILE"
#define PHOTOSHOP_HEAD "Photoshop 3.0"
#define ICC_PART_HEAD (sizeof ICC_HEAD + 2)
#define ICC_PART_MAX (JPEG_SEGMENT_MAX - ICC_PART_HEAD)
#define METRES_PER_INCH 0.0254
/* A broken or malicious file may hold any number of segments; nobody writes more than this. */
#define PHOTOSHOP_LIMIT ((size_t)16 << 20)
#define TEXT_LIMIT ((size_t)1 << 20)

/* -------------------------------------------------------------------------------------------------- errors */

static _Noreturn void on_error(j_common_ptr cinfo) {
    struct jpeg_errors *errors = (struct jpeg_errors *)cinfo->err;
    errors->base.format_message(cinfo, errors->reason);
    longjmp(errors->jump, 1);
}

static void on_message(j_common_ptr cinfo, int level) {
    if (level < 0) cinfo->err->num_warnings++;
}

static void on_output(j_common_ptr cinfo) {
    (void)cinfo;
}

struct jpeg_error_mgr *jpeg_errors_init(struct jpeg_errors *errors) {
    jpeg_std_error(&errors->base);
    errors->base.error_exit = on_error;
    errors->base.emit_message = on_message;
    errors->base.output_message = on_output;
    errors->reason[0] = 0;
    return &errors->base;
}

const char *jpeg_unsupported(const struct jpeg_error_mgr *err, char *buffer, size_t size) {
    int number = err->msg_parm.i[0];
    const char *coding = number >= 0xc9 && number <= 0xcf ? "arithmetic " : "";
    switch (err->msg_code) {
    case JERR_BAD_PRECISION: snprintf(buffer, size, "has %d bits a sample; 8 are supported", number); return buffer;
    case JERR_SOF_UNSUPPORTED:
        if (number == 0xc3 || number == 0xcb)
            snprintf(buffer, size, "is lossless (%sSOF%d), which is not supported", coding, number - 0xc0);
        else
            snprintf(buffer, size, "is %shierarchical (SOF%d), which is not supported", coding, number - 0xc0);
        return buffer;
    case JERR_UNKNOWN_MARKER: return number == 0xf7 ? "is a JPEG-LS file, which is not supported" : NULL;
    case JERR_EMPTY_IMAGE: return "has no pixels, or says its height behind the image, which is not supported";
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL: return "has subsampled colours in a ratio that is no whole number, which is not supported";
    case JERR_COMPONENT_COUNT: snprintf(buffer, size, "has %d components; 4 are supported", number); return buffer;
#ifndef D_ARITH_CODING_SUPPORTED
    case JERR_ARITH_NOTIMPL: return "is coded arithmetically, which this build of libjpeg does not support";
#endif
    case JERR_IMAGE_TOO_BIG:
        snprintf(buffer, size, "has a side of more than %d pixels, which libjpeg does not support", number);
        return buffer;
    default: return NULL;
    }
}

bool jpeg_complete(const struct jpeg_decompress_struct *cinfo) {
    for (int i = 0; i < cinfo->num_components; i++) {
        if (!cinfo->comp_info[i].quant_table) return false;
        for (int k = 0; cinfo->coef_bits && k < DCTSIZE2; k++)
            if (cinfo->coef_bits[i][k] != 0) return false;
    }
    return true;
}

uint64_t jpeg_coefficient_bytes(const struct jpeg_decompress_struct *cinfo) {
    uint64_t bytes = 0;
    for (int i = 0; i < cinfo->num_components; i++) {
        const jpeg_component_info *c = &cinfo->comp_info[i];
        uint64_t across = ((uint64_t)c->width_in_blocks + 3) & ~(uint64_t)3,
                 down = ((uint64_t)c->height_in_blocks + 3) & ~(uint64_t)3;
        bytes += across * down * DCTSIZE2 * sizeof(JCOEF);
    }
    return bytes;
}

void jpeg_cmyk_to_rgb(const JSAMPLE *from, unsigned char *to, int64_t width) {
    for (int64_t x = 0; x < width; x++, from += 4, to += 3) {
        for (int i = 0; i < 3; i++) {
            unsigned product = (unsigned)from[i] * from[3] + 128;
            to[i] = (unsigned char)((product + (product >> 8)) >> 8); /* divided by 255, rounded */
        }
    }
}

/* ------------------------------------------------------------------------------------------ taking segments apart */

/* Whether the payload begins with `head` and its closing 0; heads are string literals. */
#define HAS_HEAD(bytes, size, head) ((size) >= sizeof(head) && memcmp(bytes, head, sizeof(head)) == 0)

static unsigned long big(const unsigned char *bytes, int count) {
    unsigned long value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

static void set_once(struct jpeg_segments *s, struct metadata_block *block, const unsigned char *bytes, size_t size) {
    if (!block->bytes && size > 0 && !metadata_set(block, bytes, size)) s->no_memory = true;
}

static void take_icc(struct jpeg_segments *s, const unsigned char *bytes, size_t size) {
    if (size < 2 || s->icc_parts < 0) return;
    int number = bytes[0], count = bytes[1];
    if (number == 0 || number > count || (s->icc_parts && s->icc_parts != count) || s->icc[number].bytes) {
        s->icc_parts = -1;
        return;
    }
    s->icc_parts = count;
    set_once(s, &s->icc[number], bytes + 2, size - 2);
}

static void take_photoshop(struct jpeg_segments *s, const unsigned char *bytes, size_t size) {
    if (size == 0 || s->photoshop.size + size > PHOTOSHOP_LIMIT) return;
    unsigned char *grown = realloc(s->photoshop.bytes, s->photoshop.size + size);
    if (!grown) {
        s->no_memory = true;
        return;
    }
    memcpy(grown + s->photoshop.size, bytes, size);
    s->photoshop = (struct metadata_block){grown, s->photoshop.size + size};
}

static void take_comment(struct jpeg_segments *s, const unsigned char *bytes, size_t size) {
    size = strnlen((const char *)bytes, size);
    if (size == 0) return;
    if (s->text_bytes + size + 256 > TEXT_LIMIT) {
        s->text_dropped = true;
        return;
    }
    s->text_bytes += size + 256;
    if (!metadata_add_comment(s->metadata, bytes, size)) s->no_memory = true;
}

/* The number of pictures (tag 0xB001) in the index of a multi-picture file (CIPA DC-007), which is a small TIFF. */
static int count_pictures(const unsigned char *bytes, size_t size) {
    if (size < 10 || (memcmp(bytes, "II*", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0)) return 0;
    bool little = bytes[0] == 'I';
    size_t at = little ? bytes[4] | (size_t)bytes[5] << 8 : big(bytes + 6, 2);
    if (at + 2 > size) return 0;
    size_t entries = little ? bytes[at] | (size_t)bytes[at + 1] << 8 : big(bytes + at, 2);
    for (at += 2; entries-- > 0 && at + 12 <= size; at += 12) {
        const unsigned char *e = bytes + at;
        if (memcmp(e, little ? "\x01\xb0" : "\xb0\x01", 2) != 0) continue;
        return little ? e[8] | e[9] << 8 : (int)big(e + 10, 2);
    }
    return 0;
}

void jpeg_segments_take(struct jpeg_segments *s, int marker, const unsigned char *bytes, size_t size) {
    struct metadata *m = s->metadata;
    if (marker == JPEG_COM) take_comment(s, bytes, size);
    if (marker == JPEG_APP0 + 1) {
        /* After the closing 0 of "Exif" stands a fill byte. */
        if (HAS_HEAD(bytes, size, EXIF_HEAD)) set_once(s, &m->exif, bytes + sizeof EXIF_HEAD, size - sizeof EXIF_HEAD);
        if (HAS_HEAD(bytes, size, XMP_HEAD)) set_once(s, &m->xmp, bytes + sizeof XMP_HEAD, size - sizeof XMP_HEAD);
        if (HAS_HEAD(bytes, size, XMP_MORE_HEAD)) s->extended_xmp = true;
    }
    if (marker == JPEG_APP0 + 2 && HAS_HEAD(bytes, size, ICC_HEAD)) take_icc(s, bytes + sizeof ICC_HEAD, size - sizeof ICC_HEAD);
    if (marker == JPEG_APP0 + 2 && HAS_HEAD(bytes, size, "MPF")) s->pictures = count_pictures(bytes + 4, size - 4);
    if (marker == JPEG_APP0 + 13 && HAS_HEAD(bytes, size, PHOTOSHOP_HEAD))
        take_photoshop(s, bytes + sizeof PHOTOSHOP_HEAD, size - sizeof PHOTOSHOP_HEAD);
}

static void join_icc(struct jpeg_segments *s) {
    size_t total = 0, at = 0;
    bool complete = s->icc_parts > 0;
    for (int i = 1; i <= s->icc_parts; i++) {
        complete &= s->icc[i].bytes != NULL;
        total += s->icc[i].size;
    }
    if (!complete) {
        if (s->icc_parts)
            log_line(s->log, IMGPIPE_LOG_WARNING, "'%s': the parts of its ICC profile do not fit together; it is left out",
                     s->name);
        return;
    }
    unsigned char *whole = malloc(total);
    for (int i = 1; whole && i <= s->icc_parts; at += s->icc[i++].size) memcpy(whole + at, s->icc[i].bytes, s->icc[i].size);
    if (whole)
        s->metadata->icc = (struct metadata_block){whole, total};
    else
        s->no_memory = true;
}

void jpeg_segments_end(struct jpeg_segments *s) {
    const unsigned char *iptc;
    size_t length;
    join_icc(s);
    if (iptc_find(s->photoshop.bytes, s->photoshop.size, &iptc, &length)) set_once(s, &s->metadata->iptc, iptc, length);
    if (s->extended_xmp)
        log_line(s->log, IMGPIPE_LOG_NOTICE, "'%s': its extended XMP is dropped; the main packet is kept", s->name);
    if (s->text_dropped) log_line(s->log, IMGPIPE_LOG_NOTICE, "'%s': comments beyond 1 MiB are dropped", s->name);
    if (s->pictures > 1)
        log_line(s->log, IMGPIPE_LOG_NOTICE, "'%s': a file of %d pictures, the first is taken", s->name, s->pictures);
    if (s->metadata->exif.bytes) metadata_read_exif(s->metadata);
}

void jpeg_segments_free(struct jpeg_segments *s) {
    for (int i = 0; i < 256; i++) free(s->icc[i].bytes);
    free(s->photoshop.bytes);
}

/* --------------------------------------------------------------------------------------- density, subsampling */

void jpeg_density_read(struct metadata *metadata, const struct jpeg_decompress_struct *cinfo) {
    double x = cinfo->X_density, y = cinfo->Y_density;
    if (!cinfo->saw_JFIF_marker || x < 1 || y < 1) return;
    double scale = cinfo->density_unit == 1 ? 1 / METRES_PER_INCH : 100;
    if (cinfo->density_unit == 1 || cinfo->density_unit == 2) {
        metadata->x_per_metre = x * scale;
        metadata->y_per_metre = y * scale;
    } else if (cinfo->density_unit == 0 && cinfo->X_density != cinfo->Y_density) {
        metadata->x_aspect = x;
        metadata->y_aspect = y;
    }
}

int jpeg_subsampling(const struct jpeg_decompress_struct *c) {
    const jpeg_component_info *i = c->comp_info;
    if (c->num_components != 3 || i[1].h_samp_factor != i[2].h_samp_factor || i[1].v_samp_factor != i[2].v_samp_factor) return 0;
    bool same_x = i[0].h_samp_factor == i[1].h_samp_factor, half_x = i[0].h_samp_factor == 2 * i[1].h_samp_factor;
    bool same_y = i[0].v_samp_factor == i[1].v_samp_factor, half_y = i[0].v_samp_factor == 2 * i[1].v_samp_factor;
    return same_x && same_y ? 444 : half_x && same_y ? 422 : half_x && half_y ? 420 : 0;
}

static double off_integer(double value) {
    return fabs(value - floor(value + 0.5));
}

static bool fits_density(double value) {
    return value >= 0.5 && value < 65535.5;
}

/* Dots per inch or per centimetre, whichever the numbers fit better. */
void jpeg_density_write(struct jpeg_compress_struct *cinfo, const struct metadata *m) {
    double x = m->x_per_metre * METRES_PER_INCH, y = m->y_per_metre * METRES_PER_INCH;
    double x_cm = m->x_per_metre / 100, y_cm = m->y_per_metre / 100;
    int unit = 1;
    if (off_integer(x_cm) + off_integer(y_cm) < off_integer(x) + off_integer(y) - 1e-6) x = x_cm, y = y_cm, unit = 2;
    if (!(m->x_per_metre > 0 && m->y_per_metre > 0)) {
        x = m->x_aspect, y = m->y_aspect, unit = 0;
        /* A ratio may be scaled until it fits. */
        while (x > 0 && y > 0 && x < 1e12 && y < 1e12 && (x >= 65535.5 || y >= 65535.5)) x /= 2, y /= 2;
        while (fits_density(x * 2) && fits_density(y * 2) && off_integer(x) + off_integer(y) > 1e-6) x *= 2, y *= 2;
    }
    if (!fits_density(x) || !fits_density(y)) return;
    cinfo->density_unit = (UINT8)unit;
    cinfo->X_density = (UINT16)(x + 0.5);
    cinfo->Y_density = (UINT16)(y + 0.5);
}

/* ---------------------------------------------------------------------------------------------- writing segments */

static void put(struct jpeg_compress_struct *cinfo, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) jpeg_write_m_byte(cinfo, at[i]);
}

/* One segment of a head and a body. */
static void put_segment(struct jpeg_compress_struct *cinfo, int marker, const void *head, size_t head_size, const void *body,
                        size_t size) {
    jpeg_write_m_header(cinfo, marker, (unsigned)(head_size + size));
    put(cinfo, head, head_size);
    put(cinfo, body, size);
}

static bool fits(size_t size, size_t limit, const char *what, const struct log *log, const char *name) {
    if (size <= limit) return true;
    log_line(log, IMGPIPE_LOG_NOTICE, "%s: its %s of %zu bytes are dropped: JPEG holds %zu", name, what, size, limit);
    return false;
}

static void put_icc(struct jpeg_compress_struct *cinfo, const struct metadata_block *icc) {
    size_t parts = (icc->size + ICC_PART_MAX - 1) / ICC_PART_MAX;
    for (size_t i = 0; i < parts; i++) {
        unsigned char head[ICC_PART_HEAD] = ICC_HEAD;
        head[sizeof ICC_HEAD] = (unsigned char)(i + 1);
        head[sizeof ICC_HEAD + 1] = (unsigned char)parts;
        size_t left = icc->size - i * ICC_PART_MAX;
        put_segment(cinfo, JPEG_APP0 + 2, head, sizeof head, icc->bytes + i * ICC_PART_MAX,
                    left < ICC_PART_MAX ? left : ICC_PART_MAX);
    }
}

static void put_iptc(struct jpeg_compress_struct *cinfo, const struct metadata_block *iptc) {
    unsigned char head[sizeof PHOTOSHOP_HEAD + 12] = PHOTOSHOP_HEAD "\0"
                                                                    "8BIM\4\4";
    unsigned char *size = head + sizeof PHOTOSHOP_HEAD + 8;
    for (int i = 0; i < 4; i++) size[i] = (unsigned char)(iptc->size >> (24 - 8 * i));
    jpeg_write_m_header(cinfo, JPEG_APP0 + 13, (unsigned)(sizeof head + iptc->size + (iptc->size & 1)));
    put(cinfo, head, sizeof head);
    put(cinfo, iptc->bytes, iptc->size);
    if (iptc->size & 1) jpeg_write_m_byte(cinfo, 0);
}

/* A comment has no keyword, so that of other texts is put in front. */
static void put_text(struct jpeg_compress_struct *cinfo, const struct metadata_text *text, const struct log *log,
                     const char *name) {
    bool plain = strcmp(text->key, "Comment") == 0;
    size_t key = plain ? 0 : strlen(text->key), head = plain ? 0 : key + 2, size = strlen(text->value);
    if (!fits(head + size, JPEG_SEGMENT_MAX, "text", log, name)) return;
    jpeg_write_m_header(cinfo, JPEG_COM, (unsigned)(head + size));
    put(cinfo, text->key, key);
    put(cinfo, ": ", head - key);
    put(cinfo, text->value, size);
}

void jpeg_segments_write(struct jpeg_compress_struct *cinfo, const struct metadata *m, const struct log *log, const char *name) {
    if (m->exif.bytes && fits(m->exif.size, JPEG_SEGMENT_MAX - sizeof EXIF_HEAD, "EXIF", log, name))
        put_segment(cinfo, JPEG_APP0 + 1, EXIF_HEAD, sizeof EXIF_HEAD, m->exif.bytes, m->exif.size);
    if (m->xmp.bytes && fits(m->xmp.size, JPEG_SEGMENT_MAX - sizeof XMP_HEAD, "XMP", log, name))
        put_segment(cinfo, JPEG_APP0 + 1, XMP_HEAD, sizeof XMP_HEAD, m->xmp.bytes, m->xmp.size);
    if (m->icc.bytes && fits(m->icc.size, 255 * ICC_PART_MAX, "ICC profile", log, name)) put_icc(cinfo, &m->icc);
    if (m->iptc.bytes && fits(m->iptc.size, JPEG_SEGMENT_MAX - sizeof PHOTOSHOP_HEAD - 13, "IPTC", log, name))
        put_iptc(cinfo, &m->iptc);
    for (const struct metadata_text *text = m->texts; text; text = text->next) put_text(cinfo, text, log, name);
}
