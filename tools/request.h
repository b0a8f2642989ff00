/* A job of --batch: one line of JSON, {"id":…,"in":…,"out":…,"chain":…,"options":{…}}. */
#ifndef REQUEST_H
#define REQUEST_H
#include "options.h"

#define REQUEST_OPTIONS 32
#define REQUEST_MESSAGE 800

struct request {
    char *id;               /* as it stands in the line, or NULL */
    char *in, *out, *chain; /* NULL: not given, or null */
    struct options options; /* those of the command line, changed as the job says; not to be freed */
    const char *operand;    /* what options.operands points to */
    char *arguments[REQUEST_OPTIONS];
    int argument_count;
};

/* False with what is wrong in `message`; then `id` is there all the same, if the line has one that can be read. */
bool request_read(const char *line, size_t length, const struct options *base, struct request *request,
                  char message[REQUEST_MESSAGE]);
void request_free(struct request *request);
/* An option of the command line that has no meaning where jobs come one by one, or NULL. */
const char *request_misplaced(const struct options *options);
#endif
