/* Filters video: raw frames of 8-bit RGB from standard input to standard output, one after another, as ffmpeg gives and takes them.
 *
 *     cc frames.c -o frames $(pkg-config --cflags --libs imgpipe)
 *     ffmpeg -v error -i in.mp4 -f rawvideo -pix_fmt rgb24 - | ./frames 1280 720 median=5,conv=sharpen |
 *         ffmpeg -v error -f rawvideo -pix_fmt rgb24 -s 1280x720 -r 25 -i - -y out.mp4
 *
 * The chain must keep RGB and the size. */
#include <imgpipe.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const char *message) {
    fprintf(stderr, "frames: %s\n", message);
    return 1;
}

int main(int count, char **arguments) {
    imgpipe_context *context = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_plan *plan = NULL;
    imgpipe_error error;
    imgpipe_image in = {0}, out;
    if (count != 4 || atoi(arguments[1]) < 1 || atoi(arguments[2]) < 1) return fail("usage: frames WIDTH HEIGHT CHAIN < IN > OUT");
    in.info.width = atoi(arguments[1]);
    in.info.height = atoi(arguments[2]);
    in.info.format.type = IMGPIPE_U8;
    in.info.format.channels = 3;
    in.stride = (ptrdiff_t)in.info.width * 3;
    out = in;
    size_t bytes = (size_t)in.stride * (size_t)in.info.height, got;

    if (imgpipe_context_new(NULL, &context, &error)) return fail(error.message);
    if (imgpipe_chain_parse(arguments[3], &chain, &error)) return fail(error.message);
    /* All that takes time and memory is done once; a frame allocates nothing. */
    if (imgpipe_prepare(context, chain, &in.info, NULL, &plan, &error)) return fail(error.message);
    if (imgpipe_plan_output(plan, in.info.width, in.info.height, &out.info, &error)) return fail(error.message);
    if (out.info.width != in.info.width || out.info.height != in.info.height || out.info.format.channels != 3)
        return fail("the chain changes the size or the channels");
    in.pixels = malloc(bytes);
    out.pixels = malloc(bytes);
    if (!in.pixels || !out.pixels) return fail("no memory for two frames");

    while ((got = fread(in.pixels, 1, bytes, stdin)) == bytes) {
        if (imgpipe_plan_run(plan, &in, &out, &error)) return fail(error.message);
        if (fwrite(out.pixels, 1, bytes, stdout) != bytes) return fail("a frame could not be written");
    }
    if (got || ferror(stdin)) return fail("the input ends inside a frame");
    if (fflush(stdout)) return fail("a frame could not be written");
    free(in.pixels);
    free(out.pixels);
    imgpipe_plan_free(&plan);
    imgpipe_chain_free(&chain);
    imgpipe_context_free(&context);
    return 0;
}
