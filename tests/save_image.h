/* An image in memory through an encoder into a file, piece by piece as a run does it. */
#ifndef SAVE_IMAGE_H
#define SAVE_IMAGE_H
#include "outfile.h"
#include "sink.h"

static inline imgpipe_status save_image(const char *path, const struct encoder *encoder, const imgpipe_image *image,
                                        const struct sink_options *options, imgpipe_error *error) {
    struct outfile *out;
    struct sink *sink = NULL;
    imgpipe_status status = outfile_open(path, false, &out, error);
    if (status) return status;
    status = encoder->open(out, &image->info, options, &sink, error);
    for (int64_t y = 0; y < image->info.height && !status; y += sink->piece_rows) {
        int64_t left = image->info.height - y;
        struct sink_piece piece = {.y = y,
                                   .count = (int)(left < sink->piece_rows ? left : sink->piece_rows),
                                   .rows = (unsigned char *)image->pixels + y * image->stride,
                                   .stride = image->stride};
        if (sink->ops->encode) status = sink->ops->encode(sink, &piece, error);
        if (!status) status = sink->ops->commit(sink, &piece, error);
    }
    if (!status) status = sink->ops->finish(sink, error);
    if (sink) sink_close(sink);
    if (!status) return outfile_commit(out, error);
    outfile_abort(out);
    return status;
}
#endif
