/* Fuzz target: the fast way of reading PNG must give what libpng's gives, in every instruction set, from files and pipes. */
#include "../png_both.h"
#include "kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const uint8_t *data, size_t size, bool can_seek, bool allow_truncated, int isa) {
    struct outcome slow, fast;
    struct source_options options = {.allow_truncated = allow_truncated, .isa = isa, .reference = true};
    decode_png(data, size, can_seek, options, &slow);
    options.reference = false;
    decode_png(data, size, can_seek, options, &fast);
    const char *what = png_difference(&slow, &fast);
    if (what) {
        printf("%s, %s, %s: %s\n", can_seek ? "file" : "pipe", kernel_isa_names[isa], allow_truncated ? "cut allowed" : "strict", what);
        print_outcomes(&slow, &fast);
        fflush(stdout);
        abort();
    }
    free(slow.pixels);
    free(fast.pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 8 || memcmp(data, "\x89PNG", 4) != 0) return 0;
    int isa = (int)(size % (unsigned)(kernel_isa_best() + 1));
    compare(data, size, true, false, isa);
    compare(data, size, true, true, isa);
    compare(data, size, false, false, isa);
    return 0;
}
