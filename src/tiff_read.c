/* Samples from a TIFF file, some rows at a time and in order, so that memory is bounded whatever its tiles and strips are. */
#include "tiff_source.h"
#include "status.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Strips of up to this are decoded at once, which is faster than row by row. */
#define STRIP_BYTES ((size_t)8 << 20)
#define ROWS_BYTES ((size_t)1 << 20)

/* ------------------------------------------------------------------------------------------------- how to read */

/* Codecs of libtiff that cannot stop in the middle of a strip. */
static bool is_whole_codec(uint16_t compression) {
    return compression == COMPRESSION_LERC || compression == COMPRESSION_WEBP;
}

static bool fits(const struct tiff_source *s, uint64_t bytes) {
    uint64_t most = s->base.options.memory ? s->base.options.memory : (uint64_t)PTRDIFF_MAX / 4;
    return bytes <= most;
}

static int rows_of(size_t bytes, size_t row_bytes, int64_t most) {
    int64_t rows = (int64_t)(bytes / row_bytes);
    rows = rows < 1 ? 1 : rows;
    return (int)(rows < most ? rows : most);
}

/* What libtiff takes for the compressed bytes of a tile or strip: it reads all of them at once. */
static uint64_t raw_bytes(const struct tiff_source *s, uint64_t size) {
    if (s->band_kind == TIFF_BAND_DIRECT) return 0;
    size = size < s->file.size ? size : s->file.size;
    return s->band_kind == TIFF_BAND_ROWS ? size * (uint64_t)s->planes : size;
}

static imgpipe_status raw_over_budget(struct tiff_source *s, uint32_t index, uint64_t bytes, imgpipe_error *error) {
    char need[32], have[32];
    return error_set(error, IMGPIPE_ERROR_MEMORY,
                     "cannot read '%s': the compressed bytes of %s %" PRIu32
                     " are read at once, and need %s, over the memory budget of "
                     "%s; raise --memory",
                     input_name(s->base.input), s->tiled ? "tile" : "strip", index, text_bytes(bytes, need),
                     text_bytes(s->base.options.memory, have));
}

static imgpipe_status over_budget(struct tiff_source *s, uint64_t bytes, imgpipe_error *error) {
    char need[32], have[32];
    return error_set(error, IMGPIPE_ERROR_MEMORY,
                     "cannot read '%s': a row of its %s needs %s, over the memory budget of %s; raise --memory",
                     input_name(s->base.input), s->tiled ? "tiles" : "strips", text_bytes(bytes, need),
                     text_bytes(s->base.options.memory, have));
}

/* Whether it must be known what the file lacks: a colour that is computed from a sample of 0 may be any. */
static bool is_marked(const struct tiff_source *s) {
    return s->base.options.allow_truncated && (s->palette || s->inverted || s->cmyk);
}

/* Chooses the kind of band; a damaged strip can be read in part only where it is decoded at once. */
static void choose_band(struct tiff_source *s) {
    int64_t height = s->base.info.height, strip = s->chunk_height < height ? s->chunk_height : height;
    size_t all_planes = s->row_bytes * (size_t)s->planes;
    uint64_t strip_bytes = (uint64_t)all_planes * (uint64_t)strip;
    bool at_once = strip_bytes <= STRIP_BYTES || is_whole_codec(s->compression) || s->base.options.allow_truncated;
    if (s->tiled) {
        s->band_kind = TIFF_BAND_TILES;
        s->band_capacity = (int)strip;
    } else if (s->compression == COMPRESSION_NONE) {
        s->band_kind = TIFF_BAND_DIRECT;
        s->band_capacity = rows_of(ROWS_BYTES, all_planes, strip);
    } else if (at_once && (fits(s, is_marked(s) ? strip_bytes * 2 : strip_bytes) || is_whole_codec(s->compression))) {
        s->band_kind = TIFF_BAND_STRIP;
        s->band_capacity = (int)strip;
    } else {
        s->band_kind = TIFF_BAND_ROWS;
        s->band_capacity = rows_of(ROWS_BYTES, all_planes, strip);
    }
}

/* libtiff must count as we do: it writes into our memory. */
static bool sizes_agree(struct tiff_source *s) {
    TIFF *tif = s->tifs[0];
    if (s->tiled) return (uint64_t)TIFFTileSize(tif) == s->chunk_bytes && (uint64_t)TIFFTileRowSize(tif) == s->chunk_row_bytes;
    return (uint64_t)TIFFScanlineSize(tif) == s->row_bytes;
}

