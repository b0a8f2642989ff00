/* The characters of a chain's text once quotes and escapes are resolved. */
#ifndef CHAIN_LEX_H
#define CHAIN_LEX_H
#include "imgpipe.h"

/* Byte i of `count` is text[i], stood at at[i] in the chain, and means itself (never a separator or a space to trim) if
 * literal[i]. text has a NUL behind it. */
struct chain_lex {
    char *text;
    int *at;
    bool *literal;
    int count;
};

/* Half-open range of bytes. */
struct chain_range {
    int from, to;
};

/* Inside '…' all is literal and '' is a quote; \ escapes one byte. On failure nothing is left to free. */
imgpipe_status chain_lex_read(const char *text, struct chain_lex *lex, imgpipe_error *error);
void chain_lex_free(struct chain_lex *lex);
/* The first `c` in the range that is not literal, or range.to. */
int chain_lex_find(const struct chain_lex *lex, struct chain_range range, char c);
/* Without the spaces at the ends that are not literal. */
struct chain_range chain_lex_trim(const struct chain_lex *lex, struct chain_range range);
/* Where the range stands in the chain's text; an empty range has length 0. */
void chain_lex_place(const struct chain_lex *lex, struct chain_range range, int *place, int *length);
/* A key as the grammar has it: [a-z][a-z0-9_]*, nothing literal. */
bool chain_lex_is_key(const struct chain_lex *lex, struct chain_range range);
/* True if the range spells `name`. */
bool chain_lex_equals(const struct chain_lex *lex, struct chain_range range, const char *name);
/* The range for a message: at most 40 bytes, cut between characters. */
const char *chain_lex_show(const struct chain_lex *lex, struct chain_range range, char buf[48]);
#endif
