/* Fuzz target: the reader of JPEG. */
#include "decode.h"

extern const struct decoder decoder_jpeg;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decoder(&decoder_jpeg, data, size);
}
