/* Inflating a sound stream of image data. See png_inflate.h. */
#ifndef PNG_SOUND_H
#define PNG_SOUND_H
#include "png_stream.h"

struct png_sound;

/* `isa`: of the kernels. NULL where the stream is not for this, and also where there is no memory. */
struct png_sound *png_sound_new(struct png_stream *stream, int isa);
/* Makes `size` bytes behind PNG_HISTORY that are those before them, as far as there are any. False: a doubt. */
bool png_sound_fill(struct png_sound *sound, unsigned char *to, size_t size);
/* The stream must end here. False: a doubt. */
bool png_sound_end(struct png_sound *sound);
void png_sound_free(struct png_sound *sound);
#endif
