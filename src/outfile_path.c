/* Names and folders of outputs: following symlinks, special files, removing what killed runs left behind. */
#include "outfile_path.h"
#include "outfile.h"
#include "clock.h"
#include "status.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LINKS_MAX 40

static imgpipe_status fail(const char *name, int fault, const char *advice, imgpipe_error *error) {
    return error_set(error, fault == ENOMEM ? IMGPIPE_ERROR_MEMORY : IMGPIPE_ERROR_OUTPUT, "cannot write '%s': %s; %s", name,
                     strerror(fault), advice);
}

/* ------------------------------------------------------------------------------------------------- specials */

/* The number of the process's own descriptor that `path` names, or -1. Opening these names anew would lose the offset that a
 * shell's `>>` has set, and fails for sockets; the descriptor itself is what is meant. */
static int own_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0) continue;
        char *end;
        long number = strtol(path + length, &end, 10);
        if (end > path + length && *end == 0 && number >= 0 && number <= 1 << 20) return (int)number;
    }
    return -1;
}

static imgpipe_status refuse_terminal(const char *name, imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_OUTPUT,
                     "cannot write '%s': it is a terminal; redirect it to a file or a pipe, or name a file", name);
}

static imgpipe_status take_descriptor(int fd, const char *name, int *result, imgpipe_error *error) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return fail(name, errno, "it is not open; redirect it to a file or a pipe", error);
    if ((flags & O_ACCMODE) == O_RDONLY)
        return fail(name, EBADF, "it is open for reading only; redirect it to a file or a pipe", error);
    if (isatty(fd)) return refuse_terminal(name, error);
    *result = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return *result < 0 ? fail(name, errno, "close some files", error) : IMGPIPE_OK;
}

static int connect_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int fault = errno;
    close(fd);
    errno = fault;
    return -1;
}

/* A device, pipe or socket is opened as it is. A pipe waits here for its reader, as with any other program, and until a signal
 * is caught: whoever asked for that wants to stop waiting. */
static imgpipe_status open_special(const char *path, const char *name, mode_t mode, int *result, imgpipe_error *error) {
    do {
        *result = S_ISSOCK(mode) ? connect_socket(path) : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } while (*result < 0 && errno == EINTR && !S_ISFIFO(mode));
    if (*result < 0) return fail(name, errno, "check the device, pipe or socket", error);
    if (!isatty(*result)) return IMGPIPE_OK;
    close(*result);
    *result = -1;
    return refuse_terminal(name, error);
}

/* ------------------------------------------------------------------------------------------------- symlinks */

/* Where the symlink `path` leads, relative to what `path` is relative to; NULL with errno. */
static char *follow_link(const char *path) {
    char text[4097];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0) return NULL;
    text[length] = 0;
    const char *slash = strrchr(path, '/');
    char *joined = NULL;
    if (text[0] == '/' || !slash) {
        joined = strdup(text);
    } else if (asprintf(&joined, "%.*s/%s", (int)(slash - path), path, text) < 0) {
        joined = NULL;
    }
    if (!joined) errno = ENOMEM;
    return joined;
}

/* Follows the last component of `path` until it is no symlink, also where nothing is at the end. */
static char *follow_links(const char *path) {
    char *current = strdup(path);
    for (int i = 0; current; i++) {
        struct stat st;
        if (lstat(current, &st) != 0 || !S_ISLNK(st.st_mode)) return current;
        char *next = NULL;
        if (i < LINKS_MAX) {
            next = follow_link(current);
        } else {
            errno = ELOOP;
        }
        int fault = errno;
        free(current);
        errno = fault;
        current = next;
    }
    return NULL;
}

static imgpipe_status open_folder(struct outfile_target *target, const char *name, imgpipe_error *error) {
    const char *folder = target->folder_name;
    target->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A folder may be writable and not readable. */
    if (target->folder < 0 && errno == EACCES) target->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (target->folder >= 0) return IMGPIPE_OK;
    if (errno == ENOENT) {
        return error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': its folder '%s' does not exist; make it first", name,
                         folder);
    }
    if (errno == ENOTDIR) {
        return error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': '%s' is not a folder; name another place", name, folder);
    }
    return error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': its folder '%s' cannot be opened: %s; name another place",
                     name, folder, strerror(errno));
}

/* Splits the final path, opens its folder, and looks at what is there. */
static imgpipe_status find_place(const char *path, const char *name, struct outfile_target *target, imgpipe_error *error) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    target->base = strdup(slash ? slash + 1 : path);
    target->folder_name = !slash ? strdup(".") : length == 0 ? strdup("/") : strndup(path, length);
    if (!target->base || !target->folder_name) return fail(name, ENOMEM, "free some memory", error);
    imgpipe_status status = open_folder(target, name, error);
    if (status != IMGPIPE_OK) return status;
    if (fstatat(target->folder, target->base, &target->st, AT_SYMLINK_NOFOLLOW) == 0) {
        target->exists = true;
    } else if (errno != ENOENT) {
        return fail(name, errno, errno == ENAMETOOLONG ? "name a shorter one" : "name another place", error);
    }
    return IMGPIPE_OK;
}

