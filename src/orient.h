/* A filter of the engine's own: turns and mirrors the pixels so that an image whose EXIF orientation is 2 to 8 is upright. The
 * plan puts it at the end of the chain, where the output cannot say how it is to be turned. */
#ifndef ORIENT_H
#define ORIENT_H
#include "imgpipe.h"

struct orient_options {
    int orientation;
};

extern const imgpipe_filter filter_orient;
#endif
