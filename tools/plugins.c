#include "plugins.h"
#include "cut.h"
#include "exit_status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void warn(void *user, const imgpipe_error *error) {
    struct plugins *plugins = user;
    plugins->left_out++;
    console_log(plugins->console, IMGPIPE_LOG_WARNING, error->message);
}

/* The filter that an error misses may be in one of those; where warnings are not shown the error has to say so. */
static void add_left_out(const struct plugins *plugins, imgpipe_error *error) {
    size_t used = strlen(error->message);
    if (plugins->left_out && plugins->console->quiet)
        snprintf(error->message + used, sizeof error->message - used,
                 " (%d plug-in%s could not be loaded; without -q a warning says why)", plugins->left_out,
                 plugins->left_out > 1 ? "s" : "");
}

int plugins_begin(struct plugins *plugins, const struct options *options, struct console *console) {
    imgpipe_error error;
    *plugins = (struct plugins){.console = console};
    pthread_mutex_init(&plugins->lock, NULL);
    imgpipe_status failed = imgpipe_registry_new(&plugins->registry, &error);
    for (int i = 0; !failed && i < options->plugins.count; i++) {
        if (!*options->plugins.items[i]) {
            console_error(console, "--plugin: its value is empty; write the path of a plug-in, such as ./emboss.so");
            return EXIT_USAGE;
        }
        failed = imgpipe_registry_load(plugins->registry, options->plugins.items[i], &error);
    }
    if (!failed) return EXIT_DONE;
    console_error(console, "%s", error.message);
    return failed == IMGPIPE_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_SOME_FAILED;
}

/* One entry of IMGPIPE_PLUGINS, or the folder of the installation. A path that is not absolute would mean something else in every
 * folder. */
static void load_place(struct plugins *plugins, const char *place) {
    struct stat st;
    imgpipe_error error;
    imgpipe_status failed;
    if (place[0] != '/') {
        snprintf(error.message, sizeof error.message,
                 "IMGPIPE_PLUGINS: '%s' is left out, as it is no absolute path; write all of it", CUT(place, 200));
        warn(plugins, &error);
        return;
    }
    if (stat(place, &st) == 0 && S_ISDIR(st.st_mode))
        failed = imgpipe_registry_load_folder(plugins->registry, place, warn, plugins, &error);
    else
        failed = imgpipe_registry_load(plugins->registry, place, &error);
    if (failed) warn(plugins, &error);
}

/* The lock is held. */
static bool search(struct plugins *plugins) {
    struct stat st;
    if (plugins->searched) return false;
    plugins->searched = true;
    const char *variable = getenv("IMGPIPE_PLUGINS");
    char *places = strdup(variable ? variable : ""), *rest = places;
    for (char *place; places && (place = strsep(&rest, ":"));)
        if (*place) load_place(plugins, place);
    free(places);
    if (stat(plugins_folder, &st) == 0 || errno != ENOENT) load_place(plugins, plugins_folder);
    return true;
}

bool plugins_search(struct plugins *plugins) {
    pthread_mutex_lock(&plugins->lock);
    bool searched = search(plugins);
    pthread_mutex_unlock(&plugins->lock);
    return searched;
}

imgpipe_status plugins_parse(struct plugins *plugins, const char *text, imgpipe_chain **chain, imgpipe_error *error) {
    pthread_mutex_lock(&plugins->lock);
    imgpipe_status failed = imgpipe_chain_parse_with(plugins->registry, text, chain, error);
    if (failed == IMGPIPE_ERROR_ARGUMENT && search(plugins))
        failed = imgpipe_chain_parse_with(plugins->registry, text, chain, error);
    if (failed == IMGPIPE_ERROR_ARGUMENT) add_left_out(plugins, error);
    pthread_mutex_unlock(&plugins->lock);
    return failed;
}

const imgpipe_filter *plugins_find(struct plugins *plugins, const char *name) {
    pthread_mutex_lock(&plugins->lock);
    const imgpipe_filter *filter = imgpipe_registry_find(plugins->registry, name);
    if (!filter && search(plugins)) filter = imgpipe_registry_find(plugins->registry, name);
    pthread_mutex_unlock(&plugins->lock);
    return filter;
}

void plugins_end(struct plugins *plugins) {
    imgpipe_registry_free(&plugins->registry);
    pthread_mutex_destroy(&plugins->lock);
}
