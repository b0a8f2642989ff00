/* Which part of the inputs this process does. */
#ifndef SHARD_H
#define SHARD_H
#include "options.h"

struct shard {
    int64_t index, count; /* part index (from 0) of count; count 1: all */
    int64_t local;        /* the rank among the processes of this machine, or -1: chooses the GPU */
};

#define SHARD_MESSAGE 600

/* Reads --shard (NULL: all) and, for auto, the environment. False, with `message`, if it is wrong or cannot be known. */
bool shard_find(const char *text, struct shard *shard, char message[SHARD_MESSAGE]);
/* Whether the input with this path below its root belongs to the part. */
bool shard_has(const struct shard *shard, const char *rel);
#endif
