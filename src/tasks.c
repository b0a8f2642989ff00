#include "tasks.h"
#include "status.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* What the pool knows of a thread. Guarded by the lock. */
struct worker {
    pthread_t handle;           /* not of the first one, which is whoever is in tasks_run() */
    pthread_cond_t wake;
    bool asleep, moved;         /* moved: may run on `others` only, and `allowed` is to be put back */
    int cpu;                    /* where it fell asleep */
    cpu_set_t allowed, others;
};

struct tasks {
    pthread_mutex_t lock;
    pthread_mutex_t runner;         /* held by the thread that is in tasks_run() and so is worker 0 */
    struct task *head[TASK_CLASSES], *tail[TASK_CLASSES];
    bool stop;
    int room, threads, started; /* workers there is memory for, that are counted on, and that were started */
    struct worker *workers;
};

struct worker_start {
    struct tasks *tasks;
    int worker;
};

/* Called and returns with the lock held. */
static struct task *next_task(struct tasks *tasks) {
    for (int c = 0; c < TASK_CLASSES; c++) {
        struct task *task = tasks->head[c];
        if (!task) continue;
        tasks->head[c] = task->next;
        if (!tasks->head[c]) tasks->tail[c] = NULL;
        return task;
    }
    return NULL;
}

/* A thread that wakes on the CPU where it fell asleep waits there for the one that woke it, and Linux may take longer to move it to
 * an idle CPU than a short run lasts: with two CPUs it does not even look for one (SIS_UTIL). So it is kept off this CPU until it
 * has woken. */
static void move(const struct tasks *tasks, struct worker *worker, int here) {
    if (here >= CPU_SETSIZE || pthread_getaffinity_np(worker->handle, sizeof worker->allowed, &worker->allowed) != 0) return;
    worker->others = worker->allowed;
    CPU_CLR(here, &worker->others);
    if (CPU_COUNT(&worker->others) < tasks->started) return; /* all are busy anyway */
    worker->moved = pthread_setaffinity_np(worker->handle, sizeof worker->others, &worker->others) == 0;
}

/* It may run everywhere again, unless somebody else (taskset) has said meanwhile where. */
static void free_moved(struct worker *worker) {
    cpu_set_t now;
    if (!worker->moved) return;
    worker->moved = false;
    if (pthread_getaffinity_np(pthread_self(), sizeof now, &now) != 0 || !CPU_EQUAL(&now, &worker->others)) return;
    pthread_setaffinity_np(pthread_self(), sizeof worker->allowed, &worker->allowed);
}

/* Wakes one that sleeps, if any does, best one that fell asleep elsewhere. Called with the lock held. */
static void wake_one(struct tasks *tasks) {
    const int here = sched_getcpu();
    struct worker *chosen = NULL;
    for (int i = 0; i <= tasks->started && (!chosen || chosen->cpu == here); i++)
        if (tasks->workers[i].asleep) chosen = &tasks->workers[i];
    if (!chosen) return;
    chosen->asleep = false;
    if (chosen != tasks->workers && here >= 0 && chosen->cpu == here) move(tasks, chosen, here);
    pthread_cond_signal(&chosen->wake);
}

/* Called and returns with the lock held. */
static void sleep_as(struct tasks *tasks, struct worker *worker) {
    worker->cpu = sched_getcpu();
    worker->asleep = true;
    pthread_cond_wait(&worker->wake, &tasks->lock);
    worker->asleep = false;
    free_moved(worker);
}

static void *worker_main(void *argument) {
    struct worker_start start = *(struct worker_start *)argument;
    free(argument);
    struct tasks *tasks = start.tasks;
    pthread_mutex_lock(&tasks->lock);
    while (!tasks->stop) {
        struct task *task = next_task(tasks);
        if (!task) {
            sleep_as(tasks, &tasks->workers[start.worker]);
            continue;
        }
        pthread_mutex_unlock(&tasks->lock);
        task->run(task, start.worker);
        pthread_mutex_lock(&tasks->lock);
    }
    pthread_mutex_unlock(&tasks->lock);
    return NULL;
}

