#include "png_inflate.h"
#include "png_sound.h"
#include "status.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libpng is told to read at once (png_set_compression_buffer_size), and what it takes behind the last row at once. */
#define PART ((size_t)65536)
#define EXTRA 1024

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
    if (f->ended && !zlib_feed(f)) return false; /* what is missing is looked for in the next chunk */
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

/* ------------------------------------------------------------------------------------------------------- both */

bool png_inflate_begin(struct png_inflate *f, struct input *input, uint32_t length, bool again, int isa) {
    png_stream_begin(&f->stream, input, length);
    f->sound = again ? png_sound_new(&f->stream, isa) : NULL;
    if (f->sound) return true;
    f->in = malloc(PART);
    return f->in && inflateInit2(&f->zlib, 0) == Z_OK;
}

int png_inflate_rows(struct png_inflate *f, unsigned char *to, size_t size, int count) {
    if (f->sound) {
        f->doubt = !png_sound_fill(f->sound, to, size * (size_t)count);
        return f->doubt ? 0 : count;
    }
    for (int i = 0; i < count; i++)
        if (!zlib_row(f, to + (size_t)i * size, size)) return i;
    return count;
}

bool png_inflate_end(struct png_inflate *f) {
    if (!f->sound) return zlib_end(f);
    f->doubt = !png_sound_end(f->sound);
    return !f->doubt;
}

void png_inflate_free(struct png_inflate *f) {
    if (!f->sound) inflateEnd(&f->zlib);
    png_sound_free(f->sound);
    free(f->in);
}
