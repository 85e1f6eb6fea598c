#!/bin/sh
# guests.sh - QEMU, kernels and CRIU for the tests of clones: into build/guests, from Debian's packages.
#
# usage: guests.sh [x86_64|aarch64]        x86_64, and CRIU with it, if none is given
#
# The packages are unpacked there, and not installed. QEMU is trixie's (vmclock takes 10 or later) with all libraries that
# it needs. CRIU is trixie's too: bookworm's fails on Linux 6.18. The kernels are bookworm's, whose 6.1 knows no vmgenid,
# and that of trixie-backports, which knows vmgenid and vmclock; for aarch64 it is the latter alone. Fetches nothing where
# all is there. Exit status 77: they cannot be had here; the last line says why.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

guests=$PWD/build/guests
log=$guests/log

# fetch_kernel NAME RELEASE ARCHITECTURE [OPTION...] - the kernel that the release has now, as vmlinuz and the modules that
# are wanted.
fetch_kernel()
{
    name=$1 release=$2 architecture=$3
    shift 3
    debian extract "$release" "$guests/whole" --architectures="$architecture" \
        --include="linux-image-cloud-$architecture/$release" "$@" || return 1
    rm -rf "$guests/kernels/$name"
    mkdir -p "$guests/kernels/$name/modules"
    find "$guests/whole/usr/lib/modules" -name 'ptp_vmclock.ko*' -exec mv {} "$guests/kernels/$name/modules" ';'
    find "$guests/whole" -name 'vmlinuz*' -type f -exec mv {} "$guests/kernels/$name/vmlinuz" ';'
    ls "$guests/whole/usr/lib/modules" >"$guests/kernels/$name/name"
    rm -rf "$guests/whole"
    [ -e "$guests/kernels/$name/vmlinuz" ]
}

fetch()
{
    stable="--setup-hook=echo deb $(debian_mirror) trixie main >>\"\$1\"/etc/apt/sources.list"
    case $1 in
    x86_64)
        debian extract trixie "$guests/criu" --include=criu &&
            debian extract trixie "$guests/qemu-x86_64" --include=qemu-system-x86 &&
            fetch_kernel debian12 bookworm amd64 && fetch_kernel backports trixie-backports amd64 "$stable"
        ;;
    aarch64)
        debian extract trixie "$guests/qemu-aarch64" --include=qemu-system-arm &&
            fetch_kernel arm64 trixie-backports arm64 "$stable"
        ;;
    *) echo "no guests of $1" && return 1 ;;
    esac
}

what=${1-x86_64}
need_packages mmdebstrap || cannot "mmdebstrap cannot be installed"

mkdir -p "$guests"
exec 9>"$guests/lock"
flock 9
[ ! -e "$guests/fetched-$what" ] || exit 0
echo "Fetching: QEMU and kernels for $what into build/guests"
fetch "$what" >"$log" 2>&1 9>&- || cannot "QEMU and kernels cannot be fetched: $(tail -n 1 "$log")"
: >"$guests/fetched-$what"
