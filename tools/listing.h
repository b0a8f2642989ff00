/* What there is: filters, kinds of files, devices, options. */
#ifndef LISTING_H
#define LISTING_H
#include "options.h"

/* Writes what options->action asks for to standard output. Returns 0, or 2 if the filter of --help is unknown; `message` then
 * says so. `note` gets a line that belongs on standard error, or is empty. */
int listing_print(const struct options *options, char message[OPTIONS_MESSAGE], char note[OPTIONS_MESSAGE]);
#endif
