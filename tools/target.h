/* Where the output of a single image goes: the rules of the command line about OUT. */
#ifndef TARGET_H
#define TARGET_H
#include "roles.h"

struct target {
    const char *in;
    char *out;          /* the file to write, "-", or NULL for --no-output */
    const char *format; /* its kind, or NULL: by its extension */
    char *folder;       /* to be made before the run, or NULL */
    bool kept;          /* an image is there already and stays: nothing is to be done, exit status 1 */
    bool current; /* it is there, and no older than its input, as --overwrite older asks: nothing is to be done, exit status 0 */
};

#define TARGET_MESSAGE ROLES_MESSAGE

/* Returns 0, or the exit status for what `message` then says. Reads what there is on disk, and changes nothing. */
int target_find(const struct options *options, const struct roles *roles, struct target *target, char message[TARGET_MESSAGE]);
/* Makes target->folder with its parents; returns 0 or 4 likewise. */
int target_make_folder(const struct target *target, char message[TARGET_MESSAGE]);
void target_free(struct target *target);
#endif
