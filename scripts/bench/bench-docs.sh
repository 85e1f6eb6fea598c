#!/bin/sh
# bench-docs.sh - measures what docs/develop/tables has of speed, and puts it there; takes some minutes.
#
# On a machine that does nothing else: a table that a busy one has made does not belong there. Installs what it needs
# from Debian's packages (root).

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."

shown='--benchmark_filter=^bytes/(CTR-DRBG|drng|AES-256-CTR)/(32|256|1024|16384|65536)$'
scripts/bench.sh --aes-ni -- "$shown"
scripts/bench.sh --avx2 -- "$shown"
scripts/bench/bench_startup.py
scripts/evidence/tables.py --write bench-aes-ni bench-avx2 startup
