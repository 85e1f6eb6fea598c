#!/bin/sh
# package.sh - builds the .debs that debian/ describes, and the .rpms that drng.spec describes, into build/packages, or into
# the folder given. tests/system/test_package.py has lintian and rpmlint look at them.
#
#     package.sh [FOLDER]
#
# FOLDER is relative to the folder of the caller. Packages of drng's that are in it make way.
#
# Installs what it needs from Debian's packages (root).

# SPDX-License-Identifier: Apache-2.0
set -eu
packages=${1:+$(realpath --canonicalize-missing -- "$1")}
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh
# shellcheck source=scripts/packaging/sources.sh
. scripts/packaging/sources.sh
umask 022
# Whoever builds, and wherever: the order of names and the words of dates are these.
LC_ALL=C.UTF-8 TZ=UTC
export LC_ALL TZ

# dpkg-buildpackage wants what debian/control names, debhelper by the name of its level.
declared=$(sed -n '/^Build-Depends:/,/^[^ ]/s/^ \([a-z0-9-]*\).*/\1/p' debian/control | sed 's/debhelper-compat/debhelper/')
# shellcheck disable=SC2086 # a list of names
need_packages build-essential file rpm $declared

# A folder of its own: what else was built here, and when, makes no difference.
root=$PWD
build=$root/build/package
case ${1-} in -*) fail "usage: package.sh [FOLDER]" ;; esac
packages=${packages:-$root/build/packages}

# Of two at a time, the second one waits.
mkdir -p "$build" "$packages"
exec 9>"$build/lock"
flock 9

# The same sources give the same packages: what is in them is as old as the sources.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(source_date)}
export SOURCE_DATE_EPOCH

rm -rf "$build/sources" "$build"/*drng*.*
copy_sources "$build/sources"

# No tests, which scripts/test.sh runs, and no packages of debugging symbols, which are for an archive of their own.
DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)"
export DEB_BUILD_OPTIONS
cd "$build/sources"
logged "$build/log" dpkg-buildpackage --build=binary --no-sign --no-pre-clean
cd "$root"
rm -f "$packages"/*drng*.deb "$packages"/*drng*.rpm
mv "$build"/*.deb "$packages"

# Not below $build: rpmbuild takes no path with a blank.
work_in drng-rpm
logged "$build/log" source_package "$work/SOURCES"
# What it requires is named as Fedora names it, and Debian's packages are here.
logged "$build/log" rpmbuild -bb --nodeps --without check --load=scripts/packaging/debian.macros \
    --define "_topdir $work" scripts/packaging/drng.spec
mv "$work"/RPMS/*/*.rpm "$packages"
ls "$packages"/*drng*.*
