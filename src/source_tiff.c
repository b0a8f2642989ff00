/* TIFF through libtiff: the header, and what of the many kinds of TIFF is read. The rest is refused by name: a file must not come
 * out as something else than other programs show. */
#include "source.h"
#include "status.h"
#include "tiff_source.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------- messages */

imgpipe_status tiff_refuse(struct tiff_source *s, imgpipe_error *error, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s", input_name(s->base.input), text);
}

imgpipe_status tiff_no_memory(struct tiff_source *s, imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some or raise --memory",
                     input_name(s->base.input));
}

imgpipe_status tiff_failure(struct tiff_source *s, imgpipe_error *error) {
    const char *failure = input_failure(s->base.input);
    if (failure) return tiff_refuse(s, error, "%s; check the file and its disk", failure);
    if (s->file.no_memory) return tiff_no_memory(s, error);
    return tiff_refuse(s, error, "this TIFF file is broken: %s; get an undamaged copy",
                       s->file.reason[0] ? s->file.reason : "libtiff cannot decode it");
}

static void tell(struct tiff_source *s, const char *what) {
    log_line(s->base.options.log, IMGPIPE_LOG_NOTICE, "'%s': %s", input_name(s->base.input), what);
}

/* ------------------------------------------------------------------------------------------------ what is read */

static imgpipe_status check_samples(struct tiff_source *s, imgpipe_error *error) {
    static const char *const formats[] = {
        "", "unsigned", "signed", "floating point", "untyped", "complex integer", "complex floating point"};
    bool real = s->sample_format == SAMPLEFORMAT_IEEEFP;
    bool whole = s->sample_format == SAMPLEFORMAT_UINT || s->sample_format == SAMPLEFORMAT_VOID;
    if ((real && s->bits == 32) || (whole && (s->bits == 8 || s->bits == 16))) return IMGPIPE_OK;
    bool few = s->bits == 1 || s->bits == 2 || s->bits == 4;
    bool packed = s->photometric <= PHOTOMETRIC_MINISBLACK || s->photometric == PHOTOMETRIC_PALETTE;
    if (whole && few && packed && s->samples == 1) return IMGPIPE_OK;
    return tiff_refuse(
        s, error, "samples of %u bits, %s, in %u channels are not supported; convert it to 8 or 16 bit unsigned or 32-bit float",
        s->bits, s->sample_format < 7 ? formats[s->sample_format] : "of an unknown format", s->samples);
}

static imgpipe_status check_compression(struct tiff_source *s, imgpipe_error *error) {
    static const uint16_t known[] = {COMPRESSION_NONE,     COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3,     COMPRESSION_CCITTFAX4,
                                     COMPRESSION_LZW,      COMPRESSION_JPEG,     COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
                                     COMPRESSION_PACKBITS, COMPRESSION_LZMA,     COMPRESSION_ZSTD,          COMPRESSION_WEBP,
                                     COMPRESSION_LERC};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (s->compression != known[i]) continue;
        if (TIFFIsCODECConfigured(s->compression)) return IMGPIPE_OK;
        return tiff_refuse(s, error, "%s compression is not in this build of libtiff; recompress it",
                           tiff_compression_name(known[i]));
    }
    return tiff_refuse(s, error, "%s compression (%u) is not supported; recompress it", tiff_compression_name(s->compression),
                       s->compression);
}

static const char *photometric_name(uint16_t photometric) {
    switch (photometric) {
    case PHOTOMETRIC_MASK: return "a transparency mask";
    case PHOTOMETRIC_YCBCR: return "YCbCr that is not JPEG";
    case PHOTOMETRIC_CIELAB: return "CIE L*a*b*";
    case PHOTOMETRIC_ICCLAB: return "ICC L*a*b*";
    case PHOTOMETRIC_ITULAB: return "ITU L*a*b*";
    case PHOTOMETRIC_LOGL: return "LogL";
    case PHOTOMETRIC_LOGLUV: return "LogLuv";
    default: return "an unknown kind of colour";
    }
}

