/* The second half of the plan: which rows need which, and how the passes are cut into strips. */
#include "plan.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

imgpipe_rect node_need(const struct node *node, const struct edge *out, int64_t y0, int64_t y1) {
    imgpipe_rect rect = {0, y0, out->info.width, y1};
    if (node->kind == NODE_LOCAL && node->stage->filter->need) return node->stage->filter->need(node->stage, rect);
    return rect;
}

static int64_t clip(int64_t y, int64_t height) { return y < 0 ? 0 : y > height ? height : y; }

void pass_need(const struct pass *pass, int e, int64_t out0, int64_t out1, int64_t *y0, int64_t *y1) {
    int64_t a = out0, b = out1;
    for (int k = pass->node_count; k > e; k--) {
        int64_t height = pass->edges[k - 1].info.height;
        imgpipe_rect need = node_need(&pass->nodes[k - 1], &pass->edges[k], a, b);
        a = clip(need.y0, height);
        b = clip(need.y1, height);
        /* A window that lies wholly outside the image still reads its edge. */
        if (a == b && a == height) a--;
        if (a == b) b++;
    }
    *y0 = a;
    *y1 = b;
}

static int64_t row_bytes(const struct edge *edge) {
    return (edge->info.width + edge->pad_left + edge->pad_right) * (int64_t)imgpipe_pixel_size(edge->info.format);
}

/* Of the widest rows: long enough to hide the hand-over, short enough to share out. Beside a decoder strips are short, since what
 * is made of one is encoded when it is done, and the next one waits for that room: with strips of 3.7 MB a blur of 24 million pixels
 * took 0.24 s from PNG to PNG on two threads, with 1 MB 0.20 s. */
#define STRIP_BYTES ((int64_t)2 << 20)
#define CODED_BYTES ((int64_t)1 << 20)
/* How many times its halo a strip should be. */
#define STRIP_HALOS 16
#define CODED_HALOS 2
#define HALO_BYTES ((int64_t)32 << 20)  /* how far a strip may grow so that its halo is a small part of it */
#define STEP_BYTES ((int64_t)256 << 10) /* rows that move through all stages at a time stay in the L2 cache */
#define STEP_MOST ((int64_t)8 << 20) /* and the most where a stage asks for more, because every call begins with work of its own */

/* About what the slots of input and output take for strips of `rows` rows (run_memory.c). */
static double slot_bytes(const struct pass *pass, int64_t rows, int64_t halo, int threads) {
    double in = (double)row_bytes(&pass->edges[0]), out = (double)row_bytes(&pass->edges[pass->node_count]);
    return in * (double)(rows * (threads + 1) + halo) + out * (double)(rows * (threads + 2));
}

/* The rows of a step; `sum` is the bytes of one row of every edge. */
static int64_t step_of_pass(const struct pass *pass, const struct plan_options *options, int64_t sum) {
    int64_t step = STEP_BYTES / sum, wanted = 0, most = STEP_MOST / sum;
    if (options->step_rows > 0) return options->step_rows;
    step = step < 8 ? 8 : step > 32 ? 32 : step;
    for (int k = 0; k < pass->node_count; k++)
        if (pass->nodes[k].kind == NODE_LOCAL && pass->nodes[k].stage->step > wanted) wanted = pass->nodes[k].stage->step;
    while (options->memory && (double)(most * sum * options->threads) > (double)options->memory / 4) most /= 2;
    if (wanted > most) wanted = most;
    /* A multiple of it, so that the last call of a step is no smaller than the others. */
    return wanted == 0 ? step : step > wanted ? step - step % wanted : wanted;
}

/* As many strips of nearly the same height for every thread, so that all end together: a strip that one thread works on alone costs
 * as much time as `threads` strips. */
static int64_t evened(int64_t height, int64_t rows, int64_t halo, int threads) {
    const int64_t count = (height + rows - 1) / rows;
    if (count <= threads) return rows;
    const int64_t rounds = (count + threads - 1) / threads, even = (height + rounds * threads - 1) / (rounds * threads);
    return even < 16 || (halo > 1 && even < halo) ? rows : even;
}

