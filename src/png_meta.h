/* The chunks of a PNG that are carried beside the pixels: iCCP, sRGB, gAMA, cHRM, pHYs, tEXt, zTXt, iTXt, eXIf. */
#ifndef PNG_META_H
#define PNG_META_H
#include "metadata.h"

/* Collects chunks from the bytes of a file as they pass by on their way to libpng, which skips them: so nothing of libpng's
 * limits, of its profile checks or of its handling of colour touches what is carried. A chunk with a wrong CRC is not taken
 * (libpng has a warning for it). */
struct png_meta {
    struct metadata *metadata;
    char *notes;            /* what was left out and why, separated by commas, for a warning; what does not fit is cut */
    size_t notes_size;
    char kind[5];           /* of the chunk that passes by */
    bool wanted;            /* it is being collected */
    bool closed;            /* nothing more is taken */
    bool missed;            /* something came after that, the first of this kind */
    char missed_kind[5];
    bool no_memory;
    unsigned char *bytes;   /* its data so far */
    size_t size, length;
    size_t total;           /* bytes kept of all chunks */
    int texts;
};

/* The eight bytes before a chunk's data; returns whether its data and CRC are wanted. */
bool png_meta_begin(struct png_meta *meta, const unsigned char header[8]);
void png_meta_data(struct png_meta *meta, const unsigned char *bytes, size_t size);
void png_meta_end(struct png_meta *meta, const unsigned char crc[4]);
void png_meta_free(struct png_meta *meta);

/* A chunk ready to be written. */
struct png_chunk {
    unsigned char kind[5];
    unsigned char *bytes;   /* owned */
    size_t size;
    struct png_chunk *next;
};

/* Everything of `metadata` (may be NULL) as a list in the order of writing; false when there is no memory. */
bool png_chunks_make(const struct metadata *metadata, struct png_chunk **chunks);
void png_chunks_free(struct png_chunk *chunks);
#endif
