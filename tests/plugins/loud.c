/* A plug-in that says on standard error that it is loaded. */
#include <imgpipe.h>
#include <stdio.h>

__attribute__((constructor)) static void say(void) {
    fputs("loud is loaded\n", stderr);
}

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    imgpipe_point_op op = {.code = IMGPIPE_POINT_AFFINE, .mul = 1, .div = 1, .offset = LOUDNESS};
    return imgpipe_stage_point(stage, &op, error);
}

static const imgpipe_filter loud = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "loud",
    .summary = "add a number",
    .kind = IMGPIPE_POINT,
    .setup = setup,
};

static const imgpipe_filter *const filters[] = {&loud, NULL};
const imgpipe_plugin_info imgpipe_plugin = {sizeof(imgpipe_plugin_info), IMGPIPE_ABI, "loud", VERSION, filters};