imgpipe_status tiff_band_open(struct tiff_source *s, imgpipe_error *error) {
    uint64_t per_plane = s->separate ? 1 : s->samples, row, tile_row, tile, all;
    s->planes = s->separate ? s->samples : 1;
    row = ((uint64_t)s->base.info.width * per_plane * s->bits + 7) / 8;
    tile_row = s->tiled ? (s->chunk_width * per_plane * s->bits + 7) / 8 : 0;
    if (s->tiled && s->chunk_width * per_plane * s->bits % 8 != 0 && s->chunk_width < s->base.info.width)
        return tiff_refuse(s, error, "tiles %" PRIu32 " pixels wide, which do not fill bytes, are not supported", s->chunk_width);
    if (__builtin_mul_overflow(tile_row, (uint64_t)s->chunk_height, &tile)) return over_budget(s, UINT64_MAX, error);
    s->row_bytes = row;
    s->chunk_row_bytes = tile_row;
    s->chunk_bytes = tile;
    choose_band(s);
    s->plane_bytes = row * (size_t)s->band_capacity;
    bool marked = is_marked(s);
    uint64_t bands = (uint64_t)s->planes * (marked ? 2 : 1);
    if (__builtin_mul_overflow(s->plane_bytes, bands, &all) || __builtin_add_overflow(all, tile, &all) || !fits(s, all))
        return over_budget(s, all, error);
    if (!sizes_agree(s))
        return tiff_refuse(s, error, "this TIFF file is broken: its layout contradicts itself; get an undamaged copy");
    int failed = 0;
    uint64_t raw = TIFFGetStrileByteCountWithErr(s->tifs[0], 0, &failed);
    s->memory = all;
    s->base.held = all + raw_bytes(s, raw);
    if (!fits(s, s->base.held)) return raw_over_budget(s, 0, s->base.held, error);
    size_t ink = s->cmyk && s->separate ? row * 4 : 0;
    s->band = calloc((size_t)s->planes, s->plane_bytes);
    s->chunk = calloc(1, tile > ink ? tile : ink + 1);
    if (marked) s->absent = calloc((size_t)s->planes, s->plane_bytes);
    if (!s->band || !s->chunk || (marked && !s->absent)) return tiff_no_memory(s, error);
    for (int p = 1; p < s->planes && s->band_kind == TIFF_BAND_ROWS; p++) {
        imgpipe_status status = tiff_open_page(s, p, error);
        if (status) return status;
    }
    return IMGPIPE_OK;
}

/* ---------------------------------------------------------------------------------------- one tile or one strip */

enum chunk_state { CHUNK_THERE, CHUNK_SPARSE, CHUNK_CUT, CHUNK_REFUSED };

/* Where the tile or strip is, and whether all of it is in the file. What has neither place nor size was never written, which
 * is how sparse files leave out what is 0. */
static enum chunk_state find_chunk(struct tiff_source *s, uint32_t index, uint64_t *at, uint64_t *size, imgpipe_error *error) {
    int failed = 0;
    *at = TIFFGetStrileOffsetWithErr(s->tifs[0], index, &failed);
    *size = failed ? 0 : TIFFGetStrileByteCountWithErr(s->tifs[0], index, &failed);
    const char *what = s->tiled ? "tile" : "strip";
    if (failed) {
        tiff_failure(s, error);
        return CHUNK_REFUSED;
    }
    if (*at == 0 && *size == 0) {
        if (!s->told_sparse)
            log_line(s->base.options.log, IMGPIPE_LOG_NOTICE, "'%s': a sparse file: %ss that were left out are 0",
                     input_name(s->base.input), what);
        s->told_sparse = true;
        return CHUNK_SPARSE;
    }
    uint64_t all = s->memory + raw_bytes(s, *size);
    if (!fits(s, all)) {
        raw_over_budget(s, index, all, error);
        return CHUNK_REFUSED;
    }
    if (*at <= s->file.size && *size <= s->file.size - *at) return CHUNK_THERE;
    if (!s->base.options.allow_truncated) {
        tiff_refuse(s, error,
                    "this TIFF file is truncated: %s %" PRIu32 " is not all in its %" PRIu64 " bytes; get a complete copy", what,
                    index, s->file.size);
        return CHUNK_REFUSED;
    }
    if (!s->told_truncated)
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING, "'%s': truncated; what is missing from %s %" PRIu32 " on is 0",
                 input_name(s->base.input), what, index);
    s->told_truncated = true;
    return CHUNK_CUT;
}

