#!/bin/sh
# test-upgrade.sh - drng 0.2.0, which was one package, is upgraded to the packages of today in a chroot of Debian while an nginx
# serves: no connection fails, the running nginx keeps its module until it is restarted, and what was on stays on.
#
#     test-upgrade.sh [FOLDER [SUITE]]     builds today's .debs where no folder with them is named; bookworm, where no suite is
#
# 0.2.0 is built from its commit, and kept in /var/cache/drng-packages. Exits with 77 where that commit is not in this
# clone, or where no chroot can be made. Listens on 127.0.0.1 only. Takes root.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

# The commit of 0.2.0.
old=d2cf82c
cache=/var/cache/drng-packages
suite=${2:-bookworm}
bare=$cache/$suite
old_deb=$cache/drng_0.2.0-$old.deb

git cat-file -e "$old^{commit}" 2>/dev/null ||
    cannot "this clone does not have the commit of 0.2.0: git fetch --unshallow"
scripts/ci/chroot.sh make "$suite" "$bare" ca-certificates curl nginx-light openssl python3 >&2

work_in drng-upgrade

if [ ! -e "$old_deb" ]; then
    echo "Building: drng 0.2.0"
    mkdir "$work/old"
    git -c tar.umask=0022 archive "$old" | tar -C "$work/old" --extract
    "$work/old/scripts/packaging/package.sh" "$work/packages" -G DEB >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
    mv "$work"/packages/drng_*.deb "$old_deb"
fi
if [ $# = 0 ]; then
    scripts/packaging/package.sh "$work/new" deb
    set -- "$work/new"
fi

mkdir "$work/root"
# shellcheck disable=SC2016 # the inner shell's
scripts/ci/chroot.sh copy "$bare" "$work/root" sh -ec '
    cp "$2" "$1/old.deb"
    mkdir "$1/new"
    cp "$3"/*drng*_"$(dpkg --print-architecture)".deb "$3"/drng*_all.deb "$1/new"
    cp scripts/packaging/upgrade-life.sh scripts/packaging/living.sh "$1"
    exec scripts/ci/chroot.sh enter "$1" /bin/sh /upgrade-life.sh' sh "$work/root" "$old_deb" "$1"
