/* The files of a folder. Hidden ones are left out, and symlinked folders not entered. What has no image's extension is looked
 * into. One folder is open at a time, however deep they lie. */
#include "cut.h"
#include "inputs.h"
#include "kinds.h"
#include "paths.h"
#include "signals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pattern that ends in a slash means a folder and all that is in it: one of the folders that `rel` lies in, or is. */
static bool matches_folder(const char *pattern, const char *rel, bool folder) {
    char *name = strndup(pattern, strlen(pattern) - 1), *path = strdup(rel);
    bool found = false;
    if (folder) found = name && fnmatch(name, strchr(name, '/') ? rel : path_base(rel), FNM_PATHNAME) == 0;
    for (char *slash; name && path && !found && (slash = strrchr(path, '/'));) {
        *slash = 0;
        found = fnmatch(name, strchr(name, '/') ? path : path_base(path), FNM_PATHNAME) == 0;
    }
    free(name);
    free(path);
    return found;
}

static bool matches(const struct option_list *patterns, const char *rel, bool folder) {
    const char *base = path_base(rel);
    for (int i = 0; i < patterns->count; i++) {
        const char *pattern = patterns->items[i];
        bool path = strchr(pattern, '/') != NULL;
        size_t length = strlen(pattern);
        if (length > 1 && pattern[length - 1] == '/') {
            if (matches_folder(pattern, rel, folder)) return true;
            continue;
        }
        if (fnmatch(pattern, path ? rel : base, path ? FNM_PATHNAME : 0) == 0) return true;
    }
    return false;
}

bool walk_wants(const struct options *o, const char *rel, bool folder) {
    return !matches(&o->exclude, rel, folder) && (folder || !o->include.count || matches(&o->include, rel, folder));
}

/* Looks at the first bytes of a regular file. */
static imgpipe_content content_of(const char *path) {
    unsigned char bytes[IMGPIPE_CONTENT_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t size = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
    if (fd >= 0) close(fd);
    return size <= 0 ? IMGPIPE_CONTENT_OTHER : imgpipe_content_of(bytes, (size_t)size);
}

/* Nobody knows whether it is an image, or a folder with some. Of a path that is too long the end is shown. */
static void add_unseen(struct walk *walk, const char *path, const char *rel, int fault) {
    size_t length = strlen(path);
    const char *part = fault == ENAMETOOLONG && length > 600 ? strchr(path + length - 600, '/') : NULL;
    jobs_add_failed(walk->jobs, path, rel, "cannot look at '%s%s': %s; %s", part ? "..." : "", part ? part : path, strerror(fault),
                    fault == ENAMETOOLONG ? "start in a folder that is nearer to it" : "ask for the right to enter its folder");
}

/* It went meanwhile, or is a symlink that leads nowhere. */
static bool is_absent(int fault) {
    return fault == ENOENT || fault == ENOTDIR || fault == ELOOP;
}

static void add_file(struct walk *walk, const char *path, const char *rel) {
    if (!walk_wants(walk->options, rel, false)) return;
    bool named = kind_of_extension(kind_extension(rel)) != NULL;
    struct stat st;
    if (!named && stat(path, &st) != 0 && !is_absent(errno)) {
        add_unseen(walk, path, rel, errno);
        return;
    }
    struct job *job = jobs_add(walk->jobs, path, rel);
    if (!job) return;
    bool there = job_look(job);
    /* A pipe or device in a folder is nobody's image, and reading it might wait for ever. */
    if (there && !S_ISREG(job->mode)) job->status = JOB_IGNORED;
    else if (!named && (!there || content_of(path) == IMGPIPE_CONTENT_OTHER)) job->status = JOB_IGNORED;
}

static void add_failure(struct walk *walk, const char *path, const char *rel, int fault) {
    jobs_add_failed(walk->jobs, path, rel, "cannot list the folder '%s': %s; ask for the right to read it", path, strerror(fault));
}

struct names {
    char **list;
    size_t count, capacity;
    bool records; /* a run has written into the folder */
};

static bool add_name(struct names *names, const char *name) {
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 64;
        char **list = realloc(names->list, sizeof *list * capacity);
        if (!list) return false;
        names->list = list;
        names->capacity = capacity;
    }
    char *copy = strdup(name);
    if (!copy) return false;
    names->list[names->count++] = copy;
    return true;
}

