#include "records.h"
#include "fnv.h"
#include "paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#define FOLDER ".imgpipe"
#define PREFIX "done-"
#define LOGS_MOST 16 /* with more of them, they are put together */
#define LINE_MOST ((size_t)40 * 1024)

/* 128 bits of a line: enough that no two are ever mistaken for each other. */
struct digest {
    uint64_t a, b;
};

struct records {
    char *outdir;
    char *real; /* the same behind all symlinks */
    bool outputs; /* opened to know what was written, whatever the settings were */
    uint64_t settings;
    char *settings_text;
    struct digest *table; /* open addressing; {0, 0} is free */
    size_t capacity, count;
    pthread_mutex_t lock; /* guards `log` while it is opened */
    int folder, log;      /* descriptors, or -1 */
};

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 29) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 32;
}

static struct digest digest_of(const char *text, size_t length) {
    uint64_t a = FNV1A_START, b = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < length; i++) {
        a = fnv1a(a, (unsigned char)text[i]);
        b = (b + (unsigned char)text[i] + 1) * 0xd6e8feb86659fd93u;
        b ^= b >> 32;
    }
    return (struct digest){mix(a), mix(b) | 1};
}

/* ---------------------------------------------------------------------------------------------- the table */

static struct digest *find(struct digest *table, size_t capacity, struct digest key) {
    size_t at = key.a & (capacity - 1);
    while (table[at].b && (table[at].a != key.a || table[at].b != key.b)) at = (at + 1) & (capacity - 1);
    return &table[at];
}

/* False if it was there already, or there is no memory: what is not known to be done is done again. */
static bool insert(struct records *r, struct digest key) {
    if (r->count * 2 >= r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 1024;
        struct digest *table = calloc(capacity, sizeof *table);
        if (!table) return false;
        for (size_t i = 0; i < r->capacity; i++)
            if (r->table[i].b) *find(table, capacity, r->table[i]) = r->table[i];
        free(r->table);
        r->table = table;
        r->capacity = capacity;
    }
    struct digest *at = find(r->table, r->capacity, key);
    if (at->b) return false;
    *at = key;
    r->count++;
    return true;
}

/* --------------------------------------------------------------------------------------------------- lines */

static void put_name(FILE *to, const char *name) {
    for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
        if (*p < 0x20 || *p == '\\' || *p == 0x7f)
            fprintf(to, "\\x%02x", *p);
        else
            putc(*p, to);
    }
}

/* An input behind all symlinks, so that it is the same however it was written; below OUTDIR if it lies there, so that it still is
 * when that was moved. */
static bool put_input(FILE *to, const struct records *r, const char *name) {
    char *real = path_real(name);
    if (!real) return false;
    const char *below = path_below(real, r->real);
    put_name(to, below && *below ? below : real);
    free(real);
    return true;
}

/* Settings, sizes and times of output and input, path of the output below OUTDIR, the input, the kind of the output. An output that
 * replaced its input stands for both. */
static char *make_line(const struct records *r, const struct job *job, const struct stat *out, size_t *length) {
    char *line = NULL;
    FILE *to = open_memstream(&line, length);
    if (!to) return NULL;
    int64_t size = job->in_place ? (int64_t)out->st_size : job->size;
    struct timespec time = job->in_place ? out->st_mtim : job->mtime;
    fprintf(to, "%016llx %lld %lld.%09ld %lld %lld.%09ld ", (unsigned long long)r->settings, (long long)out->st_size,
            (long long)out->st_mtim.tv_sec, out->st_mtim.tv_nsec, (long long)size, (long long)time.tv_sec, time.tv_nsec);
    const char *below = job->out + strlen(r->outdir);
    while (*below == '/') below++;
    put_name(to, below);
    putc('\t', to);
    bool known = put_input(to, r, job->in);
    fprintf(to, "\t%s\n", job->format ? job->format : "");
    if (fclose(to) == 0 && known) return line;
    free(line);
    return NULL;
}

static bool is_log(const char *name) {
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strspn(name + strlen(PREFIX), "0123456789abcdef") == 16 &&
           strcmp(name + strlen(PREFIX) + 16, ".log") == 0;
}

/* What has the name of a log, but is a pipe, would be waited for. */
static int open_regular(int folder, const char *name, int flags) {
    struct stat st;
    int fd = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))) return fd;
    close(fd);
    return -1;
}

/* Calls take() for every whole line of a log. */
static void read_log(int folder, const char *name, struct records *r, void (*take)(struct records *r, char *line, size_t length, FILE *to),
                     FILE *to) {
    int fd = open_regular(folder, name, O_RDONLY);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    if (!file && fd >= 0) close(fd);
    while (file && (length = getline(&line, &capacity, file)) > 0)
        if (line[length - 1] == '\n' && line[0] != '#' && (size_t)length < LINE_MOST) take(r, line, (size_t)length, to);
    free(line);
    if (file) fclose(file);
}

