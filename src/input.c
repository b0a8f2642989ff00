/* Bytes of an input. One buffer serves peeking and small reads; large reads go straight into the caller's memory. */
#include "input.h"
#include "clock.h"
#include "status.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE ((size_t)256 * 1024)
#define PEEK_MAX ((size_t)4096)
/* One read(2) takes at most 2 GiB less a page; staying below it keeps the sums simple. */
#define READ_MAX ((size_t)1 << 30)

struct input {
    int fd;
    const struct cancel *cancel;
    bool can_seek;
    bool at_end;
    uint64_t base;     /* where in the file offset 0 is: a shell may hand over standard input in the midst of a file */
    uint64_t size;     /* 0: not known */
    struct stat opened; /* of a regular file, when it was opened */
    uint64_t offset;   /* of the next byte that the caller gets */
    size_t start, end; /* the buffered bytes, in `buffer` */
    uint64_t taken;
    double seconds;
    int fault; /* errno of a failed read, or 0 */
    char fault_text[128];
    char *name;
    const unsigned char *memory; /* input_memory(): the bytes, of which the first memory_at are read; then fd is -1 */
    size_t memory_size, memory_at;
    unsigned char buffer[BUFFER_SIZE];
};

static size_t read_memory(struct input *input, void *to, size_t size) {
    size_t left = input->memory_size - input->memory_at;
    if (size > left) size = left;
    if (size) memcpy(to, input->memory + input->memory_at, size);
    input->memory_at += size;
    input->at_end = size == 0;
    return size;
}

/* Sleeps until a pipe has something to give; false when the caller does not want any more of it. Asked before each read, for
 * a pipe or device may have something to give for ever. */
static bool await_bytes(struct input *input) {
    while (!cancel_asked(input->cancel)) {
        struct pollfd wait = {.fd = input->fd, .events = POLLIN};
        if (input->can_seek || poll(&wait, 1, CANCEL_MILLISECONDS) > 0) return true;
    }
    return false;
}

/* One read(2) that brings at least a byte unless the end or a fault is reached. */
static size_t read_some(struct input *input, void *to, size_t size) {
    if (input->at_end || input->fault) return 0;
    if (input->memory) return read_memory(input, to, size);
    double begin = clock_now();
    ssize_t got = -1;
    do {
        errno = ECANCELED;
        if (!await_bytes(input)) break;
        got = read(input->fd, to, size < READ_MAX ? size : READ_MAX);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK));
    input->seconds += clock_now() - begin;
    if (got > 0) return (size_t)got;
    if (got == 0) {
        input->at_end = true;
    } else {
        input->fault = errno;
        snprintf(input->fault_text, sizeof input->fault_text, "%s", strerror(input->fault));
    }
    return 0;
}

/* Tries to have `size` bytes in the buffer. */
static void fill(struct input *input, size_t size) {
    if (input->end - input->start >= size) return;
    if (BUFFER_SIZE - input->start < size) {
        memmove(input->buffer, input->buffer + input->start, input->end - input->start);
        input->end -= input->start;
        input->start = 0;
    }
    while (input->end - input->start < size) {
        size_t got = read_some(input, input->buffer + input->end, BUFFER_SIZE - input->end);
        if (got == 0) return;
        input->end += got;
    }
}

static imgpipe_status open_failure(const char *path, int fault, imgpipe_error *error) {
    const char *advice = "check the file";
    char target[1024];
    if (fault == EINTR || fault == ECANCELED) return error_set(error, IMGPIPE_ERROR_CANCELLED, "stopped");
    ssize_t length = fault == ENOENT ? readlink(path, target, sizeof target - 1) : -1;
    if (length > 0) {
        target[length] = 0;
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot open '%s': it is a symlink to '%s', which is not there; mend or remove it",
                         path, target);
    }
    if (fault == ENOENT) advice = "check the name";
    if (fault == EACCES || fault == EPERM) advice = "ask for the right to read it";
    if (fault == EMFILE || fault == ENFILE) advice = "too many files are open: raise `ulimit -n`";
    if (fault == ENXIO) advice = "a socket cannot be opened by name; pipe it to standard input";
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot open '%s': %s; %s", path, strerror(fault), advice);
}

