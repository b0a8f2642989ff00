#include "line_reader.h"
#include "text_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM ((size_t)LINE_LONGEST + 1)

/* Reads what there is behind what the buffer holds, which moves to its beginning; false at the end. */
static bool fill(struct line_reader *r) {
    if (!r->buffer) r->buffer = malloc(ROOM);
    if (!r->buffer) r->fault = ENOMEM;
    if (r->begin > 0) memmove(r->buffer, r->buffer + r->begin, r->fill - r->begin);
    r->fill -= r->begin;
    r->begin = 0;
    while (!r->fault && r->await(r->user)) {
        ssize_t got = read(STDIN_FILENO, r->buffer + r->fill, ROOM - r->fill);
        if (got > 0) r->fill += (size_t)got;
        if (got >= 0) return got > 0;
        if (errno != EINTR && errno != EAGAIN) r->fault = errno;
    }
    return false;
}

static bool is_blank(const char *line, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r", line[i]) || line[i] == 0) return false;
    return true;
}

bool line_read(struct line_reader *r, char **line, size_t *length) {
    bool too_long = false, more = true;
    size_t seen = 0; /* bytes from `begin` on that hold no end of a line */
    while (more) {
        char *end = r->fill > r->begin + seen ? memchr(r->buffer + r->begin + seen, '\n', r->fill - r->begin - seen) : NULL;
        seen = r->fill - r->begin;
        if (!end && seen == ROOM) {
            too_long = true;
            r->begin = r->fill;
            seen = 0;
        }
        if (!end && (more = fill(r))) continue;
        *length = end ? (size_t)(end - r->buffer) - r->begin : r->fill - r->begin;
        /* The mark of the encoding before the first line is none of its text. */
        size_t mark = r->number == 0 ? mark_utf8(r->buffer + r->begin, *length) : 0;
        r->begin += mark;
        *length -= mark;
        bool blank = !too_long && is_blank(r->buffer + r->begin, *length);
        if (!more && blank) return false;
        r->number++;
        *line = too_long || blank ? NULL : malloc(*length + 1);
        if (*line) {
            memcpy(*line, r->buffer + r->begin, *length); /* there may be zero bytes in it */
            (*line)[*length] = 0;
        }
        r->begin += *length + (end ? 1 : 0);
        if (!blank) return true;
        seen = 0;
    }
    return false;
}

void line_reader_free(struct line_reader *r) {
    free(r->buffer);
    r->buffer = NULL;
}
