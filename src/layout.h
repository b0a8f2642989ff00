/* Rows as a caller's memory holds them (imgpipe_layout), to and from rows as the engine has them. */
#ifndef LAYOUT_H
#define LAYOUT_H
#include "imgpipe.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline bool layout_same_format(imgpipe_format a, imgpipe_format b) {
    return a.type == b.type && a.channels == b.channels && a.alpha == b.alpha;
}

/* A layout made ready for loops over pixels: where each channel stands among the samples of a pixel in memory. */
struct layout_way {
    int channels, samples;
    int at[4];
    int unused; /* where the sample without a meaning stands, or -1 */
    bool premultiplied;
    uint32_t white; /* never 0 */
};
struct layout_way layout_way_of(imgpipe_format format, imgpipe_layout layout);

/* Refuses a size, format, layout, address or stride that no image can have; `what` ("input", "output") is for the message. */
imgpipe_status layout_check_image(const imgpipe_image *image, const char *what, imgpipe_error *error);
/* The same for what has no memory of its own. */
imgpipe_status layout_check(const imgpipe_info *info, imgpipe_layout layout, const char *what, imgpipe_error *error);
/* Whether a byte of a pixel of one image is also one of the other. */
bool layout_overlap(const imgpipe_image *a, const imgpipe_image *b);
/* Whether both are the same pixels: the same bytes for each of them. */
bool layout_same_place(const imgpipe_image *a, const imgpipe_image *b);
/* Whether rows in memory are as the format says. */
bool layout_plain(imgpipe_format format, imgpipe_layout layout);
/* One row from the caller's memory; `y` is for the message about a sample above the white level. */
imgpipe_status layout_read(imgpipe_format format, imgpipe_layout layout, const void *from, void *to, int64_t width, int64_t y,
                           imgpipe_error *error);
/* One row to the caller's memory. */
void layout_write(imgpipe_format format, imgpipe_layout layout, const void *from, void *to, int64_t width);

/* The same for images in device memory, whose other side has rows as the engine has them (kernels/layout.cu). Enqueues, and returns
 * a cudaError_t. A sample above the white level counts as white. */
int layout_cuda_read(const imgpipe_image *from, void *to, int64_t to_stride, void *stream);
int layout_cuda_write(const void *from, int64_t from_stride, const imgpipe_image *to, void *stream);

#ifdef __cplusplus
}
#endif
#endif
