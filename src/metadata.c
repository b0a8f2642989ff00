/* Metadata as an object: blocks of bytes, texts, tags. What EXIF says is in metadata_exif.c, what may be carried in
 * metadata_carry.c. */
#include "metadata.h"

#include <stdlib.h>
#include <string.h>

void metadata_init(struct metadata *metadata) {
    *metadata = (struct metadata){.srgb_intent = -1};
}

void metadata_free(struct metadata *metadata) {
    struct metadata_block *blocks[] = {&metadata->icc, &metadata->exif, &metadata->xmp, &metadata->iptc};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]->bytes);
    for (struct metadata_text *text = metadata->texts, *next; text; text = next) {
        next = text->next;
        free(text->key);
        free(text->value);
        free(text->language);
        free(text);
    }
    for (struct metadata_tag *tag = metadata->tags, *next; tag; tag = next) {
        next = tag->next;
        free(tag->values);
        free(tag);
    }
    metadata_init(metadata);
}

bool metadata_set(struct metadata_block *block, const void *bytes, size_t size) {
    unsigned char *copy = NULL;
    if (size > 0) {
        copy = malloc(size);
        if (!copy) return false;
        memcpy(copy, bytes, size);
    }
    free(block->bytes);
    *block = (struct metadata_block){copy, size};
    return true;
}

bool metadata_add_text(struct metadata *metadata, const char *key, const char *value, const char *language) {
    struct metadata_text *text = calloc(1, sizeof *text);
    if (!text) return false;
    text->key = strdup(key);
    text->value = strdup(value);
    text->language = strdup(language ? language : "");
    if (!text->key || !text->value || !text->language) {
        free(text->key);
        free(text->value);
        free(text->language);
        free(text);
        return false;
    }
    struct metadata_text **end = &metadata->texts;
    while (*end) end = &(*end)->next;
    *end = text;
    return true;
}

/* Length of a well-formed UTF-8 sequence at `bytes`, or 0. */
static size_t utf8_length(const unsigned char *bytes, size_t left) {
    unsigned first = bytes[0];
    size_t length = first < 0x80                    ? 1
                    : first >= 0xc2 && first < 0xe0 ? 2
                    : (first & 0xf0) == 0xe0        ? 3
                    : first >= 0xf0 && first < 0xf5 ? 4
                                                    : 0;
    if (length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80) return 0;
    if ((first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] > 0x9f)) return 0;
    if ((first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] > 0x8f)) return 0;
    return length;
}

bool metadata_add_comment(struct metadata *metadata, const void *comment, size_t size) {
    const unsigned char *bytes = comment;
    size = strnlen(comment, size);
    unsigned char *text = malloc(2 * size + 1), *to = text;
    bool utf8 = true;
    if (!text) return false;
    for (size_t i = 0, length; i < size && utf8; i += length) utf8 = (length = utf8_length(bytes + i, size - i)) > 0;
    for (size_t i = 0; i < size; i++) {
        if (utf8 || bytes[i] < 0x80) {
            *to++ = bytes[i];
        } else {
            *to++ = (unsigned char)(0xc0 | bytes[i] >> 6);
            *to++ = (unsigned char)(0x80 | (bytes[i] & 0x3f));
        }
    }
    *to = 0;
    bool added = size == 0 || metadata_add_text(metadata, "Comment", (const char *)text, NULL);
    free(text);
    return added;
}

/* The header of a profile is 128 bytes; the colour space of its data stands at 16. */
void metadata_icc_space(const struct metadata *metadata, char space[5]) {
    space[0] = 0;
    if (!metadata->icc.bytes || metadata->icc.size < 128) return;
    memcpy(space, metadata->icc.bytes + 16, 4);
    for (int i = 0; i < 4; i++)
        if (space[i] < ' ' || space[i] > '~') space[i] = '?';
    space[4] = 0;
}
