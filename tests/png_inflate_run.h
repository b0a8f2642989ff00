/* One stream through png_inflate.h, against what zlib makes of it: cut into chunks and rows at random, with canaries. */
#ifndef PNG_INFLATE_RUN_H
#define PNG_INFLATE_RUN_H
#include "deflate_writer.h"
#include "input.h"
#include "kernel.h"
#include "png_inflate.h"
#include "png_meta.h"

#include <inttypes.h>

enum { CANARY = 300, POISON = 0xa5 };

/* A stream, the bytes that the image wants, and what becomes of it. */
struct trial {
    const unsigned char *packed;
    size_t size, wanted;
    bool sound;           /* zlib makes just these bytes of all of it */
    bool strict;          /* the fast way must be taken: the header says so */
    bool unusual;         /* sound, but a doubt is no fault */
    size_t made;          /* by zlib, up to `wanted` */
    unsigned char *bytes; /* those */
    const char *damage;   /* of the chunks, or NULL */
};

static inline void trial_begin(struct trial *t, const unsigned char *packed, size_t size, size_t wanted) {
    unsigned char extra[64];
    z_stream z = {.next_in = (unsigned char *)packed, .avail_in = (uInt)size};
    *t = (struct trial){.packed = packed, .size = size, .wanted = wanted, .bytes = malloc(wanted + 1)};
    if (!t->bytes || inflateInit2(&z, 0) != Z_OK) abort();
    z.next_out = t->bytes;
    z.avail_out = (uInt)wanted;
    int result = inflate(&z, Z_NO_FLUSH);
    t->made = z.total_out;
    z.next_out = extra;
    z.avail_out = sizeof extra;
    if (result == Z_OK || result == Z_BUF_ERROR) result = inflate(&z, Z_NO_FLUSH);
    t->sound = result == Z_STREAM_END && z.avail_in == 0 && z.total_out == wanted;
    t->strict = size >= 2 && packed[0] == 0x78 && !(packed[1] & 32) && (packed[0] * 256 + packed[1]) % 31 == 0;
    inflateEnd(&z);
}

static inline void trial_end(struct trial *t) {
    free(t->bytes);
}

/* IDAT chunks, and some without data between them, then IEND. */
static inline struct png_file trial_chunks(const struct trial *t, uint64_t *seed, bool *strict, char *how) {
    static const uint32_t sizes[6] = {0, 1, 9, 300, 8192, 131072};
    struct png_file file = {0};
    uint32_t most = sizes[up_to(seed, 5)], first = up_to(seed, 7);
    if (most && t->size / most > 3000) most = 8192;
    for (size_t at = 0; at < t->size;) {
        size_t part = most ? (most >= 8192 && up_to(seed, 3) ? most : 1 + up_to(seed, most - 1)) : t->size;
        if (at == 0 && first) part = part < 2 ? 2 : part;
        if (most && (at || !first) && up_to(seed, 9) == 0) part = 0;
        if (part > t->size - at) part = t->size - at;
        if (file.size == 0) *strict = t->strict && part >= 2;
        png_chunk_add(&file, "IDAT", t->packed + at, part);
        at += part;
    }
    if (up_to(seed, 7) == 0) png_chunk_add(&file, "IDAT", NULL, 0);
    sprintf(how, "chunks up to %u bytes", most);
    png_chunk_add(&file, "IEND", NULL, 0);
    return file;
}

/* Something that must not pass: the file ends early, or a CRC is wrong. Returns what. */
static inline const char *damage_chunks(struct png_file *file, uint64_t *seed) {
    if (up_to(seed, 1)) {
        file->size = 10 + up_to(seed, (uint32_t)file->size - 12 - 11); /* the first two bytes say which way is taken */
        return "file cut";
    }
    size_t at = 0, next;
    for (;; at = next) {
        next = at + 12 + ((size_t)file->bytes[at + 2] << 8 | file->bytes[at + 3] | (size_t)file->bytes[at + 1] << 16);
        if (next + 12 == file->size || up_to(seed, 3) == 0) break;
    }
    file->bytes[next - 1 - up_to(seed, 3)] ^= (unsigned char)(1u << up_to(seed, 7));
    return "wrong CRC";
}

/* The bytes as they come: in one piece, or each call's in a place of its own with nothing but the history in front. */
struct taken {
    unsigned char *bytes;
    size_t done, calls;
};

static inline bool canary_whole(const unsigned char *at, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (at[i] != POISON) return false;
    return true;
}

/* Some rows. What is wrong, or NULL. */
static inline const char *take_rows(struct png_inflate *inflate, struct taken *taken, size_t size, int count, bool apart,
                                    int *got) {
    const size_t all = size * (size_t)count, history = taken->done < PNG_HISTORY ? taken->done : PNG_HISTORY;
    unsigned char *piece = NULL, *to = taken->bytes + taken->done;
    const char *fault = NULL;
    size_t behind = CANARY;
    if (apart) {
#ifdef __SANITIZE_ADDRESS__
        behind = taken->calls % 2 * CANARY; /* without, the sanitizer sees what is read there */
#endif
        piece = malloc(history + all + behind);
        if (!piece) abort();
        memcpy(piece, to - history, history);
        to = piece + history;
        memset(to, POISON, all + behind);
    }
    *got = png_inflate_rows(inflate, to, size, count);
    if (!canary_whole(to + all, behind)) fault = "bytes written behind the rows";
    if (*got < 0 || *got > count) fault = "an impossible count of rows", *got = 0;
    if (apart) {
        if (memcmp(piece, taken->bytes + taken->done - history, history) != 0) fault = "bytes written in front of the rows";
        memcpy(taken->bytes + taken->done, to, size * (size_t)*got);
        free(piece);
    }
    taken->done += size * (size_t)*got;
    taken->calls++;
    return fault;
}

