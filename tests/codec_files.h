/* Small files written by hand, with the samples that they hold or what must be said of them. Included by test_codecs.c alone. */
#ifndef CODEC_FILES_H
#define CODEC_FILES_H
#include <stddef.h>

static const struct hand_written {
    const char *name, *bytes;
    size_t size;
    const char *samples; /* the expected first bytes in memory; or the expected error if size_out is 0 */
    size_t size_out;
    int notices;
} files[] = {
#define FILE_OF(name, bytes, samples, notices)                                                                                     \
    { name, bytes, sizeof(bytes) - 1, samples, sizeof(samples) - 1, notices }
#define BMP_40(offset, width) "BM\0\0\0\0\0\0\0\0" offset "\0\0\0\x28\0\0\0" width "\0\0\0\1\0\0\0\1\0\1\0" ZEROS_24
#define ZEROS_24 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define BROKEN(bytes, message)                                                                                                     \
    { "broken", bytes, sizeof(bytes) - 1, message, 0, 0 }
    FILE_OF("PFM big-endian", "Pf\n1 2\n1.0\n\x3f\x80\0\0\x40\0\0\0", "\0\0\0\x40\0\0\x80\x3f", 0),
    FILE_OF("PFM little-endian", "Pf\n1 2\n-1.0\n\0\0\x80\x3f\0\0\0\x40", "\0\0\0\x40\0\0\x80\x3f", 0),
    FILE_OF("PFM scale", "Pf 1 1 -2.5e0\n\0\0\x80\x3f", "\0\0\x80\x3f", 1),
    FILE_OF("PAM black and white", "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\nENDHDR\n\1\0", "\xff\0", 0),
    FILE_OF("PAM data", "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\n\1\2\3\4", "\1\2\3\4", 1),
    FILE_OF("trailing data", "P5 1 1 255\n\5and more", "\5", 1),
    FILE_OF("PSD 8 bit", "8BPS\0\1\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\2\0\10\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3\4\5\6",
            "\1\3\5\2\4\6", 0),
    FILE_OF("PSD 16 bit", "8BPS\0\1\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\1\0\20\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3\4\5\6",
            "\2\1\4\3\6\5", 0),
    FILE_OF("GIF", "GIF89a\2\0\1\0\x80\0\0\1\2\3\4\5\6,\0\0\0\0\2\0\1\0\0\2\2\x44\x0a\0;", "\1\2\3\4\5\6", 0),
    FILE_OF("TGA raw", "\0\0\2\0\0\0\0\0\0\0\0\0\1\0\1\0\x18\x20\3\2\1", "\1\2\3", 0),
    FILE_OF("BMP 1 bit", BMP_40("\x3e", "\2") "\1\2\3\0\4\5\6\0\x40\0\0\0", "\3\2\1\6\5\4", 0),
    BROKEN("P5 1 1 255\n\5P5 1 1 255\n\6", "it holds 2 images"),
    BROKEN("P2 1 1 255\n5\nP2 1 1 255\n6\n", "it holds 2 images"),
    BROKEN("P5 0 1 255\n\5", "no pixels"),
    BROKEN("P5 1 0 255\n\5", "no pixels"),
    BROKEN("P5 1 1 0\n\5", "maxval"),
    BROKEN("P5 1 1 65536\n\5\5", "maxval"),
    BROKEN("P5 -1 1 255\n\5", "width"),
    BROKEN("P5 1 x 255\n\5", "height"),
    BROKEN("P5 99999999999999999999999 1 255\n\5", "width"),
    BROKEN("P5 4294967297 1 255\n\5", "2147483647"),
    BROKEN("P5 2000 2000 255\n\5", "limit"),
    BROKEN("P5 1 1 255x\5", "white space"),
    BROKEN("P2 1 1 9 x", "no number"),
    BROKEN("P2 1 1 9 4294967297", "above the maxval"),
    BROKEN("P1 2 1 02", "above the maxval"),
    BROKEN("P6 3 3 255\n123", "truncated"),
    BROKEN("PF 1 1 0\n123456789012", "scale"),
    BROKEN("PF 1 1 abc\n123456789012", "scale"),
    BROKEN("PF 1 2 1\n123456789012", "truncated"),
    BROKEN("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\n12345", "channels"),
    BROKEN("P7\nWIDTH 1\n", "ENDHDR"),
    BROKEN("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n12", "contradict"),
    BROKEN("P7\nFOO 1\n", "FOO"),
    BROKEN("P7\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nENDHDR\n1", "no pixels"),
    BROKEN("P7\nWIDTH 1x\nENDHDR\n1", "WIDTH"),
    BROKEN("GIF89a\1\0\1\0\x80\0\0\1\2\3\4\5\6,\0\0\0\0\1\0\1\0\0\2\2\x44\1\0,\0\0\0\0\1\0\1\0\0\2\2\x4c\1\0;", "2 frames"),
    BROKEN("GIF89a\1\0\1\0\x80\0\0\1\2\3\4\5\6,\0\0\0\0\1\0\1\0\0\2\2\x54\1\0;", "palette"),
    BROKEN("GIF89a\2\0\1\0\x80\0\0\1\2\3\4\5\6;", "GIF"),
    BROKEN("\xff\xd8\xff\xe0", "truncated"),
    BROKEN("BM", "truncated"),
    BROKEN("8BPS\0\1\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\1\0\10\0\4\0\0\0\0", "RGB"),
    BROKEN("#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n", "HDR"),
    BROKEN(BMP_40("\x3a", "\2") "\1\2\3\0\x40\0\0\0", "palette"),
};
#endif
