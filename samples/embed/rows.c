/* Runs a chain on a PGM or PPM image of 8 bits from standard input to standard output, row by row: the image may be of any height,
 * and is never in memory as a whole.
 *
 *     cc rows.c -o rows $(pkg-config --cflags --libs imgpipe)
 *     ./rows blur=2,invert < in.pgm > out.pgm
 */
#include <imgpipe.h>

#include <stdio.h>

struct stream {
    size_t in_row, out_row; /* bytes */
};

static imgpipe_status read_row(void *user, int64_t y, void *row, imgpipe_error *error) {
    const struct stream *stream = user;
    if (fread(row, 1, stream->in_row, stdin) == stream->in_row) return IMGPIPE_OK;
    snprintf(error->message, sizeof error->message, "the input ends in row %lld", (long long)y);
    return IMGPIPE_ERROR_INPUT;
}

static imgpipe_status write_row(void *user, int64_t y, const void *row, imgpipe_error *error) {
    const struct stream *stream = user;
    if (fwrite(row, 1, stream->out_row, stdout) == stream->out_row) return IMGPIPE_OK;
    snprintf(error->message, sizeof error->message, "row %lld could not be written", (long long)y);
    return IMGPIPE_ERROR_OUTPUT;
}

static int fail(const char *message) {
    fprintf(stderr, "rows: %s\n", message);
    return 1;
}

int main(int count, char **arguments) {
    imgpipe_context *context = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_error error;
    imgpipe_row_stream rows = imgpipe_row_stream_default();
    imgpipe_info out;
    struct stream stream;
    long long width, height;
    char kind;
    if (count != 2) return fail("usage: rows CHAIN < IN > OUT");
    if (scanf("P%c %lld %lld 255", &kind, &width, &height) != 3 || (kind != '5' && kind != '6') || getchar() == EOF)
        return fail("standard input is no PGM or PPM image of 8 bits");
    rows.in.width = width;
    rows.in.height = height;
    rows.in.format.type = IMGPIPE_U8;
    rows.in.format.channels = kind == '5' ? 1 : 3;

    if (imgpipe_context_new(NULL, &context, &error)) return fail(error.message);
    if (imgpipe_chain_parse(arguments[1], &chain, &error)) return fail(error.message);
    if (imgpipe_chain_output(context, chain, &rows.in, NULL, &out, &error)) return fail(error.message);
    printf("P%c\n%lld %lld\n255\n", out.format.channels == 1 ? '5' : '6', (long long)out.width, (long long)out.height);
    stream.in_row = (size_t)width * imgpipe_pixel_size(rows.in.format);
    stream.out_row = (size_t)out.width * imgpipe_pixel_size(out.format);
    rows.read = read_row;
    rows.write = write_row;
    rows.user = &stream;
    if (imgpipe_run_rows(context, chain, &rows, NULL, NULL, &error)) return fail(error.message);
    if (fflush(stdout)) return fail("the output could not be written");
    imgpipe_chain_free(&chain);
    imgpipe_context_free(&context);
    return 0;
}
