/* Making the chunks that carry metadata in a PNG. They are made before anything is written, so that running out of memory, or
 * libpng giving up, leaves nothing behind. All of them stand before the image data: readers then have them first. */
#include "png_meta.h"
#include "metadata_iptc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define KEYWORD_LIMIT 79
/* Texts from this length on are compressed, if that makes them shorter. */
#define PACK_FROM 1024

/* The list under construction; `failed`: there is no memory. */
struct list {
    struct png_chunk **end;
    bool failed;
};

/* Adds a chunk with room for `size` bytes and returns them, or NULL. */
static unsigned char *add(struct list *list, const char *kind, size_t size) {
    struct png_chunk *chunk = size <= INT32_MAX ? calloc(1, sizeof *chunk) : NULL;
    if (chunk) chunk->bytes = malloc(size ? size : 1);
    if (!chunk || !chunk->bytes) {
        free(chunk);
        list->failed = true;
        return NULL;
    }
    memcpy(chunk->kind, kind, 4);
    chunk->size = size;
    *list->end = chunk;
    list->end = &chunk->next;
    return chunk->bytes;
}

static unsigned char *put_number(unsigned char *to, double value) {
    double whole = floor(value + 0.5);
    uint32_t number = whole >= INT32_MAX ? INT32_MAX : whole >= 0 ? (uint32_t)whole : 0;
    for (int i = 0; i < 4; i++) *to++ = (unsigned char)(number >> (24 - 8 * i));
    return to;
}

/* New memory with `bytes` compressed; NULL (and *packed 0) when there is none. */
static unsigned char *pack(const void *bytes, size_t size, size_t *packed) {
    uLongf length = compressBound(size);
    unsigned char *to = malloc(length);
    if (to && compress2(to, &length, bytes, size, 9) != Z_OK) {
        free(to);
        to = NULL;
    }
    *packed = to ? length : 0;
    return to;
}

/* ------------------------------------------------------------------------------------------------------ colours */

static void add_profile(struct list *list, const struct metadata_block *icc) {
    static const char head[] = "ICC profile\0"; /* the name, its zero, and the method */
    size_t size;
    unsigned char *packed = pack(icc->bytes, icc->size, &size), *to = NULL;
    if (packed)
        to = add(list, "iCCP", sizeof head + size);
    else
        list->failed = true;
    if (to) {
        memcpy(to, head, sizeof head);
        memcpy(to + sizeof head, packed, size);
    }
    free(packed);
}

/* sRGB and a profile exclude each other. */
static void add_colours(struct list *list, const struct metadata *metadata) {
    unsigned char *to;
    if (metadata->icc.bytes)
        add_profile(list, &metadata->icc);
    else if (metadata->srgb_intent >= 0 && (to = add(list, "sRGB", 1)))
        to[0] = (unsigned char)metadata->srgb_intent;
    if (metadata->gamma > 0 && (to = add(list, "gAMA", 4))) put_number(to, metadata->gamma * 100000);
    if (metadata->chromaticities[0] > 0 && (to = add(list, "cHRM", 32)))
        for (int i = 0; i < 8; i++) to = put_number(to, metadata->chromaticities[i] * 100000);
}

static void add_resolution(struct list *list, const struct metadata *metadata) {
    bool known = metadata->x_per_metre >= 0.5 && metadata->y_per_metre >= 0.5;
    double x = known ? metadata->x_per_metre : metadata->x_aspect, y = known ? metadata->y_per_metre : metadata->y_aspect;
    if (!(x > 0 && y > 0)) return;
    /* A ratio keeps its digits where it is not one of whole numbers. */
    if (!known && (x != floor(x) || y != floor(y) || x > INT32_MAX || y > INT32_MAX)) {
        y = floor(y / x * 10000 + 0.5);
        x = 10000;
    }
    unsigned char *to = add(list, "pHYs", 9);
    if (to) *put_number(put_number(to, x), y) = known;
}

/* ------------------------------------------------------------------------------------------------------- texts */

/* UTF-8 as Latin-1 in new memory. What Latin-1 lacks becomes '?' and clears *fits. */
static char *to_latin1(const char *text, bool *fits) {
    char *out = malloc(strlen(text) + 1), *to = out;
    for (const unsigned char *p = (const unsigned char *)text; out && *p; to++) {
        bool pair = (*p == 0xc2 || *p == 0xc3) && (p[1] & 0xc0) == 0x80;
        if (*p >= 0x80 && !pair) *fits = false;
        *to = (char)(*p < 0x80 ? *p : pair ? (*p & 3) << 6 | (p[1] & 0x3f) : '?');
        if (*p++ >= 0x80)
            while ((*p & 0xc0) == 0x80) p++;
    }
    if (out) *to = 0;
    return out;
}

