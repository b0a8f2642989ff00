/* Rows as a caller's memory holds them (imgpipe_layout), to and from rows as the engine has them. */
#ifndef LAYOUT_H
#define LAYOUT_H
#include "imgpipe.h"

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
#endif
