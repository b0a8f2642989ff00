/* Outputs appear complete or not at all: names, modes, symlinks, special files, what killed writers leave behind, and many writers
 * at once. Works in a folder of its own in TMPDIR. */
#include "outfile.h"
#include "outfile_checks.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static imgpipe_error error;

/* ----------------------------------------------------------------------------------------------------- helpers */

/* Writes `text` to `path` in one go. */
static imgpipe_status write_text(const char *path, bool keep, const char *text) {
    struct outfile *out;
    error.message[0] = 0;
    imgpipe_status status = outfile_open(path, keep, &out, &error);
    if (status) return status;
    outfile_write(out, text, strlen(text));
    return outfile_commit(out, &error);
}

static bool refused(const char *path, const char *why) {
    bool right = write_text(path, false, "x") == IMGPIPE_ERROR_OUTPUT && strstr(error.message, why) && strstr(error.message, "; ");
    if (!right) printf("message: %s\n", error.message);
    return right;
}

/* ------------------------------------------------------------------------------------------------- regular files */

static void test_names_and_modes(void) {
    struct outfile *out;
    umask(027);
    CHECK(outfile_open("new", false, &out, &error) == IMGPIPE_OK);
    CHECK(access("new", F_OK) != 0 && count_temps(".") == 1);
    CHECK(outfile_write(out, "abc", 3) && outfile_bytes(out) == 3 && strcmp(outfile_name(out), "new") == 0);
    CHECK(outfile_commit(out, &error) == IMGPIPE_OK);
    CHECK(holds("new", "abc") && mode_of("new") == 0640 && count_temps(".") == 0);
    umask(022);
    put("old", "before", 0604);
    CHECK(outfile_open("old", false, &out, &error) == IMGPIPE_OK && outfile_write(out, "after", 5));
    CHECK(holds("old", "before"));
    CHECK(outfile_commit(out, &error) == IMGPIPE_OK && holds("old", "after") && mode_of("old") == 0604);
    CHECK(outfile_open("old", false, &out, &error) == IMGPIPE_OK && outfile_write(out, "no", 2));
    outfile_abort(out);
    CHECK(holds("old", "after") && count_temps(".") == 0);
    put("private", "x", 0400);
    CHECK(outfile_open("private", false, &out, &error) == IMGPIPE_OK);
    DIR *listing = opendir(".");
    for (const struct dirent *entry; (entry = readdir(listing));) {
        if (strncmp(entry->d_name, ".imgpipe-", 9) == 0) CHECK((mode_of(entry->d_name) & 077) == 0);
    }
    closedir(listing);
    CHECK(outfile_commit(out, &error) == IMGPIPE_OK && mode_of("private") == 0400 && holds("private", ""));
    outfile_abort(NULL);
}

struct told {
    int calls;
    bool before; /* the file had its old content */
    uint64_t bytes;
    struct timespec change;
};

static void on_whole(void *user, uint64_t bytes, int64_t seconds, long nanoseconds) {
    *(struct told *)user = (struct told){((struct told *)user)->calls + 1, holds("told", "before"), bytes, {seconds, nanoseconds}};
}

/* What is said of a file before it takes its name is what it has then. */
static void test_told_before(void) {
    struct outfile *out;
    struct stat st;
    struct told told = {0};
    put("told", "before", 0644);
    CHECK(outfile_open("told", false, &out, &error) == IMGPIPE_OK && outfile_write(out, "after", 5));
    outfile_on_whole(out, on_whole, &told);
    CHECK(outfile_commit(out, &error) == IMGPIPE_OK && holds("told", "after") && stat("told", &st) == 0);
    CHECK(told.calls == 1 && told.before && told.bytes == 5 && st.st_size == 5);
    CHECK(told.change.tv_sec == st.st_mtim.tv_sec && told.change.tv_nsec == st.st_mtim.tv_nsec);
    CHECK(outfile_open("/dev/full", false, &out, &error) == IMGPIPE_OK && outfile_write(out, "x", 1));
    outfile_on_whole(out, on_whole, &told);
    CHECK(outfile_commit(out, &error) == IMGPIPE_ERROR_OUTPUT && told.calls == 1);
}

