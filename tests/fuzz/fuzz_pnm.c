/* Fuzz target: the reader of PNM, PAM and PFM. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decoder(&decoder_pnm, data, size);
}
