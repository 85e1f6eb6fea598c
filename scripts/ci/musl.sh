#!/bin/sh
# musl.sh - builds drng with musl, the C library of Alpine, runs the CUnit programs of mixing/, and has drng.so and libdrng,
# shared and static, serve programs on musl; with --short, without the CUnit programs.
#
# Debian has musl, but no libcrypto and no CUnit for it: the programs are linked with Debian's static archives, which are
# compiled for glibc, and with tests/cross/musl/fortified.c, which has what musl lacks of that. drng itself is compiled for
# musl as it stands. Installs what it needs from Debian's packages (root). Exits with 77 where they cannot be had, or where
# this is no x86-64.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

[ "$(uname -m)" = x86_64 ] || cannot "tried on x86-64 only"
need_packages musl-tools gcc cmake ninja-build pkg-config libssl-dev libcunit1-dev linux-libc-dev || exit 77

build=build/musl
libraries=$(pkg-config --variable=libdir libcrypto)
mkdir -p $build/include $build/lib $build/pkgconfig

# Headers of libcrypto, CUnit and the kernel, and none of glibc's; musl's own come first all the same.
for name in openssl CUnit linux asm-generic; do
    ln -sfn "/usr/include/$name" "$build/include/$name"
done
mkdir -p $build/include-machine
for name in openssl asm; do
    ln -sfn "/usr/include/$(gcc -print-multiarch)/$name" "$build/include-machine/$name"
done
flags="-idirafter $PWD/$build/include -idirafter $PWD/$build/include-machine"

musl-gcc -O2 -c tests/cross/musl/fortified.c -o $build/fortified.o
# archive NAME MODULE - Debian's archive with what musl lacks of it, and how pkg-config finds it as MODULE.
archive()
{
    cp "$libraries/lib$1.a" "$build/lib/lib$1.a"
    ar r "$build/lib/lib$1.a" $build/fortified.o
    printf 'modulesdir=%s\nName: %s\nDescription: %s, static\nVersion: %s\nLibs: -L%s -l%s\n' \
        "$(pkg-config --variable=modulesdir libcrypto)" "$2" "$2" "$(pkg-config --modversion "$2")" \
        "$PWD/$build/lib" "$1" >"$build/pkgconfig/$2.pc"
}
archive crypto libcrypto
archive cunit cunit

PKG_CONFIG_LIBDIR=$PWD/$build/pkgconfig cmake -S . -B $build -G Ninja --no-warn-unused-cli -DCMAKE_C_COMPILER=musl-gcc \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_BUILD_TYPE=Release -DDRNG_HARDEN=ON -DDRNG_WERROR=ON -DDRNG_TESTS=ON >/dev/null

# Those of tests/unit that this machine has.
tests=
[ "${1:-}" = --short ] || for name in $(ctest --test-dir $build --show-only | sed -n 's/^ *Test *#[0-9]*: //p'); do
    [ ! -e "tests/unit/test_$name.c" ] || tests="$tests $name"
done
# shellcheck disable=SC2046,SC2086 # lists of names
logged $build/build.log cmake --build $build --target drng probe library_draw_shared library_draw_static ${tests:+$(printf 'test_%s ' $tests)}
for module in drng.so libdrng.so; do
    readelf --dynamic $build/$module | grep -q 'NEEDED.*\[libc\.so\]' || fail "$module is not for musl"
done
# shellcheck disable=SC2086 # a list of names
[ -z "$tests" ] || ctest --test-dir $build --output-on-failure --tests-regex "^($(echo $tests | tr ' ' '|'))\$"

# A program on musl, its libcrypto inside, loads the module and is served.
said=$(OPENSSL_MODULES=$build OPENSSL_CONF=conf/drng.cnf $build/tests/probe)
case $said in
*'"public": {"name": "CTR-DRBG", "provider": "drng"'*) echo "a program on musl is served by drng" ;;
*) fail "a program on musl is not served by drng: $said" ;;
esac

for way in shared static; do
    said=$($build/tests/library_draw_$way) || fail "a program on musl is not served by libdrng, $way: $said"
    echo "a program on musl is served by libdrng, $way"
done
