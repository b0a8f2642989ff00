/* What a TIFF file says beside its pixels: profile, XMP, IPTC, EXIF, resolution, texts, and the tags of GeoTIFF and OME. */
#include "tiff_meta.h"
#include "tiff_source.h"
#include <stdlib.h>
#include <string.h>

/* A profile, a packet or a text of more than this is left out, with a warning. */
#define BLOCK_MAX ((size_t)64 << 20)

const struct tiff_text tiff_texts[] = {{TIFFTAG_DOCUMENTNAME, "Title"}, {TIFFTAG_IMAGEDESCRIPTION, "Description"},
                                       {TIFFTAG_SOFTWARE, "Software"},  {TIFFTAG_DATETIME, "Creation Time"},
                                       {TIFFTAG_ARTIST, "Author"},      {TIFFTAG_COPYRIGHT, "Copyright"}};

const struct tiff_kept_tag tiff_kept_tags[] = {{33550, TIFF_DOUBLE, "ModelPixelScaleTag"},
                                               {33922, TIFF_DOUBLE, "ModelTiepointTag"},
                                               {34264, TIFF_DOUBLE, "ModelTransformationTag"},
                                               {34735, TIFF_SHORT, "GeoKeyDirectoryTag"},
                                               {34736, TIFF_DOUBLE, "GeoDoubleParamsTag"},
                                               {34737, TIFF_ASCII, "GeoAsciiParamsTag"},
                                               {42112, TIFF_ASCII, "GDALMetadata"},
                                               {42113, TIFF_ASCII, "GDALNoData"}};

struct taking {
    struct tiff_source *s;
    const struct ifd_reader *reader;
    const struct ifd *ifd;
    bool no_memory, left_out;
};

/* NULL: the tag is not there, or cannot be taken, which is noted. */
static void *take_values(struct taking *t, uint16_t tag, bool raw, const struct ifd_entry **entry) {
    *entry = ifd_find(t->ifd, tag);
    if (!*entry) return NULL;
    void *values = ifd_values(t->reader, *entry, BLOCK_MAX, raw);
    if (!values && (*entry)->size > 0) t->left_out = true;
    return values;
}

static void take_block(struct taking *t, uint16_t tag, struct metadata_block *block) {
    const struct ifd_entry *entry;
    unsigned char *bytes = take_values(t, tag, true, &entry);
    if (!bytes) return;
    free(block->bytes);
    *block = (struct metadata_block){bytes, entry->size};
}

static double fraction(struct taking *t, uint16_t tag) {
    const struct ifd_entry *entry = ifd_find(t->ifd, tag);
    double value = 0;
    if (!entry || entry->size > 64) return 0;
    void *values = ifd_values(t->reader, entry, 64, false);
    if (!values) return 0;
    if (entry->type == TIFF_RATIONAL) {
        const uint32_t *parts = values;
        value = parts[1] ? (double)parts[0] / parts[1] : 0;
    } else if (entry->type == TIFF_FLOAT) {
        value = *(const float *)values;
    } else if (entry->type == TIFF_DOUBLE) {
        value = *(const double *)values;
    }
    free(values);
    return value > 0 && value < 1e9 ? value : 0;
}

