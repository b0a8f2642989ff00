/* SIGINT, SIGTERM and SIGHUP, from which the command ends in an orderly way. */
#ifndef SIGNALS_H
#define SIGNALS_H
#include <pthread.h>
#include <signal.h>

/* `tries`: with the how many-th signal the program ends at once, with whatever it leaves, unless that comes within a second of the
 * one before. A signal that is ignored stays so. Closed pipes and files that grow too large become errors of write(). */
void signals_handle(int tries);
/* Sets what is done at a signal, unless it is ignored: whoever started the command with nohup, or as a job of a script in the
 * background, wants it to go on. */
void signals_take(int number, const struct sigaction *action);
/* The last signal that came, or 0, and how many came. Any thread. */
int signals_caught(void);
int signals_count(void);
/* Interrupts what a thread waits for in the system, such as the other end of a pipe: a signal reaches one thread only. */
void signals_wake(pthread_t thread);
#endif
