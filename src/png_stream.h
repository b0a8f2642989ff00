/* The compressed bytes of a PNG's image, out of its IDAT chunks, and the chunks behind them. */
#ifndef PNG_STREAM_H
#define PNG_STREAM_H
#include "input.h"

struct png_stream {
    struct input *input;
    uint32_t left, crc;         /* of the data of the IDAT that is being read: bytes to come, CRC of its kind and what came */
    bool open;                  /* its CRC has not been read */
    bool next;                  /* the header of the chunk behind the last IDAT has been read */
    unsigned char header[8];    /* that */
    const char *trouble;        /* why nothing more can be read, or NULL */
    bool ended_early;           /* because the file has */
    char text[40];              /* room for a trouble that names a chunk */
};

/* The input stands behind the header of the first IDAT, which has `length` bytes of data. */
void png_stream_begin(struct png_stream *stream, struct input *input, uint32_t length);
/* Up to `size` bytes of one IDAT; where the last one has no more, of the next one that has any. 0: trouble. */
size_t png_stream_part(struct png_stream *stream, unsigned char *to, size_t size);
/* Skips what the IDAT has left and checks its CRC; false: trouble. */
bool png_stream_close(struct png_stream *stream);

struct png_meta;
/* Reads the chunks from there to IEND. False: they are damaged, with trouble set. What does no harm is added to `warnings`. */
bool png_stream_tail(struct png_stream *stream, struct png_meta *meta, char *warnings, size_t size);
#endif
