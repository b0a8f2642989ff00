/* The headers of deflate blocks (RFC 1951, section 3.2), judged as strictly as zlib judges them. */
#ifndef DEFLATE_HEADER_H
#define DEFLATE_HEADER_H
#include <stdbool.h>
#include <stddef.h>

/* No header has more bytes. */
#define DEFLATE_HEADER_MOST 320

/* Whether a block begins at bit `at` of `bytes` whose codes use up all bits of their lengths, as zlib wants it; unusual codes may be
 * refused too. */
bool deflate_header_sound(const unsigned char *bytes, size_t size, size_t at);
#endif
