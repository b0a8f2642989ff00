/* Wide images: of a plain one in the caller's memory rows are read in place but for their ends, and one that lies bottom up is copied
 * first. Both make the same bytes, whatever the border, also in strips and on two threads, and nothing beyond the image is read: its
 * memory ends where it does, which builds with sanitizers see. Only the public header. */
#include "checks.h"
#include "imgpipe.h"

#include <stdint.h>
#include <stdlib.h>

enum { WIDTH = 2503, HEIGHT = 61 };

static imgpipe_context *context;

static imgpipe_image image_new(imgpipe_format format) {
    imgpipe_image image = {.info = {WIDTH, HEIGHT, format}};
    image.stride = (ptrdiff_t)(WIDTH * imgpipe_pixel_size(format));
    image.pixels = malloc((size_t)image.stride * HEIGHT);
    return image;
}

static void fill(const imgpipe_image *image) {
    uint32_t word = 2463534242u;
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * (size_t)image->info.format.channels; i++) {
        word = word * 1664525u + 1013904223u;
        if (image->info.format.type == IMGPIPE_U8) ((uint8_t *)image->pixels)[i] = (uint8_t)(word >> 24);
        if (image->info.format.type == IMGPIPE_U16) ((uint16_t *)image->pixels)[i] = (uint16_t)(word >> 16);
        if (image->info.format.type == IMGPIPE_F32) ((float *)image->pixels)[i] = (float)(word >> 8) / 16777216.0f;
    }
}

/* The same image with its last row first in memory. */
static imgpipe_image bottom_up(const imgpipe_image *image) {
    imgpipe_image other = image_new(image->info.format);
    other.pixels = (unsigned char *)other.pixels + other.stride * (HEIGHT - 1);
    other.stride = -other.stride;
    for (int64_t y = 0; y < HEIGHT; y++)
        memcpy((unsigned char *)other.pixels + y * other.stride, (unsigned char *)image->pixels + y * image->stride,
               (size_t)image->stride);
    return other;
}

static void compare(const char *text, imgpipe_format format) {
    static const int rows[][2] = {{0, 0}, {17, 3}};
    imgpipe_image in = image_new(format), want = image_new(format), made = image_new(format);
    imgpipe_chain *chain = NULL;
    imgpipe_error error = {.message = ""};
    fill(&in);
    imgpipe_image up = bottom_up(&in);
    size_t size = (size_t)want.stride * HEIGHT;
    memset(want.pixels, 0, size);
    if (CHECK(imgpipe_chain_parse(text, &chain, &error) == IMGPIPE_OK))
        CHECK(imgpipe_run_image(context, chain, &up, &want, NULL, NULL, &error) == IMGPIPE_OK);
    for (size_t i = 0; chain && i < sizeof rows / sizeof rows[0]; i++) {
        imgpipe_run_options options = imgpipe_run_options_default();
        options.strip_rows = rows[i][0];
        options.step_rows = rows[i][1];
        memset(made.pixels, 0x5a, size);
        CHECK(imgpipe_run_image(context, chain, &in, &made, &options, NULL, &error) == IMGPIPE_OK);
        if (!CHECK(memcmp(made.pixels, want.pixels, size) == 0))
            printf("%s, type %d, %d channels, strips of %d rows\n", text, (int)format.type, format.channels, rows[i][0]);
    }
    imgpipe_chain_free(&chain);
    free(in.pixels);
    free((unsigned char *)up.pixels + up.stride * (HEIGHT - 1));
    free(want.pixels);
    free(made.pixels);
}

int main(int count, char **arguments) {
    static const char *const chains[] = {"box=11",
                                         "box=7:border=reflect",
                                         "box=31:border=constant:value=9",
                                         "blur=2:border=mirror",
                                         "blur=1:border=constant:value=7",
                                         "blur=2:border=wrap",
                                         "median=3",
                                         "median=5:border=constant:value=3",
                                         "median=7:border=mirror",
                                         "conv=sharpen",
                                         "conv=1 2 3 2 1;2 3 4 3 2;1 2 3 2 1:border=reflect",
                                         "conv=0.5 0.25 0.125:border=constant:value=5",
                                         "invert,box=5",
                                         "box=3,median=5,blur=1"};
    static const imgpipe_format formats[] = {{IMGPIPE_U8, 1, false},  {IMGPIPE_U8, 3, false},  {IMGPIPE_U8, 4, true},
                                             {IMGPIPE_U16, 1, false}, {IMGPIPE_U16, 3, false}, {IMGPIPE_F32, 1, false}};
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_error error;
    options.device = count > 1 ? arguments[1] : "cpu";
    for (options.threads = 1; options.threads <= 2; options.threads++) {
        imgpipe_status status = imgpipe_context_new(&options, &context, &error);
        if (status == IMGPIPE_ERROR_DEVICE) return puts(error.message), 77;
        if (!CHECK(status == IMGPIPE_OK)) return 1;
        for (size_t c = 0; c < sizeof chains / sizeof chains[0]; c++)
            for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) compare(chains[c], formats[f]);
        imgpipe_context_free(&context);
    }
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
