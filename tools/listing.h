/* What there is: filters, kinds of files, devices, options. */
#ifndef LISTING_H
#define LISTING_H
#include "plugins.h"

/* Writes what options->action asks for to standard output. Returns 0, or 2 if the filter of --help is unknown; `message` then
 * says so. Plug-ins are searched for where filters are listed, or one is not there. `note` gets a line that belongs on standard error, or is empty. */
int listing_print(const struct options *options, struct plugins *plugins, char message[OPTIONS_MESSAGE], char note[OPTIONS_MESSAGE]);
#endif
