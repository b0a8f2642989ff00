#include "plugin_elf.h"
#include "status.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOST_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define HOST_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

/* As many bytes as there are, up to `size`. */
static size_t read_at(int fd, void *to, size_t size, off_t at) {
    size_t got = 0;
    ssize_t part = 1;
    while (got < size && part > 0) {
        part = pread(fd, (char *)to + got, size - got, at + (off_t)got);
        if (part > 0) got += (size_t)part;
    }
    return got;
}

/* The bytes that the file must have at least, as far as it says; 0 if it is no shared object of this machine. */
static uint64_t find_length(int fd, uint64_t size) {
    ElfW(Ehdr) header = {0};
    size_t got = read_at(fd, &header, sizeof header, 0);
    if (got < SELFMAG || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
    if (got < sizeof header) return sizeof header;
    if (header.e_ident[EI_CLASS] != HOST_CLASS || header.e_ident[EI_DATA] != HOST_DATA) return 0;
    if (header.e_phentsize != sizeof(ElfW(Phdr))) return 0;
    uint64_t table = (uint64_t)header.e_phnum * sizeof(ElfW(Phdr)), length = header.e_phoff + table;
    if (header.e_phoff > UINT64_MAX - table) return UINT64_MAX;
    if (length > size) return length;
    for (int i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        uint64_t at = header.e_phoff + (uint64_t)i * sizeof segment;
        if (read_at(fd, &segment, sizeof segment, (off_t)at) < sizeof segment) return at + sizeof segment;
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_offset > UINT64_MAX - segment.p_filesz) return UINT64_MAX;
        if (segment.p_offset + segment.p_filesz > length) length = segment.p_offset + segment.p_filesz;
    }
    return length;
}

imgpipe_status plugin_check_length(const char *file, imgpipe_error *error) {
    struct stat st;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return IMGPIPE_OK; /* the loader says why */
    uint64_t size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0, length = find_length(fd, size);
    close(fd);
    if (length <= size) return IMGPIPE_OK;
    if (length > INT64_MAX)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: its ELF header is damaged; copy it once more, or build it again",
                         file);
    return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                     "%s: the file is cut short, as it has %llu bytes and its ELF header needs %llu; copy it once more, or build "
                     "it again",
                     file, (unsigned long long)size, (unsigned long long)length);
}
