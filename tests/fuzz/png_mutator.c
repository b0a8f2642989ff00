/* Mutations that keep a PNG as right as it takes to get past its checksums. */
#include "../png_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The fuzzer's own mutations; replay has none. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed);

enum { RAW_MOST = 1 << 16 };

/* The image data are inflated, changed and deflated again, into one IDAT or several. Returns 0 where that cannot be done. */
static size_t change_rows(uint8_t *data, size_t size, size_t capacity, uint64_t seed) {
    static uint8_t packed[RAW_MOST], raw[RAW_MOST];
    size_t begin = 0, end = 0, packed_size = 0;
    for (size_t at = 8; at + 12 <= size;) {
        size_t length = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > size - at - 12 || packed_size + length > RAW_MOST) break;
        if (memcmp(data + at + 4, "IDAT", 4) == 0) {
            if (!begin) begin = at;
            memcpy(packed + packed_size, data + at + 8, length);
            packed_size += length;
            end = at + 12 + length;
        }
        at += 12 + length;
    }
    uLongf raw_size = RAW_MOST;
    if (!begin || uncompress(raw, &raw_size, packed, packed_size) != Z_OK || raw_size == 0) return 0;
    raw_size = LLVMFuzzerMutate(raw, raw_size, RAW_MOST);
    if (raw_size == 0) return 0;
    struct png_file file = {.bytes = malloc(begin), .size = begin};
    if (!file.bytes) abort();
    memcpy(file.bytes, data, begin);
    size_t again_size;
    unsigned char *again = png_deflate(&seed, raw, raw_size, &again_size);
    png_cut_data(&file, &seed, again, again_size);
    free(again);
    size_t all = file.size + (size - end);
    if (all <= capacity) {
        memmove(data + file.size, data + end, size - end);
        memcpy(data, file.bytes, file.size);
    }
    free(file.bytes);
    return all <= capacity ? all : 0;
}

/* Three times of four the CRCs are made right again: with wrong ones nearly nothing would get past the first chunk. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed) {
    if (seed % 16 >= 12) {
        size_t changed = change_rows(data, size, capacity, seed);
        if (changed) return changed;
    }
    size = LLVMFuzzerMutate(data, size, capacity);
    if (seed % 4 && size > 8) png_mend(&(struct png_file){.bytes = data, .size = size});
    return size;
}
