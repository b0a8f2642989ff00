/* TIFF: round trips of every format and layout, damage at every byte, mutations, directories, and which files are BigTIFF.
 * Exit status 0 or 1; the argument is a seed (default 1). */
#include "sink.h"
#include "source.h"
#include "tiff_ifd.h"
#include "save_image.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <unistd.h>

static int checks, failures, warnings;
static char folder[64], path[128];
static bool allow_truncated;

static void IMGPIPE_PRINTF(2, 3) check(bool ok, const char *format, ...) {
    checks++;
    if (ok || failures++ > 20) return;
    va_list args;
    va_start(args, format);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static uint64_t random_state;
static uint32_t random_u32(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static void count_warning(void *user, imgpipe_log_level level, const char *message) {
    (void)user, (void)message;
    if (level == IMGPIPE_LOG_WARNING) warnings++;
}
static const struct log test_log = {count_warning, NULL};

/* ------------------------------------------------------------------------------------------- files and images */

struct bytes {
    unsigned char *data;
    size_t size;
};

static struct bytes read_file(void) {
    FILE *f = fopen(path, "rb");
    struct bytes b = {malloc(1 << 20), 0};
    if (!f || !b.data) abort();
    b.size = fread(b.data, 1, 1 << 20, f);
    fclose(f);
    return b;
}

static size_t image_size(const imgpipe_image *image) {
    return (size_t)image->info.height * (size_t)image->stride;
}

static imgpipe_image new_image(imgpipe_info info) {
    imgpipe_image image = {info, NULL, (ptrdiff_t)((size_t)info.width * imgpipe_pixel_size(info.format))};
    image.pixels = calloc(1, image_size(&image));
    if (!image.pixels) abort();
    return image;
}

/* Any bits, which for floats are NaN too, and runs. */
static imgpipe_image random_image(imgpipe_info info) {
    imgpipe_image image = new_image(info);
    unsigned char *p = image.pixels;
    size_t pixel = imgpipe_pixel_size(info.format), n = image_size(&image);
    for (size_t i = 0; i < n; i++) p[i] = (unsigned char)random_u32();
    for (size_t i = pixel; i + pixel <= n; i += pixel)
        if (random_u32() % 3 == 0) memcpy(p + i, p + i - pixel, pixel);
    return image;
}

/* Reads in calls of varying height. On success the pixels belong to the caller; `storage` and `metadata` may be NULL. */
static imgpipe_status load(struct bytes b, bool can_seek, imgpipe_image *image, struct storage *storage, imgpipe_error *error) {
    struct source_options options = {
        .log = &test_log, .alpha = -1, .max_pixels = 1 << 20, .memory = 1 << 26, .allow_truncated = allow_truncated};
    struct input *input;
    struct source *source;
    memset(error, 0, sizeof *error);
    imgpipe_status status = input_memory(b.data, b.size, can_seek, &input, error);
    if (!status) status = source_open(input, &options, &source, error);
    if (status) return status;
    *image = new_image(source->info);
    for (int64_t y = 0; y < source->info.height && !status;) {
        void *rows[5];
        int count = 1 + (int)(random_u32() % 5);
        if (count > source->info.height - y) count = (int)(source->info.height - y);
        for (int i = 0; i < count; i++) rows[i] = (unsigned char *)image->pixels + (y + i) * image->stride;
        status = source_read(source, rows, count, error);
        y += count;
    }
    if (!status) status = source_finish(source, error);
    if (storage) *storage = source->storage;
    source_close(source);
    if (status) free(image->pixels);
    return status;
}

static imgpipe_status save(const imgpipe_image *image, const struct storage *storage, imgpipe_error *error) {
    struct sink_options options = {.log = &test_log, .level = 4, .storage = storage};
    return save_image(path, encoder_find("tiff"), image, &options, error);
}

static bool same_image(const imgpipe_image *a, const imgpipe_image *b) {
    imgpipe_format f = a->info.format, g = b->info.format;
    return a->info.width == b->info.width && a->info.height == b->info.height && f.type == g.type && f.channels == g.channels &&
           f.alpha == g.alpha && !memcmp(a->pixels, b->pixels, image_size(a));
}

/* ------------------------------------------------------------------------------------------------ round trips */

static const struct storage layouts[] = {
    {0},
    {.compression = COMPRESSION_NONE},
    {.compression = COMPRESSION_NONE, .big_endian = true, .separate_planes = true},
    {.compression = COMPRESSION_LZW, .predictor = 2},
    {.compression = COMPRESSION_LZW, .predictor = 1, .separate_planes = true},
    {.compression = COMPRESSION_ADOBE_DEFLATE, .predictor = 3},
    {.compression = COMPRESSION_ADOBE_DEFLATE, .predictor = 3, .big_endian = true},
    {.compression = COMPRESSION_PACKBITS},
    {.compression = COMPRESSION_NONE, .tile_width = 16, .tile_height = 16},
    {.compression = COMPRESSION_LZW, .predictor = 2, .tile_width = 32, .tile_height = 16, .big_endian = true},
    {.compression = COMPRESSION_ADOBE_DEFLATE, .predictor = 2, .tile_width = 16, .tile_height = 64, .separate_planes = true},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void round_trip(imgpipe_info info, int index) {
    const struct storage *layout = &layouts[index];
    imgpipe_image image = random_image(info), back;
    imgpipe_error error = {0};
    struct storage kept;
    imgpipe_status status = save(&image, layout->compression ? layout : NULL, &error);
    check(!status, "layout %d: %s", index, error.message);
    struct bytes b = status ? (struct bytes){0} : read_file();
    for (int piped = 0; piped < 2 && !status; piped++) {
        imgpipe_status got = load(b, !piped, &back, &kept, &error);
        check(!got, "layout %d, %lldx%lld: %s", index, (long long)info.width, (long long)info.height, error.message);
        if (got) continue;
        check(same_image(&image, &back), "layout %d, %lldx%lldx%d type %d: pixels differ", index, (long long)info.width,
              (long long)info.height, info.format.channels, info.format.type);
        free(back.pixels);
        if (!layout->compression) continue;
        check(kept.compression == layout->compression && kept.tile_width == layout->tile_width &&
                  kept.tile_height == layout->tile_height && kept.big_endian == layout->big_endian &&
                  kept.separate_planes == (layout->separate_planes && info.format.channels > 1),
              "layout %d is not kept", index);
    }
    free(b.data);
    free(image.pixels);
}

static void test_round_trips(void) {
    static const int sizes[][2] = {{1, 1}, {7, 1}, {1, 9}, {13, 11}, {40, 30}, {129, 5}, {2, 200}, {700, 301}};
    for (int k = 0; k < LAYOUTS; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            for (int type = 0; type < 3; type++)
                for (int channels = 1; channels <= (i == 7 ? 1 : 4); channels++)
                    for (int alpha = 0; alpha <= (channels == 2 || channels == 4); alpha++)
                        round_trip((imgpipe_info){sizes[i][0], sizes[i][1], {(imgpipe_type)type, channels, alpha != 0}}, k);
}

/* Two writings are the same bytes. */
static void test_reproducible(void) {
    imgpipe_image image = random_image((imgpipe_info){50, 40, {IMGPIPE_U16, 3, false}});
    imgpipe_error error;
    for (int k = 0; k < LAYOUTS; k++) {
        struct bytes first, second;
        if (save(&image, &layouts[k], &error)) abort();
        first = read_file();
        if (save(&image, &layouts[k], &error)) abort();
        second = read_file();
        check(first.size == second.size && !memcmp(first.data, second.data, first.size), "layout %d: two writings differ", k);
        free(first.data);
        free(second.data);
    }
    free(image.pixels);
}

/* Which of the two kinds of file is begun for an image of this size. */
static void test_big(int64_t width, int64_t height, int version) {
    struct outfile *out;
    struct sink *sink;
    imgpipe_error error = {0};
    imgpipe_info info = {width, height, {IMGPIPE_U8, 1, false}};
    struct sink_options options = {.log = &test_log, .level = 4};
    if (outfile_open(path, false, &out, &error) || encoder_find("tiff")->open(out, &info, &options, &sink, &error)) {
        check(false, "opening an output of %lld rows: %s", (long long)height, error.message);
        return;
    }
    sink_close(sink);
    if (outfile_commit(out, &error)) abort();
    struct bytes b = read_file();
    check(b.size >= 8 && b.data[0] == 'I' && b.data[2] == version, "%lld x %lld: version %d", (long long)width, (long long)height,
          b.size > 2 ? b.data[2] : -1);
    free(b.data);
}

/* --------------------------------------------------------------------------------------------------- directories */

/* A file of libtiff's, whose directory is at its end, with the directory in front: a cut then takes pixels alone. */
static struct bytes directory_first(struct bytes b) {
    struct metadata_block from = {b.data, b.size}, to = {NULL, 0};
    struct ifd_reader reader = {.read = ifd_read_block, .from = &from};
    uint64_t first, at;
    if (!ifd_begin(&reader, &first) || reader.big || reader.swap) abort();
    struct ifd_tree *tree = ifd_tree_read(&reader, first, NULL, 0);
    if (!tree || !ifd_tree_write(tree, false, false, 8, &to, &at)) abort();
    for (int i = 0; i < tree->count; i++) {
        struct ifd_tag *tag = &tree->tags[i];
        if (tag->tag != TIFFTAG_STRIPOFFSETS && tag->tag != TIFFTAG_TILEOFFSETS) continue;
        for (uint64_t k = 0; k < tag->count; k++) {
            if (tag->type == 3) ((uint16_t *)(void *)tag->values)[k] = (uint16_t)(((uint16_t *)(void *)tag->values)[k] + to.size);
            if (tag->type == 4) ((uint32_t *)(void *)tag->values)[k] += (uint32_t)to.size;
        }
    }
    free(to.bytes);
    to = (struct metadata_block){NULL, 0};
    if (!ifd_tree_write(tree, false, false, 8, &to, &at)) abort();
    ifd_tree_free(tree);
    struct bytes out = {malloc(8 + to.size + b.size), 8 + to.size + (first - 8)};
    memcpy(out.data, "II*\0\10\0\0\0", 8);
    memcpy(out.data + 8, to.bytes, to.size);
    memcpy(out.data + 8 + to.size, b.data + 8, first - 8);
    free(to.bytes);
    free(b.data);
    return out;
}

/* A tree written in any form is read as the same tree. */
static void test_tree(bool big, bool swap) {
    unsigned char inner_values[5] = {1, 2, 3, 4, 5}, wide[8] = {0}, text[] = "Maker";
    uint16_t number = 3;
    double real = 0.1;
    struct ifd_tag inner[] = {{37500, 7, 5, inner_values, 5, NULL}, {33434, 5, 1, wide, 8, NULL}};
    memcpy(wide, (uint32_t[]){1, 250}, 8);
    struct ifd_tag swapped = inner[0];
    inner[0] = inner[1];
    inner[1] = swapped;
    struct ifd_tree child = {inner, 2};
    struct ifd_tag outer[] = {{271, 2, 6, text, 6, NULL},
                              {274, 3, 1, (unsigned char *)&number, 2, NULL},
                              {33550, 12, 1, (unsigned char *)&real, 8, NULL},
                              {IFD_EXIF, 4, 1, NULL, 0, &child}};
    struct ifd_tree tree = {outer, 4};
    struct metadata_block block = {NULL, 0};
    static const char heads[2][2][17] = {{"II*\0\10\0\0\0", "MM\0*\0\0\0\10"},
                                         {"II+\0\10\0\0\0\20\0\0\0\0\0\0\0", "MM\0+\0\10\0\0\0\0\0\0\0\0\0\20"}};
    uint64_t at, first;
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    if (!metadata_set(&block, heads[big][little == swap], big ? 16 : 8) || !ifd_tree_write(&tree, big, swap, 0, &block, &at))
        abort();
    struct ifd_reader reader = {.read = ifd_read_block, .from = &block};
    check(ifd_begin(&reader, &first) && reader.big == big && reader.swap == swap && first == at, "the header of a tree, %d %d", big,
          swap);
    struct ifd_tree *back = ifd_tree_read(&reader, at, NULL, 0);
    const struct ifd_tag *maker = ifd_tree_find(back, 271), *turn = ifd_tree_find(back, 274), *scale = ifd_tree_find(back, 33550),
                         *exif = ifd_tree_find(back, IFD_EXIF);
    check(maker && turn && scale && exif && exif->child && maker->count == 6 && !memcmp(maker->values, text, 6) &&
              !memcmp(turn->values, &number, 2) && !memcmp(scale->values, &real, 8),
          "a tree is read as another, %d %d", big, swap);
    const struct ifd_tag *time = exif ? ifd_tree_find(exif->child, 33434) : NULL,
                         *note = exif ? ifd_tree_find(exif->child, 37500) : NULL;
    check(time && note && !memcmp(time->values, wide, 8) && note->size == 5 && !memcmp(note->values, inner_values, 5),
          "a directory below is read as another, %d %d", big, swap);
    ifd_tree_free(back);
    for (size_t n = 0; n < block.size; n++) {
        struct metadata_block cut = {malloc(n ? n : 1), n};
        memcpy(cut.bytes, block.bytes, n);
        reader.from = &cut;
        if (ifd_begin(&reader, &first)) ifd_tree_free(ifd_tree_read(&reader, first, NULL, 0));
        free(cut.bytes);
    }
    free(block.bytes);
}

/* ------------------------------------------------------------------------------------------------------ damage */

static void one_line(const char *what, imgpipe_status status, const imgpipe_error *error) {
    check(status == error->status && error->message[0] && !strchr(error->message, '\n') && strchr(error->message, ';'),
          "%s: status %d, message '%s'", what, status, error->message);
}

/* Bytes in a block of exactly their size, so that the address sanitizer sees what is read behind them. */
static imgpipe_status load_copy(const unsigned char *data, size_t size, imgpipe_image *image, imgpipe_error *error) {
    struct bytes copy = {malloc(size), size};
    memcpy(copy.data, data, size);
    imgpipe_status status = load(copy, random_u32() % 2, image, NULL, error);
    free(copy.data);
    return status;
}

static void mutate(const char *what, struct bytes b) {
    imgpipe_image image;
    imgpipe_error error;
    for (int round = 0; round < 400; round++) {
        unsigned char *mutated = malloc(b.size);
        memcpy(mutated, b.data, b.size);
        /* Half of the rounds change what stands in the directory. */
        size_t from = round % 2      ? 0
                      : b.size > 250 ? b.size - 250
                                     : 0,
               span = round % 2 ? (b.size < 250 ? b.size : 250) : b.size - from;
        for (int i = 0; i <= round % 4; i++) mutated[from + random_u32() % span] = (unsigned char)random_u32();
        imgpipe_status status = load_copy(mutated, b.size, &image, &error);
        free(mutated);
        if (status)
            one_line(what, status, &error);
        else
            free(image.pixels);
    }
}

/* Every shorter file is refused, or had all pixels. With leave to be truncated rows are right as far as there are bytes for them,
 * and 0 beyond. */
static void test_damage(int index, bool first) {
    imgpipe_image whole = random_image((imgpipe_info){19, 23, {IMGPIPE_U16, 3, false}}), image;
    imgpipe_error error;
    char what[64];
    snprintf(what, sizeof what, "layout %d, directory %s", index, first ? "first" : "last");
    if (save(&whole, &layouts[index], &error)) abort();
    struct bytes b = read_file();
    if (first) b = directory_first(b);
    check(!load_copy(b.data, b.size, &image, &error), "%s: %s", what, error.message);
    check(same_image(&whole, &image), "%s: pixels differ", what);
    free(image.pixels);
    int read = 0, most = 0;
    for (size_t n = 1; n < b.size; n++) {
        imgpipe_status status = load_copy(b.data, n, &image, &error);
        if (status) one_line(what, status, &error);
        check(status || same_image(&whole, &image), "%s: cut to %zu of %zu bytes it is read as another image", what, n, b.size);
        if (!status) free(image.pixels);
        allow_truncated = true;
        warnings = 0;
        status = load_copy(b.data, n, &image, &error);
        allow_truncated = false;
        if (status) continue;
        size_t same = 0, row = (size_t)image.stride;
        while (same < image_size(&image) && !memcmp((char *)image.pixels + same, (char *)whole.pixels + same, row)) same += row;
        check(same == image_size(&image) || warnings > 0, "%s: cut to %zu, without a warning", what, n);
        read++;
        if ((int)(same / row) > most)
            most = (int)(same / row);
        else
            check((int)(same / row) >= most || index >= 8 || layouts[index].separate_planes, "%s: fewer rows from %zu bytes", what,
                  n);
        free(image.pixels);
    }
    check(!first || (read > 100 && most >= 10), "%s: %d cut files were read, with up to %d rows", what, read, most);
    mutate(what, b);
    free(b.data);
    free(whole.pixels);
}

int main(int argc, char **argv) {
    random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    snprintf(folder, sizeof folder, "%s/test_tiff.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/file.tif", folder);
    test_round_trips();
    test_reproducible();
    test_big(60000, 60000, 42);
    test_big(70000, 70000, 43);
    test_big(65536, 65536, 43);
    for (int i = 0; i < 4; i++) test_tree(i & 1, i & 2);
    for (int k = 1; k < LAYOUTS; k++) {
        test_damage(k, false);
        if (!layouts[k].big_endian) test_damage(k, true);
    }
    unlink(path);
    rmdir(folder);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
