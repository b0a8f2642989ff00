/* IPTC: where it stands in files that have no place of their own for it. */
#include "metadata_iptc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IPTC_RESOURCE 0x0404
#define RESOURCE_HEAD 12
#define DIGITS_A_LINE 72

static size_t big(const unsigned char *b, int bytes) {
    size_t v = 0;
    for (int i = 0; i < bytes; i++) v = v << 8 | b[i];
    return v;
}

/* A resource: "8BIM", a number, a name with its length, padded to an even size, and a payload with its length, padded too. */
bool iptc_find(const unsigned char *resources, size_t size, const unsigned char **iptc, size_t *length) {
    for (size_t at = 0; at <= size && size - at >= RESOURCE_HEAD && memcmp(resources + at, "8BIM", 4) == 0;) {
        size_t number = big(resources + at + 4, 2);
        at += 6 + ((1 + (size_t)resources[at + 6] + 1) & ~(size_t)1);
        if (at > size || size - at < 4) return false;
        *length = big(resources + at, 4);
        at += 4;
        if (*length > size - at) return false;
        *iptc = resources + at;
        if (number == IPTC_RESOURCE) return true;
        at += *length + (*length & 1);
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------- as a text of PNG */

static char *put_digits(char *to, const unsigned char *bytes, size_t size, size_t *digits) {
    for (size_t i = 0; i < size; i++) {
        *to++ = "0123456789abcdef"[bytes[i] >> 4];
        *to++ = "0123456789abcdef"[bytes[i] & 15];
        if ((*digits += 2) % DIGITS_A_LINE == 0) *to++ = '\n';
    }
    return to;
}

char *iptc_to_text(const struct metadata_block *iptc) {
    unsigned char head[RESOURCE_HEAD] = "8BIM\4\4";
    size_t padding = iptc->size & 1, all = sizeof head + iptc->size + padding, digits = 0;
    if (iptc->size > INT32_MAX) return NULL;
    for (int i = 0; i < 4; i++) head[8 + i] = (unsigned char)(iptc->size >> (24 - 8 * i));
    char *text = malloc(64 + 2 * all + 2 * all / DIGITS_A_LINE), *to = text;
    if (!text) return NULL;
    to += sprintf(to, "\niptc\n%8zu\n", all);
    to = put_digits(to, head, sizeof head, &digits);
    to = put_digits(to, iptc->bytes, iptc->size, &digits);
    to = put_digits(to, (const unsigned char *)"", padding, &digits);
    strcpy(to, "\n");
    return text;
}

static int digit_value(int c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The bytes of a text, in place of it; false if it is not what it should be. */
static bool from_digits(char *text, size_t *size) {
    char *at = text, *end;
    while (isspace((unsigned char)*at)) at++;
    while (*at && *at != '\n') at++;
    unsigned long long said = strtoull(at, &end, 10);
    if (end == at) return false;
    unsigned char *to = (unsigned char *)text;
    int high = -1;
    for (at = end; *at; at++) {
        int value = digit_value((unsigned char)*at);
        if (value < 0 && !isspace((unsigned char)*at)) return false;
        if (value < 0) continue;
        if (high >= 0) *to++ = (unsigned char)(high << 4 | value);
        high = high >= 0 ? -1 : value;
    }
    *size = (size_t)(to - (unsigned char *)text);
    return high < 0 && *size == said;
}

static void remove_text(struct metadata_text **at) {
    struct metadata_text *text = *at;
    *at = text->next;
    free(text->key);
    free(text->value);
    free(text->language);
    free(text);
}

bool iptc_from_texts(struct metadata *metadata) {
    struct metadata_text **at = &metadata->texts;
    while (*at && strcmp((*at)->key, IPTC_KEYWORD) != 0) at = &(*at)->next;
    if (!*at || metadata->iptc.bytes) return true;
    char *bytes = strdup((*at)->value);
    const unsigned char *iptc = (unsigned char *)bytes;
    size_t size;
    bool done = bytes != NULL;
    if (bytes && from_digits(bytes, &size)) {
        /* The records themselves begin with 0x1c. */
        bool plain = size > 0 && iptc[0] == 0x1c, found = plain || iptc_find((unsigned char *)bytes, size, &iptc, &size);
        if (found) done = metadata_set(&metadata->iptc, iptc, size);
        if (found && done) remove_text(at);
    }
    free(bytes);
    return done;
}
