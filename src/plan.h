/* The chain bound to one image: formats and sizes between stages, passes, stores, strips, memory. Made before any pixel is
 * read; depends on nothing but the image's size and format, the chain and the options. */
#ifndef PLAN_H
#define PLAN_H
#include "chain.h"
#include "orient.h"
#include "point.h"
#include "stage.h"

enum node_kind { NODE_POINT, NODE_LOCAL, NODE_COPY };

/* One step of a pass: a fused run of point operations, or a local stage. */
struct node {
    enum node_kind kind;
    imgpipe_stage *stage;           /* LOCAL */
    struct point_program program;   /* POINT */
};

#define EDGE_GATHERS 8

/* The rows between two nodes; edge 0 is the input of the pass, edge node_count its output. Gathers look at the rows of an
 * edge as they pass by. */
struct edge {
    imgpipe_info info;
    int64_t pad_left, pad_right;    /* pixels beyond the row's ends that the next node reads */
    struct {
        imgpipe_stage *stage;
        int walk;
    } gathers[EDGE_GATHERS];
    int gather_count;
};

enum pass_end {
    PASS_SINK,   /* the output is the result */
    PASS_STORE,  /* the output is kept for the next pass */
    PASS_DROP    /* only the gathers matter */
};

struct pass {
    struct node *nodes;
    int node_count;
    struct edge *edges;             /* node_count + 1 */
    enum pass_end end;
    bool keeps_input;               /* the next pass reads this pass's input again */
    imgpipe_stage *render;          /* after the pass this stage makes the next pass's input */
    bool render_whole;              /* … from the store that this pass made (WHOLE) */
    /* strips */
    int64_t strip_rows, step_rows;
    int64_t strip_count;
};

struct plan_options {
    const struct log *log;
    struct arena *arena;            /* where all memory of the plan comes from; NULL: the heap */
    int isa, threads;
    int depth;                      /* 0, 8, 16, 32 */
    bool no_output;
    bool take_data;         /* somebody wants the data of gathers */
    double background[3];
    int orientation;                /* 2 to 8: the result is turned as EXIF says by this, unless it is a chart; else 0 */
    int64_t strip_rows, step_rows;  /* 0: chosen */
    int64_t strip_bytes;            /* what a strip aims at; 0: what suits the CPU */
    bool coded;                     /* rows come from a decoder (or a caller) while strips are computed */
    uint64_t memory;                /* strips get lower where bands and pieces would need more than this */
    /* What the sink can hold, asked at the end; NULL: anything. */
    imgpipe_format (*accept)(imgpipe_format want);
    const char *kind;               /* the sink's name for messages */
};

struct plan {
    struct arena *arena;
    imgpipe_info in, out;
    struct pass *passes;
    int pass_count;
    imgpipe_stage *stages;          /* one for each of the chain and those that the plan adds */
    int stage_count;
    imgpipe_stage *range;           /* counts what is clamped when f32 becomes integers, or NULL */
    struct orient_options orient;
    bool changed;                   /* the result's pixels are not those of the input */
    bool chart, turned;             /* the result is a chart; it has been turned */
};

imgpipe_status plan_make(const struct imgpipe_chain *chain, const imgpipe_info *in, const struct plan_options *options,
                         struct plan **plan, imgpipe_error *error);
void plan_free(struct plan *plan);
/* The strips of every pass, once the piece height of the sink is known. */
void plan_strips(struct plan *plan, const struct plan_options *options);
/* What the chain would cost on the CPUs at hand, in seconds: the stages' own figures, the codecs not counted. */
double plan_cpu_seconds(const struct plan *plan, int threads);
/* -v: one line a pass. */
void plan_print(const struct plan *plan, const struct log *log);

/* The rows [y0, y1) of edge `e` that output rows [out0, out1) of the pass need, within the image. */
void pass_need(const struct pass *pass, int e, int64_t out0, int64_t out1, int64_t *y0, int64_t *y1);
/* The rows of a local node's input that its output rows [y0, y1) read; may reach outside the image. */
imgpipe_rect node_need(const struct node *node, const struct edge *out, int64_t y0, int64_t y1);
#endif
