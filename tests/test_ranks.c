/* Which GPU a process takes among those of one machine: the launchers' variables, and counts of GPUs that need not be there. And how many
 * images are at work at once. */
#include "checks.h"
#include "settings.h"
#include "shard.h"

#include <stdlib.h>

static const char *const variables[] = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "MPI_LOCALRANKID",
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"};

/* The rank on this machine that --shard auto finds with these variables ("NAME=VALUE", up to NULL); -2: it is refused. */
static int64_t local_rank(const char *const *set) {
    struct shard shard;
    char message[SHARD_MESSAGE];
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    for (; *set; set++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*set, "="), *set);
        setenv(name, strchr(*set, '=') + 1, 1);
    }
    return shard_find("auto", &shard, message) ? shard.local : -2;
}
#define LOCAL(...) local_rank((const char *const[]){__VA_ARGS__, NULL})

static bool takes(const char *device, int64_t local, int gpus, const char *expected) {
    struct options options = {.device = device};
    char found[24] = "unset";
    settings_choose_gpu(&options, local, gpus, found);
    if (strcmp(found, expected) != 0) printf("%s, rank %lld of %d GPUs: '%s'\n", device ? device : "none", (long long)local, gpus, found);
    return strcmp(found, expected) == 0;
}

static void ranks_of_launchers(void) {
    CHECK(LOCAL("SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=8", "SLURM_LOCALID=1") == 1);
    CHECK(LOCAL("OMPI_COMM_WORLD_RANK=6", "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_LOCAL_RANK=2") == 2);
    CHECK(LOCAL("PMI_RANK=3", "PMI_SIZE=4", "MPI_LOCALRANKID=3") == 3);
    CHECK(LOCAL("PMI_RANK=3", "PMI_SIZE=4", "PMI_LOCAL_RANK=0") == 0);
    /* mpirun within a Slurm job: the step has one task a node, and Open MPI knows the rank. */
    CHECK(LOCAL("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=1", "SLURM_LOCALID=0") == 1);
    CHECK(LOCAL("SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2") == -1);
    CHECK(LOCAL("SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_LOCALID=one") == -2);
}

static void gpus_in_turn(void) {
    CHECK(takes("cuda", 0, 4, "cuda:0"));
    CHECK(takes("cuda", 3, 4, "cuda:3"));
    CHECK(takes("cuda", 5, 4, "cuda:1")); /* more processes than GPUs */
    CHECK(takes("auto", 2, 4, "auto:2"));
    CHECK(takes(NULL, 1, 2, "auto:1"));
    CHECK(takes("cuda", 7, 1, "cuda:0")); /* Slurm may show each task its own GPU alone */
    CHECK(takes("cuda", 1, 0, ""));       /* without one the name stays, and what is wrong is told */
    CHECK(takes("cuda", -1, 4, ""));
    CHECK(takes("cuda:1", 3, 4, ""));
    CHECK(takes("cuda:all", 3, 4, ""));
    CHECK(takes("cpu", 3, 4, ""));
}

static int lanes(const char *device, int threads, uint64_t bytes) {
    struct options options = {.device = device, .threads = threads};
    return settings_lanes(&options, bytes);
}

static void images_at_once(void) {
    CHECK(lanes("cuda", 16, 1000000) == 24 && lanes("cuda:all", 16, 1000000) == 24 && lanes("cuda:1", 1, 1000000) == 1);
    CHECK(lanes("cpu", 16, 1000000) == 16 && lanes("auto", 16, 1000000) == 16 && lanes(NULL, 3, 1000000) == 3);
    CHECK(lanes("cuda", 16, 12000) == 16 && lanes("cuda", 16, 0) == 16);
}

int main(void) {
    ranks_of_launchers();
    gpus_in_turn();
    images_at_once();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
