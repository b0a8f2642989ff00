/* Between the two parts of the reader of PBM, PGM, PPM, PAM and PFM. */
#ifndef PNM_READ_H
#define PNM_READ_H
#include "source.h"

struct pnm {
    struct source base;
    char kind; /* the second byte of the file: '1' … '7', 'F', 'f' */
    bool plain, bits, big_endian;
    bool ended; /* the file has, before the image, as options.allow_truncated permits: the rest is 0 */
    bool warned;
    uint32_t maxval;
    uint64_t data_at;      /* where the pixels begin in the file */
    uint64_t row_bytes;    /* of one row in the file; plain kinds: 0 */
    unsigned char *packed; /* one row of eight pixels a byte */
    unsigned char *whole;  /* a PFM from a pipe */
};

static inline bool pnm_space(int c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Says what is wrong with the file; a read error, of which it is then the consequence, comes first. */
imgpipe_status pnm_fail(const struct pnm *p, imgpipe_error *error, const char *format, ...) IMGPIPE_PRINTF(3, 4);
/* The next byte, or -1 at the end; a comment counts as the newline that ends it. */
int pnm_byte(struct pnm *p);
/* Reads the header up to the first byte of the pixels: format, kind, maxval and byte order. */
imgpipe_status pnm_header(struct pnm *p, uint64_t *width, uint64_t *height, imgpipe_error *error);
#endif
