/* Writing TIFF through libtiff: strips, or tiles where the input had them. Strips are compressed side by side: each piece into a
 * file in memory, by a handle of its own, from which commit() takes them as they are. Rows of tiles, which pieces know nothing of,
 * are compressed in commit(), one after another. */
#include "sink.h"
#include "status.h"
#include "tiff_common.h"
#include "tiff_meta.h"
#include <stdlib.h>
#include <string.h>

/* Small enough for every reader, large enough for a compressor. */
#define STRIP_BYTES ((size_t)256 << 10)
/* Rows of tiles that need more memory than this are written as strips. */
#define TILES_BYTES ((uint64_t)256 << 20)

struct tiff_sink {
    struct sink base;
    struct tiff_file file;
    struct tiff_client client;
    TIFF *tif;
    uint16_t compression, predictor;
    bool separate, big;
    uint32_t tile_width, tile_height; /* 0: strips */
    uint32_t strip_rows;
    int planes;
    size_t row_bytes, pixel_bytes; /* of the image */
    size_t part_bytes;             /* of what of a pixel stands together in the file: all, or one sample */
    size_t chunk_bytes;
    unsigned char *band;  /* tiles: the rows of one row of tiles */
    unsigned char *chunk; /* one tile or strip, of one plane */
};

static imgpipe_status failed(const struct tiff_sink *s, const struct tiff_file *file, imgpipe_error *error) {
    if (file->write_failed) return outfile_fail(s->base.out, error);
    const char *name = outfile_name(s->base.out);
    if (file->no_memory) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; free some", name);
    return error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': libtiff: %s; choose another kind", name,
                     file->reason[0] ? file->reason : "it failed");
}

static imgpipe_status failure(const struct tiff_sink *s, imgpipe_error *error) {
    return failed(s, &s->file, error);
}

/* ------------------------------------------------------------------------------------------------------- layout */

/* The input's compression where it can be written without loss, and deflate else. */
static uint16_t choose_compression(const struct tiff_sink *s) {
    static const uint16_t lossless[] = {COMPRESSION_NONE,     COMPRESSION_LZW,  COMPRESSION_ADOBE_DEFLATE,
                                        COMPRESSION_PACKBITS, COMPRESSION_LZMA, COMPRESSION_ZSTD};
    const struct storage *storage = s->base.options.storage;
    if (s->base.options.level == 0) return COMPRESSION_NONE;
    if (!storage || storage->compression == 0 || storage->compression == COMPRESSION_DEFLATE) return COMPRESSION_ADOBE_DEFLATE;
    for (size_t i = 0; i < sizeof lossless / sizeof *lossless; i++)
        if (storage->compression == lossless[i] && TIFFIsCODECConfigured(lossless[i])) return lossless[i];
    log_line(s->base.options.log, IMGPIPE_LOG_NOTICE, "'%s': deflate is written instead of the input's %s compression",
             outfile_name(s->base.out), tiff_compression_name(storage->compression));
    return COMPRESSION_ADOBE_DEFLATE;
}

static uint16_t choose_predictor(const struct tiff_sink *s) {
    const struct storage *storage = s->base.options.storage;
    /* In big-endian files libtiff 4.5 encodes the predictor of floats from bytes in the wrong order. */
    bool real = s->base.info.format.type == IMGPIPE_F32 && !(storage && storage->big_endian);
    if (s->compression == COMPRESSION_NONE || s->compression == COMPRESSION_PACKBITS) return 0;
    if (storage && storage->compression == s->compression && storage->predictor) {
        if (storage->predictor == PREDICTOR_FLOATINGPOINT && !real) return PREDICTOR_HORIZONTAL;
        return storage->predictor;
    }
    return real ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL;
}

