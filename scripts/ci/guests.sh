#!/bin/sh
# guests.sh - QEMU, kernels and CRIU for the tests of clones: into build/guests, from Debian's packages.
#
# usage: guests.sh [x86_64|aarch64]        x86_64, and CRIU with it, if none is given
#
# Nothing is installed, and no root is needed: the packages are unpacked there. QEMU is trixie's (vmclock takes 10 or
# later) with all libraries that it needs. CRIU is trixie's too: bookworm's fails on Linux 6.18. The kernels are
# bookworm's, whose 6.1 knows no vmgenid, and that of trixie-backports, which knows vmgenid and vmclock; for aarch64 it is
# the latter alone. 110 MB are fetched, and 60 MB for aarch64, in some twenty seconds, or a minute on a busy machine.
# Fetches nothing where all is there. Exit status 77: they cannot be had here; the last line says why.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

guests=$PWD/build/guests
apt=$guests/apt
log=$guests/log

# ---- What is fetched ----

# fetch_program FOLDER PACKAGE - with all that it needs, from trixie alone: as if nothing at all were installed.
fetch_program()
{
    rm -rf "${guests:?}/$1"
    mkdir -p "$apt/$1/partial" "$guests/$1"
    private_apt apt-get install -y -qq --download-only -t trixie -o Dir::Cache::archives="$apt/$1" "$2/trixie" || return 1
    for package in "$apt/$1"/*.deb; do
        dpkg-deb -x "$package" "$guests/$1" || return 1
    done
}

# depends RELEASE PACKAGE - the names of its kernel's packages; from 7.3 on image and modules are packages of their own.
depends()
{
    private_apt apt-cache -t "$1" depends --important "$2" |
        sed -n 's/^ *Depends: \(linux-\(image\|binary\|modules\)-[0-9].*\)$/\1/p'
}

# fetch_kernel NAME RELEASE - the kernel that the release has now, as vmlinuz and the modules that are wanted.
fetch_kernel()
{
    image=$(depends "$2" "linux-image-cloud-$architecture")
    [ -n "$image" ] || return 1
    rm -rf "$guests/kernels/$1"
    mkdir -p "$apt/$1" "$guests/kernels/$1/modules"
    # shellcheck disable=SC2046 # a list of names
    (cd "$apt/$1" && private_apt apt-get download -qq -t "$2" "$image" $(depends "$2" "$image")) || return 1
    for package in "$apt/$1"/*.deb; do
        dpkg-deb --fsys-tarfile "$package" |
            tar -x -C "$apt/$1" --wildcards --no-anchored 'vmlinuz*' 'ptp_vmclock.ko*' 2>/dev/null || : # not all have them
    done
    find "$apt/$1" -name 'vmlinuz*' -exec mv {} "$guests/kernels/$1/vmlinuz" ';'
    find "$apt/$1" -name 'ptp_vmclock.ko*' -exec mv {} "$guests/kernels/$1/modules" ';'
    echo "$image" >"$guests/kernels/$1/name"
    [ -e "$guests/kernels/$1/vmlinuz" ]
}

fetch()
{
    case $1 in
    x86_64)
        use_apt "$apt" amd64 bookworm trixie trixie-backports && fetch_program criu criu &&
            fetch_program qemu-x86_64 qemu-system-x86 && fetch_kernel debian12 bookworm &&
            fetch_kernel backports trixie-backports
        ;;
    aarch64)
        use_apt "$apt" amd64 trixie && fetch_program qemu-aarch64 qemu-system-arm &&
            use_apt "$apt" arm64 trixie-backports && fetch_kernel arm64 trixie-backports
        ;;
    esac
}

what=${1-x86_64}
case $what in
x86_64 | aarch64) ;;
*)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
case $(uname -sm) in
"Linux x86_64") ;;
*) cannot "these are fetched for Linux on x86-64 only" ;;
esac
[ -e "$keyring" ] || cannot "$keyring is not there, and what is fetched is checked with it (package debian-archive-keyring)"
command -v apt-get >/dev/null || cannot "there is no apt-get"

mkdir -p "$guests"
exec 9>"$guests/lock"
flock 9
[ ! -e "$guests/fetched-$what" ] || exit 0
trap 'rm -rf "$apt"' EXIT
trap 'exit 1' HUP INT TERM
echo "Fetching: QEMU and kernels for $what into build/guests"
fetch "$what" >"$log" 2>&1 9>&- || cannot "QEMU and kernels cannot be fetched: $(tail -n 1 "$log")"
: >"$guests/fetched-$what"
