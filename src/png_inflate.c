#include "png_inflate.h"
#include "status.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef IMGPIPE_WITH_ISAL
#include <isa-l/igzip_lib.h>
#endif

/* What libpng is told to read at once (png_set_compression_buffer_size), and what it takes behind the last row at once. */
#define PART ((size_t)65536)
#define EXTRA 1024
/* Compressed bytes that ISA-L gets at once. */
#define IN_SIZE ((size_t)128 << 10)

static bool fail(struct png_inflate *f, const char *kind, const char *reason) {
    snprintf(f->reason, sizeof f->reason, "%s%s", kind, reason);
    return false;
}

static void warn(struct png_inflate *f, const char *text) {
    text_append(f->warnings, sizeof f->warnings, "%sIDAT: %s", f->warnings[0] ? ", " : "", text);
}

/* ------------------------------------------------------------------------------------------------------- zlib */

static bool zlib_feed(struct png_inflate *f) {
    if (f->zlib.avail_in > 0) return true;
    f->zlib.next_in = f->in;
    f->zlib.avail_in = (uInt)png_stream_part(&f->stream, f->in, PART);
    if (f->zlib.avail_in == 0) return fail(f, "", f->stream.trouble);
    if (f->zlib.total_in == 0 && f->in[0] > 0x7f) return fail(f, "IDAT: ", "invalid window size (libpng)");
    return true;
}

static const char *zlib_message(const struct png_inflate *f, int result) {
    if (f->zlib.msg) return f->zlib.msg;
    return result == Z_NEED_DICT ? "missing LZ dictionary" : result == Z_MEM_ERROR ? "insufficient memory" : "damaged LZ stream";
}

static void zlib_ended(struct png_inflate *f) {
    f->ended = true;
    if (f->zlib.avail_in > 0 || f->stream.left > 0) warn(f, "Extra compressed data");
}

static bool zlib_row(struct png_inflate *f, unsigned char *to, size_t size) {
    z_stream *z = &f->zlib;
    z->next_out = to;
    while (size > 0 && !f->ended) {
        if (!zlib_feed(f)) return false;
        uInt room = size < UINT_MAX ? (uInt)size : UINT_MAX;
        z->avail_out = room;
        int result = inflate(z, Z_NO_FLUSH);
        size -= room - z->avail_out;
        if (result == Z_STREAM_END)
            zlib_ended(f);
        else if (result == Z_MEM_ERROR)
            f->no_memory = true;
        if (result != Z_OK && result != Z_STREAM_END) return fail(f, "IDAT: ", zlib_message(f, result));
    }
    return size == 0 || fail(f, "", "Not enough image data");
}

/* A look at what follows the last row: one part at most if nothing does, everything otherwise. */
static bool zlib_end(struct png_inflate *f) {
    z_stream *z = &f->zlib;
    unsigned char extra[EXTRA];
    bool more = false;
    do {
        if (f->ended) break;
        if (!zlib_feed(f)) return false;
        z->next_out = extra;
        z->avail_out = EXTRA;
        int result = inflate(z, Z_NO_FLUSH);
        more = more || z->avail_out < EXTRA;
        if (result == Z_STREAM_END) {
            zlib_ended(f);
        } else if (result != Z_OK) {
            f->no_memory = result == Z_MEM_ERROR;
            f->bad_checksum = z->msg && strcmp(z->msg, "incorrect data check") == 0;
            warn(f, zlib_message(f, result));
            more = false;
        }
    } while (more);
    if (more) warn(f, "Too much image data");
    return png_stream_close(&f->stream) || fail(f, "", f->stream.trouble);
}

/* ------------------------------------------------------------------------------------------------------ ISA-L */

#ifdef IMGPIPE_WITH_ISAL
static bool doubt(struct png_inflate *f) {
    f->doubt = true;
    return false;
}

