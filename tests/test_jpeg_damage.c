/* JPEG files that are changed, or of a kind that is not supported: what is refused, with which words, and what is read. */
#include "jpeg_files.h"

/* What must be refused, and the word that says why. */
static void expect_refusal(const char *what, const struct bytes *file, const struct source_options *options, const char *word) {
    imgpipe_image image;
    imgpipe_status status = read_ours(file, options, true, &image, NULL);
    check(status != IMGPIPE_OK && strstr(error.message, word), "%s: status %d, '%s' instead of '%s'", what, status, error.message,
          word);
    free(image.pixels);
}

/* The file with `size` bytes more, or fewer, at `at`; new ones are `value`. */
static struct bytes resized(const struct bytes *file, size_t at, ptrdiff_t by, int value) {
    struct bytes out = {malloc((size_t)((ptrdiff_t)file->size + by)), (size_t)((ptrdiff_t)file->size + by)};
    size_t skip = by < 0 ? (size_t)-by : 0, more = by > 0 ? (size_t)by : 0;
    memcpy(out.data, file->data, at);
    memset(out.data + at, value, more);
    memcpy(out.data + at + more, file->data + at + skip, file->size - at - skip);
    return out;
}

/* ------------------------------------------------------------------------------------------------------- damage */

static void test_mutations(void) {
    unsigned random = 1;
    for (int i = 0; i < RECIPES; i++) {
        struct bytes file = make_jpeg(&recipes[i], 60, NULL);
        struct source_options options = plain;
        options.max_pixels = 1 << 20;
        for (int round = 0; round < 300; round++) {
            struct bytes changed = {malloc(file.size), file.size};
            memcpy(changed.data, file.data, file.size);
            for (int k = round % 4; k >= 0; k--) {
                random = random * 1103515245u + 12345u;
                changed.data[3 + (random >> 8) % (file.size - 3)] = (unsigned char)(random >> 3);
            }
            options.allow_truncated = round & 1;
            imgpipe_image image;
            imgpipe_status status = read_ours(&changed, &options, round & 2, &image, NULL);
            check(!status || (error.status == status && error.message[0]), "%s, changed: no message", recipes[i].name);
            free(image.pixels);
            free(changed.data);
        }
        free(file.data);
    }
}

/* ------------------------------------------------------------------------------------- what is not supported */

/* One byte of the frame header is changed: 1 is the kind of the frame, 4 the precision, 5 to 8 height and width. */
static void expect_frame(const char *what, int at, int value, const char *word) {
    struct bytes file = make_jpeg(recipe_named("4:4:4"), 60, NULL);
    file.data[find_marker(&file, 0xc0) + (size_t)at] = (unsigned char)value;
    expect_refusal(what, &file, &plain, word);
    free(file.data);
}

static void test_unsupported(void) {
    expect_frame("12 bit", 4, 12, "12 bits");
    expect_frame("lossless", 1, 0xc3, "lossless (SOF3)");
    expect_frame("lossless arithmetic", 1, 0xcb, "lossless (arithmetic SOF11)");
    expect_frame("hierarchical", 1, 0xc5, "hierarchical (SOF5)");
    expect_frame("JPEG-LS", 1, 0xf7, "JPEG-LS");
    struct bytes file = make_jpeg(recipe_named("gray"), 60, NULL);
    memset(file.data + find_marker(&file, 0xc0) + 5, 0, 2);
    expect_refusal("no height", &file, &plain, "height");
    memset(file.data + find_marker(&file, 0xc0) + 5, 0xff, 2);
    expect_refusal("too high", &file, &plain, "65500");
    free(file.data);
    static unsigned char five[] =
        "\xff\xd8\xff\xc0\0\x17\10\0\1\0\1\5\1\x11\0\2\x11\0\3\x11\0\4\x11\0\5\x11\0\xff\xda\0\10\1\1\0\0\x3f\0\xff\xd9";
    expect_refusal("five components", &(struct bytes){five, sizeof five - 1}, &plain, "5 components");
    static unsigned char empty[] = "\xff\xd8\xff\xd9";
    expect_refusal("no image", &(struct bytes){empty, 4}, &plain, "no image");
}

