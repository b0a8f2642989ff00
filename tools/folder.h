/* A run over many images: finds them and what they become, has them done, and says how it went. */
#ifndef FOLDER_H
#define FOLDER_H
#include "batch.h"
#include "roles.h"

/* Returns the exit status. */
int folder_run(const struct options *options, const struct roles *roles, struct console *console, const imgpipe_chain *chain,
               const struct chain_text *text);

/* A line of --dry-run. */
void folder_show(const struct options *options, const char *in, const char *out);
#endif
