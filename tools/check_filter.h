/* --check-filter NAME. */
#ifndef CHECK_FILTER_H
#define CHECK_FILTER_H
#include "plugins.h"

/* Proves the filter, and says how that went: on standard output if it is proved, else which case fails. Returns the exit status. */
int check_filter(const struct options *options, struct plugins *plugins, struct console *console);
#endif