/* Bytes of everything that is carried, roughly. */
static uint64_t metadata_bytes(const struct metadata *m) {
    if (!m) return 0;
    uint64_t bytes = m->icc.size + m->xmp.size + m->iptc.size + 2 * m->exif.size;
    for (const struct metadata_text *text = m->texts; text; text = text->next) bytes += strlen(text->value) + 64;
    for (const struct metadata_tag *tag = m->tags; tag; tag = tag->next) bytes += tag->count * 8 + 64;
    return bytes;
}

/* A classic TIFF file ends at 4 GiB. How well the pixels compress is not known yet, and which of the kinds is written must depend on
 * the image's size alone; so it is BigTIFF where the classic kind could fail. */
static bool needs_big(const struct tiff_sink *s) {
    uint64_t width = (uint64_t)s->base.info.width, height = (uint64_t)s->base.info.height, chunks, raw;
    if (s->tile_width) {
        uint64_t across = (width + s->tile_width - 1) / s->tile_width, down = (height + s->tile_height - 1) / s->tile_height;
        chunks = across * down * (uint64_t)s->planes;
        raw = chunks * s->chunk_bytes;
    } else {
        chunks = (height + s->strip_rows - 1) / s->strip_rows * (uint64_t)s->planes;
        raw = height * s->row_bytes;
    }
    uint64_t growth = s->compression == COMPRESSION_NONE ? 0 : s->compression == COMPRESSION_LZW ? raw / 2 : raw / 64 + chunks * 64;
    return raw + growth + chunks * 16 + metadata_bytes(s->base.options.metadata) + (1 << 20) > UINT32_MAX;
}

static void choose_layout(struct tiff_sink *s) {
    const imgpipe_info *info = &s->base.info;
    const struct storage *storage = s->base.options.storage;
    s->pixel_bytes = imgpipe_pixel_size(info->format);
    s->row_bytes = (size_t)info->width * s->pixel_bytes;
    s->compression = choose_compression(s);
    s->predictor = choose_predictor(s);
    s->separate = storage && storage->separate_planes && info->format.channels > 1;
    s->planes = s->separate ? info->format.channels : 1;
    s->part_bytes = s->pixel_bytes / (size_t)s->planes;
    s->base.piece_rows = sink_piece_rows(info);
    if (storage && storage->tile_width && storage->tile_height && storage->tile_width % 16 == 0 && storage->tile_height % 16 == 0 &&
        (uint64_t)s->row_bytes <= TILES_BYTES / storage->tile_height &&
        storage->tile_width <= TILES_BYTES / 16 / storage->tile_height) {
        s->tile_width = storage->tile_width;
        s->tile_height = storage->tile_height;
        s->chunk_bytes = (size_t)s->tile_width * s->tile_height * s->part_bytes;
    } else {
        /* A power of two like the height of pieces, so that a piece holds whole strips. */
        int rows = 1;
        while (rows < s->base.piece_rows && (size_t)rows * 2 * s->row_bytes <= STRIP_BYTES) rows *= 2;
        s->strip_rows = (uint32_t)(rows < info->height ? rows : info->height);
        s->chunk_bytes = (size_t)info->width * s->part_bytes * s->strip_rows;
    }
    s->big = needs_big(s);
}

/* ------------------------------------------------------------------------------------------------------- header */

