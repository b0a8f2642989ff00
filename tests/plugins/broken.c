/* Plug-ins that must be refused, one for each macro that may be defined. */
#include <imgpipe.h>

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    imgpipe_point_op op = {.code = IMGPIPE_POINT_AFFINE, .mul = -1, .div = 1};
#ifdef UNDEFINED_SYMBOL
    extern void nobody_has_this(void);
    nobody_has_this();
#endif
    return imgpipe_stage_point(stage, &op, error);
}

#ifdef TAKEN_NAME
#define NAME "blur"
#else
#define NAME "broken"
#endif

static const imgpipe_filter first = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "first",
    .summary = "right in itself",
    .kind = IMGPIPE_POINT,
    .setup = setup,
};

static const imgpipe_filter filter = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = NAME,
    .summary = "what is refused with its plug-in",
#ifdef NO_SETUP
    .setup = NULL,
#else
    .setup = setup,
#endif
};

static const imgpipe_filter *const filters[] = {
#ifdef NO_FILTERS
    NULL,
#endif
    &first, &filter, NULL};

#ifdef NO_SYMBOL
#define imgpipe_plugin imgpipe_something_else
extern const imgpipe_plugin_info imgpipe_plugin;
#endif

const imgpipe_plugin_info imgpipe_plugin = {
#ifdef OTHER_SIZE
    sizeof(imgpipe_plugin_info) - 8,
#else
    sizeof(imgpipe_plugin_info),
#endif
#ifdef OTHER_ABI
    IMGPIPE_ABI + 1,
#else
    IMGPIPE_ABI,
#endif
#ifdef NO_VERSION
    "broken", NULL, filters
#else
    "broken", "1.0", filters
#endif
};
