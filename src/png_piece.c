#include "png_piece.h"
#include "png_compress.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef IMGPIPE_WITH_ISAL
#include <isa-l.h>
#endif

/* Before a fragment: the chunk's length and kind, and the stream's header in the first piece. Behind it: the checksum of the
 * stream after the last piece, and that of the chunk. */
enum { KIND = 4, CHUNK_HEAD = 8, STREAM_HEAD = PNG_FRAGMENT_HEAD - CHUNK_HEAD };

struct scratch {
    struct png_compressor *compressor;
    struct scratch *next;
};

struct png_encoder {
    struct png_rows format;
    int64_t height;
    int level, isa, piece_rows;
    pthread_mutex_t lock;
    struct scratch *scratch; /* free ones: as many as threads have encoded at once */
    struct png_part *parts;  /* free ones: as many as pieces have waited for their turn */
};

int png_piece_rows(const imgpipe_info *info, int level) {
    /* What is coded for size alone gains from long pieces: fewer beginnings without a row above and without strings. */
    size_t row_bytes = (size_t)info->width * imgpipe_pixel_size(info->format), most = (size_t)(level < 7 ? 1 : 4) << 20;
    int rows = 8;
    while (rows > 1 && (size_t)rows * row_bytes > 64 * most) rows /= 2;
    while (rows < info->height && (size_t)rows * 2 * row_bytes <= most) rows *= 2;
    return rows < info->height ? rows : (int)info->height;
}

struct png_encoder *png_encoder_new(const imgpipe_info *info, int level, int isa, int piece_rows) {
    struct png_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    size_t pixel = imgpipe_pixel_size(info->format);
    encoder->format = (struct png_rows){KERNEL_PICK(png_filter, isa), (size_t)info->width * pixel, pixel, info->format.type == IMGPIPE_U16};
    encoder->height = info->height;
    encoder->level = level < 0 ? 0 : level > 9 ? 9 : level;
    encoder->isa = isa;
    encoder->piece_rows = piece_rows;
    pthread_mutex_init(&encoder->lock, NULL);
    return encoder;
}

uint64_t png_encoder_held(const struct png_encoder *encoder) {
    return png_compressor_size(&encoder->format, encoder->piece_rows, encoder->level) +
           2 * png_fragment_room(&encoder->format, encoder->piece_rows);
}

static void part_free(struct png_part *part) {
    if (part) free(part->buffer);
    free(part);
}

void png_encoder_free(struct png_encoder *encoder) {
    if (!encoder) return;
    for (struct png_part *part = encoder->parts, *next; part; part = next) {
        next = part->next;
        part_free(part);
    }
    for (struct scratch *scratch = encoder->scratch, *next; scratch; scratch = next) {
        next = scratch->next;
        png_compressor_free(scratch->compressor);
        free(scratch);
    }
    pthread_mutex_destroy(&encoder->lock);
    free(encoder);
}

/* ----------------------------------------------------------------------------------------------------- free lists */

static struct scratch *scratch_take(struct png_encoder *encoder) {
    pthread_mutex_lock(&encoder->lock);
    struct scratch *scratch = encoder->scratch;
    if (scratch) encoder->scratch = scratch->next;
    pthread_mutex_unlock(&encoder->lock);
    if (scratch) return scratch;
    scratch = calloc(1, sizeof *scratch);
    if (scratch) scratch->compressor = png_compressor_new(&encoder->format, encoder->piece_rows, encoder->level, encoder->isa);
    if (scratch && scratch->compressor) return scratch;
    free(scratch);
    return NULL;
}

static void scratch_give(struct png_encoder *encoder, struct scratch *scratch) {
    pthread_mutex_lock(&encoder->lock);
    scratch->next = encoder->scratch;
    encoder->scratch = scratch;
    pthread_mutex_unlock(&encoder->lock);
}

static struct png_part *part_take(struct png_encoder *encoder) {
    pthread_mutex_lock(&encoder->lock);
    struct png_part *part = encoder->parts;
    if (part) encoder->parts = part->next;
    pthread_mutex_unlock(&encoder->lock);
    if (part) return part;
    part = calloc(1, sizeof *part);
    if (part) part->buffer = malloc(png_fragment_room(&encoder->format, encoder->piece_rows));
    if (part && part->buffer) return part;
    part_free(part);
    return NULL;
}

void png_part_give(struct png_encoder *encoder, struct png_part *part) {
    pthread_mutex_lock(&encoder->lock);
    part->next = encoder->parts;
    encoder->parts = part;
    pthread_mutex_unlock(&encoder->lock);
}

/* ------------------------------------------------------------------------------------------------------- encoding */

static uint32_t crc_of(uint32_t crc, const unsigned char *bytes, size_t n) {
#ifdef IMGPIPE_WITH_ISAL
    return crc32_gzip_refl(crc, bytes, n);
#else
    return (uint32_t)crc32_z(crc, bytes, n);
#endif
}

static void put32(unsigned char *to, uint32_t value) {
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

struct png_part *png_encode(struct png_encoder *encoder, int64_t y, const unsigned char *rows, ptrdiff_t stride, int count) {
    struct png_part *part = part_take(encoder);
    struct scratch *scratch = part ? scratch_take(encoder) : NULL;
    if (!scratch) {
        if (part) png_part_give(encoder, part);
        return NULL;
    }
    bool first = y == 0;
    part->last = y + count == encoder->height;
    part->filtered = png_rows_size(&encoder->format, count);
    size_t size = png_compress(scratch->compressor, rows, stride, count, part->last, &part->buffer, &part->adler);
    scratch_give(encoder, scratch);
    part->chunk = part->buffer + (first ? 0 : STREAM_HEAD);
    part->size = CHUNK_HEAD + (first ? STREAM_HEAD : 0) + size;
    memcpy(part->chunk + KIND, "IDAT", 4);
    if (first) { /* deflate with a window of 32 KiB; how hard was tried; a multiple of 31 */
        static const unsigned char levels[10] = {0x01, 0x01, 0x5e, 0x5e, 0x9c, 0x9c, 0x9c, 0xda, 0xda, 0xda};
        part->chunk[CHUNK_HEAD] = 0x78;
        part->chunk[CHUNK_HEAD + 1] = levels[encoder->level];
    }
    part->crc = crc_of(0, part->chunk + KIND, part->size - KIND);
    return part;
}

void png_part_seal(struct png_part *part, uint32_t adler) {
    if (part->last) {
        put32(part->chunk + part->size, adler);
        part->crc = crc_of(part->crc, part->chunk + part->size, 4);
        part->size += 4;
    }
    put32(part->chunk, (uint32_t)(part->size - CHUNK_HEAD));
    put32(part->chunk + part->size, part->crc);
    part->size += 4;
}
