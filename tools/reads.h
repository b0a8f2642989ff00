/* What a run reads beside its images, which nothing that it writes may replace. */
#ifndef READS_H
#define READS_H
#include "imgpipe.h"
#include "options.h"
#include "roles.h"

#define READS_MESSAGE 1000

/* What the run reads that regular file for (a list, the chain, a mask), or NULL. */
const char *reads_role(const struct options *options, const imgpipe_chain *chain, const char *path);
/* Looks at all that the run writes under one name: `out` (the one image, or NULL), side data, the report, the sum of histograms.
 * Returns 0, or 2 with what is wrong in `message`. */
int reads_check(const struct options *options, const struct roles *roles, const char *out, const imgpipe_chain *chain,
                char message[READS_MESSAGE]);
#endif
