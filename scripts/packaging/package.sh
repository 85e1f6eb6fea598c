#!/bin/sh
# package.sh - builds drng_*.deb, drng-*.rpm and drng-*.tar.gz into build/packages, or into the folder given, and looks
# at the .deb with lintian where that is installed. Arguments after the folder go to cpack: -G DEB makes the .deb alone.
#
# Installs what it needs from Debian's packages (root).

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh
umask 022

need_packages gcc libc6-dev cmake ninja-build pkg-config libssl-dev binutils dpkg-dev file rpm

packages=${1:-build/packages}
[ $# = 0 ] || shift

cmake --preset release >/dev/null
cmake --build --preset release | tail -n 1

# The same sources give the same .deb: its files are as old as the version.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date --utc --date "$(sed -n '/^## .* - /{s///p;q}' CHANGELOG.md)" +%s)}
export SOURCE_DATE_EPOCH

mkdir -p "$packages"
packages=$(cd "$packages" && pwd)
rm -f "$packages"/drng[-_]*.deb "$packages"/drng[-_]*.rpm "$packages"/drng[-_]*.tar.gz
cpack --config build/release/CPackConfig.cmake -B "$packages" "$@" >"$packages/cpack.log" 2>&1 || {
    cat "$packages/cpack.log" >&2
    exit 1
}
rm -rf "$packages/_CPack_Packages"
ls "$packages"/drng[-_]*

if command -v lintian >/dev/null; then
    lintian --fail-on error,warning "$packages"/drng_*.deb
fi
