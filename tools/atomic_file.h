/* A file of text that appears complete or not at all, by the same protocol as the library's outputs: a locked temporary file beside
 * its place, named so that a later run removes it should nobody be left to hold the lock. */
#ifndef ATOMIC_FILE_H
#define ATOMIC_FILE_H
#include <stdio.h>

struct atomic_file {
    FILE *to;   /* to write into; NULL while it is not open */
    char *temp; /* NULL: `to` is the file itself, a device or pipe */
    char *path; /* with symlinks followed */
};

/* Whether the file could be written now, for who writes it only at the end of a long run: 0 or errno. Nothing is left. */
int atomic_probe(const char *path);
/* Returns 0 or errno. */
int atomic_open(struct atomic_file *file, const char *path);
/* Gives it its name; returns 0, or errno with nothing changed. */
int atomic_commit(struct atomic_file *file);
/* Leaves what was there before. For a file that is not open it does nothing. */
void atomic_abort(struct atomic_file *file);
#endif