/* All rows, as far as they come. */
static inline const char *take_all(struct png_inflate *inflate, struct taken *taken, size_t wanted, uint64_t *seed, char *how) {
    static const uint32_t sizes[6] = {1, 5, 70, 300, 5000, 102400}, counts[5] = {1, 1, 4, 40, 65536};
    const uint32_t size_most = sizes[up_to(seed, 5)], count_most = counts[up_to(seed, 4)];
    const bool apart = up_to(seed, 2) == 0;
    const size_t least = 1 + wanted / (apart && wanted > 20000 ? 60 : 800);
    const char *fault = NULL;
    int got = 1, count = 1;
    sprintf(how + strlen(how), ", up to %u rows of up to %u bytes%s", count_most, size_most, apart ? ", apart" : "");
    while (taken->done < wanted && got == count && !fault) {
        size_t left = wanted - taken->done, size = 1 + up_to(seed, size_most - 1), many = 1 + up_to(seed, count_most - 1);
        if (size * many < least) size = least;
        if (size > left) size = left;
        if (many > left / size) many = left / size;
        count = (int)many;
        fault = take_rows(inflate, taken, size, count, apart, &got);
        if (!fault && got == count && inflate->doubt) fault = "a doubt where all rows came";
    }
    return fault;
}

/* What is wrong with the way it ended, or NULL. */
static inline const char *judge(const struct trial *t, bool strict, struct png_inflate *f, struct input *input,
                                const struct taken *taken, size_t file_size) {
    const bool all = taken->done == t->wanted, ended = all && png_inflate_end(f), well = ended && !f->warnings[0];
    char warnings[200] = "";
    struct png_meta meta = {.closed = true};
    if (ended && f->doubt) return "a doubt and success at once";
    if (taken->done > t->made) return "rows that zlib does not make";
    if (memcmp(taken->bytes, t->bytes, taken->done) != 0) return "wrong bytes";
    if (t->damage || !t->sound) {
        /* What is wrong with the chunks may stand behind the stream, where it is found later. */
        if (well && t->damage && (t->sound || !strict) && !png_stream_tail(&f->stream, &meta, warnings, sizeof warnings))
            return NULL;
        /* Of what follows the last row libpng sees one part of a chunk, and no more if that makes no bytes. */
        if (well) return !strict && !t->damage && t->made == t->wanted ? NULL : "an unsound stream passed";
        return strict && !f->doubt ? "an unsound stream was not doubted" : NULL;
    }
    if (t->unusual && f->doubt) return NULL;
    if (f->doubt) return all ? "a sound stream was doubted at its end" : "a sound stream was doubted";
    if (!well) return "a sound stream was refused";
    if (!png_stream_tail(&f->stream, &meta, warnings, sizeof warnings)) return "no end of the file behind the stream";
    return warnings[0] || input_tell(input) != file_size ? "another end of the file" : NULL;
}

/* `again` false: zlib's way, which has the rows but no doubts. `how` has room for 200. */
static inline const char *trial_run(struct trial *t, uint64_t seed, bool damaged, bool again, int isa, char *how) {
    bool strict = false;
    struct png_file file = trial_chunks(t, &seed, &strict, how);
    struct taken taken = {.bytes = malloc(t->wanted + CANARY)};
    struct input *input;
    struct png_inflate inflate = {0};
    unsigned char header[8];
    const uint32_t length = (uint32_t)(file.bytes[0] << 24 | file.bytes[1] << 16 | file.bytes[2] << 8 | file.bytes[3]);
    if (!taken.bytes) abort();
    memset(taken.bytes, POISON, t->wanted + CANARY);
    t->damage = damaged ? damage_chunks(&file, &seed) : NULL;
    if (input_memory(file.bytes, file.size, true, &input, NULL) || input_read(input, header, 8) != 8) abort();
    if (!png_inflate_begin(&inflate, input, length, again, isa)) abort();
    const char *fault = take_all(&inflate, &taken, t->wanted, &seed, how);
    if (strict && again && !inflate.sound) fault = "the fast way was not taken";
    if (!t->strict && inflate.sound) fault = "the fast way was taken"; /* a smaller window has shorter distances */
    if (!fault) fault = judge(t, strict && again, &inflate, input, &taken, file.size);
    sprintf(how + strlen(how), "; %zu of %zu bytes came%s%s", taken.done, t->wanted, t->damage ? "; " : "",
            t->damage ? t->damage : "");
    png_inflate_free(&inflate);
    input_close(input);
    free(taken.bytes);
    free(file.bytes);
    return fault;
}
#endif
