#!/bin/sh
# test-debian.sh - debian/ as a distribution uses it, in chroots of Debian: the source package is built with its build
# dependencies alone, with its tests; lintian looks at all of it, autopkgtest runs debian/tests, and what was built has
# its whole life: scripts/packaging/life.sh.
#
#     test-debian.sh [SUITE...]     bookworm and trixie, where none is named; sid is another
#
# The bare chroots are kept in /var/cache/drng-packages, and every run works on a copy. Exits with 77 where none can be
# made (that takes root and, the first time, Debian's packages). Listens on 127.0.0.1 only.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh
# shellcheck source=scripts/packaging/sources.sh
. scripts/packaging/sources.sh

[ $# -gt 0 ] || set -- bookworm trixie
need_packages dpkg-dev
work_in drng-debian
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(source_date)}
export SOURCE_DATE_EPOCH
source_package "$work/source"

# Of the source package, and what both tests of debian/tests name.
depends=$(sed -n '/^Build-Depends:/,/^[A-Z][^:]*: ./{s/([^)]*)\|<[^>]*>\|:any//g;s/^ \(.*\),$/\1/p}' debian/control | tr -d ' ' | tr '\n' ' ')
tries="autopkgtest ca-certificates curl gcc libc6-dev nginx-light openssl pkgconf python3"

# said PATTERN - shows the lines of the log that have it; one has
said()
{
    grep -aE "$1" "$log" || fail "the log has no line $1"
}

for suite; do
    mkdir "$work/$suite" "$work/root"
    cp "$work/source"/* "$work/$suite"

    echo "$suite: building"
    bare=/var/cache/drng-packages/build-$suite
    # shellcheck disable=SC2086 # lists of names
    scripts/ci/chroot.sh make "$suite" "$bare" build-essential debhelper $depends >&2
    # shellcheck disable=SC2016 # the inner shell's
    logged "$work/log" scripts/ci/chroot.sh enter --bind "$work/$suite" /mnt "$bare" sh -ec '
        cd /mnt
        dpkg-source --no-check --extract drng_*.dsc sources
        cd sources
        exec dpkg-buildpackage --build=binary --no-sign'
    said '^-- +(The C compiler identification|Found libcrypto)'
    said ' tests passed, 0 tests failed out of [0-9]+$'

    echo "$suite: looking at it and trying it"
    bare=/var/cache/drng-packages/try-$suite
    # shellcheck disable=SC2086
    scripts/ci/chroot.sh make "$suite" "$bare" lintian $tries >&2
    # Before it is published no bug of Debian's asks for it, and the owner's key, with which tags are checked, is not known.
    # shellcheck disable=SC2016
    logged "$work/log" scripts/ci/chroot.sh copy "$bare" "$work/root" scripts/ci/chroot.sh enter --bind "$work/$suite" /mnt \
        "$work/root" sh -ec '
        cd /mnt
        lintian --allow-root --fail-on error,warning \
            --suppress-tags initial-upload-closes-no-bugs,debian-watch-file-pubkey-file-is-missing *.dsc *.changes
        exec autopkgtest --no-built-binaries --apt-upgrade *.deb sources/ -- null'
    said '^[a-z]+ +PASS'

    echo "$suite: its life"
    cp -r scripts "$work/$suite"
    rm -f "$work/$suite"/*-dbgsym_*.deb
    logged "$work/log" scripts/ci/chroot.sh copy "$bare" "$work/root" scripts/ci/chroot.sh enter --bind "$work/$suite" /mnt \
        "$work/root" sh /mnt/scripts/packaging/life.sh deb /mnt
    said '^== Purged: nothing is left'
    rmdir "$work/root"
done
