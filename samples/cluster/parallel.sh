#!/bin/bash
# GNU parallel: PARTS jobs, on this machine or, with --sshlogin in PARALLEL_OPTIONS, on others that see the same folders.
#   IN=/data/photos OUT=/data/small CHAIN=gray,blur PARTS=8 PARALLEL_OPTIONS='--sshlogin 2/host1,2/host2' samples/cluster/parallel.sh
set -eu
: "${IN:?the folder of images}" "${OUT:?the folder of the results}" "${CHAIN:?the filters}"
mkdir -p "$OUT"
parts=${PARTS:-8}
# -q: names and chains reach imgpipe as they are. A part that fails is tried twice.
# shellcheck disable=SC2086
seq "$parts" | parallel -q ${PARALLEL_OPTIONS:---jobs 2} --retries 2 \
    "${IMGPIPE:-imgpipe}" -r "$IN" -f "$CHAIN" -j "${CPUS_PER_PART:-1}" --resume --shard "{}/$parts" "$OUT/"
