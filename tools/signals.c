#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* The only state outside the functions: a handler has no other way to say anything. Atomic, because the handler runs on any
 * thread, and all threads read it. */
static atomic_int caught, count, tries_left;

static void on_signal(int number) {
    if (atomic_fetch_sub(&tries_left, 1) <= 1) {
        signal(number, SIG_DFL);
        raise(number);
    }
    caught = number;
    count++;
}

/* Has only to be there: it is what ends a system call. */
static void on_wake(int number) {
    (void)number;
}

void signals_handle(int tries) {
    struct sigaction action = {.sa_handler = on_signal};
    tries_left = tries;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
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
