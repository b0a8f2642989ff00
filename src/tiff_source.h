/* The parts of the TIFF reader: pages (tiff_pages.c), header (source_tiff.c, tiff_check.c), samples from the file (tiff_read.c), their
 * conversion into the format of the image (tiff_convert.c), and what stands beside the pixels (tiff_meta.c). */
#ifndef TIFF_SOURCE_H
#define TIFF_SOURCE_H
#include "source.h"
#include "tiff_common.h"
#include "tiff_ifd.h"

/* How samples are taken from the file, some rows at a time. */
enum tiff_band {
    TIFF_BAND_TILES, /* a row of tiles */
    TIFF_BAND_STRIP, /* a strip at once */
    TIFF_BAND_ROWS,  /* some rows of a strip that is too large for that */
    TIFF_BAND_DIRECT /* some rows of a strip that is not compressed, without libtiff */
};

struct tiff_source {
    struct source base;
    struct tiff_file file;
    struct tiff_client clients[4];
    TIFF *tifs[4];      /* the first is always there; the others for planes that are read row by row in turn */
    uint64_t directory; /* the place of the page's directory */
    /* the file's own layout */
    uint16_t bits, samples, sample_format, photometric, compression;
    uint16_t fill_order;
    bool separate, tiled;
    uint32_t chunk_width, chunk_height; /* of a tile, or of a strip */
    int planes;                         /* 1, or as many as samples */
    /* what becomes of it */
    bool inverted;   /* 0 is white */
    bool associated; /* colours have to be divided by alpha */
    bool cmyk;
    bool palette;
    unsigned char colors[256][3];
    /* rows in memory, as the file has them but for the byte order */
    enum tiff_band band_kind;
    unsigned char *band, *chunk; /* chunk: one tile */
    /* Laid out as the band: 1 for bytes that the truncated file lacks. NULL where their 0 is a pixel of 0 anyway. */
    unsigned char *absent;
    size_t chunk_there; /* bytes of the chunk read last that the file has */
    size_t row_bytes;            /* of a plane */
    size_t plane_bytes;          /* of a plane of the band */
    size_t chunk_bytes, chunk_row_bytes;
    uint64_t memory; /* of band and chunk */
    int64_t band_y;
    int band_rows, band_capacity;
    bool told_sparse, told_truncated;
};

imgpipe_status IMGPIPE_PRINTF(3, 4) tiff_refuse(struct tiff_source *s, imgpipe_error *error, const char *format, ...);
/* After a call into libtiff that failed: why. */
imgpipe_status tiff_failure(struct tiff_source *s, imgpipe_error *error);
imgpipe_status tiff_no_memory(struct tiff_source *s, imgpipe_error *error);
/* Opens the page once more, as s->tifs[index]. */
imgpipe_status tiff_open_page(struct tiff_source *s, int index, imgpipe_error *error);

/* tiff_pages.c: chooses the page and refuses camera raw files. *at gets the place of its directory, *pages how many there are. */
imgpipe_status tiff_choose_page(struct tiff_source *s, const struct ifd_reader *reader, uint64_t first, uint64_t *at,
                                uint64_t *pages, imgpipe_error *error);

/* tiff_check.c: refuses the page, the layout of which is known, if libtiff left out or changed a tag that decides its pixels. */
imgpipe_status tiff_check_tags(struct tiff_source *s, const struct ifd_reader *reader, imgpipe_error *error);

/* tiff_read.c: decides how to read, takes the memory for it, and refuses what does not fit the budget. */
imgpipe_status tiff_band_open(struct tiff_source *s, imgpipe_error *error);
/* Has row `y`, which follows the last or is in memory, in the band. */
imgpipe_status tiff_band_fill(struct tiff_source *s, int64_t y, imgpipe_error *error);

/* tiff_convert.c: row `row` of the band as pixels of the image. */
void tiff_convert_row(struct tiff_source *s, int row, void *out);

/* tiff_meta.c: fills base.metadata from the directory at `at`. `alone`: it is the only page. */
void tiff_read_metadata(struct tiff_source *s, const struct ifd_reader *reader, uint64_t at, bool alone);
#endif
