#!/bin/sh
# bench-docs.sh - measures what docs/develop/tables has of speed, and puts it there; takes some minutes.
#
# On a machine that does nothing else: a table that a busy one has made does not belong there. Installs what it needs
# from Debian's packages (root).

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."

one_thread='--benchmark_filter=^bytes/(CTR-DRBG|drng|AES-256-CTR)/(32|256|1024|16384|65536)/.*threads:1$'
scripts/bench.sh --aes-ni -- "$one_thread"
scripts/bench.sh --avx2 -- "$one_thread"
scripts/bench/bench_startup.py
scripts/evidence/tables.py --write bench-aes-ni bench-avx2 startup
