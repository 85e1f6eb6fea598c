#!/bin/sh
# cross.sh - builds drng and its tests for another architecture on this machine, to be run under QEMU's user mode.
#
#     cross.sh [ARCH...]     aarch64, ppc64le, s390x, riscv64; all of them where none is named
#
# Installs the cross compilers and QEMU from Debian's packages (root). The libraries of the other architecture are
# unpacked under build/cross/ARCH/sysroot and nowhere else: the machine's own package database does not hear of them.
# Installs and fetches nothing where all is there. Exit status 77: the packages for one of them could not be had.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh

# describe ARCH - Debian's names for it.
describe()
{
    suite=bookworm
    libraries="libc6-dev libssl-dev openssl libcunit1-dev python3-minimal libpython3-stdlib"
    case $1 in
    aarch64) debian=arm64 triplet=aarch64-linux-gnu ;;
    ppc64le) debian=ppc64el triplet=powerpc64le-linux-gnu ;;
    s390x) debian=s390x triplet=s390x-linux-gnu ;;
    # Debian 12 does not have it.
    riscv64) debian=riscv64 triplet=riscv64-linux-gnu suite=trixie libraries="$libraries openssl-provider-legacy" ;;
    *)
        echo "cross.sh: no rig for \"$1\": write aarch64, ppc64le, s390x or riscv64" >&2
        exit 64
        ;;
    esac
}

# Fails without a sysroot, or leaves a whole one. Links from the root on would lead out of it.
fetch_sysroot()
{
    debian extract "$suite" "$sysroot" --architectures="$debian" --include="$libraries" &&
        find "$sysroot" -lname '/*' -exec sh -c '
        set -e
        root=$1
        shift
        for link; do ln -sfn "$(realpath -m -s --relative-to="${link%/*}" "$root$(readlink "$link")")" "$link"; done
    ' sh "$sysroot" {} +
}

# build ARCH - false: its packages could not be had.
build()
{
    describe "$1"
    build=$PWD/build/cross/$1
    sysroot=$build/sysroot
    need_packages mmdebstrap "gcc-$(echo "$triplet" | tr _ -)" cmake ninja-build pkg-config qemu-user || return 1
    if [ ! -d "$sysroot" ]; then
        echo "Fetching: libc, libcrypto, openssl, CUnit and python for $1 into $sysroot"
        fetch_sysroot || return 1
    fi
    echo "Building: $1"
    configure_and_build "$build" -S . -B "$build" -G Ninja --no-warn-unused-cli --toolchain "tests/cross/$1.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DDRNG_HARDEN=ON -DDRNG_WERROR=ON -DDRNG_TESTS=ON
    echo "Every CUnit program: ctest --test-dir build/cross/$1"
    echo "Run it: OPENSSL_MODULES=$build qemu-$1 -L $sysroot $sysroot/usr/bin/openssl rand -provider drng -hex 32"
}

[ $# -gt 0 ] || set -- aarch64 ppc64le s390x riscv64
skipped=
for arch; do
    build "$arch" || skipped="$skipped $arch"
done
[ -z "$skipped" ] || {
    echo "skipped: these packages could not be had, for:$skipped"
    exit 77
}
