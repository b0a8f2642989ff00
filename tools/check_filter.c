#include "check_filter.h"
#include "chain_text.h"
#include "exit_status.h"
#include "prover.h"
#include "signals.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The case under way, for a crash in it. */
static struct story current;
/* The last one that was refused. */
static struct story last;

/* All that may be called here is what does not depend on a state that may be broken: write(). */
static void say(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

static void say_number(int number) {
    char digits[12], *at = digits + sizeof digits - 1;
    unsigned left = number < 0 ? 0u - (unsigned)number : (unsigned)number;
    *at = 0;
    do *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0) *--at = '-';
    say(at);
}

static void crashed(int number, siginfo_t *info, void *context) {
    int row, count;
    (void)context;
    const char *names[] = {
        [SIGSEGV] = "SIGSEGV", [SIGBUS] = "SIGBUS", [SIGFPE] = "SIGFPE", [SIGILL] = "SIGILL", [SIGABRT] = "SIGABRT"};
    say("imgpipe: not proved: ");
    say(current.what);
    if (number == SIGSEGV && watch_guard(info->si_addr, &row, &count)) {
        say(": rows() used in[");
        say_number(row);
        say("], and need() asked for ");
        say_number(count);
        say(" rows, from in[0] on; let need() ask for all rows that rows() reads\n");
        _exit(EXIT_SOME_FAILED);
    }
    say(": it crashed (");
    say(names[number]);
    say(")\n");
    _exit(EXIT_SOME_FAILED);
}

/* A function of a filter may never return, so nothing waits for it: neither a signal nor the time. */
static void stopped(int number) {
    say("imgpipe: stopped by a signal, at ");
    say(current.what);
    say("\n");
    _exit(EXIT_SIGNAL + number);
}

/* How long a case may take that takes a fraction of a second as a rule. */
#define CASE_SECONDS 30
#define TEXT_OF(number) #number
#define AS_TEXT(number) TEXT_OF(number)

static void too_long(int number) {
    (void)number;
    say("imgpipe: not proved: ");
    say(current.what);
    say(": it was not done after " AS_TEXT(CASE_SECONDS) " seconds; one of its functions does not return, or is very slow\n");
    _exit(EXIT_SOME_FAILED);
}

static void tell_ends(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = stopped};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signals_take(numbers[i], &action);
    action.sa_handler = too_long;
    sigaction(SIGALRM, &action, NULL);
}

/* A sanitizer that is watching has more to say about a crash. */
static void tell_crashes(void) {
#ifndef __SANITIZE_ADDRESS__
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
#else
    (void)crashed;
#endif
}

/* 0 if the device is there. */
static int find_device(const struct options *o, struct console *console) {
    imgpipe_error error;
    if (o->device && strcmp(o->device, "auto") != 0) prover_options.device = o->device;
    for (int i = 0; o->isa && imgpipe_isa_name(i); i++)
        if (strcmp(imgpipe_isa_name(i), o->isa) == 0) prover_options.isa = i;
    struct variant v = variant_plain();
    v.device = prover_options.device;
    if (engine(&v, &error)) return EXIT_DONE;
    console_error(console, "%s", error.message);
    return error.status == IMGPIPE_ERROR_DEVICE     ? EXIT_DEVICE
           : error.status == IMGPIPE_ERROR_ARGUMENT ? EXIT_USAGE
                                                    : EXIT_SOME_FAILED;
}

/* All cases of one filter, the same ones each time. One whose cases are nearly all refused is not proved. */
static int prove_all(const struct options *o, struct console *console, const struct proof *proof) {
    const char *name = proof->filter->name;
    long quick, full, passed = 0, refused = 0;
    proof_cases(proof->filter, &quick, &full);
    for (long k = 0; k < quick; k++) {
        struct rng r = {hash_bytes(name, strlen(name), (uint64_t)k)};
        memset(&current, 0, sizeof current);
        alarm(CASE_SECONDS);
        enum outcome outcome = prove_filter(proof, &r, &current);
        alarm(0);
        if (outcome == FAILED) {
            console_error(console, "not proved: %.800s: %.1000s", current.what, current.why);
            return EXIT_SOME_FAILED;
        }
        passed += outcome == PASSED;
        refused += outcome == REFUSED;
        if (outcome == REFUSED) last = current;
        if (o->verbose && outcome == PASSED) fprintf(stderr, "ok: %s\n", current.what);
        if (o->verbose && outcome == REFUSED) fprintf(stderr, "refused: %s: %s\n", current.what, current.why);
    }
    if (passed * 4 < quick) {
        console_error(console,
                      "not proved: %ld of %ld cases were refused, the last one, %.600s, as %.600s; write values that it needs "
                      "behind its name (conv=sharpen)",
                      refused, quick, last.what, last.why);
        return EXIT_SOME_FAILED;
    }
    printf("%s: proved in %ld cases on %s%s", name, passed, prover_options.device, refused ? "" : "\n");
    if (refused) printf("; %ld were refused, the last one, %.600s, as %.600s\n", refused, last.what, last.why);
    return console_flush_output(console);
}

int check_filter(const struct options *o, struct plugins *plugins, struct console *console) {
    imgpipe_error error = {.place = -1};
    imgpipe_chain *chain = NULL;
    struct chain_text text = {.text = (char *)o->check_filter};
    if (o->operand_count || o->chain || o->batch) {
        console_error(console, "--check-filter takes images of its own; leave out the others, and -f");
        return EXIT_USAGE;
    }
    if (plugins_parse(plugins, o->check_filter, &chain, &error) != IMGPIPE_OK) {
        chain_text_error(console, &text, &error);
        return error.status == IMGPIPE_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_SOME_FAILED;
    }
    struct proof proof = {imgpipe_chain_filter_at(chain, 0), chain, o->check_filter};
    int status = EXIT_USAGE;
    if (!proof.filter || imgpipe_chain_filter_at(chain, 1)) {
        console_error(console, "--check-filter: '%.200s' is not one filter; write its name", o->check_filter);
    } else {
        prover_options.quick = true;
        prover_options.registry = plugins->registry;
        status = find_device(o, console);
        tell_crashes();
        tell_ends();
        if (!status) status = prove_all(o, console, &proof);
        engines_free();
    }
    imgpipe_chain_free(&chain);
    return status;
}
