#!/bin/sh
# cross-aarch64.sh - builds drng.so for 64-bit ARM on this machine, and the programs with which the tests try it.
#
# Installs the cross compiler and QEMU from Debian's packages (root). The libraries of the other architecture are
# unpacked under build/aarch64/sysroot and nowhere else: the machine's own package database does not hear of them.
# Installs and fetches nothing where all is there. Exit status 77: the packages could not be had.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

build=$PWD/build/aarch64
sysroot=$build/sysroot

# private_apt COMMAND... - apt-get for arm64, its lists and its idea of what is installed in a folder of their own.
private_apt()
{
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
        -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
        -o Dir::State="$apt/state" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" \
        -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null "$@"
}

# The machine's own sources of Debian's packages, as lines of a sources.list. None before the first update.
debian_sources()
{
    # shellcheck disable=SC2016 # the names are apt's
    apt-get indextargets --format 'deb $(SITE) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 'Origin: Debian' 'Component: main' | sort -u
}

# Fails without a sysroot, or leaves a whole one.
fetch_sysroot()
{
    apt=$build/apt
    rm -rf "$apt" "$sysroot" "$sysroot.new"
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/packages" "$sysroot.new"
    : >"$apt/status"
    debian_sources >"$apt/sources.list"
    if [ ! -s "$apt/sources.list" ]; then
        apt-get update -qq >/dev/null || return 1
        debian_sources >"$apt/sources.list"
    fi
    private_apt update || return 1
    (cd "$apt/packages" && private_apt download libc6 libc6-dev linux-libc-dev libssl3 libssl-dev openssl) || return 1
    for package in "$apt"/packages/*.deb; do
        dpkg-deb -x "$package" "$sysroot.new" || return 1
    done
    rm -rf "$apt"
    mv "$sysroot.new" "$sysroot"
}

need_packages gcc-aarch64-linux-gnu cmake ninja-build pkg-config qemu-user || exit 77
if [ ! -d "$sysroot" ]; then
    echo "Fetching: libc, libcrypto and openssl for arm64 into $sysroot"
    fetch_sysroot || exit 77
fi

echo "Building: aarch64"
cmake -S . -B "$build" -G Ninja --no-warn-unused-cli --toolchain tests/cross/aarch64.cmake \
    -DCMAKE_BUILD_TYPE=Release -DDRNG_HARDEN=ON -DDRNG_WERROR=ON >/dev/null
cmake --build "$build" -- --quiet
mkdir -p "$build/tests"
for program in fork_draw probe; do
    aarch64-linux-gnu-gcc --sysroot="$sysroot" -std=c11 -D_DEFAULT_SOURCE -O2 -Wall -Wextra -Werror \
        -o "$build/tests/$program" "tests/programs/$program.c" -lcrypto
done

echo "Run it: OPENSSL_MODULES=$build qemu-aarch64 -L $sysroot $sysroot/usr/bin/openssl rand -provider drng -hex 32"
