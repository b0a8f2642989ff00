#include "prepared.h"
#include "job.h"
#include "layout.h"
#include "param.h"
#include "prepared_device.h"
#include "registry.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parameter that gets another value as a plan is bound. */
struct change {
    int stage;
    const imgpipe_param *param;
    const char *text;
};

imgpipe_prepare_options imgpipe_prepare_options_default(void) {
    return (imgpipe_prepare_options){.struct_size = sizeof(imgpipe_prepare_options), .reserve = (size_t)1 << 20};
}

/* ---- binding */

static const char *keep_text(struct arena *arena, const char *text) {
    char *kept = arena_alloc(arena, strlen(text) + 1);
    return kept ? strcpy(kept, text) : NULL;
}

/* Gives the binding stages of its own with the options of `from`, texts included. Where values stand in the caller's text is of use
 * only while the plan is prepared, as the chain may be freed then. */
static imgpipe_status copy_chain(struct bound *bound, const struct imgpipe_chain *from, bool places, imgpipe_error *error) {
    struct arena *arena = &bound->arena;
    bound->chain = (struct imgpipe_chain){.count = from->count};
    bound->chain.stages = arena_alloc(arena, (size_t)from->count * sizeof *from->stages);
    bool good = bound->chain.stages != NULL;
    for (int i = 0; good && i < from->count; i++) {
        struct chain_stage *stage = &bound->chain.stages[i];
        *stage = from->stages[i];
        if (!places) stage->values = NULL, stage->value_count = 0;
        stage->options = arena_alloc(arena, stage->filter->options_size);
        good = stage->options != NULL;
        if (good && stage->filter->options_size) memcpy(stage->options, from->stages[i].options, stage->filter->options_size);
        for (int k = 0; good && k < stage->filter->param_count; k++) {
            const imgpipe_param *param = &stage->filter->params[k];
            const char **text = (const char **)(void *)((char *)stage->options + param->offset);
            if (param->type == IMGPIPE_PARAM_TEXT && *text) good = (*text = keep_text(arena, *text)) != NULL;
        }
    }
    return good ? IMGPIPE_OK : error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the stages of a prepared plan");
}

static imgpipe_status apply_change(struct bound *bound, const struct change *change, imgpipe_error *error) {
    if (!change) return IMGPIPE_OK;
    struct chain_stage *stage = &bound->chain.stages[change->stage];
    const char *text = keep_text(&bound->arena, change->text);
    if (!text) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the value of %s", change->param->name);
    return param_parse(stage->filter, change->param, text, stage->options, error);
}

/* What a plan cannot do frame by frame. */
static imgpipe_status check_stages(const struct plan *plan, imgpipe_error *error) {
    for (int i = 0; i < plan->stage_count; i++)
        if (plan->stages[i].side_data)
            return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                             "%s: a prepared plan writes no files; leave out data=%s, and take the numbers by "
                             "imgpipe_plan_count()",
                             plan->stages[i].filter->name, plan->stages[i].side_data);
    return IMGPIPE_OK;
}

/* Stages may hold what no arena knows of. */
static void unbind(struct bound *bound) {
    plan_free(bound->plan);
    bound->plan = NULL;
}

/* Binds `from`, with `change` (may be NULL), in bounds[at]. What does not fit leaves bounds[at].plan NULL. */
static imgpipe_status bind(struct imgpipe_plan *plan, int at, const struct imgpipe_chain *from, const imgpipe_info *in,
                           const struct change *change, const struct log *log, size_t *need, imgpipe_error *error) {
    struct bound *bound = &plan->bounds[at];
    const imgpipe_context *context = plan->context;
    unbind(bound);
    arena_reset(&bound->arena);
    struct plan_options options = {.log = log,
                                   .arena = &bound->arena,
                                   .isa = context->isa,
                                   .threads = tasks_threads(context->tasks),
                                   .depth = plan->depth,
                                   .no_output = plan->no_output,
                                   .memory = context->memory};
    imgpipe_status failed = copy_chain(bound, from, !plan->now, error);
    if (!failed) failed = apply_change(bound, change, error);
    if (!failed) failed = plan_make(&bound->chain, in, &options, &bound->plan, error);
    if (!failed) failed = check_stages(bound->plan, error);
    if (!failed && plan->device)
        failed = device_plan_bind(plan->device, bound, need, error);
    else if (!failed)
        failed = cpu_plan_make(plan, bound, need, error);
    if (failed) unbind(bound);
    return failed;
}