/* Many chunks at once. What stops the stream may stand behind the image data, and is seen when nothing comes any more. */
static bool isal_feed(struct png_inflate *f) {
    if (f->isal->avail_in > 0) return true;
    size_t have = 0, part = 1;
    while (have < IN_SIZE && part > 0) {
        part = png_stream_part(&f->stream, f->in + have, IN_SIZE - have);
        have += part;
    }
    f->isal->next_in = f->in;
    f->isal->avail_in = (uint32_t)have;
    return have > 0;
}

static bool isal_fill(struct png_inflate *f, unsigned char *to, size_t size) {
    struct inflate_state *z = f->isal;
    while (size > 0) {
        if (z->block_state == ISAL_BLOCK_FINISH || !isal_feed(f)) return doubt(f);
        uint32_t room = size < INT_MAX ? (uint32_t)size : INT_MAX, given = z->avail_in;
        z->next_out = to;
        z->avail_out = room;
        if (isal_inflate(z) != ISAL_DECOMP_OK) return doubt(f);
        if (z->avail_out == room && z->avail_in == given) return doubt(f); /* so that this ends in any case */
        to += room - z->avail_out;
        size -= room - z->avail_out;
    }
    return true;
}

/* The stream must end right here, with the right sum, and with it the chunk. */
static bool isal_end(struct png_inflate *f) {
    struct inflate_state *z = f->isal;
    unsigned char extra[EXTRA];
    while (z->block_state != ISAL_BLOCK_FINISH) {
        if (!isal_feed(f)) return doubt(f);
        uint32_t given = z->avail_in;
        z->next_out = extra;
        z->avail_out = EXTRA;
        if (isal_inflate(z) != ISAL_DECOMP_OK || z->avail_out < EXTRA) return doubt(f);
        if (z->avail_in == given && z->block_state != ISAL_BLOCK_FINISH) return doubt(f);
    }
    if (z->avail_in > 0 || z->read_in_length >= 8) return doubt(f);
    if (f->stream.next)
        f->stream.trouble = NULL;
    else if (f->stream.left > 0 || !png_stream_close(&f->stream))
        return doubt(f);
    return true;
}

/* zlib judges distances by the window that the stream names, so only streams that name the largest are ISA-L's. */
static bool isal_begin(struct png_inflate *f, uint32_t length, bool again) {
    const unsigned char *bytes;
    if (!again || length < 2 || input_peek(f->stream.input, &bytes, 2) < 2) return true;
    if (bytes[0] != 0x78 || bytes[1] & 0x20 || (bytes[0] << 8 | bytes[1]) % 31) return true;
    f->isal = malloc(sizeof *f->isal);
    if (!f->isal) return false;
    isal_inflate_init(f->isal);
    f->isal->crc_flag = ISAL_ZLIB;
    f->isal->avail_in = 0;
    return true;
}
#else
static bool isal_begin(struct png_inflate *f, uint32_t length, bool again) {
    (void)f, (void)length, (void)again;
    return true;
}
static bool isal_fill(struct png_inflate *f, unsigned char *to, size_t size) {
    (void)f, (void)to, (void)size;
    return false;
}
static bool isal_end(struct png_inflate *f) {
    (void)f;
    return false;
}
#endif

/* ------------------------------------------------------------------------------------------------------- both */

bool png_inflate_begin(struct png_inflate *f, struct input *input, uint32_t length, bool again) {
    png_stream_begin(&f->stream, input, length);
    if (!isal_begin(f, length, again)) return false;
    f->in = malloc(f->isal ? IN_SIZE : PART);
    return f->in && (f->isal || inflateInit2(&f->zlib, 0) == Z_OK);
}

int png_inflate_rows(struct png_inflate *f, unsigned char *to, size_t size, int count) {
    if (f->isal) return isal_fill(f, to, size * (size_t)count) ? count : 0;
    for (int i = 0; i < count; i++)
        if (!zlib_row(f, to + (size_t)i * size, size)) return i;
    return count;
}

bool png_inflate_end(struct png_inflate *f) {
    return f->isal ? isal_end(f) : zlib_end(f);
}

void png_inflate_free(struct png_inflate *f) {
    if (!f->isal) inflateEnd(&f->zlib);
    free(f->isal);
    free(f->in);
}
