/* Small things about paths. */
#ifndef PATHS_H
#define PATHS_H
#include <stdbool.h>
#include <time.h>

/* What to say of an input that path_is_protected(), and that its output would replace. */
#define PATH_PROTECTED                                                                                                             \
    "'%.400s' is write-protected, so its output does not replace it; make it writable (chmod u+w), or add --overwrite always"

/* Makes a folder with its parents; one that is there already is fine. Returns 0 or errno. */
int path_make_folder(const char *folder);
/* The same for the folder that a file is to lie in. */
int path_make_folder_of(const char *file);
/* The name behind the last slash. */
const char *path_base(const char *path);
bool path_is_folder(const char *path);
bool path_is_older(const struct timespec *a, const struct timespec *b);
/* Both lead to the same file, which is there, by its name: not only as another hard link. */
bool path_is_same_file(const char *a, const char *b);
/* Nobody may write into the file, or its user may not; it could be replaced all the same, by who may write into its folder. */
bool path_is_protected(const char *path);
/* `path` leads to the file, pipe or terminal that is open as `fd`. Never so for other devices, such as /dev/null, where nothing
 * that is written or read can get mixed up. */
bool path_is_open_as(const char *path, int fd);
/* A pipe, a socket, a device: somebody else at its other end may never come. False for NULL and for what is not there. */
bool path_may_wait(const char *path);
/* Where a file lies, or would lie if it were made, behind all symlinks; NULL if memory is missing. */
char *path_real(const char *path);
/* What of a path_real() follows the folder, another one, and its slash; "" if it is the folder, NULL if it does not lie there. */
const char *path_below(const char *real, const char *folder);
/* Whether two paths without symlinks differ at most in how they are written: `a//b` and `./a/b`. Compares like strcmp(). */
int path_compare(const char *a, const char *b);
#endif
