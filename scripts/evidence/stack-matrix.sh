#!/bin/sh
# stack-matrix.sh - whether anything secret stays on the stack, with every compiler here: as the module is released, and at
# both extremes.
#
# Builds tests/process/test_stack.c below build/stack-matrix and runs it. Prints a line for each build with the first
# thing that was found. Ends with 0 when nothing was, 1 when something was, 77 where the test cannot run. What compiles
# with -O0 keeps every value on the stack, and is not looked at.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

# try COMPILER LEVEL HARDENED
try()
{
    name="$1 $2 $3"
    build=build/stack-matrix/$(echo "$name" | tr -c '[:alnum:]\n' _)
    targets=process_stack configure_and_build "$build" -S . -B "$build" -G Ninja -DCMAKE_C_COMPILER="$1" \
        -DCMAKE_C_FLAGS="$2 -DNDEBUG" -DDRNG_HARDEN="$3" -DCMAKE_BUILD_TYPE=None -DDRNG_TESTS=ON >/dev/null
    result=0
    "$build/tests/process_stack" >"$build/found" || result=$?
    case $result in
    0) found=nothing ;;
    77) cannot "$(tail -n 1 "$build/found")" ;;
    *) found=$(grep -m1 -E '^ +[^ ]+, AES-[0-9]+, ' "$build/found" || tail -n 1 "$build/found") status=1 ;;
    esac
    printf '%-56s %s\n' "$name" "$found"
}

status=0
# Each of them once, gcc-12 in the place of gcc: the version says more.
# shellcheck disable=SC2086 # folders
compilers=$(IFS=: && find $PATH -maxdepth 1 -regextype posix-extended -regex '.*/(gcc|clang)(-[0-9]+)?' 2>/dev/null | sort -r |
    while read -r path; do echo "$(realpath "$path") ${path##*/}"; done | awk '!seen[$1]++ { print $2 }' | sort)
for compiler in $compilers; do
    try "$compiler" -O2 ON
    try "$compiler" -O1 OFF
    try "$compiler" -O3 OFF
done
exit $status
