/* Fuzz target: the reader of TIFF. */
#include "decode.h"

extern const struct decoder decoder_tiff;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decoder(&decoder_tiff, data, size);
}
