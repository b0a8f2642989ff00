#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* The only state outside the functions: a handler has no other way to say anything. Atomic, because the handler runs on any
 * thread, and all threads read it. */
static atomic_int caught, count, tries_left;
static atomic_llong last; /* when the last one came that counted, in nanoseconds */

/* What comes within this time is the same wish once more, from an impatient finger, or from a shell that hands on what the terminal
 * has sent already: the end would leave temporary files that are just being removed. */
#define PATIENCE 1000000000

static void on_signal(int number) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    long long now = (long long)time.tv_sec * 1000000000 + time.tv_nsec;
    bool final = atomic_load(&tries_left) <= 1;
    if (final && now - atomic_load(&last) < PATIENCE) return;
    atomic_store(&last, now);
    if (final) {
        signal(number, SIG_DFL);
        raise(number);
    }
    atomic_fetch_sub(&tries_left, 1);
    caught = number;
    count++;
    alarm(1);
}

/* What the handler has set may be looked at just before a system call that waits for somebody else begins, and then the signal has
 * come too early to end it. So the call is interrupted again, every second, until the program has ended. */
static void on_alarm(int number) {
    (void)number;
    alarm(1);
}

/* Has only to be there: it is what ends a system call. */
static void on_wake(int number) {
    (void)number;
}

void signals_take(int number, const struct sigaction *action) {
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(number, action, NULL);
}

void signals_handle(int tries) {
    struct sigaction action = {.sa_handler = on_signal};
    tries_left = tries;
    sigemptyset(&action.sa_mask);
    signals_take(SIGINT, &action);
    signals_take(SIGTERM, &action);
    signals_take(SIGHUP, &action);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    action.sa_handler = on_wake;
    sigaction(SIGUSR1, &action, NULL);
    /* A closed pipe is an error of write(), so that the temporary files are removed. */
    signal(SIGPIPE, SIG_IGN);
    /* So is a file that grows beyond `ulimit -f`. */
    signal(SIGXFSZ, SIG_IGN);
}

int signals_caught(void) {
    return caught;
}

int signals_count(void) {
    return count;
}

void signals_wake(pthread_t thread) {
    pthread_kill(thread, SIGUSR1);
}
