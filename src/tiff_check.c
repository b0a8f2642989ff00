/* Whether libtiff took what the file says. It goes on with a default where a tag is damaged or outside the file, or where its value makes
 * no sense; for tags that decide the pixels that would be another image, which must not pass for this one. */
#include "status.h"
#include "tiff_source.h"
#include <inttypes.h>

/* When a tag matters; without that it may be anything. */
enum need { ALWAYS, IF_PREDICTOR, IF_GROUP3, IF_GROUP4, IF_JPEG, IF_LERC, IF_PALETTE, IF_INKS, IF_EXTRA };

/* What libtiff must have of it. */
enum kind { VALUE16, VALUE32, PRESENCE };

static const struct tag {
    uint16_t tag;
    enum need need;
    enum kind kind;
} tags[] = {
    {TIFFTAG_IMAGEWIDTH, ALWAYS, VALUE32},        {TIFFTAG_IMAGELENGTH, ALWAYS, VALUE32},
    {TIFFTAG_BITSPERSAMPLE, ALWAYS, VALUE16},     {TIFFTAG_COMPRESSION, ALWAYS, VALUE16},
    {TIFFTAG_COLORMAP, IF_PALETTE, PRESENCE},     {TIFFTAG_PHOTOMETRIC, ALWAYS, VALUE16},
    {TIFFTAG_FILLORDER, ALWAYS, VALUE16},         {TIFFTAG_SAMPLESPERPIXEL, ALWAYS, VALUE16},
    {TIFFTAG_ROWSPERSTRIP, ALWAYS, VALUE32},      {TIFFTAG_PLANARCONFIG, ALWAYS, VALUE16},
    {TIFFTAG_TILEWIDTH, ALWAYS, VALUE32},         {TIFFTAG_TILELENGTH, ALWAYS, VALUE32},
    {TIFFTAG_SAMPLEFORMAT, ALWAYS, VALUE16},      {TIFFTAG_IMAGEDEPTH, ALWAYS, VALUE32},
    {TIFFTAG_PREDICTOR, IF_PREDICTOR, VALUE16},   {TIFFTAG_GROUP3OPTIONS, IF_GROUP3, VALUE32},
    {TIFFTAG_GROUP4OPTIONS, IF_GROUP4, VALUE32},  {TIFFTAG_JPEGTABLES, IF_JPEG, PRESENCE},
    {TIFFTAG_LERC_PARAMETERS, IF_LERC, PRESENCE}, {TIFFTAG_INKSET, IF_INKS, VALUE16},
    {TIFFTAG_EXTRASAMPLES, IF_EXTRA, PRESENCE},
};

/* `photometric` as the file has it: libtiff makes gray of a palette's indices when it has no colours for them. */
static bool matters(const struct tiff_source *s, enum need need, uint64_t photometric) {
    switch (need) {
    case IF_PREDICTOR: return tiff_has_predictor(s->compression);
    case IF_GROUP3: return s->compression == COMPRESSION_CCITTFAX3;
    case IF_GROUP4: return s->compression == COMPRESSION_CCITTFAX4;
    case IF_JPEG: return s->compression == COMPRESSION_JPEG;
    case IF_LERC: return s->compression == COMPRESSION_LERC;
    case IF_PALETTE: return photometric == PHOTOMETRIC_PALETTE;
    case IF_INKS: return s->photometric == PHOTOMETRIC_SEPARATED;
    case IF_EXTRA: return s->samples > (s->photometric == PHOTOMETRIC_RGB ? 3 : 1);
    default: return true;
    }
}

static bool is_taken(const struct tiff_source *s, const struct ifd_reader *reader, const struct ifd_entry *entry, enum kind kind) {
    TIFF *tif = s->tifs[0];
    uint64_t said;
    uint16_t value16 = 0;
    uint32_t value32 = 0;
    void *unused[3] = {0};
    if (kind == PRESENCE) return entry->count > 0 && TIFFGetField(tif, entry->tag, &unused[0], &unused[1], &unused[2]) == 1;
    if (!ifd_number(reader, entry, 0, &said)) return false;
    bool there =
        kind == VALUE16 ? TIFFGetFieldDefaulted(tif, entry->tag, &value16) : TIFFGetFieldDefaulted(tif, entry->tag, &value32);
    return there && said == (kind == VALUE16 ? value16 : value32);
}

static imgpipe_status refuse_tag(struct tiff_source *s, uint16_t tag, imgpipe_error *error) {
    const TIFFField *field = TIFFFindField(s->tifs[0], tag, TIFF_ANY);
    return tiff_refuse(s, error,
                       "this TIFF file is truncated or broken: its tag %u (%s), without which it would be another image, cannot be "
                       "read or contradicts others; get an undamaged copy",
                       tag, field ? TIFFFieldName(field) : "unknown");
}

/* libtiff fills up a table that is too short with zeros, which would be tiles or strips that were left out on purpose. */
static imgpipe_status check_table(struct tiff_source *s, const struct ifd *ifd, uint16_t tag, imgpipe_error *error) {
    const struct ifd_entry *entry = ifd_find(ifd, tag);
    uint64_t need = s->tiled ? TIFFNumberOfTiles(s->tifs[0]) : TIFFNumberOfStrips(s->tifs[0]);
    if (!entry || entry->count >= need) return IMGPIPE_OK;
    return tiff_refuse(s, error,
                       "this TIFF file is broken: tag %u tells of %" PRIu64 " of its %" PRIu64 " %s; get an undamaged copy", tag,
                       entry->count, need, s->tiled ? "tiles" : "strips");
}

imgpipe_status tiff_check_tags(struct tiff_source *s, const struct ifd_reader *reader, imgpipe_error *error) {
    static const uint16_t tables[] = {TIFFTAG_STRIPOFFSETS, TIFFTAG_STRIPBYTECOUNTS, TIFFTAG_TILEOFFSETS, TIFFTAG_TILEBYTECOUNTS};
    struct ifd ifd;
    if (!ifd_read(reader, s->directory, &ifd)) return tiff_failure(s, error);
    imgpipe_status status = IMGPIPE_OK;
    uint64_t photometric = ifd_number_or(reader, &ifd, TIFFTAG_PHOTOMETRIC, s->photometric);
    for (size_t i = 0; i < sizeof tags / sizeof *tags && !status; i++) {
        const struct ifd_entry *entry = ifd_find(&ifd, tags[i].tag);
        if (entry && matters(s, tags[i].need, photometric) && !is_taken(s, reader, entry, tags[i].kind))
            status = refuse_tag(s, tags[i].tag, error);
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !status; i++) status = check_table(s, &ifd, tables[i], error);
    ifd_free(&ifd);
    return status;
}
