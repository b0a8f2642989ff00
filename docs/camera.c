/* Blurs the frames of a camera: rows of blue, green, red and an unused
 * byte, with bytes of the driver's own behind each row. */
#include <imgpipe.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 480, STRIDE = WIDTH * 4 + 64, FRAMES = 10 };

/* Stands for the camera: a white bar that moves to the right. */
static void grab(uint8_t *buffer, int frame) {
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < WIDTH * 4; i++)
            buffer[y * STRIDE + i] = i / 4 / 64 == frame ? 255 : 0;
}

static int fail(const imgpipe_error *error) {
    fprintf(stderr, "camera: %s\n", error->message);
    return 1;
}

int main(void) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *context = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_plan *plan = NULL;
    imgpipe_error error;
    imgpipe_image in = {0}, out = {0};
    uint8_t *buffer = calloc(HEIGHT, STRIDE);
    uint8_t *blurred = calloc(HEIGHT, STRIDE);
    if (!buffer || !blurred) return 1;

    /* Once: everything that takes time or memory. */
    options.device = "cpu"; /* for images in host memory */
    if (imgpipe_context_new(&options, &context, &error))
        return fail(&error);
    if (imgpipe_chain_parse("blur=3:border=mirror", &chain, &error))
        return fail(&error);
    in.info.width = WIDTH;
    in.info.height = HEIGHT;
    in.info.format.type = IMGPIPE_U8;
    in.info.format.channels = 3; /* what the filters see */
    in.layout.order = IMGPIPE_ORDER_BGRX; /* what lies in memory */
    in.stride = STRIDE;
    in.pixels = buffer;
    if (imgpipe_prepare(context, chain, &in.info, NULL, &plan, &error))
        return fail(&error);
    imgpipe_chain_free(&chain); /* the plan has what it needs of it */

    /* Size and format of the result; its layout and stride are free. */
    out = in;
    out.pixels = blurred;
    if (imgpipe_plan_output(plan, WIDTH, HEIGHT, &out.info, &error))
        return fail(&error);

    /* For each frame: no allocation. */
    for (int frame = 0; frame < FRAMES; frame++) {
        double sigma = 3 + frame * 0.1;
        grab(buffer, frame);
        if (imgpipe_plan_set_number(plan, 0, "sigma", sigma, &error))
            return fail(&error);
        if (imgpipe_plan_run(plan, &in, &out, &error))
            return fail(&error);
        const uint8_t *row = blurred + HEIGHT / 2 * STRIDE;
        printf("frame %d: %d at the edge, %d in the middle\n", frame,
               row[frame * 64 * 4], row[(frame * 64 + 32) * 4]);
    }
    imgpipe_plan_free(&plan);
    imgpipe_context_free(&context);
    free(buffer);
    free(blurred);
    return 0;
}
