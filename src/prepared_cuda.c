/* Prepared plans on CUDA devices: the stages one after another on the caller's stream, each on the whole image. Images between them
 * alternate between two slots of the plan's scratch. Nothing here waits, but for preparing and freeing. */
#include "prepared_cuda.h"
#include "hist_data.h"
#include "layout.h"
#include "range.h"
#include "status.h"
#include "upload.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN256(n) (((size_t)(n) + 255) / 256 * 256)

static size_t image_stride(const imgpipe_info *info) {
    return ALIGN256((size_t)info->width * imgpipe_pixel_size(info->format));
}
static size_t image_size(const imgpipe_info *info) {
    return image_stride(info) * (size_t)info->height;
}

/* ---- binding */

static imgpipe_status refuse(const imgpipe_stage *stage, const char *why, imgpipe_error *error) {
    return error_set(error, IMGPIPE_ERROR_ARGUMENT, "%s cannot be enqueued on a GPU: %s", stage->filter->name, why);
}

/* `walk` says which walk of the stage passes here. */
static imgpipe_status add_gather(struct device_chain *chain, const struct bound *bound, const imgpipe_stage *stage, int edge,
                                 imgpipe_error *error) {
    const struct hist_data *data = stage->data;
    if (stage->filter == &filter_range) return IMGPIPE_OK; /* it is for messages, which would need the host */
    if (stage->filter != &filter_hist) return refuse(stage, "its result would have to come to the host", error);
    if (stage->renders) return refuse(stage, "the host draws its picture; use hist=pass, and count by imgpipe_plan_count()", error);
    if (stage->walks > 1) return refuse(stage, "the range of f32 would have to come to the host first; give min and max", error);
    bool by_value = data->bins == data->job.bins && data->min == 0 && data->max == imgpipe_type_max(stage->in.format.type);
    if (stage->in.format.type != IMGPIPE_F32 && !by_value)
        return refuse(stage, "integers are counted by value there; leave out bins, min and max", error);
    struct device_step *step = &chain->steps[chain->step_count++];
    *step = (struct device_step){.kind = STEP_COUNT, .stage = stage, .edge = edge, .target = (int)(stage - bound->plan->stages)};
    if (stage->gather_size > chain->state_size) chain->state_size = stage->gather_size;
    return IMGPIPE_OK;
}

static imgpipe_status add_node(struct device_chain *chain, const struct node *node, int edge, imgpipe_error *error) {
    const imgpipe_stage *stage = node->kind == NODE_LOCAL ? node->stage : NULL;
    if (stage && !stage->cuda) return refuse(stage, "it has no CUDA kernel", error);
    struct device_step *step = &chain->steps[chain->step_count++];
    *step = (struct device_step){.kind = stage ? STEP_LOCAL : STEP_POINT, .stage = stage, .program = &node->program, .edge = edge};
    step->table = stage ? stage->constants : node->program.tables;
    step->table_size = stage ? stage->constants_size : node->program.tables_size;
    step->table_at = chain->tables_size;
    chain->tables_size += ALIGN256(step->table_size);
    if (stage && stage->device_scratch * (size_t)chain->edges[edge].height > chain->scratch_size)
        chain->scratch_size = ALIGN256(stage->device_scratch * (size_t)chain->edges[edge].height);
    return IMGPIPE_OK;
}

/* Passes follow each other without stores, as every stage has the whole of its input before it anyway; copies are left out. */
static imgpipe_status add_pass(struct device_chain *chain, const struct bound *bound, const struct pass *pass,
                               imgpipe_error *error) {
    imgpipe_status failed = IMGPIPE_OK;
    for (int e = 0; !failed && e <= pass->node_count; e++) {
        const struct edge *edge = &pass->edges[e];
        for (int g = 0; !failed && g < edge->gather_count; g++)
            failed = add_gather(chain, bound, edge->gathers[g].stage, chain->edge_count - 1, error);
        if (failed || e == pass->node_count || pass->nodes[e].kind == NODE_COPY) continue;
        chain->edges[chain->edge_count] = pass->edges[e + 1].info;
        failed = add_node(chain, &pass->nodes[e], chain->edge_count - 1, error);
        chain->edge_count++;
    }
    if (!failed && pass->render) failed = refuse(pass->render, "it needs the whole image on the host", error);
    return failed;
}