/* How many channels are colour; 0: the kind of colour is refused. */
static int color_channels(struct tiff_source *s, imgpipe_error *error) {
    switch (s->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK: return 1;
    case PHOTOMETRIC_RGB: return 3;
    case PHOTOMETRIC_PALETTE:
        if (s->samples == 1 && s->bits <= 8) return 1;
        tiff_refuse(s, error, "a palette with %u channels of %u bits is not supported; convert it to RGB", s->samples, s->bits);
        return 0;
    case PHOTOMETRIC_SEPARATED: {
        uint16_t inks = INKSET_CMYK;
        TIFFGetFieldDefaulted(s->tifs[0], TIFFTAG_INKSET, &inks);
        if (inks == INKSET_CMYK && s->samples == 4 && (s->bits == 8 || s->bits == 16)) return 4;
        tiff_refuse(s, error, "inks other than CMYK of 8 or 16 bits are not supported; convert it to RGB");
        return 0;
    }
    case PHOTOMETRIC_YCBCR:
        if (s->compression == COMPRESSION_JPEG && s->samples == 3 && !s->separate) return 3;
        break;
    default: break;
    }
    tiff_refuse(s, error, "%s (%u) is not supported; convert it to RGB", photometric_name(s->photometric), s->photometric);
    return 0;
}

/* What the channels beyond the colours are. Alpha is one that the file calls so, if it is the last of 2 or 4. */
static void choose_alpha(struct tiff_source *s, int colors) {
    imgpipe_format *format = &s->base.info.format;
    uint16_t count = 0, *types = NULL, last = EXTRASAMPLE_UNSPECIFIED;
    TIFFGetFieldDefaulted(s->tifs[0], TIFFTAG_EXTRASAMPLES, &count, &types);
    int extra = format->channels - colors;
    if (extra > 0 && count == extra && types) last = types[extra - 1];
    bool even = format->channels == 2 || format->channels == 4,
         said = last == EXTRASAMPLE_ASSOCALPHA || last == EXTRASAMPLE_UNASSALPHA;
    format->alpha = even && said;
    for (int i = 0; i < extra && i < count && types; i++)
        if (types[i] != EXTRASAMPLE_UNSPECIFIED && !(i == extra - 1 && even))
            tell(s, "a channel that it calls alpha is not the last of 2 or 4 and is data");
    s->associated = format->alpha && last == EXTRASAMPLE_ASSOCALPHA && s->base.options.alpha != 0;
    if (s->associated) tell(s, "its colours are multiplied by alpha, and are divided by it");
    if (colors == 1 && format->channels >= 3) tell(s, "the first three of its channels are taken for red, green and blue");
}

static imgpipe_status take_palette(struct tiff_source *s, imgpipe_error *error) {
    uint16_t *maps[3];
    unsigned count = 1u << s->bits, most = 0;
    if (!TIFFGetField(s->tifs[0], TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]))
        return tiff_refuse(s, error, "this TIFF file is broken: it has no palette; get an undamaged copy");
    for (unsigned i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) most = maps[c][i] > most ? maps[c][i] : most;
    /* Some writers fill the 16 bits of an entry with a value of 8. */
    int shift = most < 256 ? 0 : 8;
    for (unsigned i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) s->colors[i][c] = (unsigned char)(maps[c][i] >> shift);
    return IMGPIPE_OK;
}

static imgpipe_status choose_format(struct tiff_source *s, imgpipe_error *error) {
    imgpipe_status status = check_compression(s, error);
    if (status) return status;
    imgpipe_error refusal = {0};
    int colors = color_channels(s, &refusal);
    if (colors == 0) {
        if (error) *error = refusal;
        return IMGPIPE_ERROR_INPUT;
    }
    if ((status = check_samples(s, error))) return status;
    if (s->samples > 4) return tiff_refuse(s, error, "it has %u channels, and at most 4 are supported; choose some", s->samples);
    if (s->samples < colors)
        return tiff_refuse(s, error, "this TIFF file is broken: %u channels are too few for its colours; get an undamaged copy",
                           s->samples);
    imgpipe_format *format = &s->base.info.format;
    format->type = s->bits == 32 ? IMGPIPE_F32 : s->bits == 16 ? IMGPIPE_U16 : IMGPIPE_U8;
    format->channels = s->samples;
    s->inverted = s->photometric == PHOTOMETRIC_MINISWHITE;
    s->palette = s->photometric == PHOTOMETRIC_PALETTE;
    s->cmyk = s->photometric == PHOTOMETRIC_SEPARATED;
    if (s->inverted && format->type == IMGPIPE_F32)
        return tiff_refuse(s, error, "floating point samples with 0 as white are not supported; convert it");
    if (s->palette || s->cmyk)
        format->channels = 3;
    else
        choose_alpha(s, colors);
    if (s->cmyk) tell(s, "CMYK is converted to RGB without its profile");
    return s->palette ? take_palette(s, error) : IMGPIPE_OK;
}

