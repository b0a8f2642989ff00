/* Image file directories: the lists of tags that TIFF and EXIF are made of. Read here without libtiff, because what is carried
 * over must be kept as it is: types, counts, and all digits of fractions. Nothing in the file is trusted. */
#ifndef TIFF_IFD_H
#define TIFF_IFD_H
#include "metadata.h"

struct ifd_reader {
    /* Fills `to` with `size` bytes from `at`; false where the file does not have them. */
    bool (*read)(void *from, uint64_t at, void *to, size_t size);
    void *from;
    bool big, swap; /* BigTIFF; the other byte order. Set by ifd_begin(). */
    bool *no_memory; /* set where that, and not the file, is why a directory cannot be read; may be NULL */
};

struct ifd_entry {
    uint16_t tag, type;
    uint64_t count, size; /* values, and their bytes */
    uint64_t at;          /* where the values are in the file */
};

struct ifd {
    struct ifd_entry *entries;
    int count;
    uint64_t next; /* the directory that follows; 0: none */
};

/* Reads the header; false if it is not that of a TIFF file. */
bool ifd_begin(struct ifd_reader *reader, uint64_t *first);
/* Reads the directory at `at`; false if it is not all there. The caller calls ifd_free(). */
bool ifd_read(const struct ifd_reader *reader, uint64_t at, struct ifd *ifd);
void ifd_free(struct ifd *ifd);
const struct ifd_entry *ifd_find(const struct ifd *ifd, uint16_t tag);
/* One whole number of an entry (which may be NULL); false if there is none. */
bool ifd_number(const struct ifd_reader *reader, const struct ifd_entry *entry, uint64_t index, uint64_t *value);
/* The first number of a tag, or `otherwise`. */
uint64_t ifd_number_or(const struct ifd_reader *reader, const struct ifd *ifd, uint16_t tag, uint64_t otherwise);
/* All values in the byte order of this machine (or, `raw`, of the file), with a zero behind them; to be freed. NULL if they are
 * not all in the file, more than `most` bytes, or there is no memory for them. */
void *ifd_values(const struct ifd_reader *reader, const struct ifd_entry *entry, size_t most, bool raw);
/* Bytes of one value of a type of TIFF; 0: there is no such type. */
size_t ifd_type_size(uint16_t type);

/* A directory with all its values, and those that it points to. */
struct ifd_tag {
    uint16_t tag, type;
    uint64_t count;
    unsigned char *values; /* owned, native byte order */
    size_t size;
    struct ifd_tree *child; /* owned; NULL for all but pointers to directories */
};
struct ifd_tree {
    struct ifd_tag *tags;
    int count;
};

/* Reads the directory at `at`, the tags for which keep() is true (all if it is NULL), with the directories of EXIF, GPS and
 * interoperability data below. What is damaged or too large is left out. NULL: nothing is left, or no memory. */
struct ifd_tree *ifd_tree_read(const struct ifd_reader *reader, uint64_t at, bool (*keep)(uint16_t tag), int depth);
void ifd_tree_free(struct ifd_tree *tree);
const struct ifd_tag *ifd_tree_find(const struct ifd_tree *tree, uint16_t tag);
/* Appends `tree` to `out`, whose first byte stands at offset `base` of the file; *at gets the offset of its directory. */
bool ifd_tree_write(const struct ifd_tree *tree, bool big, bool swap, uint64_t base, struct metadata_block *out, uint64_t *at);
/* Reads from a block of bytes: a function for struct ifd_reader, whose `from` is then a const struct metadata_block. */
bool ifd_read_block(void *from, uint64_t at, void *to, size_t size);

enum { IFD_EXIF = 34665, IFD_GPS = 34853, IFD_INTEROPERABILITY = 40965 };
#endif
