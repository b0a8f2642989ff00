/* Fuzz target: the reader of WEBP. */
#include "decode.h"

extern const struct decoder decoder_webp;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decoder(&decoder_webp, data, size);
}
