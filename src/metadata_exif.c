/* EXIF: a TIFF stream of its own. Files from anywhere come here, so that no offset and no count is trusted: every read goes
 * through a reader that knows the block's size, a directory is walked once and never followed back, and what does not fit is
 * left as it is. EXIF 2.32, section 4.6; TIFF 6.0, section 2. */
#include "metadata.h"

#include <stdlib.h>
#include <string.h>

enum {
    TAG_WIDTH = 0x100, /* the height follows, as with the other two */
    TAG_ORIENTATION = 0x112,
    TAG_X_RESOLUTION = 0x11a,
    TAG_Y_RESOLUTION = 0x11b,
    TAG_RESOLUTION_UNIT = 0x128,
    TAG_PREVIEW = 0x201, /* JPEGInterchangeFormat */
    TAG_PREVIEW_LENGTH = 0x202,
    TAG_EXIF_DIRECTORY = 0x8769,
    TAG_PIXEL_WIDTH = 0xa002,
    TYPE_BYTE = 1,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_RATIONAL = 5,
    ENTRY = 12 /* bytes of a directory's entry */
};

struct exif {
    unsigned char *bytes;
    size_t size;
    bool big;
};

static bool exif_open(const struct metadata *metadata, struct exif *e) {
    *e = (struct exif){metadata->exif.bytes, metadata->exif.size, false};
    if (!e->bytes || e->size < 8) return false;
    e->big = memcmp(e->bytes, "MM\0*", 4) == 0;
    return e->big || memcmp(e->bytes, "II*\0", 4) == 0;
}

static bool inside(const struct exif *e, uint64_t at, uint64_t size) {
    return at <= e->size && size <= e->size - at;
}

static uint32_t get(const struct exif *e, uint64_t at, int size) {
    uint32_t value = 0;
    if (!inside(e, at, (uint64_t)size)) return 0;
    for (int i = 0; i < size; i++) value |= (uint32_t)e->bytes[at + (uint64_t)i] << 8 * (e->big ? size - 1 - i : i);
    return value;
}

static void put(struct exif *e, uint64_t at, int size, uint32_t value) {
    if (!inside(e, at, (uint64_t)size)) return;
    for (int i = 0; i < size; i++) e->bytes[at + (uint64_t)i] = (unsigned char)(value >> 8 * (e->big ? size - 1 - i : i));
}

/* How many entries of the directory at `at` lie within the block; 0: there is none. */
static int entries(const struct exif *e, uint64_t at) {
    if (at < 8 || !inside(e, at, 2)) return 0;
    uint64_t count = get(e, at, 2), room = (e->size - at - 2) / ENTRY;
    return (int)(count < room ? count : room);
}

static int first_directory(const struct exif *e, uint64_t *at) {
    *at = get(e, 4, 4);
    return entries(e, *at);
}

/* The entry of `tag` in the directory at `at`, or 0. */
static uint64_t find_in(const struct exif *e, uint64_t at, uint32_t tag) {
    int count = entries(e, at);
    for (int i = 0; i < count; i++) {
        uint64_t entry = at + 2 + (uint64_t)i * ENTRY;
        if (get(e, entry, 2) == tag) return entry;
    }
    return 0;
}

static uint64_t find(const struct exif *e, uint32_t tag) {
    return find_in(e, get(e, 4, 4), tag);
}

/* One whole number; writers use any of three types for it. */
static uint32_t whole(const struct exif *e, uint64_t entry) {
    if (!entry || get(e, entry + 4, 4) != 1) return 0;
    uint32_t type = get(e, entry + 2, 2);
    int size = type == TYPE_BYTE ? 1 : type == TYPE_SHORT ? 2 : type == TYPE_LONG ? 4 : 0;
    return size ? get(e, entry + 8, size) : 0;
}

static double rational(const struct exif *e, uint64_t entry) {
    if (!entry || get(e, entry + 2, 2) != TYPE_RATIONAL || get(e, entry + 4, 4) < 1) return 0;
    uint64_t at = get(e, entry + 8, 4);
    if (!inside(e, at, 8)) return 0;
    double above = get(e, at, 4), below = get(e, at + 4, 4);
    return below > 0 ? above / below : 0;
}

