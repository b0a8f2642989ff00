/* What a run over many images says at its end. */
#ifndef SUMMARY_H
#define SUMMARY_H
#include "batch.h"
#include "shard.h"

void summary_print(struct batch *batch, const struct shard *shard);
#endif
