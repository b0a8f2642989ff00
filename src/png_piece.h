/* Encoding one piece of a PNG: rows become a fragment of the file's one zlib stream that begins and ends at a byte, so that
 * fragments made side by side are written one behind the other. Thread-safe. */
#ifndef PNG_PIECE_H
#define PNG_PIECE_H
#include "imgpipe.h"
#include <stddef.h>

struct png_encoder;

struct png_part {
    unsigned char *buffer;  /* owned */
    unsigned char *chunk;   /* in it: length, kind, data, and after png_part_seal() the checksum */
    size_t size;            /* of the chunk so far */
    size_t filtered;        /* bytes before compression */
    uint32_t adler, crc;    /* of those; of the chunk's kind and data */
    bool last;
    struct png_part *next;  /* in the encoder's list of free ones */
};

/* `info`: u8 or u16, 1 to 4 channels. NULL when there is no memory. */
struct png_encoder *png_encoder_new(const imgpipe_info *info, int level, int isa, int piece_rows);
/* About what it takes for each thread that encodes: what the thread works with, a part under way, one that waits for its turn. */
uint64_t png_encoder_held(const struct png_encoder *encoder);
/* Every part must have been given back. NULL is allowed. */
void png_encoder_free(struct png_encoder *encoder);
/* `level` 0 … 9: how high a piece is best, from the image alone. */
int png_piece_rows(const imgpipe_info *info, int level);

/* Row i is at rows + i * stride. NULL when there is no memory. */
struct png_part *png_encode(struct png_encoder *encoder, int64_t y, const unsigned char *rows, ptrdiff_t stride, int count);
/* Completes the chunk: the stream's checksum `adler` (of all pieces together) in the last one, the length and the chunk's checksum. Data
 * of more than INT32_MAX bytes does not fit into one chunk; the caller cuts it. */
void png_part_seal(struct png_part *part, uint32_t adler);
void png_part_give(struct png_encoder *encoder, struct png_part *part);
#endif