void metadata_read_exif(struct metadata *metadata) {
    struct exif e;
    if (!exif_open(metadata, &e)) return;
    uint32_t orientation = whole(&e, find(&e, TAG_ORIENTATION));
    if (orientation >= 1 && orientation <= 8) metadata->orientation = (int)orientation;
    if (metadata->x_per_metre > 0 || metadata->y_per_metre > 0 || metadata->x_aspect > 0) return;
    uint64_t unit_entry = find(&e, TAG_RESOLUTION_UNIT);
    uint32_t unit = unit_entry ? whole(&e, unit_entry) : 2; /* without the tag it is an inch */
    double x = rational(&e, find(&e, TAG_X_RESOLUTION)), y = rational(&e, find(&e, TAG_Y_RESOLUTION));
    double per_metre = unit == 2 ? 1 / 0.0254 : unit == 3 ? 100 : 0;
    if (x > 0 && y > 0 && per_metre > 0) {
        metadata->x_per_metre = x * per_metre;
        metadata->y_per_metre = y * per_metre;
    }
}

/* Some programs look for the orientation in XMP. There it is one digit, as an attribute or as an element. */
static void set_xmp_orientation(struct metadata *metadata, int orientation) {
    static const char name[] = "tiff:Orientation";
    const size_t length = sizeof name - 1;
    unsigned char *at = metadata->xmp.bytes;
    size_t left = metadata->xmp.size;
    for (unsigned char *found; left > length && (found = memmem(at, left, name, length)) != NULL;) {
        left -= (size_t)(found - at) + length;
        at = found + length;
        size_t skip = 0;
        while (skip < left && (at[skip] == '=' || at[skip] == '"' || at[skip] == '\'' || at[skip] == '>' || at[skip] == ' '))
            skip++;
        if (skip > 0 && skip + 1 < left && at[skip] >= '1' && at[skip] <= '8' && strchr("\"'< ", at[skip + 1]))
            at[skip] = (unsigned char)('0' + orientation);
    }
}

void metadata_set_orientation(struct metadata *metadata, int orientation) {
    struct exif e;
    metadata->orientation = orientation;
    set_xmp_orientation(metadata, orientation);
    if (!exif_open(metadata, &e)) return;
    uint64_t entry = find(&e, TAG_ORIENTATION);
    if (!whole(&e, entry)) return;
    uint32_t type = get(&e, entry + 2, 2);
    put(&e, entry + 8, type == TYPE_BYTE ? 1 : type == TYPE_SHORT ? 2 : 4, (uint32_t)orientation);
}

static void swap_values(struct exif *e, uint64_t directory, uint32_t tag) {
    uint64_t a = find_in(e, directory, tag), b = find_in(e, directory, tag + 1);
    unsigned char kept[ENTRY - 2];
    if (!a || !b) return;
    memcpy(kept, e->bytes + a + 2, sizeof kept);
    memcpy(e->bytes + a + 2, e->bytes + b + 2, sizeof kept);
    memcpy(e->bytes + b + 2, kept, sizeof kept);
}

