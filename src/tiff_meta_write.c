/* Metadata into a TIFF file that is being written. EXIF and GPS directories are written as bytes of their own, so that they
 * come out as they came in; libtiff only gets their places. */
#include "tiff_ifd.h"
#include "tiff_meta.h"
#include <stdlib.h>
#include <string.h>

/* A tag that libtiff does not take is left out; the caller tells. */
static void note(struct tiff_client *client, int taken) {
    static const char left_out[] = "some metadata could not be written";
    if (!taken) memcpy(client->file->pending, left_out, sizeof left_out);
}

static void write_texts(TIFF *tif, struct tiff_client *client, const struct metadata *metadata, const struct ifd_tree *exif) {
    for (int i = 0; i < TIFF_TEXTS; i++) {
        const char *value = NULL;
        for (const struct metadata_text *text = metadata->texts; text && !value; text = text->next)
            if (strcmp(text->key, tiff_texts[i].key) == 0) value = text->value;
        const struct ifd_tag *tag = ifd_tree_find(exif, tiff_texts[i].tag);
        if (!value && tag && tag->type == TIFF_ASCII && tag->values) value = (const char *)tag->values;
        if (value && *value) note(client, TIFFSetField(tif, tiff_texts[i].tag, value));
    }
}

static void write_resolution(TIFF *tif, struct tiff_client *client, const struct metadata *metadata) {
    double x = metadata->x_per_metre * 0.0254, y = metadata->y_per_metre * 0.0254;
    bool known = x > 0 && y > 0;
    if (!known) x = metadata->x_aspect, y = metadata->y_aspect;
    if (!(x > 0) || !(y > 0) || x > 1e9 || y > 1e9) return;
    note(client, TIFFSetField(tif, TIFFTAG_XRESOLUTION, x));
    note(client, TIFFSetField(tif, TIFFTAG_YRESOLUTION, y));
    note(client, TIFFSetField(tif, TIFFTAG_RESOLUTIONUNIT, known ? RESUNIT_INCH : RESUNIT_NONE));
}

/* Bytes, which older versions of libtiff take for numbers of four, and turn round in files of the other byte order. */
static bool write_iptc(TIFF *tif, struct tiff_client *client, const struct metadata_block *iptc) {
    if (!iptc->bytes || iptc->size == 0 || iptc->size > UINT32_MAX - 4) return true;
    const TIFFField *field = TIFFFindField(tif, TIFFTAG_RICHTIFFIPTC, TIFF_ANY);
    if (!field || TIFFFieldDataType(field) != TIFF_LONG) {
        note(client, TIFFSetField(tif, TIFFTAG_RICHTIFFIPTC, (uint32_t)iptc->size, iptc->bytes));
        return true;
    }
    uint32_t count = (uint32_t)((iptc->size + 3) / 4), *words = calloc(count, 4);
    if (!words) return false;
    memcpy(words, iptc->bytes, iptc->size);
    if (TIFFIsByteSwapped(tif)) TIFFSwabArrayOfLong(words, count);
    note(client, TIFFSetField(tif, TIFFTAG_RICHTIFFIPTC, count, words));
    free(words);
    return true;
}

static void write_tags(TIFF *tif, struct tiff_client *client, const struct metadata *metadata) {
    TIFFFieldInfo fields[TIFF_KEPT_TAGS];
    for (int i = 0; i < TIFF_KEPT_TAGS; i++)
        fields[i] = (TIFFFieldInfo){tiff_kept_tags[i].tag,
                                    TIFF_VARIABLE2,
                                    TIFF_VARIABLE2,
                                    (TIFFDataType)tiff_kept_tags[i].type,
                                    FIELD_CUSTOM,
                                    1,
                                    1,
                                    (char *)(uintptr_t)tiff_kept_tags[i].name};
    note(client, TIFFMergeFieldInfo(tif, fields, TIFF_KEPT_TAGS) == 0);
    for (const struct metadata_tag *tag = metadata->tags; tag; tag = tag->next) {
        bool known = false;
        for (int i = 0; i < TIFF_KEPT_TAGS; i++) known |= tag->tag == tiff_kept_tags[i].tag && tag->type == tiff_kept_tags[i].type;
        if (known && tag->count > 0 && tag->count <= UINT32_MAX)
            note(client, TIFFSetField(tif, tag->tag, (uint32_t)tag->count, tag->values));
        else if (tag->tag == TIFFTAG_IMAGEDESCRIPTION && tag->type == TIFF_ASCII)
            note(client, TIFFSetField(tif, tag->tag, (const char *)tag->values));
    }
}

static bool write_directory(TIFF *tif, struct tiff_client *client, const struct ifd_tree *exif, uint16_t tag, bool big) {
    const struct ifd_tag *pointer = ifd_tree_find(exif, tag);
    if (!pointer || !pointer->child) return true;
    struct metadata_block bytes = {NULL, 0};
    uint64_t base = (client->file->size + 1) & ~(uint64_t)1, at, place;
    bool done = ifd_tree_write(pointer->child, big, TIFFIsByteSwapped(tif) != 0, base, &bytes, &place);
    if (!done) client->file->no_memory = true;
    done = done && tiff_append(client, bytes.bytes, bytes.size, &at);
    if (done) note(client, TIFFSetField(tif, tag, place));
    free(bytes.bytes);
    return done;
}

static bool write_exif(TIFF *tif, struct tiff_client *client, const struct ifd_tree *exif, bool big) {
    static const uint16_t makers[] = {TIFFTAG_MAKE, TIFFTAG_MODEL};
    for (int i = 0; i < 2; i++) {
        const struct ifd_tag *tag = ifd_tree_find(exif, makers[i]);
        if (tag && tag->type == TIFF_ASCII && tag->values) note(client, TIFFSetField(tif, makers[i], (const char *)tag->values));
    }
    return write_directory(tif, client, exif, IFD_EXIF, big) && write_directory(tif, client, exif, IFD_GPS, big);
}

bool tiff_write_metadata(TIFF *tif, struct tiff_client *client, const struct metadata *metadata, bool big) {
    struct ifd_reader reader = {.read = ifd_read_block, .from = (void *)(uintptr_t)&metadata->exif};
    struct ifd_tree *exif = NULL;
    uint64_t first;
    if (metadata->exif.bytes && ifd_begin(&reader, &first)) exif = ifd_tree_read(&reader, first, NULL, 0);
    if (metadata->orientation >= 1 && metadata->orientation <= 8)
        note(client, TIFFSetField(tif, TIFFTAG_ORIENTATION, metadata->orientation));
    write_resolution(tif, client, metadata);
    if (metadata->icc.bytes && metadata->icc.size <= UINT32_MAX)
        note(client, TIFFSetField(tif, TIFFTAG_ICCPROFILE, (uint32_t)metadata->icc.size, metadata->icc.bytes));
    if (metadata->xmp.bytes && metadata->xmp.size <= UINT32_MAX)
        note(client, TIFFSetField(tif, TIFFTAG_XMLPACKET, (uint32_t)metadata->xmp.size, metadata->xmp.bytes));
    write_texts(tif, client, metadata, exif);
    write_tags(tif, client, metadata);
    bool done = write_iptc(tif, client, &metadata->iptc);
    if (!done) client->file->no_memory = true;
    done = done && write_exif(tif, client, exif, big);
    ifd_tree_free(exif);
    return done;
}