static void take_resolution(struct taking *t) {
    struct metadata *m = &t->s->base.metadata;
    double x = fraction(t, TIFFTAG_XRESOLUTION), y = fraction(t, TIFFTAG_YRESOLUTION);
    uint64_t unit = ifd_number_or(t->reader, t->ifd, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    if (!(x > 0) || !(y > 0)) return;
    if (unit == RESUNIT_NONE) {
        m->x_aspect = x;
        m->y_aspect = y;
    } else {
        double per_metre = unit == RESUNIT_CENTIMETER ? 100 : 1 / 0.0254;
        m->x_per_metre = x * per_metre;
        m->y_per_metre = y * per_metre;
    }
}

/* --------------------------------------------------------------------------------------------------------- texts */

static bool is_utf8(const unsigned char *text) {
    while (*text) {
        int more = *text < 0x80                             ? 0
                   : (*text & 0xe0) == 0xc0 && *text > 0xc1 ? 1
                   : (*text & 0xf0) == 0xe0                 ? 2
                   : (*text & 0xf8) == 0xf0                 ? 3
                                                            : -1;
        if (more < 0) return false;
        for (text++; more > 0; more--, text++)
            if ((*text & 0xc0) != 0x80) return false;
    }
    return true;
}

/* TIFF says ASCII; what is more is UTF-8 or, as a rule, Latin-1. */
static char *as_utf8(char *text) {
    if (is_utf8((const unsigned char *)text)) return text;
    char *wide = malloc(2 * strlen(text) + 1), *to = wide;
    for (const unsigned char *from = (const unsigned char *)text; wide && *from; from++) {
        if (*from < 0x80) {
            *to++ = (char)*from;
        } else {
            *to++ = (char)(0xc0 | *from >> 6);
            *to++ = (char)(0x80 | (*from & 0x3f));
        }
    }
    if (wide) *to = 0;
    free(text);
    return wide;
}

static void add_tag(struct taking *t, uint16_t tag, uint16_t type, uint64_t count, void *values) {
    struct metadata_tag *kept = calloc(1, sizeof *kept), **end = &t->s->base.metadata.tags;
    if (!kept) {
        t->no_memory = true;
        free(values);
        return;
    }
    *kept = (struct metadata_tag){tag, type, count, values, true, NULL};
    while (*end) end = &(*end)->next;
    *end = kept;
}

/* OME's description of the whole file holds only while the pixels are as many and there is no other page. */
static void take_texts(struct taking *t, bool alone) {
    for (int i = 0; i < TIFF_TEXTS; i++) {
        const struct ifd_entry *entry = ifd_find(t->ifd, tiff_texts[i].tag);
        if (!entry || (entry->type != TIFF_ASCII && entry->type != TIFF_BYTE)) continue;
        char *text = take_values(t, tiff_texts[i].tag, true, &entry);
        if (text) text = as_utf8(text);
        if (!text) continue;
        bool ome = tiff_texts[i].tag == TIFFTAG_IMAGEDESCRIPTION && strstr(text, "<OME") && strstr(text, "</OME>");
        if (ome && alone) {
            add_tag(t, TIFFTAG_IMAGEDESCRIPTION, TIFF_ASCII, strlen(text) + 1, text);
            continue;
        }
        if (!ome && text[0] && !metadata_add_text(&t->s->base.metadata, tiff_texts[i].key, text, NULL)) t->no_memory = true;
        free(text);
    }
}

static void take_tags(struct taking *t) {
    for (int i = 0; i < TIFF_KEPT_TAGS; i++) {
        const struct ifd_entry *entry = ifd_find(t->ifd, tiff_kept_tags[i].tag);
        if (!entry) continue;
        void *values = entry->type == tiff_kept_tags[i].type ? take_values(t, tiff_kept_tags[i].tag, false, &entry) : NULL;
        if (values)
            add_tag(t, entry->tag, entry->type, entry->count, values);
        else
            t->left_out = true;
    }
}

/* ---------------------------------------------------------------------------------------------------------- EXIF */

static bool in_exif(uint16_t tag) {
    static const uint16_t tags[] = {TIFFTAG_MAKE,
                                    TIFFTAG_MODEL,
                                    TIFFTAG_ORIENTATION,
                                    TIFFTAG_XRESOLUTION,
                                    TIFFTAG_YRESOLUTION,
                                    TIFFTAG_SOFTWARE,
                                    TIFFTAG_RESOLUTIONUNIT,
                                    TIFFTAG_DATETIME,
                                    TIFFTAG_ARTIST,
                                    TIFFTAG_COPYRIGHT,
                                    IFD_EXIF,
                                    IFD_GPS};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i] == tag) return true;
    return false;
}

/* The tags that EXIF has, as a TIFF stream of their own; only where there are some that TIFF alone would not have. */
static void take_exif(struct taking *t, uint64_t at) {
    static const uint16_t telling[] = {TIFFTAG_MAKE, TIFFTAG_MODEL, IFD_EXIF, IFD_GPS};
    bool wanted = false;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) wanted |= ifd_find(t->ifd, telling[i]) != NULL;
    struct ifd_tree *tree = wanted ? ifd_tree_read(t->reader, at, in_exif, 0) : NULL;
    if (!tree) return;
    static const char *const heads[] = {"MM\0*\0\0\0\10", "II*\0\10\0\0\0"};
    const char *head = heads[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__];
    struct metadata_block *exif = &t->s->base.metadata.exif;
    uint64_t place;
    if (!metadata_set(exif, head, 8) || !ifd_tree_write(tree, false, false, 0, exif, &place)) {
        t->no_memory = true;
        free(exif->bytes);
        *exif = (struct metadata_block){NULL, 0};
    }
    ifd_tree_free(tree);
}

void tiff_read_metadata(struct tiff_source *s, const struct ifd_reader *reader, uint64_t at, bool alone) {
    struct ifd ifd;
    if (!ifd_read(reader, at, &ifd)) return;
    struct taking t = {s, reader, &ifd, false, false};
    struct metadata *m = &s->base.metadata;
    uint64_t orientation = ifd_number_or(reader, &ifd, TIFFTAG_ORIENTATION, 0);
    if (orientation >= 1 && orientation <= 8) m->orientation = (int)orientation;
    take_resolution(&t);
    take_block(&t, TIFFTAG_ICCPROFILE, &m->icc);
    take_block(&t, TIFFTAG_XMLPACKET, &m->xmp);
    take_block(&t, TIFFTAG_RICHTIFFIPTC, &m->iptc);
    take_texts(&t, alone);
    take_tags(&t);
    take_exif(&t, at);
    ifd_free(&ifd);
    if (t.left_out || t.no_memory)
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "'%s': some metadata are %s; they are left out",
                 input_name(s->base.input), t.no_memory ? "too large for the memory" : "damaged or too large");
}
