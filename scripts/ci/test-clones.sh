#!/bin/sh
# test-clones.sh - virtual machines are snapshotted and cloned, and what two clones draw is compared: every case.
#
# usage: test-clones.sh [CASE...]        (test-clones.sh --list names the cases)
#
# Fetches QEMU and kernels into build/guests (guests.sh), and builds the module and the guests' program. A case takes ten
# seconds or so, the whole some five minutes. Its table is left in build/clones for docs/clones.md
# (scripts/evidence/tables.py --write clones). Takes no root where the packages for a build are there, and listens on no
# network. Status 0: every case came out as expected; 1: one did not; 2: the rig is broken, since OpenSSL's own generator
# did not repeat what it must repeat, or a guest did not run; 77: QEMU or kernels cannot be had here.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev systemtap-sdt-dev python3 util-linux
scripts/ci/guests.sh
cmake --preset release >/dev/null
cmake --build --preset release -- --quiet
cmake --preset dev >/dev/null
cmake --build --preset dev --target clone_guest -- --quiet
exec /usr/bin/python3 -m tests.support.clones --document build/clones/clones.md "$@"
