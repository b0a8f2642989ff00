/* A run over many images: finds them and what they become, has them done, and says how it went. */
#ifndef FOLDER_H
#define FOLDER_H
#include "batch.h"
#include "roles.h"

/* Returns the exit status. */
int folder_run(const struct options *options, const struct roles *roles, struct console *console, const imgpipe_chain *chain,
               const struct chain_text *text);

/* Opens --report; returns 0, or the exit status of the fault that it told. `jobs` are not to be replaced by it. */
int folder_open_report(const struct options *options, struct console *console, const struct jobs *jobs, FILE **report);
/* Returns 0, or 4 if it could not be written to its end. */
int folder_close_report(const struct options *options, struct console *console, FILE *report);
/* A line of --dry-run. */
void folder_show(const struct options *options, const char *in, const char *out);
/* The end of what goes to standard output: 0 or 4. */
int folder_flush(struct console *console);
#endif
