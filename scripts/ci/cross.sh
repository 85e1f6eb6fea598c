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
    libraries="libc6 libc6-dev linux-libc-dev libgcc-s1 libssl3 libssl-dev openssl libcunit1 libcunit1-dev
        python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libexpat1 libffi8 zlib1g"
    case $1 in
    aarch64) debian=arm64 triplet=aarch64-linux-gnu ;;
    ppc64le) debian=ppc64el triplet=powerpc64le-linux-gnu ;;
    s390x) debian=s390x triplet=s390x-linux-gnu ;;
    riscv64)
        debian=riscv64 triplet=riscv64-linux-gnu
        # Debian 12 does not have it.
        suite=trixie
        libraries="libc6 libc6-dev linux-libc-dev libgcc-s1 libssl3t64 libssl-dev openssl openssl-provider-legacy
            libcunit1 libcunit1-dev libzstd1 zlib1g python3.13-minimal libpython3.13-minimal libpython3.13-stdlib
            libexpat1 libffi8"
        ;;
    *)
        echo "cross.sh: no rig for \"$1\": write aarch64, ppc64le, s390x or riscv64" >&2
        exit 64
        ;;
    esac
}

# Fails without a sysroot, or leaves a whole one. Called where the shell does not end at a command that fails, so that
# each says what follows.
fetch_sysroot()
{
    apt=$build/apt
    rm -rf "$sysroot.new" && use_apt "$apt" "$debian" "$suite" && mkdir "$apt/packages" || return 1
    # Debian 13 and later have /lib as a link, and leave it to a package of its own.
    for directory in bin lib lib64 sbin; do
        mkdir -p "$sysroot.new/usr/$directory" && ln -s "usr/$directory" "$sysroot.new/$directory" || return 1
    done
    # shellcheck disable=SC2086 # a list of names
    (cd "$apt/packages" && private_apt apt-get download -qq $libraries) || return 1
    for package in "$apt"/packages/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$sysroot.new" || return 1
    done
    rm -rf "$apt"
    # Links from the root on would lead out of the sysroot.
    find "$sysroot.new" -lname '/*' -exec sh -c '
        set -e
        root=$1
        shift
        for link; do ln -sfn "$(realpath -m -s --relative-to="${link%/*}" "$root$(readlink "$link")")" "$link"; done
    ' sh "$sysroot.new" {} + || return 1
    rm -rf "$sysroot"
    mv "$sysroot.new" "$sysroot"
}

# build ARCH - false: its packages could not be had.
build()
{
    describe "$1"
    build=$PWD/build/cross/$1
    sysroot=$build/sysroot
    need_packages "gcc-$(echo "$triplet" | tr _ -)" cmake ninja-build pkg-config qemu-user || return 1
    if [ ! -d "$sysroot" ]; then
        echo "Fetching: libc, libcrypto, openssl, CUnit and python for $1 into $sysroot"
        fetch_sysroot || return 1
    fi
    # An earlier version's build found this machine's C library for the architecture.
    grep -qs "^CMAKE_C_FLAGS:.*-B$sysroot" "$build/CMakeCache.txt" || rm -f "$build/CMakeCache.txt"
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
