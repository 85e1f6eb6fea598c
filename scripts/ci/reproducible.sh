#!/bin/sh
# reproducible.sh - whether the same sources give the same packages, bit for bit, wherever they are built.
#
#     reproducible.sh FOLDER           builds them once more, and compares them with those in FOLDER
#     reproducible.sh FOLDER FOLDER    compares those that are there
#
# Builds in another folder, a year later, as another user, under another umask, locale and time zone, with one processor,
# on a file system that lists files in another order, without the caller's environment. diffoscope says where packages
# differ, if it is installed. Installs what it needs from Debian's packages (root).

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh
# shellcheck source=scripts/packaging/sources.sh
. scripts/packaging/sources.sh

# build_elsewhere - into $again. The copies are no checkouts, whose last commit is the date.
build_elsewhere()
{
    need_packages disorderfs faketime
    chmod 711 "$work"
    mkdir "$work/a longer path" "$work/shuffled"
    copy_sources "$work/a longer path/drng"
    chown -R nobody: "$work/a longer path"
    # A user who may use the mount, and files in the reverse order of what the file system says; in namespaces of its
    # own, so that nothing of it stays mounted or running, however this ends.
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount --propagation private --pid --fork --kill-child --mount-proc sh -ec '
        mount -t tmpfs -o mode=1777 shm /dev/shm # where faketime finds what a killed run has left under its number
        disorderfs --multi-user=yes --shuffle-dirents=no --reverse-dirents=yes "$1" "$2" >/dev/null
        cd "$2"
        exec setpriv --reuid=nobody --regid=nogroup --clear-groups \
            env -i HOME=/nonexistent PATH="$PATH" LC_ALL=C.UTF-8 LANG=fr_CH.UTF-8 TZ=Asia/Kathmandu SOURCE_DATE_EPOCH="$3" \
            faketime -f +400d sh -c "umask 077; taskset --cpu-list 0 scripts/packaging/package.sh out"' \
        sh "$work/a longer path/drng" "$work/shuffled" "${SOURCE_DATE_EPOCH:-$(source_date)}" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        fail "it cannot be built as another user on disorderfs, which takes root and /dev/fuse"
    }
    again="$work/a longer path/drng/out"
}

[ $# -gt 0 ] || fail "name the folder with the packages"
work_in drng-reproducible
again=${2-}
[ -n "$again" ] || build_elsewhere
compared=0
for package in "$1"/*drng*.deb "$1"/*drng*.rpm; do
    cmp "$package" "$again/${package##*/}" >&2 || {
        ! command -v diffoscope >/dev/null || diffoscope "$package" "$again/${package##*/}" 2>&1 | head -n 60 >&2 || true
        fail "${package##*/} is another one when it is built elsewhere"
    }
    sha256sum "$package"
    compared=$((compared + 1))
done
[ "$compared" -ge 3 ] || fail "$1 does not hold .debs and .rpms"
