/* --batch -: another program keeps this one, with its contexts, as a companion. It writes jobs to standard input, one line of JSON each,
 * and gets a line of JSON for each from standard output as soon as it is done. */
#ifndef SERVE_H
#define SERVE_H
#include "plugins.h"

/* Returns the exit status, once standard input ends. */
int serve_run(const struct options *options, struct plugins *plugins, struct console *console);
#endif
