/* A part is never guessed: a rank without a count, a count that does not fit, a batch script that runs once for many tasks are
 * errors, because the images of a part that nobody does would be missing without a word. */
#include "shard.h"
#include "cut.h"
#include "fnv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...) (snprintf(message, SHARD_MESSAGE, __VA_ARGS__), false)
#define MOST 1000000000

static bool read_number(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || number < 0 || number > MOST || *text == '+' || *text == ' ') return false;
    *value = number;
    return true;
}

/* A variable of the environment: 1 with its value, 0 if it is missing or empty, -1 (with `message`) if it is no number. */
static int variable(const char *name, int64_t *value, char *message) {
    const char *text = getenv(name);
    if (!text || !*text) return 0;
    if (read_number(text, value)) return 1;
    snprintf(message, SHARD_MESSAGE, "--shard auto: %s is '%s', which is no number; write --shard I/N", name, CUT(text, 60));
    return -1;
}

/* Rank and count as a launcher says them: 1, 0 if it has not, -1. A count of 0 is one that it did not say. */
static int launcher(const char *rank, const char *size, struct shard *shard, char *message) {
    int found = variable(rank, &shard->index, message);
    if (found <= 0) return found;
    shard->count = 0;
    found = variable(size, &shard->count, message);
    return found < 0 ? -1 : 1;
}

/* Where the array task stands in its array. `array` is false if there is none; then it counts as the only one. */
static bool slurm_array(bool *array, int64_t *index, int64_t *count, char *message) {
    int64_t id, least, most, step = 1, counted = 0;
    int has = variable("SLURM_ARRAY_TASK_ID", &id, message);
    *array = has == 1;
    *index = 0;
    *count = 1;
    if (has <= 0) return has == 0;
    int has_least = variable("SLURM_ARRAY_TASK_MIN", &least, message), has_step = variable("SLURM_ARRAY_TASK_STEP", &step, message);
    int has_most = variable("SLURM_ARRAY_TASK_MAX", &most, message), has_count = variable("SLURM_ARRAY_TASK_COUNT", &counted, message);
    if (has_least < 0 || has_step < 0 || has_most < 0 || has_count < 0) return false;
    if (!has_least) return SAY("--shard auto: SLURM_ARRAY_TASK_ID is set, but not SLURM_ARRAY_TASK_MIN; write --shard I/N");
    if (!has_step || step < 1) step = 1;
    *index = (id - least) / step;
    *count = has_count ? counted : has_most && most >= least ? (most - least) / step + 1 : 0;
    bool gaps = id < least || (id - least) % step || (*count && *index >= *count) ||
                (has_count && has_most && (most - least) / step + 1 != counted);
    if (gaps)
        return SAY("--shard auto: the numbers of this job array have gaps (%lld tasks from %lld on in steps of %lld, and this is %lld), so "
                   "some parts would belong to no task; use an array like 0-7, or write --shard I/N",
                   (long long)*count, (long long)least, (long long)step, (long long)id);
    return true;
}

/* Slurm: array tasks times the tasks of the step. */
static int slurm(struct shard *shard, char *message) {
    int64_t index, count, tasks = 1, rank = 0, asked = 1;
    bool array;
    int has_step = variable("SLURM_STEP_NUM_TASKS", &tasks, message), has_asked = variable("SLURM_NTASKS", &asked, message);
    int has_rank = variable("SLURM_PROCID", &rank, message);
    if (has_step < 0 || has_asked < 0 || has_rank < 0 || !slurm_array(&array, &index, &count, message)) return -1;
    if (!array && !has_step && !has_asked && !has_rank) return 0;
    if (!has_step && has_asked && asked > 1) {
        snprintf(message, SHARD_MESSAGE, "--shard auto: the job has %lld tasks (SLURM_NTASKS), but only one process was started; start it by "
                                         "srun, or write --shard I/N", (long long)asked);
        return -1;
    }
    if (has_step && !has_rank) {
        snprintf(message, SHARD_MESSAGE, "--shard auto: SLURM_STEP_NUM_TASKS is set, but not SLURM_PROCID; write --shard I/N");
        return -1;
    }
    if (!has_step) tasks = 1, rank = 0;
    if (tasks < 1 || rank >= tasks) {
        snprintf(message, SHARD_MESSAGE, "--shard auto: SLURM_PROCID %lld is not below SLURM_STEP_NUM_TASKS %lld; write --shard I/N",
                 (long long)rank, (long long)tasks);
        return -1;
    }
    shard->index = index * tasks + rank;
    shard->count = count * tasks;
    return 1;
}

static int kubernetes(struct shard *shard, char *message) {
    shard->count = 0;
    return variable("JOB_COMPLETION_INDEX", &shard->index, message);
}

static int find_local(struct shard *shard, char *message) {
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"};
    shard->local = -1;
    for (int i = 0; i < 4; i++) {
        int found = variable(names[i], &shard->local, message);
        if (found) return found;
    }
    return 0;
}

static bool find_auto(const char *given, struct shard *shard, char *message) {
    int64_t wanted = 0;
    if (given && (!read_number(given, &wanted) || wanted < 1))
        return SAY("--shard: 'auto/%s': what stands behind the slash is no count; write a whole number from 1", CUT(given, 60));
    int found = launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", shard, message);
    if (!found) found = launcher("PMI_RANK", "PMI_SIZE", shard, message);
    if (!found) found = slurm(shard, message);
    if (!found) found = kubernetes(shard, message);
    if (found < 0) return false;
    if (!found) return SAY("--shard auto: the environment says nothing of MPI, Slurm or Kubernetes; write --shard I/N");
    if (!shard->count && !wanted)
        return SAY("--shard auto: this is part %lld, but how many there are is not known; write --shard auto/N", (long long)shard->index + 1);
    if (shard->count && wanted && shard->count != wanted)
        return SAY("--shard auto/%lld: the environment says that there are %lld parts; leave out the count", (long long)wanted,
                   (long long)shard->count);
    if (!shard->count) shard->count = wanted;
    if (shard->index >= shard->count)
        return SAY("--shard auto: this would be part %lld of %lld, which there is not; write --shard I/N", (long long)shard->index + 1,
                   (long long)shard->count);
    return find_local(shard, message) >= 0;
}

bool shard_find(const char *text, struct shard *shard, char message[SHARD_MESSAGE]) {
    *shard = (struct shard){.index = 0, .count = 1, .local = -1};
    if (!text) return true;
    if (strncmp(text, "auto", 4) == 0 && (text[4] == 0 || text[4] == '/'))
        return find_auto(text[4] ? text + 5 : NULL, shard, message);
    char part[24];
    const char *slash = strchr(text, '/');
    snprintf(part, sizeof part, "%.*s", slash ? (int)(slash - text < 20 ? slash - text : 20) : 0, text);
    bool right = slash && read_number(part, &shard->index) && read_number(slash + 1, &shard->count);
    if (!right || shard->index < 1 || shard->index > shard->count)
        return SAY("--shard: '%s' is no part; write I/N with I from 1 to N, such as 1/4, or auto", CUT(text, 60));
    shard->index--;
    return true;
}

bool shard_has(const struct shard *shard, const char *rel) {
    uint64_t hash = FNV1A_START;
    if (shard->count == 1) return true;
    for (const unsigned char *p = (const unsigned char *)rel; *p; p++) hash = fnv1a(hash, *p);
    return hash % (uint64_t)shard->count == (uint64_t)shard->index;
}
