/* The parsed `-f` text. */
#ifndef CHAIN_H
#define CHAIN_H
#include "imgpipe.h"

/* One value of a stage: where it stood in the text, and for every byte of the unquoted value the offset in the text,
 * so that a fault inside a quoted mask can be marked. */
struct chain_value {
    int param;              /* index into the filter's params */
    char *text;             /* unquoted, unescaped, trimmed */
    int *offsets;           /* strlen(text) + 1 of them */
    int place, length;      /* the value with its key, in the chain's text */
};

struct chain_stage {
    const imgpipe_filter *filter;
    void *options;          /* options_size bytes */
    struct chain_value *values;
    int value_count;
    int place, length;      /* the whole stage in the chain's text */
    int name_length;
};

struct imgpipe_chain {
    char *text;
    struct chain_stage *stages;
    int count;
};

/* Turns an error of imgpipe_stage_fail() (param index, bytes into the value) into a place in the chain's text. */
void chain_place(const struct imgpipe_chain *chain, int stage, int param, int at, int length, int *place, int *place_length);
#endif
