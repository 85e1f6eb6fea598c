#!/bin/sh
# test-package.sh - the whole life of the .deb in a chroot of Debian 12: installed, enabled, serving TLS, disabled,
# upgraded, removed and purged. Takes a .deb, or builds one.
#
# The bare chroot is kept in /var/cache/drng-packages, and every run works on a copy. Exits with 77 where none can be
# made (that takes root and, the first time, Debian's packages). Listens on 127.0.0.1 only.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

cannot()
{
    echo "test-package: $*" >&2
    exit 77
}

[ "$(id -u)" = 0 ] || cannot "a chroot takes root"

work=$(mktemp -d /var/tmp/drng-package.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

bare=/var/cache/drng-packages/bookworm
if [ ! -d "$bare" ]; then
    need_packages debootstrap || cannot "debootstrap cannot be installed"
    echo "Making: $bare"
    # From where this machine has its own packages.
    # shellcheck disable=SC2016 # apt's placeholders
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
    rm -rf "$bare.new"
    mkdir -p "$bare.new"
    debootstrap --variant=minbase --include=ca-certificates,curl,nginx-light,openssl,python3 bookworm "$bare.new" \
        "$mirror" >"$work/log" 2>&1 || cannot "debootstrap fails: $(tail -n 1 "$work/log")"
    mv "$bare.new" "$bare"
fi

if [ $# = 0 ]; then
    scripts/packaging/package.sh "$work/packages" -G DEB
    set -- "$work"/packages/drng_*.deb
fi

cp -a "$bare" "$work/root"
cp "$1" "$work/root/drng.deb"
cp scripts/packaging/life.sh "$work/root/life.sh"

# With processes and mounts of its own, which end with it.
in_chroot()
{
    unshare --mount --pid --fork --kill-child --mount-proc="$work/root/proc" chroot "$work/root" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"
}
in_chroot true 2>"$work/log" || cannot "no chroot here: $(tail -n 1 "$work/log")"
in_chroot /bin/sh /life.sh
