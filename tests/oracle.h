/* The definitions of the filters, per pixel and as plain as possible: this is what decides whether a result is right. It
 * shares nothing with kernels/ and filters/; where the text of the contract and a kernel differ, the kernel is wrong. */
#ifndef ORACLE_H
#define ORACLE_H
#include "content.h"

enum { EDGE_CLAMP, EDGE_REFLECT, EDGE_MIRROR, EDGE_WRAP, EDGE_CONSTANT };

struct oracle_border {
    int edge;
    double value;
};

#define ORACLE_MASK_MAX 63

/* One case: the input's format and size, the chain's text, and the parameters in the form that the oracle wants. */
struct oracle_case {
    imgpipe_info in;
    enum content content;
    char chain[65536];
    char temporary[64]; /* a file that the chain writes or reads, removed after the case; empty: none */
    struct oracle_border border;
    int64_t window_x, window_y;
    double sigma_x, sigma_y;
    /* gray */
    int64_t weights[3], round, divisor;
    double float_weights[3];
    /* conv */
    int mask_width, mask_height;
    double mask[ORACLE_MASK_MAX * ORACLE_MASK_MAX];
    double div, bias;
    bool absolute, flip, integers;
    /* levels, threshold */
    double in_low, in_high, out_low, out_high, threshold;
    /* hist */
    bool json, pass, ranged;
    int64_t bins, chart_width, chart_height;
    double min, max;
};

struct oracle {
    const char *name;
    int cases; /* how often it is tried, beside the other oracles */
    int limit; /* the largest usual width and height */
    /* Formats that the filter's definition does not cover are refused here; NULL: every format. */
    bool (*accepts)(imgpipe_format format);
    /* Chooses parameters for c->in and writes the chain. May change c->in's size (a costly window) and content. */
    void (*make)(struct oracle_case *c, struct rng *r);
    /* The format and size of the result. NULL: as the input. */
    imgpipe_info (*output)(const struct oracle_case *c);
    /* `out` is NULL if the chain made side data only. */
    bool (*verify)(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why, size_t why_size);
};

extern const struct oracle *const oracles[]; /* ended by NULL */
extern const struct oracle oracle_gray, oracle_blur, oracle_blur_mean, oracle_box, oracle_conv, oracle_median, oracle_hist,
    oracle_chart, oracle_invert, oracle_levels, oracle_threshold;

/* The index on an axis of length n that stands for i, or -1 for the border's value. By definition, step by step. */
int64_t edge_index(int edge, int64_t i, int64_t n);
double edge_sample(const struct oracle_border *border, const imgpipe_image *in, int64_t x, int64_t y, int channel);

void chain_add(struct oracle_case *c, const char *format, ...) IMGPIPE_PRINTF(2, 3);
/* Chooses a border and adds its parameters, or leaves them away for the default. */
void border_make(struct oracle_case *c, struct rng *r);
bool is_alpha(imgpipe_format format, int channel);
/* floor(v + 0.5) within 0 … max. */
double round_clamped(double v, double max);
/* Fills `why` with the place, the found and the wanted value. Always false. */
bool oracle_differs(const imgpipe_image *out, int64_t x, int64_t y, int channel, double want, double tolerance, char *why,
                    size_t why_size);
/* Two NaN are the same, and so are two infinities of one sign; otherwise |a - b| <= tolerance. */
bool close_to(double a, double b, double tolerance);
/* The whole image unchanged, bit for bit. */
bool oracle_identity(const imgpipe_image *in, const imgpipe_image *out, char *why, size_t why_size);
#endif
