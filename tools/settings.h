/* What the command line means to the library. */
#ifndef SETTINGS_H
#define SETTINGS_H
#include "console.h"
#include "options.h"

/* The callbacks are the caller's. `device` (a buffer) holds the name if the rank on this machine chooses the GPU; `local` is that rank,
 * or -1. */
imgpipe_context_options settings_context(const struct options *options, int64_t local, char device[24]);
/* Processes of one machine take its `gpus` GPUs in turn: the device's name for rank `local`, or "" where the options name one already or
 * there is nothing to choose. */
void settings_choose_gpu(const struct options *options, int64_t local, int gpus, char device[24]);
/* Whether a device's name, which may be NULL, is that of a GPU, or of all. */
bool settings_is_gpu(const char *device);
/* How many images are at work at once: with a GPU more than threads, since one that waits for it needs no CPU; but for small files (of
 * `bytes` on average) creating outputs in one folder is what they wait for, and more of them wait longer. */
int settings_lanes(const struct options *options, uint64_t bytes);
imgpipe_run_options settings_run(const struct options *options);
/* All that outputs depend on beside their inputs, as one text; to be freed. NULL without memory. */
char *settings_text(const struct options *options, const imgpipe_chain *chain);
/* What there is in the files that the chain names, as one text; to be freed. NULL if it names none, and without memory. */
char *settings_files(const imgpipe_chain *chain);
#endif
