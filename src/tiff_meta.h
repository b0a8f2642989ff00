/* How texts of other formats are called in TIFF. */
#ifndef TIFF_META_H
#define TIFF_META_H
#include "metadata.h"
#include "tiff_common.h"

struct tiff_text {
    uint16_t tag;
    const char *key; /* as in PNG */
};
extern const struct tiff_text tiff_texts[];
enum { TIFF_TEXTS = 6 };

/* Tags that are carried as they are, and the type that they must have. They hold for this width and height alone. */
struct tiff_kept_tag {
    uint16_t tag, type;
    const char *name;
};
extern const struct tiff_kept_tag tiff_kept_tags[];
enum { TIFF_KEPT_TAGS = 8 };

/* Writes all of `metadata` into the directory of `tif`, which is being made; false after a failure (see client->file). */
bool tiff_write_metadata(TIFF *tif, struct tiff_client *client, const struct metadata *metadata, bool big);
#endif
