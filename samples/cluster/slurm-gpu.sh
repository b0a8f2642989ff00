#!/bin/bash
# Four tasks on each of two nodes, each with a GPU. Where Slurm shows a task its own GPU only, that is taken; where it shows all of the
# node, the rank on the node chooses.
#   IN=/data/photos OUT=/data/small CHAIN=gray,blur sbatch samples/cluster/slurm-gpu.sh
#SBATCH --job-name=imgpipe-gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
set -eu
: "${IN:?the folder of images}" "${OUT:?the folder of the results}" "${CHAIN:?the filters}"
mkdir -p "$OUT"
# Without srun there would be one process for eight tasks, which --shard auto refuses. Newer versions of srun want to be told the
# processors of a task again.
exec srun --kill-on-bad-exit=0 --cpus-per-task="${SLURM_CPUS_PER_TASK:-8}" \
    "${IMGPIPE:-imgpipe}" -r "$IN" -f "$CHAIN" --device "${DEVICE:-cuda}" --resume --shard auto "$OUT/"