/* `need` is 0 where it is not known. */
static imgpipe_status too_much(size_t need, size_t have, imgpipe_error *error) {
    char more[32], less[32];
    return error_set(error, IMGPIPE_ERROR_MEMORY,
                     "these parameters and this size need %s, and the plan was prepared with %s; prepare it again "
                     "with them, or with a larger `reserve`",
                     need ? text_bytes(need, more) : "more", text_bytes(have, less));
}

/* Binds in the half that is not in use, and uses it only if all went well. On a device the kernels of a new or changed chain are
 * loaded first. */
static imgpipe_status rebind(struct imgpipe_plan *plan, const imgpipe_info *in, const struct change *change, bool load,
                             const struct log *log, imgpipe_error *error) {
    int other = plan->now == &plan->bounds[0] ? 1 : 0;
    struct bound *bound = &plan->bounds[other];
    size_t need = 0;
    imgpipe_info small;
    imgpipe_status failed = IMGPIPE_OK;
    if (load && plan->device) {
        device_plan_warm_size(plan, &small);
        failed = bind(plan, other, &plan->now->chain, &small, change, NULL, &need, error);
        if (!failed) failed = device_plan_warm(plan->device, bound, !change, error);
    }
    if (!failed) failed = bind(plan, other, &plan->now->chain, in, change, log, &need, error);
    if (failed && bound->arena.full) failed = too_much(0, bound->arena.size, error);
    if (!failed && need > plan->memory_size) failed = too_much(need, plan->memory_size, error);
    if (error && failed && change) error->place = -1, error->length = 0; /* there is no text to point into */
    if (failed) return failed;
    if (plan->device)
        device_plan_use(plan->device, bound);
    else
        cpu_plan_place(bound, plan->memory);
    plan->now = bound;
    return IMGPIPE_OK;
}

/* ---- making and freeing */

static imgpipe_status arena_make(const struct imgpipe_plan *plan, struct arena *arena, size_t size, imgpipe_error *error) {
    char text[32];
    pool_give(plan->context->cpu->pool, arena->base);
    *arena = (struct arena){.base = pool_take(plan->context->cpu->pool, size), .size = size};
    return arena->base ? IMGPIPE_OK
                       : error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a prepared plan: %s", text_bytes(size, text));
}

#define ARENA_FIRST ((size_t)256 << 10)
#define ARENA_MOST ((size_t)4 << 30)

/* Binds the largest size in an arena that grows until it holds it, and says how much memory for rows that takes. */
static imgpipe_status measure(struct imgpipe_plan *plan, const imgpipe_chain *chain, const imgpipe_prepare_options *options,
                              imgpipe_error *error) {
    size_t need = 0;
    for (size_t size = ARENA_FIRST;; size *= 4) {
        imgpipe_status failed = arena_make(plan, &plan->bounds[0].arena, size, error);
        if (!failed) failed = bind(plan, 0, chain, &plan->largest, NULL, NULL, &need, error);
        if (failed && (!plan->bounds[0].arena.full || size >= ARENA_MOST)) return failed;
        if (!failed) break;
    }
    plan->now = &plan->bounds[0];
    plan->memory_size = (need + options->reserve + 255) / 256 * 256;
    return IMGPIPE_OK;
}

/* Gives both arenas room for other parameters, and takes the memory for rows. */
static imgpipe_status take_memory(struct imgpipe_plan *plan, const imgpipe_prepare_options *options, imgpipe_error *error) {
    size_t room = 2 * plan->bounds[0].arena.used + options->reserve;
    imgpipe_status failed = arena_make(plan, &plan->bounds[1].arena, room, error);
    if (!failed && plan->device) failed = device_plan_memory(plan->device, &plan->memory_size, error);
    if (!failed && !plan->device) {
        plan->memory = pool_take(plan->context->cpu->pool, plan->memory_size);
        if (!plan->memory) failed = too_much(plan->memory_size, 0, error);
    }
    /* Into the second half, as the first is made anew. Notices are given here, once. */
    if (!failed) failed = rebind(plan, &plan->largest, NULL, true, &plan->context->log, error);
    if (failed) return failed;
    unbind(&plan->bounds[0]);
    return arena_make(plan, &plan->bounds[0].arena, room, error);
}

/* So that no number of bytes overflows: each pixel has at most 16, and some stages keep as many again. */
#define PIXELS_MOST 0x1p56

