/* The text of -f: from the command line or from a file, and how it is shown with a faulty place marked. */
#ifndef CHAIN_TEXT_H
#define CHAIN_TEXT_H
#include "console.h"

struct chain_text {
    char *text;       /* what imgpipe_chain_parse() gets */
    const char *file; /* the name behind '@', or NULL */
    char *original;   /* the file as it is; every byte of `text` is at the same place in it. NULL without a file */
};

/* `value` is what stands behind -f, or NULL. A leading '@' names a file, in which a newline separates stages like a comma
 * and # starts a comment, both outside quotes. False if it cannot be read; `message` then says why. */
bool chain_text_read(const char *value, struct chain_text *chain, char *message, size_t message_size);
void chain_text_free(struct chain_text *chain);

/* Prints the error; where it has a place, the line of the chain with carets under it as well. */
void chain_text_error(struct console *console, const struct chain_text *chain, const imgpipe_error *error);
#endif
