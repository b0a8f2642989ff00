/* Files to look at. Included by test_outfile.c alone. */
#ifndef OUTFILE_CHECKS_H
#define OUTFILE_CHECKS_H
#include "checks.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many temporary files are left. */
static int count_temps(const char *folder) {
    DIR *listing = opendir(folder);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(listing));) count += strncmp(entry->d_name, ".imgpipe-", 9) == 0;
    closedir(listing);
    return count;
}

static void put(const char *path, const char *text, mode_t mode) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    fchmod(fd, mode);
    close(fd);
}

static bool holds(const char *path, const char *text) {
    char have[256];
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    size_t size = fread(have, 1, sizeof have - 1, file);
    have[size] = 0;
    fclose(file);
    return strcmp(have, text) == 0;
}

static mode_t mode_of(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

#endif
