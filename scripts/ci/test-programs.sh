#!/bin/sh
# test-programs.sh - who serves the programs that people ask for by name: each of tests/served/table.toml is installed on a
# Debian that is booted, drng-enable turns drng on for it, it draws, drng-status looks, and once more for the whole system.
#
#     test-programs.sh [SUITE [NAME...]]    bookworm, and all of the table, where nothing is named
#
# A line for each goes to build/served/SUITE.json, of which tests/served/page.py makes the table of docs/programs.md. The first
# time it takes half an hour, for packages; then 15 seconds a program. Takes root, the build `release`, Debian's packages and
# PyPI's. Exit status 77: it cannot be done here; the last line says why.

# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/ci/packages.sh
. scripts/ci/packages.sh

suite=${1:-bookworm}
[ $# = 0 ] || shift
base=$PWD/build/served/$suite
mkdir -p build/served/wheels
need_packages gcc libssl-dev python3-pip python3-pytest || cannot "packages cannot be had"
scripts/ci/chroot.sh make "$suite" "$base" ca-certificates curl dbus iproute2 openssl procps python3 systemd systemd-sysv \
    util-linux

# list KEY [NAME...] - a line of words for each of these entries of the table, or for all
list()
{
    /usr/bin/python3 -c "import sys, tomllib
key, *names = sys.argv[1:]
for p in tomllib.load(open('tests/served/table.toml', 'rb'))['program']:
    if not names or p['name'] in names: print(*p.get(key, []))" "$@"
}

# Of each program alone, since some do not go together. What is there is not fetched again.
step "Packages of $suite"
list packages "$@" | sort -u >"$base/root/packages"
# shellcheck disable=SC2016 # the inner shell's
scripts/ci/chroot.sh enter "$base" sh -c '
    rm -f /etc/apt/apt.conf.d/docker-clean
    cmp -s /root/packages /root/packages.had && exit
    while read -r names; do
        # shellcheck disable=SC2086 # names
        [ -z "$names" ] || apt-get install -y -qq --no-install-recommends --download-only $names >/dev/null 2>&1 </dev/null ||
            echo "cannot be had: $names"
    done </root/packages
    cp /root/packages /root/packages.had
    # A program of 32 bits is unpacked beside, and not installed.
    mkdir -p /root/i386 && cd /root/i386 && rm -f ./* && dpkg --add-architecture i386 && apt-get update -qq
    apt-get download -qq openssl:i386 libssl3:i386 libc6:i386 2>/dev/null ||
        apt-get download -qq openssl:i386 libssl3t64:i386 libc6:i386 libzstd1:i386 zlib1g:i386 || echo "no i386"
    dpkg --remove-architecture i386; apt-get update -qq'

step "Wheels"
version=$(scripts/ci/chroot.sh enter "$base" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# shellcheck disable=SC2046 # words
for wheel in $(list wheels "$@" | sort -u); do
    /usr/bin/python3 -m pip download -q --dest build/served/wheels --only-binary :all: --python-version "$version" "$wheel" ||
        echo "cannot be had: $wheel"
done

step "Programs on $suite"
exec /usr/bin/python3 -m tests.served --suite "$suite" --base "$base" --output "build/served/$suite.json" \
    ${1:+--only} "$@"