/* ------------------------------------------------------------------------------------------------------ opening */

imgpipe_status tiff_open_page(struct tiff_source *s, int index, imgpipe_error *error) {
    tiff_forget(&s->file);
    s->clients[index].file = &s->file;
    /* h: no directory yet; c: strips as they are; m: no mapping, which a file that shrinks would make fatal. */
    TIFF *tif = s->tifs[index] = tiff_open(&s->clients[index], "rhcm", s->base.options.memory);
    if (!tif || !TIFFSetSubDirectory(tif, s->directory)) return tiff_failure(s, error);
    uint16_t photometric = 0, compression = 0;
    TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &photometric);
    TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &compression);
    if (photometric == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG)
        TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    return IMGPIPE_OK;
}

/* What the directory says of the layout. */
static imgpipe_status take_layout(struct tiff_source *s, imgpipe_error *error) {
    TIFF *tif = s->tifs[0];
    uint32_t width = 0, height = 0;
    uint16_t planes = PLANARCONFIG_CONTIG;
    TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &s->bits);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &s->samples);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &s->sample_format);
    TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &s->compression);
    TIFFGetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &planes);
    TIFFGetFieldDefaulted(tif, TIFFTAG_FILLORDER, &s->fill_order);
    if (!TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &s->photometric))
        s->photometric = s->samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
    s->base.info.width = width;
    s->base.info.height = height;
    s->separate = planes == PLANARCONFIG_SEPARATE && s->samples > 1;
    s->tiled = TIFFIsTiled(tif);
    uint32_t depth = 1;
    TIFFGetFieldDefaulted(tif, TIFFTAG_IMAGEDEPTH, &depth);
    if (depth != 1) return tiff_refuse(s, error, "volumes are not supported; take it apart into pages");
    if (s->tiled) {
        TIFFGetField(tif, TIFFTAG_TILEWIDTH, &s->chunk_width);
        TIFFGetField(tif, TIFFTAG_TILELENGTH, &s->chunk_height);
    } else {
        TIFFGetFieldDefaulted(tif, TIFFTAG_ROWSPERSTRIP, &s->chunk_height);
        s->chunk_width = width;
    }
    if (s->chunk_height > INT32_MAX) s->chunk_height = INT32_MAX;
    if (s->chunk_width == 0 || s->chunk_height == 0)
        return tiff_refuse(s, error, "this TIFF file is broken: its tiles or strips are empty; get an undamaged copy");
    return IMGPIPE_OK;
}

static void take_storage(struct tiff_source *s) {
    struct storage *storage = &s->base.storage;
    uint16_t predictor = PREDICTOR_NONE;
    if (tiff_has_predictor(s->compression)) TIFFGetFieldDefaulted(s->tifs[0], TIFFTAG_PREDICTOR, &predictor);
    *storage = (struct storage){.compression = s->compression,
                                .predictor = predictor,
                                .separate_planes = s->separate,
                                .big_endian = TIFFIsBigEndian(s->tifs[0]) != 0};
    if (s->tiled) {
        storage->tile_width = s->chunk_width;
        storage->tile_height = s->chunk_height;
    }
}

/* The size is judged before libtiff takes memory for the places of all strips. */
static imgpipe_status check_size(struct tiff_source *s, const struct ifd_reader *reader, imgpipe_error *error) {
    struct ifd ifd;
    if (!ifd_read(reader, s->directory, &ifd)) return tiff_failure(s, error);
    uint64_t width = ifd_number_or(reader, &ifd, TIFFTAG_IMAGEWIDTH, 0),
             height = ifd_number_or(reader, &ifd, TIFFTAG_IMAGELENGTH, 0);
    ifd_free(&ifd);
    return source_check_size(&s->base.options, input_name(s->base.input), width, height, 1, false, error);
}