static imgpipe_status check_prepare(const imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *largest,
                                    const imgpipe_prepare_options *options, imgpipe_error *error) {
    if (!context || !chain || !largest)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_prepare: a context, a chain and a size are needed");
    if (options->struct_size != sizeof *options)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "imgpipe_prepare_options: struct_size is not that of this library; use "
                         "imgpipe_prepare_options_default()");
    const imgpipe_format *format = &largest->format;
    bool sized = largest->width >= 1 && largest->height >= 1 && largest->width <= INT32_MAX && largest->height <= INT32_MAX;
    bool formed = format->type >= IMGPIPE_U8 && format->type <= IMGPIPE_F32 && format->channels >= 1 && format->channels <= 4 &&
                  (!format->alpha || format->channels > 1);
    if (!sized || !formed)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "imgpipe_prepare: %lld x %lld with %d channels is no image; sizes go from 1 to 2147483647, "
                         "channels from 1 to 4",
                         (long long)largest->width, (long long)largest->height, format->channels);
    if ((double)largest->width * (double)largest->height > PIXELS_MOST)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_prepare: %lld x %lld pixels are more than memory can be",
                         (long long)largest->width, (long long)largest->height);
    int depth = options->depth;
    if (depth != 0 && depth != 8 && depth != 16 && depth != 32)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "depth %d: the choices are 8, 16 and 32 (f32)", depth);
    return IMGPIPE_OK;
}

/* A plan of which all is known, and that has no memory yet. */
static imgpipe_status begin(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *largest,
                            const imgpipe_prepare_options *options, imgpipe_plan **result, imgpipe_error *error) {
    imgpipe_status failed = check_prepare(context, chain, largest, options, error);
    if (failed) return failed;
    imgpipe_plan *plan = calloc(1, sizeof *plan);
    if (plan) plan->targets = calloc((size_t)chain->count + 1, sizeof *plan->targets);
    if (!plan || !plan->targets) {
        free(plan);
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a prepared plan");
    }
    plan->context = context;
    plan->registry = registry_keep(chain->registry);
    plan->largest = *largest;
    plan->depth = options->depth;
    plan->no_output = options->no_output;
    if (context->wish == DEVICE_CUDA) failed = device_plan_new(plan, options, &plan->device, error);
    if (!failed) failed = measure(plan, chain, options, error);
    if (failed)
        imgpipe_plan_free(&plan);
    else
        *result = plan;
    return failed;
}

imgpipe_status imgpipe_prepare(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *largest,
                               const imgpipe_prepare_options *options, imgpipe_plan **result, imgpipe_error *error) {
    imgpipe_prepare_options defaults = imgpipe_prepare_options_default();
    if (!options) options = &defaults;
    if (!result) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_prepare: no place for the plan was given");
    *result = NULL;
    imgpipe_status failed = begin(context, chain, largest, options, result, error);
    if (!failed) failed = take_memory(*result, options, error);
    if (failed) imgpipe_plan_free(result);
    return failed;
}

imgpipe_status imgpipe_prepare_scratch(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *largest,
                                       const imgpipe_prepare_options *options, size_t *size, imgpipe_error *error) {
    imgpipe_prepare_options defaults = imgpipe_prepare_options_default();
    imgpipe_plan *plan = NULL;
    if (!size) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_prepare_scratch: no place for the size was given");
    if (context && context->wish != DEVICE_CUDA) return device_plan_missing(error);
    imgpipe_status failed = begin(context, chain, largest, options ? options : &defaults, &plan, error);
    if (!failed) *size = plan->memory_size;
    imgpipe_plan_free(&plan);
    return failed;
}

void imgpipe_plan_free(imgpipe_plan **plan) {
    if (!plan || !*plan) return;
    device_plan_free((*plan)->device);
    for (int i = 0; i < 2; i++) {
        unbind(&(*plan)->bounds[i]);
        pool_give((*plan)->context->cpu->pool, (*plan)->bounds[i].arena.base);
    }
    free((*plan)->targets);
    pool_give((*plan)->context->cpu->pool, (*plan)->memory);
    imgpipe_registry_free(&(*plan)->registry);
    free(*plan);
    *plan = NULL;
}

/* ---- parameters */

static imgpipe_status set(imgpipe_plan *plan, int stage, const char *name, const char *text, imgpipe_error *error) {
    if (!plan || !name || !text)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "plan: a plan, a parameter and a value are needed");
    const struct imgpipe_chain *chain = &plan->now->chain;
    if (stage < 0 || stage >= chain->count)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "plan: the chain has no stage %d; they are counted from 0 to %d", stage, chain->count - 1);
    const imgpipe_filter *filter = chain->stages[stage].filter;
    for (int i = 0; i < filter->param_count; i++) {
        struct change change = {stage, &filter->params[i], text};
        if (strcmp(change.param->name, name) != 0) continue;
        imgpipe_status failed = rebind(plan, &plan->largest, &change, true, &plan->context->log, error);
        if (!failed) plan->targets[stage] = (struct count_target){0}; /* the counters may be others now */
        return failed;
    }
    char has[300] = ""; /* parameters change without allocation, so the parser cannot be asked for its words */
    for (int i = 0; i < filter->param_count; i++) text_append(has, sizeof has, "%s%s", i ? ", " : "", filter->params[i].name);
    return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s: '%.40s' is no parameter of it; it has %s", filter->name, name,
                     has[0] ? has : "none");
}

