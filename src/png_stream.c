#include "png_stream.h"
#include "png_meta.h"
#include "status.h"

#include <stdio.h>
#include <string.h>
#ifdef IMGPIPE_WITH_ISAL
#include <isa-l/crc.h>
#define CRC(crc, bytes, size) crc32_gzip_refl(crc, bytes, size)
#else
#include <zlib.h>
#define CRC(crc, bytes, size) ((uint32_t)crc32_z(crc, bytes, size))
#endif

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool fail(struct png_stream *s, const char *trouble) {
    s->trouble = trouble;
    return false;
}

static bool take(struct png_stream *s, void *to, size_t size) {
    if (input_read(s->input, to, size) == size) return true;
    s->ended_early = !input_failure(s->input);
    return fail(s, s->ended_early ? "the file ends early" : input_failure(s->input));
}

void png_stream_begin(struct png_stream *s, struct input *input, uint32_t length) {
    *s = (struct png_stream){.input = input, .left = length, .crc = CRC(0, (const unsigned char *)"IDAT", 4), .open = true};
}

/* Goes over the data of a chunk without keeping it. */
static bool skip(struct png_stream *s) {
    unsigned char bytes[4096];
    while (s->left > 0) {
        size_t part = s->left < sizeof bytes ? s->left : sizeof bytes;
        if (!take(s, bytes, part)) return false;
        s->crc = CRC(s->crc, bytes, part);
        s->left -= (uint32_t)part;
    }
    return true;
}

/* "KIND: text", with bytes that are no letters in hexadecimal. */
static bool fail_chunk(struct png_stream *s, const char *text) {
    s->text[0] = 0;
    for (int i = 4; i < 8; i++) {
        bool letter = (s->header[i] | 32) >= 'a' && (s->header[i] | 32) <= 'z';
        text_append(s->text, sizeof s->text, letter ? "%c" : "[%02X]", s->header[i]);
    }
    text_append(s->text, sizeof s->text, ": %s", text);
    return fail(s, s->text);
}

static bool header_valid(struct png_stream *s) {
    if (s->header[0] > 0x7f) return fail(s, "PNG unsigned integer out of range");
    for (int i = 4; i < 8; i++)
        if ((s->header[i] | 32) < 'a' || (s->header[i] | 32) > 'z') return fail_chunk(s, "invalid chunk type");
    return true;
}

/* The header of the next chunk, whose CRC begins with its kind. */
static bool read_header(struct png_stream *s) {
    if (!take(s, s->header, 8)) return false;
    s->left = big_endian(s->header);
    s->crc = CRC(0, s->header + 4, 4);
    return header_valid(s);
}

bool png_stream_close(struct png_stream *s) {
    unsigned char crc[4];
    if (s->trouble) return false;
    if (!s->open) return true;
    if (!skip(s) || !take(s, crc, 4)) return false;
    if (big_endian(crc) != s->crc) return fail(s, "IDAT: CRC error");
    s->open = false;
    return true;
}

size_t png_stream_part(struct png_stream *s, unsigned char *to, size_t size) {
    while (!s->trouble && !s->next && s->left == 0) {
        if (!png_stream_close(s) || !read_header(s)) return 0;
        s->open = memcmp(s->header + 4, "IDAT", 4) == 0;
        s->next = !s->open;
    }
    if (s->next) fail(s, "Not enough image data");
    size_t part = s->left < size ? s->left : size;
    if (s->trouble || !take(s, to, part)) return 0;
    s->crc = CRC(s->crc, to, part);
    s->left -= (uint32_t)part;
    return part;
}

static void warn(char *warnings, size_t size, const char *kind, const char *text) {
    text_append(warnings, size, "%s%s: %s", warnings[0] ? ", " : "", kind, text);
}

/* What libpng makes of the chunks behind an image, where it keeps none of them: only CRCs and the end are judged. */
bool png_stream_tail(struct png_stream *s, struct png_meta *meta, char *warnings, size_t size) {
    for (;;) {
        char kind[5] = "";
        unsigned char crc[4];
        if (!s->next && !read_header(s)) return false;
        s->next = false;
        memcpy(kind, s->header + 4, 4);
        png_meta_begin(meta, s->header);
        bool end = strcmp(kind, "IEND") == 0, empty = s->left == 0;
        if (strcmp(kind, "IHDR") == 0) return fail(s, "IHDR: out of place");
        if (!skip(s) || !take(s, crc, 4)) return false;
        if (big_endian(crc) != s->crc) {
            if (kind[0] < 'a') return fail_chunk(s, "CRC error");
            warn(warnings, size, kind, "CRC error");
        }
        if (end && !empty) warn(warnings, size, kind, "invalid");
        if (end) return true;
    }
}
