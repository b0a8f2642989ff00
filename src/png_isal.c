#include "png_isal.h"

#ifdef IMGPIPE_WITH_ISAL
#include "deflate_header.h"
#include "png_inflate.h"

#include <isa-l/igzip_lib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Compressed bytes at once, and what of those before is kept in front of them: ISA-L looks at up to eight bytes that are not yet
 * used when a block ends. */
#define IN_SIZE ((size_t)128 << 10)
#define KEPT 8
/* Behind the last row: room for what must not come. */
#define EXTRA 256

/* ISA-L takes codes that zlib refuses, so every block's header is looked at first. To stop where a block ends, ISA-L is told of
 * each that it is the last one (`state.bfinal` comes from the stream, where the bit is set); then the next one is begun like a
 * stream that has the bytes before as its dictionary. */
struct png_isal {
    struct inflate_state state;
    struct png_stream *stream;
    uint32_t adler;
    uint64_t made;              /* bytes */
    bool last;                  /* the block is the stream's last one */
    bool between;               /* no block is open */
    size_t at;                  /* between: the bit in `in` where the next one begins */
    size_t end;                 /* of the bytes in `in` */
    unsigned char in[KEPT + IN_SIZE];
};

struct png_isal *png_isal_new(struct png_stream *stream) {
    const unsigned char *bytes;
    /* zlib judges distances by the window that the stream names: it must be the largest. */
    if (stream->left < 2 || input_peek(stream->input, &bytes, 2) < 2) return NULL;
    if (bytes[0] != 0x78 || bytes[1] & 0x20 || (bytes[0] << 8 | bytes[1]) % 31) return NULL;
    struct png_isal *f = malloc(sizeof *f);
    if (!f) return NULL;
    isal_inflate_init(&f->state);
    f->stream = stream;
    f->adler = 1;
    f->made = 0;
    f->last = false;
    f->between = true;
    f->end = KEPT;
    f->at = 8 * (KEPT + 2);
    return f;
}

void png_isal_free(struct png_isal *f) {
    free(f);
}

/* Moves what is not yet used to the begin of `in` and adds what comes, of as many chunks as it takes. What stops the stream may
 * stand behind the image data, and is seen when nothing comes any more. `used`: bytes of `in`,
 * which may end in those that are kept. Returns how far the rest was moved. */
static size_t refill(struct png_isal *f, size_t used) {
    size_t from = used > KEPT ? used - KEPT : 0, part = 1;
    memmove(f->in, f->in + from, f->end - from);
    f->end -= from;
    while (f->end < sizeof f->in && part > 0) {
        part = png_stream_part(f->stream, f->in + f->end, sizeof f->in - f->end);
        f->end += part;
    }
    return from;
}

static void refill_between(struct png_isal *f, size_t wanted) {
    if (f->end < f->at / 8 + wanted) f->at -= 8 * refill(f, f->at / 8);
}

/* `to` is where the block's bytes go. */
static bool begin_block(struct png_isal *f, const unsigned char *to) {
    refill_between(f, DEFLATE_HEADER_MOST);
    if (f->last || f->end <= f->at / 8 || !deflate_header_sound(f->in, f->end, f->at)) return false;
    struct inflate_state *z = &f->state;
    const size_t byte = f->at / 8, bit = f->at % 8;
    uint32_t history = f->made < PNG_HISTORY ? (uint32_t)f->made : (uint32_t)PNG_HISTORY;
    isal_inflate_reset(z);
    if (history && isal_inflate_set_dict(z, (unsigned char *)to - history, history) != ISAL_DECOMP_OK) return false;
    f->last = f->in[byte] >> bit & 1;
    f->in[byte] |= (unsigned char)(1u << bit);
    z->read_in = bit ? f->in[byte] >> bit : 0;
    z->read_in_length = bit ? 8 - (int32_t)bit : 0;
    z->next_in = f->in + byte + (bit > 0);
    z->avail_in = (uint32_t)(f->end - byte - (bit > 0));
    f->between = false;
    return true;
}

/* One call of ISA-L; returns how many bytes it made, or -1. */
static ptrdiff_t inflate_some(struct png_isal *f, unsigned char *to, uint32_t room) {
    struct inflate_state *z = &f->state;
    if (f->between && !begin_block(f, to)) return -1;
    if (z->avail_in == 0) {
        refill(f, f->end);
        z->next_in = f->in + KEPT;
        z->avail_in = (uint32_t)(f->end - KEPT);
    }
    const uint32_t given = z->avail_in;
    z->next_out = to;
    z->avail_out = room;
    if (isal_inflate(z) != ISAL_DECOMP_OK) return -1;
    const uint32_t made = room - z->avail_out;
    f->adler = isal_adler32(f->adler, to, made);
    f->made += made;
    f->between = z->block_state == ISAL_BLOCK_FINISH;
    if (f->between) f->at = 8 * (size_t)(z->next_in - f->in) - (size_t)z->read_in_length;
    /* Something must go on, so that this ends in any case. */
    return made || f->between || z->avail_in < given ? (ptrdiff_t)made : -1;
}

bool png_isal_fill(struct png_isal *f, unsigned char *to, size_t size) {
    while (size > 0) {
        ptrdiff_t made = inflate_some(f, to, size < INT_MAX ? (uint32_t)size : INT_MAX);
        if (made < 0) return false;
        to += made;
        size -= (size_t)made;
    }
    return true;
}

/* With the right sum, and with it the chunk. */
bool png_isal_end(struct png_isal *f) {
    unsigned char extra[PNG_HISTORY + EXTRA];
    while (!f->between || !f->last) {
        /* Blocks without bytes may follow; they need no history. */
        f->made = f->between ? 0 : f->made;
        if (inflate_some(f, extra + PNG_HISTORY, EXTRA) != 0) return false;
    }
    f->at = (f->at + 7) / 8 * 8;
    refill_between(f, 4);
    const unsigned char *sum = f->in + f->at / 8;
    if (f->end != f->at / 8 + 4) return false;
    if (((uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3]) != f->adler) return false;
    if (!f->stream->next) return f->stream->left == 0 && png_stream_close(f->stream);
    f->stream->trouble = NULL;
    return true;
}
#else
struct png_isal *png_isal_new(struct png_stream *stream) {
    (void)stream;
    return NULL;
}
bool png_isal_fill(struct png_isal *isal, unsigned char *to, size_t size) {
    (void)isal, (void)to, (void)size;
    return false;
}
bool png_isal_end(struct png_isal *isal) {
    (void)isal;
    return false;
}
void png_isal_free(struct png_isal *isal) {
    (void)isal;
}
#endif
