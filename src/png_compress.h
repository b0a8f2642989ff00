/* One piece of filtered rows as a fragment of a deflate stream: what the levels mean, and the choice among coders. */
#ifndef PNG_COMPRESS_H
#define PNG_COMPRESS_H
#include "png_code.h"
#include "png_match.h"
#include "png_rows.h"

struct png_compressor; /* scratch for one piece at a time */

/* Pieces have up to `rows` rows; `level` is 0 … 9. NULL when there is no memory. */
struct png_compressor *png_compressor_new(const struct png_rows *format, int rows, int level, int isa);
void png_compressor_free(struct png_compressor *compressor);
/* About what one takes. */
size_t png_compressor_size(const struct png_rows *format, int rows, int level);
/* Room that buffers of fragments have before and behind them. */
enum { PNG_FRAGMENT_HEAD = 10, PNG_FRAGMENT_TAIL = 8 };
/* Size of a buffer for pieces of up to `rows` rows. */
size_t png_fragment_room(const struct png_rows *format, int rows);
/* Filters and compresses `count` rows into `*buffer`, PNG_FRAGMENT_HEAD bytes from its beginning; the buffer has the room above, is from
 * malloc(), and may be exchanged for another. The fragment ends at a byte; `final` ends the stream. `adler` is that of the filtered
 * bytes. Returns the fragment's size. */
size_t png_compress(struct png_compressor *compressor, const unsigned char *rows, ptrdiff_t stride, int count, bool final,
                    unsigned char **buffer, uint32_t *adler);
#endif
