/* Filling an imgpipe_error. Errors belong to the call: there is no error state anywhere else. */
#ifndef STATUS_H
#define STATUS_H
#include "imgpipe.h"

/* Fills `error` (may be NULL) with status and message, place -1, and returns `status`. Control characters in the
 * finished message are replaced by `\xNN`, so that file names cannot move the terminal's cursor. */
imgpipe_status error_set(imgpipe_error *error, imgpipe_status status, const char *format, ...) IMGPIPE_PRINTF(3, 4);
/* The same, with a place in the chain's text. */
imgpipe_status error_at(imgpipe_error *error, imgpipe_status status, int place, int length, const char *format, ...)
    IMGPIPE_PRINTF(5, 6);

/* Appends to buf[size], always terminated; what does not fit is cut. */
void text_append(char *buf, size_t size, const char *format, ...) IMGPIPE_PRINTF(3, 4);
/* Copies `from` with control characters escaped. */
void text_escape(char *buf, size_t size, const char *from);
/* "12.3 MiB" and the like. */
const char *text_bytes(uint64_t bytes, char buf[32]);
/* "8-bit RGB with alpha" and the like. */
const char *text_format(imgpipe_format format, char buf[64]);
#endif
