#!/bin/sh
# prove.sh - proves, with CBMC and Spin, what tests only sample; docs/develop/proofs.md says what that is.
#
#     scripts/prove.sh                  all proofs, and each of them again with the code changed: it must fail then
#     scripts/prove.sh --quick          the proofs that take seconds; for continuous integration
#     scripts/prove.sh [--quick] NAME...    those whose name holds NAME; tests/proofs/proofs.toml lists them
#
# Other arguments go to scripts/prove/prove.py. Both tools come from Debian's packages, in a chroot that stays in
# DRNG_PROOFS_CACHE (default /var/cache/drng-proofs), 530 MB. Takes root to make it.
# Exit status 1: something is not proved; 77: the chroot cannot be made here.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."

chroot=${DRNG_PROOFS_CACHE:-/var/cache/drng-proofs}/trixie
scripts/ci/chroot.sh make trixie "$chroot" cbmc gcc libc6-dev libssl-dev spin
exec /usr/bin/python3 scripts/prove/prove.py --chroot "$chroot" "$@"
