/* What outfile.c needs to know about names and folders. */
#ifndef OUTFILE_PATH_H
#define OUTFILE_PATH_H
#include "imgpipe.h"
#include <sys/stat.h>

/* A temporary name is this and as many digits of 0…9 and a…f. */
#define OUTFILE_TEMP_PREFIX ".imgpipe-"
#define OUTFILE_TEMP_DIGITS 16

/* Where an output really goes, all symlinks followed. */
struct outfile_target {
    int special;       /* a descriptor to write to directly (device, pipe, socket, standard output), or -1 */
    int folder;        /* the folder's descriptor, which stays right whatever is renamed meanwhile; -1 for specials */
    char *folder_name; /* for messages */
    char *base;        /* the name within the folder */
    bool exists;       /* there is a regular file of that name, described by `st` */
    struct stat st;
};

/* Fills `target`, which outfile_target_free() clears also after a failure. `name` is `path` for messages. */
imgpipe_status outfile_resolve(const char *path, const char *name, struct outfile_target *target, imgpipe_error *error);
void outfile_target_free(struct outfile_target *target);
struct outfile_folders;
/* Removes the temporary files in a folder that nobody holds the lock on. With a memory of folders (may be NULL) a folder is
 * listed again only once 100 times the duration of the last listing have passed, so listings cost at most a per cent of the
 * time. */
void outfile_remove_stale(int folder, struct outfile_folders *folders);
/* Whether both paths lead to the same name in the same folder, or to the same descriptor of the process, so that what is written
 * to one would replace or mix with what is written to the other. Nothing need be there yet. */
bool outfile_same_place(const char *a, const char *b);
/* Renames within a folder. `keep_existing`: fails with EEXIST if `to` is there. Returns 0, or -1 with errno. */
int outfile_rename(int folder, const char *from, const char *to, bool keep_existing);
#endif
