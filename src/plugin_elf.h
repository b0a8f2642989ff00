/* What can be told of a shared object before the loader maps it. */
#ifndef PLUGIN_ELF_H
#define PLUGIN_ELF_H
#include "imgpipe.h"

/* Fails with IMGPIPE_ERROR_ARGUMENT if the file ends before what its header says is to be mapped: the loader would take that, and
 * the program die by SIGBUS at the first touch. What is no shared object of this machine passes, as the loader has words of its own
 * for it. */
imgpipe_status plugin_check_length(const char *file, imgpipe_error *error);
#endif