/* What a line says of an output that replaced its input, whatever the settings were: its size and time, twice, and its path. NULL
 * if the line speaks of another kind of output. */
static const char *find_replaced(const char *line, size_t *length) {
    const char *out = strchr(line, ' '), *time = out ? strchr(out + 1, ' ') : NULL, *in = time ? strchr(time + 1, ' ') : NULL;
    const char *end = in ? strchr(in, '\t') : NULL;
    if (!end || strncmp(out, in, (size_t)(in - out) + 1) != 0) return NULL;
    *length = (size_t)(end - out);
    return out;
}

/* The same for an output that replaced no input: its size and time, once, and its path, put together in the line. */
static const char *find_written(char *line, size_t *length) {
    char *fields[5] = {strchr(line, ' ')}, *end;
    for (int i = 1; i < 5; i++) fields[i] = fields[i - 1] ? strchr(fields[i - 1] + 1, ' ') : NULL;
    if (!fields[4] || !(end = strchr(fields[4], '\t')) || find_replaced(line, length)) return NULL;
    size_t stamp = (size_t)(fields[2] - fields[0]);
    *length = stamp + (size_t)(end - fields[4]);
    return memmove(fields[4] - stamp, fields[0], stamp);
}

static void take_line(struct records *r, char *line, size_t length, FILE *to) {
    (void)to;
    if (r->outputs) {
        const char *written = find_written(line, &length);
        if (written) insert(r, digest_of(written, length));
        return;
    }
    insert(r, digest_of(line, length));
    const char *replaced = find_replaced(line, &length);
    if (replaced) insert(r, digest_of(replaced, length));
}

/* ------------------------------------------------------------------------------------------ putting together */

/* A new log, whose lock is held as long as it is open: a log that nobody holds may be put together with others. Returns -1 with
 * errno. */
static int create_log(int folder, char name[40]) {
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) random = (uint64_t)getpid() << 20 ^ (uint64_t)attempt;
        snprintf(name, 40, PREFIX "%016llx.log", (unsigned long long)random);
        int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd < 0) return -1;
        struct stat by_fd, by_name;
        bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        if (locked && fstat(fd, &by_fd) == 0 && fstatat(folder, name, &by_name, 0) == 0 && by_fd.st_ino == by_name.st_ino) return fd;
        close(fd); /* somebody took it for one that was left */
    }
    errno = EEXIST;
    return -1;
}

