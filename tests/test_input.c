/* Inputs: peeking, reading and seeking in files and pipes; what cannot be opened. Works in a folder of its own in TMPDIR. */
#include "checks.h"
#include "input.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static imgpipe_error error;

static void put(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void test_bytes(void) {
    static const size_t sizes[] = {1, 7, 4096, 262143, 262144, 262145, 1000000, 3, 262144, 100};
    size_t total = 0, at = 0;
    for (int i = 0; i < 10; i++) total += sizes[i];
    unsigned char *bytes = malloc(total), *back = malloc(total + 1);
    for (size_t i = 0; i < total; i++) bytes[i] = (unsigned char)(i * 2654435761u >> 13);
    put("bytes", bytes, total);
    struct input *input;
    const unsigned char *peeked;
    CHECK(input_open("bytes", NULL, &input, &error) == IMGPIPE_OK && input_size(input) == total && input_can_seek(input));
    CHECK(input_peek(input, &peeked, 64) == 64 && memcmp(peeked, bytes, 64) == 0 && input_tell(input) == 0);
    at = 0;
    for (int i = 9; i >= 0; at += sizes[i--]) {
        CHECK(input_peek(input, &peeked, 4096) == (total - at < 4096 ? total - at : 4096) && peeked[0] == bytes[at]);
        CHECK(input_read(input, back + at, sizes[i]) == sizes[i] && input_tell(input) == at + sizes[i]);
    }
    CHECK(memcmp(back, bytes, total) == 0 && input_read(input, back, 1) == 0 && input_taken(input) == total &&
          !input_failure(input));
    /* A large read goes past the buffer; what the buffer held before must not come again. */
    CHECK(input_seek(input, 0) && input_read(input, back, 100) == 100 && input_read(input, back, 700000) == 700000);
    CHECK(input_seek(input, 700050) && input_read(input, back, 10) == 10 && memcmp(back, bytes + 700050, 10) == 0);
    for (unsigned i = 0, random = 1; i < 300; i++) {
        random = random * 1103515245u + 12345u;
        size_t from = random % total, size = (random >> 8) % (i % 3 ? 100 : 400000),
               got = total - from < size ? total - from : size;
        CHECK(input_seek(input, from) && input_read(input, back, size) == got && memcmp(back, bytes + from, got) == 0);
    }
    input_close(input);
    free(bytes);
    free(back);
}

static void test_refusals(void) {
    struct input *input;
    put("empty", "", 0);
    mkdir("folder", 0755);
    CHECK(input_open("empty", NULL, &input, &error) == IMGPIPE_ERROR_INPUT && strstr(error.message, "empty") && !input);
    CHECK(input_open("folder", NULL, &input, &error) == IMGPIPE_ERROR_INPUT && strstr(error.message, "folder"));
    CHECK(input_open("not there", NULL, &input, &error) == IMGPIPE_ERROR_INPUT && strstr(error.message, "No such file"));
    CHECK(input_open("a\nb", NULL, &input, &error) == IMGPIPE_ERROR_INPUT && strstr(error.message, "'a\\x0ab'"));
    CHECK(input_open("", NULL, &input, NULL) == IMGPIPE_ERROR_INPUT);
    /* This opens, and gives an error when it is read. */
    CHECK(input_open("/proc/self/mem", NULL, &input, &error) == IMGPIPE_ERROR_INPUT && strstr(error.message, "error"));
}

/* A pipe that someone made non-blocking and that brings its bytes by and by. */
static void test_pipe(void) {
    struct input *input;
    int ends[2], saved = dup(0);
    const unsigned char *peeked;
    char have[16] = "";
    CHECK(pipe(ends) == 0 && write(ends[1], "pipe", 4) == 4);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    dup2(ends[0], 0);
    CHECK(input_open("-", NULL, &input, &error) == IMGPIPE_OK && !input_can_seek(input) && input_size(input) == 0 &&
          !input_seek(input, 0));
    CHECK(strcmp(input_name(input), "standard input") == 0);
    pid_t child = fork();
    if (child == 0) {
        usleep(20000);
        _exit(write(ends[1], "line", 4) == 4 ? 0 : 1);
    }
    close(ends[1]);
    CHECK(input_peek(input, &peeked, 8) == 8 && input_read(input, have, 16) == 8 && strcmp(have, "pipeline") == 0);
    waitpid(child, NULL, 0);
    input_close(input);
    close(ends[0]);
    dup2(saved, 0);
    close(saved);
}

/* Standard input that begins in the midst of a file: offsets count from there. */
static void test_offset(void) {
    struct input *input;
    char have[16] = "";
    int saved = dup(0);
    put("middle", "0123456789", 10);
    int file = open("middle", O_RDONLY);
    lseek(file, 4, SEEK_SET);
    dup2(file, 0);
    CHECK(input_open("-", NULL, &input, &error) == IMGPIPE_OK && input_size(input) == 6 && input_seek(input, 2));
    CHECK(input_read(input, have, 3) == 3 && memcmp(have, "678", 3) == 0);
    input_close(input);
    close(file);
    dup2(saved, 0);
    close(saved);
}

int main(void) {
    char folder[4096], command[4200];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test-input-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        perror(folder);
        return 1;
    }
    test_bytes();
    test_refusals();
    test_pipe();
    test_offset();
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(command) != 0) perror(command);
    printf("%d checks, %d failures\n", checks, failures);
    return failures || !checks;
}
