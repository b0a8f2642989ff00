/* The fast way of reading PNG against libpng's: the same status, pixels and warnings from sound, damaged and cut files, for every
 * instruction set, from files and from pipes. Runs in the folder of its source; the argument, if any, is the seed. */
#include "kernel.h"
#include "png_both.h"
#include "png_files.h"

#include <dirent.h>
#include <inttypes.h>

/* Sanitizers make it a hundred times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARE 4
#else
#define SHARE 1
#endif

static long checks, failures, read_well, refused;

static void check_equal(const struct outcome *a, const struct outcome *b, const char *name, const char *how) {
    const char *what = png_difference(a, b);
    /* These files have one fault each, or are known. */
    if (!what && a->status && strcmp(a->error.message, b->error.message) != 0) what = "another message";
    checks++;
    if (!what || failures++ > 20) return;
    printf("FAILED: %s (%s): %s\n", name, how, what);
    print_outcomes(a, b);
}

/* `name` is for messages. */
static void compare(const char *name, const unsigned char *bytes, size_t size) {
    for (int allow = 0; allow < 2; allow++) {
        struct outcome slow, fast;
        struct source_options options = {.allow_truncated = allow, .reference = true};
        decode_png(bytes, size, true, options, &slow);
        *(slow.status ? &refused : &read_well) += 1;
        options.reference = false;
        for (options.isa = 0; options.isa <= kernel_isa_best(); options.isa++) {
            char how[80];
            snprintf(how, sizeof how, "%s%s", kernel_isa_names[options.isa], allow ? ", cut allowed" : "");
            decode_png(bytes, size, true, options, &fast);
            check_equal(&slow, &fast, name, how);
            free(fast.pixels);
        }
        free(slow.pixels);
        /* A pipe has warnings of its own. */
        options.reference = true;
        decode_png(bytes, size, false, options, &slow);
        options.reference = false;
        options.isa = kernel_isa_best();
        decode_png(bytes, size, false, options, &fast);
        check_equal(&slow, &fast, name, allow ? "pipe, cut allowed" : "pipe");
        free(slow.pixels);
        free(fast.pixels);
    }
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void compare_folder(const char *folder) {
    struct dirent **names;
    int count = scandir(folder, &names, NULL, by_name);
    long before = checks;
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        struct png_file file = names[i]->d_name[0] == '.' ? (struct png_file){0} : png_load(path);
        if (file.size) compare(path, file.bytes, file.size);
        free(file.bytes);
        free(names[i]);
    }
    if (count > 0) free(names);
    if (checks == before && failures++ <= 20) printf("FAILED: no files in %s\n", folder);
}

/* Every byte once as it must not be, with the CRC of its chunk as it was, and made right again. */
static void compare_flips(const char *name, const struct png_file *file, uint64_t *seed) {
    for (size_t at = 8; at < file->size; at++) {
        char text[300];
        unsigned char was = file->bytes[at];
        snprintf(text, sizeof text, "%s, byte %zu", name, at);
        file->bytes[at] ^= (unsigned char)(png_random(seed) % 2 ? 1u << png_random(seed) % 8 : 1 + png_random(seed) % 255);
        compare(text, file->bytes, file->size);
        struct png_file mended = {.bytes = malloc(file->size), .size = file->size};
        if (!mended.bytes) abort();
        memcpy(mended.bytes, file->bytes, file->size);
        png_mend(&mended);
        snprintf(text, sizeof text, "%s, byte %zu, right CRCs", name, at);
        compare(text, mended.bytes, mended.size);
        free(mended.bytes);
        file->bytes[at] = was;
    }
}

static void compare_cuts(const char *name, const struct png_file *file) {
    for (size_t size = 8; size < file->size; size++) {
        char text[300];
        unsigned char *copy = malloc(size);
        if (!copy) abort();
        memcpy(copy, file->bytes, size);
        snprintf(text, sizeof text, "%s cut to %zu bytes", name, size);
        compare(text, copy, size);
        free(copy);
    }
}

enum change { WHOLE, FLIPS, CUTS };

static void compare_random(uint64_t seed, int count, uint32_t side, enum change change) {
    for (int i = 0; i < count; i++) {
        char name[200];
        uint64_t state = seed + (uint64_t)i;
        struct png_file file = png_make(&state, side, name, sizeof name);
        snprintf(name + strlen(name), sizeof name - strlen(name), ", seed %" PRIu64, seed + (uint64_t)i);
        if (change == WHOLE) compare(name, file.bytes, file.size);
        if (change == FLIPS) compare_flips(name, &file, &state);
        if (change == CUTS) compare_cuts(name, &file);
        free(file.bytes);
    }
}

int main(int count, char **arguments) {
    uint64_t seed = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    compare_folder("pngsuite");
    compare_folder("fuzz/corpus/png");
    compare_random(seed, 300 / SHARE, 30, WHOLE);
    compare_random(seed + 1000, 60 / SHARE, 300, WHOLE);
    compare_random(seed + 2000, 8 / SHARE, 9, FLIPS);
    compare_random(seed + 3000, 20 / SHARE, 12, CUTS);
    printf("%ld comparisons, %ld failed; %ld files read, %ld refused\n", checks, failures, read_well, refused);
    return failures || !read_well || !refused;
}
