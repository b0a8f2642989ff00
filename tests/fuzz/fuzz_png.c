/* Fuzz target: the reader of PNG. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decoder(&decoder_png, data, size);
}
