#!/bin/bash
# A job array: each task does its part, on whatever machine has room.
#   IN=/data/photos OUT=/data/small CHAIN=gray,blur sbatch --array=0-7 samples/cluster/slurm-array.sh
# A task that was killed or has failed is submitted again alone with the same numbers: --array=0-7 as a whole is best, since what is
# done is skipped. An array with gaps is refused, because its missing parts would be done by nobody.
#SBATCH --job-name=imgpipe
#SBATCH --array=0-7
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --time=04:00:00
# A minute before the time is over the images at work are finished, and the task ends; --requeue lets it begin again after a preemption.
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
set -eu
: "${IN:?the folder of images}" "${OUT:?the folder of the results}" "${CHAIN:?the filters}"
mkdir -p "$OUT"
# The signal is for the shell, whose place imgpipe takes. It uses the processors that Slurm gives the task.
exec "${IMGPIPE:-imgpipe}" -r "$IN" -f "$CHAIN" --resume --shard auto "$OUT/"
