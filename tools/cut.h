/* Texts of any length in messages. */
#ifndef CUT_H
#define CUT_H
#include <stddef.h>

#define CUT_MOST 400
struct cut {
    char text[CUT_MOST + 4];
};

/* The text, or of one longer than `most` bytes (CUT_MOST at most) as many whole characters as fit, with "…" behind them. */
struct cut cut(const char *text, size_t most);
/* The same of the first `length` bytes. */
struct cut cut_part(const char *text, size_t length, size_t most);
/* The same as an argument: it lives to the end of the statement. */
#define CUT(from, most) (cut(from, most).text)
#endif
