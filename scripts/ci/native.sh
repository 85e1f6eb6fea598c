#!/bin/sh
# native.sh - builds drng on the machine that this is, whatever its architecture, runs the CUnit programs, and draws.
#
# For continuous integration on what is not x86-64, where scripts/test.sh is not at home. Installs what it needs from
# Debian's packages (root).

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev openssl python3
build_preset dev
ctest --preset dev
OPENSSL_CONF=$PWD/conf/drng.cnf OPENSSL_MODULES=$PWD/build/dev scripts/drng-status