/* Opens the file and learns what it is. The descriptor of standard input is duplicated, so that input_close() closes its own. */
static imgpipe_status open_file(struct input *input, const char *path, imgpipe_error *error) {
    bool standard = strcmp(path, "-") == 0;
    do {
        input->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (input->fd < 0 && errno == EINTR && !cancel_asked(input->cancel));
    if (input->fd < 0) return open_failure(input->name, errno, error);
    struct stat st;
    if (fstat(input->fd, &st) != 0) return open_failure(input->name, errno, error);
    if (S_ISDIR(st.st_mode)) {
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': it is a folder; name a file", input->name);
    }
    if (isatty(input->fd)) {
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': it is a terminal; %s", input->name,
                         standard ? "redirect it from a file or a pipe" : "name a file");
    }
    off_t base = lseek(input->fd, 0, SEEK_CUR);
    if (S_ISREG(st.st_mode) && base >= 0) {
        input->can_seek = true;
        input->base = (uint64_t)base;
        input->size = st.st_size > base ? (uint64_t)(st.st_size - base) : 0;
        input->opened = st;
        posix_fadvise(input->fd, base, 0, POSIX_FADV_SEQUENTIAL);
    }
    return IMGPIPE_OK;
}

static struct input *new_input(const char *path, imgpipe_error *error) {
    struct input *input = malloc(sizeof *input);
    char *name = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
    if (!input || !name) {
        free(input);
        free(name);
        error_set(error, IMGPIPE_ERROR_MEMORY, "cannot open '%s': not enough memory; free some", path);
        return NULL;
    }
    memset(input, 0, offsetof(struct input, buffer));
    input->fd = -1;
    input->name = name;
    return input;
}

/* The first read finds out whether there is anything at all. */
static imgpipe_status first_bytes(struct input *input, imgpipe_error *error) {
    fill(input, 1);
    if (input->fault == ECANCELED) return open_failure(input->name, input->fault, error);
    if (input->fault)
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s; check the file and its disk", input->name,
                         input->fault_text);
    if (input->end == 0)
        return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': it is empty (0 bytes); check what wrote it", input->name);
    return IMGPIPE_OK;
}

imgpipe_status input_memory(const void *bytes, size_t size, bool can_seek, struct input **result, imgpipe_error *error) {
    *result = NULL;
    struct input *input = new_input("memory", error);
    if (!input) return IMGPIPE_ERROR_MEMORY;
    input->memory = bytes;
    input->memory_size = size;
    input->can_seek = can_seek;
    input->size = can_seek ? size : 0;
    imgpipe_status status = first_bytes(input, error);
    if (status == IMGPIPE_OK)
        *result = input;
    else
        input_close(input);
    return status;
}

imgpipe_status input_open(const char *path, const struct cancel *cancel, struct input **result, imgpipe_error *error) {
    *result = NULL;
    if (!path || !*path) return error_set(error, IMGPIPE_ERROR_INPUT, "cannot open an input: its name is empty; name a file");
    struct input *input = new_input(path, error);
    if (!input) return IMGPIPE_ERROR_MEMORY;
    input->cancel = cancel;
    imgpipe_status status = open_file(input, path, error);
    if (status == IMGPIPE_OK) status = first_bytes(input, error);
    if (status != IMGPIPE_OK) {
        input_close(input);
        return status;
    }
    *result = input;
    return IMGPIPE_OK;
}

size_t input_peek(struct input *input, const unsigned char **bytes, size_t size) {
    if (size > PEEK_MAX) size = PEEK_MAX;
    fill(input, size);
    size_t have = input->end - input->start;
    *bytes = input->buffer + input->start;
    return have < size ? have : size;
}

