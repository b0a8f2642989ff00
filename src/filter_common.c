#include "filter.h"

#include <math.h>

const char *const filter_border_names[] = {"clamp", "reflect", "mirror", "wrap", "constant", NULL};

double filter_border_value(double units, imgpipe_type type) {
    if (type == IMGPIPE_F32) return units;
    double r = floor(units + 0.5), max = imgpipe_type_max(type);
    return r > 0 ? r < max ? r : max : 0;
}

void filter_set_border(imgpipe_stage *stage, int border, imgpipe_sample value) {
    imgpipe_type type = stage->in.format.type;
    stage->border = (imgpipe_border)border;
    stage->border_value = filter_border_value(imgpipe_sample_units(value, type), type);
}