/* The rows of a chunk that what is left of it gives: the greatest number that can be decoded, since decoders say only whether
 * all is there. `to` is zero beyond them. */
static imgpipe_status decode_part(struct tiff_source *s, uint32_t index, uint64_t at, unsigned char *to, size_t bytes,
                                  size_t row_bytes, imgpipe_error *error) {
    uint64_t have = at < s->file.size ? s->file.size - at : 0;
    size_t low = 0, high = bytes / row_bytes;
    if (have > 0 && fits(s, have)) {
        unsigned char *raw = malloc(have);
        if (!raw) return tiff_no_memory(s, error);
        if (!tiff_read_at(&s->file, at, raw, have)) high = 0;
        while (low < high) {
            size_t rows = (low + high + 1) / 2;
            bool whole = TIFFReadFromUserBuffer(s->tifs[0], index, raw, (tmsize_t)have, to, (tmsize_t)(rows * row_bytes));
            low = whole ? rows : low;
            high = whole ? high : rows - 1;
        }
        if (low > 0) TIFFReadFromUserBuffer(s->tifs[0], index, raw, (tmsize_t)have, to, (tmsize_t)(low * row_bytes));
        free(raw);
    }
    memset(to + low * row_bytes, 0, bytes - low * row_bytes);
    s->chunk_there = low * row_bytes;
    return IMGPIPE_OK;
}

static imgpipe_status read_chunk(struct tiff_source *s, uint32_t index, unsigned char *to, size_t bytes, size_t row_bytes,
                                 imgpipe_error *error) {
    uint64_t at, size;
    s->chunk_there = bytes;
    switch (find_chunk(s, index, &at, &size, error)) {
    case CHUNK_REFUSED: return error ? error->status : IMGPIPE_ERROR_INPUT;
    case CHUNK_SPARSE: memset(to, 0, bytes); return IMGPIPE_OK;
    case CHUNK_CUT: return decode_part(s, index, at, to, bytes, row_bytes, error);
    default: break;
    }
    tiff_forget(&s->file);
    tmsize_t got = s->tiled ? TIFFReadEncodedTile(s->tifs[0], index, to, (tmsize_t)bytes)
                            : TIFFReadEncodedStrip(s->tifs[0], index, to, (tmsize_t)bytes);
    return got == (tmsize_t)bytes ? IMGPIPE_OK : tiff_failure(s, error);
}

/* ------------------------------------------------------------------------------------------------------- bands */

static unsigned char *band_row(const struct tiff_source *s, int plane, int row) {
    return s->band + (size_t)plane * s->plane_bytes + (size_t)row * s->row_bytes;
}

/* Notes for `count` bytes of a row from `at` on whether the file lacks them. */
static void mark(struct tiff_source *s, int plane, int row, size_t at, size_t count, bool absent) {
    if (s->absent) memset(s->absent + (size_t)plane * s->plane_bytes + (size_t)row * s->row_bytes + at, absent, count);
}

static imgpipe_status fill_tiles(struct tiff_source *s, imgpipe_error *error) {
    uint32_t y = (uint32_t)s->band_y;
    for (int p = 0; p < s->planes; p++) {
        for (size_t x = 0, at = 0; at < s->row_bytes; x += s->chunk_width, at += s->chunk_row_bytes) {
            uint32_t index = TIFFComputeTile(s->tifs[0], (uint32_t)x, y, 0, (uint16_t)p);
            imgpipe_status status = read_chunk(s, index, s->chunk, s->chunk_bytes, s->chunk_row_bytes, error);
            if (status) return status;
            size_t count = s->row_bytes - at < s->chunk_row_bytes ? s->row_bytes - at : s->chunk_row_bytes;
            for (int i = 0; i < s->band_rows; i++) {
                memcpy(band_row(s, p, i) + at, s->chunk + (size_t)i * s->chunk_row_bytes, count);
                mark(s, p, i, at, count, (size_t)i * s->chunk_row_bytes >= s->chunk_there);
            }
        }
    }
    return IMGPIPE_OK;
}

static uint32_t strip_of(const struct tiff_source *s, int64_t y, int plane) {
    return TIFFComputeStrip(s->tifs[0], (uint32_t)y, (uint16_t)plane);
}

