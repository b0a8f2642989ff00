/* JSON, as far as listings and reports need it. */
#ifndef JSON_H
#define JSON_H
#include <stdio.h>

/* Writes a string with its quotes; NULL is null. Bytes that are no UTF-8 become U+FFFD. */
void json_string(FILE *to, const char *text);
/* A number that reads back as the same double; what JSON cannot hold is null. */
void json_number(FILE *to, double value);

/* The character at *text, which moves on behind it; -1 for a byte that begins no valid UTF-8, and 0 at the end, where it stays. */
long utf8_next(const char **text);
#endif
