/* Reading the chunks of a PNG that are carried over. PNG specification, third edition, section 11.3. */
#include "png_meta.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A chunk larger than this, or one that inflates to more, is left out, so that a file of some bytes cannot take all memory. */
#define CHUNK_LIMIT ((size_t)32 << 20)
#define TOTAL_LIMIT ((size_t)64 << 20)
#define TEXT_LIMIT 1000
#define KEYWORD_LIMIT 79

static void note(struct png_meta *m, const char *why) {
    char line[80];
    snprintf(line, sizeof line, "%s: %s", m->kind, why);
    if (strstr(m->notes, line)) return;
    text_append(m->notes, m->notes_size, "%s%s", m->notes[0] ? ", " : "", line);
}

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Whether so many bytes more may be kept. */
static bool take_bytes(struct png_meta *m, size_t size) {
    if (size <= CHUNK_LIMIT && size <= TOTAL_LIMIT - m->total) {
        m->total += size;
        return true;
    }
    note(m, "too large, left out");
    return false;
}

static void keep_block(struct png_meta *m, struct metadata_block *block, const unsigned char *bytes, size_t size) {
    if (take_bytes(m, size) && !metadata_set(block, bytes, size)) m->no_memory = true;
}

/* ------------------------------------------------------------------------------------------ compressed bytes */

/* Inflates into new memory with a zero behind it; NULL (with a note) if that is damaged or beyond the limit. */
static unsigned char *inflate_bytes(struct png_meta *m, const unsigned char *bytes, size_t size, size_t *out_size) {
    z_stream z = {.next_in = (unsigned char *)bytes, .avail_in = (uInt)size};
    unsigned char *out = NULL;
    size_t capacity = 0;
    int result = inflateInit(&z);
    while (result == Z_OK) {
        if (z.total_out == capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            unsigned char *grown = capacity <= 2 * CHUNK_LIMIT ? realloc(out, capacity + 1) : NULL;
            if (!grown) break;
            out = grown;
        }
        z.next_out = out + z.total_out;
        z.avail_out = (uInt)(capacity - z.total_out);
        result = inflate(&z, Z_NO_FLUSH);
    }
    *out_size = z.total_out;
    inflateEnd(&z);
    if (result == Z_STREAM_END && *out_size <= CHUNK_LIMIT) {
        out[*out_size] = 0;
        return out;
    }
    free(out);
    note(m, result == Z_OK || result == Z_STREAM_END ? "too large, left out" : "damaged, left out");
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------ texts */

static bool is_utf8(const char *text) {
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        int more = *p < 0x80 ? 0 : *p >= 0xc2 && *p < 0xe0 ? 1 : *p >= 0xe0 && *p < 0xf0 ? 2 : *p >= 0xf0 && *p < 0xf5 ? 3 : -1;
        if (more < 0) return false;
        for (p++; more > 0; more--, p++)
            if ((*p & 0xc0) != 0x80) return false;
    }
    return true;
}

/* Latin-1 up to the first zero, as UTF-8 in new memory. */
static char *from_latin1(const char *text) {
    size_t length = strlen(text);
    char *out = malloc(2 * length + 1), *to = out;
    for (size_t i = 0; out && i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80) *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
    }
    if (out) *to = 0;
    return out;
}

/* `value` ends with a zero. */
static void keep_text(struct png_meta *m, const char *keyword, const char *value, const char *language, bool latin1) {
    if (m->texts >= TEXT_LIMIT) {
        note(m, "too many texts, some left out");
        return;
    }
    if (!take_bytes(m, strlen(value) + 1)) return;
    char *key = from_latin1(keyword), *text = latin1 || !is_utf8(value) ? from_latin1(value) : NULL;
    m->texts++;
    if (!key || !metadata_add_text(m->metadata, key, text ? text : value, language)) m->no_memory = true;
    free(key);
    free(text);
}

/* The bytes behind the next zero, which must be there; NULL otherwise. */
static const unsigned char *behind_zero(const unsigned char *at, const unsigned char *end) {
    const unsigned char *zero = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
    return zero ? zero + 1 : NULL;
}

/* tEXt: keyword, text. zTXt: keyword, method, compressed text. All data ends with a zero that is not counted. */
static void read_text(struct png_meta *m) {
    const unsigned char *end = m->bytes + m->size, *value = behind_zero(m->bytes, end);
    bool packed = m->kind[0] == 'z';
    size_t size;
    if (!value || (packed && (value == end || *value != 0))) {
        note(m, "damaged, left out");
    } else if (packed) {
        unsigned char *text = inflate_bytes(m, value + 1, (size_t)(end - value - 1), &size);
        if (text) keep_text(m, (const char *)m->bytes, (const char *)text, NULL, true);
        free(text);
    } else {
        keep_text(m, (const char *)m->bytes, (const char *)value, NULL, true);
    }
}

/* iTXt: keyword, whether it is compressed, method, language, keyword in that language, text. */
static void read_international_text(struct png_meta *m) {
    const unsigned char *end = m->bytes + m->size, *flags = behind_zero(m->bytes, end);
    const unsigned char *language = flags && end - flags >= 2 ? flags + 2 : NULL;
    const unsigned char *translated = language ? behind_zero(language, end) : NULL;
    const unsigned char *value = translated ? behind_zero(translated, end) : NULL;
    if (!value || flags[0] > 1 || (flags[0] && flags[1])) {
        note(m, "damaged, left out");
        return;
    }
    size_t size = (size_t)(end - value);
    unsigned char *unpacked = flags[0] ? inflate_bytes(m, value, size, &size) : NULL;
    if (flags[0] && !unpacked) return;
    if (unpacked) value = unpacked;
    if (strcmp((const char *)m->bytes, "XML:com.adobe.xmp") == 0) {
        if (!m->metadata->xmp.bytes) keep_block(m, &m->metadata->xmp, value, size);
    } else {
        keep_text(m, (const char *)m->bytes, (const char *)value, (const char *)language, false);
    }
    free(unpacked);
}