size_t input_read(struct input *input, void *to, size_t size) {
    unsigned char *at = to;
    size_t left = size;
    while (left > 0) {
        size_t have = input->end - input->start;
        if (have > 0) {
            size_t count = have < left ? have : left;
            memcpy(at, input->buffer + input->start, count);
            input->start += count;
            at += count;
            left -= count;
        } else if (left >= BUFFER_SIZE) {
            input->start = input->end = 0;
            size_t got = read_some(input, at, left);
            if (got == 0) break;
            at += got;
            left -= got;
        } else {
            input->start = input->end = 0;
            fill(input, 1);
            if (input->end == 0) break;
        }
    }
    input->offset += size - left;
    input->taken += size - left;
    return size - left;
}

bool input_can_seek(const struct input *input) {
    return input->can_seek;
}

bool input_seek(struct input *input, uint64_t offset) {
    if (!input->can_seek || input->fault) return false;
    /* The buffer holds the file from offset - start to offset + (end - start); a seek within it costs nothing. */
    uint64_t from = input->offset - input->start, to = input->offset + (input->end - input->start);
    if (offset >= from && offset <= to) {
        input->start = (size_t)(offset - from);
        input->offset = offset;
        return true;
    }
    if (input->memory) {
        input->memory_at = offset < input->memory_size ? (size_t)offset : input->memory_size;
    } else if (offset > (uint64_t)INT64_MAX - input->base || lseek(input->fd, (off_t)(input->base + offset), SEEK_SET) < 0) {
        return false;
    }
    input->start = input->end = 0;
    input->offset = offset;
    input->at_end = false;
    return true;
}

size_t input_look(struct input *input, uint64_t offset, void *to, size_t size) {
    if (!input->can_seek || input->fault) return 0;
    if (input->memory) {
        size_t left = offset < input->memory_size ? input->memory_size - (size_t)offset : 0;
        if (size > left) size = left;
        if (size) memcpy(to, input->memory + offset, size);
        return size;
    }
    if (offset > (uint64_t)INT64_MAX - input->base) return 0;
    ssize_t got;
    do got = pread(input->fd, to, size, (off_t)(input->base + offset));
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

uint64_t input_tell(const struct input *input) {
    return input->offset;
}
uint64_t input_size(const struct input *input) {
    return input->size;
}
const char *input_failure(const struct input *input) {
    return input->fault ? input->fault_text : NULL;
}
const char *input_name(const struct input *input) {
    return input->name;
}
double input_seconds(const struct input *input) {
    return input->seconds;
}
uint64_t input_taken(const struct input *input) {
    return input->taken;
}

imgpipe_status input_read_all(struct input *input, uint64_t budget, unsigned char **bytes, size_t *size, imgpipe_error *error) {
    uint64_t known = input->size > input->offset ? input->size - input->offset : 0;
    size_t capacity = known ? (size_t)known + 1 : (size_t)64 * 1024;
    *bytes = NULL;
    *size = 0;
    for (;;) {
        if (budget && capacity > budget)
            return error_set(error, IMGPIPE_ERROR_MEMORY,
                             "cannot read '%s': this kind is read as a whole, and the file alone exceeds the memory budget; raise "
                             "--memory", input->name);
        unsigned char *grown = realloc(*bytes, capacity);
        if (!grown) return error_set(error, IMGPIPE_ERROR_MEMORY, "cannot read '%s': not enough memory; free some", input->name);
        *bytes = grown;
        *size += input_read(input, *bytes + *size, capacity - *size);
        if (*size < capacity) break;
        capacity = capacity > SIZE_MAX / 2 ? SIZE_MAX : capacity * 2;
    }
    if (!input->fault) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_INPUT, "cannot read '%s': %s; check the file and its disk", input->name, input->fault_text);
}

bool input_changed(const struct input *input) {
    struct stat st;
    if (!input->can_seek || input->fd < 0) return false;
    return fstat(input->fd, &st) != 0 || st.st_size != input->opened.st_size || st.st_mtim.tv_sec != input->opened.st_mtim.tv_sec ||
           st.st_mtim.tv_nsec != input->opened.st_mtim.tv_nsec;
}

void input_close(struct input *input) {
    if (!input) return;
    if (input->fd >= 0) close(input->fd);
    free(input->name);
    free(input);
}
