#!/bin/sh
# assess.sh - statistical batteries on raw words, seeds and output, and on CPUs that are scripted to be bad; arguments go
# to scripts/evidence/assess.py: --quick takes some minutes, without it hours. Ends with build/assess/report.txt.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev openssl libcunit1-dev rng-tools5 dieharder ent \
    python3 python3-numpy

build_preset release drng
build_preset dev collect_raw collect_raw_scripted
exec /usr/bin/python3 scripts/evidence/assess.py "$@"
