#!/bin/sh
# cross-check.sh - drng's CTR-DRBG and libcrypto's own on random scripts of calls: 100,000, or as many as the first
# argument says. Some minutes. Ends with how many bytes were the same, or with the shortest script found on which the
# two differ. A second argument is the seed of an earlier run.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev python3 python3-hypothesis

build_preset dev cross_check
exec /usr/bin/python3 -m tests.support.cross_check build/dev/tests/cross_check --scripts "${1:-100000}" ${2:+--seed "$2"}
