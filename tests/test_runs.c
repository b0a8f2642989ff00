/* Runs in memory: overlapping images, regions, rows that come and go, memory from the caller. */
#include "checks.h"
#include "content.h"
#include "imgpipe.h"
#include "layout.h"

#include <stdlib.h>

static imgpipe_context *contexts[2]; /* of one thread and of three */
static struct rng rng;

static imgpipe_chain *parsed(const char *text) {
    imgpipe_error error;
    imgpipe_chain *chain = NULL;
    if (!CHECK(imgpipe_chain_parse(text, &chain, &error) == IMGPIPE_OK)) printf("      '%s': %s\n", text, error.message);
    return chain;
}

static void told(bool right, const char *what, const char *chain, const imgpipe_error *error, int line) {
    if (!check(right, what, line)) printf("      chain '%s': %s\n", chain, error->message);
}
#define TOLD(right, chain) told((right), #right, (chain), &error, __LINE__)

static void fill(const imgpipe_image *image) {
    for (int64_t y = 0; y < image->info.height; y++) {
        unsigned char *row = (unsigned char *)image->pixels + y * image->stride;
        for (int64_t i = 0; i < image->info.width * image->info.format.channels; i++) {
            if (image->info.format.type == IMGPIPE_F32)
                ((float *)(void *)row)[i] = (float)rng_range(&rng, -100, 1100) / 1000;
            else
                for (size_t b = 0; b < imgpipe_sample_size(image->info.format.type); b++)
                    row[(size_t)i * imgpipe_sample_size(image->info.format.type) + b] = (unsigned char)rng_range(&rng, 0, 255);
        }
    }
}

static imgpipe_image packed(imgpipe_info info) {
    size_t stride = (size_t)info.width * imgpipe_pixel_size(info.format);
    return (imgpipe_image){.info = info, .pixels = calloc((size_t)info.height, stride), .stride = (ptrdiff_t)stride};
}

static bool same(const imgpipe_image *a, const imgpipe_image *b) {
    size_t row = (size_t)a->info.width * imgpipe_pixel_size(a->info.format);
    for (int64_t y = 0; y < a->info.height; y++)
        if (memcmp((char *)a->pixels + y * a->stride, (char *)b->pixels + y * b->stride, row) != 0) return false;
    return true;
}

/* ---- overlap */

/* Every byte of every pixel of one image against those of the other. */
static bool plain_overlap(const imgpipe_image *a, const imgpipe_image *b, unsigned char *ground, size_t size) {
    memset(ground, 0, size);
    const imgpipe_image *images[] = {a, b};
    for (int i = 0; i < 2; i++)
        for (int64_t y = 0; y < images[i]->info.height; y++) {
            unsigned char *row = (unsigned char *)images[i]->pixels + y * images[i]->stride;
            size_t bytes = (size_t)images[i]->info.width * imgpipe_layout_pixel_size(images[i]->info.format, images[i]->layout);
            for (size_t k = 0; k < bytes; k++) row[k] |= (unsigned char)(1 << i);
        }
    for (size_t i = 0; i < size; i++)
        if (ground[i] == 3) return true;
    return false;
}

static imgpipe_image anywhere(unsigned char *ground, int64_t size) {
    for (;;) {
        imgpipe_image image = {
            .info = {rng_range(&rng, 1, 9), rng_range(&rng, 1, 7), {IMGPIPE_U8, (int)rng_range(&rng, 1, 3), false}}};
        int64_t row = image.info.width * image.info.format.channels, stride = row + rng_range(&rng, 0, 30);
        int64_t all = stride * (image.info.height - 1) + row, at = rng_range(&rng, 0, size);
        if (at + all > size) continue;
        bool up = rng_range(&rng, 0, 1);
        image.stride = up ? -stride : stride;
        image.pixels = ground + at + (up ? stride * (image.info.height - 1) : 0);
        return image;
    }
}

static void overlaps(void) {
    unsigned char ground[400];
    int both = 0;
    bool right = true;
    for (int i = 0; i < 20000; i++) {
        imgpipe_image a = anywhere(ground, sizeof ground), b = anywhere(ground, sizeof ground);
        bool want = plain_overlap(&a, &b, ground, sizeof ground);
        both += want;
        right = right && layout_overlap(&a, &b) == want && layout_overlap(&b, &a) == want;
    }
    CHECK(right);
    CHECK(both > 1000 && both < 19000);
}

/* The output in the place of the input. */
static void in_place(const char *text, imgpipe_format format, bool allowed) {
    imgpipe_chain *chain = parsed(text);
    for (int c = 0; c < 2; c++) {
        imgpipe_error error = {0};
        imgpipe_image in = packed((imgpipe_info){301, 211, format}), out = packed(in.info), copy = packed(in.info);
        fill(&in);
        memcpy(copy.pixels, in.pixels, (size_t)in.stride * 211);
        TOLD(imgpipe_run_image(contexts[c], chain, &copy, &out, NULL, NULL, &error) == IMGPIPE_OK, text);
        imgpipe_status status = imgpipe_run_image(contexts[c], chain, &in, &in, NULL, NULL, &error);
        if (allowed) {
            TOLD(status == IMGPIPE_OK && same(&in, &out), text);
        } else {
            TOLD(status == IMGPIPE_ERROR_ARGUMENT && strstr(error.message, "memory of its own"), text);
            TOLD(same(&in, &copy), text);
        }
        free(in.pixels), free(out.pixels), free(copy.pixels);
    }
    imgpipe_chain_free(&chain);
}

