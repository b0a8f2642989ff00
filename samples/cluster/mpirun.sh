#!/bin/bash
# As many ranks as PARTS, with one of several processors each, on this machine or those of a host file (-hostfile in MPIRUN_OPTIONS).
#   IN=/data/photos OUT=/data/small CHAIN=gray,blur PARTS=4 samples/cluster/mpirun.sh
set -eu
: "${IN:?the folder of images}" "${OUT:?the folder of the results}" "${CHAIN:?the filters}"
mkdir -p "$OUT"
# Open MPI would bind each rank to one core, and imgpipe uses the processors that it may; so say how many a rank has.
# shellcheck disable=SC2086
exec mpirun -np "${PARTS:-4}" --map-by "slot:PE=${CPUS_PER_PART:-1}" ${MPIRUN_OPTIONS:-} \
    "${IMGPIPE:-imgpipe}" -r "$IN" -f "$CHAIN" --resume --shard auto "$OUT/"
