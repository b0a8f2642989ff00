/* The filters that the command knows: those of the build, and those of plug-ins. */
#ifndef PLUGINS_H
#define PLUGINS_H
#include "console.h"
#include "options.h"

/* Safe to use from several threads after plugins_begin(). */
struct plugins {
    struct console *console;
    imgpipe_registry *registry;
    bool searched; /* IMGPIPE_PLUGINS and the folder were looked at */
    int left_out;  /* what was found there and gave a warning */
    pthread_mutex_t lock;
};

/* The folder of the installation where plug-ins are found. */
extern const char *const plugins_folder;

/* Loads what --plugin names. Returns what becomes the exit status; not 0: the reason was told. plugins_end() follows in any
 * case. */
int plugins_begin(struct plugins *plugins, const struct options *options, struct console *console);
/* Loads what is in IMGPIPE_PLUGINS and in the folder, once; what cannot be loaded gives a warning. True if that may have brought
 * filters. */
bool plugins_search(struct plugins *plugins);
/* Parses a chain. Only if it names a filter that is not there, or is wrong otherwise, are plug-ins searched for. */
imgpipe_status plugins_parse(struct plugins *plugins, const char *text, imgpipe_chain **chain, imgpipe_error *error);
/* The filter of that name, searched for as above, or NULL. */
const imgpipe_filter *plugins_find(struct plugins *plugins, const char *name);
void plugins_end(struct plugins *plugins);
#endif
