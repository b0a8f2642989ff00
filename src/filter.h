/* What the files in filters/ share besides the public descriptor. A filter file holds: the options struct, the table of
 * parameters, setup(), need(), and at the bottom one `const imgpipe_filter filter_NAME`. */
#ifndef FILTER_H
#define FILTER_H
#include "imgpipe.h"
#include "kernel.h"

#include <string.h>

/* Rows of the tables of parameters that every filter with a window has. The options struct has the members
 * `int border; imgpipe_sample value;`. */
extern const char *const filter_border_names[];
#define FILTER_BORDER_PARAMS(options)                                                                              \
    {"border", offsetof(options, border), IMGPIPE_PARAM_CHOICE, "clamp", 0, 0, filter_border_names,                 \
     "what lies beyond the edge: clamp, reflect (abc|cb), mirror (abc|b), wrap, constant"},                         \
    {"value", offsetof(options, value), IMGPIPE_PARAM_SAMPLE, "0", -1e30, 1e30, NULL,                               \
     "the sample beyond the edge, in every channel, for border=constant"}

#define FILTER_HEAD .struct_size = sizeof(imgpipe_filter), .abi = IMGPIPE_ABI
#define FILTER_PARAMS(options, table) \
    .options_size = sizeof(options), .params = (table), .param_count = (int)(sizeof(table) / sizeof((table)[0]))

/* A value beyond the edge that samples of `type` can have: integers are rounded and clamped to their range, NaN becomes 0. The engine
 * does this to what setup() leaves. */
double filter_border_value(double units, imgpipe_type type);
/* Sets stage->border and border_value from these parameters; integers clamp the value to their range. */
void filter_set_border(imgpipe_stage *stage, int border, imgpipe_sample value);

/* How many of the first `most` bytes of a text to show, so that no character of UTF-8 is cut. */
static inline int filter_text_fit(const char *text, size_t most) {
    size_t fit = strnlen(text, most);
    while (fit > 0 && ((unsigned char)text[fit] & 0xc0) == 0x80) fit--;
    return (int)fit;
}

/* The launcher in a build with CUDA, NULL in one without: stage->cuda = FILTER_CUDA(blur_cuda); */
#ifdef IMGPIPE_WITH_CUDA
#define FILTER_CUDA(launcher) (launcher)
#else
#define FILTER_CUDA(launcher) NULL
#endif

/* All filters in the order of listings, ended by NULL; made by Meson from the filter table in meson.build. */
extern const imgpipe_filter *const filter_table[];
#endif
