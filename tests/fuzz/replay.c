/* Feeds files to a fuzz target without a fuzzer: every file of the folders and every file named. Exit status 0, or whatever the
 * target ends the process with. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int files;

/* The bytes are handed over in an allocation of exactly their size. */
static void replay(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
    if (size < 0 || !bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    /* The last line of the output is then the file that ended the process. */
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
    files++;
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        DIR *folder = opendir(arguments[i]);
        if (!folder) {
            replay(arguments[i]);
            continue;
        }
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[4096];
            if (entry->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", arguments[i], entry->d_name);
            replay(path);
        }
        closedir(folder);
    }
    printf("%d files\n", files);
    return files ? 0 : 1;
}