/* Keeps a line whose output is still the one that it speaks of. */
static void keep_line(struct records *r, char *line, size_t length, FILE *to) {
    long long size, seconds;
    long nanoseconds;
    int at = 0;
    struct digest digest = digest_of(line, length);
    if (sscanf(line, "%*s %lld %lld.%9ld %*s %*s %n", &size, &seconds, &nanoseconds, &at) < 3 || at == 0) return;
    char *path = strndup(line + at, strcspn(line + at, "\t")), *end = path;
    for (char *p = path; p && *p; end++) {
        unsigned code;
        int used = 0;
        if (sscanf(p, "\\x%2x%n", &code, &used) == 1 && used == 4)
            *end = (char)code, p += 4;
        else
            *end = *p++;
    }
    if (path) *end = 0;
    struct stat st;
    int outdir = path ? open(r->outdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    bool holds = outdir >= 0 && fstatat(outdir, path, &st, 0) == 0 && st.st_size == size && st.st_mtim.tv_sec == seconds &&
                 st.st_mtim.tv_nsec == nanoseconds;
    if (outdir >= 0) close(outdir);
    free(path);
    if (holds && insert(r, digest)) fwrite(line, 1, length, to);
}

/* Puts the logs that nobody writes any more into a new one. The old ones go only once it is whole; should they not, lines stand in two
 * of them, which does not matter. */
static void compact(struct records *r, char names[][40], int count) {
    char name[40];
    int fds[256], used = 0, fd = create_log(r->folder, name);
    FILE *to = fd < 0 ? NULL : fdopen(dup(fd), "ab");
    for (int i = 0; to && i < count && used < 256; i++) {
        int log = open_regular(r->folder, names[i], O_RDWR);
        if (log >= 0 && flock(log, LOCK_EX | LOCK_NB) == 0) {
            read_log(r->folder, names[i], r, keep_line, to);
            fds[used] = log;
            memmove(names[used++], names[i], 40);
        } else if (log >= 0) {
            close(log);
        }
    }
    bool whole = to && fflush(to) == 0 && !ferror(to);
    if (to && fclose(to) != 0) whole = false;
    for (int i = 0; i < used; i++) {
        if (whole) unlinkat(r->folder, names[i], 0);
        close(fds[i]);
    }
    if (fd >= 0 && !whole) unlinkat(r->folder, name, 0);
    if (fd >= 0) close(fd);
}

/* ----------------------------------------------------------------------------------------------------- all */

static void read_all(struct records *r, bool read) {
    char (*names)[40] = calloc(256, sizeof *names);
    int fd = r->folder >= 0 ? openat(r->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, count = 0;
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    if (!listing && fd >= 0) close(fd);
    const struct dirent *entry;
    while (names && listing && (entry = readdir(listing))) {
        if (!is_log(entry->d_name)) continue;
        if (read) read_log(r->folder, entry->d_name, r, take_line, NULL);
        if (count < 256) snprintf(names[count++], 40, "%.39s", entry->d_name);
    }
    if (listing) closedir(listing);
    if (count > LOGS_MOST && !r->outputs) {
        /* With a table of its own, so that what is put together is not taken for what is there twice. */
        struct records other = *r;
        other.table = NULL;
        other.capacity = other.count = 0;
        compact(&other, names, count);
        free(other.table);
    }
    free(names);
}

static struct records *open_all(const char *outdir, const char *settings, bool read, bool outputs) {
    struct records *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->outputs = outputs;
    pthread_mutex_init(&r->lock, NULL);
    r->folder = r->log = -1;
    r->outdir = strdup(outdir);
    r->real = path_real(outdir);
    r->settings_text = strdup(settings);
    if (!r->outdir || !r->real || !r->settings_text) {
        records_close(r);
        return NULL;
    }
    r->settings = digest_of(settings, strlen(settings)).a;
    int out = open(outdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out >= 0) r->folder = openat(out, FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out >= 0) close(out);
    read_all(r, read);
    return r;
}

struct records *records_open(const char *outdir, const char *settings, bool read) {
    return open_all(outdir, settings, read, false);
}

struct records *records_open_outputs(const char *outdir) {
    return open_all(outdir, "", true, true);
}

bool records_wrote(const struct records *r, const char *below, const struct stat *out) {
    char *text = NULL;
    size_t length;
    FILE *to = r->count && S_ISREG(out->st_mode) ? open_memstream(&text, &length) : NULL;
    if (!to) return false;
    fprintf(to, " %lld %lld.%09ld ", (long long)out->st_size, (long long)out->st_mtim.tv_sec, out->st_mtim.tv_nsec);
    put_name(to, below);
    bool wrote = fclose(to) == 0 && find(r->table, r->capacity, digest_of(text, length))->b;
    free(text);
    return wrote;
}

bool records_hold(const struct records *r, const struct job *job, const struct stat *out) {
    size_t length;
    char *line = r->count && job->mode && S_ISREG(out->st_mode) ? make_line(r, job, out, &length) : NULL;
    bool holds = line && find(r->table, r->capacity, digest_of(line, length))->b;
    free(line);
    return holds;
}

bool records_replaced(const struct records *r, const struct job *job, const struct stat *out) {
    size_t length;
    char *line = r->count && job->in_place ? make_line(r, job, out, &length) : NULL;
    const char *replaced = line ? find_replaced(line, &length) : NULL;
    bool holds = replaced && find(r->table, r->capacity, digest_of(replaced, length))->b;
    free(line);
    return holds;
}

/* Makes the folder and the log with its first line, when there is something to note. */
static int open_log(struct records *r) {
    char name[40];
    int out = open(r->outdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out < 0) return errno;
    if (r->folder < 0) {
        if (mkdirat(out, FOLDER, 0777) == 0 || errno == EEXIST) r->folder = openat(out, FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    int fault = r->folder < 0 ? errno : 0;
    close(out);
    if (fault) return fault;
    r->log = create_log(r->folder, name);
    if (r->log < 0) return errno;
    char *head = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&head, &length);
    if (!to) return ENOMEM;
    fprintf(to, "# settings %016llx: ", (unsigned long long)r->settings);
    put_name(to, r->settings_text);
    putc('\n', to);
    if (fclose(to) == 0 && write(r->log, head, length) != (ssize_t)length) fault = errno ? errno : ENOSPC;
    free(head);
    return fault;
}

int records_add(struct records *r, const struct job *job, const struct stat *out) {
    size_t length;
    char *line = make_line(r, job, out, &length);
    if (!line) return ENOMEM;
    pthread_mutex_lock(&r->lock);
    errno = 0;
    int fault = r->log < 0 ? open_log(r) : 0;
    if (!fault && write(r->log, line, length) != (ssize_t)length) {
        fault = errno ? errno : ENOSPC;
        /* What was written of it must not become the beginning of the next line. */
        if (write(r->log, "\n", 1) != 1) fault = errno ? errno : fault;
    }
    pthread_mutex_unlock(&r->lock);
    free(line);
    return fault;
}

void records_close(struct records *r) {
    if (!r) return;
    if (r->log >= 0) close(r->log);
    if (r->folder >= 0) close(r->folder);
    free(r->outdir);
    free(r->real);
    free(r->settings_text);
    free(r->table);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
