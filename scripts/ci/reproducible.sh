#!/bin/sh
# reproducible.sh - whether the same sources give the same packages, bit for bit, wherever they are built.
#
#     reproducible.sh                  builds all packages twice under reprotest, with all that it varies
#     reproducible.sh --quick FOLDER   builds them once more, and compares them with those in FOLDER
#     reproducible.sh --compare FOLDER FOLDER
#
# --quick builds in another folder, a year later, as another user, under another umask, locale and time zone, with one
# processor, on a file system that lists files in another order, without the caller's environment. lintian does not look
# at these: they are the same, or that is the fault. diffoscope says where packages differ, if it is installed. Installs
# what it needs from Debian's packages (root).

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh
# shellcheck source=scripts/packaging/sources.sh
. scripts/packaging/sources.sh

# The copies are no checkouts, whose last commit is the date.
date=${SOURCE_DATE_EPOCH:-$(source_date)}
work_in drng-reproducible

whole()
{
    need_packages reprotest diffoscope-minimal disorderfs faketime
    copy_sources "$work/sources"
    # The host's name takes namespaces and sudo; package.sh asks for none of it.
    (cd "$work/sources" && reprotest --min-cpus 1 --vary=-domain_host,-user_group \
        -c "SOURCE_DATE_EPOCH=$date scripts/packaging/package.sh out" . 'out/*drng*.*')
}

# compare FOLDER FOLDER - each package of the first with that of the second.
compare()
{
    compared=0
    for package in "$1"/*drng*.deb "$1"/*drng*.rpm; do
        again=$2/${package##*/}
        cmp "$package" "$again" >&2 || {
            ! command -v diffoscope >/dev/null || diffoscope "$package" "$again" 2>&1 | head -n 60 >&2 || true
            fail "${package##*/} is another one when it is built elsewhere"
        }
        sha256sum "$package"
        compared=$((compared + 1))
    done
    [ "$compared" -ge 3 ] || fail "$1 does not hold .debs and .rpms"
}

quick()
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
        disorderfs --multi-user=yes --shuffle-dirents=no --reverse-dirents=yes "$1" "$2" >/dev/null
        cd "$2"
        exec setpriv --reuid=nobody --regid=nogroup --clear-groups \
            env -i HOME=/nonexistent PATH="$PATH" LC_ALL=C.UTF-8 LANG=fr_CH.UTF-8 TZ=Asia/Kathmandu DRNG_LINT=no SOURCE_DATE_EPOCH="$3" \
            faketime -f +400d sh -c "umask 077; taskset --cpu-list 0 scripts/packaging/package.sh out"' \
        sh "$work/a longer path/drng" "$work/shuffled" "$date" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        fail "it cannot be built as another user on disorderfs, which takes root and /dev/fuse"
    }
    compare "$1" "$work/a longer path/drng/out"
}

case ${1-} in
'') whole ;;
--quick)
    [ $# = 2 ] || fail "name the folder with the packages"
    quick "$2"
    ;;
--compare)
    [ $# = 3 ] || fail "name two folders with packages"
    compare "$2" "$3"
    ;;
*)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 64
    ;;
esac