static void strips_of_pass(struct pass *pass, const struct plan_options *options) {
    int64_t height = pass->edges[pass->node_count].info.height, widest = 1, sum = 0;
    for (int k = 0; k <= pass->node_count; k++) {
        int64_t bytes = row_bytes(&pass->edges[k]);
        if (bytes > widest) widest = bytes;
        sum += bytes;
    }
    int64_t y0, y1;
    pass_need(pass, 0, height / 2, height / 2 + 1, &y0, &y1);
    const bool coded = options->coded && !options->strip_bytes;
    int64_t halo = y1 - y0, rows = (options->strip_bytes ? options->strip_bytes : coded ? CODED_BYTES : STRIP_BYTES) / widest;
    int64_t wanted = (coded ? CODED_HALOS : STRIP_HALOS) * halo, allowed = HALO_BYTES / widest;
    if (wanted > rows && halo > 1) rows = wanted < allowed ? wanted : allowed > rows ? allowed : rows;
    int64_t shared = height / (4 * options->threads); /* enough strips for every thread, if the halo permits */
    if (shared < options->strip_bytes / 4 / widest) shared = options->strip_bytes / 4 / widest; /* and large enough to copy well */
    if (rows > shared) rows = shared > 2 * halo ? shared : rows < 2 * halo ? rows : 2 * halo;
    if (halo > 1 && rows < halo) rows = halo;
    if (rows < 16) rows = 16;
    while (rows > 16 && options->memory && slot_bytes(pass, rows, halo, options->threads) > (double)options->memory / 2) rows /= 2;
    if (!options->strip_bytes) rows = evened(height, rows, halo, options->threads);
    if (options->strip_rows > 0) rows = options->strip_rows;
    if (rows > height) rows = height;
    pass->strip_rows = rows;
    pass->strip_count = (height + rows - 1) / rows;
    int64_t step = step_of_pass(pass, options, sum);
    pass->step_rows = step < rows ? step : rows;
}

double plan_cpu_seconds(const struct plan *plan, int threads) {
    double nanoseconds = 0;
    for (int i = 0; i < plan->pass_count; i++)
        for (int e = 0; e <= plan->passes[i].node_count; e++) {
            const struct pass *pass = &plan->passes[i];
            const imgpipe_info *info = &pass->edges[e].info;
            double samples = (double)info->width * (double)info->height * info->format.channels;
            for (int g = 0; g < pass->edges[e].gather_count; g++) nanoseconds += samples * pass->edges[e].gathers[g].stage->cost;
            if (e == pass->node_count) continue;
            nanoseconds += samples * (pass->nodes[e].kind == NODE_LOCAL ? pass->nodes[e].stage->cost : 0.2);
        }
    return nanoseconds * 1e-9 / threads;
}

void plan_strips(struct plan *plan, const struct plan_options *options) {
    for (int i = 0; i < plan->pass_count; i++) strips_of_pass(&plan->passes[i], options);
}

static void print_nodes(const struct pass *pass, char *line, size_t size) {
    for (int k = 0; k <= pass->node_count; k++) {
        for (int g = 0; g < pass->edges[k].gather_count; g++)
            text_append(line, size, " -> gather %s", pass->edges[k].gathers[g].stage->filter->name);
        if (k == pass->node_count) break;
        const struct node *node = &pass->nodes[k];
        if (node->kind == NODE_LOCAL)
            text_append(line, size, " -> %s", node->stage->filter->name);
        else if (node->kind == NODE_POINT)
            text_append(line, size, " -> point run of %d step%s", node->program.step_count, node->program.step_count == 1 ? "" : "s");
        else
            text_append(line, size, " -> copy");
    }
}

void plan_print(const struct plan *plan, const struct log *log) {
    if (!log || !log->call) return; /* small images are done in less time than this takes */
    static const char *const ends[] = {"sink", "store", "nothing kept"};
    char format[64];
    for (int i = 0; i < plan->pass_count; i++) {
        const struct pass *pass = &plan->passes[i];
        char line[900] = "";
        const imgpipe_info *in = &pass->edges[0].info, *out = &pass->edges[pass->node_count].info;
        int64_t y0, y1;
        pass_need(pass, 0, 0, pass->strip_rows, &y0, &y1);
        text_append(line, sizeof line, "pass %d of %d: %lld x %lld %s", i + 1, plan->pass_count, (long long)in->width,
                    (long long)in->height, text_format(in->format, format));
        print_nodes(pass, line, sizeof line);
        text_append(line, sizeof line, " -> %s (%lld x %lld %s); %lld strips of %lld rows, which read %lld, in steps of %lld",
                    pass->render ? "drawn image" : ends[pass->end], (long long)out->width, (long long)out->height,
                    text_format(out->format, format), (long long)pass->strip_count, (long long)pass->strip_rows, (long long)(y1 - y0),
                    (long long)pass->step_rows);
        log_line(log, IMGPIPE_LOG_DETAIL, "%s", line);
    }
}
