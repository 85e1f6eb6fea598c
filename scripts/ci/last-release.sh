# last-release.sh - drng 0.2.0, which was one package: its sources, and its .deb and .rpm; to be sourced after packages.sh.

# SPDX-License-Identifier: Apache-2.0
# Its commit.
release=d2cf82c

# release_sources FOLDER
release_sources()
{
    git cat-file -e "$release^{commit}" 2>/dev/null ||
        cannot "this clone does not have the commit of 0.2.0: git fetch --unshallow"
    mkdir "$1"
    git -c tar.umask=0022 archive "$release" | tar -C "$1" --extract
}

# release_package deb|rpm - in $old; built once, with the other one, and kept in /var/cache/drng-packages
release_package()
{
    old=/var/cache/drng-packages/drng_0.2.0-$release
    if [ ! -e "$old.$1" ]; then
        # shellcheck disable=SC2154 # work_in's
        release_sources "$work/release"
        echo "Building: drng 0.2.0" >&2
        logged "$work/log" env DRNG_LINT=no "$work/release/scripts/packaging/package.sh" "$work/release/made" -G "DEB;RPM"
        mv "$work"/release/made/drng-*.rpm "$old.rpm"
        mv "$work"/release/made/drng_*.deb "$old.deb"
    fi
    old=$old.$1
}
