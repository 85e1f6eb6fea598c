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
# Each release is a chroot with its own openssl, nginx, Apache, HAProxy, curl and Python, in which a part of
# the tests runs. The chroots stay in DRNG_MATRIX_CACHE (default /var/cache/drng-matrix), about 500 MB each, and are
# brought up to date when a day old. In experimental the servers and Python are sid's, on libcrypto.so.3; the openssl
# command is of 4.x, and the test programs are built there, with its headers. So is a drng.so of its own, which must
# compile without a warning and passes a choice of the tests before the one drng.so takes its place. Takes root. Status 0: all passed; 1: a test failed; 77: a release was not tested,
# because its chroot cannot be made here.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

cache=${DRNG_MATRIX_CACHE:-/var/cache/drng-matrix}
skip=77

# What depends on libcrypto or on the servers; the arithmetic of mixing/ does not change with either.
tests="test_command_line test_config test_enable test_examples test_fips test_hosts test_profiles test_random_provider
    test_servers test_unit"
kept=$PWD/build/matrix # what the document shows
own_build="test_command_line test_config test_random_provider" # with what experimental builds
of_servers="test_examples test_servers" # which experimental has on libcrypto.so.3 alone, as sid has
if [ "${1-}" = --short ]; then
    tests="test_command_line test_config test_fips test_profiles test_random_provider"
    kept=
    shift
fi
releases=${*:-bookworm trixie sid experimental}

packages="ca-certificates openssl nginx-light apache2-bin haproxy curl python3 python3-pytest"
packages="$packages cmake pkgconf libssl-dev libcunit1"
builders=
compilers="gcc libc6-dev ninja-build libcunit1-dev"

scripts/ci/chroot.sh check

mkdir -p "$cache"
exec 9>"$cache/lock"
flock -n 9 || { echo "waiting for another run on $cache"; flock 9; }

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
    bookworm) more=$builders ;;
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
case $(pkg-config --modversion libcrypto 2>/dev/null) in
3.0.*)
    echo "Building here, with OpenSSL $(pkg-config --modversion libcrypto)"
    need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev
    build_preset release
    build_preset dev
    copy build/release build/dev
    ;;
*)
    echo "Building in bookworm: OpenSSL 3.0 is not the one here"
    builders=$compilers
    make_chroot bookworm || exit $skip # with OpenSSL 3.0, to build in
    build_in "$tree" bookworm || {
        tail -n 40 "$work/log" >&2
        exit 1
    }
    ;;
esac
echo "drng.so: SHA-256 $(sha256sum <"$tree/build/release/drng.so" | cut -c1-16)..."

# ---- Tests ----

tree_of()
{
    [ "$1" = experimental ] && echo "$work/own" || echo "$tree"
}

# The log names what is wrong.
build_own()
{
    mkdir "$work/own"
    tar -C "$tree" -c --exclude=./build . | tar -x -C "$work/own"
    build_in "$work/own" experimental && ! grep -E "^[^ ]*[0-9]: (warning|error):" "$work/log"
}

# Sanitizers and valgrind have had their turn in test.sh.
run_tests()
{
    in_chroot --bind "$(tree_of "$1")" "$PWD" "$cache/$1" \
        /usr/bin/python3 -m pytest -q --tb=short -o cache_dir=/tmp/pytest_cache --rootdir "$PWD" \
        -k 'not asan and not valgrind and not helgrind and not every_preset' "$PWD/$(find tests -name "$2.py")"
}

# "passed 12, skipped 1" of pytest's last line, which also counts what -k has left out.
summary()
{
    tail -n 1 "$1" | sed -e 's/=//g' -e 's/ in [0-9.]*s.*//' -e 's/, [0-9]* deselected//' -e 's/^ *//' -e 's/ *$//'
}

# result_of NAME RELEASE TEST - runs it, and notes the result under this name.
result_of()
{
    if run_tests "$2" "$3" >"$work/log" 2>&1; then
        summary "$work/log" >"$results/$1"
    else
        tail -n 60 "$work/log"
        echo "FAILED: $(summary "$work/log")" >"$results/$1"
        status=1
    fi
    printf '  %-22s %s\n' "$1" "$(cat "$results/$1")"
}

test_own_build()
{
    if ! build_own; then
        tail -n 60 "$work/log"
        echo "FAILED: does not build, or not without a warning" >"$results/own_build"
        status=1
        return 1
    fi
    echo "built without a warning" >"$results/own_build"
    for test in $own_build; do
        result_of "own_build_$test" "$1" "$test"
        ! grep -q FAILED "$results/own_build_$test" || echo "FAILED: $test" >"$results/own_build"
    done
    for preset in release dev; do
        cp "$tree/build/$preset/drng.so" "$work/own/build/$preset/drng.so"
    done
}

test_release()
{
    results=$work/$1
    mkdir "$results"
    in_chroot "$cache/$1" openssl version | cut -d' ' -f2 >"$results/version"
    echo "$1: OpenSSL $(cat "$results/version")"
    left_out=
    if [ "$1" = experimental ]; then
        test_own_build "$1" || return 0
        left_out=$of_servers
    fi
    for test in $tests; do
        case " $left_out " in
        *" $test "*) echo "as in sid" >"$results/$test" ;;
        *) result_of "$test" "$1" "$test" ;;
        esac
    done
}

# keep RELEASE - its results, in the place of those of an earlier run.
keep()
{
    rm -rf "${kept:?}/$1"
    mkdir -p "$kept"
    cp -r "$work/$1" "$kept/$1"
}

# print_table FOLDER - each result that it has, as Markdown.
print_table()
{
    columns=
    for release in bookworm trixie sid experimental; do
        [ ! -e "$1/$release/version" ] || columns="$columns $release"
    done
    printf '| tests |'
    for release in $columns; do
        printf ' %s, OpenSSL %s |' "$release" "$(cat "$1/$release/version")"
    done
    printf '\n| --- |'
    for release in $columns; do
        printf ' --- |'
    done
    for test in $tests own_build; do
        # shellcheck disable=SC2016 # Markdown
        printf '\n| `%s` |' "$test"
        for release in $columns; do
            printf ' %s |' "$(cat "$1/$release/$test" 2>/dev/null || echo -)"
        done
    done
    echo
}

# print_sums FOLDER - what passed, was skipped and failed on each release, as Markdown.
print_sums()
{
    printf '| release | OpenSSL | passed | skipped | failed |\n| --- | --- | --- | --- | --- |\n'
    for release in bookworm trixie sid experimental; do
        [ ! -e "$1/$release/version" ] || awk -v "release=$release" -v "version=$(cat "$1/$release/version")" '
            { gsub(",", ""); for (i = 2; i <= NF; i++) sum[$i] += $(i - 1) }
            END { printf "| %s | %s | %d | %d | %d |\n", release, version, sum["passed"], sum["skipped"], sum["failed"] }
        ' "$1/$release"/test_*
    done
}

status=0
missing=0
for release in $releases; do
    if make_chroot "$release"; then
        test_release "$release"
        [ -z "$kept" ] || keep "$release"
    else
        echo "$release: not tested, its chroot cannot be made"
        missing=$skip
    fi
done
echo
print_table "$work"
[ -z "$kept" ] || print_sums "$kept" >"$kept/releases.md"
[ $status = 0 ] || exit $status
exit $missing
