#include "png_expand.h"

#include <string.h>

static void bits(const uint8_t *restrict in, uint8_t *restrict out, size_t count, int depth) {
    const size_t each = 8 / (size_t)depth, whole = count / each;
    if (depth == 4)
        for (size_t i = 0; i < whole; i++) out[2 * i] = in[i] >> 4, out[2 * i + 1] = in[i] & 15;
    else if (depth == 2)
        for (size_t i = 0; i < whole; i++)
            for (size_t k = 0; k < 4; k++) out[4 * i + k] = in[i] >> (6 - 2 * k) & 3;
    else
        for (size_t i = 0; i < whole; i++)
            for (size_t k = 0; k < 8; k++) out[8 * i + k] = in[i] >> (7 - k) & 1;
    for (size_t i = whole * each; i < count; i++)
        out[i] = (uint8_t)(in[whole] >> (8 - (size_t)depth * (i % each + 1)) & ((1u << depth) - 1));
}

static void table(const uint8_t *restrict in, uint8_t *restrict out, size_t count, const png_entry *table, int channels) {
    const size_t n = (size_t)channels;
    if (channels == 1) {
        for (size_t i = 0; i < count; i++) out[i] = table[in[i]][0];
        return;
    }
    /* Four bytes at once: those that are too many are written over by the next pixel, but for the last. */
    for (size_t i = 0; i + 2 < count; i++) memcpy(out + i * n, table[in[i]], 4);
    for (size_t i = count < 2 ? 0 : count - 2; i < count; i++) memcpy(out + i * n, table[in[i]], n);
}

static uint16_t word(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static void words(const uint8_t *restrict in, uint16_t *restrict out, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = word(in + 2 * i);
}

static void key_u8(const uint8_t *restrict in, uint8_t *restrict out, size_t count, int channels, const uint16_t *key) {
    /* Only the low bytes count, as in libpng. */
    const uint8_t a = (uint8_t)key[0], b = (uint8_t)key[1], c = (uint8_t)key[2];
    if (channels == 1)
        for (size_t i = 0; i < count; i++) out[2 * i] = in[i], out[2 * i + 1] = in[i] == a ? 0 : 255;
    else
        for (size_t i = 0; i < count; i++) {
            memcpy(out + 4 * i, in + 3 * i, 3);
            out[4 * i + 3] = in[3 * i] == a && in[3 * i + 1] == b && in[3 * i + 2] == c ? 0 : 255;
        }
}

static void key_u16(const uint8_t *restrict in, uint16_t *restrict out, size_t count, int channels, const uint16_t *key) {
    const size_t n = (size_t)channels;
    for (size_t i = 0; i < count; i++) {
        bool same = true;
        for (size_t k = 0; k < n; k++) {
            uint16_t value = word(in + 2 * (i * n + k));
            out[i * (n + 1) + k] = value;
            same = same && value == key[k];
        }
        out[i * (n + 1) + n] = same ? 0 : 65535;
    }
}

const struct png_expand_kernels KERNEL_NAME(png_expand_kernels) = {
    .bits = bits, .table = table, .words = words, .key_u8 = key_u8, .key_u16 = key_u16};
