/* Which files are inputs: operands, patterns, folders, lists of names. */
#ifndef INPUTS_H
#define INPUTS_H
#include "console.h"
#include "jobs.h"
#include "records.h"
#include "roles.h"

/* A name with * ? or [ under which there is no file: a pattern that no shell has expanded. */
bool input_is_pattern(const char *name);

/* Collects the inputs, sorted. Returns 0, or the exit status for what it then said: 1, 2, or 128 + a signal. */
int inputs_collect(const struct options *options, const struct roles *roles, struct console *console, struct jobs *jobs);

/* ---- the walk (walk.c) */

struct walk {
    const struct options *options;
    struct console *console;
    struct jobs *jobs;
    bool skips;         /* there is a folder that is not to be entered, because outputs go there */
    dev_t device;
    ino_t inode;
    /* What earlier runs wrote into the folder that is walked through, whose path with its slash has so many bytes; or NULL. */
    const struct records *outputs;
    size_t outputs_base;
    char *outputs_folder; /* the first in which there was any; to be freed */
    int64_t outputs_folders;
};

/* Whether --include and --exclude let a file or folder through. */
bool walk_wants(const struct options *options, const char *rel, bool folder);
/* The files of a folder, and with -r of those in it. */
void walk_folder(struct walk *walk, const char *folder);
#endif
