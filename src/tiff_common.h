/* What reading and writing through libtiff have in common: bytes from an input or to an outfile, messages, limits. */
#ifndef TIFF_COMMON_H
#define TIFF_COMMON_H
#include "input.h"
#include "log.h"
#include "outfile.h"
#include <tiffio.h>

/* libtiff's view of one file. Messages are kept here, since libtiff has no other way to say what went wrong. */
struct tiff_file {
    struct input *input; /* to read from; NULL: written */
    struct outfile *out;
    bool in_memory;       /* written, and to nowhere else than into `bytes` */
    uint64_t size;        /* of the file; of a written one, so far */
    unsigned char *bytes; /* the whole file, where the input or output cannot seek; owned */
    size_t capacity;
    uint64_t out_position; /* of the outfile */
    bool no_memory, write_failed;
    char reason[256];  /* the first error since tiff_forget() */
    char pending[256]; /* warnings; what does not fit is cut */
};

/* One handle of libtiff on a file: several may read from different places in turn. */
struct tiff_client {
    struct tiff_file *file;
    uint64_t position;
};

/* `mode` as for TIFFOpen(); no allocation may be over `memory` bytes (0: no limit). NULL with file->reason set. */
TIFF *tiff_open(struct tiff_client *client, const char *mode, uint64_t memory);
/* Appends to a written file what libtiff shall not see; *at gets its place, which is even. */
bool tiff_append(struct tiff_client *client, const void *bytes, size_t size, uint64_t *at);
/* Reads bytes at a place, for struct ifd_reader; `file` is a struct tiff_file. */
bool tiff_read_at(void *file, uint64_t at, void *to, size_t size);
/* Empties file->reason before a call whose failure is to be explained. */
void tiff_forget(struct tiff_file *file);
/* "LZW" and the like. */
const char *tiff_compression_name(uint16_t compression);
/* Whether differences of neighbours may have been compressed in place of samples. */
bool tiff_has_predictor(uint16_t compression);
#endif
