/* The headers of deflate blocks (RFC 1951, section 3.2), judged as strictly as zlib judges them. */
#ifndef DEFLATE_HEADER_H
#define DEFLATE_HEADER_H
#include "deflate_codes.h"

#include <stdbool.h>

/* No header has more bytes. */
#define DEFLATE_HEADER_MOST 320

struct deflate_header {
    bool last;   /* block of the stream */
    bool stored; /* as it is; otherwise by codes that have these numbers of bits: */
    uint8_t lengths[DEFLATE_LENGTHS], distances[DEFLATE_DISTANCES];
    size_t size; /* of what is stored */
};

/* Reads the header that begins at bit *at of `bytes`, and moves *at behind it. False where the codes do not use up all bits of their
 * lengths, as zlib wants it, or where it is not whole or otherwise wrong; unusual codes may be refused too. */
bool deflate_header_read(const unsigned char *bytes, size_t size, size_t *at, struct deflate_header *header);
#endif
