/* An output that appears complete or not at all.
 *
 * The temporary file is locked with flock() from its creation to its rename. A file with such a name whose lock can be
 * taken therefore belongs to nobody any more and is removed. Two windows have to be closed: a cleaner may take the lock
 * between the creator's open() and its flock(), and a file may be renamed between a cleaner's open() and its flock(). So both look
 * again, once they hold the lock, whether the name still leads to the locked inode; a creator that lost takes another name. */
#include "outfile.h"
#include "clock.h"
#include "outfile_path.h"
#include "status.h"
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#define BUFFER_SIZE ((size_t)256 * 1024)
#define WRITE_MAX ((size_t)1 << 30)

struct outfile {
    int fd;
    const struct cancel *cancel;
    bool is_pipe;
    bool direct; /* a device, pipe, socket or standard output: no temporary file */
    bool keep_existing;
    struct outfile_target target;
    char temp[32]; /* the temporary name within target.folder, or empty */
    char *name;    /* for messages */
    uint64_t position, size;
    double seconds;
    int fault; /* errno of the first failure, or 0 */
    void (*on_whole)(void *user, uint64_t bytes, int64_t seconds, long nanoseconds);
    void *on_whole_user;
    size_t fill;
    unsigned char buffer[BUFFER_SIZE];
};

imgpipe_status outfile_fail(const struct outfile *out, imgpipe_error *error) {
    const char *advice = "check the disk";
    switch (out->fault) {
    case ENOSPC: advice = "the disk is full: free some space or name another place"; break;
    case EDQUOT: advice = "the disk quota is used up: free some space or name another place"; break;
    case EFBIG: advice = "the file is larger than the file system or `ulimit -f` allows; name another place"; break;
    case EPIPE: advice = "who read it has closed it"; break;
    case EACCES:
    case EPERM:
    case EROFS: advice = "ask for the right to write there or name another place"; break;
    default: break;
    }
    error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': %s; %s", out->name, strerror(out->fault), advice);
    if (error) error->fault = out->fault;
    return IMGPIPE_ERROR_OUTPUT;
}

/* -------------------------------------------------------------------------------------------------- opening */

/* True once `fd` is locked and `name` leads to it. Where there are no locks at all (ENOLCK, ENOTSUP, …) nobody can take
 * one to remove the file, so the file is as good as locked. */
static bool lock_new(int fd, int folder, const char *name) {
    struct stat by_fd, by_name;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    return fstat(fd, &by_fd) == 0 && fstatat(folder, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && by_fd.st_dev == by_name.st_dev &&
           by_fd.st_ino == by_name.st_ino;
}

/* Creates the temporary file. The kernel applies the umask (and a folder's default ACL) to a new file's 0666. What replaces
 * a file must not be readable by more people than that one, not even for a moment, but stays writable by its owner, because
 * NFS gives the lock that a cleaner needs only to writers. */
static bool create_temp(struct outfile *out) {
    mode_t mode = out->target.exists ? (out->target.st.st_mode & 0777) | S_IWUSR : 0666;
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
            random = (uint64_t)(clock_now() * 1e9) * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid();
        }
        snprintf(out->temp, sizeof out->temp, OUTFILE_TEMP_PREFIX "%0*llx", OUTFILE_TEMP_DIGITS, (unsigned long long)random);
        out->fd = openat(out->target.folder, out->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (out->fd < 0) {
            if (errno == EEXIST || errno == EINTR) continue;
            break;
        }
        if (lock_new(out->fd, out->target.folder, out->temp)) return true;
        close(out->fd);
        out->fd = -1;
        errno = EAGAIN;
    }
    out->temp[0] = 0;
    return false;
}

