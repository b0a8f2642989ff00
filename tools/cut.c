#include "cut.h"

#include <string.h>

struct cut cut_part(const char *text, size_t length, size_t most) {
    struct cut result = {""};
    size_t end = length;
    if (length > most) {
        end = most;
        /* No character of UTF-8 has more than three bytes behind its first; what has more is none. */
        for (int i = 0; i < 3 && end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80; i++) end--;
        if (((unsigned char)text[end] & 0xc0) == 0x80) end = most;
    }
    memcpy(result.text, text, end);
    if (length > most) memcpy(result.text + end, "…", sizeof "…");
    return result;
}

struct cut cut(const char *text, size_t most) {
    return cut_part(text, strnlen(text, most + 1), most);
}
