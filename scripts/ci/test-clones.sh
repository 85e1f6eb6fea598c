#!/bin/sh
# test-clones.sh - virtual machines are snapshotted and cloned, and what two clones draw is compared: every case.
#
# usage: test-clones.sh [CASE...]        (test-clones.sh --list names the cases)
#
# Fetches QEMU and kernels into build/guests (guests.sh), and builds the module and the guests' program, for 64-bit ARM
# too (cross.sh). A case takes ten seconds or so, the whole some five minutes. Its table is left in build/clones for
# docs/clones.md (scripts/evidence/tables.py --write clones). Takes no root where the packages for a build are there, and listens on no
# network. Status 0: every case came out as expected; 1: one did not; 2: the rig is broken, since OpenSSL's own generator
# did not repeat what it must repeat, or a guest did not run; 77: what some guests need cannot be had here.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev libcunit1-dev python3 util-linux
scripts/ci/guests.sh
build_preset release
build_preset dev clone_guest
if scripts/ci/guests.sh aarch64 && scripts/ci/cross.sh aarch64; then
    cross=build/cross/aarch64
    aarch64-linux-gnu-gcc --sysroot="$PWD/$cross/sysroot" -std=c11 -D_DEFAULT_SOURCE -O2 -Wall -Wextra -Werror -I. \
        -o $cross/tests/clone_guest tests/programs/clone_guest.c tests/programs/guest_port_aarch64.c -lcrypto
fi
exec /usr/bin/python3 -m tests.support.clones --document build/clones/clones.md "$@"
