#!/bin/sh
# fuzz.sh - builds the fuzz targets of tests/fuzz and runs each of them for a while: fuzz.sh [SECONDS [TARGET...]]
#
# Ten minutes for each target unless told otherwise. Starts from the inputs in tests/fuzz/corpus, and keeps what it finds
# under build/fuzz: corpus/TARGET, from which the next run goes on, and crash-* files, whose path is an argument with
# which the target shows the failure again. The target `status` is drng-status over processes that lie, in Python; it
# prints the failure. Installs what it needs from Debian's packages (root). Ends with status 1 where a target found
# something.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

seconds=${1:-600}
[ $# -gt 0 ] && shift
case $seconds in
'' | *[!0-9]*)
    echo "usage: scripts/evidence/fuzz.sh [SECONDS [TARGET...]]" >&2
    exit 2
    ;;
esac

need_packages clang libclang-rt-14-dev cmake ninja-build pkg-config libc6-dev libssl-dev libcunit1-dev python3 \
    python3-hypothesis
echo "Building: fuzz"
build_preset fuzz

if [ $# = 0 ]; then
    for folder in tests/fuzz/corpus/*/; do
        set -- "$@" "$(basename "$folder")"
    done
    set -- "$@" status
fi

# Some twenty examples a second.
fuzz_status()
{
    log=build/fuzz/status.log
    if /usr/bin/python3 -s -m tests.hostile.fuzz_status $((seconds * 20)) >"$log" 2>&1; then
        echo "    inputs tried: $((seconds * 20))"
    else
        tail -n 20 "$log"
        echo "    the whole of it: $log"
        status=1
    fi
}

status=0
for target; do
    found=build/fuzz/corpus/$target
    log=build/fuzz/$target.log
    mkdir -p "$found"
    echo "Fuzzing: $target, $seconds s"
    if [ "$target" = status ]; then
        fuzz_status
        continue
    fi
    if build/fuzz/tests/fuzz/"fuzz_$target" -max_total_time="$seconds" -timeout=60 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/$target-" "$found" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
        sed -n 's/^stat::number_of_executed_units: */    inputs tried: /p' "$log"
    else
        grep -E 'does not hold|ERROR: |runtime error|Test unit written' "$log" || tail -n 5 "$log"
        echo "    the whole of it: $log"
        status=1
    fi
done
exit $status
