/* Fuzz target: the reader of PNG. */
#include "decode.h"
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_decoder(&decoder_png, data, size);
}

/* The fuzzer's own mutations; replay has none. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed);

/* Three times of four the CRCs are made right again: with wrong ones nearly nothing would get past the first chunk. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed) {
    size = LLVMFuzzerMutate(data, size, capacity);
    for (size_t at = 8; seed % 4 && at + 12 <= size;) {
        size_t length = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > size - at - 12) break;
        uint32_t crc = (uint32_t)crc32(0, data + at + 4, (uInt)length + 4);
        uint8_t *to = data + at + 8 + length;
        for (int i = 0; i < 4; i++) to[i] = (uint8_t)(crc >> (24 - 8 * i));
        at += length + 12;
    }
    return size;
}
