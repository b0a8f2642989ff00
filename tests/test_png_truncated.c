/* PNG files that end early, cut at every byte. */
#include "png_chunks.h"

static bool is_refused(const struct file *f, bool seeks) {
    imgpipe_error error = {0};
    struct source *source;
    unsigned char pixels[HEIGHT][WIDTH];
    if (open_bytes(f, seeks, false, &source, &error) != IMGPIPE_OK) return true;
    imgpipe_status status = read_all(source, pixels, &error);
    source_close(source);
    return status == IMGPIPE_ERROR_INPUT && strstr(error.message, "truncated");
}

/* Cut at every byte: the rows that are there are right, and all that follows is 0. */
static void test_truncated(bool interlaced, bool seeks, size_t part) {
    imgpipe_error error = {0};
    struct file whole;
    int best = 0, partial = 0;
    begin(&whole, interlaced);
    add_pixels(&whole, interlaced, part);
    size_t all = whole.size;
    end(&whole);
    for (size_t size = 8; size < all; size++) {
        struct file f = {malloc(size), size};
        struct source *source;
        unsigned char pixels[HEIGHT][WIDTH];
        memcpy(f.bytes, whole.bytes, size);
        memset(pixels, 0xee, sizeof pixels);
        imgpipe_status opened = open_bytes(&f, seeks, true, &source, &error);
        imgpipe_status status = opened ? opened : read_all(source, pixels, &error);
        if (!opened) source_close(source);
        int there = 0, end = 0;
        for (int i = 0; i < WIDTH * HEIGHT && !status; i++) {
            unsigned char v = pixels[i / WIDTH][i % WIDTH];
            there += v != 0;
            end = v ? i + 1 : end;
            check(v == 0 || v == sample(i % WIDTH, i / WIDTH), "truncated", "a pixel that is neither right nor 0");
        }
        if (!status) {
            check(warnings == 1 || there == WIDTH * HEIGHT, "truncated", "not one warning");
            check(interlaced || (there % WIDTH == 0 && end == there), "truncated", "rows are mixed");
            check(there >= best, "truncated", "more bytes give fewer pixels");
            /* 7 bytes begin the stored stream, and each row has one more; the last row needs the stream's end too. */
            bool exact = part > 999 && !interlaced && size < all - 8;
            check(!exact || there / WIDTH == ((int)size - 48) / (WIDTH + 1), "truncated", "rows that are there were not decoded");
            best = there;
            partial += there < WIDTH * HEIGHT;
        } else {
            check(best == 0 && error.status == IMGPIPE_ERROR_INPUT, "truncated", "was refused though pixels are there");
        }
        check(is_refused(&f, seeks), "truncated", "was read without --allow-truncated");
        free(f.bytes);
    }
    check(partial > 50, "truncated", "hardly any file gave a part of its pixels");
    free(whole.bytes);
}

int main(void) {
    for (int i = 0; i < 8; i++) test_truncated(i & 1, i & 2, i & 4 ? 1000 : 30);
    printf("%d checks, %d failures\n", checks, failures);
    return failures || !checks;
}
