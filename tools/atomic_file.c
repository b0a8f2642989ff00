#include "atomic_file.h"
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static void clear(struct atomic_file *file) {
    free(file->temp);
    free(file->path);
    *file = (struct atomic_file){0};
}

/* Whether `fd` is locked and still has its name: somebody may have taken it for one that was left. */
static bool lock_new(int fd, const char *name) {
    struct stat by_fd, by_name;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    return fstat(fd, &by_fd) == 0 && lstat(name, &by_name) == 0 && by_fd.st_dev == by_name.st_dev && by_fd.st_ino == by_name.st_ino;
}

/* What replaces a file keeps its mode, and must not be readable by more people than that one, not even for a moment. */
static int create_temp(struct atomic_file *file, mode_t mode) {
    int folder = (int)(path_base(file->path) - file->path);
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) random = (uint64_t)getpid() << 20 ^ (uint64_t)attempt;
        free(file->temp);
        if (asprintf(&file->temp, "%.*s.imgpipe-%016llx", folder, file->path, (unsigned long long)random) < 0) {
            file->temp = NULL;
            errno = ENOMEM;
            return -1;
        }
        int fd = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST && errno != EINTR) return -1;
        if (fd >= 0 && lock_new(fd, file->temp)) return fd;
        if (fd >= 0) close(fd);
    }
    errno = EAGAIN;
    return -1;
}

int atomic_open(struct atomic_file *file, const char *path) {
    struct stat st;
    bool there = stat(path, &st) == 0;
    *file = (struct atomic_file){.path = there && S_ISREG(st.st_mode) ? realpath(path, NULL) : strdup(path)};
    int fault = file->path ? 0 : errno, fd = -1;
    if (!fault && there && S_ISDIR(st.st_mode)) fault = EISDIR;
    if (!fault)
        fd = there && !S_ISREG(st.st_mode) ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
                                           : create_temp(file, there ? (st.st_mode & 0777) | S_IWUSR : 0666);
    if (!fault && fd < 0) fault = errno;
    if (!fault && there && file->temp && fchmod(fd, st.st_mode & 0777) != 0) fault = errno;
    if (!fault && !(file->to = fdopen(fd, "w"))) fault = errno;
    if (!fault) return 0;
    if (fd >= 0 && file->temp) unlink(file->temp);
    if (fd >= 0) close(fd);
    clear(file);
    return fault;
}

int atomic_probe(const char *path) {
    struct atomic_file file;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return access(path, W_OK) == 0 ? 0 : errno; /* a pipe may wait */
    int fault = atomic_open(&file, path);
    if (!fault) atomic_abort(&file);
    return fault;
}

int atomic_commit(struct atomic_file *file) {
    errno = 0;
    int fault = fflush(file->to) != 0 || ferror(file->to) ? (errno ? errno : EIO) : 0;
    /* Some file systems report a failed write only at close(); the lock lives on in a duplicate until the file has its name. */
    int lock = file->temp ? fcntl(fileno(file->to), F_DUPFD_CLOEXEC, 3) : -1;
    if (fclose(file->to) != 0 && !fault) fault = errno;
    file->to = NULL;
    if (!fault && file->temp && rename(file->temp, file->path) != 0) fault = errno;
    if (fault && file->temp) unlink(file->temp);
    if (lock >= 0) close(lock);
    clear(file);
    return fault;
}

void atomic_abort(struct atomic_file *file) {
    if (!file->to) return;
    if (file->temp) unlink(file->temp);
    fclose(file->to);
    clear(file);
}
