/* The bytes of a JPEG file up to its end, where zeros at the end are no part of it. */
#ifndef JPEG_TAIL_H
#define JPEG_TAIL_H
#include "input.h"

/* A download that broke off, in a file that had its full size from the beginning, ends in zeros, and libjpeg decodes them: into
 * pixels that nobody made. So many zeros or more at the end of the input are left out. In Huffman codes they practically never
 * come: with the tables of the standard 128 bits of zeros are more than forty luma coefficients of -1 in a row. Only a flat area
 * with tables made for it has them; and what follows it are end marker or padding, which are ones, so that nothing is left out
 * unless the end is missing, too. */
#define JPEG_TAIL_ZEROS 16

struct jpeg_tail {
    uint64_t zeros;        /* behind what was handed out; they are held back until something follows */
    size_t size, trailing; /* bytes that go behind those zeros, and the zeros behind them */
    unsigned char bytes[65536];
};

/* The next bytes, valid until the next call, at most as many as `bytes` has; 0 at the end or after an error. */
size_t jpeg_tail_read(struct jpeg_tail *tail, struct input *input, const unsigned char **bytes);
#endif
