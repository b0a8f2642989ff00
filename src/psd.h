/* The merged image of a Photoshop file: 8 or 16 bits, RGB, plain or in run lengths. */
#ifndef PSD_H
#define PSD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psd {
    uint32_t width, height;
    int channels; /* 3, or 4 with alpha */
    int depth;    /* 8 or 16 */
    bool packed;
    size_t data; /* where the pixels begin, or with run lengths the lengths of their rows */
};

/* Reads the header; returns NULL, or what is wrong with it. */
const char *psd_parse(const unsigned char *bytes, size_t size, struct psd *psd);
/* Fills width * height * channels interleaved samples in native byte order; `row` is scratch for the bytes of one channel's row.
 * Returns NULL, or what is wrong with the file. */
const char *psd_decode(const unsigned char *bytes, size_t size, const struct psd *psd, unsigned char *row, void *image);
#endif
