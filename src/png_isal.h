/* Inflating a sound stream of image data by ISA-L. See png_inflate.h. */
#ifndef PNG_ISAL_H
#define PNG_ISAL_H
#include "png_stream.h"

struct png_isal;

/* NULL where ISA-L cannot take this stream, and also where there is no memory. */
struct png_isal *png_isal_new(struct png_stream *stream);
/* Makes `size` bytes behind PNG_HISTORY that are those before them, as far as there are any. False: a doubt. */
bool png_isal_fill(struct png_isal *isal, unsigned char *to, size_t size);
/* The stream must end here. False: a doubt. */
bool png_isal_end(struct png_isal *isal);
void png_isal_free(struct png_isal *isal);
#endif
