/* Runs a command and writes what it took as one line of JSON: {"wall": s, "cpu": s, "memory": bytes, "status": n}.
 *
 * usage: bench_time RESULT COMMAND [ARGUMENT...]
 *
 * A program of its own and not the benchmark's Python, because Linux counts the memory of the process that forked as the child's
 * until the child executes its own program: behind a small parent the peak is the command's. Children of the command count too,
 * if it waits for them; the peak is that of the largest. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_time RESULT COMMAND [ARGUMENT...]\n");
        return 2;
    }
    struct rusage usage;
    int status;
    double began = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        fprintf(stderr, "bench_time: cannot run '%s': %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        fprintf(stderr, "bench_time: cannot start '%s': %s\n", argv[2], strerror(errno));
        return 1;
    }
    double wall = now() - began;
    FILE *file = fopen(argv[1], "w");
    if (!file) {
        fprintf(stderr, "bench_time: cannot write '%s': %s\n", argv[1], strerror(errno));
        return 1;
    }
    fprintf(file, "{\"wall\": %.6f, \"cpu\": %.6f, \"memory\": %ld, \"status\": %d}\n", wall,
            seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss * 1024L,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return fclose(file) == 0 ? 0 : 1;
}