static imgpipe_status open_regular(struct outfile *out, struct outfile_folders *folders, imgpipe_error *error) {
    if (out->keep_existing && out->target.exists) {
        error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': it exists already; name another output, or allow overwriting",
                  out->name);
        if (error) error->fault = EEXIST;
        return IMGPIPE_ERROR_OUTPUT;
    }
    outfile_remove_stale(out->target.folder, folders);
    if (create_temp(out)) return IMGPIPE_OK;
    out->fault = errno;
    if (out->fault == EACCES || out->fault == EPERM || out->fault == EROFS) {
        return error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot write '%s': its folder '%s' is not writable (%s); name another place",
                         out->name, out->target.folder_name, strerror(out->fault));
    }
    return outfile_fail(out, error);
}

imgpipe_status outfile_open(const char *path, bool keep_existing, struct outfile **result, imgpipe_error *error) {
    return outfile_open_among(NULL, path, keep_existing, result, error);
}

imgpipe_status outfile_open_among(struct outfile_folders *folders, const char *path, bool keep_existing, struct outfile **result,
                                  imgpipe_error *error) {
    *result = NULL;
    if (!path || !*path) return error_set(error, IMGPIPE_ERROR_OUTPUT, "cannot open an output: its name is empty; name a file");
    struct outfile *out = malloc(sizeof *out);
    char *name = strdup(strcmp(path, "-") == 0 ? "standard output" : path);
    if (!out || !name) {
        free(out);
        free(name);
        return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot open '%s': not enough memory; free some", path);
    }
    memset(out, 0, offsetof(struct outfile, buffer));
    out->fd = out->target.folder = -1;
    out->name = name;
    out->keep_existing = keep_existing;
    imgpipe_status status = outfile_resolve(path, name, &out->target, error);
    if (status == IMGPIPE_OK) {
        out->direct = out->target.special >= 0;
        out->fd = out->target.special;
        if (!out->direct) status = open_regular(out, folders, error);
    }
    if (status != IMGPIPE_OK) {
        outfile_abort(out);
        return status;
    }
    *result = out;
    return IMGPIPE_OK;
}

/* -------------------------------------------------------------------------------------------------- writing */

/* Sleeps until the output takes something; false, with the fault set, when the caller does not want to wait any longer. */
static bool await_room(struct outfile *out) {
    for (;;) {
        struct pollfd wait = {.fd = out->fd, .events = POLLOUT};
        if (poll(&wait, 1, CANCEL_MILLISECONDS) > 0) return true;
        if (!cancel_asked(out->cancel)) continue;
        out->fault = ECANCELED;
        return false;
    }
}

