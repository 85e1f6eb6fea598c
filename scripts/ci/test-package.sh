#!/bin/sh
# test-package.sh - the whole life of the .debs in a chroot of Debian: installed, enabled, serving TLS, disabled,
# upgraded, removed and purged.
#
#     test-package.sh [FOLDER [SUITE]]     builds the .debs where no folder with them is named; bookworm, where no suite is
#
# The bare chroot is kept in /var/cache/drng-packages, and every run works on a copy. Exits with 77 where none can be
# made (that takes root and, the first time, Debian's packages). Listens on 127.0.0.1 only.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

suite=${2:-bookworm}
bare=/var/cache/drng-packages/$suite
scripts/ci/chroot.sh make "$suite" "$bare" ca-certificates curl nginx-light openssl python3 >&2

work_in drng-package
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
    cp scripts/packaging/life.sh scripts/packaging/living.sh "$1"
    exec scripts/ci/chroot.sh enter "$1" /bin/sh /life.sh' sh "$work/root" "$1"
