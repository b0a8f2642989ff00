/* check: compares every filter with its definition and proves that no way of running a chain changes a byte.
 *
 *   check [--seed N] [--case K] [--quick] [--small] [--chains N] [--device NAME] [--isa NAME] [--list] [--bench] [-v] [PATTERN...]
 *
 * Patterns are parts of names, or globs. A failure prints the command that replays it. Exit status: 0 all passed, 1 some
 * failed, 2 usage, 77 the device is not there. */
#include "check.h"
#include "oracle.h"
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t check_seed;
static long only_case = -1; /* -1: all */
static long chains = -1;    /* random chains to try; -1: the usual number */
static bool verbose;

/* ---- oracles */

static bool same_info(const imgpipe_info *a, const imgpipe_info *b) {
    return a->width == b->width && a->height == b->height && a->format.type == b->format.type &&
           a->format.channels == b->format.channels && a->format.alpha == b->format.alpha;
}

/* What the device makes must be what the CPU makes, beyond being right. */
static enum outcome compare_with_cpu(const imgpipe_chain *chain, const struct picture *in, const struct picture *found,
                                     struct story *story) {
    struct variant plain = variant_plain();
    struct picture out;
    if (!strcmp(prover_options.device, "cpu")) return PASSED;
    enum outcome outcome = chain_run(chain, &plain, in, &out, NULL, story);
    if (outcome != PASSED) return FAILED;
    bool equal = pictures_equal(&out.image, &found->image, story->why, sizeof story->why);
    picture_free(&out);
    if (!equal) story_add(story, " (against the CPU)");
    return equal ? PASSED : FAILED;
}

/* Processors make different NaN, so one that is stored must be the one that all agree on; alpha that is kept and
 * images that are let through keep theirs. */
static bool nans_agreed(const imgpipe_image *in, const imgpipe_image *out, struct story *story) {
    char unused[256];
    if (out->info.format.type != IMGPIPE_F32 ||
        (same_info(&in->info, &out->info) && pictures_equal(in, out, unused, sizeof unused)))
        return true;
    for (int64_t y = 0; y < out->info.height; y++)
        for (int64_t x = 0; x < out->info.width; x++)
            for (int c = 0; c < out->info.format.channels; c++) {
                uint32_t bits = sample_bits(out, x, y, c);
                if ((bits & 0x7fffffff) <= 0x7f800000 || bits == 0x7fc00000 || is_alpha(out->info.format, c)) continue;
                snprintf(story->why, sizeof story->why, "x %lld y %lld channel %d: the NaN is %08x, wanted 7fc00000", (long long)x,
                         (long long)y, c, bits);
                return false;
            }
    return true;
}

static enum outcome oracle_judge(const struct oracle *oracle, const struct oracle_case *c, const imgpipe_chain *chain,
                                 const struct picture *in, struct rng *r, struct story *story) {
    struct variant v = variant_random(r);
    struct picture out;
    bool no_output = c->temporary[0] && !c->pass && !strcmp(oracle->name, "hist") && rng_chance(r, 50);
    imgpipe_info want = oracle->output ? oracle->output(c) : c->in;
    story_variant(story, &v);
    enum outcome outcome = chain_run(chain, &v, in, no_output ? NULL : &out, r, story);
    if (outcome != PASSED) return FAILED; /* the oracle only makes what the contract allows */
    if (no_output) return oracle->verify(c, &in->image, NULL, story->why, sizeof story->why) ? PASSED : FAILED;
    char a[64], b[64];
    bool right = same_info(&want, &out.image.info);
    if (!right)
        snprintf(story->why, sizeof story->why, "the result is %s, wanted %s", info_text(&out.image.info, a), info_text(&want, b));
    right = right && oracle->verify(c, &in->image, &out.image, story->why, sizeof story->why);
    right = right && nans_agreed(&in->image, &out.image, story);
    if (right) right = compare_with_cpu(chain, in, &out, story) == PASSED;
    picture_free(&out);
    return right ? PASSED : FAILED;
}

