/* PNG in and out, compared with libpng's whole-image reader.
 *
 *     test_png                     every file of pngsuite/ decodes; twins X.png and iX.png are equal; round trips; damaged files
 *     test_png --damaged FOLDER    files of damage.py: the begin of a name says what must happen
 *
 * Without arguments it runs in the folder of its source, and calls damage.py. */
#include "input.h"
#include "outfile.h"
#include "sink.h"
#include "source.h"
#include "status.h"
#include "save_image.h"
#include <dirent.h>
#include <inttypes.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures, checks, warnings;

static bool check(bool right, const char *of, const char *what) {
    checks++;
    if (right) return true;
    failures++;
    printf("FAIL  %s: %s\n", of, what);
    return false;
}

static void count_warning(void *user, imgpipe_log_level level, const char *message) {
    (void)user;
    if (level == IMGPIPE_LOG_WARNING) warnings++;
    if (level == IMGPIPE_LOG_WARNING && strchr(message, '\n')) check(false, message, "a warning of two lines");
}
static const struct log test_log = {.call = count_warning};

static bool all_equal(const imgpipe_image *a, const imgpipe_image *b) {
    return memcmp(&a->info.width, &b->info.width, 2 * sizeof(int64_t)) == 0 && a->info.format.type == b->info.format.type &&
           a->info.format.channels == b->info.format.channels && a->info.format.alpha == b->info.format.alpha &&
           memcmp(a->pixels, b->pixels, (size_t)a->stride * (size_t)a->info.height) == 0;
}

/* --------------------------------------------------------------------------------------------- two ways to read */

/* Reads a whole file in batches of changing height. The caller frees pixels, which is NULL after an error. */
static imgpipe_status read_ours(const char *path, imgpipe_image *image, imgpipe_error *error) {
    struct input *input;
    struct source *source;
    *image = (imgpipe_image){0};
    imgpipe_status status = input_open(path, NULL, &input, error);
    if (status) return status;
    struct source_options options = {.log = &test_log, .alpha = -1, .max_pixels = 1 << 30, .memory = 256 << 20};
    status = source_open(input, &options, &source, error);
    if (status) return status;
    image->info = source->info;
    image->stride = (ptrdiff_t)((size_t)source->info.width * imgpipe_pixel_size(source->info.format));
    /* Touched by and by: a file that lies about its size must fail before this is used. */
    image->pixels = malloc((size_t)image->stride * (size_t)image->info.height);
    void *rows[7];
    int batch = 1;
    for (int64_t y = 0; y < image->info.height && !status; y += batch, batch = batch % 7 + 1) {
        if (batch > image->info.height - y) batch = (int)(image->info.height - y);
        for (int i = 0; i < batch; i++) rows[i] = (unsigned char *)image->pixels + (y + i) * image->stride;
        status = source_read(source, rows, batch, error);
    }
    if (!status) status = source_finish(source, error);
    if (status) {
        free(image->pixels);
        image->pixels = NULL;
    } else {
        void *row = rows[0];
        check(source_read(source, &row, 1, NULL) == IMGPIPE_ERROR_INTERNAL, path, "a row beyond the last can be read");
        for (int64_t y = 0; source->pixels && y < image->info.height; y++) {
            check(memcmp(source->pixels + y * source->stride, (unsigned char *)image->pixels + y * image->stride,
                         (size_t)image->stride) == 0,
                  path, "source->pixels differ from what read() gives");
        }
    }
    source_close(source);
    return status;
}

static void quiet(png_structp png, png_const_charp text) {
    (void)png, (void)text;
}

