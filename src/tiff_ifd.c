/* Reading image file directories: TIFF 6.0, section 2; BigTIFF as libtiff describes it. */
#include "tiff_ifd.h"
#include <stdlib.h>
#include <string.h>

enum { LITTLE_ENDIAN_HOST = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

size_t ifd_type_size(uint16_t type) {
    static const unsigned char sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof sizes ? sizes[type] : 0;
}

/* A number of 2, 4 or 8 bytes in the byte order of the file. */
static uint64_t number_at(const struct ifd_reader *reader, const unsigned char *bytes, size_t size) {
    bool little = LITTLE_ENDIAN_HOST != reader->swap;
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value |= (uint64_t)bytes[i] << 8 * (little ? i : size - 1 - i);
    return value;
}

bool ifd_begin(struct ifd_reader *reader, uint64_t *first) {
    unsigned char head[16];
    if (!reader->read(reader->from, 0, head, 8) || head[0] != head[1] || (head[0] != 'I' && head[0] != 'M')) return false;
    reader->swap = (head[0] == 'I') != LITTLE_ENDIAN_HOST;
    uint64_t version = number_at(reader, head + 2, 2);
    reader->big = version == 43;
    if (reader->big) {
        if (!reader->read(reader->from, 0, head, 16) || number_at(reader, head + 4, 2) != 8) return false;
        *first = number_at(reader, head + 8, 8);
        return true;
    }
    *first = number_at(reader, head + 4, 4);
    return version == 42;
}

/* Fills an entry from its bytes, which stand at `at`. */
static void take_entry(const struct ifd_reader *reader, const unsigned char *bytes, uint64_t at, struct ifd_entry *entry) {
    size_t word = reader->big ? 8 : 4;
    entry->tag = (uint16_t)number_at(reader, bytes, 2);
    entry->type = (uint16_t)number_at(reader, bytes + 2, 2);
    entry->count = number_at(reader, bytes + 4, word);
    if (__builtin_mul_overflow(entry->count, (uint64_t)ifd_type_size(entry->type), &entry->size)) entry->size = UINT64_MAX;
    entry->at = entry->size <= word ? at + 4 + word : number_at(reader, bytes + 4 + word, word);
}

bool ifd_read(const struct ifd_reader *reader, uint64_t at, struct ifd *ifd) {
    *ifd = (struct ifd){NULL, 0, 0};
    size_t head = reader->big ? 8 : 2, size = reader->big ? 20 : 12, word = reader->big ? 8 : 4;
    unsigned char count_bytes[8];
    if (at < 8 || at > INT64_MAX || !reader->read(reader->from, at, count_bytes, head)) return false;
    uint64_t count = number_at(reader, count_bytes, head);
    if (count > UINT16_MAX) return false;
    unsigned char *table = malloc(count * size + word);
    ifd->entries = calloc(count + 1, sizeof *ifd->entries);
    if (reader->no_memory && (!table || !ifd->entries)) *reader->no_memory = true;
    bool ok = table && ifd->entries && reader->read(reader->from, at + head, table, count * size + word);
    for (uint64_t i = 0; ok && i < count; i++) take_entry(reader, table + i * size, at + head + i * size, &ifd->entries[i]);
    if (ok) {
        ifd->count = (int)count;
        ifd->next = number_at(reader, table + count * size, word);
    } else {
        ifd_free(ifd);
    }
    free(table);
    return ok;
}

void ifd_free(struct ifd *ifd) {
    free(ifd->entries);
    *ifd = (struct ifd){NULL, 0, 0};
}

const struct ifd_entry *ifd_find(const struct ifd *ifd, uint16_t tag) {
    for (int i = 0; i < ifd->count; i++)
        if (ifd->entries[i].tag == tag) return &ifd->entries[i];
    return NULL;
}

bool ifd_number(const struct ifd_reader *reader, const struct ifd_entry *entry, uint64_t index, uint64_t *value) {
    static const uint32_t whole = 1u << 1 | 1u << 3 | 1u << 4 | 1u << 13 | 1u << 16 | 1u << 18;
    unsigned char bytes[8];
    if (!entry || entry->type > 18 || !(whole >> entry->type & 1) || index >= entry->count || entry->size == UINT64_MAX)
        return false;
    size_t size = ifd_type_size(entry->type);
    uint64_t at;
    if (__builtin_add_overflow(entry->at, index * size, &at) || !reader->read(reader->from, at, bytes, size)) return false;
    *value = number_at(reader, bytes, size);
    return true;
}

uint64_t ifd_number_or(const struct ifd_reader *reader, const struct ifd *ifd, uint16_t tag, uint64_t otherwise) {
    uint64_t value;
    return ifd_number(reader, ifd_find(ifd, tag), 0, &value) ? value : otherwise;
}

/* Turns the bytes of each number round; a fraction is two of four bytes. */
static void swap_values(unsigned char *bytes, size_t size, uint16_t type) {
    size_t step = type == 5 || type == 10 ? 4 : ifd_type_size(type);
    for (size_t i = 0; step > 1 && i + step <= size; i += step) {
        for (size_t k = 0; k < step / 2; k++) {
            unsigned char kept = bytes[i + k];
            bytes[i + k] = bytes[i + step - 1 - k];
            bytes[i + step - 1 - k] = kept;
        }
    }
}

void *ifd_values(const struct ifd_reader *reader, const struct ifd_entry *entry, size_t most, bool raw) {
    if (!entry || entry->size > most || entry->size == 0) return NULL;
    unsigned char last, *values = NULL;
    /* The last byte is looked for first: a false size must not cost its memory. */
    uint64_t end;
    if (__builtin_add_overflow(entry->at, entry->size - 1, &end) || !reader->read(reader->from, end, &last, 1)) return NULL;
    values = malloc(entry->size + 1);
    if (!values) return NULL;
    if (!reader->read(reader->from, entry->at, values, entry->size)) {
        free(values);
        return NULL;
    }
    if (reader->swap && !raw) swap_values(values, entry->size, entry->type);
    values[entry->size] = 0;
    return values;
}

bool ifd_read_block(void *from, uint64_t at, void *to, size_t size) {
    const struct metadata_block *block = from;
    if (at > block->size || size > block->size - at) return false;
    memcpy(to, block->bytes + at, size);
    return true;
}

/* ------------------------------------------------------------------------------------------------------ trees */

#define TREE_VALUE_MAX ((size_t)16 << 20)
#define TREE_DEPTH_MAX 3

static int by_tag(const void *a, const void *b) {
    const struct ifd_tag *x = a, *y = b;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* Whether the tag points to a directory that is part of EXIF. */
static bool is_pointer(uint16_t tag) {
    return tag == IFD_EXIF || tag == IFD_GPS || tag == IFD_INTEROPERABILITY;
}

/* False if the entry cannot be kept. */
static bool take_tag(const struct ifd_reader *reader, const struct ifd_entry *entry, int depth, struct ifd_tag *tag) {
    *tag = (struct ifd_tag){entry->tag, entry->type, entry->count, NULL, 0, NULL};
    if (is_pointer(entry->tag)) {
        uint64_t at;
        if (depth + 1 < TREE_DEPTH_MAX && ifd_number(reader, entry, 0, &at))
            tag->child = ifd_tree_read(reader, at, NULL, depth + 1);
        tag->type = 4;
        tag->count = 1;
        return tag->child != NULL;
    }
    tag->values = ifd_values(reader, entry, TREE_VALUE_MAX, false);
    tag->size = entry->size;
    return tag->values != NULL;
}

struct ifd_tree *ifd_tree_read(const struct ifd_reader *reader, uint64_t at, bool (*keep)(uint16_t tag), int depth) {
    struct ifd ifd;
    if (!ifd_read(reader, at, &ifd)) return NULL;
    struct ifd_tree *tree = calloc(1, sizeof *tree);
    if (tree) tree->tags = calloc((size_t)ifd.count + 1, sizeof *tree->tags);
    size_t total = 0;
    for (int i = 0; tree && tree->tags && i < ifd.count && total <= TREE_VALUE_MAX; i++) {
        if (keep && !keep(ifd.entries[i].tag)) continue;
        if (take_tag(reader, &ifd.entries[i], depth, &tree->tags[tree->count])) total += tree->tags[tree->count++].size;
    }
    ifd_free(&ifd);
    if (tree && tree->count == 0) {
        ifd_tree_free(tree);
        return NULL;
    }
    if (tree) qsort(tree->tags, (size_t)tree->count, sizeof *tree->tags, by_tag);
    return tree;
}

void ifd_tree_free(struct ifd_tree *tree) {
    if (!tree) return;
    for (int i = 0; i < tree->count; i++) {
        free(tree->tags[i].values);
        ifd_tree_free(tree->tags[i].child);
    }
    free(tree->tags);
    free(tree);
}

const struct ifd_tag *ifd_tree_find(const struct ifd_tree *tree, uint16_t tag) {
    for (int i = 0; tree && i < tree->count; i++)
        if (tree->tags[i].tag == tag) return &tree->tags[i];
    return NULL;
}

struct tree_writer {
    struct metadata_block *out;
    uint64_t base;
    bool big, swap, failed;
};

/* Takes `size` zero bytes at the end, from an even place on; returns where. */
static size_t reserve(struct tree_writer *w, size_t size) {
    size_t at = w->out->size + ((w->base + w->out->size) & 1);
    unsigned char *bytes = w->failed ? NULL : realloc(w->out->bytes, at + size + 1);
    if (!bytes) {
        w->failed = true;
        return 0;
    }
    memset(bytes + w->out->size, 0, at + size - w->out->size);
    *w->out = (struct metadata_block){bytes, at + size};
    return at;
}

static void put_number(struct tree_writer *w, size_t at, size_t size, uint64_t value) {
    bool little = LITTLE_ENDIAN_HOST != w->swap;
    for (size_t i = 0; i < size; i++) w->out->bytes[at + i] = (unsigned char)(value >> 8 * (little ? i : size - 1 - i));
}

static void put_values(struct tree_writer *w, size_t at, const struct ifd_tag *tag) {
    memcpy(w->out->bytes + at, tag->values, tag->size);
    if (w->swap) swap_values(w->out->bytes + at, tag->size, tag->type);
}

static size_t put_tree(struct tree_writer *w, const struct ifd_tree *tree) {
    size_t head = w->big ? 8 : 2, entry_size = w->big ? 20 : 12, word = w->big ? 8 : 4, count = 0;
    /* The types of BigTIFF have no place in a classic file. */
    for (int i = 0; i < tree->count; i++) count += w->big || tree->tags[i].type < 16;
    size_t table = reserve(w, head + count * entry_size + word), entry = table + head;
    if (w->failed) return 0;
    put_number(w, table, head, count);
    for (int i = 0; i < tree->count && !w->failed; i++) {
        const struct ifd_tag *tag = &tree->tags[i];
        if (!w->big && tag->type >= 16) continue;
        put_number(w, entry, 2, tag->tag);
        put_number(w, entry + 2, 2, tag->type == 4 && tag->child && w->big ? 18 : tag->type);
        put_number(w, entry + 4, word, tag->count);
        if (!tag->child && tag->size <= word) {
            put_values(w, entry + 4 + word, tag);
        } else {
            size_t at = tag->child ? put_tree(w, tag->child) : reserve(w, tag->size);
            if (w->failed) return 0;
            if (!tag->child) put_values(w, at, tag);
            put_number(w, entry + 4 + word, word, w->base + at);
        }
        entry += entry_size;
    }
    return table;
}

bool ifd_tree_write(const struct ifd_tree *tree, bool big, bool swap, uint64_t base, struct metadata_block *out, uint64_t *at) {
    struct tree_writer w = {out, base, big, swap, false};
    *at = base + put_tree(&w, tree);
    return !w.failed;
}