imgpipe_status device_chain_make(struct bound *bound, imgpipe_error *error) {
    const struct plan *plan = bound->plan;
    size_t most = 1;
    for (int i = 0; i < plan->pass_count; i++)
        for (int e = 0; e <= plan->passes[i].node_count; e++) most += (size_t)plan->passes[i].edges[e].gather_count + 1;
    struct device_chain *chain = arena_alloc(&bound->arena, sizeof *chain);
    if (chain) chain->steps = arena_alloc(&bound->arena, most * sizeof *chain->steps);
    if (chain) chain->edges = arena_alloc(&bound->arena, most * sizeof *chain->edges);
    if (!chain || !chain->steps || !chain->edges)
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the steps of a prepared plan");
    chain->edges[chain->edge_count++] = plan->in;
    imgpipe_status failed = IMGPIPE_OK;
    for (int i = 0; !failed && i < plan->pass_count; i++) failed = add_pass(chain, bound, &plan->passes[i], error);
    for (int e = 0; e < chain->edge_count; e++)
        if (image_size(&chain->edges[e]) > chain->slot_size) chain->slot_size = image_size(&chain->edges[e]);
    for (int i = 0; i < chain->step_count; i++) chain->node_count += chain->steps[i].kind != STEP_COUNT;
    bound->device = chain;
    return failed;
}

size_t device_chain_scratch(const struct device_chain *chain) {
    return 2 * chain->slot_size + chain->scratch_size;
}

/* ---- enqueueing */

struct view {
    unsigned char *pixels;
    int64_t stride;
};

static bool fits_kernels(const imgpipe_device_image *image) {
    return ((uintptr_t)image->pixels | (uintptr_t)image->stride) % 256 == 0;
}

/* The slots alternate such that the last image lies in slot 0: after k of n steps it is in slot (n - k) % 2. */
static struct view slot(const struct device_memory *memory, const struct device_chain *chain, int edge) {
    int at = (chain->edge_count - 1 - edge) % 2;
    return (struct view){memory->scratch + (size_t)at * chain->slot_size, (int64_t)image_stride(&chain->edges[edge])};
}

static bool plain(const imgpipe_device_image *image) {
    return image->stride > 0 && layout_plain(image->info.format, image->layout);
}

static cudaError_t copy(struct view to, struct view from, const imgpipe_info *info, cudaStream_t stream) {
    return cudaMemcpy2DAsync(to.pixels, (size_t)to.stride, from.pixels, (size_t)from.stride,
                             (size_t)info->width * imgpipe_pixel_size(info->format), (size_t)info->height, cudaMemcpyDeviceToDevice,
                             stream);
}

static cudaError_t copy_in(struct view to, const imgpipe_device_image *from, cudaStream_t stream) {
    if (plain(from)) return copy(to, (struct view){from->pixels, from->stride}, &from->info, stream);
    return (cudaError_t)layout_cuda_read(from, to.pixels, to.stride, stream);
}

static cudaError_t copy_out(const imgpipe_device_image *to, struct view from, cudaStream_t stream) {
    if (plain(to)) return copy((struct view){to->pixels, to->stride}, from, &to->info, stream);
    return (cudaError_t)layout_cuda_write(from.pixels, from.stride, to, stream);
}

static imgpipe_tile tile_of(struct view in, const imgpipe_info *in_info, struct view out, const imgpipe_info *out_info) {
    return (imgpipe_tile){.in = in.pixels,
                          .in_stride = in.stride,
                          .in_ring = in_info->height,
                          .in_rect = {0, 0, in_info->width, in_info->height},
                          .out = out.pixels,
                          .out_stride = out.stride,
                          .out_rect = {0, 0, out_info->width, out_info->height}};
}

