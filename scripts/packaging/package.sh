#!/bin/sh
# package.sh - builds drng_*.deb, drng-*.rpm and drng-*.tar.gz into build/packages, or into the folder given, and looks
# at the .deb with lintian where that is installed. Arguments after the folder go to cpack: -G DEB makes the .deb alone.
# Beside it come the .deb's of the library, libdrng0 and libdrng-dev.
#
#     package.sh [--arch ARCH] [FOLDER [ARGUMENT...]]
#
# ARCH: aarch64, ppc64le or s390x, for a .deb that is compiled on this machine for another: scripts/ci/cross.sh.
#
# Installs what it needs from Debian's packages (root).

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh
umask 022

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev binutils dpkg-dev file rpm

build=build/release
if [ "${1:-}" = --arch ]; then
    case ${2:-} in
    aarch64) debian=arm64 ;;
    ppc64le) debian=ppc64el ;;
    s390x) debian=s390x ;;
    *)
        echo "package.sh: no package for \"${2:-}\": write --arch aarch64, ppc64le or s390x" >&2
        exit 64
        ;;
    esac
    arch=$2
    build=build/cross/$arch/release
    shift 2
fi
case ${1:-} in
-*)
    echo "usage: package.sh [--arch ARCH] [FOLDER [ARGUMENT...]]" >&2
    exit 64
    ;;
esac
packages=${1:-build/packages}
[ $# = 0 ] || shift

if [ "$build" = build/release ]; then
    cmake --preset release >/dev/null
else
    scripts/ci/cross.sh "$arch"
    cmake -S . -B "$build" -G Ninja --no-warn-unused-cli --toolchain "tests/cross/$arch.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DDRNG_HARDEN=ON >/dev/null
fi
cmake --build "$build" | tail -n 1

# The same sources give the same .deb: its files are as old as the version.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date --utc --date "$(sed -n '/^## .* - /{s///p;q}' CHANGELOG.md)" +%s)}
export SOURCE_DATE_EPOCH

mkdir -p "$packages"
packages=$(cd "$packages" && pwd)
if [ "$build" = build/release ]; then
    rm -f "$packages"/drng[-_]*.deb "$packages"/drng[-_]*.rpm "$packages"/drng[-_]*.tar.gz
    made='drng_*.deb'
else
    # dpkg-shlibdeps knows the libraries of this machine only: the newest version of glibc's symbols says which libc6.
    glibc=$(objdump -T "$build"/drng.so | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -n 1)
    set -- -G DEB -D CPACK_DEBIAN_PACKAGE_ARCHITECTURE="$debian" -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF \
        -D "CPACK_DEBIAN_PACKAGE_DEPENDS=libc6 (>= $glibc), openssl, python3" "$@"
    made="drng_*_$debian.deb"
    # shellcheck disable=SC2086 # a pattern
    (cd "$packages" && rm -f $made)
fi
cpack --config "$build"/CPackConfig.cmake -B "$packages" "$@" >"$packages/cpack.log" 2>&1 || {
    cat "$packages/cpack.log" >&2
    exit 1
}
# The library's; its libdrng-dev depends on libdrng0, and on nothing of libc's.
if [ "$build" = build/release ]; then
    rm -f "$packages"/libdrng*.deb
else
    set -- -D CPACK_DEBIAN_PACKAGE_ARCHITECTURE="$debian" -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF
    rm -f "$packages"/libdrng*_"$debian".deb
fi
for name in libdrng0 libdrng-dev; do
    depends=
    [ "$build" = build/release ] || [ $name = libdrng-dev ] || depends="-D CPACK_DEBIAN_PACKAGE_DEPENDS=libc6"
    # shellcheck disable=SC2086 # one option, or none
    cpack --config "$build/packaging/$name.cmake" -B "$packages" "$@" -G DEB $depends >>"$packages/cpack.log" 2>&1 || {
        cat "$packages/cpack.log" >&2
        exit 1
    }
done
rm -rf "$packages/_CPack_Packages"
ls "$packages"/drng[-_]* "$packages"/libdrng*

if command -v lintian >/dev/null; then
    # shellcheck disable=SC2086 # a pattern
    (cd "$packages" && lintian --fail-on error,warning $made libdrng*.deb)
fi
