#!/bin/sh
# abi.sh - whether programs that were built with the libdrng of the last release run with the one of today: abidiff compares
# calls and types. What was added is shown, and is no fault; debian/libdrng0.symbols has the calls alone.
#
#     abi.sh [SOURCES]     today's are in SOURCES; these here, where none are named
#
# Exits with 77 where the commit of the last release is not in this clone. Installs what it needs from Debian's packages
# (root).

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh
# shellcheck source=scripts/ci/last-release.sh
. scripts/ci/last-release.sh

need_packages abigail-tools gcc libc6-dev cmake ninja-build pkg-config libssl-dev
work_in drng-abi
release_sources "$work/old"

# library SOURCES FOLDER - with debugging information, from which types are read
library()
{
    targets=libdrng
    configure_and_build "$2" -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DDRNG_TESTS=OFF >/dev/null
}
library "$work/old" "$work/old/build"
library "${1:-.}" "$work/new"

# What abidiff knows to be harmless, as one more error, does not count.
abidiff --no-added-syms --headers-dir1 "$work/old/library" --headers-dir2 "${1:-.}/library" \
    "$work/old/build/libdrng.so" "$work/new/libdrng.so" || exit 1
echo "libdrng.so.0 serves what was built with that of the last release"
