#include "look.h"

#include <string.h>
#include <sys/stat.h>

static bool is_unwanted(void *user) {
    (void)user;
    return true;
}

/* A run that nobody wants any more ends with the file open. */
bool look_open(struct look *look, const char *in) {
    struct stat st;
    if (strcmp(in, "-") == 0 || (stat(in, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) return true;
    if (!look->context) {
        imgpipe_context_options options = imgpipe_context_options_default();
        options.device = "cpu";
        options.threads = 1;
        options.cancelled = is_unwanted;
        if (imgpipe_context_new(&options, &look->context, &look->error) != IMGPIPE_OK) return false;
    }
    imgpipe_status status = imgpipe_run_file(look->context, NULL, in, NULL, NULL, NULL, &look->error);
    return status == IMGPIPE_OK || status == IMGPIPE_ERROR_CANCELLED;
}

void look_end(struct look *look) {
    imgpipe_context_free(&look->context);
}
