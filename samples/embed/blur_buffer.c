/* Blurs a buffer as a camera fills it: 12 bits in 16, blue first, a byte count of its own from row to row.
 *
 *     cc blur_buffer.c -o blur_buffer $(pkg-config --cflags --libs imgpipe)
 *     ./blur_buffer
 *
 * prints one sample in the middle of an edge before and after. */
#include <imgpipe.h>

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 480, PADDED = WIDTH + 32, WHITE = 4095 };

/* What a camera would do: the right half of the picture is white. */
static void expose(uint16_t *buffer) {
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < WIDTH * 3; i++) buffer[y * PADDED * 3 + i] = i < WIDTH * 3 / 2 ? 0 : WHITE;
}

static int fail(const imgpipe_error *error) {
    fprintf(stderr, "blur_buffer: %s\n", error->message);
    return 1;
}

int main(void) {
    imgpipe_context *context = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_error error;
    uint16_t *frame = malloc(sizeof *frame * PADDED * HEIGHT * 3), *blurred = malloc(sizeof *blurred * PADDED * HEIGHT * 3);
    if (!frame || !blurred) return 1;
    expose(frame);

    /* The defaults: every CPU, and a GPU if there is one and the work is worth it. */
    if (imgpipe_context_new(NULL, &context, &error)) return fail(&error);
    if (imgpipe_chain_new(&chain, &error) || imgpipe_chain_add(chain, "blur", &error)) return fail(&error);
    if (imgpipe_chain_set_number(chain, -1, "sigma", 3.0, &error)) return fail(&error);

    imgpipe_image in = {0}, out;
    in.info.width = WIDTH;
    in.info.height = HEIGHT;
    in.info.format.type = IMGPIPE_U16;
    in.info.format.channels = 3;
    in.pixels = frame;
    in.stride = PADDED * 3 * sizeof *frame;
    in.layout.order = IMGPIPE_ORDER_BGR;
    in.layout.white = WHITE;
    out = in; /* blur keeps size and format; imgpipe_chain_output() says what other chains make */
    out.pixels = blurred;
    if (imgpipe_run_image(context, chain, &in, &out, NULL, NULL, &error)) return fail(&error);

    int edge = (HEIGHT / 2 * PADDED + WIDTH / 2) * 3;
    printf("%s: left of the edge %d became %d, right of it %d became %d\n", imgpipe_chain_text(chain), frame[edge - 3],
           blurred[edge - 3], frame[edge], blurred[edge]);
    imgpipe_chain_free(&chain);
    imgpipe_context_free(&context);
    free(frame);
    free(blurred);
    return 0;
}
