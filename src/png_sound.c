#include "png_sound.h"
#include "deflate_header.h"
#include "png_inflate.h"

#include <stdlib.h>
#include <string.h>
#ifdef IMGPIPE_WITH_ISAL
#include <isa-l/igzip_lib.h>
#define ADLER(sum, bytes, size) isal_adler32(sum, bytes, size)
#else
#include <zlib.h>
#define ADLER(sum, bytes, size) ((uint32_t)adler32_z(sum, bytes, size))
#endif

#define IN_SIZE ((size_t)128 << 10)
/* How much is made before it is added to the checksum, while it is in the cache. */
#define SUM_SIZE ((size_t)64 << 10)

struct png_sound {
    struct png_stream *stream;
    const struct deflate_codes_kernels *kernels;
    uint32_t adler;
    uint64_t made; /* bytes, of those handed out */
    bool open;     /* a block is: */
    struct deflate_header block;
    bool dry;       /* no more compressed bytes come */
    size_t at, end; /* in `in`: the next bit, and behind its last byte */
    unsigned char in[IN_SIZE + DEFLATE_AHEAD + DEFLATE_IN_SLACK];
    /* The decoder makes somewhat more than it should. So the last bytes of what is asked for are made behind a copy of what
     * is before them, and those that are too many are handed out next time. */
    unsigned char tail[PNG_HISTORY + 2 * DEFLATE_OUT_SLACK];
    size_t left_from, left; /* in `tail`, to be handed out */
    struct deflate_tables tables;
};

struct png_sound *png_sound_new(struct png_stream *stream, int isa) {
    const unsigned char *bytes;
    /* zlib judges distances by the window that the stream names: it must be the largest. */
    if (stream->left < 2 || input_peek(stream->input, &bytes, 2) < 2) return NULL;
    if (bytes[0] != 0x78 || bytes[1] & 0x20 || (bytes[0] << 8 | bytes[1]) % 31) return NULL;
    struct png_sound *s = malloc(sizeof *s);
    if (!s) return NULL;
    s->stream = stream;
    s->kernels = KERNEL_PICK(deflate_codes, isa);
    s->adler = 1;
    s->made = s->end = s->left = s->left_from = 0;
    s->open = s->dry = s->block.last = false;
    s->at = 16;
    return s;
}

void png_sound_free(struct png_sound *s) {
    free(s);
}

/* Has at least `wanted` bytes from `at` on, if there are as many. Behind the last ones come zeros, so that the decoder need not look at
 * each byte whether it is there. False: no other chunk follows the data, as in a sound file. Which of the last rows of a file that is cut
 * can be had is up to libpng, and must be before any of them is made. */
static bool refill(struct png_sound *s, size_t wanted) {
    size_t from = s->at / 8, part = 1;
    if (s->dry || s->end >= from + wanted) return true;
    if (from > s->end) from = s->end;
    memmove(s->in, s->in + from, s->end - from);
    s->end -= from;
    s->at -= 8 * from;
    while (s->end < IN_SIZE && part > 0) {
        part = png_stream_part(s->stream, s->in + s->end, IN_SIZE - s->end);
        s->end += part;
    }
    s->dry = part == 0;
    memset(s->in + s->end, 0, DEFLATE_AHEAD + DEFLATE_IN_SLACK);
    return !s->dry || s->stream->next;
}

static bool begin_block(struct png_sound *s) {
    if (!refill(s, DEFLATE_HEADER_MOST) || s->block.last || !deflate_header_read(s->in, s->end, &s->at, &s->block)) return false;
    if (!s->block.stored) s->kernels->make(&s->tables, s->block.lengths, s->block.distances);
    s->open = true;
    return true;
}

static bool copy_stored(struct png_sound *s, unsigned char **to, const unsigned char *stop) {
    if (!refill(s, 1)) return false;
    const size_t from = s->at / 8;
    size_t n = s->end - from;
    if (n > s->block.size) n = s->block.size;
    if (n > (size_t)(stop - *to)) n = (size_t)(stop - *to);
    if (n == 0 && s->block.size > 0) return false;
    memcpy(*to, s->in + from, n);
    *to += n;
    s->at += 8 * n;
    s->block.size -= n;
    s->open = s->block.size > 0;
    return true;
}

