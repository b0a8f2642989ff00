#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *path_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool path_is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int path_make_folder(const char *folder) {
    char *path = strdup(folder);
    if (!path) return ENOMEM;
    for (char *p = path + (*path != 0);; p++) {
        if (*p != '/' && *p != 0) continue;
        char sign = *p;
        *p = 0;
        /* Somebody else may make it at the same time, so only what is there afterwards counts. */
        int fault = mkdir(path, 0777) == 0 ? 0 : errno;
        if (!path_is_folder(path)) {
            free(path);
            return fault == 0 || fault == EEXIST ? ENOTDIR : fault;
        }
        *p = sign;
        if (sign == 0) break;
    }
    free(path);
    return 0;
}

int path_make_folder_of(const char *file) {
    const char *slash = strrchr(file, '/');
    if (!slash || slash == file) return 0;
    char *folder = strndup(file, (size_t)(slash - file));
    if (!folder) return ENOMEM;
    int fault = path_is_folder(folder) ? 0 : path_make_folder(folder);
    free(folder);
    return fault;
}

bool path_is_older(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

bool path_is_same_file(const char *a, const char *b) {
    char *x = realpath(a, NULL), *y = realpath(b, NULL);
    bool same = x && y && strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

bool path_is_protected(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) return false;
    return (st.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0 ||
           (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 && (errno == EACCES || errno == EPERM));
}

bool path_is_open_as(const char *path, int fd) {
    struct stat by_path, by_fd;
    return stat(path, &by_path) == 0 && fstat(fd, &by_fd) == 0 && by_path.st_dev == by_fd.st_dev &&
           by_path.st_ino == by_fd.st_ino && (!S_ISCHR(by_fd.st_mode) || isatty(fd));
}

bool path_may_wait(const char *path) {
    struct stat st;
    return path && stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

char *path_real(const char *path) {
    char *real = realpath(path, NULL), *start = strdup(path), *joined = NULL;
    size_t length = strlen(path);
    /* What is not there yet can't be a symlink: the longest part that is there decides. */
    while (!real && start && length > 0) {
        while (length > 0 && start[length - 1] != '/') length--;
        size_t end = length;
        while (end > 1 && start[end - 1] == '/') end--;
        start[end] = 0;
        real = realpath(end > 0 ? start : ".", NULL);
        if (!real)
            length = end;
        else if (asprintf(&joined, "%s/%s", strcmp(real, "/") == 0 ? "" : real, path + length) < 0)
            joined = NULL;
    }
    free(start);
    if (!joined) return real ? real : strdup(path);
    free(real);
    return joined;
}

const char *path_below(const char *real, const char *folder) {
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') length--;
    if (strncmp(real, folder, length) != 0 || (real[length] != '/' && real[length] != 0)) return NULL;
    return real + length + (real[length] == '/');
}

/* Moves behind slashes, and `.` as a part. */
static const char *skip(const char *p, bool begin) {
    if (!begin && *p != '/') return p;
    for (;;) {
        while (*p == '/') p++;
        if (p[0] != '.' || (p[1] != '/' && p[1] != 0)) return p;
        p++;
    }
}

int path_compare(const char *a, const char *b) {
    bool root_a = *a == '/', root_b = *b == '/';
    if (root_a != root_b) return root_a ? -1 : 1;
    for (bool begin = true;; begin = false) {
        bool cut_a = begin || *a == '/' || *a == 0, cut_b = begin || *b == '/' || *b == 0;
        if (cut_a && cut_b) {
            a = skip(a, begin);
            b = skip(b, begin);
            if (!*a || !*b) return (*a != 0) - (*b != 0);
        } else if (cut_a != cut_b) {
            return cut_a ? -1 : 1; /* a folder comes before what begins like it */
        }
        if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        a++;
        b++;
    }
}
