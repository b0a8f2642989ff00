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

/* Far more than anybody writes by hand; what time and memory a plan takes grows with the square of it. */
#define CHAIN_STAGES_MOST 1000

struct imgpipe_chain {
    struct imgpipe_registry *registry; /* whose filters the stages are; kept, or NULL: those of the build */
    char *text;             /* what was parsed, which places refer to */
    char *canonical;        /* imgpipe_chain_text() */
    struct chain_stage *stages;
    int count;
};

/* Turns an error of imgpipe_stage_fail() (param index, bytes into the value) into a place in the chain's text. */
void chain_place(const struct imgpipe_chain *chain, int stage, int param, int at, int length, int *place, int *place_length);

/* The chain as text for free(), or NULL: no memory. `value`, as the filter is to see it, stands for what parameter `param` of stage
 * `stage` holds (-1: for none), and `added`, if not NULL, is a stage behind the others. */
char *chain_write(const struct imgpipe_chain *chain, int stage, int param, const char *value, const char *added);
/* A number as the parser reads it. */
#define CHAIN_NUMBER 40
const char *chain_number_text(double value, char text[CHAIN_NUMBER]);
#endif
