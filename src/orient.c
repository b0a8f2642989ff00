#include "orient.h"
#include "filter.h"

#include <string.h>

/* Rows and columns are exchanged in blocks of so many pixels a side, so that the rows read stay in the cache until all of their
 * bytes have been used. */
#define BLOCK 32

/* Copies `count` pixels, taking them from places `step` bytes apart. A constant size makes each copy one or two moves. */
static void take_pixels(unsigned char *to, const unsigned char *from, ptrdiff_t step, int64_t count, size_t size) {
    switch (size) {
#define TAKE(n)                                                                                                                    \
    case n:                                                                                                                        \
        for (int64_t i = 0; i < count; i++, to += (n), from += step) memcpy(to, from, (n));                                        \
        break
        TAKE(1);
        TAKE(2);
        TAKE(3);
        TAKE(4);
        TAKE(6);
        TAKE(8);
        TAKE(12);
        TAKE(16);
#undef TAKE
    default: break;
    }
}

/* Pixel (x, y) of the output is the pixel of the input at
 *     2: (W-1-x, y)   3: (W-1-x, H-1-y)   4: (x, H-1-y)
 *     5: (y, x)       6: (y, H-1-x)       7: (W-1-y, H-1-x)   8: (W-1-y, x)
 * where W and H are the input's. That is affine: a first pixel, and a step for each of x and y. */
static imgpipe_status orient_render(const imgpipe_stage *stage, const imgpipe_image *in, const imgpipe_image *out,
                                    imgpipe_error *error) {
    (void)error;
    int orientation = ((const struct orient_options *)stage->options)->orientation;
    size_t size = imgpipe_pixel_size(in->info.format);
    int64_t width = out->info.width, height = out->info.height;
    bool swaps = orientation >= 5, from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    ptrdiff_t pixel = from_right ? -(ptrdiff_t)size : (ptrdiff_t)size, row = from_below ? -in->stride : in->stride;
    ptrdiff_t step_x = swaps ? row : pixel, step_y = swaps ? pixel : row;
    const unsigned char *first = (const unsigned char *)in->pixels + (from_right ? (in->info.width - 1) * (ptrdiff_t)size : 0) +
                                 (from_below ? (in->info.height - 1) * in->stride : 0);
    int64_t block = swaps ? BLOCK : width;
    for (int64_t y0 = 0; y0 < height; y0 += BLOCK)
        for (int64_t x0 = 0; x0 < width; x0 += block)
            for (int64_t y = y0; y < height && y < y0 + BLOCK; y++) {
                unsigned char *to = (unsigned char *)out->pixels + y * out->stride + x0 * (ptrdiff_t)size;
                take_pixels(to, first + x0 * step_x + y * step_y, step_x, width - x0 < block ? width - x0 : block, size);
            }
    return IMGPIPE_OK;
}

static imgpipe_status orient_setup(imgpipe_stage *stage, imgpipe_error *error) {
    (void)error;
    int orientation = ((const struct orient_options *)stage->options)->orientation;
    stage->identity = orientation < 2 || orientation > 8;
    if (orientation >= 5 && orientation <= 8) {
        stage->out.width = stage->in.height;
        stage->out.height = stage->in.width;
    }
    return IMGPIPE_OK;
}

const imgpipe_filter filter_orient = {
    FILTER_HEAD,
    .name = "orient",
    .summary = "turns the image upright",
    .kind = IMGPIPE_WHOLE,
    .options_size = sizeof(struct orient_options),
    .setup = orient_setup,
    .render = orient_render,
};
