/* What keeps an input from being opened. */
#ifndef LOOK_H
#define LOOK_H
#include "imgpipe.h"

struct look {
    imgpipe_context *context; /* made with the first look */
    imgpipe_error error;
};

/* Opens the file and reads nothing of it; false with look->error, in the words of a run. Standard input, and what may wait for
 * somebody else (a pipe, a device), is not opened. A zeroed struct begins; look_end() follows. */
bool look_open(struct look *look, const char *in);
void look_end(struct look *look);
#endif
