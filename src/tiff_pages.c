/* Which of a TIFF file's directories is the image. The others are pages too, or reduced copies and masks; and some are the
 * preview of a camera raw file, which must never be taken for the picture. */
#include "tiff_source.h"
#include <inttypes.h>
#include <string.h>

#define PAGES_MAX 1000000u
#define RAW_DEPTH 2
#define RAW_DIRECTORIES 64

enum {
    TAG_SUBFILE_TYPE = 254,
    TAG_OLD_SUBFILE_TYPE = 255,
    TAG_COMPRESSION = 259,
    TAG_PHOTOMETRIC = 262,
    TAG_SUB_IFDS = 330,
    TAG_DNG_VERSION = 50706
};

/* Reduced copies, and masks. */
static bool is_copy(const struct ifd_reader *reader, const struct ifd *ifd) {
    uint64_t type = ifd_number_or(reader, ifd, TAG_SUBFILE_TYPE, 0);
    return (type & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) ||
           ifd_number_or(reader, ifd, TAG_OLD_SUBFILE_TYPE, 0) == OFILETYPE_REDUCEDIMAGE;
}

/* What kind of raw file a directory gives away, by itself or by those below it; NULL: none. `left` bounds the work. */
static const char *raw_kind(const struct ifd_reader *reader, const struct ifd *ifd, int depth, int *left) {
    static const struct {
        uint16_t compression;
        const char *kind;
    } makers[] = {{34713, "Nikon NEF"}, {32767, "Sony ARW"},   {32770, "Samsung SRW"},
                  {65000, "Kodak DCR"}, {65535, "Pentax PEF"}, {34892, "DNG"}};
    if (ifd_find(ifd, TAG_DNG_VERSION)) return "DNG";
    uint64_t photometric = ifd_number_or(reader, ifd, TAG_PHOTOMETRIC, 0);
    uint64_t compression = ifd_number_or(reader, ifd, TAG_COMPRESSION, 0);
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (compression == makers[i].compression) return makers[i].kind;
    if (photometric == PHOTOMETRIC_CFA || photometric == 34892) return "a colour filter array, as in NEF, ARW or PEF";
    const struct ifd_entry *below = ifd_find(ifd, TAG_SUB_IFDS);
    const char *kind = NULL;
    for (uint64_t i = 0; below && i < below->count && i < 8 && depth < RAW_DEPTH && !kind; i++) {
        uint64_t at;
        struct ifd sub;
        if ((*left)-- <= 0 || !ifd_number(reader, below, i, &at) || !ifd_read(reader, at, &sub)) break;
        kind = raw_kind(reader, &sub, depth + 1, left);
        ifd_free(&sub);
    }
    return kind;
}

struct walk {
    uint64_t directories, pages, chosen, first;
    bool broken, endless;
    const char *raw;
};

/* Walks the chain of directories. Brent's way of finding a circle: a directory is remembered at every power of two. */
static void walk_pages(const struct ifd_reader *reader, uint64_t first, uint64_t wanted, struct walk *w) {
    uint64_t at = first, remembered = 0, power = 1;
    int left = RAW_DIRECTORIES;
    *w = (struct walk){.first = first};
    while (at && !w->raw) {
        struct ifd ifd;
        if (!ifd_read(reader, at, &ifd)) {
            w->broken = true;
            return;
        }
        if (w->directories < 8) w->raw = raw_kind(reader, &ifd, 0, &left);
        if (!is_copy(reader, &ifd) && ++w->pages == wanted) w->chosen = at;
        if (++w->directories == power) remembered = at, power *= 2;
        at = ifd.next;
        ifd_free(&ifd);
        if (at == remembered || w->pages > PAGES_MAX) {
            w->endless = at != 0;
            return;
        }
    }
}

imgpipe_status tiff_choose_page(struct tiff_source *s, const struct ifd_reader *reader, uint64_t first, uint64_t *at,
                                uint64_t *pages, imgpipe_error *error) {
    uint64_t wanted = s->base.options.page > 0 ? (uint64_t)s->base.options.page : 1;
    struct walk w;
    walk_pages(reader, first, wanted, &w);
    if (s->file.no_memory) return tiff_no_memory(s, error);
    if (w.raw) return tiff_refuse(s, error, "it is a camera raw file (%s), which is not supported; develop it first", w.raw);
    if (w.endless) return tiff_refuse(s, error, "this TIFF file is broken: its pages lead in a circle; get an undamaged copy");
    if (w.directories == 0)
        return tiff_refuse(s, error,
                           "this TIFF file is truncated or broken: its first directory is not in it; get a complete copy");
    /* Some writers mark all that they have as reduced. */
    if (w.pages == 0 && wanted == 1) w.pages = 1, w.chosen = first;
    if (w.pages > 1 && s->base.options.page <= 0)
        return tiff_refuse(s, error, "it has %" PRIu64 "%s pages; choose one with --page N", w.pages, w.broken ? " or more" : "");
    if (!w.chosen)
        return tiff_refuse(s, error, "page %" PRIu64 " was asked for, and it has %" PRIu64 "%s", wanted, w.pages,
                           w.broken ? " before a broken directory" : "");
    if (w.broken)
        log_line(s->base.options.log, IMGPIPE_LOG_WARNING,
                 "'%s': a directory behind the first %" PRIu64 " is broken; it is ignored", input_name(s->base.input),
                 w.directories);
    *at = w.chosen;
    *pages = w.pages;
    return IMGPIPE_OK;
}
