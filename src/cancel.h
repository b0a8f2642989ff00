/* The caller's wish to stop, for whoever waits for something that may never come: a pipe. */
#ifndef CANCEL_H
#define CANCEL_H
#include <stdbool.h>
#include <stddef.h>

struct cancel {
    bool (*asked)(void *user);  /* NULL: never */
    void *user;
};

/* How long a wait goes on before it asks again. */
#define CANCEL_MILLISECONDS 200

static inline bool cancel_asked(const struct cancel *cancel) { return cancel && cancel->asked && cancel->asked(cancel->user); }
#endif
