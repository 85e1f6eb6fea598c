#!/bin/sh
# test-package.sh - the whole life of the .debs in a chroot of Debian: installed, enabled, serving TLS, disabled,
# upgraded, removed and purged.
#
#     test-package.sh [--upgrade] [FOLDER [SUITE]]     builds the .debs where no folder with them is named; bookworm,
#                                                      where no suite is
#
# --upgrade: drng 0.2.0, which was one package, is upgraded to them while an nginx serves: no connection fails, the running
# nginx keeps its module until it is restarted, and what was on stays on. 0.2.0 is built from its commit, and kept.
#
# The bare chroot is kept in /var/cache/drng-packages, and every run works on a copy. Exits with 77 where none can be
# made (that takes root and, the first time, Debian's packages), or where the commit of 0.2.0 is not in this clone. Listens
# on 127.0.0.1 only.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh
# shellcheck source=scripts/ci/last-release.sh
. scripts/ci/last-release.sh

life=life.sh
if [ "${1-}" = --upgrade ]; then
    life=upgrade-life.sh
    shift
fi
suite=${2:-bookworm}
bare=/var/cache/drng-packages/$suite
scripts/ci/chroot.sh make "$suite" "$bare" ca-certificates curl nginx-light openssl python3 >&2

work_in drng-package
old=
[ $life = life.sh ] || release_package deb
if [ $# = 0 ]; then
    scripts/packaging/package.sh "$work/packages" deb
    set -- "$work/packages"
fi

mkdir "$work/root"
# shellcheck disable=SC2016 # the inner shell's
scripts/ci/chroot.sh copy "$bare" "$work/root" sh -ec '
    mkdir "$1/debs"
    cp "$2"/*drng*_"$(dpkg --print-architecture)".deb "$2"/drng*_all.deb "$1/debs"
    rm -f "$1"/debs/*-dbgsym_*
    cp "scripts/packaging/$3" scripts/packaging/living.sh "$1"
    [ -z "$4" ] || cp "$4" "$1/old.deb"
    exec scripts/ci/chroot.sh enter "$1" /bin/sh "/$3"' sh "$work/root" "$1" $life "$old"
