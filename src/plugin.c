/* Plug-ins: shared objects with filters. Nothing is searched for, so that a name never means a file that somebody left in the
 * current folder or in one of the loader's. */
#include "plugin_elf.h"
#include "registry.h"
#include "status.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SYMBOL "imgpipe_plugin"

static imgpipe_status refuse_memory(imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a plug-in; free some");
}

/* The loader's words, with advice for the usual ones. */
static imgpipe_status refuse_loading(const char *file, imgpipe_error *error) {
    const char *said = dlerror(), *advice = "look at it with ldd";
    size_t length = strlen(file);
    if (!said) said = "the loader gives no reason";
    if (strncmp(said, file, length) == 0 && strncmp(said + length, ": ", 2) == 0) said += length + 2;
    if (strstr(said, "ELF") || strstr(said, "too short"))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "%s: it is no shared object of this machine (%s); build it with cc -shared -fPIC", file, said);
    if (strstr(said, "undefined symbol")) advice = "link it with the library that has this symbol";
    return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: it cannot be loaded (%s); %s", file, said, advice);
}

/* What must be right before any of its filters is looked at. */
static imgpipe_status check_info(const char *file, const imgpipe_plugin_info *info, imgpipe_error *error) {
    if (info->abi != IMGPIPE_ABI)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "%s: it was built for version %lu of the interface for filters, and imgpipe " IMGPIPE_VERSION
                         " has version %d; build it again with this imgpipe.h",
                         file, (unsigned long)info->abi, IMGPIPE_ABI);
    if (info->struct_size != sizeof *info)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "%s: its " SYMBOL " says that it has %zu bytes, and it must have %zu; set struct_size to "
                         "sizeof(imgpipe_plugin_info)",
                         file, info->struct_size, sizeof *info);
    if (!filter_is_line(info->name) || !filter_is_line(info->version))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: its " SYMBOL " lacks a name or a version, of one line each; add them",
                         file);
    if (!info->filters || !info->filters[0])
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "%s: its " SYMBOL " has no filters; list at least one, and NULL behind the last", file);
    return IMGPIPE_OK;
}

/* Adds what `handle` has, which is the registry's afterwards. */
static imgpipe_status take(imgpipe_registry *registry, const char *file, void *handle, const imgpipe_plugin_info *info,
                           imgpipe_error *error) {
    int before = registry->count;
    struct plugin *plugins = realloc(registry->plugins, (size_t)(registry->plugin_count + 1) * sizeof *plugins);
    if (!plugins) return refuse_memory(error);
    registry->plugins = plugins;
    struct plugin *plugin = &plugins[registry->plugin_count];
    *plugin = (struct plugin){handle, info, strdup(file)};
    if (!plugin->file) return refuse_memory(error);
    imgpipe_status failed = IMGPIPE_OK;
    registry->plugin_count++;
    for (int i = 0; !failed && info->filters[i]; i++)
        failed = registry_insert(registry, info->filters[i], registry->plugin_count - 1, file, error);
    if (!failed) return IMGPIPE_OK;
    registry->count = before;
    registry->plugin_count--;
    free(plugin->file);
    return failed;
}

imgpipe_status imgpipe_registry_load(imgpipe_registry *registry, const char *file, imgpipe_error *error) {
    struct stat st;
    if (!registry || !file)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_registry_load: a registry and a file are needed");
    if (!*file) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "the path of a plug-in is empty; write one, such as ./emboss.so");
    int fault = stat(file, &st) == 0 ? 0 : errno;
    if (!fault && S_ISDIR(st.st_mode))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: it is a folder, and no plug-in; name a file in it", file);
    if (!strchr(file, '/'))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "%s: a plug-in is named by its path, as none is searched for; write ./%s for one in the current folder",
                         file, file);
    if (fault || !S_ISREG(st.st_mode))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: there is no plug-in: %s; check the name", file,
                         fault ? strerror(fault) : "it is no file");
    imgpipe_status failed = plugin_check_length(file, error);
    if (failed) return failed;
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return refuse_loading(file, error);
    const imgpipe_plugin_info *info = dlsym(handle, SYMBOL);
    bool known = false;
    for (int i = 0; info && i < registry->plugin_count; i++) known = known || registry->plugins[i].info == info;
    if (!info)
        failed = error_set(error, IMGPIPE_ERROR_ARGUMENT,
                           "%s: it is no plug-in of imgpipe, as it has no symbol " SYMBOL "; define that as imgpipe.h says", file);
    if (!failed && !known) failed = check_info(file, info, error);
    if (!failed && !known) failed = take(registry, file, handle, info, error);
    if (failed || known) dlclose(handle);
    return failed;
}

/* ---------------------------------------------------------------------------------------------------- folders */

static int is_plugin_name(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static imgpipe_status load_entry(imgpipe_registry *registry, const char *folder, const char *name, imgpipe_error *error) {
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *file = malloc(size);
    if (!file) return refuse_memory(error);
    snprintf(file, size, "%s%s%s", folder, folder[length - 1] == '/' ? "" : "/", name);
    imgpipe_status failed = imgpipe_registry_load(registry, file, error);
    free(file);
    return failed;
}

imgpipe_status imgpipe_registry_load_folder(imgpipe_registry *registry, const char *folder,
                                            void (*refused)(void *user, const imgpipe_error *error), void *user,
                                            imgpipe_error *error) {
    struct dirent **names = NULL;
    imgpipe_error own;
    if (!registry || !folder || !*folder)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_registry_load_folder: a registry and a folder are needed");
    int count = scandir(folder, &names, is_plugin_name, by_bytes);
    if (count < 0 && errno == ENOMEM) return refuse_memory(error);
    if (count < 0)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: it cannot be read as a folder of plug-ins: %s; check the name", folder,
                         strerror(errno));
    imgpipe_status failed = IMGPIPE_OK;
    for (int i = 0; i < count; i++) {
        if (!failed) failed = load_entry(registry, folder, names[i]->d_name, &own);
        if (failed == IMGPIPE_ERROR_ARGUMENT && refused) {
            refused(user, &own);
            failed = IMGPIPE_OK;
        }
        free(names[i]);
    }
    free(names);
    if (failed && error) *error = own;
    return failed;
}
