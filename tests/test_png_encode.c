/* What the PNG encoder writes, judged by decoders that share no code with it: libpng, stb_image and, where it was found, libspng.
 * Every level, format and instruction set meets content that is easy to get wrong; large images, which are encoded in several
 * pieces side by side, must become the same file with any number of threads.
 *
 * The size of files, of photographs (SAMPLE) and of a screen, is held to that of libpng's.
 *
 *     test_png_encode [SEED [SAMPLE...]] */
#include "imgpipe.h"
#include "kernel.h"
#include "outfile.h"
#include "sink.h"

#include "checks.h"
#include "png_decoders.h"
#include "save_image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* Sanitizers make it many times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARE 8
#else
#define SHARE 1
#endif

static uint64_t state;

static uint32_t next(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* ----------------------------------------------------------------------------------------------------- content */

/* Bytes of whole rows: what a filter or coder sees, so 16-bit samples need nothing of their own. */
enum content {
    CONSTANT, TWO_VALUED, RAMP, STEEP_RAMP, NOISE, FEW_VALUES, LONG_RUNS, NEAR_REPEATS, ROWS_AGAIN, SPARSE, RARE, EXTREMES
};
static const char *const content_names[] = {"constant",  "two values",   "ramp",       "steep ramp", "noise",   "few values",
                                            "long runs", "near repeats", "rows again", "sparse",     "rare", "extremes"};
#define CONTENTS (int)(sizeof content_names / sizeof *content_names)

static unsigned char byte_at(enum content content, const unsigned char *bytes, size_t i, size_t row) {
    size_t x = i % row, y = i / row;
    switch (content) {
    case TWO_VALUED: return next(2) ? 255 : 0;
    case RAMP: return (unsigned char)(x + y);
    case STEEP_RAMP: return (unsigned char)(x * x / 7 + 31 * y);
    case NOISE: return (unsigned char)next(256);
    case FEW_VALUES: return (unsigned char)(next(8) ? 17 : next(40));
    case LONG_RUNS: return i > 0 && next(400) ? bytes[i - 1] : (unsigned char)next(256);
    case NEAR_REPEATS: return i >= 61 && next(90) ? bytes[i - 61] : (unsigned char)next(256);
    case ROWS_AGAIN: return y > 0 && next(300) ? bytes[i - row] : (unsigned char)next(256);
    case SPARSE: return next(700) ? 0 : (unsigned char)(1 + next(255));
    case RARE: return (unsigned char)(next(3000) ? next(7) : next(256));
    case EXTREMES: return (unsigned char)((x + y) % 2 ? 255 - next(2) : next(2));
    default: return 90;
    }
}

static imgpipe_image make_image(imgpipe_info info, enum content content) {
    imgpipe_image image = {.info = info, .stride = (ptrdiff_t)((size_t)info.width * imgpipe_pixel_size(info.format))};
    const size_t row = (size_t)image.stride, size = row * (size_t)info.height;
    unsigned char *bytes = image.pixels = malloc(size);
    if (!bytes) abort();
    for (size_t i = 0; i < size; i++) bytes[i] = byte_at(content, bytes, i, row);
    return image;
}

static void describe(char *text, size_t size, const imgpipe_image *image, enum content content, int level, int isa) {
    const imgpipe_info *info = &image->info;
    snprintf(text, size, "%s, %" PRId64 " x %" PRId64 " of %d channels with %d bits, level %d, %s", content_names[content],
             info->width, info->height, info->format.channels, info->format.type == IMGPIPE_U16 ? 16 : 8, level,
             kernel_isa_names[isa]);
}

static bool good(bool right, const char *what, const char *of) {
    checks++;
    if (!right && failures++ < 20) printf("FAIL  %s: %s\n", of, what);
    return right;
}

/* ----------------------------------------------------------------------------------------------------- encoding */

static struct png_file encode(const char *path, const imgpipe_image *image, int level, int isa, const char *what) {
    imgpipe_error error = {0};
    struct sink_options options = {.level = level, .isa = isa};
    imgpipe_status status = save_image(path, encoder_find("png"), image, &options, &error);
    good(status == IMGPIPE_OK, error.message, what);
    return status ? (struct png_file){0} : png_load(path);
}

static void judge(const struct png_file *file, const imgpipe_image *image, const char *what) {
    for (const struct png_decoder *d = png_decoders; d->name; d++) {
        char text[300];
        snprintf(text, sizeof text, "%s, read by %s", what, d->name);
        good(d->equal(file, image), "other pixels, or refused", text);
    }
}

/* With every instruction set; the files are the same. */
static void check_image(const char *path, const imgpipe_image *image, enum content content, int level) {
    struct png_file first = {0};
    for (int isa = 0; isa <= kernel_isa_best(); isa++) {
        char what[200];
        describe(what, sizeof what, image, content, level, isa);
        struct png_file file = encode(path, image, level, isa, what);
        if (isa == 0) {
            judge(&file, image, what);
            first = file;
            continue;
        }
        good(file.size == first.size && memcmp(file.bytes, first.bytes, file.size) == 0, "another file than baseline's", what);
        free(file.bytes);
    }
    free(first.bytes);
}

/* Levels take turns, so that each meets every content, format and width. */
static void check_small(const char *path) {
    static const int64_t widths[] = {1,  2,  3,  5,  7,  8,  11, 15,  16,  17,  21,  31,
                                     32, 33, 43, 63, 64, 65, 86, 127, 128, 129, 257, 1025};
    int turn = 0;
    for (int content = 0; content < CONTENTS; content++)
        for (int kind = 0; kind < 8; kind++)
            for (size_t w = 0; w < sizeof widths / sizeof *widths; w++, turn++) {
                if (turn % SHARE) continue;
                const int channels = kind % 4 + 1;
                imgpipe_info info = {widths[w],
                                     w % 4   ? 1 + next(24)
                                     : w % 8 ? 1
                                             : 300,
                                     {kind < 4 ? IMGPIPE_U8 : IMGPIPE_U16, channels, channels % 2 == 0}};
                imgpipe_image image = make_image(info, (enum content)content);
                check_image(path, &image, (enum content)content, (turn / SHARE * 3 + turn / 10) % 10);
                free(image.pixels);
            }
}

/* ------------------------------------------------------------------------------------------------ side by side */

/* Of the plan that -v shows. */
static void see_strips(void *user, imgpipe_log_level level, const char *message) {
    (void)level;
    const char *at = strstr(message, "strips of ");
    if (at) *(long *)user = strtol(at + strlen("strips of "), NULL, 10);
}

static struct png_file run(const char *from, const char *to, int level, int threads, const char *isa, uint64_t memory,
                            long *strip_rows) {
    imgpipe_context_options wishes = imgpipe_context_options_default();
    imgpipe_run_options options = imgpipe_run_options_default();
    imgpipe_context *context = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_error error = {0};
    wishes.device = "cpu";
    wishes.threads = threads;
    wishes.isa = isa;
    wishes.memory = memory;
    wishes.log = strip_rows ? see_strips : NULL;
    wishes.user = strip_rows;
    options.level = level;
    options.overwrite = IMGPIPE_OVERWRITE_ALWAYS;
    imgpipe_status status = imgpipe_context_new(&wishes, &context, &error);
    if (!status) status = imgpipe_chain_parse("", &chain, &error);
    if (!status) status = imgpipe_run_file(context, chain, from, to, &options, NULL, &error);
    good(status == IMGPIPE_OK, error.message, to);
    imgpipe_chain_free(&chain);
    imgpipe_context_free(&context);
    return status ? (struct png_file){0} : png_load(to);
}

/* Several megabytes, so several pieces. What the engine writes is what the encoder alone writes piece by piece. */
static void check_large(const char *path, const char *again) {
    static const imgpipe_format formats[] = {{IMGPIPE_U8, 3, false}, {IMGPIPE_U16, 2, true}, {IMGPIPE_U8, 1, false}};
    static const enum content contents[] = {NOISE, NEAR_REPEATS, LONG_RUNS, ROWS_AGAIN};
    static const int levels[] = {0, 1, 2, 3, 4, 6};
    int turn = 0;
    for (int f = 0; f < 3; f++)
        for (int c = f; c < f + (SHARE > 1 ? 1 : 2); c++) {
            imgpipe_info info = {f == 2 ? 4099 : 1201, f == 2 ? 601 : 803, formats[f]};
            enum content content = contents[c % 4];
            imgpipe_image image = make_image(info, content);
            for (int l = turn++ % 2; l < 6; l += 2) {
                char what[200];
                describe(what, sizeof what, &image, content, levels[l], 0);
                struct png_file alone = encode(path, &image, levels[l], 0, what);
                judge(&alone, &image, what);
                for (int threads = 1; threads <= 3; threads++) {
                    const char *isa = imgpipe_isa_name((threads + l) % (kernel_isa_best() + 1));
                    struct png_file file = run(path, again, levels[l], threads, isa, 0, NULL);
                    good(file.size == alone.size && memcmp(file.bytes, alone.bytes, file.size) == 0, "another file from the engine",
                         what);
                    free(file.bytes);
                }
                free(alone.bytes);
            }
            free(image.pixels);
        }
}

/* ---------------------------------------------------------------------------------------------------------- sizes */

/* Text of 40 glyphs of 7 x 9 pixels, in lines, in three windows on a shaded ground. */
static imgpipe_image make_screen(void) {
    imgpipe_image image = make_image((imgpipe_info){1280, 720, {IMGPIPE_U8, 3, false}}, CONSTANT);
    unsigned char glyphs[40][9 * 7];
    for (int i = 0; i < 40 * 63; i++) glyphs[i / 63][i % 63] = next(3) ? 0 : (unsigned char)(80 * next(3));
    unsigned char *bytes = image.pixels;
    for (int i = 0; i < 720 * 1280 * 3; i++) bytes[i] = (unsigned char)(40 + 30 * (i % 3) + i / (1280 * 3 * 8));
    for (int window = 0; window < 3; window++)
        for (int line = 0; line < 30; line++)
            for (int column = 0; column < 56; column++) {
                const uint32_t glyph = next(5) ? next(40) : 0;
                for (int y = 0; y < 13; y++)
                    for (int x = 0; x < 7; x++) {
                        int value = 250 - (glyph && y < 9 ? glyphs[glyph][y * 7 + x] : 0);
                        size_t at = (size_t)((window * 150 + 20 + line * 13 + y) * 1280 + window * 410 + 20 + column * 7 + x) * 3;
                        memset(bytes + at, value, 3);
                    }
            }
    return image;
}

/* `most` per mille more than libpng's default, which is zlib's level 6. */
static void check_size(const char *path, const imgpipe_image *image, double most, const char *what) {
    png_image theirs = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    theirs.width = (png_uint_32)image->info.width;
    theirs.height = (png_uint_32)image->info.height;
    png_alloc_size_t size = 0;
    if (!good(png_image_write_get_memory_size(theirs, size, 0, image->pixels, 0, NULL), "libpng does not write it", what)) return;
    struct png_file file = encode(path, image, 4, kernel_isa_best(), what);
    double more = 100.0 * (double)file.size / (double)size - 100;
    printf("%s: %zu bytes, %+.1f %% of libpng's %zu\n", what, file.size, more, (size_t)size);
    judge(&file, image, what);
    good((double)file.size <= (1 + most / 1000) * (double)size, "larger than it may be", what);
    free(file.bytes);
}

static void check_sizes(const char *path, char **samples) {
    imgpipe_image screen = make_screen();
    check_size(path, &screen, 120, "a screen of text");
    free(screen.pixels);
    for (; *samples; samples++) {
        png_image read = {.version = PNG_IMAGE_VERSION};
        if (!good(png_image_begin_read_from_file(&read, *samples), "libpng does not read it", *samples)) continue;
        read.format = PNG_FORMAT_RGB;
        imgpipe_image image = {.info = {read.width, read.height, {IMGPIPE_U8, 3, false}}, .stride = (ptrdiff_t)read.width * 3};
        image.pixels = malloc(PNG_IMAGE_SIZE(read));
        if (good(image.pixels && png_image_finish_read(&read, NULL, image.pixels, 0, NULL), "libpng does not read it", *samples))
            check_size(path, &image, 20, *samples);
        free(image.pixels);
    }
}

/* What the encoder takes leaves less of the budget for rows: level 9 has pieces of 4 MiB, and tries several ways. */
static void check_budget(const char *path, const char *again) {
    imgpipe_image image = make_image((imgpipe_info){1201, 1203, {IMGPIPE_U8, 3, false}}, NOISE);
    struct png_file file = encode(path, &image, 1, 0, "for the budget");
    long rows[3] = {0};
    free(file.bytes);
    for (int i = 0; i < 3; i++) {
        file = run(path, again, i ? 9 : 1, 1, NULL, i < 2 ? 18 << 20 : 180 << 20, &rows[i]);
        judge(&file, &image, "within a budget");
        free(file.bytes);
    }
    printf("strips of %ld rows at level 1, %ld at level 9, %ld with more memory\n", rows[0], rows[1], rows[2]);
    CHECK(rows[0] > 0 && rows[1] > 0 && rows[1] < rows[0] && rows[2] == rows[0]);
    free(image.pixels);
}

int main(int count, char **arguments) {
    char folder[] = "/tmp/test-png-encode-XXXXXX", path[80], again[80];
    state = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    printf("seed %" PRIu64 "; decoders:", state);
    for (const struct png_decoder *d = png_decoders; d->name; d++) printf(" %s", d->name);
    printf("\n");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/a.png", folder);
    snprintf(again, sizeof again, "%s/b.png", folder);
    check_small(path);
    check_large(path, again);
    check_budget(path, again);
    if (count > 2) check_sizes(path, arguments + 2);
    unlink(path);
    unlink(again);
    CHECK(rmdir(folder) == 0);
    printf("%d checks, %d failures\n", checks, failures);
    return failures || !checks;
}
