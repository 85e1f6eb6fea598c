#!/bin/sh
# test-matrix.sh - one drng.so, built with the headers of OpenSSL 3.0, tested on every OpenSSL that Debian has.
#
# usage: test-matrix.sh [--short] [RELEASE...]
#
# RELEASE: bookworm, trixie, sid and experimental if none is given, that is OpenSSL 3.0, 3.5, the latest 3.x and 4.x.
# A run without --short leaves its results in build/matrix, release by release, for the table of docs/platforms.md
# (scripts/evidence/tables.py --write releases).
# --short: a minute's choice of the tests, without the many handshakes of test_servers.
#
# Each release is a chroot with its own openssl, nginx, Apache, HAProxy, curl and Python, in which a part of the tests
# runs. The chroots stay in /var/cache/drng-matrix, about 500 MB each, and are brought up to date when a day old. In
# experimental the servers and Python are sid's, on libcrypto.so.3; the openssl command is of 4.x, and the test programs
# are built there, with its headers. So is a drng.so of its own, which must compile without a warning and passes a choice
# of the tests before the one drng.so takes its place. Takes root. Status 0: all passed; 1: a test failed; 77: a release
# was not tested, because its chroot cannot be made here.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

cache=/var/cache/drng-matrix

# What depends on libcrypto or on the servers; the arithmetic of mixing/ does not change with either.
tests="test_command_line test_config test_enable test_fips test_hosts test_profiles test_random_provider test_unit"
kept=$PWD/build/matrix # what the document shows
own_build="test_command_line test_config test_random_provider" # with what experimental builds
of_servers="test_examples test_servers" # which experimental has on libcrypto.so.3 alone, as sid has
if [ "${1-}" = --short ]; then
    tests="test_command_line test_config test_fips test_profiles test_random_provider"
    of_servers=
    kept=
    shift
fi
releases=${*:-bookworm trixie sid experimental}

packages="ca-certificates openssl nginx-light apache2-bin haproxy curl e2fsprogs python3 python3-pytest"
packages="$packages cmake pkgconf libssl-dev libcunit1"
compilers="gcc libc6-dev ninja-build libcunit1-dev"

work_in drng-matrix
# Servers give up their privileges and read below it.
chmod 755 "$work"

# ---- Chroots ----

in_chroot()
{
    scripts/ci/chroot.sh enter "$@"
}

make_chroot()
{
    case $1 in
    bookworm) more= ;;
    experimental) more="openssl-provider-legacy $compilers" ;;
    *) more="openssl-provider-legacy openssl-provider-fips" ;; # packages of their own from trixie on
    esac
    # shellcheck disable=SC2086 # lists of names
    scripts/ci/chroot.sh make "$1" "$cache/$1" $packages $more
}

# ---- One binary ----

# The sources and the builds, as they are seen inside: at the same path, since builds remember theirs.
tree=$work/tree
mkdir "$tree"

copy()
{
    tar -c "$@" | tar -x -C "$tree"
}

# build_in TREE RELEASE - what is said of it is in the log.
build_in()
{
    # shellcheck disable=SC2016 # the inner shell's
    in_chroot --bind "$1" "$PWD" "$cache/$2" sh -ec '
        cd "$1"
        for preset in release dev; do
            cmake --preset $preset >/dev/null
            cmake --build --preset $preset
        done' sh "$PWD" >"$work/log" 2>&1
}

copy --exclude=./.git --exclude=./build .
need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev
version=$(pkg-config --modversion libcrypto)
echo "Building here, with OpenSSL $version"
case $version in 3.0.*) ;; *) cannot "the one drng.so is built with OpenSSL 3.0, that is on Debian 12" ;; esac
build_preset release
build_preset dev
copy build/release build/dev
echo "drng.so: SHA-256 $(sha256sum <"$tree/build/release/drng.so" | cut -c1-16)..."

# ---- Tests ----

# run_tests TREE RELEASE TEST... - notes what they come to. Sanitizers and valgrind have had their turn in test.sh.
run_tests()
{
    from=$1 release=$2
    shift 2
    # shellcheck disable=SC2046 # paths without blanks
    in_chroot --bind "$from" "$PWD" "$cache/$release" \
        /usr/bin/python3 -m pytest -q --tb=short -o cache_dir=/tmp/pytest_cache --rootdir "$PWD" \
        -k 'not asan and not valgrind and not helgrind and not every_preset' \
        $(for test; do find "$PWD/tests" -name "$test.py"; done) >"$work/log" 2>&1 || {
        tail -n 60 "$work/log"
        status=1
    }
    printf '  %s: %s\n' "$*" "$(tail -n 1 "$work/log")"
}

# A drng.so with experimental's own headers; then the one drng.so takes its place.
test_own_build()
{
    mkdir "$work/own"
    tar -C "$tree" -c --exclude=./build . | tar -x -C "$work/own"
    if ! build_in "$work/own" experimental || grep -E "^[^ ]*[0-9]: (warning|error):" "$work/log"; then
        tail -n 60 "$work/log"
        fail "it does not build in experimental, or not without a warning"
    fi
    # shellcheck disable=SC2086 # a list of names
    run_tests "$work/own" experimental $own_build
    for preset in release dev; do
        cp "$tree/build/$preset/drng.so" "$work/own/build/$preset/drng.so"
    done
}

# test_release RELEASE - its row of the table is left in $work/RELEASE.row.
test_release()
{
    version=$(in_chroot "$cache/$1" openssl version | cut -d' ' -f2)
    echo "$1: OpenSSL $version"
    from=$tree chosen="$tests $of_servers"
    if [ "$1" = experimental ]; then
        test_own_build
        from=$work/own chosen=$tests
    fi
    # shellcheck disable=SC2086 # a list of names
    run_tests "$from" "$1" $chosen
    tail -n 1 "$work/log" | awk -v "release=$1" -v "version=$version" '
        { gsub("[,=]", ""); for (i = 2; i <= NF; i++) sum[$i] = $(i - 1) }
        END { printf "| %s | %s | %d | %d | %d |\n", release, version, sum["passed"], sum["skipped"], sum["failed"] }
    ' >"$work/$1.row"
    cat "$work/$1.row"
}

status=0
missing=0
for release in $releases; do
    if make_chroot "$release"; then
        test_release "$release"
        [ -z "$kept" ] || { mkdir -p "$kept" && cp "$work/$release.row" "$kept"; }
    else
        echo "$release: not tested, its chroot cannot be made"
        missing=77
    fi
done
if [ -n "$kept" ]; then
    printf '| release | OpenSSL | passed | skipped | failed |\n| --- | --- | --- | --- | --- |\n' >"$kept/releases.md"
    for release in bookworm trixie sid experimental; do
        cat "$kept/$release.row" 2>/dev/null || true
    done >>"$kept/releases.md"
fi
[ $status = 0 ] || exit $status
exit $missing