static void swap_numbers(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

void metadata_swap_sides(struct metadata *metadata) {
    struct exif e;
    swap_numbers(&metadata->x_per_metre, &metadata->y_per_metre);
    swap_numbers(&metadata->x_aspect, &metadata->y_aspect);
    if (!exif_open(metadata, &e)) return;
    swap_values(&e, get(&e, 4, 4), TAG_WIDTH);
    swap_values(&e, get(&e, 4, 4), TAG_X_RESOLUTION);
    uint64_t link = find(&e, TAG_EXIF_DIRECTORY);
    if (link) swap_values(&e, get(&e, link + 8, 4), TAG_PIXEL_WIDTH);
}

/* A copy of the block with a first directory of one entry more, at the end: entries are in the order of their tags, and what
 * follows the old ones may be in use. It begins at an even offset, as TIFF has it. */
static bool add_entry(struct metadata *metadata, const struct exif *from) {
    uint64_t old, at = (from->size + 1) & ~(uint64_t)1, before = 0;
    uint64_t count = (uint64_t)first_directory(from, &old);
    size_t size = at + 2 + (count + 1) * ENTRY + 4;
    if (size > UINT32_MAX || count >= UINT16_MAX) return true;
    struct exif e = {calloc(1, size), size, from->big};
    if (!e.bytes) return false;
    memcpy(e.bytes, from->bytes, from->size);
    while (before < count && get(&e, old + 2 + before * ENTRY, 2) < TAG_ORIENTATION) before++;
    uint64_t entry = at + 2 + before * ENTRY, rest = (count - before) * ENTRY;
    if (count) {
        memcpy(e.bytes + at + 2, e.bytes + old + 2, before * ENTRY);
        memcpy(e.bytes + entry + ENTRY, e.bytes + old + 2 + before * ENTRY, rest);
        put(&e, entry + ENTRY + rest, 4, get(from, old + 2 + count * ENTRY, 4));
    }
    put(&e, 4, 4, (uint32_t)at);
    put(&e, at, 2, (uint32_t)count + 1);
    put(&e, entry, 2, TAG_ORIENTATION);
    put(&e, entry + 2, 2, TYPE_SHORT);
    put(&e, entry + 4, 4, 1);
    put(&e, entry + 8, 2, (uint32_t)metadata->orientation);
    free(metadata->exif.bytes);
    metadata->exif = (struct metadata_block){e.bytes, size};
    return true;
}

bool metadata_add_orientation(struct metadata *metadata) {
    static const unsigned char empty[] = {'I', 'I', '*', 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct exif e;
    if (!metadata->exif.bytes && !metadata_set(&metadata->exif, empty, sizeof empty)) return false;
    if (!exif_open(metadata, &e) || find(&e, TAG_ORIENTATION)) return true;
    return add_entry(metadata, &e);
}

/* XMP has previews too, as text between two tags. */
static void drop_xmp_preview(struct metadata *metadata) {
    static const char open[] = "<xmp:Thumbnails", close[] = "</xmp:Thumbnails>";
    struct metadata_block *xmp = &metadata->xmp;
    if (!xmp->bytes) return;
    unsigned char *from = memmem(xmp->bytes, xmp->size, open, sizeof open - 1);
    if (!from) return;
    size_t left = xmp->size - (size_t)(from - xmp->bytes);
    unsigned char *to = memmem(from, left, close, sizeof close - 1);
    if (!to) return;
    to += sizeof close - 1;
    memmove(from, to, (size_t)(xmp->bytes + xmp->size - to));
    xmp->size -= (size_t)(to - from);
}

/* The first directory links to that of the preview. The link is cut, and the preview's bytes go where they can go without moving
 * anything: those at the end are cut off, others become zeros. A place that holds no JPEG is not touched: a damaged or foreign
 * offset would otherwise cost something else. */
void metadata_drop_preview(struct metadata *metadata) {
    struct exif e;
    uint64_t first, second;
    drop_xmp_preview(metadata);
    if (!exif_open(metadata, &e) || first_directory(&e, &first) == 0) return;
    uint64_t link = first + 2 + (uint64_t)get(&e, first, 2) * ENTRY;
    second = get(&e, link, 4);
    if (second == 0) return;
    put(&e, link, 4, 0);
    if (second < 8 || !inside(&e, second, 2)) return;
    uint32_t offset = 0, length = 0, count = get(&e, second, 2);
    for (uint64_t i = 0, entry = second + 2; i < count && inside(&e, entry, ENTRY); i++, entry += ENTRY) {
        uint32_t tag = get(&e, entry, 2);
        if (tag == TAG_PREVIEW) offset = get(&e, entry + 8, 4);
        if (tag == TAG_PREVIEW_LENGTH) length = get(&e, entry + 8, 4);
    }
    if (length < 2 || !inside(&e, offset, length) || e.bytes[offset] != 0xff || e.bytes[offset + 1] != 0xd8) return;
    memset(e.bytes + offset, 0, length);
    if ((uint64_t)offset + length + 1 >= e.size) metadata->exif.size = offset;
}
