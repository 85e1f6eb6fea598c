#!/bin/sh
# bench-docs.sh - measures what docs/performance-tables.md shows, except its section on TLS servers (bench-tls.sh), and
# puts it there; takes half an hour.
#
#     bench-docs.sh [ROOT [OTHER...]]    ROOT: a directory with a Debian that has OpenSSL 3.5, by `debootstrap trixie
#                                        trixie`; without it the tables of 3.5 stay as they are. OTHER: the same with
#                                        another OpenSSL, 4.0 from experimental, for the tables that have all versions
#
# The rows AWS-LC and libsodium are there if scripts/bench/bench-crates.sh has run. Best on a machine that does nothing
# else. Installs what it needs from Debian's packages (root).

set -eu
for root in "$@"; do
    shift
    set -- "$@" "$(realpath "$root")"
done
cd "$(dirname "$0")/../.."
pictures=docs/pictures

scripts/bench.sh
scripts/bench.sh --aes-ni -- '--benchmark_filter=^bytes/(CTR-DRBG|drng|AES-256-CTR)/.*threads:1$'
scripts/bench.sh --avx2 -- '--benchmark_filter=^bytes/(CTR-DRBG|drng|AES-256-CTR)/.*threads:1$'
[ $# -eq 0 ] || scripts/bench.sh --root "$1"
scripts/bench/bench_profile.py
scripts/bench/bench_scaling.py
scripts/bench/bench_threads.py
scripts/bench/bench_startup.py
scripts/bench/bench_claims.py
scripts/bench/bench_clones.py
[ $# -eq 0 ] || scripts/bench/bench_words.py "$1"
scripts/bench/bench_contexts.py
scripts/bench/bench_versions.py "$@"
scripts/evidence/tables.py --write bench bench-aes-ni bench-avx2 ${1:+bench-trixie} bench-claims bench-clones ${1:+bench-words} contexts \
    first-byte profile scaling startup threads versions

mkdir -p $pictures
for picture in bench-requests bench-ratios scaling-means scaling-shares; do
    cp "build/bench/$picture.png" $pictures
done
ls -l $pictures