static void places(void) {
    imgpipe_format u8 = {IMGPIPE_U8, 3, false}, u16a = {IMGPIPE_U16, 4, true}, f32 = {IMGPIPE_F32, 1, false};
    in_place("invert,levels=10:200", u8, true);
    in_place("threshold=40%", u16a, true);
    in_place("levels=0:1:0.2:0.9,hist=pass", f32, true);
    in_place("", u8, true);
    in_place("invert,blur=1", u8, false);
    in_place("box=3", f32, false);
    in_place("median=3:border=wrap,invert", u16a, false);

    imgpipe_error error = {0};
    imgpipe_chain *invert = parsed("invert"), *gray = parsed("gray"), *blur = parsed("blur=2");
    imgpipe_image all = packed((imgpipe_info){120, 90, {IMGPIPE_U8, 3, false}}),
                  want = packed((imgpipe_info){60, 90, {IMGPIPE_U8, 3, false}});
    fill(&all);
    imgpipe_image left = all, right = all, swapped = all, moved = all;
    left.info.width = right.info.width = 60;
    right.pixels = (char *)all.pixels + 180;
    TOLD(imgpipe_run_image(contexts[1], blur, &left, &want, NULL, NULL, &error) == IMGPIPE_OK, "halves");
    TOLD(imgpipe_run_image(contexts[1], blur, &left, &right, NULL, NULL, &error) == IMGPIPE_OK && same(&right, &want), "halves");
    right.pixels = (char *)all.pixels + 179;
    TOLD(imgpipe_run_image(contexts[1], invert, &left, &right, NULL, NULL, &error) == IMGPIPE_ERROR_ARGUMENT, "one byte");
    moved.info.height = 80;
    moved.pixels = (char *)all.pixels + all.stride;
    imgpipe_image most = all;
    most.info.height = 80;
    TOLD(imgpipe_run_image(contexts[1], invert, &most, &moved, NULL, NULL, &error) == IMGPIPE_ERROR_ARGUMENT, "a row further");
    swapped.pixels = (char *)all.pixels + 89 * all.stride;
    swapped.stride = -all.stride;
    TOLD(imgpipe_run_image(contexts[1], invert, &all, &swapped, NULL, NULL, &error) == IMGPIPE_ERROR_ARGUMENT, "bottom up");
    imgpipe_image small = all;
    small.info.format.channels = 1;
    small.stride = 120;
    TOLD(imgpipe_run_image(contexts[1], gray, &all, &small, NULL, NULL, &error) == IMGPIPE_ERROR_ARGUMENT, "smaller pixels");
    /* Another order in the same place. */
    imgpipe_image before = packed(all.info), bgr = all;
    memcpy(before.pixels, all.pixels, (size_t)all.stride * 90);
    bgr.layout.order = IMGPIPE_ORDER_BGR;
    TOLD(imgpipe_run_image(contexts[1], NULL, &all, &bgr, NULL, NULL, &error) == IMGPIPE_OK, "BGR");
    bool turned = true;
    for (int i = 0; i < 120 * 90 * 3; i++)
        turned = turned && ((unsigned char *)all.pixels)[i] == ((unsigned char *)before.pixels)[i / 3 * 3 + 2 - i % 3];
    CHECK(turned);
    free(all.pixels), free(want.pixels), free(before.pixels);
    imgpipe_chain_free(&invert), imgpipe_chain_free(&gray), imgpipe_chain_free(&blur);
}

/* ---- regions */

static imgpipe_rect random_region(const imgpipe_info *info) {
    imgpipe_rect r;
    r.x0 = rng_range(&rng, 0, 3) ? rng_range(&rng, 0, info->width - 1) : 0;
    r.y0 = rng_range(&rng, 0, 3) ? rng_range(&rng, 0, info->height - 1) : 0;
    r.x1 = rng_range(&rng, 0, 3) ? rng_range(&rng, r.x0 + 1, info->width) : info->width;
    r.y1 = rng_range(&rng, 0, 3) ? rng_range(&rng, r.y0 + 1, info->height) : info->height;
    return r;
}

