/* One pool of threads for all work of a context. Tasks of a higher class run first: encode before compute before decode,
 * so that finished work leaves memory before new work enters it. With one thread the same code runs inline in
 * tasks_run(). A task never blocks on another task. */
#ifndef TASKS_H
#define TASKS_H
#include "imgpipe.h"

struct tasks;
enum task_class { TASK_ENCODE, TASK_COMPUTE, TASK_DECODE, TASK_CLASSES };

/* `threads` >= 1 counts the thread that calls tasks_run(). */
imgpipe_status tasks_new(int threads, struct tasks **tasks, imgpipe_error *error);
void tasks_free(struct tasks *tasks);
int tasks_threads(const struct tasks *tasks);

/* A task, embedded in the caller's struct, which must stay until `run` has been entered. `worker` (0 … threads-1) names
 * the thread, for per-thread scratch. */
struct task {
    void (*run)(struct task *task, int worker);
    struct task *next;
};
void tasks_add(struct tasks *tasks, enum task_class class_, struct task *task);
/* Works on tasks, and sleeps while there are none, until *done (guarded by the pool's lock, set through tasks_finish)
 * is true. Only one thread at a time may be in tasks_run() of a pool; others wait for their turn. */
void tasks_run(struct tasks *tasks, const bool *done);
/* Sets *done and wakes tasks_run(). */
void tasks_finish(struct tasks *tasks, bool *done);
/* CPUs allowed by affinity and cgroup quota, at least 1. */
int tasks_default_threads(void);
#endif
