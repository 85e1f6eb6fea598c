#!/bin/sh
# native.sh - builds drng on the machine that this is, whatever its architecture, runs the CUnit programs, and draws.
#
#     native.sh [PRESET]    of CMakePresets.json; dev where none is named
#
# For continuous integration on what is not x86-64, where scripts/test.sh is not at home. Installs what it needs from
# Debian's packages (root).

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

preset=${1:-dev}
clang=
case $preset in *clang) clang="clang libclang-rt-dev" ;; esac
# shellcheck disable=SC2086 # names, or none
need_packages $clang gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev openssl python3
build_preset "$preset"
ctest --test-dir "build/$preset" --output-on-failure
OPENSSL_CONF=$PWD/conf/drng.cnf OPENSSL_MODULES=$PWD/build/$preset scripts/drng-status