static imgpipe_status fill_strip(struct tiff_source *s, imgpipe_error *error) {
    imgpipe_status status = IMGPIPE_OK;
    for (int p = 0; p < s->planes && !status; p++) {
        status =
            read_chunk(s, strip_of(s, s->band_y, p), band_row(s, p, 0), s->row_bytes * (size_t)s->band_rows, s->row_bytes, error);
        for (int i = 0; i < s->band_rows; i++) mark(s, p, i, 0, s->row_bytes, (size_t)i * s->row_bytes >= s->chunk_there);
    }
    return status;
}

static imgpipe_status fill_rows(struct tiff_source *s, imgpipe_error *error) {
    for (int p = 0; p < s->planes; p++) {
        uint64_t at, size;
        enum chunk_state state = find_chunk(s, strip_of(s, s->band_y, p), &at, &size, error);
        if (state == CHUNK_REFUSED) return error ? error->status : IMGPIPE_ERROR_INPUT;
        for (int i = 0; i < s->band_rows; i++) mark(s, p, i, 0, s->row_bytes, state == CHUNK_CUT);
        if (state != CHUNK_THERE) {
            memset(band_row(s, p, 0), 0, s->row_bytes * (size_t)s->band_rows);
            continue;
        }
        tiff_forget(&s->file);
        for (int i = 0; i < s->band_rows; i++)
            if (TIFFReadScanline(s->tifs[p], band_row(s, p, i), (uint32_t)(s->band_y + i), (uint16_t)p) != 1)
                return tiff_failure(s, error);
    }
    return IMGPIPE_OK;
}

static void order_bytes(struct tiff_source *s, unsigned char *bytes, size_t size) {
    if (s->fill_order == FILLORDER_LSB2MSB) TIFFReverseBits(bytes, (tmsize_t)size);
    if (!TIFFIsByteSwapped(s->tifs[0])) return;
    if (s->bits == 16) TIFFSwabArrayOfShort((uint16_t *)bytes, (tmsize_t)(size / 2));
    if (s->bits == 32) TIFFSwabArrayOfLong((uint32_t *)bytes, (tmsize_t)(size / 4));
}

/* Nothing has to be decoded, so that any rows can be taken from a strip of any size. */
static imgpipe_status fill_direct(struct tiff_source *s, imgpipe_error *error) {
    int64_t start = s->band_y / s->chunk_height * s->chunk_height, height = s->base.info.height;
    uint64_t strip_rows = (uint64_t)(height - start < s->chunk_height ? height - start : s->chunk_height);
    for (int p = 0; p < s->planes; p++) {
        uint64_t at, size, skip = (uint64_t)(s->band_y - start) * s->row_bytes, want = s->row_bytes * (uint64_t)s->band_rows;
        enum chunk_state state = find_chunk(s, strip_of(s, s->band_y, p), &at, &size, error);
        if (state == CHUNK_REFUSED) return error ? error->status : IMGPIPE_ERROR_INPUT;
        if (state != CHUNK_SPARSE && size < strip_rows * s->row_bytes)
            return tiff_refuse(s, error,
                               "this TIFF file is broken: strip %" PRIu32 " is too short for its rows; get an undamaged copy",
                               strip_of(s, s->band_y, p));
        if (state == CHUNK_SPARSE || __builtin_add_overflow(at, skip, &at)) at = s->file.size;
        uint64_t left = at < s->file.size ? s->file.size - at : 0, have = left < want ? left : want;
        unsigned char *to = band_row(s, p, 0);
        if (have > 0 && !tiff_read_at(&s->file, at, to, have)) return tiff_failure(s, error);
        memset(to + have, 0, want - have);
        mark(s, p, 0, 0, have, false);
        mark(s, p, 0, have, want - have, state == CHUNK_CUT);
        order_bytes(s, to, want);
    }
    return IMGPIPE_OK;
}

imgpipe_status tiff_band_fill(struct tiff_source *s, int64_t y, imgpipe_error *error) {
    if (y >= s->band_y && y < s->band_y + s->band_rows) return IMGPIPE_OK;
    int64_t strip_end = (y / s->chunk_height + 1) * (int64_t)s->chunk_height;
    int64_t end = strip_end < s->base.info.height ? strip_end : s->base.info.height;
    s->band_y = y;
    s->band_rows = (int)(end - y < s->band_capacity ? end - y : s->band_capacity);
    imgpipe_status status;
    switch (s->band_kind) {
    case TIFF_BAND_TILES: status = fill_tiles(s, error); break;
    case TIFF_BAND_STRIP: status = fill_strip(s, error); break;
    case TIFF_BAND_ROWS: status = fill_rows(s, error); break;
    default: status = fill_direct(s, error); break;
    }
    if (status) s->band_rows = 0;
    return status;
}
