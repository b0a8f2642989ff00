/* check --bench: how many million pixels a second some chains make of an image in memory. */
#include "check.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bench {
    const char *chain;
    imgpipe_format format;
};
#define RGB                                                                                                                        \
    { IMGPIPE_U8, 3, false }
static const struct bench benches[] = {
    {"gray", RGB},
    {"invert", RGB},
    {"levels=10:240", RGB},
    {"blur=2", RGB},
    {"blur=8", RGB},
    {"blur=2", {IMGPIPE_U8, 1, false}},
    {"blur=2", {IMGPIPE_U8, 4, true}},
    {"blur=2", {IMGPIPE_U16, 3, false}},
    {"blur=2", {IMGPIPE_F32, 3, false}},
    {"box=9", RGB},
    {"box=9", {IMGPIPE_U8, 4, true}},
    {"conv=sharpen", RGB},
    {"conv=sobel_x:abs", {IMGPIPE_U8, 1, false}},
    {"conv=0.1 0.2 0.1;0.3 0.4 0.3;0.1 0.2 0.1", {IMGPIPE_F32, 1, false}},
    {"median=3", RGB},
    {"median=5", RGB},
    {"median=21", RGB},
    {"median=5", {IMGPIPE_U16, 1, false}},
    {"hist=pass", RGB},
    {"gray,blur,hist", RGB},
    {"gray,blur,conv=sobel_x:abs,threshold=20%", RGB},
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The best of three runs after one that warms up, in Mpix/s; 0 on failure. */
static double measure(const imgpipe_chain *chain, const struct picture *in, const struct variant *v, imgpipe_error *error) {
    imgpipe_info info;
    imgpipe_context *context = engine(v, error);
    if (!context || imgpipe_chain_output(context, chain, &in->image.info, NULL, &info, error)) return 0;
    struct picture out;
    double best = 0;
    picture_new(&out, info, NULL);
    for (int i = 0; i < 4; i++) {
        double began = now();
        if (imgpipe_run_image(context, chain, &in->image, &out.image, NULL, NULL, error)) {
            best = 0;
            break;
        }
        double rate = (double)(in->image.info.width * in->image.info.height) / (now() - began) / 1e6;
        if (i && rate > best) best = rate;
    }
    picture_free(&out);
    return best;
}

int bench_run(char **patterns, int count) {
    struct rng r = {check_seed};
    int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), isa = prover_options.isa >= 0 ? prover_options.isa : isa_count() - 1;
    if (cpus < 2) cpus = 2;
    printf("Mpix/s on 4096x3072, %s, %s\n%-44s %10s %10s\n", prover_options.device, imgpipe_isa_name(isa), "chain", "1 thread",
           "all");
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        imgpipe_info info = {4096, 3072, benches[i].format};
        imgpipe_chain *chain = NULL;
        imgpipe_error error = {0};
        struct picture in;
        char line[64], name[128];
        snprintf(name, sizeof name, "%s %s", strtok((char *)info_text(&info, line), " "), benches[i].chain);
        if (!name_matches(name, patterns, count)) continue;
        picture_new(&in, info, NULL);
        picture_fill(&in, CONTENT_SMOOTH, &r);
        struct variant one = {prover_options.device, 1, isa, 0, 0, false}, all = {prover_options.device, cpus, isa, 0, 0, false};
        if (imgpipe_chain_parse(benches[i].chain, &chain, &error))
            printf("%-44s %s\n", name, error.message);
        else {
            double single = measure(chain, &in, &one, &error), several = measure(chain, &in, &all, &error);
            printf("%-44s %10.1f %10.1f %s\n", name, single, several, single > 0 && several > 0 ? "" : error.message);
        }
        fflush(stdout);
        imgpipe_chain_free(&chain);
        picture_free(&in);
    }
    engines_free();
    return 0;
}
