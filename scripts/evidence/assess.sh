#!/bin/sh
# assess.sh - statistical batteries on raw words, seeds and output, and on CPUs that are scripted to be bad; arguments go
# to scripts/evidence/assess.py: --quick takes some minutes, without it hours. Ends with build/assess/report.txt.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev openssl libcunit1-dev rng-tools5 dieharder ent \
    python3 python3-numpy

for preset in release dev; do
    cmake --preset $preset >/dev/null
done
cmake --build --preset release --target drng | tail -n 1
cmake --build --preset dev --target collect_raw collect_raw_scripted | tail -n 1
exec /usr/bin/python3 scripts/evidence/assess.py "$@"