/* libpng's own view through png_read_image(), without png_read_end(). */
static bool read_libpng(const char *path, imgpipe_image *image) {
    *image = (imgpipe_image){0};
    FILE *file = fopen(path, "rb");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, quiet);
    png_infop info = png_create_info_struct(png);
    png_bytep *volatile rows = NULL;
    if (setjmp(png_jmpbuf(png))) {
        free(image->pixels);
        image->pixels = NULL;
    } else {
        png_init_io(png, file);
        png_set_chunk_malloc_max(png, 100 << 20);
        png_read_info(png, info);
        png_set_expand(png);
        png_set_swap(png);
        png_set_interlace_handling(png);
        png_read_update_info(png, info);
        int channels = png_get_channels(png, info);
        image->info = (imgpipe_info){png_get_image_width(png, info),
                                     png_get_image_height(png, info),
                                     {png_get_bit_depth(png, info) == 16 ? IMGPIPE_U16 : IMGPIPE_U8, channels, channels % 2 == 0}};
        image->stride = (ptrdiff_t)png_get_rowbytes(png, info);
        image->pixels = malloc((size_t)image->stride * (size_t)image->info.height);
        rows = malloc((size_t)image->info.height * sizeof *rows);
        for (int64_t y = 0; y < image->info.height; y++) rows[y] = (png_bytep)image->pixels + y * image->stride;
        png_read_image(png, rows);
    }
    free(rows);
    png_destroy_read_struct(&png, &info, NULL);
    fclose(file);
    return image->pixels != NULL;
}

/* ------------------------------------------------------------------------------------------------------ a folder */

static int is_png(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".png") == 0;
}

static void test_suite(const char *folder) {
    struct dirent **names;
    int count = scandir(folder, &names, is_png, alphasort), twins = 0;
    if (!check(count > 0, folder, "no PNG files")) return;
    for (int i = 0; i < count; i++) {
        char path[4096], twin[4096];
        imgpipe_image ours, theirs;
        imgpipe_error error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        snprintf(twin, sizeof twin, "%s/i%s", folder, names[i]->d_name);
        if (check(read_ours(path, &ours, &error) == IMGPIPE_OK, path, error.message)) {
            check(read_libpng(path, &theirs) && all_equal(&ours, &theirs), path, "differs from libpng");
            free(theirs.pixels);
            if (access(twin, R_OK) == 0) {
                twins++;
                check(read_ours(twin, &theirs, &error) == IMGPIPE_OK && all_equal(&ours, &theirs), twin, "differs from its twin");
                free(theirs.pixels);
            }
        }
        free(ours.pixels);
        free(names[i]);
    }
    free(names);
    check(twins > 0, folder, "no interlaced twins");
    check(warnings == 0, folder, "warnings about sound files");
    printf("%d files, %d with an interlaced twin\n", count, twins);
}

static void test_damaged(const char *folder) {
    struct dirent **names;
    int count = scandir(folder, &names, is_png, alphasort), refused = 0;
    if (!check(count > 0, folder, "no PNG files")) return;
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        char path[4096];
        imgpipe_image ours, theirs;
        imgpipe_error error = {0};
        snprintf(path, sizeof path, "%s/%s", folder, name);
        warnings = 0;
        imgpipe_status status = read_ours(path, &ours, &error);
        if (status) {
            refused++;
            check(strncmp(name, "accept-", 7) != 0 && strncmp(name, "warn-", 5) != 0, name, error.message);
            check(warnings == 0, name, "a warning before the error");
            check(status == IMGPIPE_ERROR_INPUT || status == IMGPIPE_ERROR_MEMORY, name, "an unexpected status");
            check(strstr(error.message, name) && strstr(error.message, "; ") && !strchr(error.message, '\n'), name, error.message);
        } else {
            check(strncmp(name, "refuse-", 7) != 0, name, "was read");
            check(strncmp(name, "accept-", 7) != 0 || warnings == 0, name, "a warning");
            check(strncmp(name, "warn-", 5) != 0 || warnings == 1, name, "not exactly one warning");
            check(read_libpng(path, &theirs) && all_equal(&ours, &theirs), name, "differs from libpng");
            free(theirs.pixels);
        }
        free(ours.pixels);
        free(names[i]);
    }
    free(names);
    check(refused > count / 4 && refused < count, folder, "hardly anything, or everything, was refused");
    printf("%d files, %d refused\n", count, refused);
}

/* ---------------------------------------------------------------------------------------------------- round trips */

static void fill(imgpipe_image *image, uint64_t seed) {
    unsigned char *bytes = image->pixels;
    size_t size = (size_t)image->stride * (size_t)image->info.height;
    for (size_t i = 0; i < size; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = i / 97 % 3 ? (unsigned char)(seed >> 56) : (unsigned char)(i / 64);
    }
}

