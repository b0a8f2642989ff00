/* Fuzz target: the chain parser, and every filter that a chain sets up on a small image. Three bytes choose the image, the rest
 * is the text. A chain that runs is run twice, in one strip and in the smallest ones over poisoned buffers: both must agree. */
#include "chain.h"
#include "context.h"
#include "plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIDE = 24, MAX_TEXT = 512, MAX_PIXELS = 1 << 16 };

static imgpipe_context *context(void) {
    static imgpipe_context *made;
    if (!made) {
        imgpipe_context_options options = imgpipe_context_options_default();
        options.device = "cpu";
        options.threads = 1;
        options.memory = 64 << 20;
        if (imgpipe_context_new(&options, &made, NULL)) abort();
    }
    return made;
}

/* Random bytes are NaN, infinite and tiny floats often enough. */
static imgpipe_image image_of(imgpipe_info info, uint32_t seed) {
    size_t bytes = (size_t)info.width * (size_t)info.height * imgpipe_pixel_size(info.format);
    imgpipe_image image = {info, malloc(bytes), (ptrdiff_t)((size_t)info.width * imgpipe_pixel_size(info.format))};
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)image.pixels)[i] = (unsigned char)((seed = seed * 1664525u + 1013904223u) >> 24);
    return image;
}

/* Whether the chain would write files, read files, or make an image that takes too long. */
static bool harmless(const imgpipe_chain *chain, const imgpipe_info *info) {
    struct plan_options options = {.threads = 1, .isa = context()->isa};
    struct plan *plan = NULL;
    bool yes = plan_make(chain, info, &options, &plan, NULL) == IMGPIPE_OK && plan->stage_count <= 8;
    for (int i = 0; yes && i < plan->stage_count; i++) {
        const imgpipe_stage *stage = &plan->stages[i];
        yes = !stage->side_data && stage->out.width * stage->out.height <= MAX_PIXELS;
    }
    plan_free(plan);
    return yes;
}

static void run(const imgpipe_chain *chain, const imgpipe_image *in) {
    imgpipe_info info;
    imgpipe_error error = {0};
    if (imgpipe_chain_output(context(), chain, &in->info, NULL, &info, &error)) return;
    imgpipe_image a = image_of(info, 1), b = image_of(info, 2);
    imgpipe_run_options options = imgpipe_run_options_default();
    imgpipe_status whole = imgpipe_run_image(context(), chain, in, &a, &options, NULL, &error);
    options.strip_rows = options.step_rows = 1;
    options.poison = true;
    imgpipe_status strips = imgpipe_run_image(context(), chain, in, &b, &options, NULL, &error);
    if (whole != strips || (!whole && memcmp(a.pixels, b.pixels, (size_t)a.stride * (size_t)info.height) != 0)) {
        fprintf(stderr, "strips change the result: status %d and %d\n", (int)whole, (int)strips);
        abort();
    }
    free(a.pixels);
    free(b.pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3 || size > MAX_TEXT + 3) return 0;
    char text[MAX_TEXT + 1];
    memcpy(text, data + 3, size - 3);
    text[size - 3] = 0;
    imgpipe_chain *chain = NULL;
    imgpipe_error error = {0};
    imgpipe_status status = imgpipe_chain_parse(text, &chain, &error);
    if (status) {
        int length = (int)strlen(text);
        if (error.place < 0 || error.length < 0 || error.place + error.length > length + 1 || !error.message[0]) {
            fprintf(stderr, "place %d, length %d of %d: %s\n", error.place, error.length, length, error.message);
            abort();
        }
        return 0;
    }
    imgpipe_format format = {(imgpipe_type)(data[2] % 3), 1 + data[2] / 3 % 4, false};
    format.alpha = format.channels > 1 && data[2] / 12 % 2;
    imgpipe_image in = image_of((imgpipe_info){1 + data[0] % SIDE, 1 + data[1] % SIDE, format}, data[2]);
    if (!strchr(text, '@') && harmless(chain, &in.info)) run(chain, &in);
    free(in.pixels);
    imgpipe_chain_free(&chain);
    return 0;
}
