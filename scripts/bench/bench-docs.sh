#!/bin/sh
# bench-docs.sh - measures what docs/performance.md and docs/develop/tables have of speed, and puts it there; takes some
# minutes.
#
# On a machine that does nothing else: a table that a busy one has made does not belong there. Installs what it needs
# from Debian's packages (root); bench-peers.sh says what else it takes. OpenSSL 3.5 comes from a chroot that stays in
# /var/cache/drng-evidence.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."

shown='--benchmark_filter=^bytes/(CTR-DRBG|drng|AES-256-CTR)/(32|256|1024|16384|65536)$'
scripts/bench.sh --aes-ni -- "$shown"
scripts/bench.sh --avx2 -- "$shown"
scripts/bench/bench_startup.py

chroot=/var/cache/drng-evidence/trixie
scripts/ci/chroot.sh make trixie "$chroot" libstdc++6 openssl
scripts/bench/bench-peers.sh
peers='--benchmark_filter=^bytes/.*/(16|64|1024|65536)$'
scripts/bench.sh -- "$peers"
scripts/bench.sh --root "$chroot" -- "$peers"
scripts/bench/bench_report.py build/bench/bench.json build/bench/bench-trixie.json
scripts/evidence/tables.py --write bench-aes-ni bench-avx2 peers startup
