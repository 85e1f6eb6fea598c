#!/bin/sh
# openssl-suite.sh - OpenSSL's own tests with drng as the generator, and what fails only then.
#
# usage: openssl-suite.sh [--only PART] RELEASE...
#
# RELEASE: bookworm, trixie, sid or experimental; or what those have of OpenSSL: 3.0, 3.5, 3.6, 4.0.
# PART: one of these, in the place of all but the first that are not done yet; `build` comes before each.
#     build     fetches OpenSSL's source by apt, in a chroot, and builds it there, with fips.so
#     evp       evp_test on evprand.txt: OpenSSL's known answers for CTR-DRBG, counted by gdb as drng's generator gives them
#     plain     OpenSSL's whole `make test` without drng; kept until OpenSSL's version changes
#     drng      the same under conf/drng.cnf
#     dry       the same where drng has no instruction and may not use the fallback: what passes has not drawn from drng
#     pinned    what fails only with drng, with OpenSSL's own generator pinned by the same lines of openssl.cnf
#     report    says what fails only with drng, and why, as far as openssl_suite.py knows
#
# The chroots stay in DRNG_SUITE_CACHE (default /var/cache/drng-suite), about 2 GB each. The logs and fips.so are put
# into build/openssl-suite, for docs/develop/tables (tables.py --write openssl-suite). All parts take
# half an hour to an hour a release; DRNG_SUITE_JOBS (default 2) and DRNG_SUITE_SECONDS (default 5400) bound each
# `make test`. Takes root. Exit status 0: nothing fails only with drng but what is known; 1: something does; 2: wrong
# arguments; 77: it cannot be done here.

# SPDX-License-Identifier: Apache-2.0
set -eu

usage()
{
    sed -n '/^# usage/,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

parts="build evp plain drng dry pinned report"

release_of()
{
    case $1 in
    bookworm | 3.0 | 3.0.*) echo bookworm ;;
    trixie | 3.5 | 3.5.*) echo trixie ;;
    sid | 3.6 | 3.6.*) echo sid ;;
    experimental | 4.0 | 4.0.*) echo experimental ;;
    *) return 1 ;;
    esac
}

packages="ca-certificates openssl dpkg-dev gcc libc6-dev make perl gdb"

# in_chroot PART - with the results of this release as they are.
in_chroot()
{
    echo "$release: $1 ($(date +%H:%M))"
    nice -n 15 scripts/ci/chroot.sh enter --bind "$work" /drng "$cache/$release" \
        /drng/openssl-suite-inside.sh "$1" "$jobs" "$seconds"
}

summary()
{
    /usr/bin/python3 -Es scripts/evidence/openssl_suite.py "$@"
}

# part PART - does it, unless it is there and would come out the same.
part()
{
    case $1 in
    report)
        summary report "$kept" "$release"
        return
        ;;
    plain) [ "$(cat "$kept/$release/plain.version" 2>/dev/null)" != "$(cat "$kept/$release/version")" ] || return 0 ;;
    pinned) summary failures "$kept/$release" >"$work/only-with-drng" ;;
    esac
    if [ "$1" = pinned ] && [ -z "$(cat "$work/only-with-drng")" ]; then
        : >"$kept/$release/pinned.log"
        return 0
    fi
    in_chroot "$1" || fail "$release: $1 fails"
    cp "$work/results"/* "$kept/$release/"
    [ "$1" != plain ] || cp "$kept/$release/version" "$kept/$release/plain.version"
}

outside()
{
    cd "$(dirname "$0")/../.."
    # shellcheck source=scripts/ci/builds.sh
    . scripts/ci/builds.sh
    cache=${DRNG_SUITE_CACHE:-/var/cache/drng-suite}
    jobs=${DRNG_SUITE_JOBS:-2}
    seconds=${DRNG_SUITE_SECONDS:-5400}
    kept=$PWD/build/openssl-suite
    scripts/ci/chroot.sh check
    need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev python3
    build_preset release
    work_in drng-suite
    cp build/release/drng.so scripts/evidence/openssl-suite-inside.sh "$work/"
    summary configure "$work"
    status=0
    mkdir -p "$cache"
    for release in $releases; do
        exec 9>"$cache/$release.suite-lock"
        flock -n 9 || { echo "waiting for another run on $release"; flock 9; }
        # shellcheck disable=SC2086 # a list of names
        scripts/ci/chroot.sh make "$release" "$cache/$release" $packages
        mkdir -p "$kept/$release" "$work/results"
        rm -rf "${work:?}/results"/*
        part build
        [ "$only" != build ] || continue
        for name in ${only:-${parts#build }}; do
            part "$name" || status=1
        done
    done
    exit $status
}

only=
if [ "${1-}" = --only ]; then
    only=${2-}
    case " $parts " in
    *" ${only:-none} "*) shift 2 ;;
    *)
        echo "openssl-suite.sh: --only takes one of: $parts" >&2
        usage
        ;;
    esac
fi
[ $# -gt 0 ] || usage
releases=
for argument; do
    release=$(release_of "$argument") || {
        echo "openssl-suite.sh: $argument: no release of Debian, or version of OpenSSL, that is known here" >&2
        usage
    }
    releases="$releases $release"
done
outside
