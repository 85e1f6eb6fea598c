#!/bin/sh
# test-debian.sh - debian/ as a distribution uses it, in chroots of Debian: the source package is built with its build
# dependencies alone, with its tests; lintian looks at all of it, autopkgtest runs debian/tests, and what was built has
# both lives of test-package.sh. build/debian/debian.md has the table of docs/develop/packages.md.
#
#     test-debian.sh [SUITE...]     bookworm and trixie, where none is named; sid is another
#
# The bare chroots are kept in /var/cache/drng-packages, and every run works on a copy. Exits with 77 where none can be
# made (that takes root and, the first time, Debian's packages). Listens on 127.0.0.1 only.

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
depends=$(sed -n '/^Build-Depends:/,/^[A-Z][^:]*: ./{s/([^)]*)\|<[^>]*>//g;s/^ \(.*\),$/\1/p}' debian/control | tr -d ' ' | tr '\n' ' ')
tries="autopkgtest ca-certificates curl gcc libc6-dev nginx-light openssl pkgconf python3"
rows=build/debian
mkdir -p $rows

# found PATTERN - what stands for \(...\) in the lines of the log that have it; one has
found()
{
    sed -n "s/$1/\1/p" "$log" | sort -u | paste -sd , | sed 's/,/, /g' | grep . || fail "the log has no line $1"
}

# version_of PACKAGE - in the chroot
version_of()
{
    dpkg-query --admindir="$bare/var/lib/dpkg" --show --showformat '${Version}' "$1"
}

for suite; do
    rm -f "$rows/$suite"
    mkdir "$work/$suite" "$work/root"
    cp "$work/source"/* "$work/$suite"

    echo "$suite: building"
    bare=/var/cache/drng-packages/build-$suite
    # shellcheck disable=SC2086 # lists of names
    scripts/ci/chroot.sh make "$suite" "$bare" build-essential debhelper $depends >&2
    libcrypto=$(version_of libssl-dev)
    # shellcheck disable=SC2016 # the inner shell's
    logged "$work/log" scripts/ci/chroot.sh enter --bind "$work/$suite" /mnt "$bare" sh -ec '
        cd /mnt
        dpkg-source --no-check --extract drng_*.dsc sources
        cd sources
        exec dpkg-buildpackage --build=binary --no-sign'
    compiler=$(found '^-- The C compiler identification is GNU \(.*\)')
    passed=$(found '.* tests passed, 0 tests failed out of \([0-9]*\)$')

    echo "$suite: looking at it and trying it"
    bare=/var/cache/drng-packages/try-$suite
    # shellcheck disable=SC2086
    scripts/ci/chroot.sh make "$suite" "$bare" lintian $tries >&2
    lintian=$(version_of lintian)
    # shellcheck disable=SC2016
    logged "$work/log" scripts/ci/chroot.sh copy "$bare" "$work/root" scripts/ci/chroot.sh enter --bind "$work/$suite" /mnt \
        "$work/root" sh -ec '
        cd /mnt
        lintian --allow-root --fail-on error,warning *.dsc *.changes
        exec autopkgtest --no-built-binaries --apt-upgrade *.deb sources/ -- null'
    tried=$(found '^\([a-z]*\)  *PASS.*')

    echo "$suite: its life, and the upgrade from 0.2.0"
    logged "$work/log" scripts/ci/test-package.sh "$work/$suite" "$suite"
    purged=$(found '^== Purged: \(nothing\) is left')
    logged "$work/log" scripts/ci/test-package.sh --upgrade "$work/$suite" "$suite"
    pages=$(found '^\([0-9]*\) pages, and none has failed')

    printf '| %s, %s | %s | GCC %s | %s | none, by %s | %s | %s | none of %s |\n' "$suite" "$(date -u +%F)" "$libcrypto" "$compiler" \
        "$passed" "$lintian" "$tried" "$purged" "$pages" | tee "$rows/$suite"
    rmdir "$work/root"
done
{
    echo "| suite | OpenSSL | compiler | tests of the build, passed | lintian's errors and warnings | autopkgtest, passed |" \
        "left by a purge | pages that failed in the upgrade from 0.2.0 |"
    echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for suite in bookworm trixie sid; do
        [ ! -e "$rows/$suite" ] || cat "$rows/$suite"
    done
} >"$rows/debian.md"