void outfile_cancel(struct outfile *out, const struct cancel *cancel) {
    struct stat st;
    out->cancel = cancel;
    out->is_pipe = out->direct && fstat(out->fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static bool write_all(struct outfile *out, const unsigned char *bytes, size_t size) {
    if (out->fault) return false;
    double begin = clock_now();
    while (size > 0) {
        /* A pipe that poll() calls writable takes PIPE_BUF bytes without blocking, and a wait must stay interruptible. */
        if (out->is_pipe && !await_room(out)) break;
        size_t most = out->is_pipe ? PIPE_BUF : WRITE_MAX;
        ssize_t got = write(out->fd, bytes, size < most ? size : most);
        if (got > 0) {
            bytes += got;
            size -= (size_t)got;
        } else if (got == 0) {
            out->fault = EIO;
            break;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!await_room(out)) break; /* someone made it non-blocking */
        } else if (errno != EINTR) {
            out->fault = errno;
            break;
        }
    }
    out->seconds += clock_now() - begin;
    return out->fault == 0;
}

bool outfile_flush(struct outfile *out) {
    size_t size = out->fill;
    out->fill = 0;
    return write_all(out, out->buffer, size);
}

bool outfile_write(struct outfile *out, const void *bytes, size_t size) {
    if (out->fault) return false;
    out->position += size;
    if (out->position > out->size) out->size = out->position;
    if (size > BUFFER_SIZE - out->fill) {
        if (!outfile_flush(out)) return false;
        if (size >= BUFFER_SIZE) return write_all(out, bytes, size);
    }
    memcpy(out->buffer + out->fill, bytes, size);
    out->fill += size;
    return true;
}

bool outfile_can_seek(const struct outfile *out) {
    return !out->direct;
}

bool outfile_seek(struct outfile *out, uint64_t offset) {
    if (out->direct || !outfile_flush(out)) return false;
    if (offset > INT64_MAX || lseek(out->fd, (off_t)offset, SEEK_SET) < 0) {
        out->fault = offset > INT64_MAX ? EOVERFLOW : errno;
        return false;
    }
    out->position = offset;
    return true;
}

/* ----------------------------------------------------------------------------------------------- finishing */

/* Gives the file its final owner and mode. Only root can give a file away, others keep at least the group where they may;
 * a failure of that leaves the writer's, as after any copy. The set-id bits are not passed on to new content. */
static bool set_mode(struct outfile *out) {
    if (!out->target.exists) return true;
    const struct stat *st = &out->target.st;
    if (fchown(out->fd, st->st_uid, st->st_gid) != 0 && fchown(out->fd, (uid_t)-1, st->st_gid) != 0) errno = 0;
    return fchmod(out->fd, st->st_mode & 0777) == 0;
}

void outfile_on_whole(struct outfile *out, void (*call)(void *user, uint64_t bytes, int64_t seconds, long nanoseconds),
                      void *user) {
    out->on_whole = call;
    out->on_whole_user = user;
}

static void tell_whole(const struct outfile *out) {
    struct stat st;
    if (out->on_whole && fstat(out->fd, &st) == 0)
        out->on_whole(out->on_whole_user, (uint64_t)st.st_size, (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* Some file systems report a failed write only at close(). The lock must outlive that close(), since the file is still under its
 * temporary name; a duplicate of the descriptor keeps it. */
static bool close_and_rename(struct outfile *out) {
    int lock = fcntl(out->fd, F_DUPFD_CLOEXEC, 3);
    int fault = lock < 0 ? errno : 0;
    if (close(out->fd) != 0 && errno != EINTR && fault == 0) fault = errno;
    out->fd = -1;
    if (fault == 0 && outfile_rename(out->target.folder, out->temp, out->target.base, out->keep_existing) != 0) fault = errno;
    if (fault == 0) out->temp[0] = 0;
    if (fault != 0 && unlinkat(out->target.folder, out->temp, 0) == 0) out->temp[0] = 0;
    if (lock >= 0) close(lock);
    out->fault = fault;
    return fault == 0;
}

imgpipe_status outfile_commit(struct outfile *out, imgpipe_error *error) {
    imgpipe_status status = IMGPIPE_OK;
    bool done = outfile_flush(out);
    if (done && out->direct) {
        int closed = close(out->fd);
        out->fd = -1;
        if (closed != 0 && errno != EINTR) out->fault = errno;
        done = out->fault == 0;
    } else if (done) {
        if (!set_mode(out)) out->fault = errno;
        if (out->fault == 0) tell_whole(out);
        done = out->fault == 0 && close_and_rename(out);
    }
    if (!done && out->fault == EEXIST && out->keep_existing) {
        status = error_set(error, IMGPIPE_ERROR_OUTPUT,
                           "cannot write '%s': it appeared meanwhile; name another output, or allow overwriting", out->name);
        if (error) error->fault = EEXIST;
    } else if (!done) {
        status = outfile_fail(out, error);
    }
    outfile_abort(out);
    return status;
}

void outfile_abort(struct outfile *out) {
    if (!out) return;
    /* The name goes first, while the lock is still held. */
    if (out->temp[0]) unlinkat(out->target.folder, out->temp, 0);
    if (out->fd >= 0) close(out->fd);
    outfile_target_free(&out->target);
    free(out->name);
    free(out);
}

const char *outfile_name(const struct outfile *out) {
    return out->name;
}
double outfile_seconds(const struct outfile *out) {
    return out->seconds;
}
uint64_t outfile_bytes(const struct outfile *out) {
    return out->size;
}
