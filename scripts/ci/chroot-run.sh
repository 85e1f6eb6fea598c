#!/bin/sh
# chroot-run.sh - runs a command in a chroot that has /proc, a small /dev and an empty /tmp and /run.
#
# usage: chroot-run.sh [--bind FROM TO] ROOT COMMAND [ARGUMENT...]
#
# All of it in a mount and a process namespace of its own: whatever was mounted and started inside is gone when the
# command ends, however it ends. Takes root.

set -eu

if [ "$1" != --inside ]; then
    # A session of its own: a server that ends its process group (Apache does) must not reach those outside.
    exec unshare --mount --propagation private --pid --fork --kill-child setsid "$0" --inside "$@"
fi
shift

from=
if [ "$1" = --bind ]; then
    from=$2 to=$3
    shift 3
fi
root=$1
shift

mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755,size=1m dev "$root/dev"
for node in null zero full random urandom; do
    : >"$root/dev/$node"
    mount --bind "/dev/$node" "$root/dev/$node"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mount -t tmpfs -o mode=755 run "$root/run"
if [ -n "$from" ]; then
    mkdir -p "$root$to"
    mount --bind "$from" "$root$to"
fi

# Not exec: as the namespace's first process the shell reaps what servers leave behind.
chroot "$root" "$@"
