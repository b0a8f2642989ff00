/* Inflating the image data of a PNG, row by row or many rows at once.
 *
 * What is right or wrong about a file is what libpng finds, also where that depends on how it hands the data to zlib: in parts of
 * 64 KiB that never cross a chunk, for one row at a time, and with a look at what follows the last row. With zlib the same is done
 * here. Our own decoder (png_sound.h) is faster and sees other things at other times, so it is used for a sound file only: whatever
 * else it meets is called a doubt, and the caller has the file read again from the begin of the image data by libpng. */
#ifndef PNG_INFLATE_H
#define PNG_INFLATE_H
#include "png_stream.h"

#include <zlib.h>

/* As far back as a distance may go. */
#define PNG_HISTORY ((size_t)32768)

struct png_sound;

struct png_inflate {
    struct png_stream stream;
    unsigned char *in;          /* compressed bytes */
    struct png_sound *sound;    /* NULL: zlib */
    z_stream zlib;
    bool ended;                 /* the compressed stream has */
    bool doubt;
    bool bad_checksum;          /* of the inflated bytes */
    bool no_memory;
    char reason[100];           /* of a failure */
    char warnings[200];
};

/* The input stands behind the header of the first IDAT, of `length` bytes. `again`: a doubt can be settled. `isa`: of
 * the kernels. False without memory. */
bool png_inflate_begin(struct png_inflate *inflate, struct input *input, uint32_t length, bool again, int isa);
/* Makes `count` rows of `size` bytes one behind the other; returns how many are complete. Fewer: a failure or a doubt. In front of
 * `to` lie the last PNG_HISTORY of the bytes before, as far as there are any. */
int png_inflate_rows(struct png_inflate *inflate, unsigned char *to, size_t size, int count);
/* After the last row. False: a failure or a doubt. */
bool png_inflate_end(struct png_inflate *inflate);
void png_inflate_free(struct png_inflate *inflate);
#endif