/* What the compressed bytes depend on, for an image of this height. */
static bool write_storage(const struct tiff_sink *s, TIFF *tif, uint32_t height) {
    const imgpipe_info *info = &s->base.info;
    int channels = info->format.channels, colors = channels < 3 ? 1 : 3, level = s->base.options.level;
    uint16_t extra[3] = {EXTRASAMPLE_UNSPECIFIED, EXTRASAMPLE_UNSPECIFIED, EXTRASAMPLE_UNSPECIFIED};
    bool ok = TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, (uint32_t)info->width) && TIFFSetField(tif, TIFFTAG_IMAGELENGTH, height) &&
              TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, (int)(8 * imgpipe_sample_size(info->format.type))) &&
              TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, channels) &&
              TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, info->format.type == IMGPIPE_F32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT) &&
              TIFFSetField(tif, TIFFTAG_PLANARCONFIG, s->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG) &&
              TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, colors == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK) &&
              TIFFSetField(tif, TIFFTAG_COMPRESSION, s->compression);
    if (info->format.alpha) extra[channels - colors - 1] = EXTRASAMPLE_UNASSALPHA;
    if (ok && channels > colors) ok = TIFFSetField(tif, TIFFTAG_EXTRASAMPLES, channels - colors, extra);
    if (ok && s->predictor) ok = TIFFSetField(tif, TIFFTAG_PREDICTOR, s->predictor);
    if (ok && s->compression == COMPRESSION_ADOBE_DEFLATE) ok = TIFFSetField(tif, TIFFTAG_ZIPQUALITY, level);
    if (ok && s->compression == COMPRESSION_ZSTD) ok = TIFFSetField(tif, TIFFTAG_ZSTD_LEVEL, level);
    if (ok && s->compression == COMPRESSION_LZMA) ok = TIFFSetField(tif, TIFFTAG_LZMAPRESET, level);
    if (ok && s->tile_width)
        ok = TIFFSetField(tif, TIFFTAG_TILEWIDTH, s->tile_width) && TIFFSetField(tif, TIFFTAG_TILELENGTH, s->tile_height);
    if (ok && !s->tile_width) ok = TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, s->strip_rows);
    return ok;
}

static bool write_fields(struct tiff_sink *s) {
    if (!write_storage(s, s->tif, (uint32_t)s->base.info.height)) return false;
    return !s->base.options.metadata || tiff_write_metadata(s->tif, &s->client, s->base.options.metadata, s->big);
}

/* The mode of tiff_open(). */
static const char *mode_of(const struct tiff_sink *s) {
    bool big_endian = s->base.options.storage && s->base.options.storage->big_endian;
    return s->big ? big_endian ? "w8b" : "w8l" : big_endian ? "wb" : "wl";
}

/* --------------------------------------------------------------------------------------------------------- rows */

/* Pixels of one row into a tile or strip: all of each pixel, or the samples of one plane. */
static void take_part(const struct tiff_sink *s, const unsigned char *pixels, int64_t count, int plane, unsigned char *to) {
    if (!s->separate) {
        memcpy(to, pixels, (size_t)count * s->pixel_bytes);
        return;
    }
    pixels += (size_t)plane * s->part_bytes;
    for (int64_t x = 0; x < count; x++) memcpy(to + (size_t)x * s->part_bytes, pixels + (size_t)x * s->pixel_bytes, s->part_bytes);
}

/* All strips of a piece into a file whose first row is row `top` of the image. libtiff may change what it is given, so that it
 * gets a copy. */
static bool write_strips(const struct tiff_sink *s, TIFF *tif, const struct sink_piece *piece, int64_t top, unsigned char *chunk) {
    size_t part_row = (size_t)s->base.info.width * s->part_bytes;
    for (int first = 0; first < piece->count; first += (int)s->strip_rows) {
        int rows = piece->count - first < (int)s->strip_rows ? piece->count - first : (int)s->strip_rows;
        for (int p = 0; p < s->planes; p++) {
            for (int i = 0; i < rows; i++)
                take_part(s, piece->rows + (first + i) * piece->stride, s->base.info.width, p, chunk + (size_t)i * part_row);
            uint32_t index = TIFFComputeStrip(tif, (uint32_t)(piece->y + first - top), (uint16_t)p);
            if (TIFFWriteEncodedStrip(tif, index, chunk, (tmsize_t)(part_row * (size_t)rows)) < 0) return false;
        }
    }
    return true;
}

/* A piece as a file in memory. */
struct tiff_piece {
    struct tiff_file file;
    struct tiff_client client;
    TIFF *tif;
};

