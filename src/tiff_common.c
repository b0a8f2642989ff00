/* libtiff's input and output. Its handlers are set for each handle, so that contexts do not see each other's messages. */
#include "tiff_common.h"
#include "status.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- messages */

static int on_error(TIFF *tif, void *user, const char *module, const char *format, va_list args) {
    (void)tif, (void)module;
    struct tiff_file *file = user;
    char text[sizeof file->reason];
    vsnprintf(text, sizeof text, format, args);
    if (strstr(text, "limit defined in open options") || strstr(text, "ut of memory")) file->no_memory = true;
    if (!file->reason[0]) memcpy(file->reason, text, sizeof text);
    return 1;
}

/* Tags that libtiff does not know are no fault. */
static int on_warning(TIFF *tif, void *user, const char *module, const char *format, va_list args) {
    (void)tif, (void)module;
    struct tiff_file *file = user;
    char text[sizeof file->pending];
    vsnprintf(text, sizeof text, format, args);
    if (strncmp(text, "Unknown field with tag", 22) != 0 && !strstr(file->pending, text))
        text_append(file->pending, sizeof file->pending, "%s%s", file->pending[0] ? ", " : "", text);
    return 1;
}

void tiff_forget(struct tiff_file *file) {
    file->reason[0] = 0;
}

/* ------------------------------------------------------------------------------------------- bytes in and out */

bool tiff_read_at(void *from, uint64_t at, void *to, size_t size) {
    struct tiff_file *file = from;
    if (at > file->size || size > file->size - at) return false;
    if (file->bytes) {
        memcpy(to, file->bytes + at, size);
        return true;
    }
    return file->input && input_seek(file->input, at) && input_read(file->input, to, size) == size;
}

static tmsize_t on_read(thandle_t handle, void *to, tmsize_t size) {
    struct tiff_client *client = handle;
    struct tiff_file *file = client->file;
    uint64_t left = client->position < file->size ? file->size - client->position : 0;
    size_t count = size < 0 ? 0 : (uint64_t)size < left ? (size_t)size : (size_t)left;
    if (!file->input && !file->bytes) return -1;
    if (count > 0 && !tiff_read_at(file, client->position, to, count)) return -1;
    client->position += count;
    return (tmsize_t)count;
}

/* Grows the file in memory to hold `size` bytes. */
static bool hold(struct tiff_file *file, uint64_t size) {
    if (size <= file->capacity) return true;
    uint64_t capacity = file->capacity + file->capacity / 2;
    if (capacity < size) capacity = size + 65536;
    unsigned char *bytes = capacity <= PTRDIFF_MAX ? realloc(file->bytes, capacity) : NULL;
    if (!bytes) return false;
    memset(bytes + file->capacity, 0, capacity - file->capacity);
    file->bytes = bytes;
    file->capacity = capacity;
    return true;
}

static tmsize_t on_write(thandle_t handle, void *from, tmsize_t size) {
    struct tiff_client *client = handle;
    struct tiff_file *file = client->file;
    uint64_t end;
    if (size < 0 || (!file->out && !file->in_memory) || __builtin_add_overflow(client->position, (uint64_t)size, &end)) return -1;
    if (file->out && outfile_can_seek(file->out)) {
        bool there = file->out_position == client->position || outfile_seek(file->out, client->position);
        if (!there || !outfile_write(file->out, from, (size_t)size)) {
            file->write_failed = true;
            return -1;
        }
        file->out_position = end;
    } else {
        if (!hold(file, end)) {
            file->no_memory = true;
            return -1;
        }
        memcpy(file->bytes + client->position, from, (size_t)size);
    }
    client->position = end;
    if (end > file->size) file->size = end;
    return size;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
    struct tiff_client *client = handle;
    uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? client->position : client->file->size, to;
    if (__builtin_add_overflow(from, offset, &to)) return (toff_t)-1;
    client->position = to;
    return to;
}

static toff_t on_size(thandle_t handle) {
    return ((struct tiff_client *)handle)->file->size;
}

static int on_close(thandle_t handle) {
    (void)handle;
    return 0;
}

TIFF *tiff_open(struct tiff_client *client, const char *mode, uint64_t memory) {
    struct tiff_file *file = client->file;
    client->position = 0;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) {
        file->no_memory = true;
        return NULL;
    }
    if (memory > 0 && memory <= PTRDIFF_MAX) TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)memory);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, file);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, file);
    /* libtiff puts the name in front of some messages, which have it already. */
    TIFF *tif = TIFFClientOpenExt("TIFF", mode, client, on_read, on_write, on_seek, on_close, on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tif;
}

bool tiff_append(struct tiff_client *client, const void *bytes, size_t size, uint64_t *at) {
    struct tiff_file *file = client->file;
    uint64_t kept = client->position;
    static const char zero[1];
    client->position = file->size;
    if (client->position % 2 && on_write(client, (void *)zero, 1) != 1) return false;
    *at = client->position;
    bool done = on_write(client, (void *)bytes, (tmsize_t)size) == (tmsize_t)size;
    client->position = kept;
    return done;
}

const char *tiff_compression_name(uint16_t compression) {
    static const struct {
        uint16_t number;
        const char *name;
    } names[] = {
        {COMPRESSION_NONE, "no"},
        {COMPRESSION_CCITTRLE, "CCITT RLE"},
        {COMPRESSION_CCITTFAX3, "CCITT Group 3"},
        {COMPRESSION_CCITTFAX4, "CCITT Group 4"},
        {COMPRESSION_LZW, "LZW"},
        {COMPRESSION_OJPEG, "old JPEG"},
        {COMPRESSION_JPEG, "JPEG"},
        {COMPRESSION_ADOBE_DEFLATE, "deflate"},
        {COMPRESSION_T85, "JBIG T.85"},
        {COMPRESSION_T43, "JBIG T.43"},
        {COMPRESSION_PACKBITS, "PackBits"},
        {COMPRESSION_THUNDERSCAN, "ThunderScan"},
        {COMPRESSION_NEXT, "NeXT"},
        {COMPRESSION_PIXARFILM, "Pixar film"},
        {COMPRESSION_PIXARLOG, "Pixar log"},
        {COMPRESSION_DEFLATE, "deflate"},
        {COMPRESSION_JBIG, "JBIG"},
        {COMPRESSION_SGILOG, "SGI log"},
        {COMPRESSION_SGILOG24, "SGI log"},
        {COMPRESSION_JP2000, "JPEG 2000"},
        {33003, "JPEG 2000 (Aperio)"},
        {33005, "JPEG 2000 (Aperio)"},
        {COMPRESSION_LERC, "LERC"},
        {COMPRESSION_LZMA, "LZMA"},
        {COMPRESSION_ZSTD, "Zstandard"},
        {COMPRESSION_WEBP, "WebP"},
        {COMPRESSION_JXL, "JPEG XL"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == compression) return names[i].name;
    return "unknown";
}

bool tiff_has_predictor(uint16_t compression) {
    return compression == COMPRESSION_LZW || compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE ||
           compression == COMPRESSION_ZSTD || compression == COMPRESSION_LZMA;
}
