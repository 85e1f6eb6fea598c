#!/bin/sh
# package.sh - builds drng_*.deb, drng-*.rpm and drng-*.tar.gz into build/packages, or into the folder given, and looks
# at the .deb with lintian and at the .rpm with rpmlint, where these are installed. Arguments after the folder go to
# cpack: -G DEB makes the .deb alone. Beside it come the .deb's of the library, libdrng0 and libdrng-dev.
#
#     package.sh [--arch ARCH] [FOLDER [ARGUMENT...]]
#
# FOLDER is relative to the folder of the caller. Packages of the same architecture that are in it make way.
#
# DRNG_LINT=no in the environment: nothing looks at them, where the same ones have been looked at.
#
# ARCH: aarch64, ppc64le or s390x, for .debs that are compiled on this machine for another: scripts/ci/cross.sh.
#
# Installs what it needs from Debian's packages (root).

set -eu
caller=$(pwd)
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh
# shellcheck source=scripts/ci/builds.sh
. scripts/ci/builds.sh
umask 022
# Whoever builds, and wherever: the order of names and the words of dates are these.
LC_ALL=C.UTF-8 TZ=UTC
export LC_ALL TZ

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev systemtap-sdt-dev binutils dpkg-dev file python3 rpm

# A folder of its own: what else was built here, and when, makes no difference.
build=build/package
debian=$(dpkg --print-architecture)
if [ "${1:-}" = --arch ]; then
    case ${2:-} in
    aarch64) debian=arm64 ;;
    ppc64le) debian=ppc64el ;;
    s390x) debian=s390x ;;
    *)
        printf '%s\n' "package.sh: no package for \"${2:-}\": write --arch aarch64, ppc64le or s390x" >&2
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
case ${1:-} in
'') packages=build/packages ;;
/*) packages=$1 ;;
*) packages=$caller/$1 ;;
esac
[ $# = 0 ] || shift

# Of two at a time, the second one waits.
mkdir -p "$build"
exec 9>"$build/lock"
flock 9
if [ "$build" = build/package ]; then
    build_preset package
else
    scripts/ci/cross.sh "$arch"
    configure_and_build "$build" -S . -B "$build" -G Ninja --no-warn-unused-cli --toolchain "tests/cross/$arch.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DDRNG_HARDEN=ON -DDRNG_PROBES=ON
fi

# When the sources were last changed: by the commit or, where they are no checkout, by the version's date.
source_date()
{
    # The checkout may belong to another user, whose hooks and settings are not run for `log`.
    if [ "$(git -c safe.directory="$PWD" rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; then
        git -c safe.directory="$PWD" log -1 --format=%ct
    else
        date --utc --date "$(sed -n '/^## .* - /{s///p;q}' CHANGELOG.md)" +%s
    fi
}

# The same sources give the same packages: what is in them is as old as the sources.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(source_date)}
export SOURCE_DATE_EPOCH

# dpkg-shlibdeps knows the libraries of this machine only: the newest version of glibc's symbols says which libc6.
libc6_for()
{
    echo "libc6 (>= $(objdump -T "$1" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -n 1))"
}

mkdir -p "$packages"
packages=$(cd "$packages" && pwd)
if [ "$build" = build/package ]; then
    rm -f "$packages"/drng[-_]*."$(uname -m)".rpm "$packages"/drng[-_]*.tar.gz
else
    set -- -G DEB -D CPACK_DEBIAN_PACKAGE_ARCHITECTURE="$debian" -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF \
        -D "CPACK_DEBIAN_PACKAGE_DEPENDS=$(libc6_for "$build/drng.so"), openssl, python3" "$@"
fi
rm -f "$packages"/drng_*_"$debian".deb "$packages"/libdrng*_"$debian".deb
cpack --config "$build"/CPackConfig.cmake -B "$packages" "$@" >"$packages/cpack.log" 2>&1 || {
    cat "$packages/cpack.log" >&2
    exit 1
}
# The library's; its libdrng-dev depends on libdrng0, and on nothing of libc's.
if [ "$build" != build/package ]; then
    set -- -D CPACK_DEBIAN_PACKAGE_ARCHITECTURE="$debian" -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF
fi
for name in libdrng0 libdrng-dev; do
    depends=
    [ "$build" = build/package ] || [ $name = libdrng-dev ] || depends=$(libc6_for "$build/libdrng.so")
    cpack --config "$build/packaging/$name.cmake" -B "$packages" "$@" -G DEB \
        ${depends:+-D "CPACK_DEBIAN_PACKAGE_DEPENDS=$depends"} >>"$packages/cpack.log" 2>&1 || {
        cat "$packages/cpack.log" >&2
        exit 1
    }
done
rm -rf "$packages/_CPack_Packages"
ls "$packages"/drng[-_]* "$packages"/libdrng*

[ "${DRNG_LINT:-yes}" = yes ] || exit 0
if command -v lintian >/dev/null && [ -n "$(find "$packages" -name "drng_*_$debian.deb")" ]; then
    (cd "$packages" && lintian --fail-on error,warning drng_*_"$debian".deb libdrng*_"$debian".deb)
fi
if command -v rpmlint >/dev/null && [ -n "$(find "$packages" -name "drng-*.$(uname -m).rpm")" ]; then
    rpmlint --config scripts/packaging/rpmlint.toml --strict "$packages"/drng-*."$(uname -m)".rpm >"$packages/rpmlint.log" 2>&1 || {
        cat "$packages/rpmlint.log" >&2
        exit 1
    }
fi