/* Reads all names of a folder, hidden ones left out; returns 0 or errno. */
static int list_names(const char *folder, struct names *names) {
    DIR *listing = opendir(folder);
    if (!listing) return errno;
    const struct dirent *entry;
    int fault = 0;
    while (!fault && (errno = 0, entry = readdir(listing))) {
        if (entry->d_name[0] != '.' && !add_name(names, entry->d_name)) fault = ENOMEM;
        if (strcmp(entry->d_name, ".imgpipe") == 0) names->records = true;
    }
    if (!fault) fault = errno;
    closedir(listing);
    return fault;
}

/* `base` bytes of `path` are the root with its slash; what follows is the path below it. */
static void enter(struct walk *walk, const char *path, size_t base);

static void take(struct walk *walk, const char *path, size_t base) {
    struct stat st;
    const char *rel = path + base;
    if (lstat(path, &st) != 0) {
        int fault = errno;
        bool wanted = walk_wants(walk->options, rel, false), named = kind_of_extension(kind_extension(rel)) != NULL;
        if (named && wanted)
            add_file(walk, path, rel); /* the run says what is wrong */
        else if (!is_absent(fault) && (wanted || (walk->options->recursive && walk_wants(walk->options, rel, true))))
            add_unseen(walk, path, rel, fault);
        return;
    }
    if (walk->outputs && walk_wants(walk->options, rel, false) && records_wrote(walk->outputs, path + walk->outputs_base, &st)) {
        walk->jobs->outputs_left++;
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        /* A symlink to a folder is neither file nor entered. */
        bool link = S_ISLNK(st.st_mode) && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
        if (!link) add_file(walk, path, rel);
        return;
    }
    if (!walk_wants(walk->options, rel, true)) return;
    if (walk->skips && st.st_dev == walk->device && st.st_ino == walk->inode) {
        char message[600];
        snprintf(message, sizeof message, "'%s' is where outputs go, so its files are no inputs", CUT(path, 400));
        console_log(walk->console, IMGPIPE_LOG_NOTICE, message);
        return;
    }
    if (walk->options->recursive)
        enter(walk, path, base);
    else
        walk->jobs->folders_left++;
}

static void take_all(struct walk *walk, const char *path, size_t base, const struct names *names) {
    size_t length = strlen(path);
    for (size_t i = 0; i < names->count; i++) {
        char *child = NULL;
        bool slash = length > 0 && path[length - 1] == '/';
        if (!signals_caught() && !walk->jobs->no_memory) {
            if (asprintf(&child, "%s%s%s", path, slash ? "" : "/", names->list[i]) < 0)
                walk->jobs->no_memory = true;
            else
                take(walk, child, base);
            free(child);
        }
        free(names->list[i]);
    }
    free(names->list);
}

/* What an earlier run wrote into a folder is no input of a walk that comes across it: it would be the images of that run over again. */
static void take_but_outputs(struct walk *walk, const char *path, size_t base, const struct names *names) {
    struct walk inner = *walk;
    struct records *outputs = records_open_outputs(path);
    int64_t before = walk->jobs->outputs_left;
    inner.outputs = outputs;
    inner.outputs_base = strlen(path) + 1;
    if (!outputs) walk->jobs->no_memory = true;
    take_all(&inner, path, base, names);
    records_close(outputs);
    walk->outputs_folder = inner.outputs_folder;
    walk->outputs_folders = inner.outputs_folders;
    if (walk->jobs->outputs_left == before) return;
    walk->outputs_folders++;
    if (!walk->outputs_folder) walk->outputs_folder = strdup(path);
}

static void enter(struct walk *walk, const char *path, size_t base) {
    struct names names = {0};
    int fault = list_names(path, &names);
    bool named = strlen(path) <= base;
    if (fault == ENOMEM) walk->jobs->no_memory = true;
    if (fault) add_failure(walk, path, path + (named ? 0 : base), fault);
    if (names.records && !named && !walk->options->in_place)
        take_but_outputs(walk, path, base, &names);
    else
        take_all(walk, path, base, &names);
}

void walk_folder(struct walk *walk, const char *folder) {
    size_t length = strlen(folder);
    enter(walk, folder, length + (folder[length - 1] != '/'));
}
