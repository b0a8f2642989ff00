/* Reading one parameter's text into an options struct by the filter's table. The table is parser, range check, default
 * and help at once. */
#ifndef PARAM_H
#define PARAM_H
#include "imgpipe.h"

/* Fills every member of `options` that the table describes with its default. The defaults of the core filters are
 * known to be valid (a test proves it); one that is not gives IMGPIPE_ERROR_INTERNAL. TEXT defaults point into the table. */
imgpipe_status param_defaults(const imgpipe_filter *filter, void *options, imgpipe_error *error);

/* Reads `text` as a value of `param` into `options`. Errors carry place and length relative to `text` (place 0 and its
 * whole length when nothing finer is known), the range, the nearest valid name, and the habit behind the mistake
 * ("0x8": "write 8"; "1,5": "write 1.5"; an even size: the two odd neighbours, "a radius of 2 is size 5").
 * Numbers are decimal with '.' in any locale: no hex, nan, inf. `text` must live as long as the options (TEXT points to it). */
imgpipe_status param_parse(const imgpipe_filter *filter, const imgpipe_param *param, const char *text, void *options, imgpipe_error *error);

/* Reads a decimal number ([+-]digits[.digits][e[+-]digits]) that ends where it ends; false if there is none. */
bool param_number(const char *text, const char **end, double *value);

/* The name nearest to `text` among `names` (ended by NULL) by Damerau-Levenshtein distance, or NULL if none is near. */
const char *param_nearest(const char *text, const char *const *names);
#endif