static void tiff_discard(struct sink *sink, struct sink_piece *piece) {
    (void)sink;
    struct tiff_piece *part = piece->encoded;
    piece->encoded = NULL;
    if (!part) return;
    part->file.in_memory = false; /* its directory is not wanted */
    if (part->tif) TIFFClose(part->tif);
    free(part->file.bytes);
    free(part);
}

static imgpipe_status tiff_encode(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    const struct tiff_sink *s = (struct tiff_sink *)sink;
    struct tiff_piece *part = piece->encoded = calloc(1, sizeof *part);
    unsigned char *chunk = malloc(s->chunk_bytes);
    imgpipe_status status = IMGPIPE_OK;
    if (part && chunk) {
        part->file.in_memory = true;
        part->client.file = &part->file;
        part->tif = tiff_open(&part->client, mode_of(s), 0);
        bool begun = part->tif && write_storage(s, part->tif, (uint32_t)piece->count);
        if (!begun || !write_strips(s, part->tif, piece, piece->y, chunk)) status = failed(s, &part->file, error);
    } else {
        status = failed(s, &(struct tiff_file){.no_memory = true}, error);
    }
    free(chunk);
    if (status) tiff_discard(sink, piece);
    return status;
}

/* The strips of an encoded piece, in the order in which they would have been written one by one. */
static imgpipe_status tiff_commit_encoded(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    struct tiff_sink *s = (struct tiff_sink *)sink;
    const struct tiff_piece *part = piece->encoded;
    imgpipe_status status = IMGPIPE_OK;
    tiff_forget(&s->file);
    for (int64_t first = 0; first < piece->count && !status; first += s->strip_rows)
        for (int p = 0; p < s->planes && !status; p++) {
            uint32_t from = TIFFComputeStrip(part->tif, (uint32_t)first, (uint16_t)p),
                     to = TIFFComputeStrip(s->tif, (uint32_t)(piece->y + first), (uint16_t)p);
            uint64_t at = TIFFGetStrileOffset(part->tif, from), size = TIFFGetStrileByteCount(part->tif, from);
            if (TIFFWriteRawStrip(s->tif, to, part->file.bytes + at, (tmsize_t)size) < 0) status = failure(s, error);
        }
    tiff_discard(sink, piece);
    return status;
}

/* What of a tile is outside the image is 0. */
static bool write_tiles(struct tiff_sink *s, int64_t y, int rows) {
    size_t tile_row = (size_t)s->tile_width * s->part_bytes;
    for (int p = 0; p < s->planes; p++) {
        for (int64_t x = 0; x < s->base.info.width; x += s->tile_width) {
            int64_t left = s->base.info.width - x, count = left < s->tile_width ? left : s->tile_width;
            memset(s->chunk, 0, s->chunk_bytes);
            for (int i = 0; i < rows; i++)
                take_part(s, s->band + (size_t)i * s->row_bytes + (size_t)x * s->pixel_bytes, count, p,
                          s->chunk + (size_t)i * tile_row);
            uint32_t index = TIFFComputeTile(s->tif, (uint32_t)x, (uint32_t)y, 0, (uint16_t)p);
            if (TIFFWriteEncodedTile(s->tif, index, s->chunk, (tmsize_t)s->chunk_bytes) < 0) return false;
        }
    }
    return true;
}

static imgpipe_status tiff_commit(struct sink *sink, struct sink_piece *piece, imgpipe_error *error) {
    struct tiff_sink *s = (struct tiff_sink *)sink;
    tiff_forget(&s->file);
    if (!s->tile_width && !write_strips(s, s->tif, piece, 0, s->chunk)) return failure(s, error);
    for (int i = 0; s->tile_width && i < piece->count; i++) {
        int64_t y = piece->y + i, row = y % s->tile_height;
        memcpy(s->band + (size_t)row * s->row_bytes, piece->rows + i * piece->stride, s->row_bytes);
        if (row + 1 < s->tile_height && y + 1 < sink->info.height) continue;
        if (!write_tiles(s, y - row, (int)row + 1)) return failure(s, error);
    }
    return IMGPIPE_OK;
}

