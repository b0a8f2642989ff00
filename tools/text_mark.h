/* The marks with which some programs begin a text, to say how it is encoded. */
#ifndef TEXT_MARK_H
#define TEXT_MARK_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The bytes of the mark of UTF-8, which is none of the text: 3, or 0 where there is none. */
static inline size_t mark_utf8(const char *text, size_t length) {
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Whether the text begins with a mark of UTF-16, in either order of bytes. */
static inline bool mark_is_utf16(const char *text, size_t length) {
    return length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}
#endif