static imgpipe_status count(const struct device_step *step, struct view in, const imgpipe_info *info,
                            const struct count_target *target, cudaStream_t stream, imgpipe_error *error) {
    imgpipe_tile tile = tile_of(in, info, in, info);
    const struct hist_data *data = step->stage->data;
    if (!target->counts) return IMGPIPE_OK;
    if (!target->add) CUDA_TRY(cudaMemsetAsync(target->counts, 0, hist_describe(data).size, stream));
    tile.state = target->counts; /* what a walk over the range would write behind it is not written */
    return cuda_check((cudaError_t)step->stage->cuda(step->stage, &tile, 1, stream), step->stage->filter->name, error);
}

static imgpipe_status compute(const struct device_memory *memory, const struct device_step *step, imgpipe_tile *tile,
                              cudaStream_t stream, imgpipe_error *error) {
    tile->constants = memory->tables + step->table_at;
    tile->scratch = memory->node_scratch;
    if (step->kind == STEP_POINT)
        return cuda_check((cudaError_t)point_cuda(step->program, tile->constants, tile, 1, stream), "point kernel", error);
    return cuda_check((cudaError_t)step->stage->cuda(step->stage, tile, 1, stream), step->stage->filter->name, error);
}

imgpipe_status device_chain_tables(const struct device_chain *chain, const struct device_memory *memory, cudaStream_t stream,
                                   imgpipe_error *error) {
    for (int i = 0; i < chain->step_count; i++) {
        const struct device_step *step = &chain->steps[i];
        if (step->table_size)
            CUDA_TRY((cudaError_t)upload_cuda(memory->tables + step->table_at, step->table, step->table_size, stream));
    }
    return IMGPIPE_OK;
}

imgpipe_status device_chain_run(const struct device_chain *chain, const struct device_memory *memory,
                                const imgpipe_device_image *in, const imgpipe_device_image *out, const struct count_target *targets,
                                const struct count_target *all, cudaStream_t stream, imgpipe_error *error) {
    struct view at = slot(memory, chain, 0), last = slot(memory, chain, chain->edge_count - 1);
    /* Without a step there is one copy, which takes any rows that need no conversion. */
    bool direct_in = in && plain(in) && (chain->step_count == 0 || fits_kernels(in));
    bool direct_out = out && chain->node_count && plain(out) && fits_kernels(out);
    if (direct_in)
        at = (struct view){in->pixels, in->stride};
    else if (in)
        CUDA_TRY(copy_in(at, in, stream));
    if (direct_out) last = (struct view){out->pixels, out->stride};
    for (int i = 0; i < chain->step_count; i++) {
        const struct device_step *step = &chain->steps[i];
        const imgpipe_info *info = &chain->edges[step->edge];
        imgpipe_status failed;
        if (step->kind == STEP_COUNT) {
            failed = count(step, at, info, all ? all : &targets[step->target], stream, error);
        } else {
            struct view to = step->edge + 2 == chain->edge_count ? last : slot(memory, chain, step->edge + 1);
            imgpipe_tile tile = tile_of(at, info, to, info + 1);
            failed = compute(memory, step, &tile, stream, error);
            at = to;
        }
        if (failed) return failed;
    }
    if (out && !direct_out) CUDA_TRY(copy_out(out, at, stream));
    return IMGPIPE_OK;
}

imgpipe_status device_chain_layouts(const struct device_chain *chain, const struct device_memory *memory, cudaStream_t stream,
                                    imgpipe_error *error) {
    const imgpipe_info *ends[2] = {&chain->edges[0], &chain->edges[chain->edge_count - 1]};
    struct view from = {memory->scratch, (int64_t)image_stride(ends[0])}, to = slot(memory, chain, chain->edge_count - 1);
    imgpipe_image in = {.info = *ends[0], .pixels = from.pixels, .stride = from.stride},
                  out = {.info = *ends[1], .stride = to.stride};
    out.pixels = to.pixels;
    CUDA_TRY((cudaError_t)layout_cuda_read(&in, from.pixels, from.stride, stream));
    CUDA_TRY((cudaError_t)layout_cuda_write(to.pixels, to.stride, &out, stream));
    return IMGPIPE_OK;
}
