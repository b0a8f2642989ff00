/* Photoshop's merged image, by Adobe's description of the format. */
#include "psd.h"
#include <string.h>

static uint32_t big16(const unsigned char *b) {
    return (uint32_t)b[0] << 8 | b[1];
}
static uint32_t big32(const unsigned char *b) {
    return big16(b) << 16 | big16(b + 2);
}

const char *psd_parse(const unsigned char *b, size_t size, struct psd *psd) {
    if (size < 30) return "truncated: the header is not complete";
    if (big16(b + 4) != 1) return "this version is not supported";
    *psd =
        (struct psd){.width = big32(b + 18), .height = big32(b + 14), .channels = (int)big16(b + 12), .depth = (int)big16(b + 22)};
    if (big16(b + 24) != 3) return "only RGB is supported, this is another colour mode";
    if (psd->channels < 3 || psd->channels > 4) return "3 or 4 channels are supported, it has another number";
    if (psd->depth != 8 && psd->depth != 16) return "only 8 and 16 bits a sample are supported";
    uint64_t at = 26;
    for (int section = 0; section < 3; section++) {
        if (at + 4 > size) return "truncated: the sections before the pixels are not complete";
        at += 4 + (uint64_t)big32(b + at);
    }
    if (at + 2 > size) return "truncated: it ends before the pixels";
    if (big16(b + at) > 1) return "compression by zip is not supported";
    psd->packed = big16(b + at) == 1;
    psd->data = (size_t)at + 2;
    return NULL;
}

/* One row of bytes from run lengths; false if they do not make exactly the row. */
static bool unpack(const unsigned char *from, size_t size, unsigned char *to, size_t row) {
    size_t at = 0;
    for (size_t done = 0; done < row;) {
        if (at >= size) return false;
        unsigned code = from[at++];
        size_t count = code < 128 ? code + 1 : code == 128 ? 0 : 257 - code, taken = code < 128 ? count : code == 128 ? 0 : 1;
        if (count > row - done || taken > size - at) return false;
        if (code < 128)
            memcpy(to + done, from + at, count);
        else if (code > 128)
            memset(to + done, from[at], count);
        done += count;
        at += taken;
    }
    return true;
}

/* Moves the samples of one channel's row to their places between the others. */
static void interleave(const struct psd *psd, const unsigned char *row, int channel, uint32_t y, void *image) {
    size_t channels = (size_t)psd->channels, first = (size_t)y * psd->width * channels + (size_t)channel;
    for (size_t x = 0; x < psd->width; x++) {
        if (psd->depth == 8)
            ((uint8_t *)image)[first + x * channels] = row[x];
        else
            ((uint16_t *)image)[first + x * channels] = (uint16_t)big16(row + 2 * x);
    }
}

/* Where there is alpha, colours are stored blended over white: c = (stored - (1 - a) white) / a, and what then lies outside the
 * range, because of rounding or because the colours were not blended at all, is clamped. */
static void remove_white(const struct psd *psd, void *image) {
    size_t pixels = (size_t)psd->width * psd->height;
    int64_t max = psd->depth == 8 ? 255 : 65535;
    for (size_t i = 0; i < pixels; i++) {
        uint8_t *bytes = (uint8_t *)image + 4 * i;
        uint16_t *words = (uint16_t *)image + 4 * i;
        int64_t alpha = psd->depth == 8 ? bytes[3] : words[3];
        if (alpha == 0 || alpha == max) continue;
        for (int c = 0; c < 3; c++) {
            int64_t rest = (psd->depth == 8 ? bytes[c] : words[c]) - (max - alpha),
                    v = rest < 0 ? 0 : (rest * max + alpha / 2) / alpha;
            if (v > max) v = max;
            if (psd->depth == 8)
                bytes[c] = (uint8_t)v;
            else
                words[c] = (uint16_t)v;
        }
    }
}

const char *psd_decode(const unsigned char *b, size_t size, const struct psd *psd, unsigned char *row, void *image) {
    static const char truncated[] = "truncated: the file ends before the image does";
    size_t row_bytes = (size_t)psd->width * (size_t)(psd->depth / 8), rows = (size_t)psd->height * (size_t)psd->channels;
    size_t lengths = psd->data, at = psd->packed ? lengths + 2 * rows : lengths;
    if (at > size) return truncated;
    for (int channel = 0; channel < psd->channels; channel++) {
        for (uint32_t y = 0; y < psd->height; y++) {
            size_t length = psd->packed ? big16(b + lengths + 2 * ((size_t)channel * psd->height + y)) : row_bytes;
            if (length > size - at) return truncated;
            if (psd->packed && !unpack(b + at, length, row, row_bytes)) return "broken: the run lengths of a row do not make a row";
            interleave(psd, psd->packed ? row : b + at, channel, y, image);
            at += length;
        }
    }
    if (psd->channels == 4) remove_white(psd, image);
    return NULL;
}
