#include "notices.h"

#include <stdlib.h>
#include <string.h>

void notices_take(struct notices *n, struct console *console, imgpipe_log_level level, const char *message,
                  const struct subject *subject) {
    bool holds = !console->verbose && (level == IMGPIPE_LOG_WARNING || level == IMGPIPE_LOG_NOTICE);
    pthread_mutex_lock(&n->lock);
    char *copy = holds && n->count < NOTICES_HELD ? strdup(message) : NULL;
    if (copy) {
        n->held[n->count].level = level;
        n->held[n->count++].text = copy;
    }
    pthread_mutex_unlock(&n->lock);
    if (!copy) console_log_about(console, level, message, subject);
}

void notices_end(struct notices *n, struct console *console, const struct subject *subject, bool show) {
    pthread_mutex_lock(&n->lock);
    for (int i = 0; i < n->count; i++) {
        if (show) console_log_about(console, n->held[i].level, n->held[i].text, subject);
        free(n->held[i].text);
    }
    n->count = 0;
    pthread_mutex_unlock(&n->lock);
}
