#include "plan.h"
#include "filter.h"
#include "range.h"
#include "status.h"

#include <string.h>

/* The plan under construction: the pass being filled and the point operations not yet compiled into a node. */
struct builder {
    struct plan *plan;
    const struct plan_options *options;
    imgpipe_error *error;
    struct pass *pass;
    imgpipe_point_op *ops;
    int op_count;
    imgpipe_info ops_in;    /* what arrives at the first pending operation */
    imgpipe_info info;      /* what leaves the last stage so far */
};

static imgpipe_status no_memory(imgpipe_error *error) { return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for the plan"); }

static imgpipe_status begin_pass(struct builder *b) {
    struct plan *plan = b->plan;
    size_t count = (size_t)plan->pass_count;
    struct pass *passes = arena_grow(plan->arena, plan->passes, sizeof *passes * count, sizeof *passes * (count + 1));
    if (!passes) return no_memory(b->error);
    plan->passes = passes;
    b->pass = &passes[plan->pass_count];
    *b->pass = (struct pass){.edges = arena_alloc(plan->arena, sizeof(struct edge))};
    if (!b->pass->edges) return no_memory(b->error);
    plan->pass_count++;
    b->pass->edges[0].info = b->info;
    return IMGPIPE_OK;
}

static imgpipe_status add_node(struct builder *b, struct node node, imgpipe_info out) {
    struct pass *pass = b->pass;
    struct arena *arena = b->plan->arena;
    size_t count = (size_t)pass->node_count;
    struct node *nodes = arena_grow(arena, pass->nodes, sizeof *nodes * count, sizeof *nodes * (count + 1));
    if (nodes) pass->nodes = nodes;
    struct edge *edges = nodes ? arena_grow(arena, pass->edges, sizeof *edges * (count + 1), sizeof *edges * (count + 2)) : NULL;
    if (!edges) {
        if (node.kind == NODE_POINT) point_free(&node.program);
        return no_memory(b->error);
    }
    pass->edges = edges;
    pass->nodes[pass->node_count++] = node;
    if (node.kind != NODE_COPY) b->plan->changed = true;
    edges[pass->node_count] = (struct edge){.info = out};
    if (node.kind == NODE_LOCAL) {
        imgpipe_rect all = node_need(&node, &edges[pass->node_count], 0, out.height);
        struct edge *in = &edges[pass->node_count - 1];
        in->pad_left = all.x0 < 0 ? -all.x0 : 0;
        in->pad_right = all.x1 > in->info.width ? all.x1 - in->info.width : 0;
    }
    return IMGPIPE_OK;
}

/* Compiles the pending point operations into as few nodes as they fit in. */
static imgpipe_status flush_ops(struct builder *b) {
    int at = 0;
    imgpipe_info info = b->ops_in;
    while (at < b->op_count) {
        int fits = point_fit(b->ops + at, b->op_count - at, info.format);
        struct node node = {.kind = NODE_POINT};
        imgpipe_status failed = point_compile(b->ops + at, fits, info.format, b->plan->arena, &node.program, b->error);
        if (failed) return failed;
        info.format = node.program.out;
        if (node.program.step_count == 0)
            point_free(&node.program);
        else if ((failed = add_node(b, node, info)))
            return failed;
        at += fits;
    }
    arena_free(b->plan->arena, b->ops);
    b->ops = NULL;
    b->op_count = 0;
    return IMGPIPE_OK;
}

static imgpipe_status add_ops(struct builder *b, const imgpipe_point_op *ops, int count) {
    if (count == 0) return IMGPIPE_OK;
    imgpipe_point_op *grown =
        arena_grow(b->plan->arena, b->ops, sizeof *grown * (size_t)b->op_count, sizeof *grown * (size_t)(b->op_count + count));
    if (!grown) return no_memory(b->error);
    if (b->op_count == 0) b->ops_in = b->info;
    b->ops = grown;
    memcpy(b->ops + b->op_count, ops, sizeof *ops * (size_t)count);
    b->op_count += count;
    for (int i = 0; i < count; i++)
        if (!point_op_format(&ops[i], b->info.format, &b->info.format))
            return error_set(b->error, IMGPIPE_ERROR_INTERNAL, "a point operation does not fit its format");
    return IMGPIPE_OK;
}

static imgpipe_status end_pass(struct builder *b, enum pass_end end) {
    imgpipe_status failed = flush_ops(b);
    if (!failed) b->pass->end = end;
    return failed;
}

/* A new pass over the rows that have been made so far, which are kept in a store. */
static imgpipe_status cut(struct builder *b) {
    imgpipe_status failed = end_pass(b, PASS_STORE);
    return failed ? failed : begin_pass(b);
}

static imgpipe_status add_local(struct builder *b, imgpipe_stage *stage) {
    imgpipe_status failed = flush_ops(b);
    if (failed) return failed;
    struct node node = {.kind = NODE_LOCAL, .stage = stage};
    struct edge out = {.info = stage->out};
    imgpipe_rect all = node_need(&node, &out, 0, stage->out.height);
    /* Rows from the other side are there only when the whole image is. */
    bool wraps = stage->border == IMGPIPE_BORDER_WRAP && (all.y0 < 0 || all.y1 > stage->in.height);
    bool stored = b->pass->node_count == 0 && b->plan->pass_count > 1;
    if (wraps && !stored && (failed = cut(b))) return failed;
    failed = add_node(b, node, stage->out);
    b->info = stage->out;
    return failed;
}

static imgpipe_status attach_gather(struct builder *b, imgpipe_stage *stage, int walk) {
    imgpipe_status failed = flush_ops(b);
    if (failed) return failed;
    struct edge *edge = &b->pass->edges[b->pass->node_count];
    if (edge->gather_count == EDGE_GATHERS) {
        struct point_program copy = {.in = b->info.format, .out = b->info.format};
        if ((failed = add_node(b, (struct node){.kind = NODE_COPY, .program = copy}, b->info))) return failed;
        edge = &b->pass->edges[b->pass->node_count];
    }
    edge->gathers[edge->gather_count].stage = stage;
    edge->gathers[edge->gather_count++].walk = walk;
    return IMGPIPE_OK;
}

static imgpipe_status add_gather(struct builder *b, imgpipe_stage *stage) {
    for (int walk = 0; walk < stage->walks; walk++) {
        imgpipe_status failed = attach_gather(b, stage, walk);
        if (failed) return failed;
        if (walk + 1 == stage->walks) break;
        /* Another walk over the same rows: from the store that this pass reads, or from one that it makes. */
        bool again = b->pass->node_count == 0 && b->plan->pass_count > 1;
        if ((failed = end_pass(b, again ? PASS_DROP : PASS_STORE))) return failed;
        b->pass->keeps_input = again;
        if ((failed = begin_pass(b))) return failed;
    }
    if (!stage->renders) return IMGPIPE_OK;
    imgpipe_status failed = end_pass(b, PASS_DROP);
    if (failed) return failed;
    b->pass->render = stage;
    b->info = stage->out;
    b->plan->chart = b->plan->changed = true;
    return begin_pass(b);
}

static imgpipe_status add_whole(struct builder *b, imgpipe_stage *stage) {
    imgpipe_status failed = end_pass(b, PASS_STORE);
    if (failed) return failed;
    b->pass->render = stage;
    b->pass->render_whole = true;
    b->plan->changed = true;
    b->info = stage->out;
    return begin_pass(b);
}

static imgpipe_status add_stage(struct builder *b, imgpipe_stage *stage) {
    if (stage->identity) return IMGPIPE_OK;
    const struct stage_engine *engine = stage->engine;
    switch (stage->filter->kind) {
    case IMGPIPE_POINT: return add_ops(b, engine->ops, engine->op_count);
    case IMGPIPE_LOCAL: return add_local(b, stage);
    case IMGPIPE_GATHER: return add_gather(b, stage);
    case IMGPIPE_WHOLE: return add_whole(b, stage);
    }
    return error_set(b->error, IMGPIPE_ERROR_INTERNAL, "filter '%s' is of an unknown kind", stage->filter->name);
}

static imgpipe_type depth_type(int depth) { return depth == 8 ? IMGPIPE_U8 : depth == 16 ? IMGPIPE_U16 : IMGPIPE_F32; }

static imgpipe_status convert(struct builder *b, imgpipe_type type) {
    if (b->info.format.type == type) return IMGPIPE_OK;
    imgpipe_point_op op = {.code = IMGPIPE_POINT_CONVERT, .type = type};
    imgpipe_status failed = IMGPIPE_OK;
    if (b->info.format.type == IMGPIPE_F32 && !b->plan->range) {
        imgpipe_stage *stage = &b->plan->stages[b->plan->stage_count];
        failed = stage_init(stage, &filter_range, NULL, b->options->isa, b->info, b->options->log, NULL, -1, b->plan->arena,
                            b->error);
        b->plan->stage_count++;
        if (failed || (failed = attach_gather(b, stage, 0))) return failed;
        b->plan->range = stage;
    }
    return add_ops(b, &op, 1);
}

/* The engine's own stage at the end of the chain: a chart has no orientation, and side data need none. */
static imgpipe_status add_orient(struct builder *b) {
    struct plan *plan = b->plan;
    if (b->options->orientation < 2 || plan->chart || b->options->no_output) return IMGPIPE_OK;
    imgpipe_stage *stage = &plan->stages[plan->stage_count];
    plan->orient.orientation = b->options->orientation;
    imgpipe_status failed = stage_init(stage, &filter_orient, &plan->orient, b->options->isa, b->info, b->options->log, NULL, -1, plan->arena,
                                       b->error);
    plan->stage_count++;
    plan->turned = !failed;
    return failed ? failed : add_stage(b, stage);
}

/* An article for what text_format() says. */
static const char *article(const char *format) { return *format == '8' ? "an" : "a"; }

/* A kind without a place for channels that are data: which way out there is depends on how many they are. */
static imgpipe_status refuse_channels(const struct builder *b) {
    imgpipe_format format = b->info.format;
    char text[64];
    text_format(format, text);
    bool maybe_alpha = !format.alpha && format.channels % 2 == 0;
    return error_set(b->error, IMGPIPE_ERROR_INPUT, "%s cannot hold %s %s image; choose a kind that can (pam, tiff)%s%s", b->options->kind,
                     article(text), text, maybe_alpha ? ", or take the last channel as alpha by --alpha yes" : "",
                     format.channels > 2 ? ", or add the stage 'gray'" : "");
}

/* What the sink cannot hold is converted, with a notice: alpha is blended, gray becomes three channels, depth last. */
static imgpipe_status fit_sink(struct builder *b) {
    const struct plan_options *options = b->options;
    if (options->no_output) return IMGPIPE_OK;
    imgpipe_format have = b->info.format, want = have;
    if (options->depth) want.type = depth_type(options->depth);
    imgpipe_format take = options->accept ? options->accept(want) : want;
    if (options->depth && take.type != want.type)
        return error_set(b->error, IMGPIPE_ERROR_ARGUMENT, "%s cannot hold samples of depth %s; choose another --depth or kind of output",
                         options->kind, options->depth == 32 ? "f32" : options->depth == 16 ? "16" : "8");
    imgpipe_status failed = IMGPIPE_OK;
    char from[64], to[64];
    if (have.alpha && !take.alpha) {
        log_line(options->log, IMGPIPE_LOG_NOTICE, "%s has no alpha: blended over the background", options->kind);
        imgpipe_point_op op = {.code = IMGPIPE_POINT_FLATTEN};
        double max = imgpipe_type_max(have.type);
        for (int c = 0; c < 3; c++)
            op.background[c] = have.type == IMGPIPE_F32 ? options->background[c] : (double)(int64_t)(options->background[c] * max + 0.5);
        if ((failed = add_ops(b, &op, 1))) return failed;
    }
    if (b->info.format.channels - b->info.format.alpha == 1 && take.channels - take.alpha == 3) {
        imgpipe_point_op op = {.code = IMGPIPE_POINT_EXPAND};
        if ((failed = add_ops(b, &op, 1))) return failed;
    }
    if (b->info.format.channels != take.channels || b->info.format.alpha != take.alpha)
        return refuse_channels(b);
    if (take.type != want.type)
        log_line(options->log, IMGPIPE_LOG_NOTICE, "%s cannot hold %s %s image: converted to %s", options->kind,
                 article(text_format(want, from)), from, text_format(take, to));
    return convert(b, take.type);
}

/* With --no-output nothing after the last stage that writes side data matters. */
static int stages_that_matter(const struct imgpipe_chain *chain, const struct plan_options *options, const imgpipe_stage *stages,
                              int count) {
    if (!options->no_output) return chain ? chain->count : 0;
    int last = 0;
    for (int i = 0; i < count; i++) {
        bool taken = options->take_data && stages[i].filter->side_data;
        if (stages[i].filter->kind == IMGPIPE_GATHER && (stages[i].side_data || taken)) last = i + 1;
    }
    return last ? last : count;
}

/* Sets up every stage first, so that a mistake in the last one is found before anything else. */
static imgpipe_status setup_stages(struct builder *b, const struct imgpipe_chain *chain, imgpipe_info info) {
    for (int i = 0; chain && i < chain->count; i++) {
        imgpipe_stage *stage = &b->plan->stages[i];
        imgpipe_status failed = stage_init(stage, chain->stages[i].filter, chain->stages[i].options, b->options->isa, info,
                                           b->options->log, chain, i, b->plan->arena, b->error);
        b->plan->stage_count++;
        if (failed) return failed;
        info = stage->out;
    }
    return IMGPIPE_OK;
}

static imgpipe_status build(struct builder *b, const struct imgpipe_chain *chain) {
    int depth = b->options->depth;
    imgpipe_status failed = begin_pass(b);
    if (failed) return failed;
    if (depth && depth_type(depth) > b->info.format.type && (failed = convert(b, depth_type(depth)))) return failed;
    if ((failed = setup_stages(b, chain, b->info))) return failed;
    int matter = stages_that_matter(chain, b->options, b->plan->stages, b->plan->stage_count);
    for (int i = 0; i < matter; i++)
        if ((failed = add_stage(b, &b->plan->stages[i]))) return failed;
    if ((failed = add_orient(b)) || (failed = fit_sink(b))) return failed;
    /* A chart that nobody wants is not drawn. */
    if (b->options->no_output && b->plan->pass_count > 1 && b->pass->node_count == 0 && b->op_count == 0 &&
        b->pass->edges[0].gather_count == 0 && b->plan->passes[b->plan->pass_count - 2].render &&
        !b->plan->passes[b->plan->pass_count - 2].render_whole) {
        arena_free(b->plan->arena, b->pass->edges);
        b->plan->pass_count--;
        b->plan->passes[b->plan->pass_count - 1].render = NULL;
        return IMGPIPE_OK;
    }
    if ((failed = end_pass(b, b->options->no_output ? PASS_DROP : PASS_SINK))) return failed;
    if (b->pass->node_count == 0 && !b->options->no_output) {
        struct point_program copy = {.in = b->info.format, .out = b->info.format};
        failed = add_node(b, (struct node){.kind = NODE_COPY, .program = copy}, b->info);
    }
    return failed;
}

imgpipe_status plan_make(const struct imgpipe_chain *chain, const imgpipe_info *in, const struct plan_options *options,
                         struct plan **out, imgpipe_error *error) {
    struct plan *plan = arena_alloc(options->arena, sizeof *plan);
    if (plan) plan->stages = arena_alloc(options->arena, ((size_t)(chain ? chain->count : 0) + 3) * sizeof *plan->stages);
    if (!plan || !plan->stages) {
        arena_free(options->arena, plan);
        return no_memory(error);
    }
    plan->arena = options->arena;
    plan->in = *in;
    struct builder b = {.plan = plan, .options = options, .error = error, .info = *in};
    imgpipe_status failed = build(&b, chain);
    arena_free(plan->arena, b.ops);
    if (failed) {
        plan_free(plan);
        return failed;
    }
    plan->out = b.info;
    for (int i = 0; i < plan->pass_count; i++) {
        struct pass *pass = &plan->passes[i];
        bool copies = pass->node_count == 0 && pass->end == PASS_STORE;
        struct point_program copy = {.in = pass->edges[0].info.format, .out = pass->edges[0].info.format};
        b.pass = pass;
        if (copies && (failed = add_node(&b, (struct node){.kind = NODE_COPY, .program = copy}, pass->edges[0].info))) {
            plan_free(plan);
            return failed;
        }
    }
    plan_strips(plan, options);
    *out = plan;
    return IMGPIPE_OK;
}

void plan_free(struct plan *plan) {
    if (!plan) return;
    for (int i = 0; i < plan->pass_count; i++) {
        for (int k = 0; k < plan->passes[i].node_count; k++) point_free(&plan->passes[i].nodes[k].program);
        arena_free(plan->arena, plan->passes[i].nodes);
        arena_free(plan->arena, plan->passes[i].edges);
    }
    for (int i = 0; i < plan->stage_count; i++) stage_free(&plan->stages[i]);
    arena_free(plan->arena, plan->passes);
    arena_free(plan->arena, plan->stages);
    arena_free(plan->arena, plan);
}