static enum outcome oracle_case(const void *of, struct rng *r, struct story *story) {
    static struct oracle_case c; /* large, and one case runs after the other */
    const struct oracle *oracle = of;
    imgpipe_chain *chain = NULL;
    imgpipe_error error;
    struct picture in;
    char line[64];
    memset(&c, 0, sizeof c);
    do c.in.format = format_random(r);
    while (oracle->accepts && !oracle->accepts(c.in.format));
    size_random(r, oracle->limit, &c.in.width, &c.in.height);
    if (prover_options.small) size_small(&c.in);
    c.content = content_random(c.in.format.type, r);
    oracle->make(&c, r);
    /* A long mask is shown in part; the replay shows it all under a debugger. */
    story_add(story, "'%.1000s' on %s, %s", c.chain, info_text(&c.in, line), content_names[c.content]);
    picture_new(&in, c.in, rng_chance(r, 70) ? r : NULL);
    picture_fill(&in, c.content, r);
    enum outcome outcome = FAILED;
    if (imgpipe_chain_parse(c.chain, &chain, &error))
        snprintf(story->why, sizeof story->why, "imgpipe_chain_parse: %s", error.message);
    else
        outcome = oracle_judge(oracle, &c, chain, &in, r, story);
    imgpipe_chain_free(&chain);
    picture_free(&in);
    if (c.temporary[0]) unlink(c.temporary);
    return outcome;
}

static int oracle_tests(struct check_test *tests, int capacity) {
    int count = 0;
    for (int i = 0; oracles[i] && count < capacity; i++) {
        struct check_test test = {"", oracle_case, oracles[i], 3L * oracles[i]->cases, 60L * oracles[i]->cases};
        snprintf(test.name, sizeof test.name, "oracle/%s", oracles[i]->name);
        tests[count++] = test;
    }
    return count;
}

/* ---- the prover */

static enum outcome filter_case(const void *of, struct rng *r, struct story *story) {
    return prove_filter(&(const struct proof){.filter = of}, r, story);
}

static enum outcome chain_case(const void *of, struct rng *r, struct story *story) {
    (void)of;
    return prove_chain(r, story);
}

static int prover_tests(struct check_test *tests, int capacity) {
    int count = 0;
    const imgpipe_filter *filter;
    for (int i = 0; (filter = imgpipe_filter_at(i)) && count < capacity - 1; i++) {
        struct check_test test = {"", filter_case, filter, 0, 0};
        proof_cases(filter, &test.quick, &test.full);
        snprintf(test.name, sizeof test.name, "prover/%s", filter->name);
        tests[count++] = test;
    }
    tests[count++] = (struct check_test){"prover/chains", chain_case, NULL, 500, 12000};
    if (chains >= 0) tests[count - 1].quick = tests[count - 1].full = chains;
    return count;
}

/* ---- the driver */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool name_matches(const char *name, char **patterns, int count) {
    bool matches = count == 0;
    for (int i = 0; i < count; i++) matches |= strstr(name, patterns[i]) || fnmatch(patterns[i], name, 0) == 0;
    return matches;
}

static void tell_failure(const struct check_test *test, long number, const struct story *story) {
    printf("FAIL %s, case %ld: %s\n     %s\n     replay: check --seed %llu --case %ld", test->name, number, story->what, story->why,
           (unsigned long long)check_seed, number);
    if (prover_options.quick) printf(prover_options.small ? " --small" : " --quick"); /* it decides how many variants are tried */
    if (strcmp(prover_options.device, "cpu")) printf(" --device %s", prover_options.device);
    if (prover_options.isa >= 0) printf(" --isa %s", imgpipe_isa_name(prover_options.isa));
    printf(" '%s'\n", test->name);
    fflush(stdout);
}

/* The case under way, so that a crash can be replayed too. */
static const struct check_test *current_test;
static long current_case;
static struct story current_story;

static void crashed(int number) {
    snprintf(current_story.why, sizeof current_story.why, "crashed by signal %d", number);
    tell_failure(current_test, current_case, &current_story);
    signal(number, SIG_DFL);
    raise(number);
}

/* A sanitizer that is watching has more to say about a crash. */
static void crashes_told(void) {
#ifndef __SANITIZE_ADDRESS__
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], crashed);
#else
    (void)crashed;
#endif
}

