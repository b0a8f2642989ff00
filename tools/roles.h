/* Which operands are inputs and which is OUT, and whether this is a run over many images. */
#ifndef ROLES_H
#define ROLES_H
#include "options.h"

struct roles {
    int input_count;    /* the inputs are the first operands */
    const char *out;    /* as it was given, or NULL for --no-output */
    bool alone;         /* false if all operands stand on one side of the chain, so that OUT may well be an input that a shell's
                           pattern has put there */
    bool folder;        /* OUT is a folder, or will be one */
    bool many;          /* inputs are to be collected; otherwise there is one, the first operand */
};

#define ROLES_MESSAGE 3000

/* Returns 0, or 2 with what is wrong in `message`. Looks at what there is on disk, and changes nothing. */
int roles_find(const struct options *options, struct roles *roles, char message[ROLES_MESSAGE]);
#endif