static imgpipe_status open_image(struct tiff_source *s, imgpipe_error *error) {
    struct ifd_reader reader = {.read = tiff_read_at, .from = &s->file, .no_memory = &s->file.no_memory};
    struct input *input = s->base.input;
    uint64_t first, pages;
    imgpipe_status status = IMGPIPE_OK;
    s->file.input = input;
    s->file.size = input_size(input);
    if (!input_can_seek(input)) {
        /* Directories stand anywhere in a file, mostly at its end. */
        size_t size = 0;
        status = input_read_all(input, s->base.options.memory, &s->file.bytes, &size, error);
        s->file.size = size;
    }
    if (status) return status;
    if (!ifd_begin(&reader, &first))
        return tiff_refuse(s, error, "this TIFF file is truncated or broken: its header makes no sense; get a complete copy");
    if ((status = tiff_choose_page(s, &reader, first, &s->directory, &pages, error))) return status;
    if ((status = check_size(s, &reader, error))) return status;
    if ((status = tiff_open_page(s, 0, error))) return status;
    if ((status = take_layout(s, error))) return status;
    if ((status = tiff_check_tags(s, &reader, error))) return status;
    if ((status = choose_format(s, error))) return status;
    status = source_check_size(&s->base.options, input_name(input), (uint64_t)s->base.info.width, (uint64_t)s->base.info.height,
                               imgpipe_pixel_size(s->base.info.format), false, error);
    if (!status) status = tiff_band_open(s, error);
    if (status) return status;
    take_storage(s);
    tiff_read_metadata(s, &reader, s->directory, pages == 1);
    if (s->cmyk) metadata_set(&s->base.metadata.icc, NULL, 0);
    return IMGPIPE_OK;
}

/* -------------------------------------------------------------------------------------------------- reading */

/* Warnings matter only if no error follows, which is mostly found at the first rows. */
static void flush_warnings(struct tiff_source *s) {
    if (s->file.pending[0])
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "'%s': %s; the image is read all the same", input_name(s->base.input),
                 s->file.pending);
    s->file.pending[0] = 0;
}

static imgpipe_status tiff_source_read(struct source *source, void *const *rows, int count, imgpipe_error *error) {
    struct tiff_source *s = (struct tiff_source *)source;
    for (int i = 0; i < count; i++) {
        imgpipe_status status = tiff_band_fill(s, source->next_row + i, error);
        if (status) return status;
        tiff_convert_row(s, (int)(source->next_row + i - s->band_y), rows[i]);
    }
    flush_warnings(s);
    return IMGPIPE_OK;
}

static void tiff_source_close(struct source *source) {
    struct tiff_source *s = (struct tiff_source *)source;
    for (int i = 0; i < 4; i++)
        if (s->tifs[i]) TIFFClose(s->tifs[i]);
    free(s->file.bytes);
    free(s->band);
    free(s->absent);
    free(s->chunk);
    free(s);
}

static const struct source_ops tiff_ops = {.name = "tiff", .read = tiff_source_read, .close = tiff_source_close};

/* A Canon raw file says so behind the header; the list of what is refused knows it. */
static bool tiff_matches(const unsigned char *bytes, size_t size) {
    if (size < 4 || (size >= 11 && memcmp(bytes + 8, "CR\2", 3) == 0)) return false;
    return memcmp(bytes, "II*\0", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0 || memcmp(bytes, "II+\0", 4) == 0 ||
           memcmp(bytes, "MM\0+", 4) == 0;
}

static imgpipe_status tiff_source_open(struct input *input, const struct source_options *options, struct source **source,
                                       imgpipe_error *error) {
    struct tiff_source *s = calloc(1, sizeof *s);
    if (!s) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input_name(input));
    s->base.ops = &tiff_ops;
    s->base.input = input;
    s->base.options = *options;
    s->base.codec = "tiff";
    metadata_init(&s->base.metadata);
    imgpipe_status status = open_image(s, error);
    if (status) {
        metadata_free(&s->base.metadata);
        tiff_source_close(&s->base);
        return status;
    }
    *source = &s->base;
    return IMGPIPE_OK;
}

extern const struct decoder decoder_tiff;
const struct decoder decoder_tiff = {"tiff", tiff_matches, tiff_source_open, false};