static bool decode(struct png_sound *s, unsigned char **to, unsigned char *stop, const unsigned char *oldest) {
    if (!refill(s, 2 * DEFLATE_IN_SLACK)) return false;
    struct deflate_span span = {.in = s->in, .at = s->at, .out = *to, .stop = stop, .oldest = oldest};
    /* Where more is to come, the zeros are not looked at. */
    span.last = s->dry ? s->end + DEFLATE_AHEAD : s->end - DEFLATE_IN_SLACK;
    const enum deflate_result result = s->kernels->decode(&s->tables, &span);
    const bool moved = span.at > s->at || span.out > *to;
    *to = span.out;
    s->at = span.at;
    s->open = result != DEFLATE_ENDED;
    /* Something must go on, so that this ends in any case, and no bit be taken that is not there. */
    return result != DEFLATE_BAD && (moved || !s->open) && s->at <= 8 * s->end;
}

/* One step, of the block that is open or of the next one. */
static bool make_some(struct png_sound *s, unsigned char **to, unsigned char *stop, const unsigned char *oldest) {
    if (!s->open && !begin_block(s)) return false;
    return s->block.stored ? copy_stored(s, to, stop) : decode(s, to, stop, oldest);
}

/* Makes bytes up to `stop`, or somewhat more. NULL: a doubt. */
static unsigned char *make(struct png_sound *s, unsigned char *to, unsigned char *stop, const unsigned char *oldest) {
    while (to < stop)
        if (!make_some(s, &to, stop, oldest)) return NULL;
    return to;
}

/* The bytes in front of `to` that distances may reach, when `more` have been made behind those that were handed out. */
static size_t history(const struct png_sound *s, size_t more) {
    return s->made + more < PNG_HISTORY ? (size_t)s->made + more : PNG_HISTORY;
}

/* The last bytes of what is asked for. */
static bool fill_end(struct png_sound *s, unsigned char *to, size_t size, size_t behind) {
    unsigned char *begin = s->tail + PNG_HISTORY;
    memcpy(begin - behind, to - behind, behind);
    const unsigned char *end = make(s, begin, begin + size, begin - behind);
    if (!end) return false;
    memcpy(to, begin, size);
    s->left_from = PNG_HISTORY + size;
    s->left = (size_t)(end - begin) - size;
    return true;
}

bool png_sound_fill(struct png_sound *s, unsigned char *to, size_t size) {
    unsigned char *const begin = to, *const end = to + size;
    unsigned char *summed = begin;
    size_t n = s->left < size ? s->left : size;
    memcpy(to, s->tail + s->left_from, n);
    to += n;
    s->left_from += n;
    s->left -= n;
    while (end - to > DEFLATE_OUT_SLACK) {
        unsigned char *stop = (size_t)(end - to) > SUM_SIZE + DEFLATE_OUT_SLACK ? to + SUM_SIZE : end - DEFLATE_OUT_SLACK;
        to = make(s, to, stop, to - history(s, (size_t)(to - begin)));
        if (!to) return false;
        s->adler = ADLER(s->adler, summed, (size_t)(to - summed));
        summed = to;
    }
    if (to < end && !fill_end(s, to, (size_t)(end - to), history(s, (size_t)(to - begin)))) return false;
    s->adler = ADLER(s->adler, summed, (size_t)(end - summed));
    s->made += size;
    return true;
}

/* With the right sum, and with it the chunk. */
bool png_sound_end(struct png_sound *s) {
    unsigned char *begin = s->tail + PNG_HISTORY;
    if (s->left > 0) return false;
    while (s->open || !s->block.last) {
        /* Blocks without bytes may follow. */
        unsigned char *to = begin;
        if (!make_some(s, &to, begin + 1, begin) || to > begin) return false;
    }
    s->at = (s->at + 7) / 8 * 8;
    if (!refill(s, 4 + 1)) return false;
    const unsigned char *sum = s->in + s->at / 8;
    if (s->end != s->at / 8 + 4) return false;
    if (((uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3]) != s->adler) return false;
    s->stream->trouble = NULL; /* that nothing more comes */
    return true;
}