static void test_limits(void) {
    struct source_options options = plain;
    options.max_pixels = 34 * 21;
    struct bytes file = make_jpeg(recipe_named("4:4:4"), 60, NULL);
    expect_refusal("too many pixels", &file, &options, "--max-pixels");
    /* A large image of which nearly nothing is there. */
    memset(file.data + find_marker(&file, 0xc0) + 5, 0xff, 1);
    memset(file.data + find_marker(&file, 0xc0) + 7, 0xff, 1);
    options = plain;
    options.max_pixels = 0;
    expect_refusal("a bomb", &file, &options, "truncated");
    free(file.data);
    file = make_jpeg(recipe_named("progressive"), 60, NULL);
    options.memory = 6000;
    expect_refusal("coefficients", &file, &options, "--memory");
    check(error.status == IMGPIPE_ERROR_MEMORY, "coefficients: status %d", error.status);
    free(file.data);
    file = make_jpeg(recipe_named("scan each"), 60, NULL);
    /* The last scan again and again. */
    size_t last = file.size - 2;
    while (file.data[last] != 0xff || file.data[last + 1] != 0xda) last--;
    size_t scan = file.size - 2 - last;
    struct bytes bomb = resized(&file, last, (ptrdiff_t)(scan * 600), 0);
    for (size_t i = 0; i < 600; i++) memcpy(bomb.data + last + i * scan, file.data + last, scan);
    expect_refusal("600 scans", &bomb, &plain, "more than 500 scans");
    free(bomb.data);
    free(file.data);
}

static void test_damage(void) {
    struct source_options allow = plain;
    allow.allow_truncated = true;
    struct bytes file = make_jpeg(recipe_named("restarts"), 60, NULL), other;
    imgpipe_image whole, image;
    check(!read_ours(&file, &plain, true, &whole, NULL), "%s", error.message);
    other = resized(&file, find_marker(&file, JPEG_EOI), 9, 'x');
    check(!read_ours(&other, &plain, true, &image, NULL) && warnings == 1 && strstr(last_message, "extraneous"), "%s",
          last_message);
    check(!memcmp(image.pixels, whole.pixels, (size_t)whole.stride * (size_t)whole.info.height), "extraneous bytes change pixels");
    free(image.pixels);
    free(other.data);
    /* Without an end marker they may be what pixels lack. Zeros that are long enough are no data at all. */
    other = resized(&file, find_marker(&file, JPEG_EOI), 30, 'x');
    other.size -= 2;
    expect_refusal("bytes and no end marker", &other, &plain, "--allow-truncated");
    check(!read_ours(&other, &allow, true, &image, NULL) && warnings == 1 && strstr(last_message, "may be wrong"),
          "bytes and no end marker, allowed: %s, %s", error.message, last_message);
    free(image.pixels);
    memset(other.data + other.size - 30, 0, 30);
    check(!read_ours(&other, &plain, true, &image, NULL) && warnings == 1 && strstr(last_message, "all pixels are there"),
          "zeros and no end marker: %s, %s", error.message, last_message);
    check(image.pixels && !memcmp(image.pixels, whole.pixels, (size_t)whole.stride * (size_t)whole.info.height),
          "zeros and no end marker change pixels");
    free(image.pixels);
    free(other.data);
    /* A scan begins behind the last row, and the major version of JFIF is unknown. */
    other = resized(&file, find_marker(&file, JPEG_EOI), 2, 0xff);
    other.data[other.size - 3] = 0xda;
    other.data[find_marker(&file, 0xe0) + 9] = 9;
    check(!read_ours(&other, &plain, true, &image, NULL) && warnings == 2, "harmless faults: %d warnings, %s", warnings,
          last_message);
    check(!memcmp(image.pixels, whole.pixels, (size_t)whole.stride * (size_t)whole.info.height), "harmless faults change pixels");
    free(image.pixels);
    free(other.data);
    other = resized(&file, file.size, 9, 'x');
    check(!read_ours(&other, &plain, true, &image, NULL) && warnings == 0, "bytes behind the end: %s", last_message);
    free(image.pixels);
    free(other.data);
    other = resized(&file, find_marker(&file, JPEG_EOI) - 20, -20, 0);
    expect_refusal("data that end early", &other, &plain, "truncated");
    check(!read_ours(&other, &allow, true, &image, NULL) && warnings == 1, "data that end early, allowed: %s", error.message);
    free(image.pixels);
    free(other.data);
    for (size_t at = find_data(&file); at < file.size; at++) {
        if (file.data[at] != 0xff || file.data[at + 1] != 0xd1) continue;
        file.data[at + 1] = 0xd5;
        expect_refusal("the wrong restart marker", &file, &plain, "broken");
        expect_refusal("the wrong restart marker", &file, &allow, "broken");
        file.data[at + 1] = 0xd1;
        other = resized(&file, at, -2, 0);
        expect_refusal("a missing restart marker", &other, &plain, "broken");
        free(other.data);
        break;
    }
    memset(file.data + find_data(&file) + 20, 0xfe, 30);
    expect_refusal("codes that there are not", &file, &plain, "broken");
    expect_refusal("codes that there are not", &file, &allow, "broken");
    free(whole.pixels);
    free(file.data);
}

int main(void) {
    test_mutations();
    test_unsupported();
    test_limits();
    test_damage();
    printf("%d checks, %d failures\n", checks, failures);
    return failures ? 1 : 0;
}
