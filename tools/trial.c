#include "trial.h"

#include <string.h>
#include <sys/stat.h>

static const imgpipe_info trials[] = {
    {640, 480, {IMGPIPE_U8, 3, false}},  {1, 1, {IMGPIPE_U8, 1, false}},      {4000, 3000, {IMGPIPE_U8, 4, true}},
    {64, 2000, {IMGPIPE_U16, 1, false}}, {2000, 64, {IMGPIPE_U16, 3, false}}, {640, 480, {IMGPIPE_F32, 3, false}},
    {33, 17, {IMGPIPE_F32, 4, false}},
};

/* A file that a value names may be a pipe, which can be read once: by the run. */
static bool reads_pipe(const imgpipe_chain *chain) {
    imgpipe_chain_value value;
    struct stat st;
    for (int i = 0; imgpipe_chain_value_at(chain, i, &value); i++)
        if (value.text[0] == '@' && stat(value.text + 1, &st) == 0 && !S_ISREG(st.st_mode)) return true;
    return false;
}

bool trial_check(const imgpipe_chain *chain, imgpipe_error *error) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *context = NULL;
    imgpipe_error first = {.place = -1}, other = {.place = -1};
    options.device = "cpu";
    options.threads = 1;
    if (!imgpipe_chain_filter_at(chain, 0) || reads_pipe(chain)) return true;
    /* What keeps a context from being made, the run will say. */
    if (imgpipe_context_new(&options, &context, &first) != IMGPIPE_OK) return true;
    bool alike = true;
    for (size_t i = 0; alike && i < sizeof trials / sizeof trials[0]; i++) {
        imgpipe_info out;
        imgpipe_error *to = i ? &other : &first;
        alike = imgpipe_chain_output(context, chain, &trials[i], NULL, &out, to) == IMGPIPE_ERROR_ARGUMENT &&
                (!i || (strcmp(first.message, other.message) == 0 && first.place == other.place));
    }
    imgpipe_context_free(&context);
    if (alike) *error = first;
    return !alike;
}
