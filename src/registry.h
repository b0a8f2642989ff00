/* Which filters there are: those of the build, and those that were added or loaded. */
#ifndef REGISTRY_H
#define REGISTRY_H
#include "imgpipe.h"

#include <stdatomic.h>

/* A plug-in that was loaded. */
struct plugin {
    void *handle;
    const imgpipe_plugin_info *info;
    char *file;
};

/* A filter that is not of the build. */
struct registered {
    const imgpipe_filter *filter;
    int plugin; /* index; -1: the program's own */
};

struct imgpipe_registry {
    atomic_int users; /* who made it, chains, and prepared plans; the last one frees it */
    struct registered *filters;
    int count, capacity;
    struct plugin *plugins;
    int plugin_count;
};

/* One user more. NULL is allowed, and returned. */
imgpipe_registry *registry_keep(imgpipe_registry *registry);

/* Adds a filter of plugins[plugin] (-1: of the program) if it is one that the engine can run. `source` (may be NULL) is the file
 * that messages begin with. */
imgpipe_status registry_insert(imgpipe_registry *registry, const imgpipe_filter *filter, int plugin, const char *source,
                               imgpipe_error *error);

/* Whether a descriptor keeps to what imgpipe.h says of it: versions, names, functions for its kind, and a table of parameters whose
 * members lie in the options struct and whose defaults are valid. The message says which filter, what is wrong and what to do, and
 * begins with `source` if that is not NULL. */
imgpipe_status filter_check(const imgpipe_filter *filter, const char *source, imgpipe_error *error);
/* Whether the text is one line that is not empty. */
bool filter_is_line(const char *text);
#endif
