/* A job of --batch: one line of JSON, {"id":…,"in":…,"out":…,"chain":…,"options":{…}}. */
#ifndef REQUEST_H
#define REQUEST_H
#include "console.h"
#include "options.h"
#include "plugins.h"

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
/* Whether the command line suits --batch: 0, or the exit status of what it told. */
int request_check_options(const struct options *options, struct plugins *plugins, struct console *console);
/* False, with `message` filled, if the file, named or found in a folder, is the one that the answers go to. NULL: there is none. */
bool request_check_out(const char *out, char message[REQUEST_MESSAGE]);
/* False, with `error` filled, if side data of the chain would go where the answers go. */
bool request_check_data(const imgpipe_chain *chain, imgpipe_error *error);
#endif
