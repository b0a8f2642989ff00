/* Histograms of prepared plans as numbers. */
#include "hist_data.h"
#include "prepared.h"
#include "status.h"

/* NULL, with `error` filled, where the plan has no such stage. */
static const struct hist_data *find(const imgpipe_plan *plan, int stage, imgpipe_error *error) {
    if (plan && stage >= 0 && stage < plan->now->chain.count && plan->now->plan->stages[stage].filter == &filter_hist)
        return plan->now->plan->stages[stage].data;
    error_set(error, IMGPIPE_ERROR_ARGUMENT, "stage %d of the plan is no hist; stages are counted from 0", stage);
    return NULL;
}

imgpipe_status imgpipe_plan_histogram(const imgpipe_plan *plan, int stage, imgpipe_histogram *histogram, imgpipe_error *error) {
    const struct hist_data *data = find(plan, stage, error);
    if (!data) return IMGPIPE_ERROR_ARGUMENT;
    if (!histogram || histogram->struct_size != sizeof *histogram)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_histogram: struct_size is not that of this library; set "
                                                       "it to sizeof(imgpipe_histogram)");
    *histogram = hist_describe(data);
    return IMGPIPE_OK;
}

imgpipe_status imgpipe_plan_count(imgpipe_plan *plan, int stage, uint64_t *counts, bool add, imgpipe_error *error) {
    const struct hist_data *data = find(plan, stage, error);
    if (!data) return IMGPIPE_ERROR_ARGUMENT;
    if (counts && add && data->image.format.type == IMGPIPE_F32 && !(data->min_given && data->max_given))
        return imgpipe_stage_fail(&plan->now->plan->stages[stage], error, NULL, 0, 0,
                                  "the bins of f32 follow each image; give min and max to add up "
                                  "several");
    plan->targets[stage] = (struct count_target){counts, add};
    return IMGPIPE_OK;
}

void prepared_count(const struct imgpipe_plan *plan) {
    for (int i = 0; i < plan->now->chain.count; i++)
        if (plan->targets[i].counts) hist_export(plan->now->plan->stages[i].data, plan->targets[i].counts, plan->targets[i].add);
}