static imgpipe_status write_image(const char *path, const imgpipe_image *image, int level, imgpipe_error *error) {
    struct sink_options options = {.log = &test_log, .level = level, .quality = 90};
    return save_image(path, encoder_for_path(path), image, &options, error);
}

static bool same_bytes(const char *a, const char *b) {
    char command[8300];
    snprintf(command, sizeof command, "cmp -s '%s' '%s'", a, b);
    return system(command) == 0;
}

static void round_trip(const char *folder, imgpipe_info info, int level) {
    char path[4096], again[4096], what[96], text[64];
    imgpipe_error error = {0};
    imgpipe_image back, image = {.info = info, .stride = (ptrdiff_t)((size_t)info.width * imgpipe_pixel_size(info.format))};
    snprintf(what, sizeof what, "%" PRId64 " x %" PRId64 " %s, level %d", info.width, info.height, text_format(info.format, text),
             level);
    snprintf(path, sizeof path, "%s/a.png", folder);
    snprintf(again, sizeof again, "%s/b.png", folder);
    image.pixels = malloc((size_t)image.stride * (size_t)info.height);
    fill(&image, (uint64_t)info.width + (uint64_t)level);
    if (check(write_image(path, &image, level, &error) == IMGPIPE_OK, what, error.message) &&
        check(write_image(again, &image, level, &error) == IMGPIPE_OK, what, error.message)) {
        check(same_bytes(path, again), what, "two files of the same image differ");
        check(read_ours(path, &back, &error) == IMGPIPE_OK && all_equal(&image, &back), what, "not what was written");
        free(back.pixels);
        check(read_libpng(path, &back) && all_equal(&image, &back), what, "not what was written, says libpng");
        free(back.pixels);
    }
    unlink(path);
    unlink(again);
    free(image.pixels);
}

static void test_round_trips(const char *folder) {
    static const int64_t sizes[][2] = {{1, 1}, {1, 70}, {300, 1}, {31, 33}, {257, 129}, {640, 413}};
    const struct encoder *encoder = encoder_find("png");
    for (int type = IMGPIPE_U8; type <= IMGPIPE_F32; type++) {
        for (int channels = 1; channels <= 4; channels++) {
            imgpipe_format want = {(imgpipe_type)type, channels, channels % 2 == 0}, got = encoder->accept(want);
            check(got.channels == channels && got.alpha == want.alpha &&
                      got.type == (type == IMGPIPE_F32 ? IMGPIPE_U16 : want.type),
                  "png", "accept()");
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes && type != IMGPIPE_F32; i++) {
                bool large = sizes[i][0] > 500;
                for (int level = 0; level <= 9; level += large ? 4 : 1) {
                    round_trip(folder, (imgpipe_info){sizes[i][0], sizes[i][1], want}, level);
                }
            }
        }
    }
}

static void test_full_disk(void) {
    imgpipe_error error = {0};
    imgpipe_image image = {.info = {1000, 1000, {IMGPIPE_U8, 3, false}}, .stride = 3000, .pixels = malloc(3000000)};
    fill(&image, 1);
    struct outfile *out;
    struct sink *sink;
    struct sink_options options = {.log = &test_log};
    if (!check(outfile_open("/dev/full", false, &out, &error) == IMGPIPE_OK, "/dev/full", error.message)) return;
    check(encoder_find("png")->open(out, &image.info, &options, &sink, &error) == IMGPIPE_OK, "/dev/full", error.message);
    struct sink_piece piece = {.count = sink->piece_rows, .rows = image.pixels, .stride = 3000};
    check(sink->ops->encode(sink, &piece, &error) == IMGPIPE_OK, "/dev/full", error.message);
    imgpipe_status status = sink->ops->commit(sink, &piece, &error);
    check(status == IMGPIPE_ERROR_OUTPUT && strstr(error.message, "disk is full"), "/dev/full", "a full disk is not reported");
    check(sink->ops->finish(sink, &error) == IMGPIPE_ERROR_OUTPUT, "/dev/full", "finish() forgets the failure");
    sink_close(sink);
    outfile_abort(out);
    free(image.pixels);
}