imgpipe_status tasks_new(int threads, struct tasks **out, imgpipe_error *error) {
    struct tasks *tasks = calloc(1, sizeof *tasks);
    if (tasks) tasks->workers = calloc((size_t)threads, sizeof *tasks->workers);
    if (!tasks || !tasks->workers) {
        free(tasks);
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for %d threads", threads);
    }
    pthread_mutex_init(&tasks->lock, NULL);
    pthread_mutex_init(&tasks->runner, NULL);
    for (int i = 0; i < threads; i++) pthread_cond_init(&tasks->workers[i].wake, NULL);
    tasks->room = threads;
    tasks->threads = threads;
    for (int i = 1; i < threads; i++) {
        struct worker_start *start = malloc(sizeof *start);
        if (start) *start = (struct worker_start){tasks, i};
        if (!start || pthread_create(&tasks->workers[i].handle, NULL, worker_main, start) != 0) {
            free(start);
            tasks->threads = i; /* fewer threads do the same work */
            break;
        }
        tasks->started = i;
    }
    *out = tasks;
    return IMGPIPE_OK;
}

void tasks_free(struct tasks *tasks) {
    if (!tasks) return;
    pthread_mutex_lock(&tasks->lock);
    tasks->stop = true;
    for (int i = 0; i <= tasks->started; i++) pthread_cond_signal(&tasks->workers[i].wake);
    pthread_mutex_unlock(&tasks->lock);
    for (int i = 1; i <= tasks->started; i++) pthread_join(tasks->workers[i].handle, NULL);
    for (int i = 0; i < tasks->room; i++) pthread_cond_destroy(&tasks->workers[i].wake);
    pthread_mutex_destroy(&tasks->lock);
    pthread_mutex_destroy(&tasks->runner);
    free(tasks->workers);
    free(tasks);
}

int tasks_threads(const struct tasks *tasks) { return tasks->threads; }

void tasks_add(struct tasks *tasks, enum task_class class_, struct task *task) {
    task->next = NULL;
    pthread_mutex_lock(&tasks->lock);
    if (tasks->tail[class_])
        tasks->tail[class_]->next = task;
    else
        tasks->head[class_] = task;
    tasks->tail[class_] = task;
    wake_one(tasks);
    pthread_mutex_unlock(&tasks->lock);
}

void tasks_run(struct tasks *tasks, const bool *done) {
    pthread_mutex_lock(&tasks->runner);
    pthread_mutex_lock(&tasks->lock);
    while (!*done) {
        struct task *task = next_task(tasks);
        if (!task) {
            sleep_as(tasks, &tasks->workers[0]);
            continue;
        }
        pthread_mutex_unlock(&tasks->lock);
        task->run(task, 0);
        pthread_mutex_lock(&tasks->lock);
    }
    pthread_mutex_unlock(&tasks->lock);
    pthread_mutex_unlock(&tasks->runner);
}

void tasks_finish(struct tasks *tasks, bool *done) {
    pthread_mutex_lock(&tasks->lock);
    *done = true;
    pthread_cond_signal(&tasks->workers[0].wake);
    pthread_mutex_unlock(&tasks->lock);
}

/* CPUs that a cgroup's quota allows, rounded up; 0 if there is none. Version 2 at its usual place, then version 1. */
static int cgroup_cpus(void) {
    double quota = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (file) {
        if (fscanf(file, "%lf %lf", &quota, &period) != 2) quota = 0;
        fclose(file);
    } else if ((file = fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "r"))) {
        if (fscanf(file, "%lf", &quota) != 1) quota = 0;
        fclose(file);
        file = fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "r");
        if (file) {
            if (fscanf(file, "%lf", &period) != 1) period = 0;
            fclose(file);
        }
    }
    if (quota <= 0 || period <= 0) return 0;
    int cpus = (int)((quota + period - 1) / period);
    return cpus < 1 ? 1 : cpus;
}

int tasks_default_threads(void) {
    cpu_set_t set;
    int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    int quota = cgroup_cpus();
    if (quota && quota < allowed) allowed = quota;
    return allowed < 1 ? 1 : allowed;
}