imgpipe_status outfile_resolve(const char *path, const char *name, struct outfile_target *target, imgpipe_error *error) {
    memset(target, 0, sizeof *target);
    target->special = target->folder = -1;
    int own = own_descriptor(path);
    if (own >= 0) return take_descriptor(own, name, &target->special, error);
    struct stat st;
    size_t length = strlen(path);
    bool found = stat(path, &st) == 0;
    if ((found && S_ISDIR(st.st_mode)) || path[length - 1] == '/') {
        return error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': it is a folder; name a file in it", name);
    }
    if (found && !S_ISREG(st.st_mode)) return open_special(path, name, st.st_mode, &target->special, error);
    char *final = follow_links(path);
    if (!final) return fail(name, errno, errno == ELOOP ? "the symlinks go in a circle" : "check the symlink", error);
    imgpipe_status status = find_place(final, name, target, error);
    free(final);
    return status;
}

/* Fills the folder's identity, and the name in it, which is to be freed; NULL if there is no such folder. */
static char *find_base(const char *path, struct stat *folder) {
    char *final = follow_links(path), *slash = final ? strrchr(final, '/') : NULL, *base = NULL;
    if (!final) return NULL;
    if (slash) *slash = 0;
    if (stat(!slash ? "." : slash == final ? "/" : final, folder) == 0) base = strdup(slash ? slash + 1 : final);
    free(final);
    return base;
}

bool outfile_same_place(const char *a, const char *b) {
    int x = own_descriptor(a), y = own_descriptor(b);
    if (x >= 0 || y >= 0) return x == y;
    struct stat folder_a, folder_b;
    char *base_a = find_base(a, &folder_a), *base_b = find_base(b, &folder_b);
    bool same =
        base_a && base_b && strcmp(base_a, base_b) == 0 && folder_a.st_dev == folder_b.st_dev && folder_a.st_ino == folder_b.st_ino;
    free(base_a);
    free(base_b);
    return same;
}

void outfile_target_free(struct outfile_target *target) {
    if (target->folder >= 0) close(target->folder);
    free(target->folder_name);
    free(target->base);
    target->folder = -1;
    target->folder_name = target->base = NULL;
}

/* ------------------------------------------------------------------------------------------------- folders */

/* Removes `name` if its lock can be taken, and if it is still the locked file that bears the name: its writer may just have
 * renamed it. Opened for writing, because NFS locks only such files. */
static void remove_if_stale(int folder, const char *name) {
    struct stat by_fd, by_name;
    int fd = openat(folder, name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &by_fd) == 0 && S_ISREG(by_fd.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && by_fd.st_dev == by_name.st_dev &&
        by_fd.st_ino == by_name.st_ino) {
        unlinkat(folder, name, 0);
    }
    close(fd);
}

/* Whether create_temp() may have made this name. What only begins like one is a user's file, such as `.imgpipe-1.png`. */
static bool is_temp_name(const char *name) {
    size_t prefix = strlen(OUTFILE_TEMP_PREFIX);
    return strncmp(name, OUTFILE_TEMP_PREFIX, prefix) == 0 && strspn(name + prefix, "0123456789abcdef") == OUTFILE_TEMP_DIGITS &&
           name[prefix + OUTFILE_TEMP_DIGITS] == 0;
}

static void scan(int folder) {
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    if (!listing) {
        if (fd >= 0) close(fd);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(listing))) {
        bool regular = entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN;
        if (regular && is_temp_name(entry->d_name)) remove_if_stale(folder, entry->d_name);
    }
    closedir(listing);
}

void outfile_remove_stale(int folder, struct outfile_folders *folders) {
    struct stat st;
    if (fstat(folder, &st) != 0) return;
    if (!folders) {
        scan(folder);
        return;
    }
    size_t slot = (size_t)(st.st_ino ^ st.st_ino >> 4 ^ st.st_dev) % (sizeof folders->seen / sizeof *folders->seen);
    double begin = clock_now();
    pthread_mutex_lock(&folders->lock);
    bool same = folders->seen[slot].device == st.st_dev && folders->seen[slot].inode == st.st_ino;
    bool recent = same && begin < folders->seen[slot].next;
    if (!recent) {
        folders->seen[slot].device = st.st_dev;
        folders->seen[slot].inode = st.st_ino;
        folders->seen[slot].next = begin + 1e9; /* other threads need not list it meanwhile */
    }
    pthread_mutex_unlock(&folders->lock);
    if (recent) return;
    scan(folder);
    double end = clock_now();
    pthread_mutex_lock(&folders->lock);
    if (folders->seen[slot].device == st.st_dev && folders->seen[slot].inode == st.st_ino)
        folders->seen[slot].next = end + 100 * (end - begin);
    pthread_mutex_unlock(&folders->lock);
}

int outfile_rename(int folder, const char *from, const char *to, bool keep_existing) {
    if (!keep_existing) return renameat(folder, from, folder, to);
    if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    /* The file system lacks that; a hard link does not replace either. */
    if (linkat(folder, from, folder, to, 0) == 0) return unlinkat(folder, from, 0);
    if (errno == EEXIST) return -1;
    struct stat st;
    if (fstatat(folder, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return renameat(folder, from, folder, to);
}
