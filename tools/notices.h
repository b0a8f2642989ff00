/* What the library says about one image, held back until it is known what becomes of it: an error is to be one line, without the
 * notices of an output that never came. */
#ifndef NOTICES_H
#define NOTICES_H
#include "console.h"

#define NOTICES_HELD 32

/* All zero, but for the lock, is an empty one. Any thread. */
struct notices {
    pthread_mutex_t lock;
    int count;
    struct {
        imgpipe_log_level level;
        char *text;
    } held[NOTICES_HELD];
};

/* Takes a message about `subject`; details, and with -v all, are shown at once. */
void notices_take(struct notices *notices, struct console *console, imgpipe_log_level level, const char *message,
                  const struct subject *subject);
/* Shows what is held, or drops it. */
void notices_end(struct notices *notices, struct console *console, const struct subject *subject, bool show);
#endif