/* What a source takes for as long as it is open: an interlaced image whole, others some rows. */
static void test_held(void) {
    static const char *const files[] = {"pngsuite/basn6a16.png", "pngsuite/ibasn6a16.png", "pngsuite/basn3p04.png"};
    for (int i = 0; i < 3; i++) {
        struct input *input;
        struct source *source;
        imgpipe_error error = {0};
        struct source_options options = {.log = &test_log, .alpha = -1, .max_pixels = 1 << 30, .memory = 256 << 20};
        if (!check(input_open(files[i], NULL, &input, &error) == IMGPIPE_OK, files[i], error.message)) continue;
        if (!check(source_open(input, &options, &source, &error) == IMGPIPE_OK, files[i], error.message)) continue;
        uint64_t whole = (uint64_t)source->info.width * (uint64_t)source->info.height * imgpipe_pixel_size(source->info.format);
        check(source->pixels ? source->held >= whole : source->held > 0, files[i], "too little counts as held");
        check(source->held < (4 << 20), files[i], "too much counts as held");
        check((source->pixels != NULL) == (i == 1), files[i], "held whole, or not");
        source_close(source);
    }
}

static void test_size_limits(void) {
    struct source_options small = {.max_pixels = 1000, .memory = 10000};
    imgpipe_error error = {0};
    check(source_check_size(&small, "x", 10, 100, 4, true, &error) == IMGPIPE_OK, "size", "1000 pixels are refused");
    check(source_check_size(&small, "x", 11, 91, 4, true, &error) == IMGPIPE_ERROR_INPUT, "size", "1001 pixels are taken");
    check(source_check_size(&small, "x", 10, 100, 16, true, &error) == IMGPIPE_ERROR_MEMORY, "size", "16000 bytes are taken");
    check(source_check_size(&small, "x", 10, 100, 16, false, &error) == IMGPIPE_OK, "size", "10 x 100 cannot stream");
    check(source_check_size(&small, "x", 1000, 1, 16, false, &error) == IMGPIPE_ERROR_MEMORY, "size",
          "a row beyond the memory is taken");
    struct source_options all = {0};
    check(source_check_size(&all, "x", 0, 1, 1, false, &error) == IMGPIPE_ERROR_INPUT, "size", "width 0 is taken");
    check(source_check_size(&all, "x", 1u << 31, 1, 1, false, &error) == IMGPIPE_ERROR_INPUT, "size", "width 2^31 is taken");
    check(source_check_size(&all, "x", INT32_MAX, INT32_MAX, 1, false, &error) == IMGPIPE_OK, "size", "2^31 - 1 is refused");
    check(source_check_size(&all, "x", INT32_MAX, INT32_MAX, 16, true, &error) == IMGPIPE_ERROR_MEMORY, "size",
          "2^66 bytes are taken");
}

/* A process of its own: damage.py makes the files, and runs this program with --damaged on them. */
static void test_damaged_copies(const char *program) {
    char command[4300];
    snprintf(command, sizeof command,
             "python3 damage.py - pngsuite/basn0g08.png pngsuite/basn3p04.png pngsuite/ibasn6a16.png pngsuite/ftbwn0g16.png "
             "--then '%s' --damaged",
             program);
    fflush(stdout);
    check(system(command) == 0, "damage.py", "damaged files are not treated right");
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--damaged") == 0) {
        test_damaged(argv[2]);
    } else if (argc == 1) {
        char folder[] = "/tmp/test-png-XXXXXX";
        if (!mkdtemp(folder)) return 1;
        test_suite("pngsuite");
        test_round_trips(folder);
        test_full_disk();
        test_held();
        test_size_limits();
        test_damaged_copies(argv[0]);
        check(rmdir(folder) == 0, folder, "something was left behind");
    } else {
        fprintf(stderr, "usage: test_png [--damaged FOLDER]\n");
        return 2;
    }
    printf("%d checks, %d failures\n", checks, failures);
    return failures || !checks;
}
