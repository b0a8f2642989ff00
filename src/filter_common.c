#include "filter.h"

#include <math.h>

const char *const filter_border_names[] = {"clamp", "reflect", "mirror", "wrap", "constant", NULL};

void filter_set_border(imgpipe_stage *stage, int border, imgpipe_sample value) {
    imgpipe_type type = stage->in.format.type;
    double units = imgpipe_sample_units(value, type);
    if (type != IMGPIPE_F32) {
        double r = floor(units + 0.5), max = imgpipe_type_max(type);
        units = r > 0 ? r < max ? r : max : 0;
    }
    stage->border = (imgpipe_border)border;
    stage->border_value = units;
}
