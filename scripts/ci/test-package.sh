#!/bin/sh
# test-package.sh - the whole life of the .debs or of the .rpms (scripts/packaging/life.sh), in a chroot of Debian.
#
#     test-package.sh deb|rpm [FOLDER [SUITE]]     builds them where no folder with them is named; bookworm, where no suite is
#
# For the .rpms libcrypto's files are put where Fedora and RHEL have them. Fedora's own programs are not in it, nor is
# SELinux. The bare chroot is kept in /var/cache/drng-packages, and every run works on a copy. Exits with 77 where none can
# be made (that takes root and, the first time, Debian's packages). Listens on 127.0.0.1 only.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

kind=${1-}
case $kind in
deb) files="*drng*_$(dpkg --print-architecture).deb *drng*_all.deb" ;;
rpm) files="drng-*.rpm" ;;
*) fail "deb or rpm?" ;;
esac
suite=${3:-bookworm}
serving_chroot "$suite" >&2
work_in drng-package
[ $# -gt 1 ] || scripts/packaging/package.sh "$work/packages"
packages=${2:-$work/packages}

# As it is seen inside.
mkdir "$work/root" "$work/mnt"
cp -r scripts "$work/mnt"
for pattern in $files; do
    find "$packages" -maxdepth 1 -name "$pattern" ! -name '*-dbgsym_*' -exec cp {} "$work/mnt" ';'
done
scripts/ci/chroot.sh copy "$bare" "$work/root" \
    scripts/ci/chroot.sh enter --bind "$work/mnt" /mnt "$work/root" /bin/sh /mnt/scripts/packaging/life.sh "$kind" /mnt
