/* The filters that there are. Those of the build are a table; a registry holds what came on top of them. */
#include "registry.h"
#include "filter.h"
#include "status.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

imgpipe_status imgpipe_registry_new(imgpipe_registry **registry, imgpipe_error *error) {
    if (!registry) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_registry_new: no place for the result; pass a pointer");
    *registry = calloc(1, sizeof **registry);
    if (!*registry) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a registry; free some");
    atomic_init(&(*registry)->users, 1);
    return IMGPIPE_OK;
}

imgpipe_registry *registry_keep(imgpipe_registry *registry) {
    if (registry) atomic_fetch_add(&registry->users, 1);
    return registry;
}

void imgpipe_registry_free(imgpipe_registry **registry) {
    if (!registry || !*registry) return;
    imgpipe_registry *r = *registry;
    *registry = NULL;
    if (atomic_fetch_sub(&r->users, 1) > 1) return;
    for (int i = r->plugin_count - 1; i >= 0; i--) {
        dlclose(r->plugins[i].handle);
        free(r->plugins[i].file);
    }
    free(r->plugins);
    free(r->filters);
    free(r);
}

/* ------------------------------------------------------------------------------------------------- looking up */

const imgpipe_filter *imgpipe_registry_at(const imgpipe_registry *registry, int index) {
    int built = 0;
    while (filter_table[built] && built != index) built++;
    if (index < 0 || filter_table[built]) return index < 0 ? NULL : filter_table[built];
    return registry && index - built < registry->count ? registry->filters[index - built].filter : NULL;
}

const imgpipe_filter *imgpipe_registry_find(const imgpipe_registry *registry, const char *name) {
    const imgpipe_filter *filter;
    for (int i = 0; name && (filter = imgpipe_registry_at(registry, i)); i++)
        if (strcmp(filter->name, name) == 0) return filter;
    return NULL;
}

const imgpipe_filter *imgpipe_filter_at(int index) {
    return imgpipe_registry_at(NULL, index);
}

const imgpipe_filter *imgpipe_filter_find(const char *name) {
    return imgpipe_registry_find(NULL, name);
}

bool imgpipe_registry_origin(const imgpipe_registry *registry, const imgpipe_filter *filter, imgpipe_origin *origin) {
    for (int i = 0; registry && i < registry->count; i++) {
        const struct registered *r = &registry->filters[i];
        if (r->filter != filter || r->plugin < 0) continue;
        const struct plugin *plugin = &registry->plugins[r->plugin];
        if (origin) *origin = (imgpipe_origin){plugin->file, plugin->info->name, plugin->info->version};
        return true;
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------------- adding */

imgpipe_status registry_insert(imgpipe_registry *registry, const imgpipe_filter *filter, int plugin, const char *source,
                               imgpipe_error *error) {
    imgpipe_status failed = filter_check(filter, source, error);
    if (failed) return failed;
    const imgpipe_filter *same = imgpipe_registry_find(registry, filter->name);
    if (same) {
        imgpipe_origin origin;
        bool loaded = imgpipe_registry_origin(registry, same, &origin);
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "%s%s%s: a filter of that name is there already, %s%s; give it another name", source ? source : "",
                         source ? ": " : "", filter->name, loaded ? "from " : "one of imgpipe or of the program",
                         loaded ? origin.file : "");
    }
    if (registry->count == registry->capacity) {
        int capacity = registry->capacity ? 2 * registry->capacity : 8;
        struct registered *filters = realloc(registry->filters, (size_t)capacity * sizeof *filters);
        if (!filters) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a filter; free some");
        registry->filters = filters;
        registry->capacity = capacity;
    }
    registry->filters[registry->count++] = (struct registered){filter, plugin};
    return IMGPIPE_OK;
}

imgpipe_status imgpipe_registry_add(imgpipe_registry *registry, const imgpipe_filter *filter, imgpipe_error *error) {
    if (!registry || !filter)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_registry_add: a registry and a filter are needed");
    return registry_insert(registry, filter, -1, NULL, error);
}
