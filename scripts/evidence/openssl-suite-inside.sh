#!/bin/sh
# openssl-suite-inside.sh - what openssl-suite.sh does in the chroot: one of its parts.
#
# usage: openssl-suite-inside.sh PART JOBS SECONDS
#
# Finds in /drng what it needs from outside, and leaves its results in /drng/results. OpenSSL is in /suite.

# SPDX-License-Identifier: Apache-2.0
set -eu
part=$1 jobs=$2 seconds=$3

fail()
{
    echo "openssl-suite-inside.sh: $*" >&2
    exit 1
}

suite=/suite
results=/drng/results

# The version of this package, then older ones of the same series: a mirror may not have the source of the newest.
versions()
{
    series=$(echo "$1" | cut -d. -f1,2)
    echo "$1"
    apt-cache showsrc openssl | sed -n "s/^Version: \($series\..*\)/\1/p" | sort -urV | grep -vxF "$1" || true
}

fetch()
{
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list /etc/apt/sources.list.d/experimental.list 2>/dev/null \
        >/etc/apt/sources.list.d/sources.list
    apt-get update -qq --error-on=any -o Acquire::Check-Valid-Until=false
    rm -rf "${suite:?}"/*
    mkdir -p "$suite"
    cd "$suite"
    for source in $(versions "$1"); do
        if apt-get source -qq -o APT::Sandbox::User=root "openssl=$source" >"$suite/source.log" 2>&1; then
            mv openssl-*/ src
            echo "$source" >"$suite/source"
            return
        fi
    done
    fail "apt has no source of OpenSSL $1: $(tail -n 1 "$suite/source.log")"
}

part_build()
{
    version=$(dpkg-query -W -f '${Version}' openssl)
    if [ "$(cat "$suite/built" 2>/dev/null)" != "$version" ]; then
        fetch "$version"
        cd "$suite/src"
        ./Configure enable-fips >"$suite/build.log"
        make -s -j"$jobs" build_sw >>"$suite/build.log" 2>&1 || fail "OpenSSL does not build: $suite/build.log"
        for file in $configured; do
            cp "$file" "$file.plain"
        done
        echo "$version" >"$suite/built"
    fi
    cp "$suite/source" "$results/version"
    cp "$suite/src/providers/fips.so" "$results/"
}

# The configurations under which the tests draw by what the configuration says.
configured="apps/openssl.cnf test/default.cnf test/default-and-legacy.cnf"

# configure FILE - puts the lines of FILE behind each of them; with none, they are as they were.
configure()
{
    for file in $configured; do
        cp "$file.plain" "$file"
        [ -z "${1-}" ] || printf '\n.include %s\n' "$1" >>"$file"
    done
    # In test/ too: tests with modules of their own look for all modules there.
    for folder in providers test; do
        rm -f "$folder/drng.so"
        cp /drng/drng.so "$folder/"
    done
}

# run_tests NAME [VARIABLE=VALUE...] - a failure of tests is a result; the end of the log tells.
run_tests()
{
    name=$1
    shift
    status=0
    env NO_FIPS=1 HARNESS_JOBS="$jobs" "$@" timeout -k 60 "$seconds" make test >"$results/$name.log" 2>&1 || status=$?
    tail -n 10 "$results/$name.log" | grep -q '^Result: ' ||
        fail "make test did not come to its end (exit status $status): $(tail -n 1 "$results/$name.log")"
}

# gdb stops the program at its first byte and at its end; what comes between is counted.
part_evp()
{
    configure
    printf '%s\n' "set breakpoint pending on" "break drng_generator_generate" "ignore 1 100000000" run "info breakpoints" \
        >"$suite/gdb"
    LD_LIBRARY_PATH=$PWD OPENSSL_MODULES=$PWD/providers gdb -batch -x "$suite/gdb" --args \
        test/evp_test -config /drng/evp.cnf test/recipes/30-test_evp_data/evprand.txt >"$results/evp.log" 2>&1 || true
}

[ "$part" = build ] || cd "$suite/src"
case $part in
build) part_build ;;
evp) part_evp ;;
plain)
    configure
    run_tests plain
    ;;
drng)
    configure /drng/drng.cnf
    run_tests drng
    ;;
dry) # The tests that are left out end the whole run where they have no key: test_req of 3.5, and s_client's of 4.0.
    configure /drng/dry.cnf
    run_tests dry TESTS="-test_req -test_app_s_client" OPENSSL_ia32cap=~0x4000000000000000:~0x40000
    ;;
pinned)
    configure /drng/pinned.cnf
    run_tests pinned TESTS="$(cat /drng/only-with-drng)"
    ;;
*) fail "$part: no such part" ;;
esac