static void test_keep_existing(void) {
    struct outfile *out;
    put("kept", "mine", 0644);
    CHECK(write_text("kept", true, "yours") == IMGPIPE_ERROR_OUTPUT && strstr(error.message, "exists") && holds("kept", "mine"));
    CHECK(write_text("fresh", true, "yours") == IMGPIPE_OK && holds("fresh", "yours"));
    CHECK(outfile_open("late", true, &out, &error) == IMGPIPE_OK && outfile_write(out, "yours", 5));
    put("late", "mine", 0644);
    CHECK(outfile_commit(out, &error) == IMGPIPE_ERROR_OUTPUT && strstr(error.message, "meanwhile"));
    CHECK(holds("late", "mine") && count_temps(".") == 0);
}

static void test_symlinks(void) {
    mkdir("far", 0755);
    put("far/target", "before", 0600);
    CHECK(symlink("far/target", "link") == 0 && symlink("link", "link2") == 0 && symlink("far/none", "dangling") == 0);
    CHECK(symlink("loop2", "loop1") == 0 && symlink("loop1", "loop2") == 0 && symlink("far/../far/target", "winding") == 0);
    CHECK(write_text("link2", false, "after") == IMGPIPE_OK && holds("far/target", "after") && mode_of("far/target") == 0600);
    struct stat st;
    CHECK(lstat("link2", &st) == 0 && S_ISLNK(st.st_mode) && lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(write_text("dangling", false, "made") == IMGPIPE_OK && holds("far/none", "made"));
    CHECK(lstat("dangling", &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(write_text("winding", false, "again") == IMGPIPE_OK && holds("far/target", "again"));
    CHECK(write_text("link", true, "no") == IMGPIPE_ERROR_OUTPUT && holds("far/target", "again"));
    CHECK(refused("loop1", "circle"));
    /* The folder may be renamed and the working folder changed while the file is written. */
    struct outfile *out;
    CHECK(outfile_open("far/moved", false, &out, &error) == IMGPIPE_OK && rename("far", "near") == 0);
    CHECK(outfile_commit(out, &error) == IMGPIPE_OK && access("near/moved", F_OK) == 0);
}

static void test_refusals(void) {
    char name[300];
    memset(name, 'n', 299);
    name[299] = 0;
    put("plain", "x", 0644);
    CHECK(refused("missing/file", "'missing' does not exist"));
    CHECK(refused("plain/file", "'plain' is not a folder"));
    CHECK(refused(".", "is a folder") && refused("none/", "is a folder") && refused("", "empty"));
    CHECK(refused(name, "File name too long"));
    CHECK(refused("a\nb/c", "'a\\x0ab' does not exist"));
    name[255] = 0;
    CHECK(write_text(name, false, "long") == IMGPIPE_OK && holds(name, "long"));
    if (getuid() == 0) return; /* root may write everywhere */
    mkdir("locked", 0555);
    CHECK(refused("locked/file", "not writable"));
}

/* ------------------------------------------------------------------------------------------------- special files */

static void test_full(void) {
    struct outfile *out;
    unsigned char *block = calloc(1, 1 << 20);
    for (int size = 1; size <= 1 << 20; size <<= 10) {
        CHECK(outfile_open("/dev/full", false, &out, &error) == IMGPIPE_OK && !outfile_can_seek(out));
        CHECK(outfile_write(out, block, (size_t)size) == (size < 256 << 10));
        if (size == 1 << 20) CHECK(outfile_fail(out, &error) == IMGPIPE_ERROR_OUTPUT && strstr(error.message, "disk is full"));
        CHECK(outfile_commit(out, &error) == IMGPIPE_ERROR_OUTPUT && strstr(error.message, "disk is full"));
    }
    struct rlimit before, small = {4096, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK(outfile_open("large", false, &out, &error) == IMGPIPE_OK);
    outfile_write(out, block, 1 << 20);
    CHECK(outfile_commit(out, &error) == IMGPIPE_ERROR_OUTPUT && strstr(error.message, "ulimit"));
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(access("large", F_OK) != 0 && count_temps(".") == 0);
    free(block);
}

static void test_pipe_and_socket(void) {
    struct stat st;
    CHECK(mkfifo("fifo", 0600) == 0);
    pid_t child = fork();
    if (child == 0) _exit(write_text("fifo", true, "through a pipe") == IMGPIPE_OK ? 0 : 1);
    CHECK(holds("fifo", "through a pipe"));
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0 && stat("fifo", &st) == 0 && S_ISFIFO(st.st_mode));

    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(server, (struct sockaddr *)&address, sizeof address) == 0 && listen(server, 1) == 0);
    CHECK(write_text("socket", false, "to a socket") == IMGPIPE_OK);
    char have[32] = "";
    int from = accept(server, NULL, NULL);
    CHECK(recv(from, have, sizeof have - 1, MSG_WAITALL) == 11 && strcmp(have, "to a socket") == 0);
    close(from);
    close(server);
    CHECK(refused("socket", "Connection refused"));

    int ends[2];
    struct outfile *out;
    char name[32];
    CHECK(pipe(ends) == 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    CHECK(outfile_open(name, false, &out, &error) == IMGPIPE_OK);
    close(ends[0]);
    outfile_write(out, "x", 1);
    CHECK(outfile_commit(out, &error) == IMGPIPE_ERROR_OUTPUT && strstr(error.message, "Broken pipe"));
    close(ends[1]);
    CHECK(refused(name, "not open"));
}

/* Standard output appended to by a shell keeps what it has. */
static void test_standard_output(void) {
    fflush(stdout);
    int saved = dup(1), file = open("appended", O_WRONLY | O_CREAT | O_APPEND, 0644);
    CHECK(write(file, "before ", 7) == 7);
    dup2(file, 1);
    imgpipe_status first = write_text("-", true, "one "), second = write_text("/dev/stdout", false, "two");
    int terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    imgpipe_status refusal = IMGPIPE_ERROR_OUTPUT;
    error.message[0] = 0;
    if (terminal >= 0) {
        dup2(terminal, 1);
        refusal = write_text("-", false, "x");
        close(terminal);
    }
    close(1);
    dup2(saved, 1);
    close(saved);
    close(file);
    CHECK(first == IMGPIPE_OK && second == IMGPIPE_OK && holds("appended", "before one two"));
    CHECK(refusal == IMGPIPE_ERROR_OUTPUT && (terminal < 0 || strstr(error.message, "terminal")));
}

/* ----------------------------------------------------------------------------------------- writing and its bytes */

static void test_bytes(void) {
    static const size_t sizes[] = {1, 7, 4096, 262143, 262144, 262145, 1000000, 3, 262144, 100};
    size_t total = 0, at = 0;
    for (int i = 0; i < 10; i++) total += sizes[i];
    unsigned char *bytes = malloc(total), *back = malloc(total + 1);
    for (size_t i = 0; i < total; i++) bytes[i] = (unsigned char)(i * 2654435761u >> 13);
    struct outfile *out;
    CHECK(outfile_open("bytes", false, &out, &error) == IMGPIPE_OK && outfile_can_seek(out));
    for (int i = 0; i < 10; at += sizes[i++]) CHECK(outfile_write(out, bytes + at, sizes[i]));
    CHECK(outfile_seek(out, 5) && outfile_write(out, "header", 6) && outfile_bytes(out) == total);
    memcpy(bytes + 5, "header", 6);
    CHECK(outfile_commit(out, &error) == IMGPIPE_OK);

    FILE *file = fopen("bytes", "rb");
    CHECK(file && fread(back, 1, total + 1, file) == total && memcmp(back, bytes, total) == 0);
    fclose(file);
    free(bytes);
    free(back);
}

/* ----------------------------------------------------------------------------------------- what others leave behind */

static void test_stale(void) {
    struct outfile *out;
    mkdir("stale", 0755);
    int ready[2];
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        outfile_open("stale/out", false, &out, NULL);
        outfile_write(out, "half", 4);
        _exit(write(ready[1], "x", 1) == 1 && pause() ? 0 : 1);
    }
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1 && count_temps("stale") == 1);
    CHECK(write_text("stale/other", false, "x") == IMGPIPE_OK && count_temps("stale") == 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    put("stale/.imgpipe-0123456789abcdef", "x", 0644);
    /* These only look like it, and are somebody's files. */
    put("stale/.imgpipe-old", "x", 0644);
    put("stale/.imgpipe-0123456789abcdef.png", "x", 0644);
    put("stale/.imgpipe-0123456789abcde", "x", 0644);
    CHECK(mkfifo("stale/.imgpipe-fifo", 0600) == 0 && symlink("../new", "stale/.imgpipe-link") == 0);
    mkdir("stale/.imgpipe", 0755);
    CHECK(count_temps("stale") == 7 && access("stale/out", F_OK) != 0);
    CHECK(write_text("stale/more", false, "x") == IMGPIPE_OK && count_temps("stale") == 5);
    CHECK(access("stale/.imgpipe-0123456789abcdef", F_OK) != 0 && holds("stale/.imgpipe-old", "x") && holds("new", "abc") && holds("stale/other", "x"));
    close(ready[0]);
    close(ready[1]);
}

/* Some write small files while others clean the folder all the time: each writer must keep its files. */
static void write_many(int who) {
    for (int i = 0; i < 60; i++) {
        char name[64], text[64];
        snprintf(name, sizeof name, "race/%d-%d", who, i);
        snprintf(text, sizeof text, "%d %d", who, i);
        if (write_text(name, false, text) != IMGPIPE_OK) {
            printf("FAIL  %s\n", error.message);
            fflush(stdout);
            _exit(1);
        }
    }
}

/* Takes the lock of every temporary file and removes it, as a run that has just started does, all the time. */
static void clean_all_the_time(void) {
    for (;;) {
        DIR *listing = opendir("race");
        for (const struct dirent *entry; (entry = readdir(listing));) {
            struct stat by_fd, by_name;
            if (strncmp(entry->d_name, ".imgpipe-", 9) != 0) continue;
            int fd = openat(dirfd(listing), entry->d_name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
            if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &by_fd) == 0 &&
                fstatat(dirfd(listing), entry->d_name, &by_name, 0) == 0 && by_fd.st_ino == by_name.st_ino) {
                unlinkat(dirfd(listing), entry->d_name, 0);
            }
            if (fd >= 0) close(fd);
        }
        closedir(listing);
    }
}

static void test_race(void) {
    enum { WRITERS = 4, CLEANERS = 2 };
    pid_t children[WRITERS + CLEANERS];
    mkdir("race", 0755);
    fflush(stdout);
    for (int i = 0; i < WRITERS + CLEANERS; i++) {
        children[i] = fork();
        if (children[i] == 0 && i >= WRITERS) clean_all_the_time();
        if (children[i] == 0) {
            write_many(i);
            _exit(0);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    for (int i = WRITERS; i < WRITERS + CLEANERS; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    for (int who = 0; who < WRITERS; who++) {
        for (int i = 0; i < 60; i++) {
            char name[64], text[64];
            snprintf(name, sizeof name, "race/%d-%d", who, i);
            snprintf(text, sizeof text, "%d %d", who, i);
            CHECK(holds(name, text));
        }
    }
}

static void *writer_thread(void *who) {
    for (int i = 0; i < 50; i++) {
        char text[32];
        struct outfile *out;
        snprintf(text, sizeof text, "thread %d", *(int *)who);
        if (outfile_open("shared", false, &out, NULL)) return "open";
        outfile_write(out, text, strlen(text));
        if (outfile_commit(out, NULL)) return "commit";
    }
    return NULL;
}

/* Several threads write one name: the last wins, and the file is always one of theirs. */
static void test_threads(void) {
    pthread_t threads[4];
    int numbers[4];
    void *result;
    for (int i = 0; i < 4; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, writer_thread, &numbers[i]);
    }
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], &result) == 0 && !result);
    CHECK(holds("shared", "thread 0") || holds("shared", "thread 1") || holds("shared", "thread 2") || holds("shared", "thread 3"));
    CHECK(count_temps(".") == 0);
}

int main(void) {
    char folder[4096], command[4200], *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test-outfile-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        perror(folder);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    test_names_and_modes();
    test_told_before();
    test_keep_existing();
    test_symlinks();
    test_refusals();
    test_full();
    test_pipe_and_socket();
    test_standard_output();
    test_bytes();
    test_stale();
    test_race();
    test_threads();
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(command) != 0) perror(command);
    printf("%d checks, %d failures\n", checks, failures);
    return failures || !checks;
}