/* Runs one test's cases. A test whose cases are nearly all refused has tested nothing and fails. */
static bool test_run(const struct check_test *test) {
    struct story *story = &current_story;
    long cases = prover_options.quick ? test->quick : test->full, passed = 0, refused = 0, failed = 0;
    if (prover_options.small) cases = cases / 8 < 12 ? cases < 12 ? cases : 12 : cases / 8;
    double began = seconds();
    for (long k = 0; k < cases && failed < 3; k++) {
        if (only_case >= 0 && k != only_case) continue;
        struct rng r = {hash_bytes(test->name, strlen(test->name), check_seed * 1000003 + (uint64_t)k)};
        memset(story, 0, sizeof *story);
        current_test = test, current_case = k;
        enum outcome outcome = test->run(test->of, &r, story);
        passed += outcome == PASSED, refused += outcome == REFUSED, failed += outcome == FAILED;
        if (outcome == FAILED) tell_failure(test, k, story);
        if (verbose && outcome != FAILED)
            printf("     %s %s %s\n", outcome == PASSED ? "ok" : "refused", story->what, story->why);
    }
    bool empty = only_case < 0 && cases >= 10 && passed * 4 < cases && !failed;
    printf("%-4s %-18s %5ld passed, %ld refused, %ld failed, %.1f s%s\n", failed || empty ? "FAIL" : "ok", test->name, passed,
           refused, failed, seconds() - began, empty ? ": too few cases were accepted" : "");
    fflush(stdout);
    return !failed && !empty;
}

/* 77 if the device is absent, 0 if it is there. */
static int device_absent(void) {
    struct variant v = variant_plain();
    imgpipe_error error;
    v.device = prover_options.device;
    if (engine(&v, &error)) return 0;
    fprintf(stderr, "check: %s\n", error.message);
    return error.status == IMGPIPE_ERROR_DEVICE ? 77 : 1;
}

static int usage(const char *what) {
    fprintf(stderr,
            "check: %s\nusage: check [--seed N] [--case K] [--quick] [--small] [--chains N] [--device NAME] [--isa NAME] [--list] "
            "[--bench] "
            "[-v] [PATTERN...]\n",
            what);
    return 2;
}

static bool isa_find(const char *name) {
    for (int i = 0; imgpipe_isa_name(i); i++)
        if (!strcmp(imgpipe_isa_name(i), name)) prover_options.isa = i;
    return prover_options.isa >= 0;
}

/* What the options ask for besides tests. */
struct modes {
    bool list, bench;
};

/* Takes the options out of argv, leaves the patterns; -1, or the exit status. */
static int options_read(int argc, char **argv, struct modes *modes, int *patterns) {
    struct prover_options *o = &prover_options;
    bool seeded = false;
    *patterns = 0;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool flag = true;
        if (!strcmp(a, "--quick"))
            o->quick = true;
        else if (!strcmp(a, "--small"))
            o->small = o->quick = true;
        else if (!strcmp(a, "--list"))
            modes->list = true;
        else if (!strcmp(a, "--bench"))
            modes->bench = true;
        else if (!strcmp(a, "-v"))
            verbose = true;
        else
            flag = false;
        if (flag) continue;
        if (a[0] != '-')
            argv[(*patterns)++] = argv[i];
        else if (!value)
            return usage("an option is unknown or lacks its value");
        else if (!strcmp(a, "--seed"))
            check_seed = strtoull(value, NULL, 10), seeded = true, i++;
        else if (!strcmp(a, "--case"))
            only_case = strtol(value, NULL, 10), i++;
        else if (!strcmp(a, "--chains"))
            chains = strtol(value, NULL, 10), i++;
        else if (!strcmp(a, "--device"))
            o->device = value, i++;
        else if (!strcmp(a, "--isa")) {
            if (!isa_find(value)) return usage("this build or CPU has no such instruction set");
            i++;
        } else
            return usage("unknown option");
    }
    /* What every landing needs must not depend on luck; the long run looks elsewhere each time. */
    if (!seeded) check_seed = o->quick ? 1 : (uint64_t)time(NULL);
    return -1;
}

int main(int argc, char **argv) {
    struct check_test tests[64];
    struct modes modes = {false, false};
    int patterns, failed = 0, ran = 0, status = options_read(argc, argv, &modes, &patterns);
    if (status >= 0) return status;
    crashes_told();
    int count = oracle_tests(tests, 64);
    count += prover_tests(tests + count, 64 - count);
    if (!modes.list && (status = device_absent())) return status;
    if (modes.bench) return bench_run(argv, patterns);
    if (!modes.list) printf("seed %llu, device %s\n", (unsigned long long)check_seed, prover_options.device);
    fflush(stdout);
    for (int i = 0; i < count; i++) {
        if (!name_matches(tests[i].name, argv, patterns)) continue;
        ran++;
        if (modes.list)
            puts(tests[i].name);
        else
            failed += !test_run(&tests[i]);
    }
    engines_free();
    if (!ran) return usage("no test has such a name");
    if (!modes.list) printf("%d of %d tests failed\n", failed, ran);
    return failed > 0;
}
