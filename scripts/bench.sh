#!/bin/sh
# bench.sh - builds the benchmark and compares drng with the generators that a user could pick instead, in one run.
#
#     bench.sh                  everything, in some minutes
#     bench.sh --quick          fewer sizes and repetitions: under a minute
#     bench.sh --aes-ni         AES-NI alone, as on a CPU without VAES; --avx2: VAES without AVX-512
#     bench.sh --root DIR       with the libcrypto of another Debian, in DIR by debootstrap: OpenSSL 3.5 from trixie
#     bench.sh --constant-time  instead of that: does the time of AES depend on its secrets?
#     bench.sh ... -- ARGS      hands ARGS to Google Benchmark: -- --benchmark_filter=/16$
#
# Repetitions are interleaved at random. Prints tables; leaves bench.json and bench.md in build/bench.
# Installs what it needs from Debian's packages (root).

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

filter=.
repetitions=15
min_time=0.02
name=bench
instead=
root=
while [ $# -gt 0 ]; do
    case $1 in
    --quick)
        filter='/(16|32|256|16384|65536|1048576)$'
        repetitions=5
        min_time=0.01
        ;;
    --aes-ni)
        export OPENSSL_ia32cap=':~0x20000000000' # OpenSSL's own mask, which drng honours
        name=bench-aes-ni
        ;;
    --avx2)
        export OPENSSL_ia32cap=':~0x10000'
        name=bench-avx2
        ;;
    --root)
        root=$2
        name=bench-$(basename "$root")
        shift
        ;;
    --constant-time)
        instead='exec build/bench/tests/bench/dudect'
        ;;
    --)
        shift
        break
        ;;
    *)
        sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done

need_packages gcc g++ libc6-dev cmake ninja-build pkg-config libssl-dev openssl libbenchmark-dev python3 valgrind

echo "Building: bench"
build_preset bench

$instead

# The other Debian's loader takes the other Debian's libraries, and Google Benchmark from a directory of its own, past
# this Debian's libcrypto.
loader=
if [ -n "$root" ]; then
    mkdir -p build/bench/lib
    cp "$(ldd build/bench/tests/bench/bench | sed -n 's/.*=> \(.*libbenchmark[^ ]*\).*/\1/p')" build/bench/lib
    loader="$root/lib64/ld-linux-x86-64.so.2 --library-path $root/usr/lib/x86_64-linux-gnu:build/bench/lib"
fi

json=build/bench/$name.json
echo "Measuring: repetitions in random order, to $json"
# shellcheck disable=SC2086 # a command and its arguments
$loader build/bench/tests/bench/bench --benchmark_out="$json" --benchmark_out_format=json \
    --benchmark_repetitions="$repetitions" --benchmark_min_time="$min_time" --benchmark_filter="$filter" \
    --benchmark_enable_random_interleaving=true "$@" >"build/bench/$name.log" 2>&1 || {
    cat "build/bench/$name.log" >&2
    exit 1
}

# bench-peers.sh has built it.
go=build/bench/crates/release/go
if [ -x $go ] && [ "$name" = bench ]; then
    $go Go "$repetitions" "$json"
    GODEBUG=fips140=on $go Go-FIPS "$repetitions" "$json"
fi

exec /usr/bin/python3 scripts/bench/bench_report.py "$json"