/* ----------------------------------------------------------------------------------------------------- others */

/* Name, method, compressed profile. */
static void read_profile(struct png_meta *m) {
    const unsigned char *end = m->bytes + m->size, *method = behind_zero(m->bytes, end);
    size_t size;
    if (m->metadata->icc.bytes) return;
    if (!method || method == end || *method != 0) {
        note(m, "damaged, left out");
        return;
    }
    unsigned char *profile = inflate_bytes(m, method + 1, (size_t)(end - method - 1), &size);
    if (!profile) return;
    if (size < 132 || memcmp(profile + 36, "acsp", 4) != 0)
        note(m, "no profile, left out");
    else
        keep_block(m, &m->metadata->icc, profile, size);
    free(profile);
}

static void read_exif(struct png_meta *m) {
    /* Early writers put what begins EXIF in a JPEG before it. */
    size_t skip = m->size >= 6 && memcmp(m->bytes, "Exif\0\0", 6) == 0 ? 6 : 0;
    const unsigned char *bytes = m->bytes + skip;
    size_t size = m->size - skip;
    if (m->metadata->exif.bytes) return;
    if (size < 8 || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0)) {
        note(m, "damaged, left out");
        return;
    }
    keep_block(m, &m->metadata->exif, bytes, size);
    metadata_read_exif(m->metadata);
}

/* Numbers of 4 bytes and one of a single byte; a chunk of another size is damaged. */
static void read_numbers(struct png_meta *m) {
    struct metadata *metadata = m->metadata;
    const unsigned char *bytes = m->bytes;
    if (strcmp(m->kind, "gAMA") == 0 && m->size == 4 && big_endian(bytes) > 0) {
        metadata->gamma = big_endian(bytes) / 100000.0;
    } else if (strcmp(m->kind, "cHRM") == 0 && m->size == 32 && big_endian(bytes) > 0) {
        for (int i = 0; i < 8; i++) metadata->chromaticities[i] = big_endian(bytes + 4 * i) / 100000.0;
    } else if (strcmp(m->kind, "sRGB") == 0 && m->size == 1 && bytes[0] <= 3) {
        metadata->srgb_intent = bytes[0];
    } else if (strcmp(m->kind, "pHYs") == 0 && m->size == 9 && bytes[8] <= 1) {
        double x = big_endian(bytes), y = big_endian(bytes + 4);
        *(bytes[8] ? &metadata->x_per_metre : &metadata->x_aspect) = x;
        *(bytes[8] ? &metadata->y_per_metre : &metadata->y_aspect) = y;
    } else {
        note(m, "damaged, left out");
    }
}

/* ----------------------------------------------------------------------------------------------- chunk by chunk */

static const struct reader {
    char kind[5];
    bool keyword; /* begins with one */
    void (*read)(struct png_meta *m);
} readers[] = {
    {"iCCP", true, read_profile},  {"sRGB", false, read_numbers}, {"gAMA", false, read_numbers},
    {"cHRM", false, read_numbers}, {"pHYs", false, read_numbers}, {"eXIf", false, read_exif},
    {"tEXt", true, read_text},     {"zTXt", true, read_text},     {"iTXt", true, read_international_text},
};

static const struct reader *reader_of(const char *kind) {
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(readers[i].kind, kind) == 0) return &readers[i];
    return NULL;
}

bool png_meta_begin(struct png_meta *m, const unsigned char header[8]) {
    memcpy(m->kind, header + 4, 4);
    m->kind[4] = 0;
    m->wanted = false;
    m->size = 0;
    m->length = big_endian(header);
    if (!reader_of(m->kind)) return false;
    if (m->closed) {
        if (!m->missed) memcpy(m->missed_kind, m->kind, sizeof m->kind);
        m->missed = true;
        return false;
    }
    if (m->length > CHUNK_LIMIT) {
        note(m, "too large, left out");
        return false;
    }
    return m->wanted = true;
}

/* Memory grows with what is there, not with what the header claims. */
void png_meta_data(struct png_meta *m, const unsigned char *bytes, size_t size) {
    if (!m->wanted || size > m->length - m->size) return;
    unsigned char *grown = realloc(m->bytes, m->size + size + 1);
    if (!grown) {
        m->no_memory = true;
        m->wanted = false;
        return;
    }
    m->bytes = grown;
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
    m->bytes[m->size] = 0;
}

void png_meta_end(struct png_meta *m, const unsigned char crc[4]) {
    if (!m->wanted) return;
    m->wanted = false;
    uLong sum = crc32(crc32(0, (const Bytef *)m->kind, 4), m->bytes, (uInt)m->size);
    if (m->size != m->length || m->size == 0 || sum != big_endian(crc)) return;
    const struct reader *reader = reader_of(m->kind);
    size_t keyword = reader->keyword ? strlen((const char *)m->bytes) : 1;
    if (keyword < 1 || keyword > KEYWORD_LIMIT)
        note(m, "damaged, left out");
    else
        reader->read(m);
}

void png_meta_free(struct png_meta *m) {
    free(m->bytes);
    m->bytes = NULL;
}
