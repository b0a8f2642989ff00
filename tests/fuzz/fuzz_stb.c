/* Fuzz target: the readers of BMP, TGA, PSD and HDR (and of JPEG in builds without libjpeg) through stb_image, and of GIF. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decoder(&decoder_gif, data, size) | fuzz_decoder(&decoder_stb, data, size);
}
