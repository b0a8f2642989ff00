/* An output that appears complete or not at all. A regular file is written beside its place under a temporary name
 * (`.imgpipe-…`, locked while it is written) and renamed by outfile_commit(); a device, pipe or socket is written directly.
 * A symlink is followed and its target replaced; a replaced file keeps its mode, a new one gets 0666 minus umask. */
#ifndef OUTFILE_H
#define OUTFILE_H
#include "cancel.h"
#include "imgpipe.h"

#include <pthread.h>
#include <sys/types.h>

struct outfile;

/* The folders that were looked through for temporary files, and when each may be looked through again. Holds a few and forgets the
 * rest; any thread. It changes no result: a run of 100,000 images into one folder must not list that folder 100,000 times. */
struct outfile_folders {
    pthread_mutex_t lock;
    struct {
        dev_t device;
        ino_t inode;
        double next;
    } seen[16];
};

/* "-" is standard output (refused if it is a terminal). `keep_existing`: an existing regular file is an error
 * (IMGPIPE_ERROR_OUTPUT). Removes temporary files in the folder that nobody holds the lock on. */
imgpipe_status outfile_open(const char *path, bool keep_existing, struct outfile **out, imgpipe_error *error);
/* The same, with a memory of folders. */
imgpipe_status outfile_open_among(struct outfile_folders *folders, const char *path, bool keep_existing, struct outfile **out,
                                  imgpipe_error *error);
/* Asks `cancel` (which must outlive the outfile) while a pipe takes nothing; then writing fails. */
void outfile_cancel(struct outfile *out, const struct cancel *cancel);
/* Writes through a buffer; false after the first failure, which outfile_commit() reports. A closed pipe fails likewise
 * (the caller ignores SIGPIPE). */
bool outfile_write(struct outfile *out, const void *bytes, size_t size);
/* Writes out what the buffer holds, for who waits at the other end of a pipe; false as outfile_write(). */
bool outfile_flush(struct outfile *out);
/* For encoders, after outfile_write() or outfile_seek() returned false: fills `error` with what failed and what to do. */
imgpipe_status outfile_fail(const struct outfile *out, imgpipe_error *error);
/* Only for formats that fill in their header last; false where the output cannot seek. */
bool outfile_can_seek(const struct outfile *out);
bool outfile_seek(struct outfile *out, uint64_t offset);
/* What outfile_commit() calls before it gives a whole file its name; not for a device, pipe or socket. */
void outfile_on_whole(struct outfile *out, void (*call)(void *user, uint64_t bytes, int64_t seconds, long nanoseconds), void *user);
/* Flushes, closes with every error checked, renames. Frees `out`. */
imgpipe_status outfile_commit(struct outfile *out, imgpipe_error *error);
/* Removes the temporary file. Frees `out`; NULL is allowed. */
void outfile_abort(struct outfile *out);
const char *outfile_name(const struct outfile *out);
double outfile_seconds(const struct outfile *out);
uint64_t outfile_bytes(const struct outfile *out);
#endif
