/* IPTC among Photoshop's resources, and as a text of a PNG file. */
#ifndef METADATA_IPTC_H
#define METADATA_IPTC_H
#include "metadata.h"

/* The first IPTC among Photoshop's resources, whose bytes it points into; false if there is none. */
bool iptc_find(const unsigned char *resources, size_t size, const unsigned char **iptc, size_t *length);
/* PNG has no chunk for IPTC. ImageMagick began to put it into a text with this keyword, and exiftool and others read it there: a
 * line with its kind, one with the number of bytes, and these in hexadecimal digits, which are a resource of Photoshop's. */
#define IPTC_KEYWORD "Raw profile type iptc"
/* Such a text in new memory; NULL when there is none. */
char *iptc_to_text(const struct metadata_block *iptc);
/* Makes the first such text the IPTC of `metadata`, if it is well formed and there is none yet, and removes it from the texts.
 * false when there is no memory. */
bool iptc_from_texts(struct metadata *metadata);
#endif
