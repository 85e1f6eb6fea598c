#!/bin/sh
# chroot.sh - a Debian in a folder: makes it, and runs commands in it.
#
#     chroot.sh make SUITE DIR [PACKAGE...]      makes DIR, or brings it up to date when it is a day old
#     chroot.sh enter [--bind FROM TO] DIR COMMAND [ARGUMENT...]
#     chroot.sh copy DIR COPY COMMAND [ARGUMENT...]
#
# SUITE may be experimental: that is sid, with what experimental has of OpenSSL.
#
# What was made stays; DIR.packages lists the packages that it was brought up to date with. A command has /proc, a small
# /dev, an empty /tmp and /run, none of this machine's environment, and FROM at the path TO. All of it is in a mount and
# a process namespace of its own: whatever was mounted and started inside is gone when the command ends, however it ends.
# `copy` runs a command of this machine, for which the folder COPY is a copy of DIR, changes of which are in memory and
# last as long as the command.
#
# Takes root. Exit status 77: it cannot be done here; the last line says why.

# SPDX-License-Identifier: Apache-2.0
set -eu
# shellcheck source=scripts/ci/packages.sh
. "$(dirname "$0")/packages.sh"

check()
{
    [ "$(id -u)" = 0 ] || cannot "chroots take root"
    need_packages mmdebstrap util-linux || cannot "mmdebstrap cannot be installed"
    unshare --mount --pid --fork true 2>/dev/null ||
        cannot "no namespaces here, and chroots are mounted in one of their own"
}

# ---- enter ----

enter()
{
    # A session of its own: a server that ends its process group (Apache does) must not reach those outside.
    exec env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${http_proxy:+"http_proxy=$http_proxy"} \
        unshare --mount --propagation private --pid --fork --kill-child setsid "$0" inside "$@" </dev/null 9>&-
}

inside()
{
    from=
    if [ "$1" = --bind ]; then
        from=$2 to=$3
        shift 3
    fi
    root=$1
    shift
    mount --bind "$root" "$root" # a program inside that makes a mount namespace wants / to be a mount
    mount -t proc proc "$root/proc"
    mount -t tmpfs -o mode=755,size=1m dev "$root/dev"
    for node in null zero full random urandom; do
        : >"$root/dev/$node"
        mount --bind "/dev/$node" "$root/dev/$node"
    done
    ln -s /proc/self/fd "$root/dev/fd"
    mkdir "$root/dev/shm"
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
    mount -t tmpfs -o mode=1777 tmp "$root/tmp"
    mount -t tmpfs -o mode=755 run "$root/run"
    if [ -n "$from" ]; then
        mkdir -p "$root$to"
        mount --bind "$from" "$root$to"
    fi
    # Not exec: as the namespace's first process the shell reaps what servers leave behind.
    chroot "$root" "$@"
}

# ---- copy ----

copy()
{
    # shellcheck disable=SC2016 # the inner shell's
    exec unshare --mount --propagation private sh -ec '
        from=$1 to=$2
        shift 2
        mount -t tmpfs -o mode=755 copy "$to"
        mkdir "$to/changes" "$to/work" "$to/root"
        mount -t overlay -o "lowerdir=$from,upperdir=$to/changes,workdir=$to/work" copy "$to/root"
        mount --move "$to/root" "$to"
        exec "$@"' sh "$@"
}

# ---- make ----

# experimental is no whole Debian: OpenSSL comes from there, and all else from sid.
add_experimental()
{
    sed 's/ sid / experimental /' "$1/etc/apt/sources.list" >"$1/etc/apt/sources.list.d/experimental.list"
    printf 'Package: src:openssl\nPin: release a=experimental\nPin-Priority: 990\n' \
        >"$1/etc/apt/preferences.d/experimental"
}

bootstrap()
{
    echo "$1: making a chroot in $2"
    base=$1
    [ "$1" != experimental ] || base=sid
    debian minbase "$base" "$2" >"$log" 2>&1 || return 1
    [ "$1" = "$base" ] || add_experimental "$2"
    # No service is started inside: the tests start what they need.
    printf '#!/bin/sh\nexit 101\n' >"$2/usr/sbin/policy-rc.d"
    chmod 755 "$2/usr/sbin/policy-rc.d"
}

update()
{
    cp /etc/resolv.conf "$1/etc/resolv.conf"
    # A mirror may lag; who signed it is still checked.
    echo 'Acquire::Check-Valid-Until "false";' >"$1/etc/apt/apt.conf.d/mirror"
    # shellcheck disable=SC2016 # the inner shell's
    "$0" enter "$1" env DEBIAN_FRONTEND=noninteractive sh -ec '
        apt-get update -qq --error-on=any
        apt-get dist-upgrade -y -qq
        apt-get install -y -qq --no-install-recommends $*
        apt-get clean' sh "$2" >"$log" 2>&1
}

make()
{
    suite=$1 root=$2
    shift 2
    check
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    trap 'exit 1' HUP INT TERM
    mkdir -p "$(dirname "$root")"
    exec 9>"$root.lock"
    flock 9
    [ -d "$root" ] || bootstrap "$suite" "$root" || cannot "mmdebstrap fails: $(tail -n 1 "$log")"
    same=
    [ "$(cat "$root.packages" 2>/dev/null)" != "$*" ] || same=yes
    [ -z "$same" ] || [ -z "$(find "$root.packages" -mmin -1440)" ] || return 0
    echo "$suite: bringing its packages up to date"
    if update "$root" "$*"; then
        echo "$*" >"$root.packages"
    elif [ -n "$same" ]; then
        # A day-old chroot is a good one; one that lacks packages is not.
        echo "$suite: used as it was, since apt fails: $(tail -n 1 "$log")"
    else
        cannot "apt fails in $root: $(tail -n 1 "$log")"
    fi
}

case ${1-} in
make | enter | copy | inside) "$@" ;;
*)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