/* A part made by itself is the same as that part of the whole, also when all beyond `reach` pixels around it is something else. */
static void one_region(const char *text, imgpipe_format format, int64_t reach) {
    imgpipe_error error = {0};
    imgpipe_chain *chain = parsed(text);
    imgpipe_info made = {0};
    imgpipe_image in = packed((imgpipe_info){rng_range(&rng, 1, 130), rng_range(&rng, 1, 90), format}), other = packed(in.info);
    TOLD(imgpipe_chain_output(contexts[0], chain, &in.info, NULL, &made, &error) == IMGPIPE_OK, text);
    imgpipe_image whole = packed(made);
    fill(&in), fill(&other);
    TOLD(imgpipe_run_image(contexts[1], chain, &in, &whole, NULL, NULL, &error) == IMGPIPE_OK, text);
    imgpipe_rect r = random_region(&in.info);
    size_t pixel = imgpipe_pixel_size(format);
    for (int64_t y = r.y0 - reach; y < r.y1 + reach; y++)
        for (int64_t x = r.x0 - reach; x < r.x1 + reach; x++)
            if (x >= 0 && y >= 0 && x < in.info.width && y < in.info.height)
                memcpy((char *)other.pixels + y * other.stride + (size_t)x * pixel,
                       (char *)in.pixels + y * in.stride + (size_t)x * pixel, pixel);
    made.width = r.x1 - r.x0, made.height = r.y1 - r.y0;
    imgpipe_image part = packed(made), want = whole;
    want.info = made;
    want.pixels = (char *)whole.pixels + r.y0 * whole.stride + (size_t)r.x0 * imgpipe_pixel_size(made.format);
    TOLD(imgpipe_run_region(contexts[rng_range(&rng, 0, 1)], chain, &other, r, &part, NULL, NULL, &error) == IMGPIPE_OK, text);
    TOLD(same(&part, &want), text);
    free(in.pixels), free(other.pixels), free(whole.pixels), free(part.pixels);
    imgpipe_chain_free(&chain);
}

static void refused_region(const char *text, imgpipe_format format, int depth, imgpipe_rect r, const char *word) {
    imgpipe_error error = {0};
    imgpipe_chain *chain = parsed(text);
    imgpipe_run_options options = imgpipe_run_options_default();
    options.depth = depth;
    imgpipe_image in = packed((imgpipe_info){20, 20, format}), part = packed((imgpipe_info){5, 5, format});
    TOLD(imgpipe_run_region(contexts[0], chain, &in, r, &part, &options, NULL, &error) == IMGPIPE_ERROR_ARGUMENT, text);
    TOLD(strstr(error.message, word), text);
    free(in.pixels), free(part.pixels);
    imgpipe_chain_free(&chain);
}

static void regions(void) {
    static const struct {
        const char *chain;
        int64_t reach;
    } chains[] = {
        {"", 0},
        {"invert,levels=10%:90%", 0},
        {"gray", 0},
        {"blur=1.3:border=mirror", 6},
        {"blur=4:border=reflect", 16},
        {"box=5", 2},
        {"box=width=31:height=3:border=constant:value=20%", 15},
        {"median=5:border=mirror", 2},
        {"median=13", 6},
        {"conv=0 -1 0;-1 5 -1;0 -1 0:border=reflect", 1},
        {"conv=0.1 0.2 0.3 0.4 0.5", 2},
        {"box=3,median=3:border=constant,blur=0.8:border=reflect,invert", 6},
        {"gray,conv=sobel_x:abs,box=7:border=mirror", 4},
        {"box=101:border=mirror", 50},
        {"blur=30:border=reflect", 120},
        {"threshold=30%,median=3,threshold=60%", 1},
    };
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        for (int n = 0; n < 40; n++) {
            imgpipe_format format = {(imgpipe_type)(n % 3), 1 + n / 3 % 4, false};
            format.alpha = format.channels % 2 == 0 && n % 2;
            one_region(chains[i].chain, format, chains[i].reach);
        }
    imgpipe_format u8 = {IMGPIPE_U8, 1, false}, f32 = {IMGPIPE_F32, 1, false};
    imgpipe_rect r = {5, 5, 10, 10};
    refused_region("blur,hist=pass", u8, 0, r, "hist: it looks at all pixels");
    refused_region("invert,box=3:border=wrap", u8, 0, r, "box: its border is the other side");
    refused_region("box=width=3:height=1:border=wrap", u8, 0, r, "box: its border is the other side");
    refused_region("invert", f32, 8, r, "depth");
    refused_region("invert", u8, 0, (imgpipe_rect){16, 5, 21, 10}, "not within the image");
    refused_region("invert", u8, 0, (imgpipe_rect){-1, 5, 4, 10}, "not within the image");
    refused_region("invert", u8, 0, (imgpipe_rect){5, 5, 5, 10}, "is empty");
    refused_region("invert", u8, 0, (imgpipe_rect){5, 5, 11, 10}, "size and format");
}

/* usage: test_runs [DEVICE]; 77: it is not there */
int main(int count, char **arguments) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_error error;
    rng.state = 20260;
    options.device = count > 1 ? arguments[1] : "cpu";
    for (int i = 0; i < 2; i++) {
        options.threads = 1 + 2 * i;
        imgpipe_status status = imgpipe_context_new(&options, &contexts[i], &error);
        if (status == IMGPIPE_ERROR_DEVICE) return puts(error.message), 77;
        if (!CHECK(status == IMGPIPE_OK)) return 1;
    }
    overlaps();
    places();
    regions();
    for (int i = 0; i < 2; i++) imgpipe_context_free(&contexts[i]);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