/* 1 to 79 characters of Latin-1, printable, without spaces at the ends or two of them together; new memory. */
static char *make_keyword(const char *key) {
    bool fits;
    char *keyword = to_latin1(key, &fits), *to = keyword;
    for (const char *p = keyword; p && *p && to < keyword + KEYWORD_LIMIT; p++) {
        unsigned char c = (unsigned char)*p;
        if (c <= ' ' || (c >= 0x7f && c <= 0xa0)) c = ' ';
        if (c != ' ' || (to > keyword && to[-1] != ' ')) *to++ = (char)c;
    }
    if (keyword) {
        while (to > keyword && to[-1] == ' ') to--;
        *to = 0;
    }
    if (keyword && !*keyword) {
        free(keyword);
        keyword = strdup("Comment");
    }
    return keyword;
}

/* tEXt and zTXt hold Latin-1, iTXt anything. `size` bytes of text follow the keyword. */
static void add_text(struct list *list, const char *keyword, const char *text, size_t size, bool latin1, const char *language) {
    size_t packed_size = 0, key = strlen(keyword) + 1, tongue = latin1 ? 0 : strlen(language) + 1;
    unsigned char *packed = size >= PACK_FROM ? pack(text, size, &packed_size) : NULL;
    bool is_packed = packed && packed_size < size;
    /* Between keyword and text: nothing; the method; or flag, method, language, and the keyword in that language. */
    size_t head = latin1 ? is_packed : 2 + tongue + 1, body = is_packed ? packed_size : size;
    unsigned char *to = add(list, latin1 ? is_packed ? "zTXt" : "tEXt" : "iTXt", key + head + body);
    if (to) {
        memset(to, 0, key + head);
        memcpy(to, keyword, key);
        if (!latin1) {
            to[key] = is_packed;
            memcpy(to + key + 2, language, tongue);
        }
        memcpy(to + key + head, is_packed ? (const void *)packed : text, body);
    }
    free(packed);
}

static void add_iptc(struct list *list, const struct metadata_block *iptc) {
    char *text = iptc_to_text(iptc);
    if (text)
        add_text(list, IPTC_KEYWORD, text, strlen(text), true, "");
    else
        list->failed = true;
    free(text);
}

static void add_texts(struct list *list, const struct metadata *metadata) {
    if (metadata->iptc.bytes) add_iptc(list, &metadata->iptc);
    if (metadata->xmp.bytes) {
        /* Never compressed, so that programs find it by looking for its first words. */
        static const char head[] = "XML:com.adobe.xmp\0\0\0\0";
        unsigned char *to = add(list, "iTXt", sizeof head + metadata->xmp.size);
        if (to) {
            memcpy(to, head, sizeof head);
            memcpy(to + sizeof head, metadata->xmp.bytes, metadata->xmp.size);
        }
    }
    for (const struct metadata_text *text = metadata->texts; text; text = text->next) {
        bool latin1 = !text->language[0];
        char *keyword = make_keyword(text->key), *value = to_latin1(text->value, &latin1);
        const char *written = latin1 ? value : text->value;
        if (keyword && value)
            add_text(list, keyword, written, strlen(written), latin1, text->language);
        else
            list->failed = true;
        free(keyword);
        free(value);
    }
}

/* -------------------------------------------------------------------------------------------------------- all */

bool png_chunks_make(const struct metadata *metadata, struct png_chunk **chunks) {
    struct list list = {chunks, false};
    *chunks = NULL;
    if (!metadata) return true;
    add_colours(&list, metadata);
    add_resolution(&list, metadata);
    if (metadata->exif.bytes) {
        unsigned char *to = add(&list, "eXIf", metadata->exif.size);
        if (to) memcpy(to, metadata->exif.bytes, metadata->exif.size);
    }
    add_texts(&list, metadata);
    if (!list.failed) return true;
    png_chunks_free(*chunks);
    *chunks = NULL;
    return false;
}

void png_chunks_free(struct png_chunk *chunks) {
    for (struct png_chunk *next; chunks; chunks = next) {
        next = chunks->next;
        free(chunks->bytes);
        free(chunks);
    }
}
