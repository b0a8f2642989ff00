/* Fuzz target: the reader of BMP, TGA, GIF, PSD and HDR (and of JPEG in builds without libjpeg) through stb_image. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decoder(&decoder_stb, data, size);
}
