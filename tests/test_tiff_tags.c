/* TIFF files with one damaged tag, and cut ones, are refused or the same image: no tag that decides pixels is left out. The arguments are
 * files that are read as they are; exit status 0 or 1. */
#include "load_source.h"
#include "tiff_ifd.h"
#include <tiffio.h>

static int checks, failures, refusals;

static void check(bool ok, const char *file, const char *what, int tag, const char *detail) {
    checks++;
    if (ok || failures++ > 20) return;
    fprintf(stderr, "FAILED: %s, tag or size %d: %s%s\n", file, tag, what, detail);
}

static imgpipe_status load(const unsigned char *bytes, size_t size, bool allow, struct image *image, imgpipe_error *error) {
    return load_source(bytes, size, true, allow, NULL, image, error);
}

static bool same_kind(const struct image *a, const struct image *b) {
    return a->size == b->size && a->info.width == b->info.width && a->info.format.type == b->info.format.type &&
           a->info.format.channels == b->info.format.channels && a->info.format.alpha == b->info.format.alpha;
}

static void check_damaged(const char *name, const unsigned char *bytes, size_t size, const struct image *whole, const char *what,
                          int tag) {
    struct image image;
    imgpipe_error error;
    for (int allow = 0; allow < 2; allow++) {
        imgpipe_status status = load(bytes, size, allow, &image, &error);
        refusals += status != IMGPIPE_OK;
        check(!status || (error.message[0] && strchr(error.message, ';')), name, what, tag, error.message);
        if (status) continue;
        check(same_kind(&image, whole), name, what, tag, ": it is read as an image of another kind");
        if (!allow)
            check(same_kind(&image, whole) && !memcmp(image.pixels, whole->pixels, whole->size), name, what, tag,
                  ": it is read as another image");
        free(image.pixels);
    }
}

/* Where entry `index` stands: bytes of tag, type, count and value, the latter two of `word` bytes. */
static void damage_entry(const char *name, unsigned char *bytes, size_t size, const struct image *whole,
                         const struct ifd_reader *reader, size_t entry_at, const struct ifd_entry *entry) {
    size_t word = reader->big ? 8 : 4, entry_size = 4 + 2 * word;
    unsigned char kept[20], *at = bytes + entry_at;
    bool little = bytes[0] == 'I';
    memcpy(kept, at, entry_size);
    at[little ? 2 : 3] = 2; /* text */
    check_damaged(name, bytes, size, whole, "another type", entry->tag);
    memcpy(at, kept, entry_size);
    memset(at + 4, 0, word);
    check_damaged(name, bytes, size, whole, "no value", entry->tag);
    memcpy(at, kept, entry_size);
    if (entry->size > word) {
        memset(at + 4 + word, 0x7f, word);
        check_damaged(name, bytes, size, whole, "values outside the file", entry->tag);
        memcpy(at, kept, entry_size);
    }
}

static void check_file(const char *name) {
    static unsigned char bytes[1 << 16];
    size_t size = load_bytes(name, bytes, sizeof bytes);
    struct image whole;
    imgpipe_error error;
    imgpipe_status status = load(bytes, size, false, &whole, &error);
    check(!status, name, "the whole file: ", (int)size, error.message);
    if (status) return;
    struct metadata_block block = {bytes, size};
    struct ifd_reader reader = {.read = ifd_read_block, .from = &block};
    struct ifd ifd;
    uint64_t first;
    if (!ifd_begin(&reader, &first) || !ifd_read(&reader, first, &ifd)) abort();
    for (int i = 0; i < ifd.count; i++)
        damage_entry(name, bytes, size, &whole, &reader, first + (reader.big ? 8 : 2) + (size_t)i * (reader.big ? 20 : 12),
                     &ifd.entries[i]);
    ifd_free(&ifd);
    for (size_t cut = 8; cut < size; cut++) check_damaged(name, bytes, cut, &whole, "cut", (int)cut);
    free(whole.pixels);
}

/* A palette stands behind the pixels in many files: the file ends within it. */
static void test_palette_last(const char *name) {
    static unsigned char bytes[1 << 16];
    size_t size = load_bytes(name, bytes, sizeof bytes / 2);
    struct image whole;
    imgpipe_error error;
    struct metadata_block block = {bytes, size};
    struct ifd_reader reader = {.read = ifd_read_block, .from = &block};
    struct ifd ifd;
    uint64_t first;
    if (load(bytes, size, false, &whole, &error) || !ifd_begin(&reader, &first) || !ifd_read(&reader, first, &ifd)) abort();
    size_t colors = 0;
    for (int i = 0; i < ifd.count; i++) {
        if (ifd.entries[i].tag != TIFFTAG_COLORMAP) continue;
        uint32_t place = (uint32_t)size;
        colors = ifd.entries[i].size;
        memcpy(bytes + size, bytes + ifd.entries[i].at, colors);
        for (int k = 0; k < 4; k++)
            bytes[first + 2 + 12 * (size_t)i + 8 + (size_t)(bytes[0] == 'I' ? k : 3 - k)] = (unsigned char)(place >> 8 * k);
    }
    ifd_free(&ifd);
    check(colors > 0, name, "it has no palette", 0, "");
    check_damaged(name, bytes, size + colors, &whole, "the palette is last", 0);
    int before = refusals;
    for (size_t cut = size; cut < size + colors; cut += 7) check_damaged(name, bytes, cut, &whole, "a cut palette", (int)cut);
    check(refusals == before + 2 * (int)((colors + 6) / 7), name, "a cut palette is not refused", 0, "");
    free(whole.pixels);
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) check_file(arguments[i]);
    if (count > 1) test_palette_last(arguments[1]);
    printf("%d checks, %d failed; %d refused\n", checks, failures, refusals);
    return failures || refusals == 0;
}
