#!/usr/bin/env bash
# The training loop on a disk whose rate is known: throttles reads of this shell and of what it starts by cgroup blkio (version
# 1) or io (version 2), runs scenarios/training-throttled.toml, and takes the throttle away again. As root.
#   docs/throttled.sh [BYTES_PER_SECOND] [RESULTS]
set -euo pipefail
cd "$(dirname "$0")/.."
bps=${1:-150000000}
results=${2:-results}
device=$(lsblk -ndo MAJ:MIN "$(df --output=source . | tail -1)" | tr -d ' ')
if [ -d /sys/fs/cgroup/blkio ]; then
    group=/sys/fs/cgroup/blkio/feedline-throttled
    home=/sys/fs/cgroup/blkio
    mkdir -p "$group"
    echo "$device $bps" >"$group/blkio.throttle.read_bps_device"
else
    group=/sys/fs/cgroup/feedline-throttled
    home=/sys/fs/cgroup
    echo +io >"$home/cgroup.subtree_control"
    mkdir -p "$group"
    echo "$device rbps=$bps" >"$group/io.max"
fi
back() {
    echo $$ >"$home/cgroup.procs"
    rmdir "$group"
}
# The dataset is written before anything is throttled.
target/release/feedline prepare scenarios/training-throttled.toml
trap back EXIT
echo $$ >"$group/cgroup.procs"
target/release/feedline run scenarios/training-throttled.toml --results "$results" --quiet
