/* From the samples of a PNG to those of the program: whole bytes, palettes and transparent colours resolved, 16 bits as the
 * processor has them. */
#ifndef PNG_EXPAND_H
#define PNG_EXPAND_H
#include "kernel.h"

#include <stddef.h>

/* What an index becomes: one to four channels. */
typedef uint8_t png_entry[4];

struct png_expand_kernels {
    /* `count` samples of 1, 2 or 4 bits, as bytes from 0 on. */
    void (*bits)(const uint8_t *in, uint8_t *out, size_t count, int depth);
    /* `out` has room for exactly count * channels bytes. */
    void (*table)(const uint8_t *in, uint8_t *out, size_t count, const png_entry *table, int channels);
    /* 16 bits, most significant byte first. */
    void (*words)(const uint8_t *in, uint16_t *out, size_t count);
    /* Adds an alpha channel to 1 or 3 channels: 0 where all are those of `key`, otherwise the most. */
    void (*key_u8)(const uint8_t *in, uint8_t *out, size_t count, int channels, const uint16_t *key);
    void (*key_u16)(const uint8_t *in, uint16_t *out, size_t count, int channels, const uint16_t *key);
};
KERNEL_TABLE(png_expand);
#endif
