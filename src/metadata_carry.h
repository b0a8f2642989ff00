/* The rules: what goes from the input's file to the output's beside the pixels. */
#ifndef METADATA_CARRY_H
#define METADATA_CARRY_H
#include "log.h"
#include "metadata.h"

struct carry {
    imgpipe_info in, out;
    bool changed;           /* the pixels are not those of the input */
    bool chart;             /* the output is a chart */
    bool turned;            /* the pixels have been turned as the orientation says */
    int strip;              /* 0: carry everything; 1: the ICC profile; 2: nothing */
    unsigned carries;       /* what the output's kind can hold: enum metadata_carried */
    const char *kind;       /* its name, for notices */
    const struct log *log;
};

/* Removes from `metadata` what may not go on, and adapts the rest; false when there is no memory. */
bool metadata_carry(struct metadata *metadata, const struct carry *carry);
/* Whether the pixels have to be turned, since the tag that says how will not be there or is not wanted. */
bool carry_must_turn(const struct metadata *metadata, unsigned carries, int strip, bool auto_orient);
#endif