static imgpipe_status tiff_finish(struct sink *sink, imgpipe_error *error) {
    struct tiff_sink *s = (struct tiff_sink *)sink;
    tiff_forget(&s->file);
    if (!TIFFWriteDirectory(s->tif) || s->file.write_failed) return failure(s, error);
    if (s->file.bytes && !outfile_write(s->base.out, s->file.bytes, s->file.size)) return outfile_fail(s->base.out, error);
    return IMGPIPE_OK;
}

/* libtiff would write a directory on closing, also of a file that was given up; without an outfile it cannot. */
static void tiff_close(struct sink *sink) {
    struct tiff_sink *s = (struct tiff_sink *)sink;
    s->file.out = NULL;
    if (s->tif) TIFFClose(s->tif);
    free(s->file.bytes);
    free(s->band);
    free(s->chunk);
    free(s);
}

static const struct sink_ops tiff_ops = {.name = "tiff", .commit = tiff_commit, .finish = tiff_finish, .close = tiff_close};
static const struct sink_ops tiff_strip_ops = {.name = "tiff",
                                               .encode = tiff_encode,
                                               .commit = tiff_commit_encoded,
                                               .discard = tiff_discard,
                                               .finish = tiff_finish,
                                               .close = tiff_close};

static imgpipe_status tiff_sink_open(struct outfile *out, const imgpipe_info *info, const struct sink_options *options,
                                     struct sink **sink, imgpipe_error *error) {
    *sink = NULL;
    struct tiff_sink *s = calloc(1, sizeof *s);
    if (!s) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot write '%s': not enough memory; free some", outfile_name(out));
    s->base = (struct sink){.ops = &tiff_ops, .info = *info, .out = out, .options = *options};
    s->file.out = out;
    s->client.file = &s->file;
    choose_layout(s);
    if (!s->tile_width && s->compression != COMPRESSION_NONE) s->base.ops = &tiff_strip_ops;
    s->chunk = malloc(s->chunk_bytes);
    if (s->tile_width) s->band = malloc(s->row_bytes * s->tile_height);
    if (s->chunk && (s->band || !s->tile_width)) s->tif = tiff_open(&s->client, mode_of(s), 0);
    if (!s->chunk || (s->tile_width && !s->band)) s->file.no_memory = true;
    imgpipe_status status = s->tif && write_fields(s) ? IMGPIPE_OK : failure(s, error);
    if (status) {
        tiff_close(&s->base);
        return status;
    }
    if (s->file.pending[0]) log_line(options->log, IMGPIPE_LOG_WARNING, "'%s': %s", outfile_name(out), s->file.pending);
    s->file.pending[0] = 0;
    *sink = &s->base;
    return IMGPIPE_OK;
}

/* Three channels are colours, never two and alpha. */
static imgpipe_format tiff_accept(imgpipe_format want) {
    want.alpha = want.alpha && want.channels != 3;
    return want;
}

static bool tiff_size_fits(int64_t width, int64_t height) {
    return width <= INT32_MAX && height <= INT32_MAX;
}

extern const struct encoder encoder_tiff;
const struct encoder encoder_tiff = {
    .info = {.name = "tiff",
             .extensions = "tif tiff",
             .about = "TIFF and BigTIFF, strips or tiles",
             .reads = true,
             .writes = true,
             .streams = true,
             .types = "u8 u16 f32"},
    .carries = METADATA_ICC | METADATA_EXIF | METADATA_XMP | METADATA_IPTC | METADATA_RESOLUTION | METADATA_TEXT | METADATA_TAGS,
    .accept = tiff_accept,
    .size_fits = tiff_size_fits,
    .open = tiff_sink_open,
};