imgpipe_status imgpipe_plan_set_text(imgpipe_plan *plan, int stage, const char *name, const char *text, imgpipe_error *error) {
    return set(plan, stage, name, text, error);
}

imgpipe_status imgpipe_plan_set_int(imgpipe_plan *plan, int stage, const char *name, int64_t value, imgpipe_error *error) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return set(plan, stage, name, text, error);
}

imgpipe_status imgpipe_plan_set_number(imgpipe_plan *plan, int stage, const char *name, double value, imgpipe_error *error) {
    char text[CHAIN_NUMBER];
    return set(plan, stage, name, chain_number_text(value, text), error);
}

/* ---- runs on images in host memory */

imgpipe_status prepared_input(struct imgpipe_plan *plan, const imgpipe_info *in, imgpipe_error *error) {
    const imgpipe_info *largest = &plan->largest;
    if (!layout_same_format(in->format, largest->format))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "the input has another format than the plan was prepared for; prepare one for each format");
    if (in->width < 1 || in->height < 1 || in->width > largest->width || in->height > largest->height)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "the input of %lld x %lld pixels is larger than the %lld x %lld that the plan was prepared "
                         "for, or empty",
                         (long long)in->width, (long long)in->height, (long long)largest->width, (long long)largest->height);
    const imgpipe_info *now = &plan->now->plan->in;
    return now->width == in->width && now->height == in->height ? IMGPIPE_OK : rebind(plan, in, NULL, false, NULL, error);
}

imgpipe_status prepared_output(const struct imgpipe_plan *plan, const imgpipe_info *out, imgpipe_error *error) {
    if (!out != plan->no_output)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         out ? "the plan was prepared for no output, and one was given" : "no output image was given");
    const imgpipe_info *made = &plan->now->plan->out;
    if (out && (out->width != made->width || out->height != made->height || !layout_same_format(out->format, made->format)))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "the output image has not the size and format that the chain makes; ask imgpipe_plan_output()");
    return IMGPIPE_OK;
}

imgpipe_status imgpipe_plan_output(imgpipe_plan *plan, int64_t width, int64_t height, imgpipe_info *out, imgpipe_error *error) {
    if (!plan || !out)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_plan_output: a plan and a place for the answer are needed");
    imgpipe_info in = {width, height, plan->largest.format};
    imgpipe_status failed = prepared_input(plan, &in, error);
    if (!failed) *out = plan->now->plan->out;
    return failed;
}

imgpipe_status imgpipe_plan_run(imgpipe_plan *plan, const imgpipe_image *in, const imgpipe_image *out, imgpipe_error *error) {
    if (!plan || !in) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_plan_run: a plan and an input image are needed");
    if (plan->device)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "the plan was prepared for a GPU and takes images in its memory by imgpipe_plan_enqueue(); "
                         "prepare another on a context for the CPU");
    bool shared; /* rows are read before they are written in any case */
    imgpipe_status failed = prepared_input(plan, &in->info, error);
    if (!failed) failed = prepared_output(plan, out ? &out->info : NULL, error);
    if (!failed) failed = layout_check_image(in, "input", error);
    if (!failed && out) failed = layout_check_image(out, "output", error);
    if (!failed && out) failed = job_check_overlap(plan->now->plan, in, out, &shared, error);
    if (!failed) failed = cpu_plan_run(plan, in, out, error);
    if (!failed) prepared_count(plan);
    return failed;
}

imgpipe_status imgpipe_plan_enqueue(imgpipe_plan *plan, const imgpipe_device_image *in, const imgpipe_device_image *out,
                                    void *stream, imgpipe_error *error) {
    if (!plan || !in) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "imgpipe_plan_enqueue: a plan and an input image are needed");
    if (!plan->device) return device_plan_missing(error);
    imgpipe_status failed = prepared_input(plan, &in->info, error);
    if (!failed) failed = prepared_output(plan, out ? &out->info : NULL, error);
    return failed ? failed : device_plan_enqueue(plan, in, out, stream, error);
}
