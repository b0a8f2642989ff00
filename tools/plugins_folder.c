#include "plugins.h"

/* Set by Meson; a test builds the command once more with another one. */
const char *const plugins_folder = IMGPIPE_PLUGINS_FOLDER;
